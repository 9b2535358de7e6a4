//! What of an idea is looked up: methods, suppositions, claimed contributions. All of it in the idea's own words.
//!
//! Every sentence of a plan gets a worth for each of the three from its wording ([`super::cues`]), the part of the plan it stands
//! in, how much of it is rare, and the roles that the sentence classifier gives it. One sentence a paragraph is a method; what
//! repeats another is left out.

use std::collections::BTreeSet;

use scholar_core::text::words::content_stems;
use scholar_core::{PassageKind, PortError, RoleProbabilities};
use scholar_pipeline::proof::stems::science_idf;

use super::cues::{Deed, QUESTION, Wording, dimension, is_hypothesis, supposition, without_lead};
use super::units::{Unit, Zone};
use super::vectors::{Spoken, Vectors};

/// Most methods looked up where the configuration has no limit. Ours: a reader's minute.
const MOST_METHODS: usize = 10;
/// Most suppositions.
const MOST_SUPPOSITIONS: usize = 4;
/// Most statements of contribution.
const MOST_STATEMENTS: usize = 8;
/// Least worth of a method, and of a statement. Ours, seen on public ideas.
const METHOD_FROM: f32 = 1.3;
const STATEMENT_FROM: f32 = 1.15;
/// What ranks the best sentence of a paragraph before the others of any: more than a sentence can be worth.
const FIRST: f32 = 100.0;
/// Share of stems from which one sentence repeats another.
const REPEATS: f32 = 0.5;
/// Weight from which a stem is rare: in fewer than one of 150 abstracts.
const RARE: f32 = 5.0;

/// A sentence of the idea that is looked up.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    /// `M1`, `H1`, `C1`.
    pub(super) id: String,
    /// The idea's words, its label in front.
    pub(super) text: String,
    /// Without label and lead: what is searched for and compared.
    pub(super) key: String,
    /// What a judge is asked about; only of suppositions.
    pub(super) claim: Option<String>,
    /// Along which dimension a contribution is claimed.
    pub(super) dimension: &'static str,
}

/// Everything that is looked up for an idea.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Items {
    /// The most important first.
    pub(super) methods: Vec<Item>,
    /// Hypotheses, then what others are said to lack.
    pub(super) suppositions: Vec<Item>,
    /// The boldest claims first.
    pub(super) statements: Vec<Item>,
}

/// Finds the items in `units`.
///
/// # Errors
/// When a model fails.
pub(super) fn items(
    units: &[Unit],
    limits: Limits,
    vectors: &mut Vectors<'_>,
) -> Result<Items, PortError> {
    let sentences = weighed(units, vectors)?;
    Ok(Items {
        methods: methods(&sentences, limits.methods),
        suppositions: suppositions(&sentences),
        statements: statements(&sentences, limits),
    })
}

/// How many items the configuration allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) methods: Option<usize>,
    pub(super) dimensions: usize,
    pub(super) per_dimension: usize,
}

/// A sentence with what it is worth.
struct Weighed<'a> {
    unit: usize,
    /// Its place in the plan.
    nth: usize,
    label: Option<&'a str>,
    text: &'a str,
    zone: Zone,
    stems: BTreeSet<String>,
    method: f32,
    statement: f32,
}

fn weighed<'a>(
    units: &'a [Unit],
    vectors: &mut Vectors<'_>,
) -> Result<Vec<Weighed<'a>>, PortError> {
    let spoken: Vec<Spoken<'_>> = units
        .iter()
        .flat_map(|unit| {
            unit.sentences.iter().enumerate().map(|(nth, text)| Spoken {
                text,
                before: nth.checked_sub(1).map(|at| unit.sentences[at].as_str()),
                after: unit.sentences.get(nth + 1).map(String::as_str),
                title: "",
                section: "",
                kind: PassageKind::Body,
                nth,
                of: unit.sentences.len(),
            })
        })
        .collect();
    let roles = vectors.roles(&spoken)?;
    let places = units
        .iter()
        .enumerate()
        .flat_map(|(at, unit)| unit.sentences.iter().map(move |text| (at, unit, text.as_str())));
    Ok(places
        .enumerate()
        .map(|(nth, (unit, of, text))| {
            let role = roles.as_ref().map(|roles| roles[nth]);
            let stems: BTreeSet<String> = content_stems(text).into_iter().collect();
            let (method, statement) = worth(of, text, &stems, role);
            let label = of.label.as_deref();
            Weighed { unit, nth, label, text, zone: of.zone, stems, method, statement }
        })
        .collect())
}

/// What a sentence is worth as a method, and as a claim of something new. All numbers ours, seen on public ideas.
fn worth(
    unit: &Unit,
    text: &str,
    stems: &BTreeSet<String>,
    role: Option<RoleProbabilities>,
) -> (f32, f32) {
    let Wording { deed, rationale, background, claims } = Wording::of(text);
    let does = deed == Some(Deed::BySomeone);
    let on = |sign: bool, worth: f32| if sign { worth } else { 0.0 };
    let idf = science_idf();
    let rare = stems.iter().filter(|stem| idf.weight(stem) >= RARE).count();
    let specific = 0.15 * rare.min(5) as f32;
    let words = text.split_whitespace().count();
    let dangling = text.ends_with(':');
    let formula = text.chars().filter(|c| "=|^×∑λ".contains(*c)).count() > 3;
    let (as_deed, as_purpose) = role.map_or((0.3, 0.3), |role| {
        (0.6 * (role.method + 0.5 * role.purpose), 0.6 * (role.purpose + 0.3 * role.conclusion))
    });
    let zone = match unit.zone {
        Zone::Method => 0.9,
        Zone::Experiment => 0.3,
        Zone::Other => 0.3,
        Zone::Problem => -0.6,
    };
    let listed = unit.item && (unit.labelled || deed == Some(Deed::Bare));
    let method = zone
        + 0.3 * claims.min(1.0)
        + on(does, 0.9)
        + on(!does && listed, 0.5)
        + as_deed
        + specific
        - on(rationale, 0.8)
        - on(formula, 0.5)
        - on(background, 0.7)
        - on(dangling, 0.8)
        - on(words < 7, 0.5)
        - on(unit.item && !does && !listed, 0.5);
    let zone = match unit.zone {
        Zone::Problem | Zone::Method => 0.3,
        Zone::Other => 0.2,
        Zone::Experiment => -0.8,
    };
    let statement = zone + claims.min(2.2) + on(claims > 0.0, as_purpose + 0.6 * specific)
        - on(rationale, 0.3)
        - on(background && claims < 1.0, 0.9)
        - on(dangling, 0.6)
        - on(unit.item, 0.3)
        - on(words < 8, 0.6);
    (method, statement)
}

/// The best sentence of each paragraph that is one, the best paragraphs first, and then what else is one.
fn methods(sentences: &[Weighed<'_>], most: Option<usize>) -> Vec<Item> {
    let all = || sentences.iter().filter(|one| one.method >= METHOD_FROM);
    let is_best = |one: &Weighed<'_>| {
        let mut own = all().filter(|other| other.unit == one.unit);
        // The first of equals.
        !own.any(|other| {
            other.method > one.method || (other.method >= one.method && other.nth < one.nth)
        })
    };
    let rank = |one: &Weighed<'_>| if is_best(one) { FIRST + one.method } else { one.method };
    let most = most.unwrap_or(MOST_METHODS).min(MOST_METHODS);
    numbered("M", distinct(all().collect(), rank, most))
}

/// What the plan supposes, hypotheses first.
fn suppositions(sentences: &[Weighed<'_>]) -> Vec<Item> {
    let supposing = sentences.iter().filter(|one| supposition(one.text).is_some()).collect();
    let rank = |one: &Weighed<'_>| if is_hypothesis(one.text) { 1.0 } else { 0.0 };
    let mut items = numbered("H", distinct(supposing, rank, MOST_SUPPOSITIONS));
    for item in &mut items {
        item.claim = supposition(&item.text);
        item.key = item.claim.clone().unwrap_or_else(|| item.text.clone());
    }
    items
}

/// What is claimed to be new, so many a dimension.
fn statements(sentences: &[Weighed<'_>], limits: Limits) -> Vec<Item> {
    let claiming = sentences.iter().filter(|one| one.statement >= STATEMENT_FROM).collect();
    let all = numbered("C", distinct(claiming, |one| one.statement, usize::MAX));
    let mut kept: Vec<Item> = Vec::new();
    let mut dimensions: Vec<&'static str> = Vec::new();
    for item in all {
        if kept.len() >= MOST_STATEMENTS {
            break;
        }
        let own = kept.iter().filter(|other| other.dimension == item.dimension).count();
        let known = dimensions.contains(&item.dimension);
        if own >= limits.per_dimension || (!known && dimensions.len() >= limits.dimensions) {
            continue;
        }
        if !known {
            dimensions.push(item.dimension);
        }
        kept.push(item);
    }
    for (at, item) in kept.iter_mut().enumerate() {
        item.id = format!("C{}", at + 1);
    }
    kept
}

/// The best of `sentences`, ties in the order of the plan, none of which repeats one before it.
fn distinct<'s, 'a>(
    mut sentences: Vec<&'s Weighed<'a>>,
    worth: impl Fn(&Weighed<'a>) -> f32,
    most: usize,
) -> Vec<&'s Weighed<'a>> {
    sentences.sort_by(|a, b| worth(b).total_cmp(&worth(a)));
    let mut kept: Vec<&Weighed<'_>> = Vec::new();
    for sentence in sentences {
        if kept.len() >= most {
            break;
        }
        let repeats = |other: &&Weighed<'_>| alike(&sentence.stems, &other.stems) >= REPEATS;
        if !kept.iter().any(repeats) {
            kept.push(sentence);
        }
    }
    kept
}

/// Shared stems as a share of those of the shorter text.
fn alike(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f32 {
    let least = a.len().min(b.len());
    if least == 0 { 0.0 } else { a.intersection(b).count() as f32 / least as f32 }
}

fn numbered(letter: &str, sentences: Vec<&Weighed<'_>>) -> Vec<Item> {
    let item = |(at, one): (usize, &Weighed<'_>)| {
        let with_label = one.label.filter(|label| !one.text.contains(*label));
        Item {
            id: format!("{letter}{}", at + 1),
            text: match with_label {
                Some(label) => format!("{label}: {}", one.text),
                None => one.text.to_owned(),
            },
            key: without_lead(one.text).to_owned(),
            claim: None,
            dimension: match one.zone {
                Zone::Problem if is_hypothesis(one.text) => QUESTION,
                _ => dimension(one.text),
            },
        }
    };
    sentences.into_iter().enumerate().map(item).collect()
}

#[cfg(test)]
mod tests;
