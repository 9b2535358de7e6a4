//! The state of a digest: the evidence that is there, what it is worth, what is chosen.

use std::collections::BTreeMap;

use scholar_core::{PaperId, Passage, PassageId, PassageKind, PortError, Ranked, Retrieved};

use super::abstain::{Diagnosis, diagnose};
use super::candidate::{Candidate, candidates, has_capitals};
use super::config::{EvidenceConfig, PaperRules, SURE};
use super::filter::{begins_sentence, ends_sentence};
use super::lines::{best_line, concludes, last_resort, lines};
use super::papers::{Paper, PaperScoring, nearest, papers, shown};
use super::question::Reading;
use super::score::{Encodings, Scored, Scoring, score};
use super::sentence_signs::SentenceDiagnosis;
use super::slots::{Slot, slot_of, slots};
use super::terms::{Abbreviations, stem_set};
use crate::frame::Frame;

/// Most passages of one paper, those found later included; a paper that is read whole has more.
const PASSAGES_PER_PAPER: usize = 3;
/// Rank given to a passage found later when nobody ranked it.
pub(crate) const LATER_RANK: usize = 15;
/// Least share of the topic's weight in a title that matches the question.
const TITLE_MATCHES: f32 = 0.6;

/// A passage that a check found.
pub(crate) struct Newcomer {
    pub(crate) ranked: Ranked,
    /// How many of the passages that were there before rank above it.
    pub(crate) rank: usize,
}

/// A sentence that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    /// Index into the scored sentences.
    pub(crate) at: usize,
    /// Its part of the answer.
    pub(crate) slot: usize,
}

/// Everything a run works with.
pub(crate) struct DigestState<'a> {
    pub(crate) frame: &'a Frame<'a>,
    /// The question with its typing errors corrected.
    pub(crate) asked: String,
    /// Passages in order of arrival: the given ones best first, then those found by checks.
    pub(crate) evidence: Vec<Ranked>,
    /// The question, read with what the evidence abbreviates.
    pub(crate) reading: Reading,
    /// Sentences, best first.
    pub(crate) scored: Vec<Scored>,
    /// Papers, the most probable first.
    pub(crate) papers: Vec<Paper>,
    /// Parts of the answer.
    pub(crate) slots: Vec<Slot>,
    /// What is shown, in the order of the papers.
    pub(crate) chosen: Vec<Line>,
    ranks: Vec<usize>,
    /// Candidates of each passage: they depend on the question's words, not on what else is there.
    read: Vec<Vec<Candidate>>,
    opens: BTreeMap<PassageId, bool>,
    encodings: Encodings<'a>,
}

impl<'a> DigestState<'a> {
    /// Lays out `evidence`, best first, and chooses; `asked` is the question with its typing errors corrected.
    pub(crate) async fn new(
        frame: &'a Frame<'a>,
        asked: String,
        evidence: Vec<Ranked>,
    ) -> Result<Self, PortError> {
        let encoder = frame.ports.encoder.as_deref();
        let encodings = Encodings::new(encoder, &asked)?;
        let reading = Reading::of(&asked, &Abbreviations::default());
        let mut state = Self {
            frame,
            asked,
            ranks: (0..evidence.len()).collect(),
            evidence,
            slots: slots(&reading),
            reading,
            scored: Vec::new(),
            papers: Vec::new(),
            chosen: Vec::new(),
            read: Vec::new(),
            opens: BTreeMap::new(),
            encodings,
        };
        state.read_on().await;
        state.choose().await?;
        Ok(state)
    }

    /// Reads, scores and chooses anew from all evidence.
    pub(crate) async fn choose(&mut self) -> Result<(), PortError> {
        let texts = self.evidence.iter().map(|ranked| ranked.retrieved.passage.text.as_str());
        let abbreviations = Abbreviations::of_texts(texts.chain([self.asked.as_str()]));
        self.reading = Reading::of(&self.asked, &abbreviations);
        for at in self.read.len()..self.evidence.len() {
            let opens = self.opens(at).await;
            let passage = &self.evidence[at].retrieved.passage;
            let rules = &self.config().sentences;
            let new = candidates(passage, at, opens, rules, &self.reading);
            self.read.push(new);
        }
        // The sentences of the best passages first: they are scored where there are too many.
        let mut order: Vec<usize> = (0..self.read.len()).collect();
        order.sort_by_key(|at| self.ranks[*at]);
        let found: Vec<Candidate> = order.iter().flat_map(|at| self.read[*at].clone()).collect();
        let classifier = self.classifier();
        let scoring = Scoring {
            reading: &self.reading,
            evidence: &self.evidence,
            classifier: classifier.as_deref(),
            max_candidates: self.config().sentences.max_candidates,
        };
        self.scored = score(found, &scoring, &mut self.encodings)?;
        self.slots = slots(&self.reading);
        self.score_papers()?;
        self.choose_lines();
        Ok(())
    }

    /// The sentence classifier, if it reads the encoder's vectors.
    pub(crate) fn classifier(
        &self,
    ) -> Option<std::sync::Arc<dyn scholar_core::SentenceClassifier>> {
        let encoder = self.frame.ports.encoder.as_ref()?;
        let classifier = self.frame.ports.sentence_classifier.as_ref()?;
        classifier.info().fits(encoder.info()).then(|| std::sync::Arc::clone(classifier))
    }

    fn score_papers(&mut self) -> Result<(), PortError> {
        let texts = self.paper_texts();
        self.encodings.add(&texts.values().map(String::as_str).collect::<Vec<_>>())?;
        let abstracts = texts
            .into_iter()
            .filter_map(|(id, text)| Some((id, self.encodings.similarity_of(&text)?)));
        let abstract_similarity: BTreeMap<PaperId, f32> = abstracts.collect();
        let titles = self.evidence.iter().filter_map(|ranked| {
            let passage = &ranked.retrieved.passage;
            Some((passage.id.paper.clone(), self.encodings.similarity_of(&passage.title)?))
        });
        let title_similarity: BTreeMap<PaperId, f32> = titles.collect();
        self.papers = papers(&PaperScoring {
            reading: &self.reading,
            evidence: &self.evidence,
            ranks: &self.ranks,
            scored: &self.scored,
            title_similarity: &title_similarity,
            abstract_similarity: &abstract_similarity,
            evidence_is: self.config().evidence_is,
        });
        Ok(())
    }

    /// What each paper is encoded by: its abstract, title in front, or the passage that ranks first, where none was read.
    fn paper_texts(&self) -> BTreeMap<PaperId, String> {
        let passage = |at: usize| &self.evidence[at].retrieved.passage;
        let mut order: Vec<usize> = (0..self.evidence.len()).collect();
        order.sort_by_key(|at| (passage(*at).kind != PassageKind::Abstract, self.ranks[*at]));
        let mut texts = BTreeMap::new();
        for passage in order.into_iter().map(passage) {
            let id = passage.id.paper.clone();
            texts.entry(id).or_insert_with(|| passage.encoded_text());
        }
        texts
    }

    fn choose_lines(&mut self) {
        let rules = &self.config().lines;
        let n = shown(&self.papers, &self.config().papers);
        self.chosen.clear();
        for paper in &self.papers[..n] {
            let mut of_paper = lines(&self.scored, &paper.members, &self.reading, rules);
            // Of a paper that is very probably right, what is left is shown, too.
            if of_paper.is_empty() && paper.probability >= SURE {
                of_paper.extend(best_line(&self.scored, &paper.members, &self.reading));
            }
            let room = rules.max_sentences - self.chosen.len();
            let slot = |at: usize| slot_of(&self.slots, &self.scored[at].candidate, &self.reading);
            let mut of_paper: Vec<Line> =
                of_paper.into_iter().take(room).map(|at| Line { at, slot: slot(at) }).collect();
            keep_together(&self.slots, &mut of_paper, |at| concludes(&self.scored[at]));
            self.chosen.append(&mut of_paper);
        }
        self.choose_last_resort();
    }

    /// Something of the best paper, where no sentence passes.
    fn choose_last_resort(&mut self) {
        let Some(paper) = self.papers.first().filter(|_| self.chosen.is_empty()) else { return };
        if let Some(at) = last_resort(&self.scored, &paper.members, &self.reading) {
            let slot = slot_of(&self.slots, &self.scored[at].candidate, &self.reading);
            self.chosen.push(Line { at, slot });
        }
    }

    /// Chooses what comes nearest instead, where nothing answers.
    pub(crate) fn choose_nearest(&mut self) {
        let n = nearest(&self.papers, &self.config().papers);
        self.slots = vec![Slot::nearest()];
        self.chosen.clear();
        for paper in &self.papers[..n] {
            let rules = &self.config().lines;
            // Near is also what lacks a word of the question.
            let all: Vec<usize> = self.of_paper(&paper.id).collect();
            let members = if paper.members.is_empty() { &all } else { &paper.members };
            let mut of_paper = lines(&self.scored, members, &self.reading, rules);
            if of_paper.is_empty() {
                of_paper.extend(best_line(&self.scored, members, &self.reading));
            }
            self.chosen.extend(of_paper.into_iter().map(|at| Line { at, slot: 0 }));
        }
    }

    /// Whether some paper is probable enough for an answer.
    pub(crate) fn is_sure(&self) -> bool {
        let best = self.papers.first().map_or(0.0, |paper| paper.probability);
        best >= self.config().abstain_below
    }

    /// Whether a paper is clearly ahead, or near enough to be quoted where none is sure.
    pub(crate) fn is_ahead(&self, paper: &Paper) -> bool {
        let rules = &self.config().papers;
        let n =
            if self.is_sure() { shown(&self.papers, rules) } else { nearest(&self.papers, rules) };
        self.papers[..n].iter().any(|one| one.id == paper.id)
    }

    /// The sentences that a paper is shown with.
    pub(crate) fn lines_of(&self, paper: &Paper) -> Vec<usize> {
        lines(&self.scored, &paper.members, &self.reading, &self.config().lines)
    }

    /// Adds what else of the best papers should be read: abstracts, and all of papers whose title matches the question.
    async fn read_on(&mut self) {
        let PaperRules { abstracts, whole, max_passages, .. } = self.config().papers;
        let mut seen: Vec<usize> = Vec::new();
        for (at, ranked) in self.evidence.iter().enumerate() {
            let id = &ranked.retrieved.passage.id.paper;
            let is_new =
                seen.iter().all(|known| self.evidence[*known].retrieved.passage.id.paper != *id);
            if is_new && seen.len() < abstracts {
                seen.push(at);
            }
        }
        for (nth, at) in seen.into_iter().enumerate() {
            let title = stem_set(&self.evidence[at].retrieved.passage.title);
            let said = self.reading.topic.share(|term| f32::from(u8::from(term.is_in(&title))));
            let last = if nth < whole && said >= TITLE_MATCHES { max_passages } else { 1 };
            self.read_paper(at, last).await;
        }
    }

    /// Adds the passages 0 to `last` of the paper of passage `at`, as far as they are prose and not there.
    async fn read_paper(&mut self, at: usize, last: usize) {
        let found = self.evidence[at].clone();
        for ordinal in 0..last {
            let id = PassageId {
                paper: found.retrieved.passage.id.paper.clone(),
                ordinal: u32::try_from(ordinal).unwrap_or(u32::MAX),
            };
            if self.evidence.iter().any(|known| known.retrieved.passage.id == id) {
                continue;
            }
            // A store that cannot be read costs some sentences, not the answer.
            let Ok(Some((passage, _))) = self.frame.ports.retriever.passage(&id).await else {
                return;
            };
            let alone = last == 1 && passage.kind != PassageKind::Abstract;
            if passage.kind.is_prose() && !alone {
                self.ranks.push(self.ranks[at]);
                self.evidence.push(beside(&found, passage));
            }
        }
    }

    /// Whether the passage's text begins with a sentence of its own: at a section's start, or behind a passage that ends one.
    async fn opens(&mut self, at: usize) -> bool {
        let passage = &self.evidence[at].retrieved.passage;
        if let Some(known) = self.opens.get(&passage.id) {
            return *known;
        }
        let opens = match passage.id.ordinal.checked_sub(1) {
            None => true,
            Some(_) if has_capitals(&passage.text) && !begins_sentence(&passage.text) => false,
            // An excerpt that is all there is of its text.
            Some(_) if passage.span.start == 0 => true,
            Some(ordinal) => {
                let before = PassageId { paper: passage.id.paper.clone(), ordinal };
                // A store that cannot say what stands before costs one sentence, not the answer.
                match self.frame.ports.retriever.passage(&before).await {
                    Ok(Some((before, _))) => {
                        before.section != passage.section || ends_sentence(&before.text)
                    }
                    // Nothing stands before it: an excerpt, which begins as a sentence does.
                    Ok(None) => true,
                    Err(_) => false,
                }
            }
        };
        self.opens.insert(passage.id.clone(), opens);
        opens
    }

    /// Adds passages not yet there, at most three of a paper.
    pub(crate) fn add(&mut self, newcomers: Vec<Newcomer>) {
        for Newcomer { ranked: new, rank } in newcomers {
            let id = &new.retrieved.passage.id;
            let of_paper = self
                .evidence
                .iter()
                .filter(|old| old.retrieved.passage.id.paper == id.paper)
                .count();
            let known = self.evidence.iter().any(|old| old.retrieved.passage.id == *id);
            if known || of_paper >= PASSAGES_PER_PAPER {
                continue;
            }
            self.ranks.push(rank);
            self.evidence.push(new);
        }
    }

    /// What speaks for and against answering.
    pub(crate) fn diagnosis(&self) -> Diagnosis {
        diagnose(&self.papers, &self.scored, &self.evidence, &self.reading)
    }

    /// Sentences of the most probable papers, with what they are chosen by.
    pub(crate) fn sentences(&self) -> Vec<SentenceDiagnosis> {
        let papers = self.papers.iter().take(self.config().papers.max_papers);
        let of_papers = papers.flat_map(|paper| self.of_paper(&paper.id));
        let diagnosis = |at: usize| {
            let scored = &self.scored[at];
            SentenceDiagnosis {
                passage: self.evidence[scored.candidate.passage].retrieved.passage.id.clone(),
                text: scored.candidate.text.clone(),
                signs: scored.signs,
                shown: self.chosen.iter().any(|line| line.at == at),
            }
        };
        of_papers.map(diagnosis).collect()
    }

    /// The abstract of the paper of a sentence, if it was read.
    pub(crate) fn abstract_of(&self, at: usize) -> Option<&Passage> {
        let paper = self.paper(at);
        let passages = self.evidence.iter().map(|ranked| &ranked.retrieved.passage);
        let mut of_paper = passages.filter(|one| one.id.paper == *paper);
        of_paper.find(|one| one.kind == PassageKind::Abstract)
    }

    /// The paper of a sentence.
    pub(crate) fn paper(&self, at: usize) -> &PaperId {
        &self.evidence[self.scored[at].candidate.passage].retrieved.passage.id.paper
    }

    /// The sentences of a paper.
    pub(crate) fn of_paper(&self, id: &PaperId) -> impl Iterator<Item = usize> {
        (0..self.scored.len()).filter(move |at| self.paper(*at) == id)
    }

    /// How the digest is made.
    pub(crate) fn config(&self) -> &'a EvidenceConfig {
        &self.frame.config.evidence
    }
}

/// Moves a paper's conclusion to its result, where only that names a part of the question: `did not improve the outcomes` is
/// said of pain, too, and the result alone may say the contrary.
fn keep_together(slots: &[Slot], of_paper: &mut [Line], concludes: impl Fn(usize) -> bool) {
    let part = of_paper.iter().find(|line| slots[line.slot].is_part()).map(|line| line.slot);
    let first = of_paper.first_mut();
    let stray = first.filter(|one| slots[one.slot].is_rest() && concludes(one.at));
    if let (Some(part), Some(conclusion)) = (part, stray) {
        conclusion.slot = part;
    }
}

/// Another passage of the paper of `found`, which was not searched for itself.
fn beside(found: &Ranked, passage: Passage) -> Ranked {
    let explanation = scholar_core::Explanation::new(
        found.score.value(),
        "read because another passage of its paper was found, whose score it has",
    );
    let explanation = explanation.with(found.explanation.clone());
    let retrieved = Retrieved { passage, ..found.retrieved.clone() };
    Ranked { retrieved, score: found.score, explanation }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conclusion_stands_beside_the_result_that_names_a_part() {
        let question = "Does stimulation of muscles improve walking or pain?";
        let slots = slots(&Reading::of(question, &Abbreviations::default()));
        let rest = slots.len() - 1;
        assert!(slots[1].is_part() && slots[rest].is_rest());
        let placed = |conclusion: usize| {
            let mut of_paper = [Line { at: 7, slot: rest }, Line { at: 8, slot: 1 }];
            keep_together(&slots, &mut of_paper, |at| at == conclusion);
            of_paper.map(|line| line.slot)
        };
        assert_eq!(placed(7), [1, 1], "`did not improve the outcomes` is said of pain, too");
        assert_eq!(placed(9), [rest, 1], "what concludes nothing stays");
        let mut alone = [Line { at: 7, slot: rest }];
        keep_together(&slots, &mut alone, |_| true);
        assert_eq!(alone[0].slot, rest);
    }
}
