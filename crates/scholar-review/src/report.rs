//! The result of a review, `openscholar.review/1`.
//!
//! Values only: who fills them in is no matter of theirs, and renderers read nothing else. What a model wrote without a
//! source behind it (scores, comparisons, rationales) is kept under names that say so and is never rendered as a finding.

use jiff::civil::Date;
use scholar_core::text::normalise::capitalised;
use scholar_core::{
    AnswerSentence, Citation, PaperId, PaperMeta, PassageId, PassageKind, Quote, Reference,
    SentenceRole, Support, Verdict,
};
use serde::{Deserialize, Serialize};

use crate::cutoff::{Cutoff, LeftOut};
use crate::idea::Idea;

mod appraisal;

pub use appraisal::{Appraisal, PlanPoint, PlanQuote, PointKind, PointWeight};

/// Schema of [`Review`].
pub const REVIEW_SCHEMA: &str = "openscholar.review/1";

/// How a review was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewMode {
    /// By a model, every sentence about a paper checked.
    Generative,
    /// In code: verbatim evidence, nothing scored that was not measured.
    Evidence,
}

/// The parts of a review: its two halves, and what is said of the plan itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewModule {
    /// Does the literature support the methods?
    Soundness,
    /// What is new beside the nearest work?
    Contribution,
    /// What is strong and what is missing in the plan itself?
    Appraisal,
}

impl ReviewModule {
    /// Its name in JSON and in notices.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soundness => "soundness",
            Self::Contribution => "contribution",
            Self::Appraisal => "appraisal",
        }
    }
}

/// What came of a module: the failure of one does not hide the other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Module<T> {
    /// Its result.
    Done(T),
    /// Nothing, for this reason, told to people.
    Failed(String),
}

impl<T> Module<T> {
    /// The result, if there is one.
    pub fn done(&self) -> Option<&T> {
        match self {
            Self::Done(value) => Some(value),
            Self::Failed(_) => None,
        }
    }

    /// Why there is no result, if there is none.
    pub fn failure(&self) -> Option<&str> {
        match self {
            Self::Done(_) => None,
            Self::Failed(reason) => Some(reason),
        }
    }
}

/// How an item that a model was asked for came out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ItemState {
    /// At once.
    Ok,
    /// When asked again with what was wrong.
    Retried,
    /// Not at all, for this reason; the others go on.
    Failed(String),
}

/// An item that failed, as the report lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// In which part.
    pub module: ReviewModule,
    /// At which step: `method_review`, `summary`, `relevance`, `search`, `appraisal`, ….
    pub stage: String,
    /// Which item: `M2`, `D1`, a paper's title, a query.
    pub item: String,
    /// Why, for people.
    pub reason: String,
}

/// What a sentence rests on: a cited paper and the section that holds the quotation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Number of the reference.
    pub reference: Citation,
    /// Heading of the section, empty where the paper has none there.
    pub section: String,
    /// Whether it is the abstract or the body.
    pub kind: PassageKind,
}

/// A sentence of a review.
///
/// A sentence of an [`Appraisal`] is about the plan alone: it has no role and no citation.
/// A [`Finding`](scholar_core::AnswerRole::Finding) is about papers: it cites, has passed the gates, and `rests_on` has at least
/// one entry. A [`Synthesis`](scholar_core::AnswerRole::Synthesis) judges or advises: it cites nothing and
/// [follows](AnswerSentence::follows) from findings, by their positions in [`Review::statements`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Text, citations, located quotations, verdict, role. Its heading is the part it stands under.
    pub sentence: AnswerSentence,
    /// One entry for each quotation's section, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rests_on: Vec<Basis>,
    /// What was measured of a quoted sentence beside the idea's words. Only in evidence mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Measured>,
}

/// What was measured of a sentence that a paper wrote beside one of the idea (evidence mode).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// What it does in its paper, by the sentence classifier: methods and purposes tell what was done, results and conclusions
    /// what was found. Without a classifier by its wording.
    pub role: SentenceRole,
    /// Cosine with the idea's words, in `[-1, 1]`, where an encoder was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// What a judge says of the two, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearing: Option<Bearing>,
}

/// A supposition of the idea beside a sentence of a paper, as a judge sees them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bearing {
    /// What the idea supposes, in its own words.
    pub claim: String,
    /// Whether the paper's sentence supports or contradicts it.
    pub judged: Support,
}

impl Bearing {
    /// Whether the paper agrees.
    pub fn agrees(&self) -> bool {
        self.judged.verdict == Verdict::Supported
    }

    /// Whether the paper says otherwise.
    pub fn conflicts(&self) -> bool {
        self.judged.verdict == Verdict::Contradicted
    }
}

/// A method of the idea, or in evidence mode something that it supposes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Method {
    /// `M1`, `M2`, … in order of importance; `H1`, `H2`, … of suppositions.
    pub id: String,
    /// What the idea says of it, whole enough to be understood alone.
    pub text: String,
}

impl Method {
    /// The heading under which its review stands.
    pub fn heading(&self) -> String {
        let kind = if self.id.starts_with('H') { "Supposition" } else { "Method" };
        format!("{kind} {}", self.id)
    }
}

/// How much of a paper was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceTier {
    /// Passages of its methods and results.
    FullText,
    /// Its abstract.
    AbstractOnly,
    /// The passages that a search found, and neither abstract nor sections.
    SnippetOnly,
}

/// How a paper came to be read. The first way counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvidenceOrigin {
    /// A search found it.
    Search {
        /// The query.
        query: String,
    },
    /// That paper cites it.
    ReferenceOf(PaperId),
    /// It is near to that paper.
    NearestTo(PaperId),
    /// Papers that cite that paper cite it too.
    CitedWith(PaperId),
}

/// What a model says that a paper did and found. Material for a review, never shown as a finding.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summarised {
    /// What was done.
    pub method: String,
    /// What came out.
    pub results: String,
    /// Under which conditions.
    pub context: String,
}

/// A paper that was read for a method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// `E1`, `E2`, …: by this the model cites. Oldest first, undated before dated.
    pub key: String,
    /// The paper; every link comes from here.
    pub paper: PaperMeta,
    /// How much of it was read.
    pub tier: EvidenceTier,
    /// The passages that were read.
    pub passages: Vec<PassageId>,
    /// Headings of their sections, in order, each once.
    pub sections: Vec<String>,
    /// How it was found.
    pub origin: EvidenceOrigin,
    /// What a model says of it, one entry for each related method of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summarised: Vec<Summarised>,
}

/// The review of one method.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MethodReview {
    /// The method.
    pub method: Method,
    /// How it came out.
    pub state: ItemState,
    /// What was searched for.
    pub query: String,
    /// Papers read and found relevant; empty: no related work was found.
    pub evidence: Vec<Evidence>,
    /// Papers read that turned out to be about something else, or had no text.
    pub irrelevant: usize,
    /// What supports it.
    pub support: Vec<Statement>,
    /// What contradicts it or speaks for caution.
    pub contradictions: Vec<Statement>,
    /// What to do about it.
    pub suggested_action: Vec<Statement>,
    /// What the nearest studies did and found where no judge sees agreement or conflict, study by study, the nearest first. Only in
    /// evidence mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub related: Vec<Statement>,
    /// 0 to 10 as a model put it; kept, not shown. `None` without evidence and in evidence mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_score: Option<f32>,
}

/// The few sentences above a review.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// What is well supported.
    pub strengths: Vec<Statement>,
    /// What is not.
    pub weaknesses: Vec<Statement>,
    /// At most three things to do.
    pub suggestions: Vec<Statement>,
}

/// Does the literature support the methods?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Soundness {
    /// In a few sentences; absent where nothing could be summed up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// One for each method, in order of importance. Empty: the idea names no method.
    pub reviews: Vec<MethodReview>,
}

/// A dimension along which the idea claims to be new.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimension {
    /// `D1`, `D2`, ….
    pub id: String,
    /// `methodology`, `data`, ….
    pub name: String,
    /// What the idea claims along it, each whole enough to be understood alone.
    pub statements: Vec<String>,
    /// What was searched for each of them. Only in generative mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queries: Vec<Vec<String>>,
}

impl Dimension {
    /// The heading under which its review stands.
    pub fn heading(&self) -> String {
        capitalised(&self.name)
    }
}

/// A paper with how near it is to the idea.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredPaper {
    /// The paper.
    pub paper: PaperMeta,
    /// How it was found.
    pub origin: EvidenceOrigin,
    /// 0 (unrelated) to 5 (the same contribution), by a model. `None`: not scored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance: Option<u8>,
    /// Why, in the model's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rationale: String,
    /// Cosine of its abstract with the idea, in `[-1, 1]`, where it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
}

/// Who is newer along a dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Novelty {
    /// The paper is at least as new: −1.
    Paper,
    /// Neither, or too little is said: 0.
    Tie,
    /// The idea: 1.
    Idea,
}

impl Novelty {
    /// −1, 0 or 1, as the source counts.
    pub fn value(self) -> i8 {
        match self {
            Self::Paper => -1,
            Self::Tie => 0,
            Self::Idea => 1,
        }
    }

    /// From −1, 0 or 1; any other number is none.
    pub fn of_value(value: i64) -> Option<Self> {
        match value {
            -1 => Some(Self::Paper),
            0 => Some(Self::Tie),
            1 => Some(Self::Idea),
            _ => None,
        }
    }
}

/// How the idea compares with a paper along one dimension, as a model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimensionComparison {
    /// [`Dimension::id`].
    pub dimension: String,
    /// In words; material, never shown as a finding.
    pub text: String,
    /// Who is newer.
    pub novelty: Novelty,
}

/// How the idea compares with a paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `E1`, `E2`, …: by this the model cites.
    pub key: String,
    /// The paper with its relevance.
    pub paper: ScoredPaper,
    /// The passages that were read.
    pub passages: Vec<PassageId>,
    /// How it came out.
    pub state: ItemState,
    /// In words; material, never shown as a finding.
    pub overall: String,
    /// Along each dimension that the reply speaks of.
    pub dimensions: Vec<DimensionComparison>,
}

/// What is new, and what is not, along one dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DimensionReview {
    /// The dimension with its statements.
    pub dimension: Dimension,
    /// How it came out.
    pub state: ItemState,
    /// What is new beside the nearest work.
    pub strengths: Vec<Statement>,
    /// What exists already.
    pub weaknesses: Vec<Statement>,
    /// What would set it apart.
    pub suggestions: Vec<Statement>,
    /// Mean of [`Novelty::value`] over the comparisons, −1 to 1; kept, not shown. `None` without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_novelty: Option<f32>,
}

/// A sentence of the idea beside one of a paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overlap {
    /// The idea's words.
    pub idea: String,
    /// The paper's, located.
    pub quote: Quote,
    /// Heading of the section that has them.
    pub section: String,
    /// Cosine of the two, in `[-1, 1]`, where an encoder was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
}

/// The nearest earlier work to one claimed contribution, found and compared in code (evidence mode).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriorWork {
    /// [`Dimension::id`].
    pub dimension: String,
    /// The statement, one of [`Dimension::statements`].
    pub statement: String,
    /// Number of the nearest paper's reference; `None`: nothing near was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<Citation>,
    /// Sentences side by side: the best one of each near paper, the nearest paper first, and then further ones of the nearest.
    pub overlaps: Vec<Overlap>,
    /// Terms of the statement that the paper has too.
    pub shared: Vec<String>,
    /// Terms of the statement that no paper read for it has.
    pub not_found: Vec<String>,
    /// How many papers were read for it.
    #[serde(default)]
    pub read: usize,
}

/// How many papers went through the steps of contribution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Funnel {
    /// Found by searches, each once.
    pub found: usize,
    /// Of them, scored.
    pub scored: usize,
    /// Relevant enough to start from.
    pub seeds: usize,
    /// Added by recommendations and references, each once.
    pub added: usize,
    /// Of them, scored.
    pub added_scored: usize,
    /// Compared with the idea.
    pub compared: usize,
}

/// What is new beside the nearest work?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contribution {
    /// One for each dimension. Empty: the idea claims nothing.
    pub reviews: Vec<DimensionReview>,
    /// Comparisons, the most relevant paper first. Empty in evidence mode.
    pub comparisons: Vec<Comparison>,
    /// The nearest work to each statement. Empty in generative mode.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<PriorWork>,
    /// Every paper that was scored, or in evidence mode measured, the nearest first: what a map of novelty is drawn from.
    pub papers: Vec<ScoredPaper>,
    /// How many papers went through each step.
    pub funnel: Funnel,
    /// Mean over all dimensions and papers, −1 to 1; kept, not shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_novelty: Option<f32>,
}

/// A review of an idea.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    /// Always [`REVIEW_SCHEMA`].
    pub schema: String,
    /// What was reviewed.
    pub idea: Idea,
    /// How.
    pub mode: ReviewMode,
    /// What could be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cutoff: Option<Cutoff>,
    /// `None`: not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub soundness: Option<Module<Soundness>>,
    /// `None`: not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution: Option<Module<Contribution>>,
    /// `None`: not asked for, or in evidence mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appraisal: Option<Module<Appraisal>>,
    /// The cited papers of both modules, numbered from 1 in order of first citation.
    pub references: Vec<Reference>,
    /// Sentences that were written and are not shown because no passage of the evidence supports them.
    pub unproven: usize,
    /// Links, keys and citations in model replies that lead to no evidence, which were removed.
    pub removed_links: usize,
    /// Papers that were met and refused, by route and reason.
    pub left_out: Vec<LeftOut>,
    /// Items that failed.
    pub failures: Vec<Failure>,
}

impl Review {
    /// Every sentence in the order in which it is read, under the numbers that [`AnswerSentence::follows`] means: summary,
    /// methods, dimensions, points about the plan itself.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let soundness = self.soundness.iter().filter_map(Module::done);
        let contribution = self.contribution.iter().filter_map(Module::done);
        let appraisal = self.appraisal.iter().filter_map(Module::done);
        soundness
            .flat_map(Soundness::statements)
            .chain(contribution.flat_map(Contribution::statements))
            .chain(appraisal.flat_map(Appraisal::statements))
    }

    /// The last day on which a cited or compared paper can have appeared, over everything in the report: `None` where no paper
    /// is dated. Tests of the cut-off ask this.
    pub fn latest_paper(&self) -> Option<Date> {
        self.papers().filter_map(PaperMeta::latest_day).max()
    }

    /// Metadata of every paper in the report.
    pub fn papers(&self) -> impl Iterator<Item = &PaperMeta> {
        let reviews = self.soundness.iter().filter_map(Module::done).flat_map(|one| &one.reviews);
        let read = reviews.flat_map(|review| &review.evidence).map(|evidence| &evidence.paper);
        let contribution = self.contribution.iter().filter_map(Module::done);
        let near = contribution.flat_map(|one| {
            let compared = one.comparisons.iter().map(|comparison| &comparison.paper);
            compared.chain(&one.papers).map(|scored| &scored.paper)
        });
        read.chain(near)
    }
}

impl Review {
    /// Gives every paper without an address that of the first registry it has an identifier of, as references have it. Papers with
    /// none of either stay without: a link is never made up.
    pub(crate) fn link_papers(&mut self) {
        let link = |paper: &mut PaperMeta| paper.url = paper.link();
        if let Some(Module::Done(soundness)) = &mut self.soundness {
            let evidence = soundness.reviews.iter_mut().flat_map(|review| &mut review.evidence);
            evidence.for_each(|one| link(&mut one.paper));
        }
        if let Some(Module::Done(contribution)) = &mut self.contribution {
            contribution.comparisons.iter_mut().for_each(|one| link(&mut one.paper.paper));
            contribution.papers.iter_mut().for_each(|one| link(&mut one.paper));
        }
    }
}

impl Summary {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.strengths.iter().chain(&self.weaknesses).chain(&self.suggestions)
    }
}

impl Soundness {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let summary = self.summary.iter().flat_map(Summary::statements);
        summary.chain(self.reviews.iter().flat_map(MethodReview::statements))
    }
}

impl MethodReview {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        let judged = self.support.iter().chain(&self.contradictions);
        judged.chain(&self.related).chain(&self.suggested_action)
    }
}

impl Contribution {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.reviews.iter().flat_map(DimensionReview::statements)
    }
}

impl DimensionReview {
    /// Its sentences in order.
    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.strengths.iter().chain(&self.weaknesses).chain(&self.suggestions)
    }
}
