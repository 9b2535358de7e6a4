//! Scenarios of whole runs, replay, and parity with a recorded run of the reference code.

mod evidence;
mod links;
mod recorded;
mod replay;
mod report;
mod scenario;
mod scirag;
mod sources;
mod stage;
mod trace0;
mod wire;
