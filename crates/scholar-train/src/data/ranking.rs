//! Groups for rerankers: what is looked for, what answers it, and hard passages that do not.
//!
//! [`plan`] reads the sources into pools of documents and prompts: queries that people labelled, and synthetic ones.
//! [`mine`](mining::mine) searches each pool for every prompt through a `Retriever` and makes groups of the hits.

mod asked;
mod labelled;
pub mod labels;
pub mod mining;
mod synthetic;

use scholar_core::Generator;
use scholar_core::random::SplitMix64;

use super::error::DataError;
use super::evaluation::Evaluation;
use super::ledger::Ledger;
use super::source::{Source, SourceName};
use super::split::Settings;
use super::wording::{first_words, hash, tokens};

/// Longest passage in words. Ours: what a model of 512 tokens reads beside a query; the paper's passages have 250.
pub const PASSAGE_WORDS: usize = 220;

/// A document that can be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Of which paper or record: documents of one are never each other's negatives.
    pub paper: String,
    /// Title, may be empty.
    pub title: String,
    /// Text, may be empty.
    pub text: String,
}

/// Documents that are searched together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Name, as its folder is called.
    pub name: String,
    /// The documents, by number.
    pub documents: Vec<Document>,
}

/// In which form passages stand beside a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Title and text, as the program's rerankers read them.
    Whole,
    /// The text alone: where the query was made of the title.
    Text,
    /// The title alone, as of papers without an abstract.
    Title,
}

/// A query with the documents that answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// Which source it was made of.
    pub source: SourceName,
    /// How it was made: `claim`, `question`, `keywords` and so on.
    pub kind: &'static str,
    /// What is looked for.
    pub query: String,
    /// Number of its pool.
    pub pool: usize,
    /// Documents that answer it.
    pub positives: Vec<usize>,
    /// Documents that may answer it and are no negatives.
    pub related: Vec<usize>,
    /// Form of the passages.
    pub form: Form,
    /// Whether people said what answers it.
    pub labelled: bool,
}

impl Prompt {
    /// A query that people wrote, about document `at` of the same pool, which answers it alone.
    fn of_document(
        source: SourceName,
        kind: &'static str,
        query: String,
        pool: usize,
        at: usize,
    ) -> Self {
        let (positives, related) = (vec![at], vec![at]);
        Self { source, kind, query, pool, positives, related, form: Form::Whole, labelled: true }
    }
}

/// Pools and prompts, ready to be mined.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Sets of documents, each searched by itself.
    pub pools: Vec<Pool>,
    /// What is looked for.
    pub prompts: Vec<Prompt>,
    /// What was left out so far.
    pub ledger: Ledger,
}

/// Reads `sources` into pools and prompts without anything of `evaluation`.
///
/// # Errors
/// When a source cannot be read, or there is no prompt.
pub fn plan(
    sources: &[Source],
    evaluation: &Evaluation,
    settings: &Settings,
) -> Result<Plan, DataError> {
    let mut planner = Planner {
        evaluation,
        settings,
        random: SplitMix64::new(settings.seed),
        plan: Plan { pools: Vec::new(), prompts: Vec::new(), ledger: Ledger::default() },
    };
    for source in sources {
        planner.random = SplitMix64::stream(settings.seed, hash([source.name.name(), "ranking"]));
        match source.name {
            SourceName::Scifact => labelled::scifact(source, &mut planner)?,
            SourceName::Citint => labelled::citation_integrity(source, &mut planner)?,
            SourceName::Clscisumm => labelled::summaries(source, &mut planner)?,
            SourceName::Bioasq => asked::bioasq(source, &mut planner)?,
            SourceName::Pubmedqa => asked::pubmedqa(source, &mut planner)?,
            SourceName::Evinf => asked::comparisons(source, &mut planner)?,
            SourceName::Pmc
            | SourceName::Openalex
            | SourceName::Acl
            | SourceName::Arxiv
            | SourceName::Starter => synthetic::papers(source, &mut planner)?,
        }
    }
    if planner.plan.prompts.is_empty() {
        let ledger = &planner.plan.ledger;
        let (rule, most) = ledger.commonest_rule().unwrap_or_default();
        return Err(DataError::Nothing { rows: ledger.removed_total(), most, rule });
    }
    Ok(planner.plan)
}

/// Replaces the questions that templates made by a model's, where it writes one that evaluation does not have.
/// Returns how many it wrote.
///
/// # Errors
/// When the model cannot run.
pub async fn ask_model(
    plan: &mut Plan,
    generator: &dyn Generator,
    evaluation: &Evaluation,
) -> Result<usize, DataError> {
    let mut written = 0;
    for prompt in
        plan.prompts.iter_mut().filter(|prompt| prompt.kind == "question" && !prompt.labelled)
    {
        let Some(answer) = prompt.positives.first() else { continue };
        let passage = plan.pools[prompt.pool].documents[*answer].passage(Form::Whole);
        let Some(query) = labels::question_by(generator, &passage).await? else { continue };
        if evaluation.query(&query).is_none() {
            prompt.query = query;
            prompt.kind = "question by a model";
            // The title need not be hidden from a question that was not made of it.
            prompt.form = Form::Whole;
            written += 1;
        }
    }
    Ok(written)
}

struct Planner<'a> {
    evaluation: &'a Evaluation,
    settings: &'a Settings,
    random: SplitMix64,
    plan: Plan,
}

impl Planner<'_> {
    /// Number of the pool of that name, made if there is none.
    fn pool(&mut self, name: &str) -> usize {
        let pools = &mut self.plan.pools;
        pools.iter().position(|pool| pool.name == name).unwrap_or_else(|| {
            pools.push(Pool { name: name.to_owned(), documents: Vec::new() });
            pools.len() - 1
        })
    }

    /// Puts a document into a pool; its number there.
    fn document(&mut self, pool: usize, paper: &str, title: &str, text: &str) -> usize {
        let documents = &mut self.plan.pools[pool].documents;
        documents.push(Document {
            paper: paper.to_owned(),
            title: first_words(title, usize::MAX),
            text: first_words(text, PASSAGE_WORDS),
        });
        documents.len() - 1
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.unit() < probability
    }

    /// The one door for prompts: checks the query against evaluation.
    fn ask(&mut self, prompt: Prompt) {
        let source = prompt.source.name();
        let prompt = Prompt { query: first_words(&prompt.query, usize::MAX), ..prompt };
        if prompt.positives.is_empty() || tokens(&prompt.query).len() < 2 {
            self.plan.ledger.reject(source, "no query or nothing that answers it", &prompt.query);
        } else if let Some(conflict) = self.evaluation.query(&prompt.query) {
            self.plan.ledger.reject(source, conflict.rule(), &prompt.query);
        } else {
            self.plan.prompts.push(prompt);
        }
    }
}

impl Document {
    /// The passage as it stands in a row.
    pub fn passage(&self, form: Form) -> String {
        match form {
            Form::Whole if self.title.is_empty() => self.text.clone(),
            Form::Whole => format!("{} {}", self.title, self.text).trim().to_owned(),
            Form::Text if self.text.is_empty() => self.title.clone(),
            Form::Text => self.text.clone(),
            Form::Title if self.title.is_empty() => first_words(&self.text, 25),
            Form::Title => self.title.clone(),
        }
    }
}
