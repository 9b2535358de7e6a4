//! The algorithms of OpenScholar: asking the literature, evidence-first answers, and proof.
//!
//! Everything here sees the world through [`Ports`] only. It is *not* for anything that knows a vendor, a tensor, a
//! file or a clock.

pub mod ask;
pub mod budget;
pub mod config;
pub mod event;
pub mod evidence;
mod frame;
#[cfg(test)]
mod golden;
pub mod modes;
pub mod outcome;
pub mod ports;
pub mod prompts;
pub mod proof;
pub mod record;
pub mod retrieve;
mod write;

pub use ask::{AskError, ask, mode_for};
pub use budget::{Budget, Meter};
pub use config::{AskConfig, ModeChoice, Task};
pub use event::{Event, Observer};
pub use evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
pub use outcome::{Outcome, Spent};
pub use ports::{Alarm, Clock, Ports, stopped_clock};
