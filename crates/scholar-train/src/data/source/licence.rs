//! Which texts of a collection may be used commercially, and so be trained on.
//!
//! A collection's licence covers what its makers wrote: claims, questions, labels. Texts of papers in it stay under the
//! papers' own licences, so papers whose licence is known to forbid commercial use are left out, whatever the licence of
//! the collection says. Source: the licence statement of the ACL Anthology, according to which papers published before
//! 2016 are CC BY-NC-SA 3.0 and later ones CC BY 4.0.

use super::super::ledger::Ledger;
use super::{PaperText, SourceName};

/// First year whose papers the ACL Anthology publishes under CC BY.
const FIRST_CC_BY_YEAR: i64 = 2016;

/// Two-digit years of Anthology ids from this one on are of the 20th century; the oldest paper is of 1952.
const FIRST_SHORT_YEAR: i64 = 52;

/// Rule that leaves out papers of the ACL Anthology that are CC BY-NC-SA.
pub(crate) const ACL_BEFORE_2016: &str = "licence: ACL paper before 2016";

/// Rule that leaves out papers whose record names a non-commercial licence.
const NON_COMMERCIAL: &str = "licence: not for commercial use";

/// Rule that leaves out texts of articles of which no licence is known.
pub(crate) const UNKNOWN: &str = "licence: of the article not known";

/// Takes the papers out of `papers` that may not be used commercially and counts them in `ledger`.
pub(crate) fn keep_commercial(name: SourceName, papers: &mut Vec<PaperText>, ledger: &mut Ledger) {
    papers.retain(|paper| {
        let rule = objection(name, paper);
        if let Some(rule) = rule {
            ledger.reject(name.name(), rule, &paper.title);
        }
        rule.is_none()
    });
}

/// The rule that leaves out `paper`, if one does.
fn objection(name: SourceName, paper: &PaperText) -> Option<&'static str> {
    let is_acl = name == SourceName::Acl;
    if is_acl && paper.year.is_none_or(|year| year < FIRST_CC_BY_YEAR) {
        return Some(ACL_BEFORE_2016);
    }
    is_non_commercial(&paper.licence).then_some(NON_COMMERCIAL)
}

/// Whether a licence as collections write it (`cc-by-nc-nd`, `CC BY-NC`) excludes commercial use.
fn is_non_commercial(licence: &str) -> bool {
    let mut parts = licence.split(|c: char| !c.is_ascii_alphanumeric());
    parts.any(|part| part.eq_ignore_ascii_case("nc") || part.eq_ignore_ascii_case("noncommercial"))
}

/// Whether the Anthology publishes the paper with that id (`P09-1113`, `2020.acl-main.1`) under CC BY. Ids that are not
/// the Anthology's do not tell, and count as no.
pub(crate) fn is_cc_by_acl(id: &str) -> bool {
    acl_year(id).is_some_and(|year| year >= FIRST_CC_BY_YEAR)
}

fn acl_year(id: &str) -> Option<i64> {
    if let Some((year, _)) = id.split_once('.') {
        return year.parse().ok().filter(|_| year.len() == 4);
    }
    let (volume, number) = id.split_once('-')?;
    let is_number = number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit());
    let short: i64 = volume.get(1..).filter(|year| year.len() == 2 && is_number)?.parse().ok()?;
    Some(short + if short < FIRST_SHORT_YEAR { 2000 } else { 1900 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paper(title: &str, year: Option<i64>, licence: &str) -> PaperText {
        PaperText {
            title: title.to_owned(),
            year,
            licence: licence.to_owned(),
            ..PaperText::default()
        }
    }

    #[test]
    fn papers_that_may_not_be_used_commercially_are_left_out_and_counted() {
        let mut ledger = Ledger::default();
        let mut acl = vec![
            paper("a", Some(2015), ""),
            paper("b", Some(2016), ""),
            paper("c", None, ""),
            paper("d", Some(2020), "CC BY-NC 4.0"),
        ];
        keep_commercial(SourceName::Acl, &mut acl, &mut ledger);
        let kept: Vec<&str> = acl.iter().map(|paper| paper.title.as_str()).collect();
        assert_eq!(kept, ["b"]);
        assert_eq!(ledger.removed()["acl"][ACL_BEFORE_2016], 2);
        assert_eq!(ledger.removed()["acl"][NON_COMMERCIAL], 1);
        let mut works = vec![
            paper("e", Some(1999), "cc-by"),
            paper("f", Some(1999), "cc-by-nc-nd"),
            paper("g", Some(1999), ""),
        ];
        keep_commercial(SourceName::Openalex, &mut works, &mut ledger);
        assert_eq!(works.len(), 2);
        assert_eq!(ledger.removed()["openalex"][NON_COMMERCIAL], 1);
    }

    #[test]
    fn anthology_ids_tell_the_year() {
        assert_eq!(acl_year("P09-1113"), Some(2009));
        assert_eq!(acl_year("X96-1048"), Some(1996));
        assert_eq!(acl_year("2020.acl-main.1"), Some(2020));
        for other in ["ICDAR99", "P134_n09", "P101167", "W02-0503-parscit130908", "é09-1113", ""] {
            assert_eq!(acl_year(other), None, "{other}");
        }
        assert!(is_cc_by_acl("P16-1001") && !is_cc_by_acl("P15-1001") && !is_cc_by_acl("Pjournal"));
    }
}
