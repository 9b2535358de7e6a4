//! The clients against real sockets on this machine.

mod download;
mod fetch;
mod kept;
mod openai;
mod semantic_scholar;
mod standin;
mod readers;
mod services;
mod site;
mod sources;
#[cfg(unix)]
mod wheels;
