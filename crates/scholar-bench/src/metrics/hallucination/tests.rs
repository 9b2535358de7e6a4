use std::collections::BTreeSet;
use std::sync::Arc;

use scholar_core::{FindBy, PortErrorKind};
use scholar_testing::corpus::papers;
use scholar_testing::{MemoryRetriever, MemorySource};

use super::lookup::PortLookup;
use super::*;

struct Shelf {
    titles: Vec<&'static str>,
    broken: &'static str,
}

#[async_trait]
impl TitleLookup for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    async fn titles_like(&self, title: &str) -> Result<Vec<String>, PortError> {
        if !self.broken.is_empty() && title.contains(self.broken) {
            return Err(PortError::new(PortErrorKind::Unavailable, "the shelf is locked"));
        }
        let words: BTreeSet<&str> = title.split(' ').collect();
        let found = self.titles.iter().filter(|t| t.split(' ').any(|word| words.contains(word)));
        Ok(found.map(|title| (*title).to_owned()).collect())
    }
}

const ANSWER: &str = "Retrieval helps [1].\n\n## References\n\
    1. Lewis, P. et al. (2020). Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks. NeurIPS.\n\
    [2] A. Nobody, \"A Paper That Was Never Written\", 2021.\n\
    - **Dense Passage Retrieval for Open-Domain Question Answering** (Karpukhin et al., 2020)\n\
    not an entry\n3. 2020";

#[test]
fn lists_are_read_with_their_titles() {
    let listed = listed(ANSWER);
    let first: Vec<&str> = listed.iter().map(|one| one.titles[0].as_str()).collect();
    assert_eq!(
        first,
        [
            "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
            "A Paper That Was Never Written",
            "Dense Passage Retrieval for Open-Domain Question Answering",
        ]
    );
    assert_eq!(super::listed("Just prose. 1. no list"), []);
    let check = |answer: &str, n: usize| assert_eq!(super::listed(answer).len(), n, "{answer}");
    check("So it is [1].\nReferences: [1] A first long title. [2] A second long title.", 2);
    check("**References:**\n[1] A first long title\n\n## Limits\n- not a paper at all", 1);
    check("## 5. References\n* A first long title\n[Response_End]", 1);
    check("References to three earlier papers [1] are made.\n- a point that is made", 0);
    check("A first point:\n- it is made here\n- and another here", 0);
    check(&format!("- {}", "so it is. ".repeat(100_000)), 1);
    check(&format!("[1] A first long title{}", " [".repeat(500_000)), 1);
    assert_eq!(super::listed("1. Attention is all you need\n2. Deep residual learning").len(), 2);
}

#[tokio::test]
async fn papers_exist_or_not_or_nobody_knows() {
    let titles = vec![
        "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
        "A Paper That Was Written",
    ];
    let shelf = Shelf { titles, broken: "Dense" };
    let found = look_up(listed(ANSWER), &shelf).await;
    assert_eq!((found.papers.len(), found.invented(), found.known()), (3, 1, 2));
    assert!(matches!(&found.papers[0].1, Existence::Exists(title) if title.contains("Augmented")));
    assert!(matches!(&found.papers[2].1, Existence::Unknown(why) if why.contains("locked")));

    let none = ListedPapers { papers: Vec::new() };
    let table = table(&[found.clone(), none.clone()], 1);
    let mean = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.mean);
    assert_eq!(
        (mean(table.listed), mean(table.invented), mean(table.ratio)),
        (Some(1.5), Some(0.5), Some(0.5))
    );
    assert_eq!(table.unknown.values().sum::<usize>(), 1);

    let column = column(&[("a".to_owned(), found), ("b".to_owned(), none)]);
    assert_eq!(column.values(), [0.5]);
    assert_eq!(column.summary(1).left_out["lists no papers"].count, 1);
}

#[tokio::test]
async fn datastore_and_sources_are_asked_in_turn() {
    let stored = Arc::new(MemoryRetriever::corpus());
    let known = papers();
    let title = known[0].meta.title.clone();
    let mut other = known[1].clone();
    other.meta.title = "A title that no store but one source knows".to_owned();
    let source = MemorySource::new("s2", FindBy::Keywords, [other.clone()]);
    let asked = source.asked();
    let lookup = PortLookup::new(Some(stored.clone()), vec![Arc::new(source)]);
    assert_eq!(lookup.name(), "memory, s2");
    assert_eq!(lookup.titles_like(&title).await.expect("it is stored"), [title]);
    assert!(asked.lock().is_empty(), "what is stored needs no source");
    let found = lookup.titles_like(&other.meta.title).await.expect("the source knows it");
    assert_eq!(found, [other.meta.title.clone()]);

    // A failing source leaves an unknown title unknown, and a stored one stored.
    let limited = MemorySource::new("s2", FindBy::Question, [])
        .failing("nobody", PortErrorKind::RateLimited { retry_after: None });
    let lookup = PortLookup::new(Some(stored), vec![Arc::new(limited)]);
    assert!(lookup.titles_like("A title nobody knows").await.is_err());
    assert!(lookup.titles_like(&known[0].meta.title).await.is_ok());
    assert!(lookup.titles_like(" ").await.is_err());
}

#[test]
fn titles_are_the_same_up_to_case_and_little_else() {
    assert!(same_title("Attention Is All You Need", "attention is all you need "));
    assert!(!same_title("Attention Is All You Need", "Attention Is Not All You Need"));
    assert!(!same_title("A survey of dense retrieval", "A survey of sparse retrieval"));
    assert!((trigram_similarity("abc", "abc") - 1.0).abs() < 1e-12);
    // " ab", "abc", "bc " against " ab", "abd", "bd ": one of five.
    assert!((trigram_similarity("abc", "abd") - 0.2).abs() < 1e-12);
    assert!(trigram_similarity("", "abc") < 1e-12);
}
