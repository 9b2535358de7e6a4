//! The numbers of a PRISMA 2020 flow diagram, and which records are the same paper twice.

use std::collections::BTreeMap;

use scholar_core::text::normalise::title_key;
use scholar_core::{PaperId, PaperMeta};
use serde::{Deserialize, Serialize};

use super::decision::Decision;

/// Fewest words of a title that two records of one paper share: `Editorial` is the title of many.
const TITLE_WORDS: usize = 5;

/// A record that is the same paper as an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Duplicate {
    /// The record.
    pub paper: PaperId,
    /// The earlier one, which is screened.
    pub of: PaperId,
}

/// What two records are compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// The identifier it is filed under.
    pub id: PaperId,
    /// Its title as [`title_key`] folds it; `None` where it is too short to tell papers apart.
    pub title: Option<String>,
    /// Its year, where it is known.
    pub year: Option<i16>,
    /// Surname-bearing first author as printed, in lower case.
    pub first_author: Option<String>,
}

impl Identity {
    /// Of a paper.
    pub fn of(meta: &PaperMeta) -> Self {
        let long = meta.title.split_whitespace().count() >= TITLE_WORDS;
        Self {
            id: meta.id.clone(),
            title: long.then(|| title_key(&meta.title)),
            year: meta.year,
            first_author: meta.authors.first().map(|author| surname(author)),
        }
    }

    /// Whether both have one long title and nothing known of them differs.
    fn is(&self, other: &Self) -> bool {
        fn agree<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
            a.zip(b).is_none_or(|(a, b)| a == b)
        }
        self.title.is_some()
            && self.title == other.title
            && agree(self.year.as_ref(), other.year.as_ref())
            && agree(self.first_author.as_ref(), other.first_author.as_ref())
    }
}

/// `Smith, J.` and `J. Smith` alike.
fn surname(author: &str) -> String {
    let name = match author.split_once(',') {
        Some((surname, _)) => surname,
        None => author.split_whitespace().last().unwrap_or(author),
    };
    name.trim().to_lowercase()
}

/// The records that repeat an earlier one of `records`, in their order.
pub fn duplicates(records: &[Identity]) -> Vec<Duplicate> {
    let mut known: BTreeMap<&str, Vec<&Identity>> = BTreeMap::new();
    let mut found = Vec::new();
    for record in records {
        let Some(title) = &record.title else { continue };
        let same = known.entry(title).or_default();
        match same.iter().find(|earlier| earlier.is(record)) {
            Some(earlier) => {
                found.push(Duplicate { paper: record.id.clone(), of: earlier.id.clone() });
            }
            None => same.push(record),
        }
    }
    found
}

/// The numbers of the flow diagram, from identification to what is included after title and abstract.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowCounts {
    /// Records that came in, before any was merged with another.
    pub identified: usize,
    /// Records of a paper that was there already.
    pub duplicates_removed: usize,
    /// Papers that filters or a list of identifiers left out before screening.
    pub filtered_out: usize,
    /// Papers that nobody has decided on yet.
    pub not_screened: usize,
    /// Papers with a decision.
    pub screened: usize,
    /// Of these, excluded.
    pub excluded: usize,
    /// Of the excluded, how many by which criterion, in the order of the criteria; a person's without a criterion under their
    /// reason.
    pub reasons: Vec<(String, usize)>,
    /// Of the screened, unclear: a person has to read them.
    pub unclear: usize,
    /// Of the unclear, those without text.
    pub without_text: usize,
    /// Of the screened, included.
    pub included: usize,
    /// Of the screened, those that a person decided.
    pub by_person: usize,
}

impl FlowCounts {
    /// Counts one decided paper; `reason` is why it is excluded, where it is.
    pub fn count(&mut self, decision: Decision, reason: Option<&str>, by_person: bool) {
        self.screened += 1;
        self.by_person += usize::from(by_person);
        match decision {
            Decision::Include => self.included += 1,
            Decision::Unclear => self.unclear += 1,
            Decision::Exclude => {
                self.excluded += 1;
                let reason = reason.unwrap_or("no reason given");
                match self.reasons.iter_mut().find(|(known, _)| known == reason) {
                    Some((_, n)) => *n += 1,
                    None => self.reasons.push((reason.to_owned(), 1)),
                }
            }
        }
    }

    /// Whether every record is accounted for once.
    pub fn adds_up(&self) -> bool {
        let reasons: usize = self.reasons.iter().map(|(_, n)| n).sum();
        self.identified
            == self.duplicates_removed + self.filtered_out + self.not_screened + self.screened
            && self.screened == self.excluded + self.unclear + self.included
            && self.excluded == reasons
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(n: u64, title: &str, year: Option<i16>, author: &str) -> Identity {
        let mut meta = PaperMeta::new(PaperId::Pmid(n), title);
        meta.year = year;
        meta.authors = vec![author.to_owned()];
        Identity::of(&meta)
    }

    #[test]
    fn one_long_title_is_one_paper_unless_something_differs() {
        let title = "Emicizumab prophylaxis in patients with haemophilia A";
        let records = [
            record(1, title, Some(2018), "Mahlangu, J."),
            record(
                2,
                "EMICIZUMAB prophylaxis in patients with haemophilia A.",
                None,
                "J. Mahlangu",
            ),
            record(3, title, Some(2020), "Mahlangu, J."),
            record(4, title, Some(2018), "Oldenburg, J."),
            record(5, "Editorial", Some(2018), "Mahlangu, J."),
            record(6, "Editorial", Some(2018), "Mahlangu, J."),
        ];
        let pair = Duplicate { paper: PaperId::Pmid(2), of: PaperId::Pmid(1) };
        assert_eq!(duplicates(&records), [pair]);
    }

    #[test]
    fn every_record_is_counted_once() {
        let mut counts =
            FlowCounts { identified: 6, duplicates_removed: 1, ..FlowCounts::default() };
        counts.count(Decision::Exclude, Some("population"), false);
        counts.count(Decision::Exclude, Some("population"), true);
        counts.count(Decision::Include, None, false);
        counts.count(Decision::Unclear, None, false);
        assert!(!counts.adds_up());
        counts.not_screened = 1;
        assert!(counts.adds_up());
        assert_eq!(counts.reasons, [("population".to_owned(), 2)]);
        assert_eq!(counts.by_person, 1);
    }
}
