//! Reads what the model wrote; it is untrusted.

use std::collections::BTreeSet;

use scholar_core::text::locate::locate;
use scholar_core::text::normalise::title_key;

use crate::scholarideas::model::Rubric;

/// Headings of a plan, in order.
const PARTS: [&str; 3] = ["## Problem", "## Method", "## Experiment Design"];
/// Fewest words of a statement or sentence; the shortest of the release has five.
const FEWEST_WORDS: usize = 4;

/// The rubrics of a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rubrics {
    pub(super) rubrics: Vec<Rubric>,
    pub(super) unreadable: usize,
    pub(super) repeated: usize,
}

/// The plan in a reply, from its heading on, fences off; an error says what it lacks.
pub(super) fn idea(reply: &str) -> Result<String, String> {
    let start = reply.find("# Research Plan").ok_or("it has no heading \"# Research Plan\"")?;
    let text = reply[start..].trim().trim_end_matches("```").trim_end();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let sections: Vec<&str> =
        lines.iter().copied().filter(|line| line.starts_with("## ")).collect();
    if sections != PARTS {
        return Err(format!("its sections are {}, not {}", listed(&sections), listed(&PARTS)));
    }
    let empty = PARTS.iter().find(|part| {
        let at = lines.iter().position(|line| line == *part).unwrap_or(lines.len());
        let next = lines.iter().skip(at + 1).find(|line| !line.is_empty());
        next.is_none_or(|line| line.starts_with("## "))
    });
    match empty {
        Some(part) => Err(format!("its section {part:?} is empty")),
        None => Ok(text.to_owned()),
    }
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// The sentences of a reply that stand in `reviews`, as they stand there, each once; and how many do not.
pub(super) fn quotes(reply: &str, reviews: &str) -> (Vec<String>, usize) {
    let mut found: Vec<String> = Vec::new();
    let mut lost = 0;
    for line in reply.lines().map(str::trim) {
        let Some(quote) = line.strip_prefix(['-', '*', '•']) else { continue };
        let quote = quote.trim().trim_matches(['"', '“', '”']).trim();
        if quote.split_whitespace().count() < FEWEST_WORDS {
            continue;
        }
        match locate(quote, reviews) {
            Some(span) => {
                let length = span.end - span.start;
                let exact: String = reviews.chars().skip(span.start).take(length).collect();
                let exact = exact.split_whitespace().collect::<Vec<_>>().join(" ");
                if !found.contains(&exact) {
                    found.push(exact);
                }
            }
            None => lost += 1,
        }
    }
    (found, lost)
}

/// The rubrics of a reply: lines that begin with a brace; anything around them is left alone.
pub(super) fn rubrics(reply: &str) -> Rubrics {
    let mut read = Rubrics::default();
    let mut seen = BTreeSet::new();
    for line in reply.lines().map(|line| line.trim().trim_end_matches(',')) {
        if !line.starts_with('{') {
            continue;
        }
        match serde_json::from_str::<Rubric>(line) {
            Ok(rubric) if rubric.statement.split_whitespace().count() >= FEWEST_WORDS => {
                if seen.insert(title_key(&rubric.statement)) {
                    read.rubrics.push(rubric);
                } else {
                    read.repeated += 1;
                }
            }
            Ok(_) | Err(_) => read.unreadable += 1,
        }
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_its_three_sections() {
        let plan =
            "# Research Plan: T\n\n## Problem\nwhy\n\n## Method\nhow\n\n## Experiment Design\nwhat";
        assert_eq!(idea(&format!("Here it is:\n```markdown\n{plan}\n```")), Ok(plan.to_owned()));
        let says = |text: &str, says: &str| {
            let error = idea(text).expect_err(says);
            assert!(error.contains(says), "{error}");
        };
        says("## Problem", "no heading");
        says("# Research Plan\n## Problem\nwhy\n## Results\nx", "## Problem, ## Results");
        says("# Research Plan", "sections are none");
        says(&plan.replace("how", ""), "\"## Method\" is empty");
        says(&plan.replace("what", ""), "is empty");
    }

    #[test]
    fn only_what_stands_in_the_reviews_is_quoted() {
        let reviews = "Reviewer 1: The task is important and timely.\nHowever, there is only\none dataset in use. Typos abound.";
        let reply = "Sentences:\n- \"The task is important and timely.\"\n- there is only one dataset in use\n- It uses two datasets in total.\n- The task is important and timely.\n- none";
        let (found, lost) = quotes(reply, reviews);
        assert_eq!((found.len(), lost), (2, 1), "{found:?}");
        assert!(found[1].contains("there is only one dataset in use"));
        assert_eq!(quotes("none", reviews), (Vec::new(), 0));
    }

    #[test]
    fn rubrics_are_read_line_by_line() {
        let good = r#"{"statement": "The plan uses one dataset.", "type": "weakness", "axis": "soundness", "severity": "major"}"#;
        let reply = format!(
            "```json\n[\n{good},\n{good}\n{{\"statement\": \"x\"}}\n{{\"statement\": \"Too short\", \"type\": \"weakness\", \"axis\": \"soundness\", \"severity\": \"major\"}}\n]\n```"
        );
        let read = rubrics(&reply);
        assert_eq!((read.rubrics.len(), read.unreadable, read.repeated), (1, 2, 1));
        assert_eq!(rubrics("nothing to say"), Rubrics::default());
    }
}
