//! Papers and answers in the formats of others.
//!
//! [`document`] reads whole papers (JATS, TEI, LaTeXML's HTML, PDF, plain text, Markdown), [`library`] reads lists of
//! them (BibTeX, RIS, CSL-JSON, Zotero's database), [`openalex`] reads works of OpenAlex, [`export`] writes lists and answers,
//! [`exploration`] shows how an answer was found, [`docx`] reads the text of Word documents, [`fragment`] puts Markdown of strangers into web pages, [`xml`] makes trees of what has no reader here. Pure functions over bytes: no
//! socket, and no file but Zotero's database, which its library can only read from a path. Input is untrusted: every
//! reader bounds time and memory and returns an error that names the place.

pub mod deadline;
pub mod document;
pub mod docx;
mod encoding;
pub mod error;
pub mod exploration;
pub mod export;
pub mod fragment;
mod latex;
pub mod library;
mod names;
pub mod openalex;
pub mod xml;

pub use deadline::{Bounds, Deadline};
pub use document::{Document, DocumentFormat, PrintedReference, ReadLimits};
pub use error::{FormatError, FormatErrorKind};
