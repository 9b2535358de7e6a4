//! Scenarios of reviews: a scripted model over papers in memory.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod dates;
mod failing;
mod replaying;
mod stage;
mod writing;
