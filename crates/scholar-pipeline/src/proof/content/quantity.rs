//! Numbers of a text with their units.

use std::sync::LazyLock;

use regex::Regex;

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

pub(super) fn pattern(text: &str) -> Regex {
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
