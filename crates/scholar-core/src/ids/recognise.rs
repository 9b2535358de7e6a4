//! Identifiers as people type and print them, without this program's prefixes.

use super::address::is_acl;
use super::{PaperId, strip_prefix_ignoring_case};

impl PaperId {
    /// The identifier that `text` is as a whole: `prefix:value`, an address, or a form that only one registry uses
    /// (`10.…/…`, `2411.14199v2`, `PMC123`, `W123`, `P19-1001`). Never a bare number: it could be anything's.
    pub fn recognise(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(id) = text.parse() {
            return Some(id);
        }
        if let Some(id) = Self::from_url(text) {
            return Some(id);
        }
        if let Some(digits) = strip_prefix_ignoring_case(text, "PMC") {
            return Self::pmcid(digits).ok();
        }
        if let Some(digits) = text.strip_prefix('W') {
            return format!("openalex:{digits}").parse().ok();
        }
        if is_acl(text) {
            return Some(Self::Acl(text.to_owned()));
        }
        Self::arxiv(text).or_else(|_| Self::doi(text)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_registry_are_enough_and_numbers_are_not() {
        for (text, expect) in [
            (" 10.1038/nature12373 ", "doi:10.1038/nature12373"),
            ("doi.org/10.1038/nature12373", "doi:10.1038/nature12373"),
            ("2411.14199v2", "arxiv:2411.14199"),
            ("hep-th/9901001", "arxiv:hep-th/9901001"),
            ("PMC8435807.1", "pmcid:PMC8435807"),
            ("W2741809807", "openalex:W2741809807"),
            ("P19-1001", "acl:P19-1001"),
            ("2020.acl-main.1", "acl:2020.acl-main.1"),
            ("PMID: 34527728", "pmid:34527728"),
            ("arXiv:2411.14199", "arxiv:2411.14199"),
            ("https://arxiv.org/abs/2411.14199", "arxiv:2411.14199"),
        ] {
            let id = PaperId::recognise(text).map(|id| id.to_string());
            assert_eq!(id.as_deref(), Some(expect), "{text}");
        }
        for bad in ["34527728", "", "paper.pdf", "W", "PMC", "a question about 10.1038/nature12373"]
        {
            assert_eq!(PaperId::recognise(bad), None, "{bad}");
        }
    }
}
