//! Whether evidence mode answers what a datastore answers, abstains from the rest, and shows the right papers.
//!
//! Ours: no benchmark asks it of a whole store. Each answerable question comes with the papers that answer it. It is asked of the
//! store, and once more of the store without these papers (*near*): what remains is on the topic and does not answer.

use std::collections::BTreeSet;
use std::str::FromStr as _;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    PaperId, PaperMeta, Passage, PassageId, PortError, Question, Retrieved, Retriever,
    SearchRequest, Searched,
};
use scholar_pipeline::modes::evidence::{self, Diagnosis, SentenceDiagnosis};
use scholar_pipeline::{AskConfig, AskError, Frame, Ports};
use serde::Serialize;

pub use report::markdown;

mod report;

/// A question with the papers that answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct AnswerableQuestion {
    /// Its name in its file.
    pub id: String,
    /// `dev` or `held-out`.
    pub split: String,
    /// Its field: `nlp`, `clinical`, …
    pub field: String,
    /// The question.
    pub question: Question,
    /// The papers of the store that answer it; empty where none does.
    pub gold: Vec<PaperId>,
}

/// A file of questions that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct QuestionsError {
    /// From 1.
    line: usize,
    problem: String,
}

impl AnswerableQuestion {
    /// Reads a table of tabs with the columns id, split, set (`answerable` or `off`), field, kind, question, gold; the first
    /// line names them, lines that begin with `#` say nothing.
    ///
    /// # Errors
    /// When a line has another form.
    pub fn read(text: &str) -> Result<Vec<Self>, QuestionsError> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        lines
            .filter(|(_, line)| !line.is_empty())
            .skip(1)
            .map(|(at, line)| Self::row(at + 1, line))
            .collect()
    }

    fn row(line: usize, text: &str) -> Result<Self, QuestionsError> {
        let error = |problem: String| QuestionsError { line, problem };
        let fields: Vec<&str> = text.split('\t').collect();
        let [id, split, set, field, _, question, rest @ ..] = fields.as_slice() else {
            return Err(error(format!("{} columns, at least six are needed", fields.len())));
        };
        let ids = rest.first().into_iter().flat_map(|gold| gold.split_whitespace());
        let gold = ids
            .map(|id| PaperId::from_str(id).map_err(|problem| error(format!("{id}: {problem}"))))
            .collect::<Result<Vec<PaperId>, _>>()?;
        if gold.is_empty() == (*set == "answerable") {
            return Err(error(format!("{set} with {} papers that answer it", gold.len())));
        }
        Ok(Self {
            id: (*id).to_owned(),
            split: (*split).to_owned(),
            field: (*field).to_owned(),
            question: Question::new(question).map_err(|problem| error(problem.to_string()))?,
            gold,
        })
    }
}

/// What a question was asked of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// The store, which answers it.
    Answerable,
    /// The store without the papers that answer it.
    Near,
    /// The store, which has nothing on it.
    Off,
}

/// One question asked once.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Name of the question.
    pub id: String,
    /// Its split.
    pub split: String,
    /// Its field.
    pub field: String,
    /// What it was asked of.
    pub condition: Condition,
    /// There was an answer.
    pub answered: bool,
    /// Papers shown, or that would be shown if nothing were held back, in order of appearance.
    pub shown: Vec<PaperId>,
    /// Papers that answer it.
    pub gold: Vec<PaperId>,
    /// What the decision rests on.
    pub diagnosis: Diagnosis,
    /// Sentences of the most probable papers, with what they are chosen by; not part of the report.
    #[serde(skip)]
    pub sentences: Vec<SentenceDiagnosis>,
}

/// Asks `asked` with `ports` and `config`; `progress` is called after each.
///
/// # Errors
/// When a search or a model fails.
pub async fn measure(
    asked: &[AnswerableQuestion],
    ports: &Ports,
    config: &AskConfig,
    progress: &mut (dyn FnMut() + Send),
) -> Result<Vec<Row>, AskError> {
    let mut rows = Vec::new();
    for one in asked {
        let whole = if one.gold.is_empty() { Condition::Off } else { Condition::Answerable };
        rows.push(ask(one, ports, config, whole).await?);
        if whole == Condition::Answerable {
            let without = Without {
                inner: Arc::clone(&ports.retriever),
                papers: one.gold.iter().cloned().collect(),
            };
            let near = Ports { retriever: Arc::new(without), ..ports.clone() };
            rows.push(ask(one, &near, config, Condition::Near).await?);
        }
        progress();
    }
    Ok(rows)
}

async fn ask(
    one: &AnswerableQuestion,
    ports: &Ports,
    config: &AskConfig,
    condition: Condition,
) -> Result<Row, AskError> {
    let threshold = config.evidence.abstain_below;
    let mut config = config.clone();
    // Nothing is held back, so that what would be shown is known.
    config.evidence.abstain_below = 0.0;
    let frame = Frame::new(evidence::MODE.id, ports, &one.question, &config, &());
    let found = evidence::answer(&frame).await?;
    let shown: Vec<PaperId> =
        found.answer.references.iter().map(|reference| reference.paper_id.clone()).collect();
    let answered = !shown.is_empty() && found.diagnosis.probability >= threshold;
    Ok(Row {
        id: one.id.clone(),
        split: one.split.clone(),
        field: one.field.clone(),
        condition,
        answered,
        shown,
        gold: one.gold.clone(),
        diagnosis: found.diagnosis,
        sentences: found.sentences,
    })
}

/// A store without some papers.
struct Without {
    inner: Arc<dyn Retriever>,
    papers: BTreeSet<PaperId>,
}

impl Without {
    /// Asks for so many more passages that as many remain as were asked for, and takes the papers out.
    fn more(&self, request: &SearchRequest) -> SearchRequest {
        SearchRequest {
            top_k: request.top_k + PASSAGES_OF_PAPER * self.papers.len(),
            ..request.clone()
        }
    }

    fn left(&self, mut hits: Vec<Retrieved>, top_k: usize) -> Vec<Retrieved> {
        hits.retain(|hit| !self.papers.contains(&hit.passage.id.paper));
        hits.truncate(top_k);
        hits
    }
}

/// Passages of one paper that may be among the first.
const PASSAGES_OF_PAPER: usize = 15;

#[async_trait]
impl Retriever for Without {
    fn name(&self) -> &str {
        self.inner.name()
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        Ok(self.left(self.inner.search(&self.more(request)).await?, request.top_k))
    }

    async fn explore(&self, request: &SearchRequest) -> Result<Searched, PortError> {
        let Searched { hits, notices } = self.inner.explore(&self.more(request)).await?;
        Ok(Searched { hits: self.left(hits, request.top_k), notices })
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        if self.papers.contains(&id.paper) { Ok(None) } else { self.inner.passage(id).await }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_read_and_bad_lines_named() {
        let head = "id\tsplit\tset\tfield\tkind\tquestion\tgold\n";
        let good = format!(
            "{head}a1\tdev\tanswerable\tnlp\teffect\tDoes it help?\tpmid:1 pmid:2\no1\theld-out\toff\tfar\tfar\tWho paid?\t\n"
        );
        let read = AnswerableQuestion::read(&good).expect("well-formed");
        assert_eq!((read[0].gold.len(), read[1].gold.len()), (2, 0));
        let check = |row: &str, expected: &str| {
            let error = AnswerableQuestion::read(&format!("{head}{row}")).expect_err(row);
            assert!(error.to_string().contains(expected), "{error}");
        };
        check("a\tdev\tanswerable\tnlp\tk\tWhy?\t", "line 2: answerable with 0 papers");
        check("a\tdev\toff\tnlp\tk\tWhy?\tnonsense id", "nonsense");
        check("a\tdev", "2 columns");
    }
}
