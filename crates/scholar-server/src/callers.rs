//! Who asks, and how much they may.

use std::collections::BTreeMap;

use axum::http::HeaderMap;

use crate::gate::{TokenError, Tokens};

/// The name of everybody, where there are no tokens.
pub(crate) const EVERYBODY: &str = "local";

/// How much one caller may ask; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CallerLimits {
    /// Questions in 60 minutes.
    pub questions_per_hour: Option<usize>,
    /// US dollars in 24 hours.
    pub usd_per_day: Option<f64>,
}

/// Who may ask.
#[derive(Debug, Clone, PartialEq)]
pub enum Access {
    /// Everybody who reaches the server; all see all runs.
    Everybody,
    /// Those with a token; each sees their own runs and what is shared.
    Named(Callers),
}

impl Access {
    /// What `caller` may.
    pub(crate) fn limits(&self, caller: &str) -> CallerLimits {
        match self {
            Self::Everybody => CallerLimits::default(),
            Self::Named(callers) => callers.limits(caller),
        }
    }
}

/// Named tokens with their limits.
#[derive(Debug, Clone, PartialEq)]
pub struct Callers {
    tokens: Tokens,
    limits: BTreeMap<String, CallerLimits>,
}

/// Why a list of callers cannot be used. Its words contain no token.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallerError {
    /// The tokens.
    #[error(transparent)]
    Token(#[from] TokenError),
    /// A limit that is none.
    #[error("line {line}: {what:?} is no limit")]
    Limit {
        /// Line number, from 1.
        line: usize,
        /// What stands there.
        what: String,
    },
}

impl Callers {
    /// Reads a line `name: token` for each caller, with `questions-per-hour=N` and `usd-per-day=N` behind the token where they are
    /// limited. Empty lines and lines with `#` in front are left out.
    ///
    /// # Errors
    /// When a line is something else, or there is none.
    pub fn parse(text: &str) -> Result<Self, CallerError> {
        let mut limits = BTreeMap::new();
        let mut plain = String::new();
        for (at, line) in text.lines().enumerate() {
            match line.split_once(':') {
                Some((name, rest)) if !line.trim_start().starts_with('#') => {
                    let mut words = rest.split_whitespace();
                    let token = words.next().unwrap_or_default();
                    limits.insert(name.trim().to_owned(), CallerLimits::parse(words, at + 1)?);
                    plain.extend([name, ": ", token]);
                }
                _ => plain.push_str(line),
            }
            plain.push('\n');
        }
        Ok(Self { tokens: Tokens::parse(&plain)?, limits })
    }

    /// What `caller` may.
    pub(crate) fn limits(&self, caller: &str) -> CallerLimits {
        self.limits.get(caller).copied().unwrap_or_default()
    }

    /// Whose token a request carries.
    pub(crate) fn of_headers(&self, headers: &HeaderMap) -> Option<&str> {
        self.tokens.holder(headers)
    }

    /// Whose token that is.
    pub(crate) fn of_token(&self, token: &str) -> Option<&str> {
        self.tokens.named(token)
    }
}

impl CallerLimits {
    fn parse<'a>(words: impl Iterator<Item = &'a str>, line: usize) -> Result<Self, CallerError> {
        let mut limits = Self::default();
        for word in words {
            let wrong = || CallerError::Limit { line, what: word.to_owned() };
            match word.split_once('=').ok_or_else(wrong)? {
                ("questions-per-hour", n) => {
                    limits.questions_per_hour = Some(n.parse().map_err(|_| wrong())?);
                }
                ("usd-per-day", usd) => {
                    let usd: f64 = usd.parse().map_err(|_| wrong())?;
                    if !usd.is_finite() || usd < 0.0 {
                        return Err(wrong());
                    }
                    limits.usd_per_day = Some(usd);
                }
                _ => return Err(wrong()),
            }
        }
        Ok(limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn limits_stand_behind_tokens_and_callers_without_have_none() {
        let text = format!(
            "# people\nann: {TOKEN} questions-per-hour=20 usd-per-day=2.5\n\nthe lab: {TOKEN}0\nben:{TOKEN}1\n"
        );
        let callers = Callers::parse(&text).expect("callers");
        assert_eq!(callers.of_token(TOKEN), Some("ann"));
        let expect = CallerLimits { questions_per_hour: Some(20), usd_per_day: Some(2.5) };
        assert_eq!(callers.limits("ann"), expect);
        assert_eq!(callers.of_token(&format!("{TOKEN}0")), Some("the lab"));
        assert_eq!(callers.of_token(&format!("{TOKEN}1")), Some("ben"));
        assert_eq!(callers.limits("ben"), CallerLimits::default());
        assert_eq!(callers.of_token("fedcba9876543210"), None);
    }

    #[test]
    fn a_limit_that_is_none_is_named_with_its_line() {
        for (words, what) in [
            ("usd-per-day=much", "usd-per-day=much"),
            ("usd-per-day=-1", "usd-per-day=-1"),
            ("questions-per-day=3", "questions-per-day=3"),
            ("questions-per-hour=3 unlimited", "unlimited"),
        ] {
            let error = Callers::parse(&format!("\nann: {TOKEN} {words}\n")).expect_err("no limit");
            assert_eq!(error, CallerError::Limit { line: 2, what: what.to_owned() });
        }
        let none = Callers::parse("# nobody\n").expect_err("nobody");
        assert_eq!(none, CallerError::Token(TokenError::Empty));
    }
}
