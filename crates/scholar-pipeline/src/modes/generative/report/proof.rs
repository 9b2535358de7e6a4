//! Findings through the gates, gaps through searches, conclusions against findings; one repair, then the end.

use scholar_core::text::words::content_stems;
use scholar_core::{AnswerRole, Gate, NoticeKind, SectionKind, Verdict};

use super::gaps;
use super::repair::{self, Decision, Doubtful, Item};
use crate::config::AskConfig;
use crate::error::AskError;
use crate::event::{Event, Observer};
use crate::evidence::EvidenceRegistry;
use crate::frame::Frame;
use crate::proof::config::Remedy;
use crate::proof::{DraftSentence, Fate, ProvenSentence, UncitedRule, prove};
use crate::write::parts::{PartSentence, Parts};
use crate::write::roles::{follows_from, role_of};

/// Least share of a sentence's content stems that another has for saying the same. Ours.
const REPEATED: f32 = 0.9;

/// A text whose sentences are decided.
pub(super) struct Proof {
    pub(super) parts: Parts,
    /// By place in `parts.sentences`: what the gates returned for a finding.
    pub(super) proven: Vec<Option<ProvenSentence>>,
    /// By place: the sentence stays.
    pub(super) kept: Vec<bool>,
    /// How many met which end.
    pub(super) tally: Tally,
}

/// What became of sentences that did not pass as they were written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Tally {
    /// Findings, as they were written.
    pub(super) findings: usize,
    /// That passed with their own citations.
    pub(super) passed: usize,
    /// Cited to another passage by the gates.
    pub(super) recited: usize,
    /// Rewritten or cited anew in the repair, and passed then.
    pub(super) repaired: usize,
    /// Taken out.
    pub(super) deleted: usize,
    /// Kept with a mark.
    pub(super) marked: usize,
}

impl Proof {
    /// Decides every sentence of `parts`.
    pub(super) async fn of(
        frame: &Frame<'_>,
        registry: &mut EvidenceRegistry,
        parts: Parts,
    ) -> Result<Self, AskError> {
        let n = parts.sentences.len();
        let mut proof =
            Self { parts, proven: vec![None; n], kept: vec![true; n], tally: Tally::default() };
        let findings = proof.places(AnswerRole::Finding);
        proof.prove(frame, registry, &findings).await?;
        let fates = |fate: Fate| {
            let proven = proof.proven.iter().flatten();
            proven.filter(|one| one.fate == fate && !one.citations.is_empty()).count()
        };
        proof.tally.findings = findings.len();
        (proof.tally.passed, proof.tally.recited) = (fates(Fate::Kept), fates(Fate::Reattributed));
        let doubtful = proof.doubtful(frame, registry).await;
        let decided = if doubtful.is_empty() {
            Vec::new()
        } else {
            repair::ask(frame, registry, &doubtful).await
        };
        let again = proof.apply(&doubtful, &decided);
        proof.prove(frame, registry, &again).await?;
        for at in &again {
            // What a repair says a second time is not said twice.
            proof.kept[*at] &= !proof.repeats(*at);
        }
        proof.tally.repaired =
            again.iter().filter(|at| proof.kept[**at] && proof.passes(**at)).count();
        proof.end(frame, &doubtful, &decided);
        Ok(proof)
    }

    fn places(&self, role: AnswerRole) -> Vec<usize> {
        let all = self.parts.sentences.iter().enumerate();
        all.filter(|(_, one)| one.role == role).map(|(at, _)| at).collect()
    }

    /// The gates, for the sentences at `places`. No sentence is lost here and none gets words of ours: what does not pass
    /// comes back with its verdict.
    async fn prove(
        &mut self,
        frame: &Frame<'_>,
        registry: &mut EvidenceRegistry,
        places: &[usize],
    ) -> Result<(), AskError> {
        if places.is_empty() {
            return Ok(());
        }
        let config = gates_of(frame.config);
        let quiet = Quiet(frame);
        let aside = frame.aside(&config, &quiet);
        let drafts: Vec<DraftSentence> =
            places.iter().map(|at| self.parts.sentences[*at].draft.clone()).collect();
        let proven = prove(&aside, registry, &drafts).await.map_err(AskError::prove)?;
        for (at, one) in places.iter().zip(proven.sentences) {
            self.proven[*at] = Some(one);
        }
        Ok(())
    }

    /// Whether the finding at `at` passed, or nothing can be said because the judge failed.
    fn passes(&self, at: usize) -> bool {
        let Some(proven) = &self.proven[at] else { return false };
        let judge_failed = self.proven.iter().flatten().all(|one| one.support.is_none());
        proven.gates.contains(&Gate::L2) || (judge_failed && !proven.citations.is_empty())
    }

    /// Whether another finding that stays says what the one at `at` does. The short answer may say what a part says.
    fn repeats(&self, at: usize) -> bool {
        let own = &self.parts.sentences[at];
        let is_short =
            |one: &PartSentence| self.parts.sections[one.section].kind == SectionKind::ShortAnswer;
        let stems = content_stems(&own.draft.text);
        self.places(AnswerRole::Finding).into_iter().any(|other| {
            let theirs = &self.parts.sentences[other];
            other != at
                && self.kept[other]
                && self.passes(other)
                && is_short(theirs) == is_short(own)
                && share(&stems, &content_stems(&theirs.draft.text)) >= REPEATED
        })
    }

    /// What needs repair, with the passages that may help, most important first: findings, gaps, conclusions.
    async fn doubtful(&self, frame: &Frame<'_>, registry: &mut EvidenceRegistry) -> Vec<Doubtful> {
        let mut all = Vec::new();
        for at in self.places(AnswerRole::Finding) {
            if !self.passes(at) {
                let draft = &self.parts.sentences[at].draft;
                let passages = repair::passages_for(&draft.text, &draft.evidence, registry);
                let missing =
                    self.proven[at].as_ref().map_or_else(Vec::new, |one| one.missing.clone());
                let (text, item) = (draft.text.clone(), Item::Finding);
                all.push(Doubtful { at, text, item, missing, passages });
            }
        }
        for at in self.places(AnswerRole::Gap).into_iter().take(gaps::MOST_SEARCHED) {
            let text = &self.parts.sentences[at].draft.text;
            let passages = gaps::passages_that_may_report(frame, registry, text).await;
            if !passages.is_empty() {
                let (text, item, missing) = (text.clone(), Item::Gap, Vec::new());
                all.push(Doubtful { at, text, item, missing, passages });
            }
        }
        for at in self.places(AnswerRole::Synthesis) {
            if !self.holds(frame, at) {
                let text = self.parts.sentences[at].draft.text.clone();
                let base = self.base(at).into_iter().map(str::to_owned).collect();
                let item = Item::Conclusion(base);
                all.push(Doubtful { at, text, item, missing: Vec::new(), passages: Vec::new() });
            }
        }
        all
    }

    /// Sentences that the synthesis at `at` follows from and that stay.
    fn base(&self, at: usize) -> Vec<&str> {
        let follows = self.parts.sentences[at].follows.iter();
        let stays = follows.filter(|place| self.kept[**place]);
        stays.map(|place| self.parts.sentences[*place].draft.text.as_str()).collect()
    }

    fn holds(&self, frame: &Frame<'_>, at: usize) -> bool {
        follows_from(&self.parts.sentences[at].draft.text, &self.base(at), frame.question.as_str())
    }

    /// Writes the decisions into the text; returns the places of findings that are to be proven again.
    fn apply(&mut self, doubtful: &[Doubtful], decided: &[Option<Decision>]) -> Vec<usize> {
        let mut again = Vec::new();
        for (one, decision) in doubtful.iter().zip(decided) {
            match decision {
                Some(Decision::Delete) => self.kept[one.at] = false,
                Some(Decision::Keep) | None => {}
                Some(Decision::Text(text)) => {
                    let PartSentence { role, draft, .. } = &mut self.parts.sentences[one.at];
                    let written = DraftSentence::written(text);
                    draft.text = written.text;
                    (draft.evidence, draft.clauses) = (written.evidence, written.clauses);
                    let marked = match one.item {
                        Item::Finding => AnswerRole::Finding,
                        Item::Gap => AnswerRole::Gap,
                        Item::Conclusion(_) => AnswerRole::Synthesis,
                    };
                    *role = role_of(Some(marked), &draft.text, !draft.evidence.is_empty());
                    if *role == AnswerRole::Finding {
                        again.push(one.at);
                    }
                }
            }
        }
        again
    }

    /// What has not passed by now goes, or stays with a mark where the configuration and the verdict allow it.
    fn end(&mut self, frame: &Frame<'_>, doubtful: &[Doubtful], decided: &[Option<Decision>]) {
        let drop = frame.config.proof.on_unsupported.contains(&Remedy::Drop);
        let was_asked = |at: usize| {
            let mut asked = doubtful.iter().zip(decided);
            asked.any(|(one, decision)| one.at == at && decision.is_some())
        };
        for at in self.places(AnswerRole::Finding) {
            if !self.kept[at] || self.passes(at) {
                continue;
            }
            let support = self.proven[at].as_ref().and_then(|one| one.support.as_ref());
            let partly = support.is_some_and(|support| support.verdict == Verdict::Partial);
            self.kept[at] = !drop && (partly || !was_asked(at));
            self.tally.marked += usize::from(self.kept[at]);
        }
        // A gap whose subject was found and that nobody could decide about is not claimed.
        for one in doubtful
            .iter()
            .zip(decided)
            .filter(|(one, decision)| matches!(one.item, Item::Gap) && decision.is_none())
        {
            self.kept[one.0.at] = false;
        }
        for at in self.places(AnswerRole::Synthesis) {
            self.kept[at] &= self.holds(frame, at);
        }
        self.tally.deleted = self.kept.iter().filter(|kept| !**kept).count();
        let Tally { findings: _, passed, recited, repaired, deleted, marked } = self.tally;
        let (kept, reattributed) = (passed, recited + repaired);
        frame.emit(&Event::Verified { kept, reattributed, weakened: marked, dropped: deleted });
    }
}

/// Share of `stems` that are among `others`.
#[expect(clippy::cast_precision_loss, reason = "a sentence has few stems")]
fn share(stems: &[String], others: &[String]) -> f32 {
    stems.iter().filter(|stem| others.contains(stem)).count() as f32 / stems.len().max(1) as f32
}

/// The choices of `config` for the gates alone. Citing anew, rewriting, taking out and marking are the report's own: its repair
/// sees every failed sentence with the passages that may help, in one call, where trying passages one by one would ask a judging
/// model for each.
fn gates_of(config: &AskConfig) -> AskConfig {
    let mut config = config.clone();
    config.proof.on_unsupported.clear();
    config.proof.uncited = UncitedRule::Keep;
    config
}

/// Passes on what the gates do, but for what they say of single sentences: the report says that in sum.
struct Quiet<'a>(&'a Frame<'a>);

impl Observer for Quiet<'_> {
    fn on_event(&self, event: &Event) {
        match event {
            Event::Verified { .. } => {}
            Event::Noticed { notice } if notice.kind == NoticeKind::Unproven => {}
            other => self.0.emit(other),
        }
    }
}
