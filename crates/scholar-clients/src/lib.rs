//! Everything that speaks to other machines: language model servers, model downloads, and the services that papers
//! come from.
//!
//! The one crate that opens outbound sockets. Vendors' JSON stays in `wire` modules, secrets stay in
//! [`secrecy::SecretString`], addresses are printed without credentials, and retries with their deadlines live here
//! because only this crate knows what a retry costs. Every service of papers is asked through [`fetch`]; [`openalex`],
//! [`arxiv`], [`pubmed`] and [`web`] are sources of papers, [`crossref`] knows metadata and retractions, [`unpaywall`] open
//! copies, [`latexml`] and PMC whole texts, [`grobid`] reads PDFs and [`zotero`] a person's library; [`local_servers`] finds
//! model servers of this machine. What a reply says is read by pure functions over bytes, which every provider's module
//! exports.

pub mod arxiv;
pub mod crossref;
mod document;
pub mod download;
pub mod fetch;
pub mod full_text;
pub mod grobid;
pub mod http;
pub mod latexml;
pub mod load;
pub mod local_servers;
pub mod matching;
pub mod open_access;
pub mod openai;
pub mod openalex;
pub mod parse;
pub mod prices;
pub mod pubmed;
mod request;
pub mod retry;
pub mod semantic_scholar;
pub mod unpaywall;
pub mod web;
mod xml;
pub mod zotero;

pub use arxiv::{Arxiv, ArxivSource};
pub use crossref::Crossref;
pub use download::{DownloadConfig, DownloadError, Downloader};
pub use fetch::{FetchConfig, FetchRequest, Fetched, Fetcher, Provider};
pub use full_text::FullTexts;
pub use grobid::Grobid;
pub use http::HttpClient;
pub use latexml::Latexml;
pub use local_servers::LocalServer;
pub use matching::is_same_paper;
pub use open_access::{OpenHost, OpenLocation};
pub use openai::{OpenAiConfig, OpenAiGenerator};
pub use openalex::{OpenAlex, OpenAlexSource};
pub use parse::ReplyError;
pub use prices::{Price, PriceError, PriceTable};
pub use pubmed::{Pubmed, PubmedSource};
pub use retry::RetryPolicy;
pub use secrecy::SecretString;
pub use semantic_scholar::{SemanticScholar, SnippetSource};
pub use unpaywall::Unpaywall;
pub use url::Url;
pub use web::{WebSearch, WebSource};
pub use zotero::Zotero;
