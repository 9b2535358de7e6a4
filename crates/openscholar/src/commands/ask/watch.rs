//! Shows a run as it happens, and keeps what the record needs.

use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;
use scholar_core::text::untrusted;
use scholar_pipeline::thread::ResolvedBy;
use scholar_pipeline::write::live::{LiveText, is_of_the_answer};
use scholar_pipeline::{Event, Evidence, Observer, modes};

use super::tree;
use crate::output::document::Timings;
use crate::output::json::Json;
use crate::output::markdown;
use crate::printer::Printer;
use crate::progress;

/// How many passages the first look shows.
const SHOWN_EVIDENCE: usize = 10;

/// The observer of `ask`.
pub(crate) struct Watch {
    printer: Printer,
    stream: bool,
    began: Instant,
    spinner: progress::Bar,
    state: Mutex<State>,
    also: Option<Arc<dyn Observer>>,
}

/// What was seen.
#[derive(Default)]
struct State {
    events: Vec<Event>,
    timings: Timings,
    in_text: bool,
    live: LiveText,
}

impl Watch {
    pub(crate) fn new(printer: &Printer, stream: bool, began: Instant, open_ms: u64) -> Self {
        let timings = Timings { open: open_ms, ..Timings::default() };
        Self {
            printer: printer.clone(),
            stream,
            began,
            spinner: progress::spinner(printer),
            state: Mutex::new(State { timings, ..State::default() }),
            also: None,
        }
    }

    /// Tells `also` of every event, too.
    pub(crate) fn and(self, also: Option<Arc<dyn Observer>>) -> Self {
        Self { also, ..self }
    }

    /// Ends the display and hands over events and timings.
    pub(crate) fn finish(&self) -> (Vec<Event>, Timings) {
        self.spinner.finish_and_clear();
        let mut state = self.state.lock();
        state.timings.total = self.elapsed();
        (std::mem::take(&mut state.events), state.timings.clone())
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn say(&self, text: &str) {
        self.spinner.suspend(|| self.printer.say(text));
    }

    /// A piece of prose, live on a terminal.
    fn text(&self, delta: &str, state: &mut State) {
        if !self.printer.live() {
            return;
        }
        let shown = state.live.push(delta);
        self.spinner.suspend(|| self.printer.stream(&shown));
        state.in_text = true;
    }

    fn evidence(&self, evidence: &[Evidence]) {
        for (idx, item) in evidence.iter().take(SHOWN_EVIDENCE).enumerate() {
            let found = &item.ranked.retrieved;
            let paper = &found.paper;
            let who = paper
                .authors
                .first()
                .and_then(|author| author.split_whitespace().last())
                .unwrap_or("?");
            let year = paper.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
            let title = paper.display_title();
            let (title, who) = (untrusted(&title).line(), untrusted(who).line());
            self.say(&format!("  {:>2}. {title} ({who}, {year})", idx + 1));
        }
        if evidence.len() > SHOWN_EVIDENCE {
            self.say(&format!("      … and {} more", evidence.len() - SHOWN_EVIDENCE));
        }
    }

    /// The tree of retrievals, as it grows.
    fn explored(&self, event: &Event) {
        for line in tree::lines(event) {
            self.say(&line);
        }
        if let Event::NodeBegan { id, .. } = event {
            self.spinner.set_message(format!("exploring {id}"));
        }
    }

    fn show(&self, event: &Event, state: &mut State) {
        if state.in_text && !matches!(event, Event::Text { .. }) {
            self.say(&state.live.finish());
            state.in_text = false;
        }
        match event {
            Event::Started { mode, reason } => self.say(&format!("{}: {reason}", modes::of(*mode).title)),
            Event::Resolved { question, by } => {
                if *by != ResolvedBy::AsTyped {
                    self.say(&format!("asked as: {}", untrusted(question).line()));
                }
            }
            Event::Queries { queries } => {
                for query in queries.iter().skip(1) {
                    self.say(&format!("  also searching: {}", untrusted(query.as_str()).line()));
                }
            }
            Event::Searched { .. } => self.spinner.set_message("searching"),
            Event::Pooled { candidates, kept } => {
                self.spinner.set_message(format!("reranking {kept} of {candidates} passages"));
            }
            Event::Ranked { reranker, evidence } => {
                let shown = evidence.len();
                self.say(&format!(
                    "{:.1} s: {shown} passages, ranked by {reranker}",
                    self.began.elapsed().as_secs_f64()
                ));
                self.evidence(evidence);
            }
            Event::Generating { purpose, .. } => self.spinner.set_message(format!("writing: {purpose}")),
            Event::Text { purpose, delta } if is_of_the_answer(purpose) => self.text(delta, state),
            Event::Text { .. } => {}
            Event::Outlined { .. }
            | Event::NodeBegan { .. }
            | Event::NodeDecided { .. }
            | Event::NodeEnded { .. }
            | Event::Merged { .. } => self.explored(event),
            Event::Generated { .. } => self.spinner.set_message("working"),
            Event::Drafted { .. } => self.say("draft ready; reviewing it"),
            Event::Feedback { items } => {
                for (item, question) in items {
                    let search = question.as_ref().map(|q| format!(" (searching: {q})")).unwrap_or_default();
                    self.say(&format!("  to improve: {}", untrusted(&format!("{item}{search}")).line()));
                }
            }
            Event::Revised { item, accepted, reason, .. } => {
                let verdict = if *accepted { "accepted" } else { "kept the text" };
                self.say(&format!("  revision {}: {verdict} ({})", item + 1, untrusted(reason).line()));
            }
            Event::Sentence { sentence } => {
                self.say(&format!("  · {}", untrusted(&markdown::marked(sentence)).line()));
            }
            Event::Verified { kept, reattributed, weakened, dropped } => self.say(&format!(
                "checked: {kept} sentences kept, {reattributed} re-attributed, {weakened} weakened, {dropped} dropped"
            )),
            Event::PaperRead { done, of, .. } => {
                self.spinner.set_message(format!("{done} of {of} papers"));
            }
            Event::Noticed { notice } => self.spinner.suspend(|| self.printer.notice(notice)),
            Event::Finished { .. } => self.spinner.finish_and_clear(),
        }
    }
}

impl Observer for Watch {
    fn on_event(&self, event: &Event) {
        let mut state = self.state.lock();
        let now = self.elapsed();
        match event {
            Event::Ranked { .. } => {
                state.timings.first_evidence.get_or_insert(now);
            }
            Event::Sentence { .. } => {
                state.timings.first_sentence.get_or_insert(now);
            }
            _ => {}
        }
        if self.stream {
            // A reader that left is noticed when the answer is printed.
            let _ignored = Json::line(event).and_then(|line| self.printer.out_json(&line));
        }
        self.show(event, &mut state);
        if let Some(also) = &self.also {
            also.on_event(event);
        }
        if !matches!(event, Event::Text { .. }) {
            state.events.push(event.clone());
        }
    }
}
