//! Fakes, fixtures and tolerant comparisons for the tests of the other crates, and for the program's test of itself.
//!
//! Every port has one fake here ([`FakeEncoder`], [`FakeReranker`], [`ScriptedGenerator`], [`MemoryRetriever`], [`MemorySource`],
//! [`MemoryCatalog`], [`MemoryGraph`], [`FakeAttributor`], [`FakeSentenceClassifier`]); [`corpus`] is forty real papers; [`ScriptedLmServer`] is a language model
//! server on a loopback port that can be slow, broken or lying on demand; [`StandIn`] answers for the services that
//! papers come from; [`http`] asks our own server, [`browser`] as a person does; [`mutate`] makes broken inputs from
//! good ones, [`exploration`] is answers found by a tree of retrievals, [`hostile`] is text made to be obeyed, and [`until`] waits, though not
//! forever. Nothing here asks the network.

mod attributor;
pub mod browser;
mod catalog;
pub mod close;
pub mod corpus;
mod encoder;
pub mod exploration;
mod generator;
mod graph;
pub mod hostile;
pub mod http;
pub mod lm_server;
mod material;
pub mod mutate;
pub mod pdf;
mod reranker;
mod retriever;
mod sentence_classifier;
mod source;
pub mod standin;
mod wait;
mod words;

pub use attributor::FakeAttributor;
pub use catalog::MemoryCatalog;
pub use close::{assert_all_close, close, cosine};
pub use encoder::FakeEncoder;
pub use generator::{Reply, ScriptedGenerator};
pub use graph::MemoryGraph;
pub use lm_server::{Behaviour, RecordedRequest, ScriptedLmServer};
pub use material::{axe, data, large_model_dir, model_dir, screenshots};
pub use reranker::FakeReranker;
pub use retriever::MemoryRetriever;
pub use sentence_classifier::FakeSentenceClassifier;
pub use source::MemorySource;
pub use standin::{Calls, Fault, LoggedRequest, Recordings, StandIn};
pub use wait::{PATIENCE, until};
pub use words::stems;
