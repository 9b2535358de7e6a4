//! Forty real papers (ACL Anthology abstracts, CC BY 4.0, five on each of eight topics), for scenarios.

use std::sync::Arc;

use scholar_core::{CharSpan, Paper, PaperMeta, Passage, PassageId, PassageKind};

const CORPUS: &str = include_str!("../fixtures/corpus.jsonl");

/// The papers in file order.
///
/// # Panics
/// Never: the file is part of this crate and read by its tests.
pub fn papers() -> Vec<Paper> {
    CORPUS
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line of corpus.jsonl is a Paper"))
        .collect()
}

/// One passage per paper of the corpus: its abstract, as passage 0.
pub fn passages() -> Vec<(Passage, Arc<PaperMeta>)> {
    papers().iter().map(whole_text_passage).collect()
}

/// The whole text of `paper` as its passage 0. Real chunking is the datastore's business.
pub fn whole_text_passage(paper: &Paper) -> (Passage, Arc<PaperMeta>) {
    let text = paper.text();
    let passage = Passage {
        id: PassageId { paper: paper.meta.id.clone(), ordinal: 0 },
        title: paper.meta.title.clone(),
        section: paper.sections.first().map(|s| s.heading.clone()).unwrap_or_default(),
        kind: PassageKind::Abstract,
        span: CharSpan::new(0, text.chars().count()),
        text,
        places: Vec::new(),
    };
    (passage, Arc::new(paper.meta.clone()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn forty_distinct_licensed_papers_with_abstracts() {
        let papers = papers();
        assert_eq!(papers.len(), 40);
        assert_eq!(papers.iter().map(|p| &p.meta.id).collect::<BTreeSet<_>>().len(), 40);
        for paper in &papers {
            assert_eq!(paper.meta.licence.as_deref(), Some("CC BY 4.0"));
            assert!(
                paper.abstract_text().is_some_and(|text| text.len() > 400),
                "{}",
                paper.meta.id
            );
            assert!(paper.meta.year.is_some_and(|year| year >= 2016));
            assert!(paper.meta.doi().is_some());
        }
        for (passage, paper) in passages() {
            assert_eq!(passage.id.paper, paper.id);
            assert_eq!(passage.span.slice(&passage.text), Some(passage.text.as_str()));
        }
    }
}
