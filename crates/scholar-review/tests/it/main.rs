//! Scenarios of reviews: a scripted model, or none, over papers in memory.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod dates;
mod evidence;
mod failing;
mod limits;
mod replaying;
mod stage;
mod writing;
