//! A few sentences on top of the digest: the small model chooses findings, code condenses and joins them.
//!
//! Asked to join sentences itself, a model of 1.5 billion weights mostly copied; on the README's question none of its sentences
//! passed the gates under two prompts, which is all that was tried. So it only names the findings that answer the question.
//! Each is joined with one of another paper on the same matter, and the result has to say what the evidence says, with its
//! numbers and negations, every clause of it in one source, and must not be a copy.

use std::collections::BTreeSet;

use scholar_core::text::words::words;
use scholar_core::{
    AnswerSentence, Citation, Gate, Notice, NoticeKind, PortError, Support, Verdict,
};
use serde_json::json;

use super::assemble::{Digest, quote};
use super::condense::{condensed, joined, lower_words, stands_alone};
use super::config::SynthesisRules;
use super::informative::{is_motivation, is_praise};
use super::reply;
use super::score::similarity;
use super::state::DigestState;
use super::terms::{stem_set, stems};
use crate::frame::left_out;
use crate::prompts::DIGEST_SYNTHESIS;

/// Heading of the synthesis.
pub(crate) const HEADING: &str = super::assemble::SHORT;
/// Most sources of one sentence.
const MAX_SOURCES: usize = 3;
/// Share of a source's words in the same order from which a sentence is a copy of it.
const COPY: f32 = 0.85;
/// Share of a clause's stems that one source must have.
const CLAUSE_SHARE: f32 = 0.8;
/// Fewest sources worth a synthesis.
const FEWEST_SOURCES: usize = 2;
/// Most findings the model chooses.
const MAX_CHOSEN: usize = 5;
/// For a partner the model chose too, and for one of the same part.
const PARTNER_BONUS: f32 = 0.1;
/// Similarity from which two findings are one, which needs no joining.
const ONE_FINDING: f32 = 0.85;

/// A sentence shown to the model.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Its number in the prompt, from 1.
    pub(crate) number: usize,
    /// Which of the scored sentences.
    pub(crate) at: usize,
    /// Its reference.
    pub(crate) citation: Citation,
    /// Its text.
    pub(crate) text: String,
    /// Its claim, as the model reads it.
    pub(crate) claim: String,
}

/// Why a sentence was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Dropped {
    /// Not a sentence.
    Form,
    /// Content words no source has.
    Words,
    /// Numbers no source has.
    Numbers,
    /// Negated where the sources are not, or the other way round.
    Negation,
    /// A clause mixes sources.
    Mixed,
    /// A copy of one source, or of a sentence before.
    Copy,
    /// The attributor does not find it supported.
    Unsupported,
}

/// What the model is shown of a digest.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Numbered findings, one a line.
    pub(crate) lines: String,
    /// The same as data.
    pub(crate) sources: Vec<Source>,
}

/// The digest's best findings that can be understood alone and fit the prompt, in the digest's order, and their numbered lines.
pub(crate) fn sources(state: &DigestState<'_>, digest: &Digest, max_tokens: usize) -> Shown {
    let Some(generator) = &state.frame.ports.generator else { return Shown::default() };
    let fixed: usize = DIGEST_SYNTHESIS
        .render(false, &[("question", state.frame.question.as_str()), ("evidence", "")])
        .iter()
        .map(|message| generator.count_tokens(&message.content))
        .sum();
    // Roles and markers of the chat template.
    let mut room = max_tokens.saturating_sub(fixed + 48);
    let quoted = |nth: &usize| digest.origins[*nth].is_some();
    let mut by_score: Vec<usize> = (0..digest.origins.len()).filter(quoted).collect();
    by_score.sort_by_key(|nth| digest.origins[*nth]);
    let mut kept: Vec<usize> = Vec::new();
    for nth in by_score {
        let text = &digest.sentences[nth].text;
        if !stands_alone(&condensed(text)) || is_motivation(text) || is_praise(text) {
            continue;
        }
        let cost = generator.count_tokens(&condensed(text)) + 6;
        if cost > room {
            break;
        }
        room -= cost;
        kept.push(nth);
    }
    kept.sort_unstable();
    let sources: Vec<Source> = kept
        .into_iter()
        .enumerate()
        .filter_map(|(number, nth)| {
            let citation = *digest.sentences[nth].citations.first()?;
            let text = digest.sentences[nth].text.clone();
            let claim = condensed(&text);
            Some(Source { number: number + 1, at: digest.origins[nth]?, citation, text, claim })
        })
        .collect();
    let lines: Vec<String> =
        sources.iter().map(|source| format!("[{}] {}", source.number, source.claim)).collect();
    Shown { lines: lines.join("\n"), sources }
}

/// A sentence and the numbers of its sources.
struct Written {
    text: String,
    evidence: Vec<usize>,
}

/// The sentences that passed, and a notice if the model could not be asked or understood.
pub(crate) async fn write(
    state: &DigestState<'_>,
    shown: &Shown,
    rules: &SynthesisRules,
) -> (Vec<AnswerSentence>, Option<Notice>) {
    let Shown { lines, sources } = shown;
    let SynthesisRules {
        max_sentences,
        max_prompt_tokens: _,
        max_reply_tokens,
        min_support,
        min_similarity,
    } = rules;
    if state.frame.ports.generator.is_none() || sources.len() < FEWEST_SOURCES {
        return (Vec::new(), None);
    }
    let numbers: Vec<usize> = sources.iter().map(|source| source.number).collect();
    let schema = json!({
        "type": "object",
        "properties": {"findings": {
            "type": "array", "minItems": FEWEST_SOURCES, "maxItems": MAX_CHOSEN.min(sources.len()),
            "items": {"type": "integer", "enum": numbers}
        }},
        "required": ["findings"],
        "additionalProperties": false
    });
    let values = [("question", state.frame.question.as_str()), ("evidence", lines.as_str())];
    let called =
        state.frame.call_json("synthesis", DIGEST_SYNTHESIS, &values, schema, *max_reply_tokens);
    let reply = match called.await {
        Ok(reply) => reply,
        Err(error) => return (Vec::new(), Some(left_out("the synthesis", &error))),
    };
    let Some(wanted) = reply::numbers(&reply.text, "findings") else {
        let message = "the model's choice of findings could not be read: no synthesis";
        return (Vec::new(), Some(Notice::new(NoticeKind::ModelReply, message)));
    };
    let mut kept: Vec<AnswerSentence> = Vec::new();
    for written in
        pairs(state, &chosen(sources, &wanted), *min_similarity).into_iter().take(*max_sentences)
    {
        match check(state, &written, sources, &kept, *min_support).await {
            Ok(Ok(sentence)) => kept.push(sentence),
            // What cannot be proven is left out: nothing of the model's was changed or lost.
            Ok(Err(_)) => {}
            Err(error) => return (kept, Some(left_out("the rest of the synthesis", &error))),
        }
    }
    (kept, None)
}

/// The wanted sources in that order, each once, then the others in theirs: a partner may be missing.
fn chosen<'a>(sources: &'a [Source], wanted: &[usize]) -> Vec<(&'a Source, bool)> {
    let mut found: Vec<(&Source, bool)> = Vec::new();
    let named = wanted.iter().filter_map(|n| sources.iter().find(|source| source.number == *n));
    let named = named.map(|source| (source, true));
    for (source, by_model) in named.chain(sources.iter().map(|source| (source, false))) {
        if !found.iter().any(|(other, _)| other.number == source.number) {
            found.push((source, by_model));
        }
    }
    found
}

/// The findings the model chose, each with the one of another paper that is most like it, the model's own choices first.
fn pairs(state: &DigestState<'_>, chosen: &[(&Source, bool)], min_similarity: f32) -> Vec<Written> {
    let mut free = chosen.to_vec();
    let texts = state.evidence.iter().map(|ranked| ranked.retrieved.passage.text.as_str());
    let lower = lower_words(texts);
    let mut found = Vec::new();
    while let Some((first, true)) = (!free.is_empty()).then(|| free.remove(0)) {
        let fit = |(other, by_model): &(&Source, bool)| {
            let alike = similarity(&state.scored[first.at], &state.scored[other.at]);
            let slot = |at: usize| state.chosen.iter().find(|line| line.at == at).map(|l| l.slot);
            let together = slot(first.at) == slot(other.at);
            let bonus = [*by_model, together].into_iter().filter(|is| *is).count() as f32;
            (other.citation != first.citation && (min_similarity..ONE_FINDING).contains(&alike))
                .then_some(alike + bonus * PARTNER_BONUS)
        };
        let best = (0..free.len())
            .filter_map(|nth| Some((fit(&free[nth])?, nth)))
            .max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| b.1.cmp(&a.1)));
        let Some((_, nth)) = best else { continue };
        let (second, _) = free.remove(nth);
        let text = joined(&first.claim, &second.claim, &lower);
        found.push(Written { text, evidence: vec![first.number, second.number] });
    }
    found
}

async fn check(
    state: &DigestState<'_>,
    written: &Written,
    sources: &[Source],
    kept: &[AnswerSentence],
    min_support: f32,
) -> Result<Result<AnswerSentence, Dropped>, PortError> {
    let text = written.text.clone();
    if kept.iter().any(|before| same_words(&before.text, &text) >= COPY) {
        return Ok(Err(Dropped::Copy));
    }
    let named: Vec<&Source> =
        sources.iter().filter(|source| written.evidence.contains(&source.number)).collect();
    // Only the findings it was made of: a third paper that happens to have its words has not been read for it.
    let from = best_sources(&text, &named);
    if let Err(reason) = gates(&text, &texts(&from)) {
        return Ok(Err(reason));
    }
    // A copy of a sentence that is shown below says nothing new, whichever sources were named.
    if sources.iter().any(|source| is_copy(&text, &source.text)) {
        return Ok(Err(Dropped::Copy));
    }
    let evidence = texts(&from).join(" ");
    let judged = state.frame.ports.attributor.judge(&[(text.as_str(), evidence.as_str())]).await?;
    let Some(judgement) = judged.first() else { return Ok(Err(Dropped::Unsupported)) };
    if judgement.verdict != Verdict::Supported || judgement.score < min_support {
        return Ok(Err(Dropped::Unsupported));
    }
    let mut citations: Vec<Citation> = from.iter().map(|source| source.citation).collect();
    citations.dedup();
    Ok(Ok(AnswerSentence {
        text,
        heading: Some(HEADING.to_owned()),
        paragraph_start: kept.is_empty(),
        citations,
        support: Some(Support {
            verdict: judgement.verdict,
            score: judgement.score,
            judge: state.frame.ports.attributor.name().to_owned(),
        }),
        quotes: from.iter().map(|source| quote(state, source.at, source.citation)).collect(),
        gates: vec![Gate::L0, Gate::L1, Gate::L2],
        verbatim: false,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    }))
}

fn texts<'a>(sources: &[&'a Source]) -> Vec<&'a str> {
    sources.iter().map(|source| source.text.as_str()).collect()
}

/// At most three sources, each the one that adds most of the sentence's stems.
fn best_sources<'a>(text: &str, sources: &[&'a Source]) -> Vec<&'a Source> {
    let mut open = stem_set(text);
    let mut from: Vec<&Source> = Vec::new();
    while from.len() < MAX_SOURCES && !open.is_empty() {
        let gain = |source: &Source| stem_set(&source.text).intersection(&open).count();
        // Of equals the first: max_by_key returns the last.
        let best = sources.iter().copied().rev().max_by_key(|source| gain(source));
        let Some(best) = best.filter(|best| gain(best) > 0) else { break };
        let has = stem_set(&best.text);
        open.retain(|stem| !has.contains(stem));
        from.push(best);
    }
    from.sort_by_key(|source| source.number);
    from
}

/// The gates that need no judge, in order.
pub(crate) fn gates(text: &str, sources: &[&str]) -> Result<(), Dropped> {
    let n_words = words(text).len();
    let whole = super::filter::begins_sentence(text)
        && text.ends_with('.')
        && scholar_core::text::sentences::sentences(text).len() == 1;
    if sources.is_empty() || !(5..=65).contains(&n_words) || !whole {
        return Err(Dropped::Form);
    }
    let sets: Vec<BTreeSet<String>> = sources.iter().map(|source| stem_set(source)).collect();
    let known: BTreeSet<&String> = sets.iter().flatten().collect();
    if stems(text).iter().any(|stem| !known.contains(stem) && !is_glue(stem)) {
        return Err(Dropped::Words);
    }
    let source_numbers: BTreeSet<String> =
        sources.iter().flat_map(|source| numbers(source)).collect();
    if numbers(text).iter().any(|number| !source_numbers.contains(number)) {
        return Err(Dropped::Numbers);
    }
    let mixes = clauses(text).into_iter().any(|clause| {
        let wanted: Vec<String> = stems(clause).into_iter().filter(|stem| !is_glue(stem)).collect();
        let share = |set: &BTreeSet<String>| {
            let n = wanted.iter().filter(|stem| set.contains(*stem)).count();
            n as f32 >= CLAUSE_SHARE * wanted.len() as f32
        };
        !wanted.is_empty() && !sets.iter().any(share)
    });
    if mixes {
        return Err(Dropped::Mixed);
    }
    let negated = |text: &str| words(text).into_iter().any(is_negation);
    if negated(text) != sources.iter().any(|source| negated(source)) {
        return Err(Dropped::Negation);
    }
    Ok(())
}

/// Words that join without saying anything; negations have a gate of their own.
fn is_glue(stem: &str) -> bool {
    matches!(
        stem,
        "both"
            | "overal"
            | "addit"
            | "additionally"
            | "similar"
            | "includ"
            | "contrast"
            | "respect"
            | "not"
            | "no"
            // `One paper proposes …`
            | "propos"
            | "introduc"
            | "present"
            | "develop"
            | "design"
    )
}

fn is_negation(word: &str) -> bool {
    let word = word.to_lowercase();
    matches!(
        word.as_str(),
        "no" | "not"
            | "without"
            | "neither"
            | "nor"
            | "cannot"
            | "never"
            | "fail"
            | "fails"
            | "failed"
            | "lack"
            | "lacks"
    ) || word.ends_with("n't")
        || word.ends_with("n’t")
}

/// Numbers as written, a percent sign included.
fn numbers(text: &str) -> BTreeSet<String> {
    text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | ',' | '%')))
        .filter(|token| token.chars().any(|c| c.is_ascii_digit()))
        .map(|token| token.trim_matches(['.', ',']).to_owned())
        .collect()
}

/// Pieces between commas, semicolons and joining words.
fn clauses(text: &str) -> Vec<&str> {
    let mut pieces = vec![text];
    for seam in [", ", "; ", " and ", " while ", " whereas ", " but ", " although ", " or "] {
        pieces = pieces.into_iter().flat_map(|piece| piece.split(seam)).collect();
    }
    pieces
}

/// Whether `text` repeats most of `source` word for word.
fn is_copy(text: &str, source: &str) -> bool {
    let (mine, theirs) = (words(text).len() as f32, words(source).len() as f32);
    same_words(text, source) >= COPY && mine >= 0.7 * theirs
}

/// Length of the longest common subsequence of words, against the words of `text`.
fn same_words(text: &str, other: &str) -> f32 {
    let fold =
        |text: &str| -> Vec<String> { words(text).into_iter().map(str::to_lowercase).collect() };
    let (a, b) = (fold(text), fold(other));
    let mut row = vec![0_usize; b.len() + 1];
    for x in &a {
        let mut diagonal = 0;
        for (nth, y) in b.iter().enumerate() {
            let above = row[nth + 1];
            row[nth + 1] = if x == y { diagonal + 1 } else { above.max(row[nth]) };
            diagonal = above;
        }
    }
    row[b.len()] as f32 / a.len().max(1) as f32
}

#[cfg(test)]
mod tests;
