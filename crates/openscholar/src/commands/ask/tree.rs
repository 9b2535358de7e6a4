//! The outline and the tree of retrievals in lines of a terminal, as they grow.

use scholar_formats::exploration::steps;
use scholar_pipeline::Event;

/// What an event of the tree is told as.
pub(super) fn lines(event: &Event) -> Vec<String> {
    match event {
        Event::Outlined { outline } => steps::outlined(outline),
        Event::NodeBegan { id, query } => vec![steps::began(id, query)],
        Event::NodeDecided { id, papers, decision, by, neighbours } => {
            vec![steps::decided(id, *papers, *decision, *by, *neighbours)]
        }
        Event::NodeEnded { node } => vec![steps::ended(node)],
        Event::Merged { id, children, passages, .. } => {
            vec![steps::merged(id, *children, *passages)]
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::AnswerMode;

    use super::*;

    #[test]
    fn every_event_of_a_tree_is_told_and_no_other() {
        let answer = scholar_testing::exploration::sample();
        let node = answer.tree.expect("a tree").nodes.swap_remove(1);
        let (id, query) = (node.id.clone(), "why?".to_owned());
        let told = [
            Event::Outlined { outline: answer.outline.expect("a plan") },
            Event::NodeBegan { id, query },
            Event::NodeEnded { node: Box::new(node) },
        ];
        let lines: Vec<String> = told.iter().flat_map(lines).collect();
        assert_eq!(lines[0], "outline of 4 sections, planned by the model");
        assert_eq!(lines[5..], ["    1 why?", "      1: answered, 5 of 8 papers kept"]);
        let other = Event::Started { mode: AnswerMode::Evidence, reason: String::new() };
        assert!(super::lines(&other).is_empty());
    }

    /// What `--stream` prints: one line of JSON an event, from which the event can be read again.
    #[test]
    fn an_event_is_one_line_of_json() {
        let answer = scholar_testing::exploration::sample();
        for node in answer.tree.expect("a tree").nodes {
            let event = Event::NodeEnded { node: Box::new(node) };
            let line = crate::output::json::Json::line(&event).expect("JSON");
            assert!(!line.as_str().trim_end().contains('\n'));
            let read: Event = serde_json::from_str(line.as_str()).expect("an event");
            assert_eq!(read, event);
        }
    }
}
