//! What stands in front of a quoted finding: who found it, in what kind of study, in which paper.

use scholar_core::{Answer, Reference};

use super::item::{Item, visible};

/// In front of a quotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lead {
    /// `Li et al. (2021), randomised controlled trial, 124 adults`, which is emphasised.
    pub emphasised: String,
    /// The title of the paper, where it is quoted for the first time (`our method` says nothing without it), up to the quotation.
    pub rest: String,
}

impl Lead {
    /// Of the sentence at `at`, which begins a paragraph; `None` for sentences that are not quoted in a digest.
    pub fn of(answer: &Answer, at: usize) -> Option<Self> {
        let sentence = answer.sentences.get(at)?;
        let begins = sentence.is_quoted() && sentence.paragraph_start;
        let cited = sentence.citations.first().filter(|_| begins)?;
        let paper = answer.references.iter().find(|paper| paper.number == *cited)?;
        let details: String = sentence.study.iter().map(|one| format!(", {}", one.text)).collect();
        let before = &answer.sentences[..at];
        let is_first = before.iter().all(|other| !other.citations.contains(cited));
        let study = format!("{}{}", named(paper), visible(&details));
        Some(Self::with(study, paper, is_first))
    }

    /// To a quotation of `paper`, with its title or without.
    pub(super) fn to(paper: &Reference, titled: bool) -> Self {
        Self::with(named(paper), paper, titled)
    }

    fn with(study: String, paper: &Reference, titled: bool) -> Self {
        let title = visible(&paper.title);
        let title = title.trim_end_matches(['.', ' ']);
        if titled && !title.is_empty() {
            Self { emphasised: study, rest: format!(", {title}: ") }
        } else {
            Self { emphasised: format!("{study}:"), rest: " ".to_owned() }
        }
    }
}

/// `Li et al. (2021)`.
pub fn named(paper: &Reference) -> String {
    named_item(&Item::of_reference(paper))
}

pub(super) fn named_item(item: &Item) -> String {
    let family = |at: usize| item.authors[at].family.clone();
    let who = match item.authors.len() {
        0 => item.title.split(' ').take(4).collect::<Vec<_>>().join(" "),
        1 => family(0),
        2 => format!("{} and {}", family(0), family(1)),
        _ => format!("{} et al.", family(0)),
    };
    let year = item.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    format!("{who} ({year})")
}
