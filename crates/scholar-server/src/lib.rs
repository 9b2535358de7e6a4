//! The HTTP face of OpenScholar: passage search as a service, and pages for expert evaluation.
//!
//! [`Server`] answers the original search service's requests ([`POST /search`](upstream)), a typed interface
//! ([`POST /v1/search`](typed)), and the questions of those who run it (`/health`, `/metrics`). Behind every route is one
//! [`scholar_core::Retriever`]; queries wait in one bounded queue and are searched in batches ([`queue`]).
//!
//! It is the only crate that may listen on a socket. It is *not* for outbound requests, which are `scholar-clients`; nor
//! for algorithms, which are `scholar-pipeline`; nor does it know the datastore, which the binary puts behind the port.
//! [`annotate`] has the web pages on which experts compare answers. Jobs, streams of events and other pages will live
//! here too.

pub mod annotate;
mod body;
mod budget;
mod config;
mod connection;
mod error;
mod gate;
mod health;
mod metrics;
mod openapi;
pub mod queue;
mod reply;
mod serve;
mod service;
mod state;
pub mod typed;
pub mod upstream;

pub use config::ServerConfig;
pub use error::{ApiError, ErrorCode};
pub use gate::{HostError, Hosts, TokenError, Tokens};
pub use queue::QueueConfig;
pub use serve::Stopped;
pub use service::{Server, openapi_json};
pub use state::{CollectionSize, OnQuery, Probe};
