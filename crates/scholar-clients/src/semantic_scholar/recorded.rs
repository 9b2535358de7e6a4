//! Recorded replies of the service, read without loss.

use std::io::Read as _;

use scholar_testing::data;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::paper::{self, Snippet, SnippetKind};
use super::wire::{Page, WireEdge, WirePaper, WireRecommended, WireSnippets};

const SNIPPETS: &str = include_str!("../../tests/data/s2_snippets.json");

fn read<T: DeserializeOwned>(value: &Value) -> T {
    serde_path_to_error::deserialize(value).unwrap_or_else(|error| {
        let text: String = value.to_string().chars().take(300).collect();
        panic!("{error} in {text}")
    })
}

fn snippets(value: &Value) -> Vec<Snippet> {
    let wire: WireSnippets = read(value);
    let hits = wire.data.into_iter().flatten();
    hits.map(|hit| paper::read_snippet(hit).unwrap_or_else(|wrong| panic!("{wrong}"))).collect()
}

#[test]
fn a_real_snippet_search_is_read_whole() {
    let value: Value = serde_json::from_str(SNIPPETS).expect("JSON");
    let found = snippets(&value);
    let kinds: Vec<_> = found.iter().map(|snippet| snippet.kind).collect();
    assert_eq!(kinds, [SnippetKind::Title, SnippetKind::Abstract, SnippetKind::Body]);
    let body = &found[2];
    let stated = &value["data"][2]["snippet"]["annotations"];
    assert_eq!(Some(body.mentions.len()), stated["refMentions"].as_array().map(Vec::len));
    assert_eq!(Some(body.sentences.len()), stated["sentences"].as_array().map(Vec::len));
    assert!(body.mentions.iter().any(|mention| mention.paper.is_some()));
    for snippet in &found {
        assert_eq!(snippet.paper.id.to_string(), "corpusid:17862645");
        assert_eq!(snippet.paper.authors, ["M. Famulare"]);
        assert_eq!(snippet.paper.licence.as_deref(), Some("CCBY"));
    }
}

/// Counts of what was in the replies and what came out of them.
#[derive(Debug, Default)]
struct Tally {
    replies: usize,
    papers: usize,
    unnamed: usize,
    notices: usize,
    ids: usize,
    edges: usize,
    abstracts: usize,
    dates: usize,
    pdfs: usize,
}

impl Tally {
    /// Reads one paper and compares every field that the reply has.
    fn paper(&mut self, value: &Value) {
        let mut notices = Vec::new();
        self.papers += 1;
        let Some(found) = paper::read(read::<WirePaper>(value), &mut notices) else {
            assert!(value["paperId"].is_null(), "{value}");
            self.unnamed += 1;
            return;
        };
        let meta = &found.paper.meta;
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let stated = |name: &str| value[name].as_str().map(words).filter(|text| !text.is_empty());
        assert_eq!(Some(found.paper_id.clone()), stated("paperId"));
        assert_eq!(Some(&meta.title).filter(|t| !t.is_empty()), stated("title").as_ref());
        assert_eq!(found.paper.abstract_text().map(str::to_owned), stated("abstract"));
        assert_eq!(meta.published.map(|day| day.to_string()), stated("publicationDate"));
        assert_eq!(meta.url, stated("url"));
        assert_eq!(meta.year.map(i64::from), value["year"].as_i64());
        assert_eq!(meta.citation_count.map(u64::from), value["citationCount"].as_u64());
        assert_eq!(found.reference_count.map(u64::from), value["referenceCount"].as_u64());
        assert_eq!(meta.authors.len(), value["authors"].as_array().map_or(0, Vec::len));
        assert!(stated("venue").is_none() || meta.venue == stated("venue"));
        let pdf = found.open_access.as_ref().and_then(|open| open.url.clone());
        assert_eq!(
            pdf.as_deref(),
            value["openAccessPdf"]["url"].as_str().filter(|url| !url.is_empty())
        );
        let known = ["CorpusId", "DOI", "ArXiv", "PubMed", "PubMedCentral", "ACL"];
        let given = value["externalIds"].as_object().into_iter().flatten();
        let given = given.filter(|(name, _)| known.contains(&name.as_str())).count();
        if given > 0 {
            assert_eq!(1 + meta.external_ids.len() + notices.len(), given, "{value}");
        }
        self.ids += given;
        self.notices += notices.len();
        self.abstracts += usize::from(stated("abstract").is_some());
        self.dates += usize::from(meta.published.is_some());
        self.pdfs += usize::from(pdf.is_some());
    }

    fn edges(&mut self, list: &Value) {
        for edge in list.as_array().into_iter().flatten() {
            let wire: WireEdge = read(edge);
            assert_eq!(wire.is_influential, edge["isInfluential"].as_bool());
            let end = edge.get("citedPaper").or_else(|| edge.get("citingPaper")).expect("a paper");
            self.edges += 1;
            self.paper(end);
        }
    }

    fn reply(&mut self, path: &str, body: &Value) {
        self.replies += 1;
        let papers = |list: &Value| list.as_array().cloned().unwrap_or_default();
        if path.contains("/recommendations/") {
            let wire: WireRecommended = read(body);
            assert!(wire.recommended_papers.is_some());
            papers(&body["recommendedPapers"]).iter().for_each(|paper| self.paper(paper));
        } else if path.contains("/snippet/") {
            assert_eq!(snippets(body).len(), papers(&body["data"]).len());
        } else if path.contains("/references") || path.contains("/citations") {
            let _: Page<Option<WireEdge>> = read(body);
            self.edges(&body["data"]);
        } else if path.contains("/paper/search") {
            let _: Page<Option<WirePaper>> = read(body);
            papers(&body["data"]).iter().for_each(|paper| self.paper(paper));
        } else if path.contains("/paper/batch") {
            papers(body)
                .iter()
                .filter(|paper| !paper.is_null())
                .for_each(|paper| self.paper(paper));
        } else {
            self.paper(body);
            self.edges(&body["citations"]);
        }
    }
}

#[test]
fn every_recorded_reply_is_read_without_loss() {
    let mut tally = Tally::default();
    let mut errors = 0;
    let (Some(recordings), Some(folder)) =
        (data("recordings/all_interactions.jsonl.gz"), data("recordings/semantic_scholar"))
    else {
        return;
    };
    let mut lines = String::new();
    let file = fs_err::File::open(recordings).expect("readable");
    flate2::read::GzDecoder::new(file).read_to_string(&mut lines).expect("readable");
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).expect("JSON");
        let url = line["url"].as_str().unwrap_or_default();
        let skipped = url.contains("/author") || url.contains("/authors");
        if line["host"] != "api.semanticscholar.org" || skipped {
            continue;
        }
        if line["status"] == 200 {
            tally.reply(url, &line["body"]);
        } else {
            errors += 1;
        }
    }
    println!("recordings: {tally:?}, and {errors} refusals");
    assert!(tally.papers > 0);
    let object = |name: &str| -> Value {
        let path = folder.join(name);
        serde_json::from_str(&fs_err::read_to_string(path).expect("readable")).expect("JSON")
    };
    let mut tally = Tally::default();
    for name in ["Citation.json", "Reference.json"] {
        tally.edges(&Value::Array(vec![object(name)]));
    }
    for name in ["Paper.json", "PaperWithNullValues.json"] {
        let paper = object(name);
        tally.paper(&paper);
        for side in ["references", "citations"] {
            paper[side].as_array().into_iter().flatten().for_each(|paper| tally.paper(paper));
        }
    }
    println!("objects: {tally:?}");
}
