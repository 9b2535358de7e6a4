//! Asks the judge and tallies.

use scholar_core::PortError;
use serde::{Deserialize, Serialize};

use super::plan::Sentence;
use super::{Rules, ShownPassage, Variant};
use crate::judge::Judged;
use crate::judge::support::SupportJudge;
use crate::statistics::ratio;

/// Citation recall and precision of one answer, with the counts and verdicts behind them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ItemScore {
    /// Share of supported sentences; 0 when none is long enough, `None` when no verdict could be read.
    pub recall: Option<f64>,
    /// Share of citations that support or are needed; 0 without citations, `None` when no verdict could be read.
    pub precision: Option<f64>,
    /// Sentences scored, those with an unreadable verdict included.
    pub sentences: usize,
    /// Sentences whose verdict could not be read: in no share.
    pub unreadable_sentences: usize,
    /// Sentences that their citations support.
    pub supported: usize,
    /// Citations in the denominator of precision.
    pub citations: usize,
    /// Of them, those that support or are needed.
    pub good_citations: usize,
    /// Citations whose verdict could not be read: in no share.
    pub unreadable_citations: usize,
    /// Citations that no shown passage has.
    pub out_of_range: usize,
    /// Citations beyond the most that are looked at.
    pub ignored: usize,
    /// Sentences with more than one citation.
    pub several: usize,
    /// Of them, the supported ones.
    pub several_supported: usize,
    /// Citations that are not needed: the passage does not support alone, and the others do without it.
    pub over_cited: usize,
    /// Sentences with such a citation.
    pub over_cited_sentences: usize,
    /// Pairs the judge was asked about.
    pub calls: usize,
    /// The verdicts, sentence by sentence.
    pub verdicts: Vec<SentenceVerdict>,
}

/// What the judge said of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SentenceVerdict {
    /// The sentence and the citations looked at.
    pub sentence: Sentence,
    /// Whether its passages together support it; `None` when nothing was asked because it cites nothing that exists.
    pub together: Option<Judged<bool>>,
    /// Each citation's part in it; empty unless several are cited and support it together.
    pub parts: Vec<Part>,
}

/// What one of several citations is good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Supports the sentence alone.
    Supports,
    /// Does not, but the others do not support it without this one.
    Needed,
    /// Does not, and the others support it without this one.
    NotNeeded,
    /// A verdict could not be read; the beginning of the reply.
    Unreadable(String),
}

/// Scores planned sentences against the passages shown.
///
/// Three rounds of questions, each at once: all passages of each sentence, each passage alone, the others without it.
/// What is asked, and how often, is what the reference scorer asks one by one.
///
/// # Errors
/// When the judge cannot run.
pub async fn score(
    sentences: &[Sentence],
    shown: &[ShownPassage],
    judge: &dyn SupportJudge,
    rules: Rules,
) -> Result<ItemScore, PortError> {
    let documents: Vec<String> = shown.iter().map(ShownPassage::for_judge).collect();
    let mut rounds = Rounds { judge, documents: &documents, sentences, calls: 0 };

    let citing: Vec<usize> =
        (0..sentences.len()).filter(|n| !sentences[*n].cited.is_empty()).collect();
    let asked: Vec<Question> = citing.iter().map(|n| (*n, sentences[*n].cited.clone())).collect();
    let replies = rounds.ask(&asked).await?;
    let mut together: Vec<Option<Judged<bool>>> = vec![None; sentences.len()];
    for (n, reply) in citing.iter().zip(replies) {
        together[*n] = Some(reply);
    }

    // Parts matter to precision only, which corrected rules compute without inherited citations.
    let several = |n: &usize| {
        let sentence = &sentences[*n];
        let counts = !sentence.inherited || rules.variant == Variant::Upstream;
        counts && sentence.cited.len() > 1 && together[*n] == Some(Judged::Read(true))
    };
    let joint: Vec<usize> = citing.iter().filter(|n| several(n)).copied().collect();
    let mut parts = rounds.parts(&joint).await?;

    let mut item = ItemScore::empty(rounds.calls);
    for (n, sentence) in sentences.iter().enumerate() {
        let verdict = SentenceVerdict {
            sentence: sentence.clone(),
            together: together[n].take(),
            parts: std::mem::take(&mut parts[n]),
        };
        item.add(verdict, rules.variant);
    }
    item.finish();
    Ok(item)
}

/// A sentence's place and the places of the passages it is judged by.
type Question = (usize, Vec<usize>);

struct Rounds<'a> {
    judge: &'a dyn SupportJudge,
    documents: &'a [String],
    sentences: &'a [Sentence],
    calls: usize,
}

impl Rounds<'_> {
    async fn ask(&mut self, questions: &[Question]) -> Result<Vec<Judged<bool>>, PortError> {
        let evidence: Vec<String> = questions
            .iter()
            .map(|(_, passages)| {
                let texts = passages.iter().filter_map(|place| self.documents.get(*place));
                texts.map(String::as_str).collect::<Vec<_>>().join("\n")
            })
            .collect();
        let pairs: Vec<(&str, &str)> = questions
            .iter()
            .zip(&evidence)
            .map(|((n, _), evidence)| (self.sentences[*n].claim.as_str(), evidence.as_str()))
            .collect();
        self.calls += pairs.len();
        self.judge.supports(&pairs).await
    }

    /// For each sentence what its citations are good for; empty for those not in `joint`.
    async fn parts(&mut self, joint: &[usize]) -> Result<Vec<Vec<Part>>, PortError> {
        let mut parts: Vec<Vec<Part>> = vec![Vec::new(); self.sentences.len()];
        let alone: Vec<Question> = joint
            .iter()
            .flat_map(|n| self.sentences[*n].cited.iter().map(|passage| (*n, vec![*passage])))
            .collect();
        let replies = self.ask(&alone).await?;
        let mut without: Vec<Question> = Vec::new();
        let mut waiting: Vec<(usize, usize)> = Vec::new();
        for ((n, passage), reply) in alone.iter().zip(replies) {
            match reply {
                Judged::Read(true) => parts[*n].push(Part::Supports),
                Judged::Unreadable(why) => parts[*n].push(Part::Unreadable(why)),
                Judged::Read(false) => {
                    let mut others = self.sentences[*n].cited.clone();
                    // The first occurrence only: a passage cited twice is among its own others.
                    if let Some(at) = others.iter().position(|other| passage.contains(other)) {
                        others.remove(at);
                    }
                    waiting.push((*n, parts[*n].len()));
                    parts[*n].push(Part::Needed);
                    without.push((*n, others));
                }
            }
        }
        let replies = self.ask(&without).await?;
        for ((n, nth), reply) in waiting.into_iter().zip(replies) {
            parts[n][nth] = match reply {
                Judged::Read(true) => Part::NotNeeded,
                Judged::Read(false) => Part::Needed,
                Judged::Unreadable(why) => Part::Unreadable(why),
            };
        }
        Ok(parts)
    }
}

impl ItemScore {
    fn empty(calls: usize) -> Self {
        Self {
            recall: None,
            precision: None,
            sentences: 0,
            unreadable_sentences: 0,
            supported: 0,
            citations: 0,
            good_citations: 0,
            unreadable_citations: 0,
            out_of_range: 0,
            ignored: 0,
            several: 0,
            several_supported: 0,
            over_cited: 0,
            over_cited_sentences: 0,
            calls,
            verdicts: Vec::new(),
        }
    }

    fn add(&mut self, verdict: SentenceVerdict, variant: Variant) {
        let sentence = &verdict.sentence;
        let counted = if sentence.inherited && variant == Variant::Corrected {
            0
        } else {
            sentence.cited.len()
        };
        self.sentences += 1;
        self.out_of_range += sentence.out_of_range.len();
        self.ignored += sentence.ignored;
        if variant == Variant::Corrected && !sentence.inherited {
            self.citations += sentence.out_of_range.len();
        }
        self.several += usize::from(sentence.cited.len() > 1);
        match &verdict.together {
            Some(Judged::Unreadable(_)) => {
                self.unreadable_sentences += 1;
                self.unreadable_citations += counted;
            }
            Some(Judged::Read(true)) => {
                self.supported += 1;
                self.several_supported += usize::from(sentence.cited.len() > 1);
                self.add_supported(&verdict.parts, counted);
            }
            Some(Judged::Read(false)) | None => self.citations += counted,
        }
        self.verdicts.push(verdict);
    }

    fn add_supported(&mut self, parts: &[Part], counted: usize) {
        let not_needed = parts.iter().filter(|part| **part == Part::NotNeeded).count();
        let unreadable = parts.iter().filter(|part| matches!(part, Part::Unreadable(_))).count();
        self.over_cited += not_needed;
        self.over_cited_sentences += usize::from(not_needed > 0);
        if counted > 0 {
            self.citations += counted - unreadable;
            self.unreadable_citations += unreadable;
            self.good_citations += counted - unreadable - not_needed;
        }
    }

    fn finish(&mut self) {
        let share = |part: usize, whole: usize, unreadable: usize| match (whole, unreadable) {
            (0, 0) => Some(0.0),
            (0, _) => None,
            _ => Some(ratio(part, whole)),
        };
        let judged = self.sentences - self.unreadable_sentences;
        self.recall = share(self.supported, judged, self.unreadable_sentences);
        self.precision = share(self.good_citations, self.citations, self.unreadable_citations);
    }
}
