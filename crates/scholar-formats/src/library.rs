//! Lists of papers.
