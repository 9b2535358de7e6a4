//! Identifiers of papers and passages. One registry is one variant, so a PMC id can never pass for a PMID.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

mod address;
mod recognise;
#[cfg(test)]
mod tests;

use address::percent_decoded;

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

/// Hosts that resolve DOIs.
const DOI_RESOLVERS: [&str; 3] = ["doi.org", "dx.doi.org", "www.doi.org"];

/// How the DOIs that arXiv registers begin.
const ARXIV_DOI: &str = "10.48550/arxiv.";

/// How the DOIs that the ACL Anthology registers since 2016 begin.
const ACL_DOI: &str = "10.18653/v1/";

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
    /// A DOI, with resolver address, `doi:` and the punctuation of the sentence around it removed, percent escapes of
    /// an address decoded, folded to lower case.
    ///
    /// # Errors
    /// [`IdError`] unless what remains is `10.`, digits, a slash and a name.
    pub fn doi(text: &str) -> Result<Self, IdError> {
        let wrong = || IdError(text.to_owned());
        let lower = text.trim().to_lowercase();
        let bare = lower.strip_prefix("doi:").unwrap_or(&lower).trim_start();
        let host = bare.strip_prefix("https://").or_else(|| bare.strip_prefix("http://"));
        let resolved = DOI_RESOLVERS
            .iter()
            .find_map(|resolver| host.unwrap_or(bare).strip_prefix(resolver)?.strip_prefix('/'));
        // Escapes are a matter of addresses; a bare DOI has them only if even its first slash is one.
        let decoded = match resolved {
            Some(path) => percent_decoded(path).ok_or_else(wrong)?,
            None if !bare.contains('/') => percent_decoded(bare).ok_or_else(wrong)?,
            None => bare.to_owned(),
        };
        let name = without_closing_punctuation(&decoded).to_lowercase();
        let well_formed = name.split_once('/').is_some_and(|(prefix, suffix)| {
            !suffix.is_empty()
                && prefix.strip_prefix("10.").is_some_and(|registrant| {
                    registrant.starts_with(|c: char| c.is_ascii_digit())
                        && registrant.chars().all(|c| c.is_ascii_digit() || c == '.')
                })
        });
        if well_formed && !name.contains(|c: char| c.is_whitespace() || c.is_control()) {
            Ok(Self::Doi(name))
        } else {
            Err(wrong())
        }
    }

    /// An arXiv id of the new (`2411.14199`) or old (`hep-th/9901001`) style; a version, `.pdf`, `arxiv:` and the
    /// subject class of `math.GT/0309136` go.
    ///
    /// # Errors
    /// [`IdError`] for anything else.
    pub fn arxiv(text: &str) -> Result<Self, IdError> {
        Self::arxiv_with_version(text).map(|(id, _)| id)
    }

    /// [`PaperId::arxiv`] and the version the text named, if it named one.
    ///
    /// # Errors
    /// As [`PaperId::arxiv`].
    pub fn arxiv_with_version(text: &str) -> Result<(Self, Option<u32>), IdError> {
        let wrong = || IdError(text.to_owned());
        let trimmed = text.trim();
        let bare = strip_prefix_ignoring_case(trimmed, "arxiv:").unwrap_or(trimmed).trim_start();
        let bare = bare.strip_suffix(".pdf").unwrap_or(bare);
        let (bare, version) = match bare.rfind('v') {
            Some(at)
                if all_digits(&bare[at + 1..])
                    && bare[..at].ends_with(|c: char| c.is_ascii_digit()) =>
            {
                (&bare[..at], Some(bare[at + 1..].parse().map_err(|_| wrong())?))
            }
            _ => (bare, None),
        };
        let new_style = bare.split_once('.').is_some_and(|(month, number)| {
            month.len() == 4
                && all_digits(month)
                && (4..=5).contains(&number.len())
                && all_digits(number)
        });
        if new_style {
            return Ok((Self::Arxiv(bare.to_owned()), version));
        }
        let (archive, number) = bare.split_once('/').ok_or_else(wrong)?;
        let (archive, class) = archive.split_once('.').unwrap_or((archive, ""));
        let letters = |text: &str| text.chars().all(|c| c.is_ascii_alphabetic() || c == '-');
        if archive.is_empty()
            || !letters(archive)
            || !letters(class)
            || number.len() != 7
            || !all_digits(number)
        {
            return Err(wrong());
        }
        Ok((Self::Arxiv(format!("{}/{number}", archive.to_ascii_lowercase())), version))
    }

    /// A `PubMed` Central id with or without `PMC`; the version of `PMC1079844.2` goes.
    ///
    /// # Errors
    /// [`IdError`] for anything else.
    pub fn pmcid(text: &str) -> Result<Self, IdError> {
        let trimmed = text.trim();
        let bare = strip_prefix_ignoring_case(trimmed, "PMC").unwrap_or(trimmed);
        let bare = match bare.split_once('.') {
            Some((number, version)) if all_digits(version) => number,
            _ => bare,
        };
        match bare.parse() {
            Ok(number) if all_digits(bare) => Ok(Self::Pmcid(number)),
            _ => Err(IdError(text.to_owned())),
        }
    }

    /// The same paper's identifier in the other registry, where one is part of the other by definition: arXiv and the
    /// ACL Anthology register the DOIs `10.48550/arxiv.ID` and `10.18653/v1/ID`.
    pub fn twin(&self) -> Option<Self> {
        match self {
            Self::Doi(doi) => {
                if let Some(id) = doi.strip_prefix(ARXIV_DOI) {
                    return Self::arxiv(id).ok();
                }
                let id = doi.strip_prefix(ACL_DOI)?;
                // The anthology's older ids are written in capitals (`P19-1001`), the newer ones are not.
                let id = if id.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    id.to_ascii_uppercase()
                } else {
                    id.to_owned()
                };
                Some(Self::Acl(id))
            }
            Self::Arxiv(id) => Some(Self::Doi(format!("{ARXIV_DOI}{}", id.to_lowercase()))),
            _ => None,
        }
    }

    /// Which identifier a paper is named by when it has several, the least first: what people cite by comes first, what one
    /// service made up last.
    pub fn registry_rank(&self) -> u8 {
        match self {
            Self::Doi(_) => 0,
            Self::Arxiv(_) => 1,
            Self::Acl(_) => 2,
            Self::Pmid(_) => 3,
            Self::Pmcid(_) => 4,
            Self::CorpusId(_) => 5,
            Self::OpenAlex(_) => 6,
            Self::Local(_) => 7,
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
        let value = value.trim_start();
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
            "pmcid" => Self::pmcid(value),
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

/// `text` without the punctuation that ends a sentence or closes a bracket it did not open: DOIs are quoted in prose.
fn without_closing_punctuation(text: &str) -> &str {
    let mut bare = text.trim_start_matches(['<', '(', '[', '{', '"', '\'']).trim_end();
    while let Some(last) = bare.chars().next_back() {
        let closes = |open: char| bare.matches(last).count() > bare.matches(open).count();
        let strip = match last {
            '.' | ',' | ';' | ':' | '"' | '\'' | '”' | '’' => true,
            ')' => closes('('),
            ']' => closes('['),
            '}' => closes('{'),
            '>' => closes('<'),
            _ => false,
        };
        if !strip {
            break;
        }
        bare = &bare[..bare.len() - last.len_utf8()];
    }
    bare
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

fn strip_prefix_ignoring_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| &text[prefix.len()..])
}
