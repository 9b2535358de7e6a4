//! `SciRAG`: an outline, a tree of retrievals over the citation graph, reasons for every paper, merged bottom up.
//!
//! ```text
//! outline → draft → critic ─ complete ──────────────────────────────────────────────┐
//!                     └ sub-queries → nodes, level by level, side by side:           │
//!                         search → enough? ─ no → one hop through the citation graph │
//!                                → rerank → tag, relate, analyse, decide → answer    │
//!                                → critic → sub-queries below                        │
//!                     answers merged from the leaves to the root, numbers in code ───┤
//!                                     feedback and revision → proof, as of every report
//! ```
//!
//! With a small model or none the same steps are taken in code ([`coded`]). Source: arXiv 2511.14362; deviations D70 to D79.

mod candidates;
mod chains;
mod coded;
mod contributions;
mod critic;
mod desk;
mod estimate;
mod explored;
mod forms;
mod gaps;
pub mod json;
mod merge;
mod node;
mod outline;
mod refine;
mod symbolic;
mod tree;
mod variant;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use scholar_core::{
    Answer, AnswerMode, FinishReason, Generation, GeneratorStrength, NodeState, Notice, NoticeKind,
    Outline, PortError, PortErrorKind, TokenUsage, Tree, TreeNode,
};

use self::critic::Gaps;
use self::desk::{Desk, node_of};
use self::merge::{Brought, View, best_first, cited, renumber, supplement};
use self::tree::Grown;
use self::variant::Variant;
use super::Mode;
use super::generative::report;
use crate::error::AskError;
use crate::event::Event;
use crate::evidence::Evidence;
use crate::frame::Frame;
use crate::prompts;
use crate::write::citations::insert_citations;
use crate::write::label::classified;
use crate::write::{Manuscript, answer_text, conclude, drafted, no_draft, unusable, without_draft};

/// Its entry of the registry.
pub static MODE: Mode = Mode {
    id: AnswerMode::Scirag,
    name: "scirag",
    aliases: &[],
    title: "SciRAG mode",
    summary: "An outline, a tree of retrievals over the citation graph, reasons for every paper",
    needs_generator: false,
    retrieves: true,
    labels: true,
    calls: estimate::calls,
    run: |frame| Box::pin(run(frame)),
};

/// What stands in prompts in the place of an outline that there is none of.
const NO_OUTLINE: &str = "(none: judge by the question alone)";

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    let info = frame.ports.generator.as_ref().map(|generator| generator.info());
    if info.is_none_or(|info| info.strength == GeneratorStrength::Small) {
        return coded::run(frame).await;
    }
    let Some(variant) = Variant::of(frame.config) else {
        // One passage is given, or none: there is nothing to explore.
        return match drafted(frame).await? {
            ControlFlow::Continue(manuscript) => conclude(frame, manuscript).await,
            ControlFlow::Break(answer) => Ok(answer),
        };
    };
    let began = (frame.ports.clock)();
    let desk = Desk::new(frame, "");
    let outline = plan(&desk, variant).await;
    let written = outline.as_ref().map_or(NO_OUTLINE, |outline| outline.text.as_str()).to_owned();
    let manuscript = match first(&desk, variant, outline.as_ref()).await? {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(answer) => return Ok(Answer { outline, ..answer }),
    };
    let mut exploration = Exploration { root: root(frame, &manuscript.visible), nodes: Vec::new() };
    let mut manuscript = explore(&desk, variant, &written, manuscript, &mut exploration).await;
    let rounds = frame.config.scirag.refine_rounds.min(variant.most_rounds);
    refine::refine(frame, variant, &written, &mut manuscript, rounds).await;
    let taken = (frame.ports.clock)().saturating_sub(began);
    exploration.root.milliseconds = u64::try_from(taken.as_millis()).unwrap_or(u64::MAX);
    exploration.root.answer = Some(manuscript.text.clone());
    let answer = end(&desk, variant, manuscript).await?;
    Ok(exploration.told(frame, answer, outline))
}

/// Plans the answer. A plan that fails is done without.
async fn plan(desk: &Desk<'_>, variant: Variant) -> Option<Outline> {
    let frame = desk.frame;
    if !frame.config.scirag.planner {
        return None;
    }
    let values = [("question", frame.question.as_str()), ("form", variant.outline)];
    let call = frame.config.scirag.sampling.outline;
    let outline = match desk.text("outline", prompts::SCIRAG_OUTLINE, &values, call).await {
        Ok(reply) => outline::read(&reply),
        Err(error) => {
            frame.skipped("the outline", &error);
            return None;
        }
    };
    if outline.text.is_empty() {
        desk.unused("outline", "the reply is empty; the answer is written without an outline");
        return None;
    }
    if outline.sections.is_empty() {
        desk.unused("outline", "no section could be read; its text is followed as it is");
    }
    frame.emit(&Event::Outlined { outline: outline.clone() });
    Some(outline)
}

/// Evidence for the question, and the first answer along the outline.
async fn first(
    desk: &Desk<'_>,
    variant: Variant,
    outline: Option<&Outline>,
) -> Result<ControlFlow<Answer, Manuscript>, AskError> {
    let frame = desk.frame;
    let manuscript = match Manuscript::gather(frame).await? {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(answer) => return Ok(ControlFlow::Break(answer)),
    };
    if variant.is_report {
        let plan = outline.map_or_else(String::new, |outline| {
            format!(
                "- Follow this outline: its sections are the parts, under its headings and in its order, each with about its share of the words; print no percentages.\n{}\n",
                outline.text
            )
        });
        return report::draft(frame, manuscript, &plan).await;
    }
    let call = frame.config.sampling.answer;
    let outline = outline.map_or(NO_OUTLINE, |outline| outline.text.as_str());
    let values =
        [("question", frame.question.as_str()), ("outline", outline), ("form", variant.prose)];
    let prompt = prompts::SCIRAG_DRAFT_PROSE;
    let text = match desk.over("draft", prompt, &values, &manuscript.visible, call).await {
        Ok(reply) => answer_text(&reply.text),
        Err(error) => return without_draft(frame, error).map(ControlFlow::Break),
    };
    if let Some(problem) = unusable(&text) {
        return Err(no_draft(frame, PortError::new(PortErrorKind::Corrupt, problem)));
    }
    frame.emit(&Event::Drafted { text: text.clone() });
    Ok(ControlFlow::Continue(Manuscript { text, ..manuscript }))
}

/// The root as it stands before anything is explored.
fn root(frame: &Frame<'_>, shown: &[Evidence]) -> TreeNode {
    TreeNode {
        state: NodeState::Answered,
        evidence: node::initial(shown),
        ..TreeNode::new("0", vec![frame.question.as_str().to_owned()])
    }
}

/// Criticises the first answer, grows the tree, and merges what it found into the answer.
async fn explore(
    desk: &Desk<'_>,
    variant: Variant,
    outline: &str,
    manuscript: Manuscript,
    exploration: &mut Exploration,
) -> Manuscript {
    let frame = desk.frame;
    if frame.config.scirag.levels() == 0 || frame.over_budget().is_some() {
        return manuscript;
    }
    let (question, text) = (frame.question.as_str(), manuscript.text.as_str());
    let Gaps { unmet, queries } =
        critic::of_draft(desk, question, outline, variant.critic, text).await;
    exploration.root.gaps = unmet;
    if queries.is_empty() {
        return manuscript;
    }
    exploration.nodes = tree::grow(frame, queries).await;
    let brought = merge::upward(frame, &exploration.nodes).await;
    aggregate(desk, variant, outline, manuscript, &brought).await
}

/// The first answer with what the tree found. Where the call fails, the first answer stands, and what was found is evidence.
async fn aggregate(
    desk: &Desk<'_>,
    variant: Variant,
    outline: &str,
    mut manuscript: Manuscript,
    brought: &[Brought],
) -> Manuscript {
    let frame = desk.frame;
    if brought.is_empty() {
        let message = "no sub-question found anything; the first answer stands";
        frame.notice(Notice::new(NoticeKind::InsufficientEvidence, message));
        return manuscript;
    }
    let initial = manuscript.registry.items().iter().map(|one| one.ranked.clone()).collect();
    let mut view = View { passages: initial, reasons: Vec::new() };
    let supplement = supplement(&mut view, brought);
    let before = manuscript.registry.len();
    let (shown, supplement) = register(frame, &mut manuscript, &view, &supplement);
    frame.report_added(&manuscript.registry, before, "tree of retrievals");
    manuscript.visible = shown;
    if frame.over_budget().is_some() {
        return manuscript;
    }
    let words = report::words(frame.config);
    let values = [
        ("question", frame.question.as_str()),
        ("answer", manuscript.text.as_str()),
        ("outline", outline),
        ("supplement", supplement.as_str()),
        ("words", words.as_str()),
        ("form", variant.prose),
    ];
    let prompt = match variant.is_report {
        true => prompts::SCIRAG_AGGREGATE,
        false => prompts::SCIRAG_AGGREGATE_PROSE,
    };
    let call = frame.config.scirag.sampling.merge;
    let merged =
        match desk.whole_over("aggregate", prompt, &values, &manuscript.visible, call).await {
            Ok(reply) => Some(answer_text(&reply)),
            Err(error) => {
                frame.skipped("the final merge", &error);
                None
            }
        };
    let merged = merged.and_then(|text| {
        let problem = unusable(&text);
        if let Some(problem) = problem {
            desk.unused("aggregate", &format!("{problem}; the first answer stands"));
        }
        problem.is_none().then_some(text)
    });
    let known = manuscript.registry.len();
    let merged = merged.map(|text| renumber(&text, |number| (number < known).then_some(number)));
    frame.emit(&Event::Merged {
        id: "0".to_owned(),
        children: brought.len(),
        passages: manuscript.visible.len(),
        dropped: merged.as_ref().map_or(0, |(_, dropped)| *dropped),
        text: merged.as_ref().map(|(text, _)| text.clone()),
    });
    if let Some((text, _)) = merged {
        manuscript.text = text;
    }
    manuscript
}

/// Gives what the final merge shows numbers of the run, and puts those into the supplement.
fn register(
    frame: &Frame<'_>,
    manuscript: &mut Manuscript,
    view: &View,
    supplement: &str,
) -> (Vec<Evidence>, String) {
    let evidence = explored::numbered(&view.passages);
    let mentioned: BTreeSet<usize> =
        cited(supplement).union(&cited(&manuscript.text)).copied().collect();
    let mut shown = best_first(&evidence, &mentioned, frame.config.scirag.merged_passages);
    shown.sort_by_key(|one| one.number);
    let mut numbers = vec![None; evidence.len()];
    let mut visible = Vec::with_capacity(shown.len());
    for Evidence { number: old, ranked } in shown {
        let number = manuscript.registry.add(ranked);
        numbers[old.0] = Some(number.0);
        visible.extend(manuscript.registry.get(number).cloned());
    }
    let (supplement, _) = renumber(supplement, |old| numbers.get(old).copied().flatten());
    (visible, supplement)
}

/// From the written text to the answer: a report's sentences through roles and gates, a verdict to its label, prose through the
/// gates.
///
/// Deviation D75: the source asks for the citations of each line in a call of its own.
async fn end(
    desk: &Desk<'_>,
    variant: Variant,
    mut manuscript: Manuscript,
) -> Result<Answer, AskError> {
    let frame = desk.frame;
    if let Some(labels) = frame.config.task.labels() {
        let reply = Generation {
            text: variant::verdict(&manuscript.text, labels),
            finish: FinishReason::Stop,
            usage: TokenUsage::default(),
            usage_estimated: false,
            model: String::new(),
        };
        return Ok(classified(frame, &reply, labels, &manuscript.registry));
    }
    if variant.is_report {
        return report::conclude(frame, manuscript).await;
    }
    if frame.config.task == crate::config::Task::SinglePaperQa {
        compress(desk, &mut manuscript).await;
    }
    insert_citations(frame, &mut manuscript).await;
    conclude(frame, manuscript).await
}

/// One sentence of the long answer.
async fn compress(desk: &Desk<'_>, manuscript: &mut Manuscript) {
    let frame = desk.frame;
    if frame.over_budget().is_some() {
        return;
    }
    let call = frame.config.scirag.sampling.compress;
    let values = [("question", frame.question.as_str()), ("answer", manuscript.text.as_str())];
    let prompt = prompts::SCIRAG_COMPRESS;
    match desk.whole_over("compress", prompt, &values, &manuscript.visible, call).await {
        Ok(reply) => {
            let text = answer_text(&reply);
            if unusable(&text).is_none() {
                manuscript.text = text;
            }
        }
        Err(error) => frame.skipped("the one-sentence answer", &error),
    }
}

/// The tree under work.
struct Exploration {
    root: TreeNode,
    nodes: Vec<Grown>,
}

impl Exploration {
    /// The answer with its outline and the tree. Calls that merge children into a node are that node's, calls for the answer as
    /// a whole the root's.
    fn told(self, frame: &Frame<'_>, answer: Answer, outline: Option<Outline>) -> Answer {
        let Self { mut root, nodes: grown } = self;
        (root.calls, root.usage) = frame.log.calls(|purpose| node_of(purpose).is_empty());
        let mut nodes = vec![root];
        for node in grown {
            let mut record = node.explored.record;
            (record.calls, record.usage) = frame.log.calls(|purpose| node_of(purpose) == record.id);
            nodes.push(record);
        }
        with_tree(answer, outline, nodes)
    }
}

/// The answer with its outline and the tree in order of path, whose evidence is told under which number the answer cites it.
fn with_tree(answer: Answer, outline: Option<Outline>, mut nodes: Vec<TreeNode>) -> Answer {
    nodes.sort_by_key(|node| place_of(&node.id));
    for evidence in nodes.iter_mut().flat_map(|node| &mut node.evidence) {
        let reference = answer.references.iter().find(|one| one.paper_id == evidence.paper);
        evidence.reference = reference.map(|reference| reference.number);
    }
    Answer { outline, tree: Some(Tree { nodes }), ..answer }
}

/// `2.1` as numbers, in whose order the tree is told.
fn place_of(id: &str) -> Vec<usize> {
    id.split('.').filter_map(|part| part.parse().ok()).collect()
}
