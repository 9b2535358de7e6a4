//! Identifiers in web addresses.

use super::{PaperId, all_digits, strip_prefix_ignoring_case};

/// Longest address looked at: longer ones are no paper's.
const LONGEST_ADDRESS: usize = 2048;

impl PaperId {
    /// The paper whose page or file a web address is: DOI resolvers, arXiv and ar5iv (abstract, PDF, HTML), `PubMed`,
    /// `PubMed` Central (never taken for a PMID), Europe PMC, the ACL Anthology, OpenAlex, Semantic Scholar's corpus
    /// ids, and the preprint servers whose paths are DOIs. `None` for every other page: nothing is guessed.
    pub fn from_url(address: &str) -> Option<Self> {
        let address = address.trim();
        if address.len() > LONGEST_ADDRESS {
            return None;
        }
        let rest = strip_prefix_ignoring_case(address, "https://")
            .or_else(|| strip_prefix_ignoring_case(address, "http://"))?;
        let rest = rest.split(['?', '#']).next()?;
        let (host, path) = rest.split_once('/')?;
        let host = host.split(':').next()?.to_ascii_lowercase();
        let path = percent_decoded(path)?;
        let path = path.trim_end_matches('/');
        match host.strip_prefix("www.").unwrap_or(&host) {
            "doi.org" | "dx.doi.org" => Self::doi(path).ok(),
            "arxiv.org"
            | "export.arxiv.org"
            | "browse.arxiv.org"
            | "ar5iv.org"
            | "ar5iv.labs.arxiv.org" => of_arxiv(path),
            "pubmed.ncbi.nlm.nih.gov" => number(path.split('/').next()?).map(Self::Pmid),
            "pmc.ncbi.nlm.nih.gov" => of_pmc(path),
            "ncbi.nlm.nih.gov" => {
                if let Some(rest) = path.strip_prefix("pmc/") {
                    return of_pmc(rest);
                }
                number(path.strip_prefix("pubmed/")?.split('/').next()?).map(Self::Pmid)
            }
            "europepmc.org" => of_europe_pmc(path),
            "aclanthology.org" => of_acl(path),
            "aclweb.org" => of_acl(path.strip_prefix("anthology/")?),
            "openalex.org" => of_openalex(path),
            "api.openalex.org" => of_openalex(path.strip_prefix("works/")?),
            "semanticscholar.org" | "api.semanticscholar.org" => {
                number(strip_prefix_ignoring_case(path, "corpusid:")?).map(Self::CorpusId)
            }
            "biorxiv.org" | "medrxiv.org" => of_preprint(path),
            _ => None,
        }
    }
}

fn number(text: &str) -> Option<u64> {
    if all_digits(text) { text.parse().ok() } else { None }
}

fn of_arxiv(path: &str) -> Option<PaperId> {
    let (kind, id) = path.split_once('/')?;
    if !matches!(kind, "abs" | "pdf" | "html" | "format" | "ps" | "src" | "e-print") {
        return None;
    }
    PaperId::arxiv(id).ok()
}

fn of_pmc(path: &str) -> Option<PaperId> {
    PaperId::pmcid(path.strip_prefix("articles/")?.split('/').next()?).ok()
}

fn of_europe_pmc(path: &str) -> Option<PaperId> {
    if let Some(id) = strip_prefix_ignoring_case(path, "article/med/") {
        return number(id).map(PaperId::Pmid);
    }
    let id = strip_prefix_ignoring_case(path, "article/pmc/")
        .or_else(|| strip_prefix_ignoring_case(path, "articles/"))?;
    PaperId::pmcid(id).ok()
}

fn of_openalex(path: &str) -> Option<PaperId> {
    let id = strip_prefix_ignoring_case(path, "works/").unwrap_or(path);
    number(strip_prefix_ignoring_case(id, "w")?).map(PaperId::OpenAlex)
}

/// `P19-1001` or `2020.acl-main.1`: pages of people, events and volumes have other forms.
fn of_acl(path: &str) -> Option<PaperId> {
    let id = path.strip_suffix(".pdf").unwrap_or(path);
    is_acl(id).then(|| PaperId::Acl(id.to_owned()))
}

/// Whether `id` has the form of an ACL Anthology id of a paper.
pub(super) fn is_acl(id: &str) -> bool {
    if let Some((volume, paper)) = id.split_once('-')
        && volume.len() == 3
        && volume.starts_with(|c: char| c.is_ascii_uppercase())
        && all_digits(&volume[1..])
    {
        return paper.len() == 4 && all_digits(paper);
    }
    let parts: Vec<&str> = id.split('.').collect();
    let [year, venue, paper] = parts[..] else { return false };
    year.len() == 4
        && all_digits(year)
        && venue.contains('-')
        && venue.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
        && all_digits(paper)
}

/// `content/10.1101/2024.04.01.587366v1.full` of bioRxiv and medRxiv, which assign the DOI of the path.
fn of_preprint(path: &str) -> Option<PaperId> {
    let doi = path.strip_prefix("content/")?;
    let (prefix, name) = doi.split_once('/')?;
    // Newer preprints are registered as openRxiv's.
    if !matches!(prefix, "10.1101" | "10.64898") {
        return None;
    }
    let stem = match name.rfind('v') {
        Some(at) if name[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => &name[..at],
        _ => name,
    };
    if !stem.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return None;
    }
    PaperId::doi(&format!("{prefix}/{stem}")).ok()
}

/// `text` with its percent escapes decoded; `None` for an escape that is none and for bytes that are no text.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_papers_name_them() {
        for (address, expect) in [
            ("https://arxiv.org/abs/2411.14199", "arxiv:2411.14199"),
            ("https://arxiv.org/abs/2411.14199v3?context=cs", "arxiv:2411.14199"),
            ("http://www.arxiv.org/pdf/2411.14199v1.pdf#page=3", "arxiv:2411.14199"),
            ("https://arxiv.org/html/2411.14199v2", "arxiv:2411.14199"),
            ("https://arxiv.org/pdf/hep-th/9901001v2", "arxiv:hep-th/9901001"),
            ("https://arxiv.org/abs/math.GT/0309136", "arxiv:math/0309136"),
            ("https://ar5iv.labs.arxiv.org/html/2411.14199", "arxiv:2411.14199"),
            ("https://pubmed.ncbi.nlm.nih.gov/34527728/", "pmid:34527728"),
            ("https://pubmed.ncbi.nlm.nih.gov/34527728", "pmid:34527728"),
            ("https://www.ncbi.nlm.nih.gov/pubmed/34527728?dopt=x", "pmid:34527728"),
            ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC8435807/", "pmcid:PMC8435807"),
            ("https://www.ncbi.nlm.nih.gov/pmc/articles/5210604", "pmcid:PMC5210604"),
            ("https://pmc.ncbi.nlm.nih.gov/articles/PMC8435807.1/pdf/x.pdf", "pmcid:PMC8435807"),
            ("https://europepmc.org/article/MED/34527728", "pmid:34527728"),
            ("https://europepmc.org/articles/PMC8435807", "pmcid:PMC8435807"),
            ("HTTPS://DOI.ORG/10.1038%2FNature12373", "doi:10.1038/nature12373"),
            ("https://aclanthology.org/2020.acl-main.1.pdf", "acl:2020.acl-main.1"),
            ("https://www.aclweb.org/anthology/P19-1001/", "acl:P19-1001"),
            ("https://openalex.org/W2741809807", "openalex:W2741809807"),
            ("https://api.openalex.org/works/W2741809807", "openalex:W2741809807"),
            ("https://api.semanticscholar.org/CorpusID:215416146", "corpusid:215416146"),
            (
                "https://www.biorxiv.org/content/10.1101/2024.04.01.587366v1.full",
                "doi:10.1101/2024.04.01.587366",
            ),
        ] {
            let id = PaperId::from_url(address).map(|id| id.to_string());
            assert_eq!(id.as_deref(), Some(expect), "{address}");
        }
    }

    #[test]
    fn other_pages_name_nothing() {
        for address in [
            "https://arxiv.org/list/cs.CL/recent",
            "https://arxiv.org/a/smith_j_1",
            "https://arxiv.org/abs/",
            "https://evil.example/arxiv.org/abs/2411.14199",
            "https://arxiv.org.evil.example/abs/2411.14199",
            "https://pubmed.ncbi.nlm.nih.gov/?term=cancer",
            "https://www.ncbi.nlm.nih.gov/pmc/journals/1/",
            "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC/",
            "https://aclanthology.org/events/acl-2020/",
            "https://aclanthology.org/volumes/2020.acl-main/",
            "https://www.semanticscholar.org/paper/Title/0123456789abcdef0123456789abcdef01234567",
            "https://arxiv.org/abs/%zz",
            "https://arxiv.org/abs/é",
            "ftp://arxiv.org/abs/2411.14199",
            "arxiv.org/abs/2411.14199",
            "",
        ] {
            assert_eq!(PaperId::from_url(address), None, "{address}");
        }
        assert_eq!(PaperId::from_url(&format!("https://doi.org/10.1/{}", "x".repeat(5000))), None);
    }
}
