//! The parts of a digest: those the question names, else those its sentences have in common.

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::text::words::{is_stop_word, words};
use scholar_core::{PaperId, Ranked};

use super::candidate::Candidate;
use super::config::DigestShape;
use super::informative::speaks_of;
use super::question::{Aspect, Reading, capitalised};
use super::score::Scored;
use super::select::paper_of;
use super::terms::{stems, weight};

/// Fewest sentences a digest must have to be divided.
const FEWEST_TO_DIVIDE: usize = 5;
/// Fewest sentences of a part that was discovered.
const FEWEST_IN_PART: usize = 2;
/// A phrase in more than this share of the sentences divides nothing.
const TOO_COMMON: f32 = 0.6;
/// Weight of the rarest word of a phrase, and of a word that is a phrase alone.
const PHRASE_WEIGHT: f32 = 4.2;
const LONE_WORD_WEIGHT: f32 = 4.6;
/// Weight of every word of a phrase.
const WORD_WEIGHT: f32 = 2.2;
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

/// Divides `chosen` (indices into `scored`) into parts, the one with the best sentence first, what fits nowhere last.
pub(crate) fn facets(
    scored: &[Scored],
    chosen: &[usize],
    evidence: &[Ranked],
    (reading, shape): (&Reading, &DigestShape),
) -> Vec<Facet> {
    let mut chosen = chosen.to_vec();
    chosen.sort_unstable();
    let named = named(scored, &chosen, reading);
    let mut groups = if named.len() >= 2 {
        named
    } else if chosen.len() >= FEWEST_TO_DIVIDE {
        discovered(scored, &chosen, evidence, (reading, shape.max_facets))
    } else {
        Vec::new()
    };
    for group in &mut groups {
        limit_papers(&mut group.members, scored, evidence, shape.per_paper_and_facet);
    }
    let grouped: BTreeSet<usize> = groups.iter().flat_map(|group| group.members.clone()).collect();
    let mut rest: Vec<usize> = chosen.iter().copied().filter(|at| !grouped.contains(at)).collect();
    limit_papers(&mut rest, scored, evidence, shape.per_paper_and_facet);
    groups.sort_by_key(|group| group.members.first().copied());
    if !rest.is_empty() {
        let heading = if groups.is_empty() { general_heading(reading) } else { "Further findings" };
        groups.push(Facet { heading: heading.to_owned(), members: rest });
    }
    groups
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
    for at in chosen {
        if let Some(part) = part_of(&scored[*at].candidate, reading) {
            groups[part].members.push(*at);
        }
    }
    groups.retain(|group| !group.members.is_empty());
    groups
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
    (reading, max_facets): (&Reading, usize),
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
    phrases.retain(|_, phrase| phrase.papers.len() >= 2 && phrase.members.len() <= most);
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
                if let Some(key) = phrase_key(run, reading) {
                    found.push((run.join(" "), key));
                }
            }
        }
    }
    found
}

fn phrase_key(run: &[&str], reading: &Reading) -> Option<Vec<String>> {
    if run.iter().any(|word| is_stop_word(word) || is_dull(word)) {
        return None;
    }
    let key: Vec<String> = run.iter().filter_map(|word| stems(word).into_iter().next()).collect();
    if key.len() != run.len() || key.iter().all(|stem| reading.stems.contains(stem)) {
        return None;
    }
    let new: Vec<&String> = key.iter().filter(|stem| !reading.stems.contains(*stem)).collect();
    let rarest = new.iter().map(|stem| weight(stem)).fold(0.0, f32::max);
    let commonest = key.iter().map(|stem| weight(stem)).fold(f32::MAX, f32::min);
    let enough = if run.len() == 1 {
        rarest >= LONE_WORD_WEIGHT && is_noun(run[0])
    } else {
        rarest >= PHRASE_WEIGHT && commonest >= WORD_WEIGHT && is_noun(run[run.len() - 1])
    };
    enough.then_some(key)
}

/// Adverbs, verbs of reporting and words of every abstract: no part is about them.
fn is_dull(word: &str) -> bool {
    const DULL: &[&str] = &[
        "achiev",
        "address",
        "analyz",
        "art",
        "baselin",
        "better",
        "competit",
        "consist",
        "demonstr",
        "enabl",
        "ensur",
        "exhibit",
        "experi",
        "extens",
        "exploit",
        "focus",
        "framework",
        "gain",
        "generat",
        "high",
        "higher",
        "introduc",
        "investig",
        "leverag",
        "low",
        "lower",
        "measur",
        "multipl",
        "novel",
        "observ",
        "obtain",
        "outperform",
        "propos",
        "provid",
        "requir",
        "reveal",
        "robust",
        "signific",
        "sota",
        "substanti",
        "superior",
        "surpass",
        "yield",
    ];
    let lower = word.to_lowercase();
    lower.ends_with("ly")
        || stems(word).first().is_none_or(|stem| DULL.binary_search(&stem.as_str()).is_ok())
}

/// A word that can end a heading: by suffix, or an abbreviation.
fn is_noun(word: &str) -> bool {
    let lower = word.to_lowercase();
    let singular = lower.strip_suffix('s').unwrap_or(&lower);
    let verb_like = ["ed", "ize", "ise", "ate", "ify"].iter().any(|end| singular.ends_with(end));
    let adjective = ["al", "ive", "ous", "ful", "less", "ic", "able", "ible", "ary"]
        .iter()
        .any(|end| lower.ends_with(end));
    let acronym = word.chars().filter(|c| c.is_uppercase()).count() >= 2;
    acronym || (!verb_like && !adjective && lower.chars().count() >= 4)
}
