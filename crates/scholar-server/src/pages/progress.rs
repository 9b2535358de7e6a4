//! A run under way: its events folded into what a reader is shown of them.
//!
//! The same functions make the page as it is loaded and the pieces that are added to it while it is open.

use maud::{Markup, html};
use scholar_core::paper::display_title;
use scholar_core::{AnswerSentence, Notice};
use scholar_pipeline::thread::ResolvedBy;
use scholar_pipeline::write::live::{LiveText, is_of_the_answer};
use scholar_pipeline::{Event, Evidence, modes};

use super::answer::is_doubtful;
use super::explored::Growing;
use super::sentence;
use super::text::{counted, seconds, text, web_address};
use crate::backend::JobKind;
use crate::jobs::feed::Seen;

/// Characters of a passage on a card before it is opened.
const TEASER: usize = 220;

/// What a reader sees of a run so far.
#[derive(Debug, Default)]
pub(super) struct Progress {
    steps: Vec<(u64, String)>,
    evidence: Vec<Evidence>,
    sentences: Vec<AnswerSentence>,
    /// The text that a model is writing, which nobody has checked yet.
    draft: String,
    /// Takes the marks of its lines away.
    live: LiveText,
    notices: Vec<Notice>,
    /// Outline and tree, in a mode that explores.
    explored: Growing,
}

/// A piece of the page that one event adds or replaces.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    /// Behind what is in the element of that id.
    Append(&'static str, String),
    /// In the place of what is in it.
    Replace(&'static str, String),
}

impl Progress {
    /// What these events come to.
    pub(super) fn of(events: &[Seen]) -> Self {
        let mut progress = Self::default();
        for seen in events {
            let _shown_as_a_whole = progress.see(seen);
        }
        progress
    }

    /// Takes an event; what it adds to the page.
    pub(super) fn see(&mut self, seen: &Seen) -> Vec<Piece> {
        let mut pieces = Vec::new();
        if let Some(step) = step(&seen.event) {
            let item = step_item(seen.at_ms, &step).into_string();
            pieces.push(Piece::Append("steps", item));
            self.steps.push((seen.at_ms, step));
        }
        if self.explored.see(&seen.event) {
            pieces.push(Piece::Replace("explored", self.explored.render().into_string()));
        }
        match &*seen.event {
            Event::Ranked { evidence, .. } => {
                for one in evidence {
                    if !self.evidence.iter().any(|known| known.number == one.number) {
                        pieces.push(Piece::Append("evidence", card(one).into_string()));
                        self.evidence.push(one.clone());
                    }
                }
            }
            Event::Generating { purpose, .. } if is_of_the_answer(purpose) => {
                self.draft.clear();
                self.live = LiveText::default();
                pieces.push(Piece::Replace("draft", String::new()));
            }
            Event::Text { purpose, delta } if is_of_the_answer(purpose) => {
                let ready = self.live.push(delta);
                pieces.extend(self.write(&ready));
            }
            Event::Generated { purpose, .. } if is_of_the_answer(purpose) => {
                let rest = self.live.finish();
                pieces.extend(self.write(&rest));
            }
            Event::Sentence { sentence } => {
                pieces.push(Piece::Append("answer", self.next_sentence(sentence).into_string()));
                self.sentences.push(sentence.clone());
            }
            Event::Noticed { notice } => {
                pieces.push(Piece::Append("notices", notice_item(notice).into_string()));
                self.notices.push(notice.clone());
            }
            _ => {}
        }
        pieces
    }

    /// What is ready of the draft, behind what there is of it.
    fn write(&mut self, ready: &str) -> Option<Piece> {
        if ready.is_empty() {
            return None;
        }
        self.draft.push_str(ready);
        Some(Piece::Append("draft", html! { (text(ready)) }.into_string()))
    }

    /// A sentence behind those before: its heading first, where that is new.
    fn next_sentence(&self, sentence: &AnswerSentence) -> Markup {
        let before = self.sentences.last().map(|last| last.heading.as_deref());
        let is_new = before != Some(sentence.heading.as_deref());
        proven(sentence, is_new)
    }

    /// The parts that change of the page of a run of that kind.
    pub(super) fn of_kind(&self, kind: JobKind) -> Markup {
        match kind {
            JobKind::Ask | JobKind::Review => self.render(),
            JobKind::Table | JobKind::Screening => self.render_steps(),
        }
    }

    /// Those of a page that has no answer: steps and notices.
    pub(super) fn render_steps(&self) -> Markup {
        html! {
            section aria-labelledby="steps-title" {
                h2 #steps-title { "Steps" }
                ol #steps .steps aria-live="polite" { @for (at, step) in &self.steps { (step_item(*at, step)) } }
            }
            ul #notices .notices { @for notice in &self.notices { (notice_item(notice)) } }
        }
    }

    /// The page's parts that change.
    pub(super) fn render(&self) -> Markup {
        html! {
            section aria-labelledby="steps-title" {
                h2 #steps-title { "Steps" }
                ol #steps .steps aria-live="polite" { @for (at, step) in &self.steps { (step_item(*at, step)) } }
            }
            section aria-labelledby="answer-title" {
                h2 #answer-title { "Written so far" }
                p.soft { "Sentences appear as soon as they are checked." }
                div #answer .answer {
                    @for (at, sentence) in self.sentences.iter().enumerate() {
                        (proven(sentence, at == 0 || self.sentences[at - 1].heading != sentence.heading))
                    }
                }
                details.draft {
                    summary { "Being written, not checked yet" }
                    div #draft .prose { (text(&self.draft)) }
                }
            }
            section.grows aria-labelledby="explored-title" {
                h2 #explored-title { "Explored so far" }
                div #explored { (self.explored.render()) }
            }
            section.grows aria-labelledby="evidence-title" {
                h2 #evidence-title { "Evidence" }
                ol #evidence .cards { @for one in &self.evidence { (card(one)) } }
            }
            ul #notices .notices { @for notice in &self.notices { (notice_item(notice)) } }
        }
    }
}

/// A sentence of an answer that is not whole yet: its citations have no numbers of the answer's own.
fn proven(one: &AnswerSentence, with_heading: bool) -> Markup {
    let doubtful = is_doubtful(one);
    html! {
        @if let (true, Some(heading)) = (with_heading, &one.heading) { h3 { (text(heading)) } }
        p { span class={ "sentence" @if doubtful { " doubtful" } } { (text(&one.text)) @if doubtful { "†" } } }
    }
}

fn step_item(at_ms: u64, step: &str) -> Markup {
    html! { li { span.time { (seconds(at_ms)) } " " (text(step)) } }
}

/// A notice with the next step.
pub(super) fn notice_item(notice: &Notice) -> Markup {
    html! {
        li { (text(&sentence(&notice.message))) @if let Some(hint) = &notice.hint { " " span.soft { (text(&sentence(hint))) } } }
    }
}

/// A passage that was found.
pub(super) fn card(one: &Evidence) -> Markup {
    let found = &one.ranked.retrieved;
    let paper = &found.paper;
    let teaser: String = found.passage.text.chars().take(TEASER).collect();
    let rest: String = found.passage.text.chars().skip(TEASER).collect();
    let link = paper.link();
    html! {
        li.card {
            strong { (text(&display_title(&paper.title, &paper.id))) }
            p.soft {
                @if let Some(first) = paper.authors.first() { (text(first)) @if paper.authors.len() > 1 { " et al." } ", " }
                @match paper.year { Some(year) => { (year) } None => { "undated" } }
                @if let Some(n) = paper.citation_count { " · " (counted(n as usize, "citation", "citations")) }
                @if !found.found_by.is_empty() { " · found by " (text(&found.found_by.join(", "))) }
            }
            @if rest.is_empty() { p { (text(&teaser)) } } @else { details { summary { (text(&teaser)) "…" } p { (text(&found.passage.text)) } } }
            @if let Some(link) = link.as_deref().and_then(web_address) { p { a href=(text(link)) rel="noreferrer noopener" target="_blank" { "Publisher’s page" } } }
        }
    }
}

/// What an event is told as; nothing where it is shown in another way.
fn step(event: &Event) -> Option<String> {
    Some(match event {
        Event::Started { mode, reason } => format!("{}: {reason}", modes::of(*mode).title),
        Event::Resolved { question, by } if *by != ResolvedBy::AsTyped => {
            format!("Asked as: {question}")
        }
        Event::Queries { queries } => {
            let texts: Vec<&str> = queries.iter().map(scholar_core::Query::as_str).collect();
            format!("Searching for: {}", texts.join(" · "))
        }
        Event::Searched { source, hits, .. } => {
            format!("{source}: {}", counted(*hits, "passage", "passages"))
        }
        Event::Pooled { candidates, kept } => {
            format!("{candidates} candidates, {kept} after removing duplicates and filtering")
        }
        Event::Ranked { reranker, evidence } => {
            format!("{} ranked by {reranker}", counted(evidence.len(), "passage", "passages"))
        }
        Event::Generating { purpose, .. } => format!("Writing: {purpose}"),
        Event::Outlined { outline } => {
            let sections = outline.sections.len();
            format!("Outline of {}", counted(sections, "section", "sections"))
        }
        Event::NodeBegan { id, query } => format!("Exploring {id}: {query}"),
        Event::NodeDecided { id, papers, neighbours, .. } => {
            format!("{id}: {papers} papers found, {neighbours} added from the citation graph")
        }
        Event::Merged { id, children, passages, .. } => {
            format!("Merged {children} answers over {passages} passages into {id}")
        }
        Event::Drafted { .. } => "The draft is there; it is being reviewed".to_owned(),
        Event::Feedback { items } => {
            let texts: Vec<&str> = items.iter().map(|(item, _)| item.as_str()).collect();
            format!("To improve: {}", texts.join(" · "))
        }
        Event::Revised { item, accepted, reason, .. } => {
            let verdict = if *accepted { "accepted" } else { "text kept" };
            format!("Revision {}: {verdict} ({reason})", item + 1)
        }
        Event::Verified { kept, reattributed, weakened, dropped } => format!(
            "Checked: {kept} sentences kept, {reattributed} cited anew, {weakened} weakened, {dropped} dropped"
        ),
        Event::PaperRead { done, of, title, result } => {
            format!("{done} of {of}: {title} – {result}")
        }
        Event::Finished { abstained: true } => {
            "No paper was found to answer this question".to_owned()
        }
        Event::Finished { abstained: false } => "Done".to_owned(),
        _ => return None,
    })
}

/// The steps of a run that is over.
pub(super) fn steps_of(events: &[Event]) -> Vec<String> {
    events.iter().filter_map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(at_ms: u64, event: Event) -> Seen {
        Seen::new(at_ms, event)
    }

    fn text_of(purpose: &str, delta: &str) -> Event {
        Event::Text { purpose: purpose.to_owned(), delta: delta.to_owned() }
    }

    #[test]
    fn a_page_that_grew_is_the_page_that_is_loaded() {
        let sentence = |text: &str, heading: &str| {
            let heading = Some(heading.to_owned());
            Event::Sentence {
                sentence: AnswerSentence { heading, ..AnswerSentence::uncited(text) },
            }
        };
        let events = [
            at(10, Event::Pooled { candidates: 3, kept: 2 }),
            at(20, text_of("draft", "F1 | <b>A\nS F")),
            at(25, text_of("draft", "1 | B")),
            at(28, text_of("keywords", "a query")),
            at(30, text_of("node 1.2", "of a node")),
            at(40, sentence("One.", "H")),
            at(50, sentence("Two.", "H")),
            at(60, sentence("Three.", "I")),
            at(70, Event::NodeBegan { id: "0".to_owned(), query: "<i>why".to_owned() }),
            at(80, Event::NodeBegan { id: "1".to_owned(), query: "how".to_owned() }),
        ];
        let whole = Progress::of(&events).render().into_string();
        let mut grown = Progress::default();
        let mut added = std::collections::BTreeMap::<&str, String>::new();
        for event in &events {
            for piece in grown.see(event) {
                match piece {
                    Piece::Append(id, html) => added.entry(id).or_default().push_str(&html),
                    Piece::Replace(id, html) => drop(added.insert(id, html)),
                }
            }
        }
        for (id, html) in &added {
            assert!(whole.contains(html), "{id}: {html}\n{whole}");
        }
        assert_eq!(added["draft"], "&lt;b&gt;A\nB", "no marks, no queries, and nothing of nodes");
        assert_eq!(added["answer"].matches("<h3>").count(), 2);
        assert!(added["explored"].contains("&lt;i&gt;why") && added["explored"].contains("how"));
    }
}
