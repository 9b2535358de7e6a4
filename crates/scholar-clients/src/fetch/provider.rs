//! Who can be asked: addresses, limits, and how each wants to be told who is asking.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A service that papers, metadata or texts come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Provider {
    /// Semantic Scholar: graph, recommendations and snippets share one host and one limit.
    SemanticScholar,
    /// OpenAlex.
    OpenAlex,
    /// The arXiv API.
    Arxiv,
    /// NCBI's E-utilities, for `PubMed` and PMC.
    Pubmed,
    /// Crossref's REST API.
    Crossref,
    /// Unpaywall.
    Unpaywall,
    /// You.com's web search.
    You,
    /// Brave's web search.
    Brave,
    /// ar5iv: arXiv's sources as HTML.
    Ar5iv,
    /// arXiv's own HTML pages.
    ArxivHtml,
    /// A GROBID server.
    Grobid,
    /// Zotero's local API.
    Zotero,
    /// The resolver of DOIs.
    Doi,
    /// Whatever host an open-access location names; each host has limits of its own.
    OpenAccess,
}

/// How fast and how parallel a provider is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time between two requests in the long run; zero for no limit.
    pub interval: Duration,
    /// Requests that may follow each other at once after a silence, at least 1.
    pub burst: u32,
    /// Requests under way at the same time, at least 1.
    pub concurrency: usize,
}

impl Pace {
    const fn every(millis: u64, concurrency: usize) -> Self {
        Self { interval: Duration::from_millis(millis), burst: 1, concurrency }
    }
}

/// Where a key or an e-mail address goes in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credential {
    Header(&'static str),
    Param(&'static str),
}

/// What is fixed about a provider.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    /// As people see it.
    pub(super) name: &'static str,
    /// Start of its settings' names.
    pub(super) prefix: &'static str,
    pub(super) base_url: Option<&'static str>,
    /// Setting that holds the key, and where the key goes.
    pub(super) key: Option<(&'static str, Credential)>,
    /// Nothing is answered without the key.
    pub(super) key_needed: bool,
    /// Where a contact address goes; it buys politeness, not identity.
    pub(super) contact: Option<Credential>,
    /// Nothing is answered without it.
    pub(super) contact_needed: bool,
    pub(super) pace: Pace,
    /// Pace with a key, or with a contact address where there are no keys.
    pub(super) known_pace: Pace,
    /// Runs beside this program, so that working offline does not forbid it.
    pub(super) local: bool,
}

const PLAIN: Facts = Facts {
    name: "",
    prefix: "",
    base_url: None,
    key: None,
    key_needed: false,
    contact: None,
    contact_needed: false,
    pace: Pace::every(1000, 2),
    known_pace: Pace::every(1000, 2),
    local: false,
};

/// Without a key everybody shares one pool, about 5,000 requests in five minutes; a key buys one request a second.
const SEMANTIC_SCHOLAR: Facts = Facts {
    name: "Semantic Scholar",
    prefix: "S2",
    base_url: Some("https://api.semanticscholar.org"),
    key: Some(("S2_API_KEY", Credential::Header("x-api-key"))),
    pace: Pace { interval: Duration::from_secs(3), burst: 3, concurrency: 1 },
    known_pace: Pace::every(1000, 2),
    ..PLAIN
};

const PUBMED: Facts = Facts {
    name: "PubMed",
    prefix: "NCBI",
    base_url: Some("https://eutils.ncbi.nlm.nih.gov"),
    key: Some(("NCBI_API_KEY", Credential::Param("api_key"))),
    contact: Some(Credential::Param("email")),
    pace: Pace::every(334, 3),
    known_pace: Pace::every(100, 4),
    ..PLAIN
};

/// Setting that holds the contact address for all providers.
pub const EMAIL_SETTING: &str = "OPENSCHOLAR_EMAIL";

impl Provider {
    /// All providers, each once.
    pub const ALL: [Self; 14] = [
        Self::SemanticScholar,
        Self::OpenAlex,
        Self::Arxiv,
        Self::Pubmed,
        Self::Crossref,
        Self::Unpaywall,
        Self::You,
        Self::Brave,
        Self::Ar5iv,
        Self::ArxivHtml,
        Self::Grobid,
        Self::Zotero,
        Self::Doi,
        Self::OpenAccess,
    ];

    /// Name as messages and logs show it.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// Setting that overrides its address, for example `S2_BASE_URL`.
    pub fn base_url_setting(self) -> String {
        format!("{}_BASE_URL", self.facts().prefix)
    }

    /// Setting that holds its key, for example `S2_API_KEY`; `None` where there are no keys.
    pub fn key_setting(self) -> Option<&'static str> {
        self.facts().key.map(|(name, _)| name)
    }

    /// Address it has unless a setting says otherwise; `None` where requests name whole addresses, or where only the
    /// person knows (GROBID).
    pub fn default_base_url(self) -> Option<&'static str> {
        self.facts().base_url
    }

    /// Default pace for somebody `known` to it by key or contact address, or not.
    pub fn pace(self, known: bool) -> Pace {
        let facts = self.facts();
        if known { facts.known_pace } else { facts.pace }
    }

    /// Limits are the providers' published ones; where none is published, a crawler's courtesy.
    pub(super) fn facts(self) -> Facts {
        use Credential::{Header, Param};
        match self {
            Self::SemanticScholar => SEMANTIC_SCHOLAR,
            Self::OpenAlex => Facts {
                name: "OpenAlex",
                prefix: "OPENALEX",
                base_url: Some("https://api.openalex.org"),
                key: Some(("OPENALEX_API_KEY", Param("api_key"))),
                contact: Some(Param("mailto")),
                pace: Pace::every(200, 2),
                known_pace: Pace::every(100, 4),
                ..PLAIN
            },
            Self::Arxiv => Facts {
                name: "arXiv",
                prefix: "ARXIV",
                base_url: Some("https://export.arxiv.org"),
                pace: Pace::every(3000, 1),
                known_pace: Pace::every(3000, 1),
                ..PLAIN
            },
            Self::Pubmed => PUBMED,
            Self::Crossref => Facts {
                name: "Crossref",
                prefix: "CROSSREF",
                base_url: Some("https://api.crossref.org"),
                contact: Some(Param("mailto")),
                pace: Pace::every(200, 1),
                known_pace: Pace::every(100, 3),
                ..PLAIN
            },
            Self::Unpaywall => Facts {
                name: "Unpaywall",
                prefix: "UNPAYWALL",
                base_url: Some("https://api.unpaywall.org"),
                contact: Some(Param("email")),
                contact_needed: true,
                pace: Pace::every(200, 2),
                known_pace: Pace::every(200, 2),
                ..PLAIN
            },
            Self::You => Facts {
                name: "You.com",
                prefix: "YDC",
                base_url: Some("https://ydc-index.io"),
                key: Some(("YDC_API_KEY", Header("X-API-Key"))),
                key_needed: true,
                pace: Pace::every(500, 2),
                known_pace: Pace::every(500, 2),
                ..PLAIN
            },
            Self::Brave => Facts {
                name: "Brave Search",
                prefix: "BRAVE",
                base_url: Some("https://api.search.brave.com"),
                key: Some(("BRAVE_API_KEY", Header("X-Subscription-Token"))),
                key_needed: true,
                pace: Pace::every(1100, 1),
                known_pace: Pace::every(1100, 1),
                ..PLAIN
            },
            Self::Ar5iv => {
                Facts { base_url: Some("https://ar5iv.labs.arxiv.org"), ..page("ar5iv", "AR5IV") }
            }
            Self::ArxivHtml => {
                Facts { base_url: Some("https://arxiv.org"), ..page("arXiv HTML", "ARXIV_HTML") }
            }
            Self::Grobid => beside("GROBID", "GROBID", None),
            Self::Zotero => beside("Zotero", "ZOTERO", Some("http://127.0.0.1:23119")),
            Self::Doi => Facts { base_url: Some("https://doi.org"), ..page("doi.org", "DOI") },
            Self::OpenAccess => page("open access", "OPEN_ACCESS"),
        }
    }
}

const fn page(name: &'static str, prefix: &'static str) -> Facts {
    Facts { name, prefix, ..PLAIN }
}

const fn beside(name: &'static str, prefix: &'static str, base_url: Option<&'static str>) -> Facts {
    let pace = Pace::every(0, 4);
    Facts { name, prefix, base_url, pace, known_pace: pace, local: true, ..PLAIN }
}
