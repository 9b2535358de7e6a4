//! What kind of study a criterion asks for, and what kind of study a paper says it is.
//!
//! Words about design, population and type of publication mean the same in every field, so code reads them; what a review is
//! about is left to the other signs. Only title and abstract are read: the body of a paper speaks of other studies too.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::PassageKind;

use super::criteria::{Criterion, CriterionKind};
use super::paper::ScreenPaper;

/// What a study or a publication can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Design {
    /// A trial with random allocation.
    Randomised,
    /// A systematic review or a meta-analysis.
    SystematicReview,
    /// Anything without data of its own: reviews, editorials, letters.
    Review,
    /// Research with data of its own.
    Original,
    /// On people.
    Human,
    /// On animals.
    Animal,
    /// On cells or tissue outside of a body.
    InVitro,
    /// A report of one or a few cases.
    CaseReport,
    /// A plan of a study.
    Protocol,
}

/// Patterns of one design.
struct Patterns {
    design: Design,
    /// How criteria name it.
    asked: Regex,
    /// How papers say that they are it.
    said: Regex,
    /// What titles say alone.
    titled: Option<Regex>,
}

static PATTERNS: LazyLock<Vec<Patterns>> = LazyLock::new(|| {
    let of = |design, asked: &str, said: &str, titled: Option<&str>| Patterns {
        design,
        asked: pattern(asked),
        said: pattern(said),
        titled: titled.map(pattern),
    };
    let review_title = r"(?i)\b(?:reviews?|overview|meta-?analys[ei]s|editorial|commentary|perspectives?|state of the art|what (?:do )?we know)\b";
    let people = r"(?i)\b(?:humans?|patients?|participants?|volunteers?|women|men|adults?|children|adolescents?|infants?|people|persons|individuals|postmenopausal)\b";
    let animals = r"(?i)\b(?:mice|mouse|rats?|murine|rodents?|rabbits?|dogs?|canine|beagles?|cats?|pigs?|minipigs?|porcine|swine|sheep|ovine|goats?|caprine|horses?|equine|monkeys?|macaques?|primates|zebrafish|guinea pigs?|animal (?:models?|stud(?:y|ies)|experiments?)|animals)\b";
    vec![
        of(
            Design::Randomised,
            r"(?i)\b(?:randomi[sz]ed|randomi[sz]ation|RCTs?)\b",
            r"(?i)\b(?:randomi[sz]ed|randomly (?:assigned|allocated|divided|selected)|RCT)\b",
            None,
        ),
        of(
            Design::SystematicReview,
            r"(?i)\b(?:systematic(?:ally)? reviews?|meta-?analys[ei]s)\b",
            r"(?i)\b(?:systematic(?:ally)? review(?:ed)?|meta-?analys[ei]s|we (?:systematically )?searched|electronic databases)\b",
            None,
        ),
        of(
            Design::Review,
            r"(?i)\b(?:(?:narrative |umbrella |literature )?reviews?|editorials?|opinion|commentar(?:y|ies)|letters?|secondary literature)\b",
            r"(?i)\b(?:(?:this|the present|our|present|narrative|mini|umbrella|scoping) (?:[\w-]+ )?review|we (?:[\w-]+ )?review(?:ed)?\b|(?:article|paper|chapter) (?:reviews|discusses|summari[sz]es|describes the current)|is reviewed|are reviewed|here,? we (?:discuss|summari[sz]e)|this (?:editorial|commentary|overview))",
            Some(review_title),
        ),
        of(
            Design::Original,
            r"(?i)\b(?:original (?:\w+ )?(?:research|stud(?:y|ies)|articles?|reports?|data)|primary (?:research|stud(?:y|ies)|data))\b",
            r"(?i)\b(?:we (?:enrolled|recruited|measured|treated|randomi[sz]ed|followed|conducted an?|investigated|compared|evaluated|assessed|analy[sz]ed)|were (?:enrolled|recruited|randomi[sz]ed|randomly|treated|measured|followed|injected|assigned|allocated|included in the study)|(?:cohort|case-control|cross-sectional|observational|prospective|retrospective) (?:study|analysis)|n ?= ?\d+|\d+ (?:patients|women|men|subjects|participants|adults))",
            None,
        ),
        of(Design::Human, people, people, None),
        of(
            Design::Animal,
            r"(?i)\b(?:animals?|pre-?clinical|non-?human|mice|rodents?)\b",
            animals,
            None,
        ),
        of(
            Design::InVitro,
            r"(?i)\b(?:in[- ]vitro|cell (?:lines?|cultures?))\b",
            r"(?i)\b(?:in[- ]vitro|cell (?:lines?|cultures?)|cultured|ex[- ]vivo)\b",
            None,
        ),
        of(
            Design::CaseReport,
            r"(?i)\bcase (?:reports?|series)\b",
            r"(?i)\b(?:case (?:reports?|series)|we (?:report|describe|present) (?:a|the|an|two|three) cases?|a \d+-year-old)\b",
            None,
        ),
        of(
            Design::Protocol,
            r"(?i)\bprotocols?\b",
            r"(?i)\b(?:study protocol|this protocol|trial protocol|will be (?:randomi[sz]ed|searched|enrolled|recruited|assessed|included|conducted|performed))\b",
            Some(r"(?i)\bprotocol\b"),
        ),
    ]
});

/// Words behind which a criterion names what is not wanted.
static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(?:not|no|non|nor|excluding|other than|rather than|without|instead of)\s+(?:\w+\s+){0,3}$")
});

/// Words of studies that observe what nobody allocated.
static OBSERVED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:retrospective|case-control|cross-sectional|cohort study|observational|survey|registry|case series)\b",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// What design says of a criterion and a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct DesignSign {
    /// 1: the paper is what the criterion names, −1: it is something else, 0: nothing was asked or nothing is said.
    pub value: f32,
    /// Number of the passage and bytes in it that say so; `None` where only the title does.
    pub at: Option<(usize, Range<usize>)>,
}

impl DesignSign {
    const NONE: Self = Self { value: 0.0, at: None };
}

/// Where a paper says something.
#[derive(Debug, Clone, PartialEq)]
enum Place {
    Title,
    Passage(usize, Range<usize>),
}

/// What title and abstract say of the study.
struct Said {
    places: Vec<(Design, Place)>,
    observed: Option<Place>,
}

impl Said {
    fn of(paper: &ScreenPaper) -> Self {
        let read: Vec<(usize, &str)> = paper
            .prose()
            .filter(|(at, passage)| passage.kind == PassageKind::Abstract || *at == 0)
            .map(|(at, passage)| (at, passage.text.as_str()))
            .collect();
        let find = |said: &Regex, titled: Option<&Regex>| {
            let in_title = || titled.unwrap_or(said).is_match(&paper.title);
            let in_text = || {
                read.iter().find_map(|(at, text)| {
                    said.find(text).map(|found| Place::Passage(*at, found.range()))
                })
            };
            // A place in a passage can be quoted, so it goes first.
            in_text().or_else(|| in_title().then_some(Place::Title))
        };
        let places = PATTERNS.iter().filter_map(|Patterns { design, asked: _, said, titled }| {
            Some((*design, find(said, titled.as_ref())?))
        });
        Self { places: places.collect(), observed: find(&OBSERVED, None) }
    }

    fn place(&self, design: Design) -> Option<&Place> {
        self.places.iter().find(|(said, _)| *said == design).map(|(_, place)| place)
    }

    fn has(&self, design: Design) -> bool {
        self.place(design).is_some()
    }

    /// What speaks for (true) or against (false) the paper being of `design`.
    fn verdict(&self, design: Design) -> Option<(bool, &Place)> {
        if let Some(place) = self.place(design) {
            // Data of one's own are not spoilt by the word review, but a review of others' data is none.
            let is_review = self.place(Design::Review).filter(|_| design == Design::Original);
            return match is_review.filter(|place| **place == Place::Title) {
                Some(review) => Some((false, review)),
                None => Some((true, place)),
            };
        }
        let against = match design {
            Design::Randomised => self
                .place(Design::Review)
                .or_else(|| self.place(Design::CaseReport))
                .or(self.observed.as_ref()),
            Design::Original => self
                .place(Design::Review)
                .or_else(|| self.place(Design::SystematicReview))
                .or_else(|| self.place(Design::Protocol)),
            Design::SystematicReview | Design::Review => {
                self.place(Design::Original).filter(|_| !self.has(Design::Review))
            }
            Design::Human => {
                self.place(Design::Animal).or_else(|| self.place(Design::InVitro))
            }
            Design::Animal | Design::InVitro => self.place(Design::Human),
            Design::CaseReport => self.place(Design::Randomised),
            Design::Protocol => None,
        };
        against.map(|place| (false, place))
    }
}

/// What the designs that `criterion` names say of `paper`.
///
/// Of several, that which speaks against it counts for a criterion that must be met, since all are asked for; that which speaks
/// for it counts for one that excludes, since each of them would.
pub fn design_sign(criterion: &Criterion, paper: &ScreenPaper) -> DesignSign {
    let mut asked: Vec<(Design, bool)> = Vec::new();
    for Patterns { design, asked: names, said: _, titled: _ } in PATTERNS.iter() {
        for found in names.find_iter(&criterion.text) {
            let wanted = !NEGATED.is_match(&criterion.text[..found.start()]);
            // A systematic review is named by the word review too.
            let is_part = *design == Design::Review
                && wanted
                && asked.contains(&(Design::SystematicReview, true));
            if !is_part && !asked.contains(&(*design, wanted)) {
                asked.push((*design, wanted));
            }
        }
    }
    if asked.is_empty() {
        return DesignSign::NONE;
    }
    let said = Said::of(paper);
    let mut chosen: Option<(bool, &Place)> = None;
    for (design, wanted) in asked {
        let Some((is_so, place)) = said.verdict(design) else { continue };
        let speaks_for = is_so == wanted;
        let decides = match criterion.kind {
            CriterionKind::Include => !speaks_for,
            CriterionKind::Exclude => speaks_for,
        };
        if chosen.is_none() || decides {
            chosen = Some((speaks_for, place));
        }
        if decides {
            break;
        }
    }
    let Some((speaks_for, place)) = chosen else { return DesignSign::NONE };
    let at = match place {
        Place::Title => None,
        Place::Passage(at, range) => Some((*at, range.clone())),
    };
    DesignSign { value: if speaks_for { 1.0 } else { -1.0 }, at }
}

#[cfg(test)]
mod tests {
    use super::super::paper::tests::paper;
    use super::*;

    fn sign(criterion: &str, kind: CriterionKind, title: &str, text: &str) -> i32 {
        let criterion = Criterion { id: "c".to_owned(), text: criterion.to_owned(), kind };
        let sign = design_sign(&criterion, &paper(1, title, text));
        if sign.value > 0.0 { 1 } else { -i32::from(sign.value < 0.0) }
    }

    #[test]
    fn papers_say_what_they_are() {
        use CriterionKind::{Exclude, Include};
        let trial = ("Stem cells", "Forty patients were randomized to two groups.");
        let mice = ("Stem cells", "Mice were injected with cells.");
        let review = ("Stem cells: a review", "This review summarises what is known.");
        let rct = "Randomized controlled trial";
        assert_eq!(sign(rct, Include, trial.0, trial.1), 1);
        assert_eq!(sign(rct, Include, review.0, review.1), -1);
        assert_eq!(sign("Reports data on humans", Include, mice.0, mice.1), -1);
        assert_eq!(sign("Reports data on humans", Include, trial.0, trial.1), 1);
        assert_eq!(sign("Animal study", Exclude, mice.0, mice.1), 1);
        assert_eq!(sign("Animal study", Exclude, trial.0, trial.1), -1);
        assert_eq!(sign("Original research, not a review", Include, review.0, review.1), -1);
        assert_eq!(sign("Original research, not a review", Include, trial.0, trial.1), 1);
        assert_eq!(sign("Review or in-vitro study", Exclude, review.0, review.1), 1);
        assert_eq!(sign("Measures clearance", Include, trial.0, trial.1), 0);
    }

    #[test]
    fn what_decides_is_located() {
        let criterion = Criterion {
            id: "c".to_owned(),
            text: "Randomised trial".to_owned(),
            kind: CriterionKind::Include,
        };
        let paper = paper(1, "Doses", "We gave a drug. Patients were randomly assigned.");
        let (at, range) = design_sign(&criterion, &paper).at.expect("in the text");
        assert_eq!(&paper.passages[at].text[range], "randomly assigned");
    }
}
