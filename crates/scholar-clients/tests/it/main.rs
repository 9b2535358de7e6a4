//! The clients against real sockets on this machine.

mod download;
mod fetch;
mod kept;
mod openai;
mod semantic_scholar;
mod standin;
#[cfg(unix)]
mod wheels;
