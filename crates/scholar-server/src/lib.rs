//! The HTTP face of OpenScholar. Empty so far.
//!
//! What will live here: the HTTP interface, jobs, streams of events, the web pages and the tools for other programs'
//! models. It is the only crate that may listen on a socket. It is *not* for outbound requests, which are
//! `scholar-clients`; nor for algorithms, which are `scholar-pipeline`.
//!
//! The crate exists before its contents because directions are cheap now and dear later: it may know `scholar-core`
//! and `scholar-pipeline`, and only the binary may know it.
