//! The algorithms of OpenScholar: asking the literature, evidence-first answers, and proof.
//!
//! Everything here sees the world through [`Ports`] only. It is *not* for anything that knows a vendor, a tensor, a
//! file or a clock.

pub mod event;
pub mod evidence;
pub mod outcome;
pub mod world;

pub use event::{Event, Observer};
pub use evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
pub use outcome::Outcome;
pub use world::Ports;
