//! Candidates made of a text, a title and an identifier.

use std::sync::Arc;

use scholar_core::{
    CharSpan, Explanation, PaperId, PaperMeta, Passage, PassageId, PassageKind, Ranked,
    RerankScore, RetrievalScore, Retrieved,
};

pub(crate) fn retrieved(text: &str, title: &str, id: &str) -> Retrieved {
    let paper = PaperMeta::new(PaperId::Local(id.to_owned()), title);
    let passage = Passage {
        id: PassageId { paper: paper.id.clone(), ordinal: 0 },
        title: title.to_owned(),
        section: String::new(),
        kind: PassageKind::Body,
        text: text.to_owned(),
        span: CharSpan::new(0, text.chars().count()),
        places: Vec::new(),
    };
    Retrieved {
        passage,
        paper: Arc::new(paper),
        score: RetrievalScore::new(1.0).expect("finite"),
        explanation: Explanation::new(1.0, "test"),
        found_by: Vec::new(),
    }
}

/// `text` under `title`, all with the same score.
pub(crate) fn ranked(text: &str, title: &str) -> Ranked {
    Ranked {
        retrieved: retrieved(text, title, title),
        score: RerankScore::new(0.0).expect("finite"),
        explanation: Explanation::new(0.0, "test"),
    }
}
