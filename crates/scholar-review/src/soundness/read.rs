//! The papers for one method: found, read, summarised, sorted out.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use futures::StreamExt as _;
use scholar_core::text::markers::strip_foreign_markers;
use scholar_core::text::normalise::single_spaced;
use scholar_core::{PaperId, PassageKind, Retrieved};
use scholar_pipeline::modes::scirag::json;
use serde_json::Value;

use super::methods::Planned;
use crate::desk::{Desk, Material};
use crate::library::{Library, by_paper};
use crate::report::{Evidence, EvidenceOrigin, EvidenceTier, ReviewModule, Summarised};
use crate::{cite, prompts, select};

/// Papers of one method, with the passages that were read.
#[derive(Default)]
pub(crate) struct Read {
    /// Oldest first.
    pub(crate) papers: Vec<(Evidence, Vec<Retrieved>)>,
    pub(crate) irrelevant: usize,
    /// The search or all summaries failed, for this reason.
    pub(crate) problem: Option<String>,
}

/// A paper under reading.
struct Candidate {
    hits: Vec<Retrieved>,
    origin: EvidenceOrigin,
}

/// Searches for a method, reads what is found and keeps what is relevant.
pub(crate) async fn evidence(desk: &Desk<'_>, library: &Library<'_>, planned: &Planned) -> Read {
    let candidates = match candidates(desk, library, planned).await {
        Ok(candidates) => candidates,
        Err(problem) => return Read { problem: Some(problem), ..Read::default() },
    };
    let mut papers: Vec<(Evidence, Vec<Retrieved>)> = Vec::with_capacity(candidates.len());
    for candidate in candidates {
        papers.extend(open(desk, library, planned, candidate).await);
    }
    // Oldest first, as newer work answers older; unknown dates come before all others.
    papers.sort_by(|(a, _), (b, _)| {
        (a.paper.latest_day(), &a.paper.id).cmp(&(b.paper.latest_day(), &b.paper.id))
    });
    for (nth, (evidence, _)) in (1..).zip(&mut papers) {
        evidence.key = format!("E{nth}");
    }
    if desk.config.ablation.mre {
        return Read { papers, ..Read::default() };
    }
    summarised(desk, planned, papers).await
}

/// Papers of the search in order of their best passage, then those that they cite.
async fn candidates(
    desk: &Desk<'_>,
    library: &Library<'_>,
    planned: &Planned,
) -> Result<Vec<Candidate>, String> {
    let config = &desk.config.soundness;
    let found = library.search(&planned.query, config.snippets).await;
    let found = by_paper(found.map_err(|error| error.to_string())?);
    let query = planned.query.clone();
    let mut candidates: Vec<Candidate> = found
        .into_iter()
        .map(|hits| Candidate { hits, origin: EvidenceOrigin::Search { query: query.clone() } })
        .collect();
    let most = config.papers_per_method.unwrap_or(usize::MAX);
    let ids: Vec<PaperId> = candidates.iter().map(|one| one.hits[0].paper.id.clone()).collect();
    if !desk.config.ablation.mre && candidates.len() < most {
        match library.references(&ids, config.references_per_hit).await {
            Ok(cited) => {
                for (of, hit) in cited {
                    let is_new =
                        candidates.iter().all(|known| known.hits[0].paper.id != hit.paper.id);
                    if is_new {
                        let origin = EvidenceOrigin::ReferenceOf(of);
                        candidates.push(Candidate { hits: vec![hit], origin });
                    }
                }
            }
            Err(error) => {
                let id = &planned.method.id;
                desk.failed(ReviewModule::Soundness, "references", id, &error.to_string());
            }
        }
    }
    candidates.truncate(most);
    Ok(candidates)
}

/// Reads a paper: its abstract, and passages of its sections on methods and results; else what the search found of it.
async fn open(
    desk: &Desk<'_>,
    library: &Library<'_>,
    planned: &Planned,
    candidate: Candidate,
) -> Option<(Evidence, Vec<Retrieved>)> {
    let config = &desk.config.soundness;
    let Candidate { hits, origin } = candidate;
    let first = hits.first()?.clone();
    let id = first.paper.id.clone();
    let mut within = Vec::new();
    if !desk.config.ablation.mre {
        // More than are read, to choose from by section.
        let wanted = 4 * config.passages_per_paper;
        match library.within(&id, &planned.query, wanted).await {
            Ok(passages) => within = passages,
            Err(error) => {
                let title = first.paper.display_title();
                desk.failed(ReviewModule::Soundness, "full_text", &title, &error.to_string());
            }
        }
    }
    let chosen = select::chosen(&within, config.passages_per_paper, config.numbered_sections);
    let body: Vec<Retrieved> = chosen.into_iter().map(|at| within[at].clone()).collect();
    let opening = library.opening(&first).await;
    let is_abstract = |hit: &Retrieved| hit.passage.kind == PassageKind::Abstract;
    let tier = if !body.is_empty() {
        EvidenceTier::FullText
    } else if opening.as_ref().is_some_and(is_abstract) {
        EvidenceTier::AbstractOnly
    } else {
        EvidenceTier::SnippetOnly
    };
    let snippets = if body.is_empty() { hits } else { Vec::new() };
    let mut passages: Vec<Retrieved> = Vec::new();
    for hit in opening.into_iter().chain(body).chain(snippets) {
        let is_new = passages.iter().all(|known| known.passage.id != hit.passage.id);
        if is_new && hit.passage.kind.is_prose() {
            passages.push(hit);
        }
    }
    let mut sections: Vec<String> = Vec::new();
    for hit in &passages {
        if !sections.contains(&hit.passage.section) {
            sections.push(hit.passage.section.clone());
        }
    }
    let evidence = Evidence {
        key: String::new(),
        paper: (*first.paper).clone(),
        tier,
        passages: passages.iter().map(|hit| hit.passage.id.clone()).collect(),
        sections,
        origin,
        summarised: Vec::new(),
    };
    (!passages.is_empty()).then_some((evidence, passages))
}

/// The relevant papers with what they did and found; a batch that fails is listed, and its papers are left out.
async fn summarised(
    desk: &Desk<'_>,
    planned: &Planned,
    papers: Vec<(Evidence, Vec<Retrieved>)>,
) -> Read {
    let batches: Vec<&[(Evidence, Vec<Retrieved>)]> =
        papers.chunks(desk.config.soundness.papers_per_summary.max(1)).collect();
    let n = batches.len();
    let replies: Vec<Result<BTreeMap<String, Vec<Summarised>>, String>> =
        futures::stream::iter((1..).zip(batches))
            .map(|(nth, batch)| summary(desk, planned, nth, batch))
            .buffered(desk.config.concurrency.max(1))
            .collect()
            .await;
    let problems: Vec<&String> = replies.iter().filter_map(|reply| reply.as_ref().err()).collect();
    let problem = problems.first().filter(|_| n > 0 && problems.len() == n).map(|&one| one.clone());
    let mut by_key: BTreeMap<String, Vec<Summarised>> = BTreeMap::new();
    for reply in replies.into_iter().flatten() {
        by_key.extend(reply);
    }
    let all = papers.len();
    let mut kept: Vec<(Evidence, Vec<Retrieved>)> = Vec::new();
    for (mut evidence, passages) in papers {
        let Some(summaries) = by_key.remove(&evidence.key) else { continue };
        let says = |one: &Summarised| {
            let Summarised { method, results, context } = one;
            let least = desk.config.soundness.summary_chars_min;
            [method, results, context].iter().any(|text| text.chars().count() > least)
        };
        evidence.summarised = summaries.into_iter().filter(says).collect();
        if !evidence.summarised.is_empty() {
            kept.push((evidence, passages));
        }
    }
    let irrelevant = all - kept.len();
    for (nth, (evidence, _)) in (1..).zip(&mut kept) {
        evidence.key = format!("E{nth}");
    }
    Read { papers: kept, irrelevant, problem }
}

async fn summary(
    desk: &Desk<'_>,
    planned: &Planned,
    nth: usize,
    batch: &[(Evidence, Vec<Retrieved>)],
) -> Result<BTreeMap<String, Vec<Summarised>>, String> {
    let blocks: Vec<String> =
        batch.iter().map(|(evidence, hits)| text_of(evidence, hits)).collect();
    let method = &planned.method;
    let purpose = format!("summary {} {nth}", method.id);
    let values = [("idea", desk.idea.text.as_str()), ("method", method.text.as_str())];
    let material = Material { name: "papers", blocks, between: "\n\n" };
    let papers = desk.fit(&purpose, prompts::SUMMARY, &values, material);
    let values = [values[0], values[1], ("papers", papers.as_str())];
    let call = desk.config.sampling.summary;
    let keys: Vec<&str> = batch.iter().map(|(evidence, _)| evidence.key.as_str()).collect();
    let parse = |value: &Value| parse(value, &keys);
    let asked = desk.ask(&purpose, prompts::SUMMARY, &values, call, parse).await;
    asked.map(|asked| asked.value).inspect_err(|reason| {
        let titles: Vec<&str> = batch.iter().map(|(one, _)| one.paper.title.as_str()).collect();
        let item = format!("{}: {}", method.id, titles.join("; "));
        desk.failed(ReviewModule::Soundness, "summary", &item, reason);
    })
}

/// A paper as a model reads it: key, title, and passages by section, without citation markers of its own.
pub(crate) fn text_of(evidence: &Evidence, passages: &[Retrieved]) -> String {
    let mut text = format!("[{}] {}", evidence.key, cite::line(&evidence.paper));
    for hit in passages {
        let passage = &hit.passage;
        let section = match (passage.kind, passage.section.as_str()) {
            (PassageKind::Abstract, _) => "Abstract",
            (_, "") => "Text",
            (_, section) => section,
        };
        let words = single_spaced(&strip_foreign_markers(&passage.text));
        let _infallible = write!(text, "\n({section}) {words}");
    }
    text
}

/// What the reply says of each of `keys`. A key that was not given out is an error, one that is left out is irrelevant.
pub(crate) fn parse(
    value: &Value,
    keys: &[&str],
) -> Result<BTreeMap<String, Vec<Summarised>>, String> {
    let alone;
    let list = match value {
        Value::Array(list) => list,
        other => match json::list(other, &["papers"]) {
            Ok(list) => list,
            // An object alone is one paper.
            Err(problem) if other.get("method").is_none() => return Err(problem),
            Err(_) => {
                alone = vec![other.clone()];
                &alone
            }
        },
    };
    let mut summaries: BTreeMap<String, Vec<Summarised>> = BTreeMap::new();
    for one in list {
        let key = json::text(one.get("key"));
        let key = key.trim_matches(['[', ']']).to_owned();
        let key = match keys {
            [only] if key.is_empty() => (*only).to_owned(),
            _ => key,
        };
        if !keys.contains(&key.as_str()) {
            return Err(format!("its key {key:?} is not one of {}", keys.join(", ")));
        }
        let is_relevant = one.get("relevant").is_none_or(|value| match value {
            Value::String(text) => !text.eq_ignore_ascii_case("false"),
            other => other.as_bool() != Some(false),
        });
        let of = |name: &str| json::text(one.get(name));
        let summary =
            Summarised { method: of("method"), results: of("results"), context: of("context") };
        if is_relevant {
            summaries.entry(key).or_default().push(summary);
        }
    }
    Ok(summaries)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn summaries_are_read_by_key() {
        let keys = ["E1", "E2"];
        let reply = json!({"papers": [
            {"key": "E1", "relevant": true, "method": "m", "results": "r", "context": ""},
            {"key": "[E1]", "method": "again"},
            {"key": "E2", "relevant": "false"},
        ]});
        let read = parse(&reply, &keys).expect("summaries");
        assert_eq!(read.keys().collect::<Vec<_>>(), ["E1"]);
        assert_eq!((read["E1"].len(), read["E1"][0].results.as_str()), (2, "r"));
        assert_eq!(parse(&json!({"papers": []}), &keys), Ok(BTreeMap::new()));
        let wrong = parse(&json!({"papers": [{"key": "E9"}]}), &keys).expect_err("not given out");
        assert!(wrong.contains("E9"), "{wrong}");
        assert!(parse(&json!({"method": "m"}), &["E1"]).is_ok(), "one paper needs no list");
        assert!(parse(&json!({"x": 1}), &keys).is_err());
    }
}
