//! The three gates, sentence by sentence.
//!
//! Steps of [`prove`]: evidence windows of all cited passages are selected (L1) and judged in one batch (L2); then each
//! sentence in order keeps what passed, or goes through the configured remedies. L0 is the registry: a number it does
//! not have is removed and never guessed. Everything that changes is a notice.

use scholar_core::text::locate;
use scholar_core::{
    CharSpan, Gate, Judgement, Notice, NoticeKind, PortError, Query, Ranked, RerankScore,
    Retrieved, SearchRequest, Support, Verdict,
};

use super::config::{JudgeFailure, ProofConfig, Remedy, UncitedRule};
use super::draft::{DraftSentence, makes_claim, quotations};
use super::select::{evidence_scores, evidence_window, window_text};
use super::sentence::{Fate, LocatedQuote, ProofCounts, Proven, ProvenSentence};
use crate::event::{Event, Observer};
use crate::evidence::{EvidenceNumber, EvidenceRegistry};
use crate::world::Ports;

/// Name of the judgement on a sentence that is its source's own words.
pub const VERBATIM_JUDGE: &str = "verbatim/1";
/// What a weakened sentence says of itself.
pub const WEAKENED_SUFFIX: &str = "(unverified: no passage found that supports this)";
/// What a weakened sentence says when its own source speaks against it.
pub const DISPUTED_SUFFIX: &str = "(disputed: the cited passage says otherwise)";

/// Proves `draft` against the shown passages; passages found by [`Remedy::Reretrieve`] join the registry.
///
/// # Errors
/// When the encoder fails, or the judge with [`JudgeFailure::Fail`]. A failed search is a notice.
pub async fn prove(
    ports: &Ports,
    registry: &mut EvidenceRegistry,
    draft: &[DraftSentence],
    config: &ProofConfig,
    observer: &dyn Observer,
) -> Result<Proven, PortError> {
    let mut prover = Prover {
        ports,
        registry,
        config,
        observer,
        notices: Vec::new(),
        counts: ProofCounts::default(),
        judge_works: true,
        searches: 0,
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
    observer.on_event(&Event::Verified { kept, reattributed, weakened, dropped });
    Ok(Proven { sentences, notices: prover.notices, counts: prover.counts })
}

/// One passage tried as evidence for one sentence.
#[derive(Debug, Clone)]
struct Trial {
    number: EvidenceNumber,
    quotes: Vec<LocatedQuote>,
    evidence: String,
    judgement: Option<Judgement>,
}

struct Prover<'a> {
    ports: &'a Ports,
    registry: &'a mut EvidenceRegistry,
    config: &'a ProofConfig,
    observer: &'a dyn Observer,
    notices: Vec<Notice>,
    counts: ProofCounts,
    judge_works: bool,
    searches: usize,
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
                for number in numbers {
                    trials.extend(self.trial(&sentence.text, *number)?);
                }
            }
            all.push(trials);
        }
        let texts: Vec<&str> = draft.iter().map(|sentence| sentence.text.as_str()).collect();
        self.judge(&texts, &mut all).await?;
        Ok(all)
    }

    /// Gate L1: the window of a passage, and any quotation the sentence makes, as exact spans. `None` when the passage
    /// shares nothing with the sentence or a quotation is not in it.
    fn trial(&self, text: &str, number: EvidenceNumber) -> Result<Option<Trial>, PortError> {
        let Some(shown) = self.registry.get(number) else { return Ok(None) };
        let passage = shown.ranked.retrieved.passage.text.as_str();
        let encoder = self.ports.encoder.as_deref();
        let window = evidence_window(text, passage, encoder)?;
        if window.is_empty() {
            return Ok(None);
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
        Ok(Some(Trial { number, quotes, evidence: window_text(passage, &window), judgement: None }))
    }

    /// Gate L2, for the trials of each sentence; one call of the judge.
    async fn judge(&mut self, texts: &[&str], trials: &mut [Vec<Trial>]) -> Result<(), PortError> {
        let pairs: Vec<(&str, &str)> = texts
            .iter()
            .zip(trials.iter())
            .flat_map(|(text, trials)| trials.iter().map(|trial| (*text, trial.evidence.as_str())))
            .collect();
        let judgements = self.ask_judge(&pairs).await?;
        let mut judgements = judgements.into_iter();
        for trial in trials.iter_mut().flatten() {
            trial.judgement = judgements.next();
        }
        Ok(())
    }

    /// Judgements in order; empty once the judge has failed and that is allowed.
    async fn ask_judge(&mut self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        if pairs.is_empty() || !self.judge_works {
            return Ok(Vec::new());
        }
        match self.ports.attributor.judge(pairs).await {
            Ok(judgements) => Ok(judgements),
            Err(error) if self.config.judge_failure == JudgeFailure::LeaveUnjudged => {
                self.judge_works = false;
                let judge = self.ports.attributor.name();
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
        let mut support = best_judgement(&passing);
        if passing.is_empty() {
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
        let mut proven = shell(sentence, fate);
        proven.citations = passing.iter().map(|trial| trial.number).collect();
        proven.quotes = quotes_of(&passing);
        proven.support = Some(self.support(judgement));
        proven.gates = vec![Gate::L0, Gate::L1, Gate::L2];
        Ok(Some(proven))
    }

    async fn remedy(
        &mut self,
        sentence: &DraftSentence,
        cited: Vec<EvidenceNumber>,
        trials: Vec<Trial>,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let config = self.config;
        let verdict = best_judgement(&trials);
        for remedy in &config.on_unsupported {
            match remedy {
                Remedy::Reattribute => {
                    if let Some(proven) = self.reattribute(sentence, &cited).await? {
                        return Ok(Some(proven));
                    }
                }
                Remedy::Reretrieve => {
                    if let Some(proven) = self.reretrieve(sentence).await? {
                        return Ok(Some(proven));
                    }
                }
                Remedy::Weaken => {
                    return Ok(Some(self.weaken(sentence, cited, &trials, verdict)));
                }
                Remedy::Drop => {
                    self.counts.dropped += 1;
                    let text = &sentence.text;
                    self.note(
                        NoticeKind::Unproven,
                        format!("no passage supports it, dropped: {text}"),
                    );
                    return Ok(None);
                }
            }
        }
        self.counts.kept += 1;
        let support = verdict.map(|judgement| self.support(judgement));
        Ok(Some(unproven(sentence, cited, &trials, support)))
    }

    /// Another shown passage that passes, the best by word overlap first.
    async fn reattribute(
        &mut self,
        sentence: &DraftSentence,
        except: &[EvidenceNumber],
    ) -> Result<Option<ProvenSentence>, PortError> {
        let others: Vec<(EvidenceNumber, &str)> = self
            .registry
            .items()
            .iter()
            .filter(|shown| !except.contains(&shown.number))
            .map(|shown| (shown.number, shown.ranked.retrieved.passage.text.as_str()))
            .collect();
        let texts: Vec<&str> = others.iter().map(|(_, text)| *text).collect();
        let scores = best_sentence_scores(&sentence.text, &texts)?;
        let mut order: Vec<usize> = (0..others.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        let numbers: Vec<EvidenceNumber> = order
            .into_iter()
            .take(self.config.reattribute_candidates)
            .map(|n| others[n].0)
            .collect();
        self.try_numbers(sentence, &numbers, "another shown passage").await
    }

    /// A new passage that passes.
    async fn reretrieve(
        &mut self,
        sentence: &DraftSentence,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let Some(query) = Query::new(&sentence.text) else { return Ok(None) };
        if self.searches >= self.config.reretrieve_sentences {
            return Ok(None);
        }
        self.searches += 1;
        let request = SearchRequest {
            query: query.clone(),
            top_k: self.config.reretrieve_top_k,
            mode: self.config.search_mode,
            filter: self.config.filter.clone(),
        };
        let source = self.ports.retriever.name().to_owned();
        let found = match self.ports.retriever.search(&request).await {
            Ok(found) => found,
            Err(error) => {
                self.note(
                    NoticeKind::Skipped,
                    format!("no search for an unproven sentence, {source} failed: {error}"),
                );
                return Ok(None);
            }
        };
        self.observer.on_event(&Event::Searched { query, source, hits: found.len() });
        let new: Vec<Retrieved> = found
            .into_iter()
            .filter(|hit| {
                let id = &hit.passage.id;
                self.registry.items().iter().all(|shown| &shown.ranked.retrieved.passage.id != id)
            })
            .collect();
        for hit in new {
            // Only a passage that passes gets a number, so it is tried in a registry of its own.
            let mut alone = EvidenceRegistry::new();
            let Some(ranked) = ranked(hit) else { continue };
            let number = alone.add(ranked.clone());
            let passes = self.passes_alone(sentence, &mut alone, number).await?;
            if passes {
                let number = self.registry.add(ranked);
                return self.try_numbers(sentence, &[number], "a passage searched for it").await;
            }
        }
        Ok(None)
    }

    async fn passes_alone(
        &mut self,
        sentence: &DraftSentence,
        alone: &mut EvidenceRegistry,
        number: EvidenceNumber,
    ) -> Result<bool, PortError> {
        std::mem::swap(self.registry, alone);
        let trial = self.trial(&sentence.text, number);
        std::mem::swap(self.registry, alone);
        let Some(trial) = trial? else { return Ok(false) };
        let judged = self.ask_judge(&[(sentence.text.as_str(), trial.evidence.as_str())]).await?;
        Ok(judged.first().is_some_and(|j| self.config.accepts(j.verdict, j.score)))
    }

    async fn try_numbers(
        &mut self,
        sentence: &DraftSentence,
        numbers: &[EvidenceNumber],
        whence: &str,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let mut trials = Vec::new();
        for number in numbers {
            trials.extend(self.trial(&sentence.text, *number)?);
        }
        let mut batch = [trials];
        self.judge(&[sentence.text.as_str()], &mut batch).await?;
        let [mut trials] = batch;
        trials.retain(|t| t.judgement.is_some_and(|j| self.config.accepts(j.verdict, j.score)));
        trials.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.number.cmp(&b.number)));
        trials.truncate(1);
        let proven = self.passed(sentence, &trials, Fate::Reattributed).await?;
        if proven.is_some() {
            self.counts.reattributed += 1;
            let text = &sentence.text;
            self.note(NoticeKind::Unproven, format!("cited anew, to {whence}: {text}"));
        }
        Ok(proven)
    }

    fn weaken(
        &mut self,
        sentence: &DraftSentence,
        cited: Vec<EvidenceNumber>,
        trials: &[Trial],
        verdict: Option<Judgement>,
    ) -> ProvenSentence {
        self.counts.weakened += 1;
        let support = verdict.map(|judgement| self.support(judgement));
        let disputed = verdict.is_some_and(|j| j.verdict == Verdict::Contradicted);
        let partly = verdict.is_some_and(|j| j.verdict == Verdict::Partial);
        // A partial or opposing source is worth reading and stays cited; one that does not speak of it is not.
        let mut proven = if disputed || partly {
            unproven(sentence, cited, trials, support)
        } else {
            let mut bare = shell(sentence, Fate::Weakened);
            bare.support = support;
            bare
        };
        proven.fate = Fate::Weakened;
        let suffix = match (disputed, partly) {
            (true, _) => DISPUTED_SUFFIX,
            (_, true) => PARTIAL_SUFFIX,
            _ => WEAKENED_SUFFIX,
        };
        let bare = sentence.text.trim_end();
        let (body, stop) = match bare.strip_suffix('.') {
            Some(body) => (body, "."),
            None => (bare, ""),
        };
        proven.text = format!("{body} {suffix}{stop}");
        self.note(NoticeKind::Unproven, format!("shown as unproven: {}", sentence.text));
        proven
    }

    fn support(&self, judgement: Judgement) -> Support {
        let Judgement { verdict, score } = judgement;
        Support { verdict, score, judge: self.ports.attributor.name().to_owned() }
    }

    fn note(&mut self, kind: NoticeKind, message: String) {
        self.tell(Notice::new(kind, message));
    }

    fn tell(&mut self, notice: Notice) {
        self.observer.on_event(&Event::Noticed { notice: notice.clone() });
        self.notices.push(notice);
    }
}

/// What a weakened sentence says when its source supports a part of it.
pub const PARTIAL_SUFFIX: &str = "(partly supported by the cited passage)";

fn score(trial: &Trial) -> f32 {
    trial.judgement.map_or(0.0, |judgement| judgement.score)
}

/// The highest score; an opposing verdict only where nothing else was said.
fn best_judgement(trials: &[Trial]) -> Option<Judgement> {
    let rank = |judgement: &Judgement| match judgement.verdict {
        Verdict::Supported => 3,
        Verdict::Partial => 2,
        Verdict::Contradicted => 1,
        Verdict::Unsupported => 0,
    };
    trials
        .iter()
        .filter_map(|trial| trial.judgement)
        .max_by(|a, b| rank(a).cmp(&rank(b)).then(a.score.total_cmp(&b.score)))
}

fn best_sentence_scores(text: &str, passages: &[&str]) -> Result<Vec<f32>, PortError> {
    passages
        .iter()
        .map(|passage| {
            let sentences = scholar_core::text::sentences::sentence_texts(passage);
            let scores = evidence_scores(text, &sentences, None)?;
            Ok(scores.into_iter().fold(0.0, f32::max))
        })
        .collect()
}

fn quote_at(number: EvidenceNumber, passage: &str, span: CharSpan) -> Option<LocatedQuote> {
    let text = span.slice(passage)?.to_owned();
    Some(LocatedQuote { evidence: number, span, text })
}

/// Quotations of the trials, best judged first, each place once.
fn quotes_of(trials: &[Trial]) -> Vec<LocatedQuote> {
    let mut order: Vec<&Trial> = trials.iter().collect();
    order.sort_by(|a, b| score(b).total_cmp(&score(a)));
    let mut quotes: Vec<LocatedQuote> = Vec::new();
    for quote in order.into_iter().flat_map(|trial| &trial.quotes) {
        if !quotes.contains(quote) {
            quotes.push(quote.clone());
        }
    }
    quotes
}

fn shell(sentence: &DraftSentence, fate: Fate) -> ProvenSentence {
    let DraftSentence { text, heading, paragraph_start, evidence: _, verbatim } = sentence;
    ProvenSentence {
        text: text.clone(),
        heading: heading.clone(),
        paragraph_start: *paragraph_start,
        verbatim: *verbatim,
        citations: Vec::new(),
        quotes: Vec::new(),
        support: None,
        gates: Vec::new(),
        fate,
    }
}

/// The sentence with all its existing citations and whatever was located, but not judged to be supported.
fn unproven(
    sentence: &DraftSentence,
    cited: Vec<EvidenceNumber>,
    trials: &[Trial],
    support: Option<Support>,
) -> ProvenSentence {
    let mut proven = shell(sentence, Fate::Unproven);
    if !cited.is_empty() {
        proven.gates.push(Gate::L0);
    }
    proven.citations = cited;
    proven.quotes = quotes_of(trials);
    if !proven.quotes.is_empty() {
        proven.gates.push(Gate::L1);
    }
    proven.support = support;
    proven
}

/// A passage found for a sentence, ranked by its retrieval score.
fn ranked(retrieved: Retrieved) -> Option<Ranked> {
    let score = RerankScore::new(retrieved.score.value()).ok()?;
    let explanation = scholar_core::Explanation::new(
        score.value(),
        "found for a sentence under proof; its retrieval score",
    )
    .with(retrieved.explanation.clone());
    Some(Ranked { retrieved, score, explanation })
}

#[cfg(test)]
mod tests;
