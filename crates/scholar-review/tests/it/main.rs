//! Scenarios of reviews: a scripted model, or none, over papers in memory.

mod dates;
mod evidence;
mod failing;
mod real_ideas;
mod replaying;
mod stage;
mod writing;
