//! How far a sentence goes: superlatives, generality, causes, certainty and the population studied.

mod words;

use super::source::{SourceText, Tokens, share, tokens};
use words::{CAUTIOUS, GROUPS, HEDGES, Reach, WIDENINGS, Widening};

/// Words before a claim within which a negation denies it.
const DENIES: usize = 3;
/// Share of a sentence's words, weighted by rarity, that a sentence of the source about the same things has.
const SAME_THINGS: f32 = 0.2;
/// Share of the best sentence's share that others must have beside it.
const CLOSE: f32 = 0.75;
/// Share that a sentence has which says nearly the same.
const NEARLY_SAME: f32 = 0.45;

/// What of `sentence` (in plain form) goes beyond `source`: the kind and the words.
pub fn missing(sentence: &str, source: &SourceText) -> Vec<String> {
    let own = Searchable::of(sentence);
    let content = Tokens::of(sentence).content();
    let covered: Vec<(f32, &Tokens)> =
        source.sentences.iter().map(|other| (share(&content, &other.keys), other)).collect();
    let above = |least: f32| -> Option<Searchable> {
        let close: Vec<&Tokens> =
            covered.iter().filter(|(share, _)| *share >= least).map(|(_, other)| *other).collect();
        (!close.is_empty()).then(|| Searchable::joined(&close))
    };
    let whole = Searchable::of(&source.text);
    let best = covered.iter().map(|(share, _)| *share).fold(0.0, f32::max);
    let same_things = above(SAME_THINGS.max(CLOSE * best));
    let nearly_same = above(NEARLY_SAME).is_some();
    let mut missing = Vec::new();
    for Widening { name, claims, allowed_by, only_if, reach } in WIDENINGS {
        let Some(words) = claims.iter().find(|words| own.asserts(words)) else { continue };
        let theirs = match reach {
            Reach::Anywhere if !nearly_same => continue,
            Reach::Anywhere => &whole,
            Reach::SameThings => same_things.as_ref().unwrap_or(&whole),
        };
        let applies = only_if.is_empty() || only_if.iter().any(|start| theirs.begins(start));
        if applies && !allowed_by.iter().any(|start| theirs.begins(start)) {
            missing.push(format!("{name}: {words}"));
        }
    }
    for (words, allowed) in GROUPS {
        let said = words.iter().find(|words| own.has(words));
        if let Some(words) = said
            && !allowed.iter().any(|start| whole.begins(start))
        {
            missing.push(format!("population: {words}"));
        }
    }
    missing.extend(more_than_some(&own, same_things.as_ref().unwrap_or(&whole)));
    missing.extend(lost_hedge(&own, &content, &covered));
    missing
}

/// Words for all of a kind, and for a part of it.
const ALL: &[&str] = &["all", "every"];
const SOME: &[&str] = &["some", "several", "certain", "few", "subset of"];

/// `all tumours` where the source has `some tumours` and nowhere all of them.
fn more_than_some(own: &Searchable, theirs: &Searchable) -> Option<String> {
    let words: Vec<&str> = own.0.split_whitespace().collect();
    words.windows(2).filter(|two| ALL.contains(&two[0])).find_map(|two| {
        let some = SOME.iter().find(|some| theirs.has(&format!("{some} {}", two[1])))?;
        let all = ["all ", "every ", "each ", "both ", "any ", "entire "];
        let allowed = all.iter().any(|start| theirs.begins(start));
        (!allowed).then(|| format!("generality: {} {} (the source: {some})", two[0], two[1]))
    })
}

/// Words with one space between and around them.
struct Searchable(String);

impl Searchable {
    fn of(text: &str) -> Self {
        let words: Vec<String> = tokens(text).into_iter().map(str::to_lowercase).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    fn joined(sentences: &[&Tokens]) -> Self {
        let words: Vec<String> = sentences.iter().map(|one| one.words.join(" ")).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    fn has(&self, words: &str) -> bool {
        self.0.contains(&format!(" {words} "))
    }

    /// Whether the words are said, neither denied nor, of verbs, as a noun: `does not prove`, `the causes of`.
    fn asserts(&self, words: &str) -> bool {
        let Some((before, behind)) = self.0.split_once(&format!(" {words} ")) else { return false };
        let denied = before
            .rsplit(' ')
            .take(DENIES)
            .any(|word| ["not", "no", "nor", "cannot"].contains(&word));
        let noun = words == "causes"
            && (behind.starts_with("of ")
                || before.rsplit(' ').next().is_some_and(|word| ["the", "and"].contains(&word)));
        // `larger trials are needed to prove that` proves nothing.
        !denied && !noun && !before.ends_with(" to")
    }

    fn begins(&self, start: &str) -> bool {
        self.0.contains(&format!(" {}", start.replace('-', " ")))
    }
}

/// Share of the sentence that a hedged sentence of the source must have to be what it says.
const HEDGED_COPY: f32 = 0.85;
/// Fewest words with content of a sentence that drops a hedge; shorter ones are in too many sentences by chance.
const HEDGED_WORDS: usize = 6;
/// Share that another sentence without a hedge must have to acquit it.
const UNHEDGED_COPY: f32 = 0.4;

/// The hedge of the sentence of the source that says the same, where the sentence dropped it.
fn lost_hedge(own: &Searchable, content: &[String], covered: &[(f32, &Tokens)]) -> Option<String> {
    if CAUTIOUS.iter().any(|start| own.begins(start)) {
        return None;
    }
    let hedge =
        |other: &Tokens| HEDGES.iter().find(|hedge| other.words.iter().any(|word| word == *hedge));
    if content.len() < HEDGED_WORDS {
        return None;
    }
    let (best, closest) = covered.iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
    let hedge_of_closest = hedge(closest)?;
    let acquitted =
        covered.iter().any(|(share, other)| *share >= UNHEDGED_COPY && hedge(other).is_none());
    (*best >= HEDGED_COPY && !acquitted)
        .then(|| format!("certainty: the source says “{hedge_of_closest}”"))
}
