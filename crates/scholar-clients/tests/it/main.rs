//! The clients against real sockets on this machine.

mod download;
mod openai;
#[cfg(unix)]
mod wheels;
