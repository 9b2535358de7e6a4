//! Identifiers in the fields of lists.

use scholar_core::PaperId;

/// A DOI as people write it: bare, after `doi:`, with a resolver, with a full stop behind it.
pub(crate) fn doi(text: &str) -> Option<PaperId> {
    let text = text.trim().trim_end_matches(['.', ',', ';']);
    let bare = text.find("10.").map_or(text, |at| &text[at..]);
    PaperId::doi(bare).ok()
}

/// The identifier an address of a registry names, where it names exactly one.
pub(crate) fn of_url(url: &str) -> Option<PaperId> {
    let rest = url.trim().split_once("://").map_or(url.trim(), |(_, rest)| rest);
    let (host, path) = rest.split_once('/')?;
    let host = host.to_ascii_lowercase();
    let host = host.strip_prefix("www.").unwrap_or(&host);
    let path = path.split(['?', '#']).next().unwrap_or(path).trim_end_matches('/');
    let last = path.rsplit('/').next().unwrap_or(path);
    let after = |prefix: &str| path.strip_prefix(prefix);
    match host {
        "doi.org" | "dx.doi.org" => PaperId::doi(&unescaped(path)).ok(),
        "arxiv.org" | "export.arxiv.org" | "ar5iv.org" | "ar5iv.labs.arxiv.org" => {
            let id = ["abs/", "pdf/", "html/", "e-print/", "ps/"].into_iter().find_map(after)?;
            PaperId::arxiv(id).ok()
        }
        "pubmed.ncbi.nlm.nih.gov" => number("pmid", path),
        "ncbi.nlm.nih.gov" => after("pubmed/")
            .and_then(|id| number("pmid", id))
            .or_else(|| after("pmc/articles/").and_then(|id| pmcid(first_part(id)))),
        "pmc.ncbi.nlm.nih.gov" => after("articles/").and_then(|id| pmcid(first_part(id))),
        "europepmc.org" => after("article/MED/")
            .or_else(|| after("abstract/MED/"))
            .and_then(|id| number("pmid", id))
            .or_else(|| path.contains("PMC").then(|| pmcid(last)).flatten()),
        "aclanthology.org" => acl(path),
        "aclweb.org" => after("anthology/").and_then(acl),
        "openalex.org" => format!("openalex:{}", last.to_ascii_uppercase()).parse().ok(),
        "api.semanticscholar.org" => {
            after("CorpusID:").and_then(|id| format!("corpusid:{id}").parse().ok())
        }
        _ => None,
    }
}

/// An ACL Anthology id: a year with a dot, or a letter and two digits with a dash.
fn acl(path: &str) -> Option<PaperId> {
    let id = path.strip_suffix(".pdf").unwrap_or(path);
    let new = id.split_once('.').is_some_and(|(year, rest)| {
        year.len() == 4 && year.bytes().all(|b| b.is_ascii_digit()) && rest.contains('-')
    });
    let old = id.split_once('-').is_some_and(|(volume, paper)| {
        volume.len() == 3
            && volume.starts_with(|c: char| c.is_ascii_uppercase())
            && paper.len() == 4
            && paper.bytes().all(|b| b.is_ascii_digit())
    });
    ((new || old) && !id.contains('/')).then(|| PaperId::Acl(id.to_owned()))
}

fn first_part(path: &str) -> &str {
    path.split('/').next().unwrap_or(path)
}

fn number(registry: &str, digits: &str) -> Option<PaperId> {
    format!("{registry}:{digits}").parse().ok()
}

/// A `PubMed` id: its digits.
pub(crate) fn pmid(text: &str) -> Option<PaperId> {
    number("pmid", text.trim().trim_start_matches(|c: char| !c.is_ascii_digit()))
}

/// A `PubMed` Central id, with `PMC` before its digits.
pub(crate) fn pmcid(text: &str) -> Option<PaperId> {
    let text = text.trim();
    let digits =
        text.get(..3).filter(|head| head.eq_ignore_ascii_case("pmc")).map(|_| &text[3..])?;
    number("pmcid", digits)
}

/// The arXiv id in running text such as `arXiv preprint arXiv:1706.03762v5 [cs.CL]`, or `abs/1706.03762`.
pub(crate) fn arxiv_in(text: &str) -> Option<PaperId> {
    let lower = text.to_ascii_lowercase();
    let found = lower
        .match_indices("arxiv:")
        .map(|(at, mark)| at + mark.len())
        .chain(lower.match_indices("abs/").map(|(at, mark)| at + mark.len()));
    found
        .map(|at| text[at..].trim_start())
        .filter_map(|rest| rest.split(|c: char| c.is_whitespace() || ",;[]()".contains(c)).next())
        .find_map(|word| PaperId::arxiv(word.trim_end_matches('.')).ok())
}

/// The arXiv id that a DOI of arXiv's own was made of.
pub(crate) fn arxiv_of_doi(id: &PaperId) -> Option<PaperId> {
    let PaperId::Doi(doi) = id else { return None };
    PaperId::arxiv(doi.strip_prefix("10.48550/arxiv.")?).ok()
}

/// What a line `Key: value` of a note says, as Zotero's field Extra and our exports write identifiers.
pub(crate) fn of_line(line: &str) -> Option<PaperId> {
    let (key, value) = line.split_once(':')?;
    let value = value.trim();
    match key.trim().to_ascii_lowercase().replace([' ', '-', '_'], "").as_str() {
        "doi" => doi(value),
        "arxiv" | "arxivid" => {
            PaperId::arxiv(value.split_whitespace().next().unwrap_or_default()).ok()
        }
        "pmid" | "pubmedid" | "pubmed" => pmid(value),
        "pmcid" | "pmc" => pmcid(value),
        "corpusid" | "s2cid" => number("corpusid", value),
        "openalex" | "openalexid" => format!("openalex:{value}").parse().ok(),
        "acl" | "aclanthology" => acl(value),
        _ => None,
    }
}

/// An address's `%` escapes undone.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        let code = rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(u8::is_ascii) {
            Some(code) => {
                out.push(char::from(code));
                rest = &rest[at + 3..];
            }
            None => {
                out.push('%');
                rest = &rest[at + 1..];
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_registries() {
        for (url, id) in [
            ("https://doi.org/10.1000%2FABC", "doi:10.1000/abc"),
            ("http://arxiv.org/pdf/2411.14199v2.pdf", "arxiv:2411.14199"),
            ("https://arxiv.org/abs/hep-th/9901001", "arxiv:hep-th/9901001"),
            ("https://pubmed.ncbi.nlm.nih.gov/123/", "pmid:123"),
            ("https://www.ncbi.nlm.nih.gov/pmc/articles/PMC12/pdf/x.pdf", "pmcid:PMC12"),
            ("https://aclanthology.org/2020.acl-main.1.pdf", "acl:2020.acl-main.1"),
            ("https://www.aclweb.org/anthology/P18-1001/", "acl:P18-1001"),
            ("https://openalex.org/W42", "openalex:W42"),
            ("https://api.semanticscholar.org/CorpusID:7", "corpusid:7"),
        ] {
            assert_eq!(of_url(url).map(|id| id.to_string()).as_deref(), Some(id), "{url}");
        }
        for url in [
            "https://example.org/10.1/x",
            "https://arxiv.org/list/cs.CL",
            "https://aclanthology.org/venues/acl/",
            "https://www.ncbi.nlm.nih.gov/gene/12",
            "x",
            "https://doi.org",
        ] {
            assert_eq!(of_url(url), None, "{url}");
        }
    }

    #[test]
    fn identifiers_in_text() {
        let arxiv = |text| arxiv_in(text).map(|id| id.to_string());
        assert_eq!(
            arxiv("arXiv preprint arXiv:1706.03762v5 [cs]").as_deref(),
            Some("arxiv:1706.03762")
        );
        assert_eq!(arxiv("abs/1706.03762").as_deref(), Some("arxiv:1706.03762"));
        assert_eq!(arxiv("arXiv preprint"), None);
        assert_eq!(of_line("PMCID: PMC7").map(|id| id.to_string()).as_deref(), Some("pmcid:PMC7"));
        assert_eq!(of_line("PMCID: 7"), None, "digits alone may be a PMID");
        assert_eq!(of_line("Publisher: x"), None);
        assert_eq!(doi("DOI: 10.1/X.").map(|id| id.to_string()).as_deref(), Some("doi:10.1/x"));
    }
}
