//! What is compared: files of instances, and predictions of two systems that become instances.
//!
//! Predictions come in many shapes (this project's, upstream's lists and lines, answers without passages). What would
//! tell the systems apart is evened out where that changes no word: response markers go, citations are numbered from 1
//! in the order in which they appear, only cited passages are listed, and a reference section at the end goes where the
//! passages are known. Style and length stay, as they are what is judged.

mod predictions;

use std::collections::{BTreeMap, BTreeSet};

use scholar_core::text::markers::{
    CitationGroup, citation_groups, cut_reference_section, remove_markers, render_citations,
};
use serde::Deserialize;

use super::draw;
use super::model::{Answer, Instance, Kind, Reference};

pub use predictions::{Numbering, Prediction, Predictions, read_predictions};

/// A file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct MaterialError {
    /// The line or item.
    pub place: String,
    /// What is wrong there.
    pub message: String,
}

impl MaterialError {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

/// Instances, and what a person should know of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paired {
    /// A comparison for each question that both systems answered.
    pub instances: Vec<Instance>,
    /// What was left out and why, one sentence each.
    pub notices: Vec<String>,
}

/// An instance as upstream's application reads it.
#[derive(Deserialize)]
struct UpstreamInstance {
    #[serde(alias = "id")]
    instance_id: Option<serde_json::Value>,
    prompt: String,
    completions: Vec<UpstreamCompletion>,
    #[serde(default, alias = "annotator")]
    author: Option<String>,
}

#[derive(Deserialize)]
struct UpstreamCompletion {
    model: String,
    completion: String,
    #[serde(default)]
    refs_list: Vec<UpstreamReference>,
}

#[derive(Deserialize)]
struct UpstreamReference {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    id: Option<serde_json::Value>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    text: Option<String>,
}

/// Reads instances, one JSON object a line: this program's, or those of upstream's application.
///
/// # Errors
/// Names the line that cannot be used: what it lacks, or that its name came before.
pub fn read_instances(text: &str) -> Result<Vec<Instance>, MaterialError> {
    let mut instances = Vec::new();
    let mut seen = BTreeSet::new();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let place = || format!("line {}", at + 1);
        let value: serde_json::Value = serde_json::from_str(line)
            .map_err(|error| MaterialError::new(place(), format!("is not JSON: {error}")))?;
        let instance = if value.get("completions").is_some() {
            let read: UpstreamInstance = serde_json::from_value(value)
                .map_err(|error| MaterialError::new(place(), error.to_string()))?;
            of_upstream(read, at).map_err(|message| MaterialError::new(place(), message))?
        } else {
            serde_json::from_value(value)
                .map_err(|error| MaterialError::new(place(), error.to_string()))?
        };
        check(&instance).map_err(|message| MaterialError::new(place(), message))?;
        if !seen.insert(instance.id.clone()) {
            let message = format!("the instance {:?} came before", instance.id);
            return Err(MaterialError::new(place(), message));
        }
        instances.push(instance);
    }
    Ok(instances)
}

fn check(instance: &Instance) -> Result<(), String> {
    let [a, b] = &instance.answers;
    if instance.id.trim().is_empty() {
        return Err("the id is empty".to_owned());
    }
    if instance.question.trim().is_empty() {
        return Err(format!("{:?} has no question", instance.id));
    }
    if (instance.kind == Kind::Review) == instance.plan.trim().is_empty() {
        return Err(format!("{:?} has a plan and is no review, or the reverse", instance.id));
    }
    if a.system == b.system {
        return Err(format!("both answers of {:?} are by {:?}", instance.id, a.system));
    }
    match [a, b].into_iter().find(|answer| answer.text.trim().is_empty()) {
        Some(answer) => Err(format!("{:?} of {:?} is empty", answer.system, instance.id)),
        None => Ok(()),
    }
}

fn of_upstream(read: UpstreamInstance, at: usize) -> Result<Instance, String> {
    let n = read.completions.len();
    let answers: [UpstreamCompletion; 2] =
        read.completions.try_into().map_err(|_| format!("has {n} completions, not 2"))?;
    // Its own examples lack the id that its own submissions need.
    let id = read.instance_id.map_or_else(|| format!("item-{}", at + 1), |id| plain(&id));
    let answers = answers.map(|completion| {
        let passages: Vec<Reference> = completion
            .refs_list
            .into_iter()
            .enumerate()
            .map(|(at, reference)| Reference {
                number: reference.id.and_then(|id| plain(&id).parse().ok()).unwrap_or(at),
                title: reference.title.unwrap_or_default(),
                text: reference.text.unwrap_or_default(),
                url: reference.url,
            })
            .collect();
        even(&completion.model, &completion.completion, &passages)
    });
    let authors = read.author.into_iter().collect();
    Ok(Instance::comparison(id, read.prompt, authors, answers))
}

/// A string without its quotes, a number as it stands.
fn plain(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Compares what `a` and `b` say to the same questions.
///
/// Items are matched by their names, or where those differ by the words of the question. Of more than `limit` pairs those that `seed` draws are taken, in the order of `a`.
pub fn pair(a: &Predictions, b: &Predictions, limit: Option<(usize, u64)>) -> Paired {
    let mut paired = Paired::default();
    let by_id: BTreeMap<&str, &Prediction> =
        b.items.iter().map(|item| (item.id.as_str(), item)).collect();
    let by_words: BTreeMap<String, &Prediction> =
        b.items.iter().map(|item| (words(&item.question), item)).collect();
    let (mut matched, mut alone, mut empty) = (BTreeSet::new(), 0, 0);
    let mut named: Vec<String> = Vec::new();
    for item in &a.items {
        let same_name = by_id.get(item.id.as_str()).copied();
        let same_name = same_name.filter(|other| words(&other.question) == words(&item.question));
        let Some(other) = same_name.or_else(|| by_words.get(&words(&item.question)).copied())
        else {
            alone += 1;
            continue;
        };
        matched.insert(other.id.as_str());
        if item.text.trim().is_empty() || other.text.trim().is_empty() {
            empty += 1;
            continue;
        }
        let answers = [
            even(&a.system, &item.text, &item.passages),
            even(&b.system, &other.text, &other.passages),
        ];
        if answers.iter().any(|answer| names_a_system(&answer.text, [&a.system, &b.system])) {
            named.push(item.id.clone());
        }
        let authors: BTreeSet<&String> = item.authors.iter().chain(&other.authors).collect();
        let authors = authors.into_iter().cloned().collect();
        let (id, question) = (item.id.clone(), item.question.clone());
        paired.instances.push(Instance::comparison(id, question, authors, answers));
    }
    let mut say = |n: usize, words: String| {
        if n > 0 {
            paired.notices.push(words);
        }
    };
    let missing = b.items.len() - matched.len();
    say(alone, format!("{alone} questions of {} are not in {}", a.system, b.system));
    say(missing, format!("{missing} questions of {} are not in {}", b.system, a.system));
    say(empty, format!("{empty} questions are left out: one of the answers is empty"));
    for of in [a, b] {
        say(of.failed, format!("{} items of {} failed and are left out", of.failed, of.system));
    }
    if let Some((limit, seed)) = limit {
        draw::sample(&mut paired.instances, limit, seed);
    }
    let same = paired.instances.iter().filter(|one| {
        let [a, b] = &one.answers;
        a.text == b.text && a.references == b.references
    });
    let same = same.count();
    if same > 0 {
        let words =
            format!("{same} questions have the same answer from both, and can only be ties");
        paired.notices.push(words);
    }
    named.retain(|id| paired.instances.iter().any(|instance| instance.id == *id));
    if !named.is_empty() {
        paired.notices.push(format!(
            "answers that name one of the systems, and so may tell which is which: {}",
            named.join(", ")
        ));
    }
    paired
}

/// The words of a question in lower case.
fn words(question: &str) -> String {
    question.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether `text` holds the name of a system as words of their own.
fn names_a_system(text: &str, systems: [&str; 2]) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' });
        format!(
            " {} ",
            letters.collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
        )
        .to_lowercase()
    };
    let text = plain(text);
    systems.iter().any(|system| {
        let name = plain(system);
        name.trim().len() > 2 && text.contains(&name)
    })
}

/// An answer as it is shown: see the module.
fn even(system: &str, text: &str, passages: &[Reference]) -> Answer {
    let text = remove_markers(text);
    let text = if passages.is_empty() { &*text } else { cut_reference_section(&text) };
    let mut references: Vec<Reference> = Vec::new();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let groups: Vec<CitationGroup> =
        if passages.is_empty() { Vec::new() } else { citation_groups(text) };
    for group in groups.iter().filter(|group| !is_array(text, group)) {
        if group.range.start < from {
            continue;
        }
        let mut numbers: Vec<usize> = Vec::new();
        let mut nothing = false;
        for number in &group.numbers {
            let Some(passage) = passages.iter().find(|passage| passage.number == *number) else {
                nothing = true;
                continue;
            };
            let same = |one: &Reference| one.title == passage.title && one.text == passage.text;
            let place = references.iter().position(same).unwrap_or_else(|| {
                references.push(passage.clone());
                references.len() - 1
            });
            references[place].number = place + 1;
            if !numbers.contains(&(place + 1)) {
                numbers.push(place + 1);
            }
        }
        out.push_str(&text[from..group.range.start]);
        out.push_str(&render_citations(&numbers));
        if nothing {
            // A citation of nothing is the answer's fault, and annotators may see it.
            out.push_str("[?]");
        }
        from = group.range.end;
    }
    out.push_str(&text[from..]);
    Answer { system: system.to_owned(), text: out, references }
}

/// `x[0]`: no citation, as it is glued to a name.
fn is_array(text: &str, group: &CitationGroup) -> bool {
    let before = &text[..group.range.start];
    let word = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next().unwrap_or("");
    word.chars().count() == 1 && word.chars().all(char::is_alphabetic)
}

#[cfg(test)]
mod tests;
