//! Identifiers in the fields of lists.

use scholar_core::PaperId;

/// A DOI as people write it: bare, after `doi:`, with a resolver, with a full stop behind it.
pub(crate) fn doi(text: &str) -> Option<PaperId> {
    let text = text.trim().trim_end_matches(['.', ',', ';']);
    let bare = text.find("10.").map_or(text, |at| &text[at..]);
    PaperId::doi(bare).ok()
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
        "acl" | "aclanthology" => {
            PaperId::recognise(value).filter(|id| matches!(id, PaperId::Acl(_)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
