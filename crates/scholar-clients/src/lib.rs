//! Everything that speaks to other machines: language model servers, model downloads, and the services that papers
//! come from.
//!
//! The one crate that opens outbound sockets. Vendors' JSON stays in `wire` modules, secrets stay in
//! [`secrecy::SecretString`], addresses are printed without credentials, and retries with their deadlines live here
//! because only this crate knows what a retry costs. Every service of papers is asked through [`fetch`].

pub mod download;
pub mod fetch;
pub mod http;
pub mod load;
pub mod openai;
pub mod prices;
pub mod retry;
pub mod semantic_scholar;

pub use download::{DownloadConfig, DownloadError, Downloader};
pub use fetch::{FetchConfig, FetchRequest, Fetched, Fetcher, Provider};
pub use http::HttpClient;
pub use openai::{OpenAiConfig, OpenAiGenerator};
pub use prices::{Price, PriceError, PriceTable};
pub use retry::RetryPolicy;
pub use secrecy::SecretString;
pub use semantic_scholar::SemanticScholar;
pub use url::Url;
