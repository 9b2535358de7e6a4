//! What is tried for a sentence that its own citations do not prove.

use scholar_core::{
    Judgement, NoticeKind, PortError, Query, Ranked, RerankScore, Retrieved, Verdict,
};

use super::super::config::Remedy;
use super::super::draft::DraftSentence;
use super::super::select::evidence_scores;
use super::super::sentence::{Fate, ProvenSentence};
use super::Prover;
use super::trials::{Trial, best_judgement, score, shell, unproven};
use crate::event::Event;
use crate::evidence::{EvidenceNumber, EvidenceRegistry};

impl Prover<'_> {
    /// The configured remedies in order, until one helps.
    pub(super) async fn remedy(
        &mut self,
        sentence: &DraftSentence,
        cited: Vec<EvidenceNumber>,
        trials: Vec<Trial>,
    ) -> Result<Option<ProvenSentence>, PortError> {
        let config = self.config;
        let mut verdict = best_judgement(&trials);
        let missing = self.missing(&sentence.text, &cited).await;
        if let Some(judged) = verdict.as_mut().filter(|judged| judged.verdict == Verdict::Supported)
            && !missing.is_empty()
        {
            judged.verdict = Verdict::Partial;
        }
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
                    let weakened = self.weaken(sentence, cited, &trials, verdict);
                    return Ok(Some(ProvenSentence { missing, ..weakened }));
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
        let unproven = unproven(sentence, cited, &trials, support);
        Ok(Some(ProvenSentence { missing, ..unproven }))
    }

    /// Another shown passage that passes, the best by word overlap first.
    pub(super) async fn reattribute(
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
        let retrieval = &self.frame.config.retrieval;
        let request = retrieval.request(&query, self.config.reretrieve_top_k);
        let source = self.frame.ports.retriever.name().to_owned();
        let found = match self.frame.ports.retriever.search(&request).await {
            Ok(found) => found,
            Err(error) => {
                self.note(
                    NoticeKind::SourceDown,
                    format!("no search for an unproven sentence, {source} failed: {error}"),
                );
                return Ok(None);
            }
        };
        self.frame.emit(&Event::Searched { query, source, hits: found.len() });
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
        let trial = self.trial(&sentence.text, number).await;
        let missing = self.missing(&sentence.text, &[number]).await;
        std::mem::swap(self.registry, alone);
        let Some(trial) = trial?.filter(|_| missing.is_empty()) else { return Ok(false) };
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
            trials.extend(self.trial(&sentence.text, *number).await?);
        }
        let mut batch = [trials];
        self.judge(&mut batch).await?;
        let [mut trials] = batch;
        trials.retain(|t| t.judgement.is_some_and(|j| self.config.accepts(j.verdict, j.score)));
        trials.sort_by(|a, b| score(b).total_cmp(&score(a)).then(a.number.cmp(&b.number)));
        let mut passing = Vec::new();
        for trial in trials {
            if passing.is_empty() && self.missing(&sentence.text, &[trial.number]).await.is_empty()
            {
                passing.push(trial);
            }
        }
        let proven = self.passed(sentence, &passing, Fate::Reattributed).await?;
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
        self.note(NoticeKind::Unproven, format!("shown as unproven: {}", sentence.text));
        proven
    }
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

/// A passage found for a sentence, ranked by its retrieval score.
pub(crate) fn ranked(retrieved: Retrieved) -> Option<Ranked> {
    let score = RerankScore::new(retrieved.score.value()).ok()?;
    let explanation = scholar_core::Explanation::new(
        score.value(),
        "found for a sentence under proof; its retrieval score",
    )
    .with(retrieved.explanation.clone());
    Some(Ranked { retrieved, score, explanation })
}
