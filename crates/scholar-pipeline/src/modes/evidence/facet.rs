//! The parts of a digest: those the question names, else those its sentences have in common.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::text::words::{is_stop_word, words};
use scholar_core::{PaperId, Ranked};

use super::candidate::Candidate;
use super::config::DigestShape;
use super::direction::moves;
use super::informative::{Role, Side, speaks_of};
use super::question::{Aspect, Reading, capitalised};
use super::score::{Scored, paper_of};
use super::terms::{stems, weight};

/// Fewest sentences a digest must have to be divided.
const FEWEST_TO_DIVIDE: usize = 5;
/// Fewest sentences of a part that was discovered.
const FEWEST_IN_PART: usize = 2;
/// Fewest parts that shared phrases must make; otherwise sentences are sorted by what they are.
const FEWEST_DISCOVERED: usize = 2;
/// From this many sentences on, a phrase must be shared by more papers.
const MANY_SENTENCES: usize = 16;
/// A phrase in more than this share of the sentences divides nothing.
const TOO_COMMON: f32 = 0.6;
/// Weight of the rarest word of a phrase, and of a word that is a phrase alone.
const PHRASE_WEIGHT: f32 = 4.2;
const LONE_WORD_WEIGHT: f32 = 5.5;
/// Fewest papers that must share a word that is a phrase alone, or any phrase where there are many sentences.
const FEWEST_PAPERS_OF_PHRASE: usize = 3;
/// Weight of every word of a phrase.
const WORD_WEIGHT: f32 = 0.9;
/// Most sentences, best first, in which phrases are looked for.
const POOL: usize = 60;
/// Heading of what belongs to no other part.
pub(crate) const FURTHER: &str = "Further findings";
/// Longest heading, in words.
pub(crate) const HEADING_WORDS: usize = 6;

/// A part: its heading and the sentences under it (indices into the scored list), best first.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Facet {
    pub(crate) heading: String,
    pub(crate) members: Vec<usize>,
}

/// The part of the question a sentence speaks of: the one with the largest share of its stems, the first of equals.
pub(crate) fn part_of(candidate: &Candidate, reading: &Reading) -> Option<usize> {
    let fit = |at: usize| {
        let part = &reading.parts[at];
        part.aspect.map_or_else(
            || {
                let found = part.stems.intersection(&candidate.stems).count();
                found as f32 / part.stems.len().max(1) as f32
            },
            |aspect| f32::from(u8::from(speaks_of(&candidate.text, aspect))),
        )
    };
    let best =
        (0..reading.parts.len()).map(|at| (fit(at), at)).fold(None, |best, (fit, at)| match best {
            Some((highest, _)) if fit <= highest => best,
            _ if fit >= 0.5 => Some((fit, at)),
            _ => best,
        });
    // An aspect in the wording of both is the more specific one: limits are told with the words of effects.
    if reading.parts.iter().any(|part| part.aspect == Some(Aspect::Limits))
        && speaks_of(&candidate.text, Aspect::Limits)
    {
        return reading.parts.iter().position(|part| part.aspect == Some(Aspect::Limits));
    }
    best.map(|(_, at)| at)
}

/// What the sentences worth showing are about: parts the question names, else phrases several papers share.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Groups {
    /// Headings, by group.
    pub(crate) headings: Vec<String>,
    /// The group of each scored sentence.
    pub(crate) of: Vec<Option<usize>>,
    /// Fewest sentences of a part with a heading.
    fewest: usize,
    /// Whether the headings are phrases that sentences share: a model may know a better one.
    pub(crate) by_phrase: bool,
}

/// The groups of the sentences of `scored` that are `eligible`.
pub(crate) fn groups(
    scored: &[Scored],
    eligible: &[usize],
    evidence: &[Ranked],
    reading: &Reading,
    shape: &DigestShape,
) -> Groups {
    let pool = &eligible[..eligible.len().min(POOL)];
    let text = |at: usize| scored[at].candidate.text.as_str();
    let named = named(scored, pool, reading);
    let (mut fewest, mut by_phrase) = (FEWEST_IN_PART, false);
    let facets = if named.len() >= 2 {
        fewest = 1;
        named
    } else if reading.asks_effect {
        fewest = 1;
        let heading = |side: &Side| side.heading();
        sorted_into(pool, Side::ALL, heading, |at| Side::on(text(at), reading))
    } else if pool.len() >= FEWEST_TO_DIVIDE {
        let found = discovered(scored, pool, evidence, reading, shape.max_facets);
        if found.len() >= FEWEST_DISCOVERED {
            by_phrase = true;
            found
        } else {
            fewest = 1;
            sorted_into(pool, Role::ALL, |role| role.heading(), |at| Some(Role::of(text(at))))
        }
    } else {
        Vec::new()
    };
    let mut of = vec![None; scored.len()];
    for (nth, facet) in facets.iter().enumerate() {
        for at in &facet.members {
            of[*at] = Some(nth);
        }
    }
    Groups {
        headings: facets.into_iter().map(|facet| facet.heading).collect(),
        of,
        fewest,
        by_phrase,
    }
}

/// The sentences by kind, kinds without a sentence left out.
fn sorted_into<K: PartialEq, const N: usize>(
    pool: &[usize],
    kinds: [K; N],
    heading: impl Fn(&K) -> &'static str,
    kind_of: impl Fn(usize) -> Option<K>,
) -> Vec<Facet> {
    kinds
        .into_iter()
        .map(|kind| Facet {
            heading: heading(&kind).to_owned(),
            members: pool
                .iter()
                .copied()
                .filter(|at| kind_of(*at).as_ref() == Some(&kind))
                .collect(),
        })
        .filter(|facet| !facet.members.is_empty())
        .collect()
}

/// Divides `chosen` (indices into `scored`): what belongs to no group first if the best sentence is among it, else last.
pub(crate) fn facets(
    scored: &[Scored],
    chosen: &[usize],
    evidence: &[Ranked],
    groups: &Groups,
    reading: &Reading,
    shape: &DigestShape,
) -> Vec<Facet> {
    let mut chosen = chosen.to_vec();
    chosen.sort_unstable();
    let of = |group: Option<usize>| -> Vec<usize> {
        chosen.iter().copied().filter(|at| groups.of[*at] == group).collect()
    };
    let mut parts: Vec<Facet> = groups
        .headings
        .iter()
        .enumerate()
        .map(|(nth, heading)| Facet { heading: heading.clone(), members: of(Some(nth)) })
        .filter(|part| part.members.len() >= groups.fewest)
        .collect();
    let grouped: BTreeSet<usize> = parts.iter().flat_map(|part| part.members.clone()).collect();
    let rest: Vec<usize> = chosen.iter().copied().filter(|at| !grouped.contains(at)).collect();
    parts.sort_by_key(|part| part.members.first().copied());
    if parts.is_empty() {
        parts.push(Facet { heading: general_heading(reading).to_owned(), members: rest });
    } else if !rest.is_empty() {
        let leads = rest.first() < parts[0].members.first();
        if leads {
            parts.insert(0, Facet { heading: "Main findings".to_owned(), members: rest });
        } else {
            parts.push(Facet { heading: FURTHER.to_owned(), members: rest });
        }
    }
    for part in &mut parts {
        limit_papers(&mut part.members, scored, evidence, shape.per_paper_and_facet);
    }
    parts
}

/// Heading of an undivided digest.
fn general_heading(reading: &Reading) -> &'static str {
    match reading.aspects.as_slice() {
        [only] if *only != Aspect::Effects => only.heading(),
        _ => "Findings",
    }
}

fn limit_papers(members: &mut Vec<usize>, scored: &[Scored], evidence: &[Ranked], most: usize) {
    let mut seen: BTreeMap<&PaperId, usize> = BTreeMap::new();
    members.retain(|at| {
        let n = seen.entry(paper_of(&scored[*at], evidence)).or_default();
        *n += 1;
        *n <= most
    });
}

/// The parts the question names, those without a sentence left out.
fn named(scored: &[Scored], chosen: &[usize], reading: &Reading) -> Vec<Facet> {
    let mut groups: Vec<Facet> = reading
        .parts
        .iter()
        .map(|part| Facet { heading: part.heading.clone(), members: Vec::new() })
        .collect();
    let mut both = Facet { heading: "Compared directly".to_owned(), members: Vec::new() };
    for at in chosen {
        let candidate = &scored[*at].candidate;
        if reading.compares && speaks_of_all_parts(candidate, reading) {
            both.members.push(*at);
        } else if let Some(part) = part_of(candidate, reading) {
            groups[part].members.push(*at);
        }
    }
    groups.insert(0, both);
    groups.retain(|group| !group.members.is_empty());
    groups
}

fn speaks_of_all_parts(candidate: &Candidate, reading: &Reading) -> bool {
    reading.parts.iter().all(|part| {
        let found = part.stems.intersection(&candidate.stems).count();
        found > 0 && 2 * found >= part.stems.len()
    })
}

/// A run of content words several papers use.
struct Phrase {
    shown: String,
    stems: Vec<String>,
    members: Vec<usize>,
    papers: BTreeSet<PaperId>,
}

/// Parts around phrases: greedily the one whose sentences not yet placed come from most papers.
fn discovered(
    scored: &[Scored],
    chosen: &[usize],
    evidence: &[Ranked],
    reading: &Reading,
    max_facets: usize,
) -> Vec<Facet> {
    let mut phrases: BTreeMap<String, Phrase> = BTreeMap::new();
    for at in chosen {
        for (shown, key) in phrases_of(&scored[*at].candidate.text, reading) {
            let entry = phrases.entry(key.join(" ")).or_insert_with(|| Phrase {
                shown,
                stems: key,
                members: Vec::new(),
                papers: BTreeSet::new(),
            });
            if !entry.members.contains(at) {
                entry.members.push(*at);
            }
            entry.papers.insert(paper_of(&scored[*at], evidence).clone());
        }
    }
    let most = (chosen.len() as f32 * TOO_COMMON) as usize;
    phrases.retain(|_, phrase| {
        let many = phrase.stems.len() == 1 || chosen.len() >= MANY_SENTENCES;
        let fewest = if many { FEWEST_PAPERS_OF_PHRASE } else { 2 };
        phrase.papers.len() >= fewest && phrase.members.len() <= most
    });
    let mut placed: BTreeSet<usize> = BTreeSet::new();
    let mut facets: Vec<Facet> = Vec::new();
    while facets.len() + 1 < max_facets {
        let free = |phrase: &Phrase| -> Vec<usize> {
            phrase.members.iter().copied().filter(|at| !placed.contains(at)).collect()
        };
        let value = |phrase: &Phrase| {
            let n = free(phrase).len();
            let rarity: f32 = phrase.stems.iter().map(|stem| weight(stem).min(6.0)).sum();
            (n, phrase.papers.len(), (rarity * 100.0) as u32)
        };
        let Some(best) = phrases.values().max_by_key(|phrase| value(phrase)) else { break };
        let members = free(best);
        if members.len() < FEWEST_IN_PART {
            break;
        }
        placed.extend(&members);
        facets.push(Facet { heading: capitalised(&best.shown), members });
    }
    facets
}

/// Runs of one to three content words with their stems, without those that only repeat the question.
fn phrases_of(text: &str, reading: &Reading) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for clause in text.split([',', ';', ':', '.', '(', ')', '"', '“', '”', '—', '–']) {
        let words: Vec<&str> = words(clause);
        for n in 1..=3 {
            for run in words.windows(n) {
                let key = phrase_key(run, reading);
                found.extend(key.and_then(|key| Some((stretch(clause, run)?, key))));
            }
        }
    }
    found
}

/// The words as `clause` prints them, if nothing but spaces and hyphens stands between them.
fn stretch(clause: &str, run: &[&str]) -> Option<String> {
    let at = |word: &str| word.as_ptr() as usize - clause.as_ptr() as usize;
    let (first, last) = (run.first()?, run.last()?);
    let shown = clause.get(at(first)..at(last) + last.len())?;
    shown.chars().all(|c| c.is_alphanumeric() || " -'’".contains(c)).then(|| shown.to_owned())
}

fn phrase_key(run: &[&str], reading: &Reading) -> Option<Vec<String>> {
    if run.iter().any(|word| is_stop_word(word) || is_dull(word)) {
        return None;
    }
    let key: Vec<String> = run.iter().filter_map(|word| stems(word).into_iter().next()).collect();
    if key.len() != run.len() || key.iter().all(|stem| reading.stems.contains(stem)) {
        return None;
    }
    // An abbreviation of the question's words is the question again.
    let asked = |stem: &String| {
        reading.stems.contains(stem)
            || reading.terms.iter().any(|t| t.alternatives.iter().any(|set| set.contains(stem)))
    };
    if key.iter().all(asked) {
        return None;
    }
    // So is another form of one of them: `smokers` where smoking is asked about.
    let akin = |stem: &String| {
        reading.stems.iter().any(|known| known.len() >= 5 && stem.starts_with(known.as_str()))
    };
    let new: Vec<&String> = key.iter().filter(|stem| !asked(stem) && !akin(stem)).collect();
    if new.is_empty() {
        return None;
    }
    let rarest = new.iter().map(|stem| weight(stem)).fold(0.0, f32::max);
    let commonest = key.iter().map(|stem| weight(stem)).fold(f32::MAX, f32::min);
    let enough = if run.len() == 1 {
        rarest >= LONE_WORD_WEIGHT && is_noun(run[0])
    } else {
        let starts =
            !run[0].to_lowercase().ends_with("ing") || is_noun(run[0]) && run[0].len() > 12;
        let starts = starts || key[0] == "learn" || key[0] == "train" || key[0] == "prompt";
        starts && rarest >= PHRASE_WEIGHT && commonest >= WORD_WEIGHT && is_noun(run[run.len() - 1])
    };
    enough.then_some(key)
}

/// Adverbs, verbs of reporting and words of every abstract: no part is about them.
fn is_dull(word: &str) -> bool {
    #[rustfmt::skip]
    const DULL: &[&str] = &[
        "achiev", "address", "analyz", "approach", "art", "averag", "base", "baselin", "benchmark",
        "better", "competit", "consist", "dataset", "demonstr", "differ", "effect", "enabl",
        "ensur", "evalu", "exhibit", "exist", "experi", "experiment", "exploit", "extens", "focus",
        "framework", "gain", "generat", "group", "high", "higher", "introduc", "investig", "larg",
        "leverag", "low", "lower", "measur", "method", "multipl", "novel", "number", "observ",
        "obtain", "outperform", "perform", "point", "propos", "provid", "qualiti", "recent",
        "requir", "research", "reveal", "robust", "score", "set", "signific", "small", "sota",
        "strong", "studi", "submiss", "substanti", "superior", "surpass", "system", "task", "team",
        "test", "time", "valu", "various", "wide", "work", "year", "yield",
    ];
    let lower = word.to_lowercase();
    lower.ends_with("ly")
        || lower == "without"
        || moves(&lower)
        || stems(word).first().is_none_or(|stem| DULL.binary_search(&stem.as_str()).is_ok())
}

/// A word that can end a heading: by suffix, or an abbreviation.
fn is_noun(word: &str) -> bool {
    let lower = word.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    const ACTIVITIES: &[&str] = &[
        "counseling",
        "decoding",
        "embedding",
        "encoding",
        "learning",
        "masking",
        "modeling",
        "modelling",
        "parsing",
        "processing",
        "prompting",
        "pruning",
        "ranking",
        "reasoning",
        "reranking",
        "sampling",
        "singing",
        "smoking",
        "training",
        "tuning",
        "understanding",
    ];
    if singular.ends_with("ing") && !ACTIVITIES.contains(&singular) {
        return false;
    }
    let verb_like = ["ed", "ize", "ise", "ate", "ify"].iter().any(|end| singular.ends_with(end));
    let adjective = ["al", "ive", "ous", "ful", "less", "ic", "able", "ible", "ary"]
        .iter()
        .any(|end| lower.ends_with(end));
    let acronym = word.chars().filter(|c| c.is_uppercase()).count() >= 2;
    acronym || (!verb_like && !adjective && lower.chars().count() >= 4)
}
