//! The HTTP face of OpenScholar: passage search as a service, and pages for expert evaluation.
//!
//! [`Server`] answers the original search service's requests ([`POST /search`](upstream)), a typed interface
//! ([`POST /v1/search`](typed)), and the questions of those who run it (`/health`, `/metrics`). Behind every route is one
//! [`scholar_core::Retriever`]; queries wait in one bounded queue and are searched in batches ([`queue`]).
//!
//! It is the only crate that may listen on a socket. It is *not* for outbound requests, which are `scholar-clients`; nor
//! for algorithms, which are `scholar-pipeline`; nor does it know the datastore, which the binary puts behind the port.
//! [`Site`] adds the pages on which people ask, read and check, and the native interface of programs, over a [`backend::Backend`]
//! that the binary implements; [`annotate`] has the web pages on which experts compare answers.

mod additions;
pub mod annotate;
pub mod backend;
mod body;
mod budget;
mod callers;
mod cancel;
mod config;
mod connection;
mod context;
mod error;
mod gate;
mod health;
mod jobs;
mod metrics;
mod native;
mod openapi;
mod pages;
pub mod queue;
mod reply;
mod serve;
mod service;
mod site;
mod state;
pub mod typed;
pub mod upstream;

pub use callers::{Access, CallerError, CallerLimits, Callers};
pub use cancel::{Cancel, CancelReason, Canceller, cancellation};
pub use config::ServerConfig;
pub use error::{ApiError, ErrorCode};
pub use gate::{HostError, Hosts, TokenError, Tokens};
pub use jobs::JobsConfig;
pub use jobs::queue::WaitingLimits;
pub use jobs::store::JobStoreError;
pub use queue::QueueConfig;
pub use serve::Stopped;
pub use service::{Server, search_openapi_json};
pub use site::{Site, SiteConfig, openapi_json};
pub use state::{CollectionSize, OnQuery, Probe};
