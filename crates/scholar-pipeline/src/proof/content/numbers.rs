//! Numbers with their units: equal, rounded, as fraction or percentage, or one step of arithmetic away.

use std::sync::LazyLock;

use regex::Regex;

use super::quantity::{Number, Unit, numbers_of, pattern};
use super::source::SourceText;

/// Words that state a ratio or a share without a digit: what they say, and spellings of the same.
const SHARES: &[(&str, f64)] = &[
    ("half of", 0.5),
    ("a third of", 1.0 / 3.0),
    ("one third of", 1.0 / 3.0),
    ("one-third", 1.0 / 3.0),
    ("two thirds", 2.0 / 3.0),
    ("two-thirds", 2.0 / 3.0),
    ("a quarter of", 0.25),
    ("one quarter", 0.25),
    ("three quarters", 0.75),
    ("three-quarters", 0.75),
];

/// Largest number without a unit that is taken for the writer's own count, as a word of the same value is.
const COUNTED: f64 = 1.0;

/// Numbers and ratios of `sentence` (in plain form) that `source` neither has nor implies, as printed.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    let difference = DIFFERENCE.is_match(sentence);
    for number in numbers_of(sentence) {
        // A counted word (`two approaches`) is the writer's own count.
        let counted = number.spelled || (number.decimals == 0 && number.value <= COUNTED);
        if counted && number.unit == Unit::Unknown {
            continue;
        }
        if is_label(&number, sentence) || is_year_of_a_name(&number, source) {
            continue;
        }
        let stated = is_stated(&number, source)
            || is_share(&number, source)
            || is_sum(&number, source)
            || (difference && is_difference(&number, source));
        if !stated && !missing.contains(&number.printed) {
            missing.push(number.printed);
        }
    }
    missing.extend(missing_ratios(sentence, source));
    missing
}

static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:types?|phases?|grades?|stages?|class|levels?|fig(?:ure)?s?|tab(?:le)?s?|refs?|sections?|steps?|tasks?|version|no|nos|numbers?|groups?)[.]?|[^ ]*[a-z]\d*/)\ ?$",
    )
});

/// Whether a number names a kind (`type 1`, `OCT3/4`) or says nothing (0, 1).
fn is_label(number: &Number, sentence: &str) -> bool {
    if number.unit != Unit::Unknown {
        return false;
    }
    let at = sentence.find(&number.printed).unwrap_or(0);
    number.value <= 1.0 && number.decimals == 0 || LABEL.is_match(&sentence[..at])
}

/// Whether a year is that of an event named by it: 2024 beside `WMT24`.
fn is_year_of_a_name(number: &Number, source: &SourceText) -> bool {
    let digits = number.printed.as_bytes();
    let year = digits.len() == 4 && (1900.0..2100.0).contains(&number.value);
    year && number.unit == Unit::Unknown && {
        let short = &number.printed[2..];
        source
            .compact
            .match_indices(short)
            .any(|(at, _)| source.compact[..at].ends_with(|c: char| c.is_alphabetic()))
    }
}

static COUNT: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)\bn\s*=\s*(\d+)"));

/// Whether a count is the sum of two groups of the source: `n = 15` and `n = 17`.
fn is_sum(number: &Number, source: &SourceText) -> bool {
    let counts: Vec<f64> =
        COUNT.captures_iter(&source.text).filter_map(|found| found[1].parse().ok()).collect();
    let sums =
        counts.iter().enumerate().flat_map(|(n, a)| counts[n + 1..].iter().map(move |b| a + b));
    number.unit == Unit::Unknown && sums.into_iter().any(|sum| (sum - number.value).abs() < 1e-9)
}

static DIFFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:points?|difference|differ(?:ed|s)?|gain(?:s|ed)?|improv\w+|increas\w+|decreas\w+|reduc\w+|lower|higher|more|less|fewer|drop\w*|fell|rose|by)\b",
    )
});

fn is_stated(number: &Number, source: &SourceText) -> bool {
    source.numbers.iter().any(|other| agree(number, other))
}

/// Largest distance of a number said to be approximate. Ours.
const APPROXIMATE: f64 = 0.1;

/// Whether `other` is `number`, rounded or in another unit of the same kind.
fn agree(number: &Number, other: &Number) -> bool {
    let unknown = number.unit == Unit::Unknown || other.unit == Unit::Unknown;
    if number.unit != other.unit && !unknown {
        return false;
    }
    let same_size = unknown || (number.factor - other.factor).abs() < 1e-9;
    if same_size && rounds_to(other.value, number) {
        return true;
    }
    // 35 % and 0.35, and 24 months and two years.
    let percent = number.unit == Unit::Percent && other.unit == Unit::Unknown && other.value <= 1.0;
    if percent && rounds_to(other.value * 100.0, number) {
        return true;
    }
    if !unknown && !same_size {
        let (own, theirs) = (number.value * number.factor, other.value * other.factor);
        return (own - theirs).abs() <= 0.03 * theirs.abs().max(1e-9);
    }
    false
}

fn rounds_to(value: f64, number: &Number) -> bool {
    let precision = 10_f64.powi(-i32::try_from(number.decimals).unwrap_or(9));
    let near = (value - number.value).abs() <= 0.5 * precision + 1e-9;
    // 1,377 as 1,400 only where it is said to be about that much.
    let about = number.approximate && (value - number.value).abs() <= APPROXIMATE * value.abs();
    near && (number.decimals > 0 || number.value.abs() > 1.0 || (value - number.value).abs() < 1e-9)
        || about
}

static SHARE_OF: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?i)\b(\d+(?:,\d{3})*)\s*(?:/|of(?: the)?|out of(?: the)?|in)\s*(\d+(?:,\d{3})*)\b")
});

/// Whether a percentage is a share that the source counts out: `12 of 40`.
fn is_share(number: &Number, source: &SourceText) -> bool {
    number.unit == Unit::Percent
        && SHARE_OF.captures_iter(&source.text).any(|found| {
            let value = |n: usize| found[n].replace(',', "").parse::<f64>().unwrap_or(f64::NAN);
            rounds_to(100.0 * value(1) / value(2), number)
        })
}

/// Whether a difference is one of two numbers that the source has in one unit.
fn is_difference(number: &Number, source: &SourceText) -> bool {
    let comparable = |other: &&Number| number.unit == Unit::Unknown || other.unit == number.unit;
    let same: Vec<&Number> = source.numbers.iter().filter(comparable).collect();
    same.iter().any(|a| {
        same.iter().any(|b| {
            a.unit == b.unit
                && a.value > b.value
                && b.value > 0.0
                && rounds_to(a.value - b.value, number)
        })
    })
}

static RATIO: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:(?P<two>doubl(?:e|ed|es|ing)\b(?: that| the|\b)|two-?fold|twice (?:as|the|that))|(?P<three>tripl(?:ed|es|ing)|three-?fold|threefold)|(?P<half>halv(?:e|ed|es|ing)|half (?:as|the)))",
    )
});

/// Farthest that a ratio of two numbers lies from the word for it. Ours: 1.8 to 2.2 is doubled.
const RATIO_TOLERANCE: f64 = 0.1;

fn missing_ratios(sentence: &str, source: &SourceText) -> Vec<String> {
    let lower = source.text.to_lowercase();
    let mut missing = Vec::new();
    for found in RATIO.captures_iter(sentence) {
        let (wanted, words): (f64, &[&str]) = if found.name("two").is_some() {
            (
                2.0,
                &[
                    "doubl",
                    "twice",
                    "two-fold",
                    "twofold",
                    "2-fold",
                    "two times",
                    "halv",
                    "half",
                    "100%",
                ],
            )
        } else if found.name("three").is_some() {
            (3.0, &["tripl", "three-fold", "threefold", "3-fold", "three times", "third", "200%"])
        } else {
            (2.0, &["half", "halv", "50%", "doubl", "twice", "twofold", "two-fold"])
        };
        if !words.iter().any(|word| lower.contains(word)) && !has_ratio(wanted, source) {
            missing.push(found[0].trim().to_owned());
        }
    }
    let text = sentence.to_lowercase();
    for (words, share) in SHARES {
        let share = Number {
            printed: (*words).to_owned(),
            value: 100.0 * share,
            decimals: 0,
            unit: Unit::Percent,
            factor: 1.0,
            approximate: true,
            spelled: true,
        };
        let said = ["half", "third", "quarter", "50%"]
            .iter()
            .any(|word| words.contains(word) && lower.contains(word));
        if text.contains(words) && !said && !is_stated(&share, source) && !is_share(&share, source)
        {
            missing.push((*words).to_owned());
        }
    }
    missing
}

fn has_ratio(wanted: f64, source: &SourceText) -> bool {
    let numbers = &source.numbers;
    numbers.iter().any(|a| {
        numbers.iter().any(|b| {
            let same = a.unit == b.unit && a.unit != Unit::Days && b.value > 0.0;
            same && (a.value / b.value - wanted).abs() <= RATIO_TOLERANCE * wanted
        })
    })
}
