//! The clients against real sockets on this machine.

mod damaged;
mod download;
mod fetch;
mod kept;
mod links;
mod local_servers;
mod openai;
mod readers;
mod semantic_scholar;
mod services;
mod site;
mod sources;
mod standin;
mod texts;
#[cfg(unix)]
mod wheels;
