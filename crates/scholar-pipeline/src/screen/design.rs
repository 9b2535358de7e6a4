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
pub(crate) enum Design {
    /// A trial with random allocation.
    Randomised,
    /// A plan of a study or a review.
    Protocol,
    /// A review of reviews.
    Umbrella,
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
    let people = r"(?i)\b(?:humans?|patients?|participants?|volunteers?|(?:wo)?men|(?:fe)?males|boys|girls|adults?|children|adolescents?|infants?|newborns?|people|persons|individuals|workers|cohorts?|observational studies|clinical (?:trials?|stud(?:y|ies)))\b";
    let animals = r"(?i)\b(?:mice|mouse|rats?|murine|rodents?|rabbits?|dogs?|canine|beagles?|cats?|pigs?|minipigs?|porcine|swine|sheep|ovine|goats?|caprine|horses?|equine|monkeys?|macaques?|primates|zebrafish|guinea pigs?|animal (?:models?|stud(?:y|ies)|experiments?)|animals)\b";
    // The more special name first: its words count for no other.
    vec![
        of(
            Design::Protocol,
            r"(?i)\b(?:(?:review|study|trial) )?protocols?\b",
            r"(?i)\b(?:(?:study|review|trial|this) protocol|will be (?:randomi[sz]ed|searched|enrolled|recruited|assessed|included|conducted|performed))\b",
            Some(r"(?i)\bprotocol\b"),
        ),
        of(
            Design::Umbrella,
            r"(?i)\b(?:umbrella reviews?|overviews? of reviews)\b",
            r"(?i)\b(?:umbrella review|(?:over|re)views? of (?:systematic )?(?:reviews|meta-?analyses))\b",
            None,
        ),
        of(
            Design::SystematicReview,
            r"(?i)\b(?:systematic(?:ally)? reviews?|meta-?analys[ei]s)\b",
            r"(?i)\b(?:systematic(?:ally)? (?:[\w-]+ )?review(?:ed)?|meta-?analys[ei]s|we (?:systematically )?searched|electronic databases)\b",
            None,
        ),
        of(
            Design::CaseReport,
            r"(?i)\bcase (?:reports?|series)\b",
            r"(?i)\b(?:case (?:reports?|series)|we (?:report|describe|present) (?:a|the|an|two|three) cases?|a \d+-year-old)\b",
            None,
        ),
        of(
            Design::Randomised,
            r"(?i)\b(?:randomi[sz]ed (?:controlled )?(?:clinical )?(?:trials?|stud(?:y|ies))?|randomi[sz]ation|RCTs?)",
            r"(?i)\b(?:randomi[sz]ed|randomly (?:assigned|allocated|divided|selected)|RCT)\b",
            None,
        ),
        of(
            Design::Review,
            r"(?i)\b(?:(?:narrative |literature )?reviews?(?: articles?)?|editorials?|(?:other )?opinion(?: articles?)?|commentar(?:y|ies)|letters?|(?:congress|conference) abstracts?|guidelines?)\b",
            r"(?i)\b(?:(?:this|the present|our|present|narrative|mini|scoping) (?:[\w-]+ )?review|we (?:[\w-]+ )?review(?:ed)?\b|(?:article|paper|chapter|review) (?:reviews|discusses|summari[sz]es|describes the current)|is reviewed|are reviewed|here,? we (?:discuss|summari[sz]e)|this (?:editorial|commentary|overview|guideline)|(?:consensus|position) (?:statement|paper)|guidelines? (?:for|on))",
            Some(review_title),
        ),
        of(
            Design::Original,
            r"(?i)\b(?:original(?: (?:\w+ )?(?:research|stud(?:y|ies)|articles?|reports?|data))?|primary (?:research|stud(?:y|ies)|data))\b",
            r"(?i)\b(?:we (?:\w+ly )?(?:enrolled|recruited|measured|treated|randomi[sz]ed|followed|conducted|performed|investigated|examined|compared|evaluated|assessed|analy[sz]ed|studied|observed|developed|estimated|used)|were (?:enrolled|recruited|randomi[sz]ed|randomly|treated|measured|followed|injected|assigned|allocated|switched|compared|examined|included in the study)|(?:cohort|case-control|cross-sectional|observational|prospective|retrospective) (?:study|analysis)|n ?= ?\d+|\d+ (?:patients|women|men|subjects|participants|adults))",
            None,
        ),
        of(
            Design::Human,
            r"(?i)\b(?:humans?|people|human (?:participants|subjects|beings))\b",
            people,
            None,
        ),
        of(
            Design::Animal,
            r"(?i)\b(?:(?:non-?human )?animals?(?: (?:stud(?:y|ies)|models?))?|pre-?clinical|mammalian models?|mice|rodents?)\b",
            animals,
            None,
        ),
        of(
            Design::InVitro,
            r"(?i)\b(?:in[- ]vitro(?: stud(?:y|ies))?|cell (?:lines?|cultures?))\b",
            r"(?i)\b(?:in[- ]vitro|cell (?:lines?|cultures?)|cultured|ex[- ]vivo)\b",
            None,
        ),
    ]
});

/// Words behind which a criterion names what is not wanted.
static NEGATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:not|no|non|nor|excluding|other than|rather than|without|instead of)\s+(?:\w+\s+){0,3}$",
    )
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
pub(crate) struct DesignSign {
    /// 1: the paper is what the criterion names, −1: it is something else, 0: nothing was asked or nothing is said.
    pub(crate) value: f32,
    /// Number of the passage and bytes in it that say so; `None` where only the title does.
    pub(crate) at: Option<(usize, Range<usize>)>,
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
    title_is_review: bool,
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
        let title_is_review = PATTERNS
            .iter()
            .filter(|one| one.design == Design::Review)
            .any(|one| one.titled.as_ref().unwrap_or(&one.said).is_match(&paper.title));
        Self { places: places.collect(), observed: find(&OBSERVED, None), title_is_review }
    }

    fn place(&self, design: Design) -> Option<&Place> {
        self.places.iter().find(|(said, _)| *said == design).map(|(_, place)| place)
    }

    fn has(&self, design: Design) -> bool {
        self.place(design).is_some()
    }

    /// Where the paper says that it is a review of others' work, unless it has data of its own: people review their own records.
    fn review(&self) -> Option<&Place> {
        let place = self.place(Design::Review)?;
        (self.title_is_review || !self.has(Design::Original)).then_some(place)
    }

    /// What speaks for (true) or against (false) the paper being of `design`. Where a text speaks of both it may mention the one and
    /// be the other, which is no sign.
    fn verdict(&self, design: Design) -> Option<(bool, &Place)> {
        if let Some(place) = self.place(design) {
            return match design {
                Design::Original if self.title_is_review => {
                    self.place(Design::Review).map(|review| (false, review))
                }
                Design::Review => self.review().map(|review| (true, review)),
                Design::Animal | Design::InVitro if self.has(Design::Human) => None,
                _ => Some((true, place)),
            };
        }
        let against = match design {
            Design::Randomised => {
                self.review().or_else(|| self.place(Design::CaseReport)).or(self.observed.as_ref())
            }
            Design::Original => self
                .review()
                .or_else(|| self.place(Design::SystematicReview))
                .or_else(|| self.place(Design::Protocol)),
            Design::SystematicReview | Design::Review => self.place(Design::Original),
            Design::Umbrella | Design::Protocol => {
                self.place(Design::Original).or_else(|| self.place(Design::SystematicReview))
            }
            Design::Human => self.place(Design::Animal).or_else(|| self.place(Design::InVitro)),
            Design::Animal | Design::InVitro => self.place(Design::Human),
            Design::CaseReport => self.place(Design::Randomised),
        };
        against.map(|place| (false, place))
    }
}

/// What a criterion asks of the design of a paper.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DesignAsked {
    /// Each design with whether it is wanted, or named as what is not.
    designs: Vec<(Design, bool)>,
    /// Whether one of them is enough.
    any: bool,
    /// Whether the title must say it.
    in_title: bool,
    /// The criterion without the names of designs.
    pub(crate) rest: String,
}

/// Between two designs one of which is enough.
static OR: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bor\b"));
/// A criterion on the words of the title.
static IN_TITLE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\bin (?:its|the|their) titles?\b"));

impl DesignAsked {
    /// Reads a criterion.
    pub(crate) fn of(criterion: &Criterion) -> Self {
        let mut rest = criterion.text.clone();
        let mut designs: Vec<(Design, bool)> = Vec::new();
        for Patterns { design, asked, said: _, titled: _ } in PATTERNS.iter() {
            for found in asked.find_iter(&rest) {
                let wanted = !NEGATED.is_match(&rest[..found.start()]);
                if !designs.contains(&(*design, wanted)) {
                    designs.push((*design, wanted));
                }
            }
            rest = asked.replace_all(&rest, " ").into_owned();
        }
        let any = criterion.kind == CriterionKind::Exclude || OR.is_match(&rest);
        let in_title = IN_TITLE.is_match(&rest);
        Self { designs, any, in_title, rest }
    }

    /// Whether any design is named.
    pub(crate) fn is_some(&self) -> bool {
        !self.designs.is_empty()
    }

    /// What `paper` says about it. Of several designs, that which speaks against it decides where all are asked for, and that
    /// which speaks for it where one is enough.
    pub(crate) fn sign(&self, paper: &ScreenPaper) -> DesignSign {
        if self.designs.is_empty() {
            return DesignSign::NONE;
        }
        if self.in_title {
            let says = |design: Design| {
                PATTERNS
                    .iter()
                    .filter(|one| one.design == design)
                    .any(|one| one.said.is_match(&paper.title))
            };
            let holds = |(design, wanted): &(Design, bool)| says(*design) == *wanted;
            let speaks_for = if self.any {
                self.designs.iter().any(holds)
            } else {
                self.designs.iter().all(holds)
            };
            return DesignSign { value: if speaks_for { 1.0 } else { -1.0 }, at: None };
        }
        let said = Said::of(paper);
        let mut chosen: Option<(bool, &Place)> = None;
        for (design, wanted) in &self.designs {
            let Some((is_so, place)) = said.verdict(*design) else { continue };
            let speaks_for = is_so == *wanted;
            if chosen.is_none() || speaks_for == self.any {
                chosen = Some((speaks_for, place));
            }
            if speaks_for == self.any {
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
}

#[cfg(test)]
mod tests {
    use super::super::paper::tests::paper;
    use super::*;

    fn sign(criterion: &str, kind: CriterionKind, title: &str, text: &str) -> i32 {
        let criterion = Criterion { id: "c".to_owned(), text: criterion.to_owned(), kind };
        let sign = DesignAsked::of(&criterion).sign(&paper(1, title, text));
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
        let mentions =
            ("Scaffolds", "After animal studies and a review of files we treated 12 patients.");
        assert_eq!(sign("Animal study", Exclude, mentions.0, mentions.1), 0);
        assert_eq!(sign("Review article", Exclude, mentions.0, mentions.1), -1);
        let pooled =
            ("Lead: a systematic review", "We searched databases and made a meta-analysis.");
        let titled = "Identifies as a systematic review in its title";
        assert_eq!(sign(titled, Include, pooled.0, pooled.1), 1);
        assert_eq!(sign(titled, Include, trial.0, trial.1), -1);
        assert_eq!(sign("Umbrella review or review protocol", Exclude, pooled.0, pooled.1), -1);
        assert_eq!(sign("Studies in people or mammalian models", Include, mice.0, mice.1), 1);
    }

    #[test]
    fn what_decides_is_located() {
        let criterion = Criterion {
            id: "c".to_owned(),
            text: "Randomised trial".to_owned(),
            kind: CriterionKind::Include,
        };
        let paper = paper(1, "Doses", "We gave a drug. Patients were randomly assigned.");
        let (at, range) = DesignAsked::of(&criterion).sign(&paper).at.expect("in the text");
        assert_eq!(&paper.passages[at].text[range], "randomly assigned");
    }
}
