//! What every step of a review works with: calls whose replies are read, and the books on what went wrong.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use scholar_core::{Notice, NoticeKind, PaperId, PortError};
use scholar_pipeline::Frame;
use scholar_pipeline::budget::BudgetExceeded;
use scholar_pipeline::config::CallSampling;
use scholar_pipeline::modes::scirag::json;
use scholar_pipeline::prompts::Prompt;
use serde_json::Value;

use crate::config::ReviewConfig;
use crate::cutoff::{Guard, LeftOut, Refusal};
use crate::fit::fitted;
use crate::idea::Idea;
use crate::prompts;
use crate::report::{Failure, ItemState, ReviewModule};

/// One review under work.
pub(crate) struct Desk<'a> {
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) idea: &'a Idea,
    pub(crate) config: &'a ReviewConfig,
    pub(crate) guard: Guard,
    refused: Mutex<BTreeSet<(&'static str, Refusal, PaperId)>>,
    failures: Mutex<Vec<Failure>>,
    /// Sentences not shown because nothing supports them.
    pub(crate) unproven: AtomicUsize,
    /// Links and keys that lead nowhere.
    pub(crate) removed: AtomicUsize,
}

/// What of a prompt may be cut.
pub(crate) struct Material<'a> {
    /// Its variable.
    pub(crate) name: &'a str,
    /// A paper, or a statement, each.
    pub(crate) blocks: Vec<String>,
    /// What stands between two.
    pub(crate) between: &'a str,
}

/// What was asked of a model, and how often.
pub(crate) struct Asked<T> {
    pub(crate) value: T,
    pub(crate) state: ItemState,
}

impl<'a> Desk<'a> {
    pub(crate) fn new(frame: &'a Frame<'a>, idea: &'a Idea, config: &'a ReviewConfig) -> Self {
        Self {
            frame,
            idea,
            config,
            guard: Guard::of(idea, config.cutoff),
            refused: Mutex::default(),
            failures: Mutex::default(),
            unproven: AtomicUsize::new(0),
            removed: AtomicUsize::new(0),
        }
    }

    /// Asks for JSON that `parse` can read; once more, quoting what is wrong, if it cannot.
    ///
    /// # Errors
    /// Why there is nothing, for people: the call failed, or the second reply is no better.
    pub(crate) async fn ask<T>(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        call: CallSampling,
        parse: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Asked<T>, String> {
        let reply = self.frame.call(purpose, prompt, values, call).await.map_err(|e| told(&e))?;
        let read = |text: &str| read(text, &parse);
        let problem = match read(&reply.text) {
            Ok(value) => return Ok(Asked { value, state: ItemState::Ok }),
            Err(problem) => problem,
        };
        let values = [("reply", reply.text.as_str()), ("problem", problem.as_str())];
        let purpose = format!("repair {purpose}");
        let again = self.frame.call(&purpose, prompts::REPAIR, &values, call).await;
        let again = again.map_err(|error| format!("{problem}; {}", told(&error)))?;
        let value =
            read(&again.text).map_err(|still| format!("{problem}; asked again: {still}"))?;
        Ok(Asked { value, state: ItemState::Retried })
    }

    /// `material` as it goes into `prompt` beside `values`: cut where the whole would be longer than a prompt may be, which is told.
    pub(crate) fn fit(
        &self,
        purpose: &str,
        prompt: Prompt,
        values: &[(&str, &str)],
        material: Material<'_>,
    ) -> String {
        let Material { name, blocks, between } = material;
        let Some(most) = self.config.prompt_chars else { return blocks.join(between) };
        let without: Vec<(&str, &str)> = values.iter().copied().chain([(name, "")]).collect();
        let messages = prompt.render(false, &without);
        let around: usize = messages.iter().map(|message| message.content.chars().count()).sum();
        let all = blocks.len();
        let gaps = all.saturating_sub(1) * between.chars().count();
        let (blocks, cut) = fitted(blocks, most.saturating_sub(around + gaps));
        if cut > 0 {
            let message = format!(
                "{purpose}: {cut} of {all} texts were cut, as a prompt has at most {most} characters"
            );
            self.frame.notice(Notice::new(NoticeKind::Truncated, message));
        }
        blocks.join(between)
    }

    /// Lists an item that failed.
    pub(crate) fn failed(&self, module: ReviewModule, stage: &str, item: &str, reason: &str) {
        let failure = Failure {
            module,
            stage: stage.to_owned(),
            item: item.to_owned(),
            reason: reason.to_owned(),
        };
        let message = format!("{} of {item} failed: {reason}", stage.replace('_', " "));
        let kind = match self.frame.over_budget() {
            Some(_) => NoticeKind::Budget,
            None => NoticeKind::Skipped,
        };
        self.frame.notice(Notice::new(kind, message));
        self.failures.lock().push(failure);
    }

    /// Counts a paper that was refused.
    pub(crate) fn refuse(&self, route: &'static str, why: Refusal, paper: &PaperId) {
        self.refused.lock().insert((route, why, paper.clone()));
    }

    /// Counts what was taken out of a model's text.
    pub(crate) fn count(counter: &AtomicUsize, n: usize) {
        counter.fetch_add(n, Ordering::Relaxed);
    }

    /// Failures by module, stage and item, whatever ran first.
    pub(crate) fn failures(&self) -> Vec<Failure> {
        let mut failures = self.failures.lock().clone();
        failures.sort_by(|a, b| {
            (a.module, &a.stage, &a.item, &a.reason).cmp(&(b.module, &b.stage, &b.item, &b.reason))
        });
        failures
    }

    /// Papers refused, by route and reason.
    pub(crate) fn left_out(&self) -> Vec<LeftOut> {
        let mut all: Vec<LeftOut> = Vec::new();
        for (route, why, _) in &*self.refused.lock() {
            match all.last_mut() {
                Some(last) if last.route == *route && last.why == *why => last.papers += 1,
                _ => all.push(LeftOut { route: (*route).to_owned(), why: *why, papers: 1 }),
            }
        }
        all
    }
}

/// What `parse` makes of the JSON in a reply: an object or a list, wherever it stands, of lists also the form of Python.
pub(crate) fn read<T>(
    text: &str,
    parse: &impl Fn(&Value) -> Result<T, String>,
) -> Result<T, String> {
    let object = json::object(text);
    let from = text.find('[').unwrap_or(0);
    let list = json::array(&double_quoted(&text[from..])).or_else(|_| json::array(text));
    let is_list = match (text.find('{'), text.find('[')) {
        (Some(object), Some(list)) => list < object,
        (object, _) => object.is_none(),
    };
    let both = if is_list { [list, object] } else { [object, list] };
    let [first, second] = both.map(|value| value.and_then(|value| parse(&value)));
    match (first, second) {
        (Ok(value), _) | (Err(_), Ok(value)) => Ok(value),
        (Err(problem), Err(_)) => Err(problem),
    }
}

/// `text` with strings in single quotation marks in double ones. An apostrophe within a word ends no string.
fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut within: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (within, c) {
            (Some('\''), '\\') if chars.peek() == Some(&'\'') => out.extend(chars.next()),
            (Some(_), '\\') => {
                out.push(c);
                out.extend(chars.next());
            }
            (None, '\'' | '"') => {
                within = Some(c);
                out.push('"');
            }
            (Some('\''), '\'') if !chars.peek().is_some_and(|next| next.is_alphanumeric()) => {
                within = None;
                out.push('"');
            }
            (Some('\''), '"') => out.push_str("\\\""),
            (Some('"'), '"') => {
                within = None;
                out.push('"');
            }
            (_, c) => out.push(c),
        }
    }
    out
}

/// A failure as the report tells it.
pub(crate) fn told(error: &PortError) -> String {
    match BudgetExceeded::behind(error) {
        Some(exceeded) => exceeded.to_string(),
        None => error.to_string(),
    }
}

#[cfg(test)]
mod tests;
