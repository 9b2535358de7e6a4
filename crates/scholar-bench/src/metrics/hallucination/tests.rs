use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use scholar_core::{FindBy, Paper, PaperId, PaperMeta, PortErrorKind, Section, paper};
use scholar_testing::corpus::papers;
use scholar_testing::{MemoryRetriever, MemorySource};

use super::lookup::{PortLookup, StoredPapers};
use super::memory::RememberedLookup;
use super::*;

fn listed(answer: &str) -> Vec<Listed> {
    ListedAnswer::read(answer).papers
}

struct FakeLookup {
    titles: Vec<&'static str>,
    broken: &'static str,
    asked: Arc<AtomicUsize>,
}

#[async_trait]
impl TitleLookup for FakeLookup {
    fn name(&self) -> &'static str {
        "lookup"
    }

    async fn find(&self, title: &str) -> Result<Option<FoundPaper>, PortError> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        if !self.broken.is_empty() && title.contains(self.broken) {
            return Err(PortError::new(PortErrorKind::Unavailable, "the lookup is locked"));
        }
        let found = self.titles.iter().find(|known| same_title(title, known));
        Ok(found.map(|title| FoundPaper {
            title: (*title).to_owned(),
            abstract_text: title.contains("Retrieval").then(|| format!("About {title}.")),
            place: "lookup".to_owned(),
        }))
    }
}

const ANSWER: &str = "Retrieval helps [1].\n\n## References\n\
    1. Lewis, P. et al. (2020). Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks. NeurIPS.\n\
    [2] A. Nobody, \"A Paper That Was Never Written\", 2021.\n\
    - **Dense Passage Retrieval for Open-Domain Question Answering** (Karpukhin et al., 2020)\n\
    not an entry\n3. 2020";

#[test]
fn lists_are_read_with_their_titles() {
    let entries = listed(ANSWER);
    let first: Vec<&str> = entries.iter().map(|one| one.titles[0].as_str()).collect();
    assert_eq!(
        first,
        [
            "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
            "A Paper That Was Never Written",
            "Dense Passage Retrieval for Open-Domain Question Answering",
        ]
    );
    let numbers: Vec<Option<usize>> = entries.iter().map(|one| one.number).collect();
    assert_eq!(numbers, [Some(1), Some(2), Some(3)], "a bullet has its place");
    assert_eq!(ListedAnswer::read(ANSWER).text, "Retrieval helps [1].");
    assert_eq!(listed("Just prose. 1. no list"), []);
    let check = |answer: &str, n: usize| assert_eq!(listed(answer).len(), n, "{answer}");
    check("So it is [1].\nReferences: [1] A first long title. [2] A second long title.", 2);
    check("**References:**\n[1] A first long title\n\n## Limits\n- not a paper at all", 1);
    check("## 5. References\n* A first long title\n[Response_End]", 1);
    check("References to three earlier papers [1] are made.\n- a point that is made", 0);
    check("A first point:\n- it is made here\n- and another here", 0);
    check(&format!("- {}", "so it is. ".repeat(100_000)), 1);
    check(&format!("[1] A first long title{}", " [".repeat(500_000)), 1);
    check("1. Attention is all you need\n2. Deep residual learning", 2);
    let with_more =
        ListedAnswer::read("So [3].\n\nReferences:\n- [3] A first long title\n\n## Limits\nNone.");
    assert_eq!(
        (with_more.papers[0].number, with_more.papers[0].text.as_str()),
        (Some(3), "A first long title")
    );
    assert_eq!(with_more.text, "So [3].\n\n## Limits\nNone.");
}

#[tokio::test]
async fn papers_exist_or_not_or_nobody_knows() {
    let titles = vec![
        "Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks",
        "A Paper That Was Written",
    ];
    let lookup = FakeLookup { titles, broken: "Dense", asked: Arc::default() };
    let found = look_up(listed(ANSWER), &lookup).await;
    assert_eq!((found.papers.len(), found.invented(), found.known()), (3, 1, 2));
    assert!(
        matches!(&found.papers[0].1, Existence::Exists(one) if one.title.contains("Augmented"))
    );
    assert!(matches!(&found.papers[2].1, Existence::Unknown(why) if why.contains("locked")));

    let none = ListedPapers { papers: Vec::new() };
    let table = table(&[&found, &none], "lookup", 1);
    let mean = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.mean);
    assert_eq!(
        (mean(table.listed), mean(table.invented), mean(table.ratio)),
        (Some(1.5), Some(0.5), Some(0.5))
    );
    assert_eq!(table.unknown.values().sum::<usize>(), 1);
    assert_eq!(
        table.totals.expect("counted").to_string(),
        "3 papers listed, 1 found, 1 with an abstract; looked up in lookup"
    );

    let column = column(&[("a", &found), ("b", &none)]);
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
    let stored = StoredPapers { name: "forty".to_owned(), retriever: stored };
    let lookup = PortLookup::new(Some(stored.clone()), vec![Arc::new(source)]);
    assert_eq!(lookup.name(), "datastore forty, s2");
    let found = lookup.find(&title).await.expect("asked").expect("it is stored");
    assert_eq!((found.title, found.place.as_str()), (title, "datastore forty"));
    assert_eq!(found.abstract_text.as_deref(), known[0].abstract_text());
    assert!(asked.lock().is_empty(), "what is stored needs no source");
    let found = lookup.find(&other.meta.title).await.expect("asked").expect("the source knows it");
    assert_eq!((found.title, found.place.as_str()), (other.meta.title.clone(), "s2"));
    assert_eq!(found.abstract_text.as_deref(), other.abstract_text());

    // A failing source leaves an unknown title unknown, and a stored one stored.
    let limited = MemorySource::new("s2", FindBy::Question, [])
        .failing("nobody", PortErrorKind::RateLimited { retry_after: None });
    let lookup = PortLookup::new(Some(stored), vec![Arc::new(limited)]);
    assert!(lookup.find("A title nobody knows").await.is_err());
    assert!(lookup.find(&known[0].meta.title).await.is_ok());
    assert!(lookup.find(" ").await.is_err());
}

#[tokio::test]
async fn an_abstract_is_asked_of_the_next_place() {
    let mut bare = papers()[1].clone();
    bare.sections.clear();
    let whole = papers()[1].clone();
    let first = MemorySource::new("openalex", FindBy::Keywords, [bare.clone()]);
    let second = MemorySource::new("s2", FindBy::Keywords, [whole.clone()]);
    let lookup = PortLookup::new(None, vec![Arc::new(first), Arc::new(second)]);
    let found = lookup.find(&whole.meta.title).await.expect("asked").expect("known");
    assert_eq!(
        (found.place.as_str(), found.abstract_text.as_deref()),
        ("s2", whole.abstract_text())
    );

    let alone = MemorySource::new("openalex", FindBy::Keywords, [bare]);
    let lookup = PortLookup::new(None, vec![Arc::new(alone)]);
    let found = lookup.find(&whole.meta.title).await.expect("asked").expect("it exists");
    assert_eq!(found.abstract_text, None);
}

#[tokio::test]
async fn a_title_is_looked_up_once_even_by_the_next_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("titles.jsonl");
    let lookup = || FakeLookup {
        titles: vec!["Retrieval-Augmented Generation for Knowledge-Intensive NLP Tasks"],
        broken: "Dense",
        asked: Arc::default(),
    };
    let open = |lookup: FakeLookup| RememberedLookup::open(lookup, &path).expect("a file");
    let first = look_up(listed(ANSWER), &open(lookup())).await;
    assert_eq!((first.found(), first.with_abstract(), first.known()), (1, 1, 2));
    let again = lookup();
    let asked = Arc::clone(&again.asked);
    assert_eq!(look_up(listed(ANSWER), &open(again)).await, first);
    let failing = first.papers[2].0.titles.len();
    assert_eq!(asked.load(Ordering::Relaxed), failing, "only the titles that failed");
}

/// Semantic Scholar's recorded reply for one paper, with the papers that cite it.
#[tokio::test]
async fn recorded_papers_are_found_with_their_abstracts() {
    let Some(path) = scholar_testing::data("recordings/semantic_scholar/Paper.json") else {
        return;
    };
    let recorded: serde_json::Value =
        serde_json::from_str(&fs_err::read_to_string(path).expect("readable")).expect("JSON");
    let citing = recorded["citations"].as_array().expect("a list").iter();
    let papers: Vec<Paper> = std::iter::once(&recorded).chain(citing).filter_map(read).collect();
    let source = MemorySource::new("s2", FindBy::Keywords, papers.clone());
    let lookup = PortLookup::new(None, vec![Arc::new(source)]);
    let citing = papers[1..].iter().find(|paper| !paper.sections.is_empty()).expect("most have");
    let bare = papers.iter().find(|paper| paper.sections.is_empty()).expect("some have none");
    let answer = format!(
        "Machines may think [1].\n\nReferences:\n[1] {}\n[2] {}\n[3] {}\n[4] Thinking Machines That Nobody Ever Built or Described",
        papers[0].meta.title, citing.meta.title, bare.meta.title,
    );
    let found = look_up(listed(&answer), &lookup).await;
    assert_eq!((found.papers.len(), found.found(), found.with_abstract()), (4, 3, 2), "{found:#?}");
    assert!(
        matches!(&found.papers[0].1, Existence::Exists(one) if one.abstract_text.as_deref() == recorded["abstract"].as_str())
    );
}

fn read(value: &serde_json::Value) -> Option<Paper> {
    let title = value["title"]
        .as_str()
        .filter(|title| title.split(' ').count() > 3 || title.starts_with("Computing Machinery"))?;
    let id = PaperId::Local(value["paperId"].as_str()?.to_owned());
    let text = value["abstract"].as_str();
    let sections = text.map(|text| Section::new(paper::ABSTRACT_HEADING, text));
    let (meta, references) = (PaperMeta::new(id, title), Vec::new());
    Some(Paper { meta, sections: sections.into_iter().collect(), references, records: Vec::new() })
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
