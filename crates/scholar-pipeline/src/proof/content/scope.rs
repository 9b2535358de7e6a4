//! How far a sentence goes: superlatives, generality, causes, certainty and the population studied.

use scholar_core::text::words::is_stop_word;

use super::source::{SourceText, Tokens, key, tokens};

/// A kind of widening: words of the sentence that need one of the others in the source.
struct Widening {
    /// What readers are told.
    name: &'static str,
    /// Words or phrases that widen, lower case.
    claims: &'static [&'static str],
    /// Beginnings of words, or phrases, any of which in the source allow it.
    allowed_by: &'static [&'static str],
    /// The source must also have one of these; empty: always wrong without permission.
    only_if: &'static [&'static str],
}

const WIDENINGS: &[Widening] = &[
    Widening {
        name: "superlative",
        claims: &[
            "the best",
            "the largest",
            "the strongest",
            "the highest",
            "the weakest",
            "the clearest",
            "the greatest",
            "the lowest",
            "the fastest",
            "strongest results",
            "be largest",
            "is largest",
            "is strongest",
            "clearest effect",
            "is weakest",
        ],
        allowed_by: &[
            "best",
            "most",
            "largest",
            "strongest",
            "highest",
            "weakest",
            "clearest",
            "greatest",
            "lowest",
            "fastest",
            "leading",
            "top",
            "outperform",
            "state-of-the-art",
            "superior",
            "surpass",
            "maxim",
            "dominant",
            "worst",
            "predominant",
            "optimal",
            "exceed",
            "all other",
            "than any",
            "than all",
            "especially",
            "peak",
            "minim",
            "longest",
            "smallest",
            "winning",
            "ranked",
            "first",
            "strong results",
        ],
        only_if: &[],
    },
    Widening {
        name: "superlative",
        claims: &[
            "the main",
            "the only",
            "the most",
            "the primary",
            "main weakness",
            "main source",
            "the principal",
        ],
        allowed_by: &[
            "main",
            "only",
            "most",
            "primar",
            "key",
            "major",
            "central",
            "principal",
            "best",
            "chief",
            "sole",
            "unique",
            "predominant",
            "largest",
            "leading",
            "first",
            "core",
            "greatest",
            "highest",
            "strongest",
            "essential",
            "dominant",
            "fundamental",
            "outperform",
            "superior",
            "state-of-the-art",
            "particular",
            "top",
        ],
        only_if: &[],
    },
    Widening {
        name: "generality",
        claims: &["generally", "universally", "in general", "as a rule"],
        allowed_by: &[
            "general",
            "universal",
            "common",
            "typical",
            "consistent",
            "usual",
            "widely",
            "most",
            "broad",
            "overall",
            "largely",
            "often",
            "normally",
            "many",
            "majority",
            "extensive",
            "across",
            "always",
            "all",
            "tend",
            "frequent",
        ],
        only_if: &[],
    },
    Widening {
        name: "generality",
        claims: &["most evaluation", "of most", "in most cases", "for most"],
        allowed_by: &[
            "most",
            "majority",
            "common",
            "mainly",
            "predominant",
            "typical",
            "usual",
            "widely",
            "generally",
            "largely",
            "often",
            "many",
            "primarily",
            "nearly all",
            "standard",
        ],
        only_if: &[],
    },
    Widening {
        name: "generality",
        claims: &[
            "always",
            "never",
            "invariably",
            "in all cases",
            "in every",
            "without exception",
            "everywhere",
            "all patients",
            "all models",
            "everyone",
            "regardless of",
        ],
        allowed_by: &[
            "always",
            "never",
            "universal",
            "invariab",
            "all",
            "every",
            "each",
            "any",
            "consistent",
            "regardless",
            "irrespective",
            "independent",
            "no ",
            "entire",
            "whole",
            "across",
            "both",
            "only",
            "none",
            "not ",
        ],
        only_if: &[],
    },
    Widening {
        name: "cause",
        claims: &[
            "causes",
            "cause",
            "caused",
            "leads to",
            "led to",
            "lead to",
            "results in",
            "resulted in",
            "because of",
        ],
        allowed_by: &[
            "caus",
            "lead",
            "led",
            "result",
            "induc",
            "effect",
            "due to",
            "because",
            "trigger",
            "produc",
            "random",
            "mediat",
            "driv",
            "contribut",
            "respons",
            "intervention",
            "experiment",
            "treat",
            "impact",
            "influenc",
            "promot",
            "inhibit",
            "knock",
            "mutant",
            "mutation",
            "deplet",
            "delet",
            "therefore",
            "thereby",
            "reduc",
            "increas",
            "decreas",
            "requir",
            "mechanism",
            "activat",
            "improv",
            "affect",
            "give rise",
            "elicit",
            "generat",
            "yield",
            "enabl",
            "prevent",
        ],
        only_if: &["associat", "correlat", "linked", "related"],
    },
    Widening {
        name: "certainty",
        claims: &[
            "proves",
            "is proven",
            "proved",
            "definitively",
            "conclusively",
            "undoubtedly",
            "clearly shows",
            "certainly",
            "unequivocally",
            "beyond doubt",
        ],
        allowed_by: &[
            "prove",
            "proof",
            "definit",
            "conclusiv",
            "undoubted",
            "clear",
            "certain",
            "unequivocal",
            "demonstrat",
            "establish",
            "confirm",
            "strong evidence",
        ],
        only_if: &[],
    },
    Widening {
        name: "population",
        claims: &["humans", "in humans", "human patients", "in patients", "in people"],
        allowed_by: &[
            "human",
            "patient",
            "people",
            "person",
            "participant",
            "volunteer",
            "clinical",
            "adult",
            "men ",
            "women",
            "child",
            "individual",
            "subject",
            "case",
            "donor",
            "cohort",
            "trial",
            "population",
            "man ",
            "diseas",
        ],
        only_if: &[
            "mice",
            "mouse",
            "rat",
            "rats",
            "zebrafish",
            "drosophila",
            "in vitro",
            "cell",
            "yeast",
            "elegans",
            "murine",
            "animal",
        ],
    },
];

/// Groups of people: who a sentence speaks of, and the source's words for them.
const GROUPS: &[(&[&str], &[&str])] = &[
    (
        &["children", "pediatric", "paediatric"],
        &[
            "child",
            "pediatric",
            "paediatric",
            "infant",
            "adolesc",
            "kids",
            "boys",
            "girls",
            "school",
            "toddler",
            "juvenile",
            "neonat",
            "newborn",
            "youth",
            "young",
            "year-old",
            "age",
            "birth",
            "pupil",
            "parent",
        ],
    ),
    (
        &["infants", "newborns", "neonates"],
        &[
            "infant",
            "newborn",
            "neonat",
            "baby",
            "babies",
            "birth",
            "child",
            "preterm",
            "perinatal",
            "pediatric",
            "paediatric",
            "natal",
            "months",
        ],
    ),
    (
        &["adolescents", "teenagers"],
        &[
            "adolesc",
            "teen",
            "youth",
            "young",
            "student",
            "school",
            "child",
            "pediatric",
            "paediatric",
            "year",
        ],
    ),
    (
        &["elderly", "older adults", "older people"],
        &["elder", "older", "age", "geriatr", "senior", "old", "years"],
    ),
    (
        &["pregnant women", "pregnancy"],
        &["pregnan", "gestat", "matern", "antenatal", "prenatal", "birth", "obstetr", "mother"],
    ),
    (
        &["women"],
        &[
            "women", "woman", "female", "matern", "mother", "pregnan", "girl", "gyn", "menopaus",
            "breast", "sex", "gender", "ladies", "birth",
        ],
    ),
    (&["men"], &["men", "man", "male", "boy", "prostat", "sex", "gender", "father", "patern"]),
    (
        &["healthy volunteers", "healthy adults", "healthy people"],
        &["healthy", "volunteer", "normal", "control"],
    ),
];

/// What of `sentence` (in plain form) goes beyond `source`: the kind and the words.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let own = Searchable::of(sentence);
    let theirs = Searchable::of(&source.text);
    let mut missing = Vec::new();
    for widening in WIDENINGS {
        let said = widening.claims.iter().find(|words| own.has(words));
        let Some(words) = said else { continue };
        let applies = widening.only_if.is_empty()
            || widening.only_if.iter().any(|start| theirs.begins(start));
        if applies && !widening.allowed_by.iter().any(|start| theirs.begins(start)) {
            missing.push(format!("{}: {words}", widening.name));
        }
    }
    for (words, allowed) in GROUPS {
        let said = words.iter().find(|words| own.has(words));
        if let Some(words) = said
            && !allowed.iter().any(|start| theirs.begins(start))
        {
            missing.push(format!("population: {words}"));
        }
    }
    missing.extend(lost_hedge(sentence, source));
    missing
}

/// Words with one space between and around them.
struct Searchable(String);

impl Searchable {
    fn of(text: &str) -> Self {
        let words: Vec<String> = tokens(text).into_iter().map(str::to_lowercase).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    fn has(&self, words: &str) -> bool {
        self.0.contains(&format!(" {words} "))
    }

    fn begins(&self, start: &str) -> bool {
        self.0.contains(&format!(" {}", start.replace('-', " ")))
    }
}

/// What makes a statement cautious; in the source's sentence it must be kept by one of [`CAUTIOUS`].
const HEDGES: &[&str] = &[
    "may",
    "might",
    "could",
    "possibly",
    "perhaps",
    "preliminary",
    "hypothesize",
    "hypothesise",
    "speculate",
];
const CAUTIOUS: &[&str] = &[
    "may",
    "might",
    "can",
    "could",
    "possibl",
    "perhaps",
    "prelim",
    "hypothes",
    "suggest",
    "appear",
    "seem",
    "likely",
    "potential",
    "indicat",
    "tend",
    "propos",
    "specul",
    "would",
    "should",
    "believ",
    "consider",
    "think",
    "thought",
    "expect",
    "promis",
    "candidate",
    "probabl",
    "suspect",
    "plausib",
    "risk",
    "predict",
    "aim",
    "uncertain",
    "evidence",
    "implicat",
    "role",
    "possib",
    "help",
    "contribut",
    "associat",
    "need",
    "future",
    "argue",
    "report",
];
/// Words of the sentence that a hedged sentence of the source must have to be what it says.
const HEDGED_COPY: f32 = 0.9;
/// Words of it that another sentence without a hedge must have to acquit it.
const UNHEDGED_COPY: f32 = 0.6;
/// Fewest words of a sentence that drops a hedge; shorter ones are in too many sentences by chance.
const HEDGED_WORDS: usize = 6;

/// The hedge of the sentence of the source that says the same, where the sentence dropped it.
fn lost_hedge(sentence: &str, source: &SourceText) -> Option<String> {
    let own = Searchable::of(sentence);
    if CAUTIOUS.iter().any(|start| own.begins(start)) {
        return None;
    }
    let words = tokens(sentence).into_iter().filter(|word| !is_stop_word(word));
    let keys: Vec<String> = words.map(key).collect();
    if keys.len() < HEDGED_WORDS {
        return None;
    }
    let covers = |theirs: &[String]| {
        keys.iter().filter(|key| theirs.contains(key)).count() as f32 / keys.len().max(1) as f32
    };
    let best = source
        .sentences
        .iter()
        .map(|other| (covers(&other.keys), other))
        .max_by(|a, b| a.0.total_cmp(&b.0))?;
    let hedge = HEDGES.iter().find(|hedge| best.1.words.iter().any(|word| word == *hedge))?;
    let plain =
        |other: &&Tokens| !HEDGES.iter().any(|hedge| other.words.iter().any(|word| word == hedge));
    let acquitted =
        source.sentences.iter().filter(plain).any(|other| covers(&other.keys) >= UNHEDGED_COPY);
    (best.0 >= HEDGED_COPY && !acquitted).then(|| format!("certainty: the source says “{hedge}”"))
}
