//! The clients against real sockets on this machine.

mod download;
mod openai;
mod readers;
mod services;
mod site;
mod sources;
#[cfg(unix)]
mod wheels;
