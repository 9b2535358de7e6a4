//! The three gates, sentence by sentence.
//!
//! Steps of [`prove`]: evidence windows of all cited passages are selected (L1) and judged in one batch (L2); then each
//! sentence in order keeps what passed, or goes through the configured remedies. L0 is the registry: a number it does
//! not have is removed and never guessed. A sentence passes L2 only if the checks of its [content](super::content) miss
//! nothing in the passages that it then cites, their titles and abstracts. Everything that changes is a notice.

mod content;
mod remedies;
mod trials;

use std::collections::HashMap;

use scholar_core::text::locate;
use scholar_core::text::sentences::sentence_texts;
use scholar_core::{
    CharSpan, Gate, Judgement, Notice, NoticeKind, PaperId, PortError, Support, Verdict,
};

use super::config::{JudgeFailure, ProofConfig, UncitedRule};
use super::draft::{DraftSentence, makes_claim, quotations};
use super::select::{
    EvidenceSentence, covering_window, evidence_window, window_by_scores, window_text,
    window_with_neighbours,
};
use super::sentence::{Fate, LocatedQuote, ProofCounts, Proven, ProvenSentence};
use crate::event::Event;
use crate::evidence::{EvidenceNumber, EvidenceRegistry};
use crate::frame::Frame;
use trials::{Trial, best_judgement, quote_at, quotes_of, shell, unproven};

pub use content::believed;
pub(crate) use remedies::ranked;

/// Longest passage that a judge who reads more is shown whole, in words: stored passages have 256.
const LONGEST_READ: usize = 400;

/// Name of the judgement on a sentence that is its source's own words.
pub const VERBATIM_JUDGE: &str = "verbatim/1";

/// Proves `draft` against the shown passages, as `frame.config.proof` says; passages found by
/// [`Remedy::Reretrieve`](super::config::Remedy::Reretrieve) join the registry.
///
/// # Errors
/// When the encoder fails, or the judge with [`JudgeFailure::Fail`]. A failed search is a notice.
pub async fn prove(
    frame: &Frame<'_>,
    registry: &mut EvidenceRegistry,
    draft: &[DraftSentence],
) -> Result<Proven, PortError> {
    let mut prover = Prover {
        frame,
        registry,
        config: &frame.config.proof,
        notices: Vec::new(),
        counts: ProofCounts::default(),
        judge_works: true,
        searches: 0,
        abstracts: HashMap::new(),
    };
    let mut claims = Vec::with_capacity(draft.len());
    for sentence in draft {
        claims.push(prover.existing(sentence));
    }
    let trials = prover.first_trials(draft, &claims).await?;
    let mut sentences = Vec::with_capacity(draft.len());
    for ((sentence, cited), trials) in draft.iter().zip(claims).zip(trials) {
        if let Some(proven) = prover.settle(sentence, cited, trials).await? {
            sentences.push(proven);
        }
    }
    let ProofCounts { kept, reattributed, weakened, dropped } = prover.counts;
    frame.emit(&Event::Verified { kept, reattributed, weakened, dropped });
    Ok(Proven { sentences, notices: prover.notices, counts: prover.counts })
}

struct Prover<'a> {
    frame: &'a Frame<'a>,
    registry: &'a mut EvidenceRegistry,
    config: &'a ProofConfig,
    notices: Vec<Notice>,
    counts: ProofCounts,
    judge_works: bool,
    searches: usize,
    /// Abstracts of cited papers, once asked for; `None` where the datastore has none.
    abstracts: HashMap<PaperId, Option<String>>,
}

impl Prover<'_> {
    /// Gate L0: the cited numbers that exist.
    fn existing(&mut self, sentence: &DraftSentence) -> Vec<EvidenceNumber> {
        let (known, unknown): (Vec<_>, Vec<_>) =
            sentence.evidence.iter().partition(|number| self.registry.get(**number).is_some());
        if !unknown.is_empty() {
            let list: Vec<String> = unknown.iter().map(ToString::to_string).collect();
            let text = &sentence.text;
            self.note(
                NoticeKind::ModelReply,
                format!("citation {} does not exist and was removed from: {text}", list.join("")),
            );
        }
        known
    }

    /// Windows and judgements of everything the draft cites, judged in one batch.
    async fn first_trials(
        &mut self,
        draft: &[DraftSentence],
        cited: &[Vec<EvidenceNumber>],
    ) -> Result<Vec<Vec<Trial>>, PortError> {
        let mut all: Vec<Vec<Trial>> = Vec::with_capacity(draft.len());
        for (sentence, numbers) in draft.iter().zip(cited) {
            let mut trials = Vec::new();
            if !sentence.verbatim {
                for (claim, number) in claims_of(sentence, numbers) {
                    trials.extend(self.trial(claim, number).await?);
                }
            }
            all.push(trials);
        }
        self.judge(&mut all).await?;
        Ok(all)
    }

    /// Gate L1: the window of a passage, and any quotation the sentence makes, as exact spans. `None` when the passage
    /// shares nothing with the sentence or a quotation is not in it.
    async fn trial(&self, text: &str, number: EvidenceNumber) -> Result<Option<Trial>, PortError> {
        let Some(shown) = self.registry.get(number) else { return Ok(None) };
        let passage = &shown.ranked.retrieved.passage;
        // A table, a caption or an entry of a list says nothing that could be quoted as the authors' sentence.
        if !passage.kind.is_prose() {
            return Ok(None);
        }
        let passage = passage.text.as_str();
        let reads = self.frame.ports.attributor.finds_contradictions();
        let mut window = self.window(text, passage).await?;
        if window.is_empty() {
            return Ok(None);
        }
        if reads {
            window = covering_window(text, &shown.ranked.retrieved.passage.title, passage, window);
        }
        let mut by_score = window.clone();
        by_score.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut quotes: Vec<LocatedQuote> = Vec::new();
        for quotation in quotations(text) {
            let Some(span) = locate(quotation, passage) else { return Ok(None) };
            quotes.extend(quote_at(number, passage, span));
        }
        for one in by_score {
            let span = CharSpan::of_bytes(passage, one.range.start, one.range.end);
            quotes.extend(quote_at(number, passage, span));
        }
        let evidence = if reads {
            // A judge that reads more is shown whose text it is and all of the passage: who was studied stands at its
            // beginning, what was found at its end.
            let title = shown.ranked.retrieved.passage.title.as_str();
            let whole = passage.split_whitespace().count() <= LONGEST_READ;
            let around = || window_with_neighbours(passage, &window);
            format!("{title}. {}", if whole { passage.to_owned() } else { around() })
        } else {
            window_text(passage, &window)
        };
        Ok(Some(Trial { claim: text.to_owned(), number, quotes, evidence, judgement: None }))
    }

    /// The sentences of a passage that the judge reads: its own choice where it can tell evidence, else that of the words.
    async fn window(&self, text: &str, passage: &str) -> Result<Vec<EvidenceSentence>, PortError> {
        let sentences = sentence_texts(passage);
        match self.frame.ports.attributor.evidence(text, &sentences).await {
            Ok(Some(scores)) => Ok(window_by_scores(passage, &scores)),
            Err(error) if self.config.judge_failure != JudgeFailure::LeaveUnjudged => Err(error),
            // That the judge failed is told when it is asked to judge.
            Ok(None) | Err(_) => {
                evidence_window(text, passage, self.frame.ports.encoder.as_deref())
            }
        }
    }

    /// Gate L2, for the trials of each sentence; one call of the judge.
    async fn judge(&mut self, trials: &mut [Vec<Trial>]) -> Result<(), PortError> {
        let pairs: Vec<(&str, &str)> = trials
            .iter()
            .flatten()
            .map(|trial| (trial.claim.as_str(), trial.evidence.as_str()))
            .collect();
        let judgements = self.ask_judge(&pairs).await?;
        for (trial, judged) in trials.iter_mut().flatten().zip(judgements) {
            trial.judgement = Some(self.second_sign(&trial.claim, trial, judged));
        }
        Ok(())
    }

    /// Judgements in order; empty once the judge has failed and that is allowed.
    async fn ask_judge(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        if pairs.is_empty() || !self.judge_works {
            return Ok(Vec::new());
        }
        match self.frame.ports.attributor.judge(pairs).await {
            Ok(judgements) => {
                for notice in self.frame.ports.attributor.take_notices() {
                    self.tell(notice);
                }
                Ok(judgements)
            }
            Err(error) if self.config.judge_failure == JudgeFailure::LeaveUnjudged => {
                self.judge_works = false;
                let judge = self.frame.ports.attributor.name();
                let mut notice = Notice::new(
                    NoticeKind::Skipped,
                    format!("support was not judged, {judge} failed: {error}"),
                );
                notice.hint = error.hint().map(str::to_owned);
                self.tell(notice);
                Ok(Vec::new())
            }
            Err(error) => Err(error),
        }
    }

    async fn settle(
        &mut self,
        sentence: &DraftSentence,
        cited: Vec<EvidenceNumber>,
        trials: Vec<Trial>,
    ) -> Result<Option<ProvenSentence>, PortError> {
        if sentence.verbatim {
            return Ok(self.settle_verbatim(sentence, &cited));
        }
        if cited.is_empty() {
            return self.settle_uncited(sentence).await;
        }
        if let Some(proven) = self.passed(sentence, &trials, Fate::Kept).await? {
            self.counts.kept += 1;
            let lost = cited.iter().filter(|number| !proven.citations.contains(number)).count();
            if lost > 0 {
                let text = &sentence.text;
                self.note(
                    NoticeKind::Unproven,
                    format!(
                        "{lost} of {} citations do not support and were removed from: {text}",
                        cited.len()
                    ),
                );
            }
            return Ok(Some(proven));
        }
        if !self.judge_works {
            self.counts.kept += 1;
            return Ok(Some(unproven(sentence, cited, &trials, None)));
        }
        self.remedy(sentence, cited, trials).await
    }

    fn settle_verbatim(
        &mut self,
        sentence: &DraftSentence,
        cited: &[EvidenceNumber],
    ) -> Option<ProvenSentence> {
        let located = cited.first().and_then(|number| {
            let passage = &self.registry.get(*number)?.ranked.retrieved.passage.text;
            quote_at(*number, passage, locate(&sentence.text, passage)?)
        });
        let Some(quote) = located else {
            self.counts.dropped += 1;
            let text = &sentence.text;
            self.note(
                NoticeKind::Unproven,
                format!("not found word for word in its source, dropped: {text}"),
            );
            return None;
        };
        self.counts.kept += 1;
        let mut proven = shell(sentence, Fate::Kept);
        proven.citations = cited.to_vec();
        proven.quotes = vec![quote];
        proven.support = Some(Support {
            verdict: Verdict::Supported,
            score: 1.0,
            judge: VERBATIM_JUDGE.to_owned(),
        });
        proven.gates = vec![Gate::L0, Gate::L1, Gate::L2];
        Some(proven)
    }

    async fn settle_uncited(
        &mut self,
        sentence: &DraftSentence,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let rule = self.config.uncited;
        // A sentence whose citations did not exist claimed to have sources, so it is not merely uncited.
        let lost_citations = !sentence.evidence.is_empty();
        if !lost_citations && (rule == UncitedRule::Keep || !makes_claim(&sentence.text)) {
            return Ok(Some(shell(sentence, Fate::Uncited)));
        }
        if lost_citations || rule == UncitedRule::Remedies {
            return self.remedy(sentence, Vec::new(), Vec::new()).await;
        }
        match self.reattribute(sentence, &[]).await? {
            Some(proven) => Ok(Some(proven)),
            None => Ok(Some(shell(sentence, Fate::Uncited))),
        }
    }

    /// The sentence with the citations among `trials` that passed; together if none does alone.
    async fn passed(
        &mut self,
        sentence: &DraftSentence,
        trials: &[Trial],
        fate: Fate,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let accepted = |trial: &&Trial| {
            trial.judgement.is_some_and(|j| self.config.accepts(j.verdict, j.score))
        };
        let mut passing: Vec<Trial> = trials.iter().filter(accepted).cloned().collect();
        let mut support = support_of(sentence, &passing);
        if support.is_none() {
            let parts: Vec<Trial> = trials
                .iter()
                .filter(|t| t.judgement.is_some_and(|j| j.verdict != Verdict::Contradicted))
                .cloned()
                .collect();
            if parts.len() < 2 {
                return Ok(None);
            }
            let texts: Vec<&str> = parts.iter().map(|trial| trial.evidence.as_str()).collect();
            let together = texts.join(" ");
            let joint = self.ask_judge(&[(sentence.text.as_str(), together.as_str())]).await?;
            let joint = joint.first().copied().filter(|j| self.config.accepts(j.verdict, j.score));
            if joint.is_none() {
                return Ok(None);
            }
            support = joint;
            passing = parts;
        }
        let Some(judgement) = support else { return Ok(None) };
        let mut numbers: Vec<EvidenceNumber> = Vec::new();
        for trial in &passing {
            if !numbers.contains(&trial.number) {
                numbers.push(trial.number);
            }
        }
        if !self.missing(&sentence.text, &numbers).await.is_empty() {
            return Ok(None);
        }
        let mut proven = shell(sentence, fate);
        proven.citations = numbers;
        proven.quotes = quotes_of(&passing);
        proven.support = Some(self.support(judgement));
        proven.gates = vec![Gate::L0, Gate::L1, Gate::L2];
        Ok(Some(proven))
    }

    fn support(&self, judgement: Judgement) -> Support {
        let Judgement { verdict, score } = judgement;
        Support { verdict, score, judge: self.frame.ports.attributor.name().to_owned() }
    }

    fn note(&mut self, kind: NoticeKind, message: String) {
        self.tell(Notice::new(kind, message));
    }

    fn tell(&mut self, notice: Notice) {
        self.frame.emit(&Event::Noticed { notice: notice.clone() });
        self.notices.push(notice);
    }
}

/// What each of the existing citations `numbers` is to support: the clause that has it, else the sentence.
fn claims_of<'a>(
    sentence: &'a DraftSentence,
    numbers: &[EvidenceNumber],
) -> Vec<(&'a str, EvidenceNumber)> {
    if sentence.clauses.is_empty() {
        return numbers.iter().map(|number| (sentence.text.as_str(), *number)).collect();
    }
    let clauses = sentence.clauses.iter();
    let all = clauses.flat_map(|one| one.evidence.iter().map(|n| (one.text.as_str(), *n)));
    all.filter(|(_, number)| numbers.contains(number)).collect()
}

/// How well the accepted trials support the sentence; `None` where one of its clauses has none.
fn support_of(sentence: &DraftSentence, accepted: &[Trial]) -> Option<Judgement> {
    let of_claim =
        |claim: &str| best_judgement(accepted.iter().filter(|trial| trial.claim == claim));
    let whole = of_claim(&sentence.text);
    if sentence.clauses.is_empty() || whole.is_some() {
        return whole;
    }
    // It is as well supported as the worst of its clauses.
    let judged: Option<Vec<Judgement>> =
        sentence.clauses.iter().map(|clause| of_claim(&clause.text)).collect();
    judged?.into_iter().min_by(|a, b| a.score.total_cmp(&b.score))
}

#[cfg(test)]
mod tests;
