//! Seeded changes of supported sentences that make them false or too wide, one kind a gate.

use scholar_core::ContentCheck;
use scholar_pipeline::proof::content::{entities, quantity};

/// `sentence` with one thing changed so that `check` should miss it; `None` where it has nothing of that kind. `other` is
/// a sentence of another case, which entities come from.
pub fn swap(check: ContentCheck, sentence: &str, other: &str) -> Option<String> {
    match check {
        ContentCheck::Entity => entity(sentence, other),
        ContentCheck::Number => number(sentence),
        ContentCheck::Direction => direction(sentence),
        ContentCheck::Scope => scope(sentence),
    }
}

/// The first name by the first one of another sentence.
fn entity(sentence: &str, other: &str) -> Option<String> {
    let own = entities::names(sentence).into_iter().next()?;
    let foreign = entities::names(other).into_iter().find(|name| !sentence.contains(name))?;
    Some(sentence.replacen(own, foreign, 1))
}

/// The first number by another: times 1.7 in whole numbers, or with its decimals.
fn number(sentence: &str) -> Option<String> {
    let found =
        quantity::numbers_of(sentence).into_iter().find(|one| !one.spelled && one.value > 1.0)?;
    let digits: String = found
        .printed
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ','))
        .collect();
    let value: f64 = digits.replace(',', "").parse().ok()?;
    let changed = format!("{:.*}", found.decimals, value * 1.7);
    (changed != digits).then(|| sentence.replacen(&digits, &changed, 1))
}

/// Words and what is said instead.
const OPPOSITES: &[(&str, &str)] = &[
    ("increased", "decreased"),
    ("increases", "decreases"),
    ("increase", "decrease"),
    ("decreased", "increased"),
    ("decreases", "increases"),
    ("decrease", "increase"),
    ("reduced", "increased"),
    ("reduces", "increases"),
    ("reduce", "increase"),
    ("reducing", "increasing"),
    ("higher", "lower"),
    ("lower", "higher"),
    ("improved", "worsened"),
    ("improves", "worsens"),
    ("improve", "worsen"),
    ("better", "worse"),
    ("inhibits", "activates"),
    ("promotes", "inhibits"),
    ("induces", "suppresses"),
    ("outperforms", "underperforms"),
    ("outperform", "underperform"),
];

fn direction(sentence: &str) -> Option<String> {
    let place = |word: &str| {
        let found = sentence.find(word)?;
        let bounded = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let before = sentence[..found].chars().next_back();
        let behind = sentence[found + word.len()..].chars().next();
        (bounded(before) && bounded(behind)).then_some(found)
    };
    let first = OPPOSITES.iter().filter_map(|pair| Some((place(pair.0)?, pair)));
    let (at, (own, opposite)) = first.min_by_key(|(at, _)| *at)?;
    Some(format!("{}{opposite}{}", &sentence[..at], &sentence[at + own.len()..]))
}

/// Words and what widens them.
const WIDER: &[(&str, &str)] = &[
    (" may ", " always "),
    (" might ", " always "),
    (" can ", " invariably "),
    (" is associated with ", " is caused by "),
    (" are associated with ", " are caused by "),
    (" suggest that ", " prove conclusively that "),
    (" suggests that ", " proves conclusively that "),
    (" some ", " all "),
];

/// The first widening that fits; else the sentence is said of every case.
fn scope(sentence: &str) -> Option<String> {
    let wider = WIDER.iter().find(|(words, _)| sentence.contains(words));
    match wider {
        Some((words, wider)) => Some(sentence.replacen(words, wider, 1)),
        None => {
            let body = sentence.trim_end().strip_suffix('.')?;
            Some(format!("{body} in all cases and without exception."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_is_changed() {
        let check = |check, sentence: &str, expected: Option<&str>| {
            assert_eq!(swap(check, sentence, "We used the SQuAD set.").as_deref(), expected);
        };
        let sentence = "BERT increased accuracy by 12.5 %.";
        check(ContentCheck::Entity, sentence, Some("SQuAD increased accuracy by 12.5 %."));
        check(ContentCheck::Number, sentence, Some("BERT increased accuracy by 21.2 %."));
        check(ContentCheck::Direction, sentence, Some("BERT decreased accuracy by 12.5 %."));
        check(ContentCheck::Scope, "It may help.", Some("It always help."));
        check(ContentCheck::Number, "It helps.", None);
    }
}
