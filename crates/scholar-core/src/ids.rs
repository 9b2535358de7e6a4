//! Identifiers of papers and passages. One registry is one variant, so a PMC id can never pass for a PMID.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A paper in one of the registries that name papers.
///
/// Written and parsed as `prefix:value` (`corpusid:`, `doi:`, `arxiv:`, `pmid:`, `pmcid:`, `openalex:`, `acl:`,
/// `local:`); the prefix is not case-sensitive on input.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PaperId {
    /// Semantic Scholar corpus id.
    CorpusId(u64),
    /// Digital object identifier, lower-case, without resolver address.
    Doi(String),
    /// arXiv identifier without version.
    Arxiv(String),
    /// `PubMed` id.
    Pmid(u64),
    /// `PubMed` Central id, the digits after `PMC`.
    Pmcid(u64),
    /// OpenAlex work id, the digits after `W`.
    OpenAlex(u64),
    /// ACL Anthology id.
    Acl(String),
    /// A paper that only this datastore names.
    Local(String),
}

/// Text that is not an identifier of a paper or passage.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not an identifier (expected for example doi:10.1000/x, arxiv:2411.14199, pmid:123)"
)]
pub struct IdError(pub String);

impl fmt::Display for PaperId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CorpusId(n) => write!(f, "corpusid:{n}"),
            Self::Doi(doi) => write!(f, "doi:{doi}"),
            Self::Arxiv(id) => write!(f, "arxiv:{id}"),
            Self::Pmid(n) => write!(f, "pmid:{n}"),
            Self::Pmcid(n) => write!(f, "pmcid:PMC{n}"),
            Self::OpenAlex(n) => write!(f, "openalex:W{n}"),
            Self::Acl(id) => write!(f, "acl:{id}"),
            Self::Local(id) => write!(f, "local:{id}"),
        }
    }
}

impl PaperId {
    /// A DOI, with resolver address and `doi:` removed and folded to lower case.
    ///
    /// # Errors
    /// [`IdError`] unless what remains starts with `10.` and has a slash.
    pub fn doi(text: &str) -> Result<Self, IdError> {
        let lower = text.trim().to_lowercase();
        let bare = [
            "https://doi.org/",
            "http://doi.org/",
            "https://dx.doi.org/",
            "http://dx.doi.org/",
            "doi:",
        ]
        .iter()
        .find_map(|prefix| lower.strip_prefix(prefix))
        .unwrap_or(&lower);
        if bare.starts_with("10.") && bare.contains('/') && !bare.contains(char::is_whitespace) {
            Ok(Self::Doi(bare.to_owned()))
        } else {
            Err(IdError(text.to_owned()))
        }
    }

    /// An arXiv id of the new (`2411.14199`) or old (`hep-th/9901001`) style; a version, `.pdf` and `arxiv:` go.
    ///
    /// # Errors
    /// [`IdError`] for anything else.
    pub fn arxiv(text: &str) -> Result<Self, IdError> {
        let trimmed = text.trim();
        let bare = strip_prefix_ignoring_case(trimmed, "arxiv:").unwrap_or(trimmed);
        let bare = bare.strip_suffix(".pdf").unwrap_or(bare);
        let bare = match bare.rfind('v') {
            Some(at)
                if at > 0
                    && all_digits(&bare[at + 1..])
                    && bare[..at].ends_with(|c: char| c.is_ascii_digit()) =>
            {
                &bare[..at]
            }
            _ => bare,
        };
        let new_style = bare.split_once('.').is_some_and(|(month, number)| {
            month.len() == 4
                && all_digits(month)
                && (4..=5).contains(&number.len())
                && all_digits(number)
        });
        let old_style = bare.split_once('/').is_some_and(|(archive, number)| {
            !archive.is_empty()
                && archive.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '.')
                && number.len() == 7
                && all_digits(number)
        });
        if new_style || old_style {
            Ok(Self::Arxiv(bare.to_owned()))
        } else {
            Err(IdError(text.to_owned()))
        }
    }

    /// Where a person can read about the paper, for registries that have such an address.
    pub fn url(&self) -> Option<String> {
        match self {
            Self::CorpusId(n) => Some(format!("https://api.semanticscholar.org/CorpusID:{n}")),
            Self::Doi(doi) => Some(format!("https://doi.org/{doi}")),
            Self::Arxiv(id) => Some(format!("https://arxiv.org/abs/{id}")),
            Self::Pmid(n) => Some(format!("https://pubmed.ncbi.nlm.nih.gov/{n}/")),
            Self::Pmcid(n) => Some(format!("https://pmc.ncbi.nlm.nih.gov/articles/PMC{n}/")),
            Self::OpenAlex(n) => Some(format!("https://openalex.org/W{n}")),
            Self::Acl(id) => Some(format!("https://aclanthology.org/{id}/")),
            Self::Local(_) => None,
        }
    }
}

impl FromStr for PaperId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError(text.to_owned());
        let (prefix, value) = text.trim().split_once(':').ok_or_else(wrong)?;
        let number = |digits: &str| {
            if all_digits(digits) {
                digits.parse::<u64>().map_err(|_| wrong())
            } else {
                Err(wrong())
            }
        };
        match prefix.to_ascii_lowercase().as_str() {
            "corpusid" => number(value).map(Self::CorpusId),
            "doi" => Self::doi(value),
            "arxiv" => Self::arxiv(value),
            "pmid" => number(value).map(Self::Pmid),
            "pmcid" => {
                number(strip_prefix_ignoring_case(value, "PMC").unwrap_or(value)).map(Self::Pmcid)
            }
            "openalex" => {
                number(strip_prefix_ignoring_case(value, "W").unwrap_or(value)).map(Self::OpenAlex)
            }
            "acl" if !value.is_empty() => Ok(Self::Acl(value.to_owned())),
            "local" if !value.is_empty() => Ok(Self::Local(value.to_owned())),
            _ => Err(wrong()),
        }
    }
}

/// The `ordinal`-th passage of a paper, written `paper#ordinal`. Stable as long as the paper's text is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PassageId {
    /// The paper the passage was cut from.
    pub paper: PaperId,
    /// Position among the paper's passages, from 0.
    pub ordinal: u32,
}

impl fmt::Display for PassageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.paper, self.ordinal)
    }
}

impl FromStr for PassageId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let (paper, ordinal) = text.rsplit_once('#').ok_or_else(|| IdError(text.to_owned()))?;
        let ordinal = ordinal.parse().map_err(|_| IdError(text.to_owned()))?;
        Ok(Self { paper: paper.parse()?, ordinal })
    }
}

macro_rules! serde_as_text {
    ($name:ident) => {
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
serde_as_text!(PaperId);
serde_as_text!(PassageId);

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_round_trip_and_normalise() {
        let check = |text: &str, expect: &str| {
            let id: PaperId = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(id.to_string(), expect);
            assert_eq!(expect.parse::<PaperId>().expect("display parses"), id);
        };
        check("DOI:https://doi.org/10.1000/ABC", "doi:10.1000/abc");
        check("arXiv:2411.14199v3", "arxiv:2411.14199");
        check("arxiv:hep-th/9901001", "arxiv:hep-th/9901001");
        check("arxiv:2411.14199.pdf", "arxiv:2411.14199");
        check("pmcid:PMC1079844", "pmcid:PMC1079844");
        check("CorpusId:42", "corpusid:42");
        check("acl:2020.acl-main.1", "acl:2020.acl-main.1");
        for bad in ["", "42", "pmid:x", "arxiv:1", "doi:11.1", "pmid:+1", "acl:"] {
            assert!(bad.parse::<PaperId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn passage_identifiers_survive_a_hash_in_a_doi() {
        let id: PassageId = "doi:10.1/a#b#12".parse().expect("valid");
        assert_eq!(id.ordinal, 12);
        assert_eq!(id.to_string(), "doi:10.1/a#b#12");
    }
}
