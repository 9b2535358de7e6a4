//! Numbers with their units: equal, rounded, as fraction or percentage, or one step of arithmetic away.

use std::sync::LazyLock;

use regex::Regex;

use super::source::SourceText;

/// What a number counts, as far as the word behind it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Percent or percentage points.
    Percent,
    /// `1.5-fold`, `three times`.
    Fold,
    /// A time; the value is in days.
    Days,
    /// A mass; the value is in milligrams.
    Milligrams,
    /// Anything else.
    Unknown,
}

/// A number of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    /// As printed, with its unit.
    pub printed: String,
    /// As printed, `1,200` as 1200, `3k` as 3000.
    pub value: f64,
    /// Digits behind the point.
    pub decimals: usize,
    /// The unit.
    pub unit: Unit,
    /// How many of the base unit one is: 7 for weeks.
    pub factor: f64,
    /// Said to be about, over or under.
    pub approximate: bool,
    /// Written as a word.
    pub spelled: bool,
}

const SPELLED: &[(&str, f64)] = &[
    ("one", 1.0),
    ("two", 2.0),
    ("three", 3.0),
    ("four", 4.0),
    ("five", 5.0),
    ("six", 6.0),
    ("seven", 7.0),
    ("eight", 8.0),
    ("nine", 9.0),
    ("ten", 10.0),
    ("eleven", 11.0),
    ("twelve", 12.0),
    ("thirteen", 13.0),
    ("fifteen", 15.0),
    ("twenty", 20.0),
    ("thirty", 30.0),
    ("forty", 40.0),
    ("fifty", 50.0),
    ("sixty", 60.0),
];

static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?xi)
        (?P<about>\b(?:about|around|approximately|roughly|nearly|almost|over|more\ than|fewer\ than|less\ than|up\ to|at\ least|some|circa|under|above|below)\ |[~≈<>≤≥]\ ?)?
        (?P<value>(?:\b|[.])\d+(?:,\d{3})*(?:[.]\d+)?|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|sixty)\b)
        (?P<scale>\ ?(?:million|billion|thousand|hundred)\b|[km]\b)?
        (?P<gap>[\ -]?)
        (?P<unit>%|per\ ?cent(?:age)?\b|(?:percentage\ )?points?\b|fold\b|times\b|×|(?:hour|day|week|month|year|yr|wk)s?\b|h\b|mg\b|µg\b|mug\b|mcg\b|g\b|kg\b)?",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

/// Numbers of `text`, without those inside names such as `GPT-4` and `p53`.
pub fn numbers_of(text: &str) -> Vec<Number> {
    NUMBER.captures_iter(text).filter_map(|found| number(text, &found)).collect()
}

fn number(text: &str, found: &regex::Captures<'_>) -> Option<Number> {
    let digits = found.name("value")?;
    let before = text[..digits.start()].chars().next_back();
    let end = found.get(0)?.end();
    let after = text[digits.end()..].chars().next();
    let word = digits.as_str().to_lowercase();
    let spelled = SPELLED.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    let attached = |c: Option<char>| c.is_some_and(char::is_alphabetic);
    let named = before == Some('-')
        && text[..digits.start()].chars().rev().nth(1).is_some_and(char::is_alphabetic);
    // `.2` of `B.1.617.2`.
    let versioned = digits.as_str().starts_with('.') && before.is_some_and(char::is_alphanumeric);
    let has_unit = found.name("unit").is_some() || found.name("scale").is_some();
    if spelled.is_none()
        && (attached(before) || named || versioned || (attached(after) && !has_unit))
    {
        return None;
    }
    let clean = word.replace(',', "");
    let value = spelled.or_else(|| clean.parse().ok())?;
    let scale =
        match found.name("scale").map(|scale| scale.as_str().trim().to_lowercase()).as_deref() {
            Some("k" | "thousand") => 1e3,
            Some("m" | "million") => 1e6,
            Some("billion") => 1e9,
            Some("hundred") => 1e2,
            _ => 1.0,
        };
    let (unit, factor) = unit_of(found.name("unit").map_or("", |unit| unit.as_str()));
    Some(Number {
        printed: text[digits.start()..end].trim_end_matches([' ', '-']).to_owned(),
        value: value * scale,
        decimals: clean.split_once('.').map_or(0, |(_, behind)| behind.len()),
        unit,
        factor,
        approximate: found.name("about").is_some() || scale > 1.0,
        spelled: spelled.is_some(),
    })
}

fn unit_of(word: &str) -> (Unit, f64) {
    let lower = word.to_lowercase();
    let singular = if lower.len() > 2 { lower.trim_end_matches('s') } else { &lower };
    match singular {
        "%" | "percent" | "per cent" | "percentage" | "point" | "percentage point" => {
            (Unit::Percent, 1.0)
        }
        "fold" | "time" | "×" => (Unit::Fold, 1.0),
        "hour" | "h" => (Unit::Days, 1.0 / 24.0),
        "day" => (Unit::Days, 1.0),
        "week" | "wk" => (Unit::Days, 7.0),
        "month" => (Unit::Days, 30.4),
        "year" | "yr" => (Unit::Days, 365.0),
        "mg" => (Unit::Milligrams, 1.0),
        "µg" | "mug" | "mcg" => (Unit::Milligrams, 1e-3),
        "g" => (Unit::Milligrams, 1e3),
        "kg" => (Unit::Milligrams, 1e6),
        _ => (Unit::Unknown, 1.0),
    }
}

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
