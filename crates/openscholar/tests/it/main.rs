//! The program as a person meets it: arguments in; exit code, stdout, stderr and files out.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

#[cfg(unix)]
mod annotate;
mod bad_input;
mod bench;
#[cfg(unix)]
mod browser;
mod compat;
#[cfg(unix)]
mod disk;
mod elsewhere;
mod exchange;
mod explored;
mod generative;
mod graph;
mod hostile;
mod intake;
mod library;
mod limits;
mod local_servers;
mod model;
mod models;
#[cfg(target_os = "linux")]
mod mounts;
mod program;
mod readers;
mod review;
mod runs;
mod scholarideas;
mod screening;
#[cfg(unix)]
mod serve;
mod sheets;
#[cfg(unix)]
mod site;
#[cfg(unix)]
mod stopped;
mod table;
mod train;
mod transcripts;
