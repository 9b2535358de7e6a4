//! The algorithms of OpenScholar: asking the literature, evidence-first answers, and proof.
//!
//! Everything here sees the world through [`Ports`] only. It is *not* for anything that knows a vendor, a tensor, a
//! file or a clock.

pub mod ask;
pub mod budget;
pub mod clock;
pub mod config;
pub mod error;
pub mod event;
pub mod evidence;
pub mod follow_up;
pub mod frame;
#[cfg(test)]
mod golden;
pub mod modes;
pub mod outcome;
pub mod ports;
pub mod prompts;
pub mod proof;
pub mod record;
pub mod retrieve;
pub mod screen;
pub mod tabulate;
pub mod thread;
pub mod write;
mod z_scores;

pub use ask::{ask, ask_in, estimate};
pub use budget::{Budget, Meter};
pub use clock::{Alarm, Clock, stopped_clock};
pub use config::{AskConfig, ModeChoice, Task};
pub use error::AskError;
pub use event::{Event, Observer};
pub use evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
pub use frame::Frame;
pub use modes::{Mode, mode_for};
pub use outcome::{Outcome, Spent};
pub use ports::Ports;
