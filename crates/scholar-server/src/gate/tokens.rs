//! Tokens of those who may search.

use std::collections::BTreeSet;
use std::fmt;

use axum::http::{HeaderMap, header};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

/// Fewest characters of a token: what can be guessed is no secret.
const SHORTEST: usize = 16;

/// Named tokens. Only their digests are kept, which also makes them of one length to compare.
#[derive(Clone, PartialEq, Eq)]
pub struct Tokens(Vec<(String, [u8; 32])>);

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// Why a list of tokens cannot be used. Its words contain no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// A line that is not `name: token`.
    #[error("line {line} is not NAME: TOKEN")]
    Line {
        /// Line number, from 1.
        line: usize,
    },
    /// A token that can be guessed, or cannot be sent.
    #[error("line {line}: a token has {SHORTEST} or more printable ASCII characters and no space")]
    Token {
        /// Line number, from 1.
        line: usize,
    },
    /// A name or a token that an earlier line has.
    #[error("line {line}: the name or token is repeated from an earlier line")]
    Twice {
        /// Line number, from 1.
        line: usize,
    },
    /// Nothing but comments and empty lines.
    #[error("there is no token")]
    Empty,
}

impl Tokens {
    /// Reads a line `name: token` for each; empty lines and lines with `#` in front are left out.
    ///
    /// # Errors
    /// When a line is something else, or there is none.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut tokens: Vec<(String, [u8; 32])> = Vec::new();
        let mut names = BTreeSet::new();
        for (at, text) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = at + 1;
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let (name, token) = text.split_once(':').ok_or(TokenError::Line { line })?;
            let (name, token) = (name.trim(), token.trim());
            if name.is_empty() || name.chars().any(char::is_control) {
                return Err(TokenError::Line { line });
            }
            if token.len() < SHORTEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(TokenError::Token { line });
            }
            let digest = Sha256::digest(token).into();
            if !names.insert(name) || tokens.iter().any(|(_, known)| *known == digest) {
                return Err(TokenError::Twice { line });
            }
            tokens.push((name.to_owned(), digest));
        }
        if tokens.is_empty() { Err(TokenError::Empty) } else { Ok(Self(tokens)) }
    }

    /// The name of the token in `Authorization: Bearer …`.
    pub(crate) fn holder(&self, headers: &HeaderMap) -> Option<&str> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        let (given, None) = (given.next()?, given.next()) else { return None };
        let (scheme, token) = given.to_str().ok()?.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        self.named(token.trim())
    }

    /// The name of a token. How long it takes does not depend on which it is.
    pub(crate) fn named(&self, token: &str) -> Option<&str> {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let mut holder = None;
        for (name, known) in &self.0 {
            if known.ct_eq(&digest).into() {
                holder = Some(name.as_str());
            }
        }
        holder
    }
}
