//! Scenarios of reviews: a scripted model over papers in memory.

mod dates;
mod failing;
mod replaying;
mod stage;
mod writing;
