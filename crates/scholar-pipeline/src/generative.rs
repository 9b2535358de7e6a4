//! The paper's loop, and the baselines cut from it.
//!
//! Steps of [`answer`]:
//! 1. [`keywords`]: queries; [`crate::pool`]: candidates, ranked and numbered once;
//! 2. [`draft`]: a text that cites evidence numbers;
//! 3. [`refine`]: feedback of at most three items, worked through one after another; an item with a question searches
//!    the datastore for new evidence; a revision is accepted or the text stays;
//! 4. [`insert_citations`]: citations for what has none;
//! 5. [`conclude`]: proof of every sentence, references numbered.
//!
//! A model call that fails after the draft leaves its step out, with a notice. Source: arXiv 2411.14199 §2.2,
//! reference code `src/open_scholar.py::run`; deviations D7–D22.

use scholar_core::text::markers::{between_markers, cut_reference_section, remove_markers};
use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Gate, Generation, Notice, NoticeKind, PortError,
    PortErrorKind, Query,
};

use crate::ask::{AskError, Frame, prompt_room, prove_error, references_of};
use crate::budget::BudgetExceeded;
use crate::config::{CallSampling, FeedbackConfig, PosthocMode, RankNewBy, Task};
use crate::event::Event;
use crate::evidence::{Evidence, EvidenceNumber, EvidenceRegistry};
use crate::pool::{self, Round};
use crate::prompt::{self, Prompt};
use crate::proof::{DraftSentence, draft_sentences, finalise, prove};

mod feedback;
mod keywords;
mod label;
mod posthoc;
mod revise;

/// The feedback parser as pairs, for golden files.
#[cfg(test)]
pub(crate) fn parse_feedback(
    reply: &str,
    parser: crate::config::FeedbackParser,
) -> Vec<(String, Option<String>)> {
    feedback::parse(reply, parser).into_iter().map(|item| (item.text, item.question)).collect()
}

/// How much of the loop runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Draft, feedback, revisions, citation insertion.
    Loop,
    /// The draft alone.
    DraftOnly,
}

/// The text under work and the evidence its prompts may show.
struct Work {
    registry: EvidenceRegistry,
    visible: Vec<Evidence>,
    text: String,
}

/// Retrieves, writes and proves.
pub(crate) async fn answer(frame: &Frame<'_>, rounds: Rounds) -> Result<Answer, AskError> {
    let mode = match rounds {
        Rounds::Loop => AnswerMode::Generative,
        Rounds::DraftOnly => AnswerMode::SinglePass,
    };
    frame.generator()?;
    let task = frame.config.task;
    let mut registry = EvidenceRegistry::new();
    let mut visible = Vec::new();
    if task.uses_passages() {
        let question = Query::from(frame.question);
        let queries = keywords::queries(frame, &question, frame.config.retrieval.keywords).await;
        visible = pool::gather(frame, &queries, &question, Round::First, &mut registry).await?;
        if visible.is_empty() {
            return Ok(abstain(frame, mode, &nothing_found(frame, &queries)));
        }
    }
    let mut work = Work { registry, visible, text: String::new() };
    let reply = match draft(frame, &work).await {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, mode, error),
    };
    if let Some(labels) = task.labels() {
        frame.emit(&Event::Drafted { text: reply.text.clone() });
        return Ok(classified(frame, mode, &reply, labels, &work.registry));
    }
    work.text = answer_text(&reply.text);
    if work.text.is_empty() {
        let error = PortError::new(PortErrorKind::Corrupt, "the reply has no text");
        return Err(generate_error(frame, "draft", error));
    }
    frame.emit(&Event::Drafted { text: work.text.clone() });
    if rounds == Rounds::Loop {
        refine(frame, &mut work).await?;
        insert_citations(frame, &mut work).await;
    }
    conclude(frame, mode, work).await
}

/// The model alone: nothing is retrieved and nothing is proven.
pub(crate) async fn closed_book(frame: &Frame<'_>) -> Result<Answer, AskError> {
    frame.generator()?;
    let mode = AnswerMode::NoRetrieval;
    let prompt = match frame.config.task.labels() {
        None => prompt::CLOSED_BOOK,
        Some(["true", _]) => prompt::CLAIM_NO_CONTEXT,
        Some(_) => prompt::BOOLEAN_QUESTION_NO_CONTEXT,
    };
    let values = [("question", frame.question.as_str())];
    let reply = match frame.call("closed_book", prompt, &values, frame.config.sampling.answer).await
    {
        Ok(reply) => reply,
        Err(error) => return without_draft(frame, mode, error),
    };
    frame.emit(&Event::Drafted { text: remove_markers(&between_markers(&reply.text).text) });
    if let Some(labels) = frame.config.task.labels() {
        return Ok(classified(frame, mode, &reply, labels, &EvidenceRegistry::new()));
    }
    frame.notice(Notice::new(
        NoticeKind::Unproven,
        "the model answered alone: no sentence is proven and its references are not shown",
    ));
    let sentences = plain_sentences(&answer_text(&reply.text));
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    let abstained = sentences.is_empty();
    Ok(Answer { question: asked(frame), mode, abstained, sentences, references: Vec::new() })
}

/// An answer that says there is none.
pub(crate) fn abstain(frame: &Frame<'_>, mode: AnswerMode, why: &str) -> Answer {
    frame.notice(Notice::new(NoticeKind::InsufficientEvidence, why));
    empty(frame, mode)
}

fn empty(frame: &Frame<'_>, mode: AnswerMode) -> Answer {
    let (sentences, references) = (Vec::new(), Vec::new());
    Answer { question: asked(frame), mode, abstained: true, sentences, references }
}

fn asked(frame: &Frame<'_>) -> String {
    frame.question.as_str().to_owned()
}

fn nothing_found(frame: &Frame<'_>, queries: &[Query]) -> String {
    let searched: Vec<String> = queries.iter().map(|q| format!("\"{}\"", q.as_str())).collect();
    format!("no passage was found in {} for {}", frame.ports.retriever.name(), searched.join(", "))
}

/// A budget that does not pay for a draft leaves the evidence; any other failure leaves nothing to say.
fn without_draft(
    frame: &Frame<'_>,
    mode: AnswerMode,
    error: PortError,
) -> Result<Answer, AskError> {
    if BudgetExceeded::behind(&error).is_none() {
        return Err(generate_error(frame, "draft", error));
    }
    frame.skipped("the answer", &error);
    Ok(empty(frame, mode))
}

fn generate_error(frame: &Frame<'_>, purpose: &str, source: PortError) -> AskError {
    let source = Box::new(source);
    let model = frame.ports.generator.as_ref().map(|g| g.info().model.clone());
    AskError::Generate { model: model.unwrap_or_default(), purpose: purpose.to_owned(), source }
}

async fn draft(frame: &Frame<'_>, work: &Work) -> Result<Generation, PortError> {
    let prompt = match frame.config.task {
        Task::Default => prompt::DRAFT,
        Task::ClaimFull => prompt::CLAIM_FULL,
        Task::BooleanQuestionFull => prompt::BOOLEAN_QUESTION_FULL,
        Task::SinglePaperQa => prompt::SINGLE_PAPER,
        Task::Summarization => prompt::SUMMARIZATION,
        Task::ClaimGold => prompt::CLAIM_GOLD,
        Task::ClaimNoContext => prompt::CLAIM_NO_CONTEXT,
        Task::BooleanQuestionGold => prompt::BOOLEAN_QUESTION_GOLD,
        Task::BooleanQuestionNoContext => prompt::BOOLEAN_QUESTION_NO_CONTEXT,
    };
    let call = frame.config.sampling.answer;
    let question = ("question", frame.question.as_str());
    let gold = matches!(frame.config.task, Task::ClaimGold | Task::BooleanQuestionGold);
    let references = if gold {
        let text = |e: &Evidence| e.ranked.retrieved.passage.text.clone();
        work.visible.iter().map(text).collect::<Vec<_>>().join(" ")
    } else {
        reference_block(frame, prompt, &[question], &work.visible, call)
    };
    frame.call("draft", prompt, &[question, ("references", &references)], call).await
}

/// The lines of `evidence` in order of number, as many of the best as the model's context holds.
fn reference_block(
    frame: &Frame<'_>,
    prompt: Prompt,
    values: &[(&str, &str)],
    evidence: &[Evidence],
    call: CallSampling,
) -> String {
    let Some(generator) = &frame.ports.generator else { return String::new() };
    let fixed: usize = prompt
        .render(true, values)
        .iter()
        .map(|message| generator.count_tokens(&message.content))
        .sum();
    let room = prompt_room(generator.as_ref(), call).saturating_sub(fixed);
    let mut used = 0;
    let mut lines: Vec<(EvidenceNumber, String)> = Vec::new();
    for passage in evidence {
        let line = passage.prompt_line();
        used += generator.count_tokens(&line) + 1;
        if used > room && !lines.is_empty() {
            break;
        }
        lines.push((passage.number, line));
    }
    if lines.len() < evidence.len() {
        let message = format!(
            "the {} prompt shows {} of {} passages: the context of {} holds no more",
            prompt.name,
            lines.len(),
            evidence.len(),
            generator.info().model
        );
        frame.notice(Notice::new(NoticeKind::Truncated, message));
    }
    lines.sort_by_key(|(number, _)| *number);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The text of a draft: between the markers, none left, no reference list.
fn answer_text(reply: &str) -> String {
    let text = remove_markers(&between_markers(reply).text);
    cut_reference_section(&text).trim().to_owned()
}

/// Feedback, and its items one after another on the current text.
async fn refine(frame: &Frame<'_>, work: &mut Work) -> Result<(), AskError> {
    let FeedbackConfig {
        items: most,
        parser,
        retrieve,
        keywords: _,
        rank_new_by: _,
        acceptance_ratio: _,
    } = frame.config.feedback;
    if most == 0 || frame.over_budget().is_some() {
        return Ok(());
    }
    let limit = most.to_string();
    let values = [
        ("items", limit.as_str()),
        ("question", frame.question.as_str()),
        ("answer", work.text.as_str()),
    ];
    let reply = match frame
        .call("feedback", prompt::FEEDBACK, &values, frame.config.sampling.feedback)
        .await
    {
        Ok(reply) => reply.text,
        Err(error) => {
            frame.skipped("feedback", &error);
            return Ok(());
        }
    };
    let items = feedback::parse(&reply, parser);
    if items.is_empty() {
        let message = "no feedback item could be read from the model's reply; the draft stands";
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    let pairs = items.iter().map(|item| (item.text.clone(), item.question.clone())).collect();
    frame.emit(&Event::Feedback { items: pairs });
    for (nth, item) in items.iter().take(most).enumerate() {
        if frame.over_budget().is_some() {
            break;
        }
        let query = item.question.as_deref().filter(|_| retrieve).and_then(Query::new);
        match query {
            Some(query) => revise_with_retrieval(frame, work, nth, (&item.text, &query)).await,
            None => revise(frame, work, nth, &item.text).await,
        }
    }
    Ok(())
}

async fn revise(frame: &Frame<'_>, work: &mut Work, nth: usize, item: &str) {
    let call = frame.config.sampling.edit;
    let values =
        [("question", frame.question.as_str()), ("answer", &work.text), ("feedback", item)];
    let references = reference_block(frame, prompt::EDIT, &values, &work.visible, call);
    let [question, answer, feedback] = values;
    let values = [question, answer, feedback, ("references", &references)];
    match frame.call("edit", prompt::EDIT, &values, call).await {
        Err(error) => frame.skipped(&format!("revision {}", nth + 1), &error),
        Ok(reply) => decide(frame, work, nth, &reply, Vec::new()),
    }
}

/// Searches for the item's question and revises with what is new.
async fn revise_with_retrieval(
    frame: &Frame<'_>,
    work: &mut Work,
    nth: usize,
    (item, query): (&str, &Query),
) {
    let queries = keywords::queries(frame, query, frame.config.feedback.keywords).await;
    let question = Query::from(frame.question);
    let rank_by = match frame.config.feedback.rank_new_by {
        RankNewBy::FeedbackQuestion => query,
        RankNewBy::Question => &question,
    };
    let found = pool::gather(frame, &queries, rank_by, Round::Feedback, &mut work.registry).await;
    // Failed searches were reported one by one.
    let new = found.unwrap_or_default();
    if new.is_empty() {
        let reason = "no new passage was found for its question".to_owned();
        let (accepted, text, new_evidence) = (false, None, Vec::new());
        frame.emit(&Event::Revised { item: nth, accepted, reason, new_evidence, text });
        return;
    }
    let call = frame.config.sampling.edit;
    let values =
        [("question", frame.question.as_str()), ("answer", &work.text), ("feedback", item)];
    let prompt = prompt::EDIT_WITH_RETRIEVAL;
    let references = reference_block(frame, prompt, &values, &new, call);
    let [question, answer, feedback] = values;
    let values = [question, answer, feedback, ("references", &references)];
    match frame.call("edit_with_retrieval", prompt, &values, call).await {
        Err(error) => frame.skipped(&format!("revision {}", nth + 1), &error),
        Ok(reply) => decide(frame, work, nth, &reply, new),
    }
}

/// Accepts or refuses a revision; accepted evidence is visible to every later prompt.
fn decide(frame: &Frame<'_>, work: &mut Work, nth: usize, reply: &Generation, new: Vec<Evidence>) {
    let revised = revise::revised_text(&reply.text);
    let ratio = frame.config.feedback.acceptance_ratio;
    let (accepted, reason) = revise::accept(&work.text, &revised, ratio);
    let new_evidence = new.iter().map(|evidence| evidence.number).collect();
    let text = accepted.then(|| revised.clone());
    frame.emit(&Event::Revised { item: nth, accepted, reason, new_evidence, text });
    if accepted {
        work.text = revised;
        work.visible.extend(new);
    }
}

/// Post-hoc attribution, piece by piece.
async fn insert_citations(frame: &Frame<'_>, work: &mut Work) {
    let mode = frame.config.posthoc;
    if mode == PosthocMode::None {
        return;
    }
    work.text = posthoc::join_citation_lines(&work.text);
    let call = frame.config.sampling.posthoc;
    let mut out = String::with_capacity(work.text.len());
    let mut from = 0;
    for range in posthoc::pieces(&work.text, mode) {
        if frame.over_budget().is_some() {
            break;
        }
        let piece = &work.text[range.clone()];
        let values = [("statement", piece)];
        let references = reference_block(frame, prompt::POSTHOC, &values, &work.visible, call);
        let values = [("statement", piece), ("references", &references)];
        let cited = match frame.call("posthoc", prompt::POSTHOC, &values, call).await {
            Ok(reply) => {
                let exists =
                    |number| work.visible.iter().any(|e| e.number == EvidenceNumber(number));
                posthoc::checked(piece, &reply.text, exists)
            }
            Err(error) => {
                frame.skipped("citation insertion", &error);
                break;
            }
        };
        if let Some(cited) = cited {
            out.push_str(&work.text[from..range.start]);
            out.push_str(&cited);
            from = range.end;
        }
    }
    out.push_str(&work.text[from..]);
    work.text = out;
}

/// One label, and the citations that decide it.
fn classified(
    frame: &Frame<'_>,
    mode: AnswerMode,
    reply: &Generation,
    labels: [&'static str; 2],
    registry: &EvidenceRegistry,
) -> Answer {
    let Some((label, numbers)) = label::parse(&reply.text, labels) else {
        let message = format!("the reply names neither {} nor {}", labels[0], labels[1]);
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
        return empty(frame, mode);
    };
    let (references, citations) = references_of(registry, &numbers);
    let unknown = numbers.iter().filter(|n| registry.get(EvidenceNumber(**n)).is_none());
    let unknown: String = unknown.map(|n| EvidenceNumber(*n).to_string()).collect();
    if !unknown.is_empty() {
        let message = format!("citation {unknown} does not exist and was removed");
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    let gates = if citations.is_empty() { Vec::new() } else { vec![Gate::L0] };
    let sentence = AnswerSentence {
        text: label.to_owned(),
        heading: None,
        paragraph_start: true,
        citations,
        support: None,
        quotes: Vec::new(),
        gates,
        verbatim: false,
    };
    frame.emit(&Event::Sentence { sentence: sentence.clone() });
    let sentences = vec![sentence];
    Answer { question: asked(frame), mode, abstained: false, sentences, references }
}

/// Proof of every sentence, and the final numbers.
async fn conclude(frame: &Frame<'_>, mode: AnswerMode, work: Work) -> Result<Answer, AskError> {
    let mut registry = work.registry;
    let shown = registry.len();
    let config = frame.proof_config();
    let draft = draft_sentences(&work.text);
    let proven = prove(&frame.ports, &mut registry, &draft, &config, &frame.log).await;
    let proven = proven.map_err(prove_error)?;
    frame.report_added(&registry, shown, "searches of the proof");
    let (sentences, references) = finalise(&proven.sentences, &registry);
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    if sentences.is_empty() {
        return Ok(abstain(frame, mode, "no sentence of the draft could be proven"));
    }
    Ok(Answer { question: asked(frame), mode, abstained: false, sentences, references })
}

/// Sentences of a text nobody will prove, without its citations.
fn plain_sentences(text: &str) -> Vec<AnswerSentence> {
    let plain = |sentence: DraftSentence| AnswerSentence {
        text: sentence.text,
        heading: sentence.heading,
        paragraph_start: sentence.paragraph_start,
        citations: Vec::new(),
        support: None,
        quotes: Vec::new(),
        gates: Vec::new(),
        verbatim: false,
    };
    draft_sentences(text).into_iter().map(plain).collect()
}
