//! More against less, better against worse, an effect against none: of the same things.

use super::source::{SourceText, Tokens, share};
use scholar_core::text::words::is_stop_word;

/// What a word compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// `higher`, `reduced`.
    Amount,
    /// `induces`, `blocks`.
    Action,
    /// `better`, `impaired`.
    Quality,
}

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Up,
    Down,
    /// `did not increase`, `no difference in`.
    None,
}

const AMOUNT_UP: &[&str] = &[
    "increas", "rais", "elevat", "higher", "greater", "rose", "risen", "augment", "exceed",
    "longer",
];
const AMOUNT_DOWN: &[&str] = &[
    "decreas", "reduc", "lower", "declin", "diminish", "fewer", "less", "fell", "attenuat",
    "shorter",
];
const ACTION_UP: &[&str] =
    &["upregul", "activat", "promot", "induc", "stimulat", "facilitat", "accelerat"];
const ACTION_DOWN: &[&str] =
    &["downregul", "inhibit", "suppress", "repress", "prevent", "abolish", "block", "imped"];
const QUALITY_UP: &[&str] = &["improv", "better", "outperform", "superior", "enhanc", "surpass"];
const QUALITY_DOWN: &[&str] =
    &["worse", "worsen", "impair", "degrad", "inferior", "underperform", "deteriorat"];
const NONE: &[&str] = &[
    "no",
    "not",
    "neither",
    "nor",
    "without",
    "unable",
    "fail",
    "failed",
    "fails",
    "cannot",
    "didn",
    "doesn",
    "lack",
    "unchanged",
    "never",
    "insignificant",
    "nonsignificant",
    "unaffected",
];

/// Words before and behind a direction of a source within which it may be of something.
const WINDOW: usize = 8;
/// Words with content before and behind a direction of the sentence that say what it is of.
const BEFORE: usize = 2;
const BEHIND: usize = 3;
/// Words before a direction within which a negation denies it.
const DENIES: usize = 4;
/// How alike the opposite direction must be, the share of the sentence's topic that the source's
/// sentence has times the share of what the direction is of. Tuned on the training halves that `openscholar bench gates`
/// leaves out.
const OPPOSITE: f32 = 0.35;
/// How much more alike than any equal direction.
const MARGIN: f32 = 0.2;

/// A direction with what it is of.
#[derive(Debug, Clone)]
struct Turn {
    axis: Axis,
    way: Way,
    word: String,
    /// [`super::source::key`]s of the words with content around it: the closest.
    of: Vec<String>,
    /// All within [`WINDOW`].
    around: Vec<String>,
}

/// A direction of the source.
struct Found {
    /// Share of the sentence's topic that the source's sentence has.
    covered: f32,
    /// Its sentence says what is, not what may be.
    is_finding: bool,
    turn: Turn,
}

/// Directions of `sentence` (in plain form) that `source` turns the other way, with the source's word for it.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let claim = Tokens::of(sentence);
    let content = topic(&claim);
    let found: Vec<Found> = source
        .sentences
        .iter()
        .filter(|other| !asks(other))
        .flat_map(|other| {
            let covered = share(&content, &other.keys);
            let is_finding = !other.words.iter().any(|word| MAYBE.contains(&word.as_str()));
            turns(other).into_iter().map(move |turn| Found { covered, is_finding, turn })
        })
        .collect();
    let mut missing = Vec::new();
    if asks(&claim) {
        return missing;
    }
    for turn in turns(&claim) {
        let match_score = |other: &Found| other.covered * share(&turn.of, &other.turn.around);
        let equal = found.iter().filter(|other| other.turn.way == turn.way);
        let equal = equal.map(match_score).fold(0.0, f32::max);
        let opposes = |other: &&Found| {
            other.turn.axis == turn.axis
                && other.turn.way != turn.way
                && (other.is_finding || turn.way != Way::None)
        };
        let opposite = found
            .iter()
            .filter(opposes)
            .map(|one| (match_score(one), &one.turn))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((match_score, opposite)) = opposite else { continue };
        let excused = turn.way == Way::None && says_no_difference(&content, source);
        if match_score >= OPPOSITE && match_score > equal + MARGIN && !excused {
            missing.push(format!("{} (the source: {})", phrase(&turn), phrase(opposite)));
        }
    }
    missing.extend(swapped(&claim, source));
    missing.dedup();
    missing
}

/// Words for no difference beside [`NONE`].
const EQUAL: &[&str] = &["similar", "similarly", "comparable", "equal", "equivalent", "same"];
/// Share of a sentence's words that a sentence has which is about the same.
const ABOUT: f32 = 0.25;

/// Whether the source says of the same things that something was not found.
fn says_no_difference(content: &[String], source: &SourceText) -> bool {
    source.sentences.iter().any(|other| {
        let says = |word: &String| NONE.contains(&word.as_str()) || EQUAL.contains(&word.as_str());
        other.words.iter().any(says) && share(content, &other.keys) >= ABOUT
    })
}

/// Words with content that are not directions themselves.
fn topic(tokens: &Tokens) -> Vec<String> {
    let both = tokens.words.iter().zip(&tokens.keys);
    both.filter(|(word, _)| is_content(word)).map(|(_, key)| key.clone()).collect()
}

fn phrase(turn: &Turn) -> String {
    match turn.way {
        Way::None => format!("no {}", turn.word),
        Way::Up | Way::Down => turn.word.clone(),
    }
}

fn way_of(word: &str) -> Option<(Axis, Way)> {
    let starts = |list: &[&str]| list.iter().any(|start| word.starts_with(start));
    if word.starts_with("lessen") || word.starts_with("lesson") {
        return None;
    }
    let lists = [
        (AMOUNT_UP, Axis::Amount, Way::Up),
        (AMOUNT_DOWN, Axis::Amount, Way::Down),
        (ACTION_UP, Axis::Action, Way::Up),
        (ACTION_DOWN, Axis::Action, Way::Down),
        (QUALITY_UP, Axis::Quality, Way::Up),
        (QUALITY_DOWN, Axis::Quality, Way::Down),
    ];
    lists.into_iter().find(|(list, _, _)| starts(list)).map(|(_, axis, way)| (axis, way))
}

fn is_content(word: &str) -> bool {
    !is_stop_word(word)
        && way_of(word).is_none()
        && !NONE.contains(&word)
        && word.chars().any(char::is_alphabetic)
}

/// Words of sentences that say what was asked, not what was found.
const ASKS: &[&str] = &[
    "whether",
    "aim",
    "aimed",
    "hypothesis",
    "hypothesized",
    "hypothesised",
    "investigate",
    "investigated",
    "evaluate",
    "examine",
    "examined",
    "determine",
    "assess",
    "does",
    "do",
    "can",
    "is",
];

/// Whether a sentence says what was asked; of verbs of questions only as its first word.
fn asks(tokens: &Tokens) -> bool {
    let first = tokens.words.first().map_or("", String::as_str);
    ASKS[12..].contains(&first)
        || tokens.words.iter().any(|word| ASKS[..12].contains(&word.as_str()))
}

fn turns(tokens: &Tokens) -> Vec<Turn> {
    let mut found = Vec::new();
    for (at, word) in tokens.words.iter().enumerate() {
        let Some((axis, way)) = way_of(word) else { continue };
        let denied = denies(&tokens.words[at.saturating_sub(DENIES)..at]);
        let key = |n: usize| is_content(&tokens.words[n]).then(|| tokens.keys[n].clone());
        let of = (0..at).rev().filter_map(key).take(BEFORE);
        let of = of.chain((at + 1..tokens.words.len()).filter_map(key).take(BEHIND)).collect();
        let window = at.saturating_sub(WINDOW)..(at + 1 + WINDOW).min(tokens.words.len());
        found.push(Turn {
            axis,
            way: if denied { Way::None } else { way },
            word: word.clone(),
            of,
            around: window.filter_map(key).collect(),
        });
    }
    found
}

/// Words behind a negation that leave what follows standing in part.
const STANDING: &[&str] = &["only", "always", "just", "necessarily"];

/// Whether the words before a direction deny it; `not only` does not.
fn denies(before: &[String]) -> bool {
    let stands = |n: usize| before.get(n + 1).is_some_and(|next| STANDING.contains(&next.as_str()));
    before.iter().enumerate().any(|(n, word)| NONE.contains(&word.as_str()) && !stands(n))
}

/// Words of sentences that say what may be, which oppose nothing.
const MAYBE: &[&str] = &["may", "might", "could", "would", "should"];

/// Words on either side of `than` that say who is compared.
const SIDE: usize = 5;

/// `A is better than B` where the source has B better than A.
fn swapped(claim: &Tokens, source: &SourceText) -> Option<String> {
    let (word, way, left, right) = comparison(claim)?;
    let mut others = source.sentences.iter().filter_map(comparison);
    let reversed = others.find(|(_, other_way, theirs_left, theirs_right)| {
        let crossed = share(&left, theirs_right).min(share(&right, theirs_left));
        let straight = share(&left, theirs_left).min(share(&right, theirs_right));
        let same = *other_way == way;
        if same {
            crossed >= 0.6 && crossed > straight + 0.3
        } else {
            straight >= 0.6 && straight > crossed + 0.3
        }
    })?;
    Some(format!("{word} than (the source: {} than, the other way round)", reversed.0))
}

type Comparison = (String, Way, Vec<String>, Vec<String>);

fn comparison(tokens: &Tokens) -> Option<Comparison> {
    let than = tokens.words.iter().position(|word| word == "than")?;
    let at = (0..than).rev().take(SIDE).find(|n| way_of(&tokens.words[*n]).is_some())?;
    let (_, way) = way_of(&tokens.words[at])?;
    let keys = |range: std::ops::Range<usize>| -> Vec<String> {
        range.filter(|n| is_content(&tokens.words[*n])).map(|n| tokens.keys[n].clone()).collect()
    };
    let left = keys(at.saturating_sub(SIDE)..at);
    let right = keys(than + 1..(than + 1 + SIDE).min(tokens.words.len()));
    (!left.is_empty() && !right.is_empty()).then(|| (tokens.words[at].clone(), way, left, right))
}
