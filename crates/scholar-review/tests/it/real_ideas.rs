//! Real ideas over real abstracts with the models of the program; skipped where neither is at hand.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use scholar_core::{CharSpan, Encoder as _, Paper, PaperId, PaperMeta, Section};
use scholar_datastore::{
    AddOptions, BuildRules, Datastore, DatastoreWriter, HybridRetriever, SearchConfig, SearchPool,
};
use scholar_models::{
    CrossEncoderOptions, EncoderOptions, LateInteractionConfig, LateInteractionOptions,
    LateInteractionReranker, LocalEncoder, SentenceHeads, TrainedAttributor,
};
use scholar_pipeline::Ports;
use scholar_review::evidence::review;
use scholar_review::{Cutoff, Idea, Module, ReviewConfig};
use scholar_testing::{data, model_dir};

/// Abstracts in the datastore: few, as each is encoded.
const PAPERS: usize = 240;

/// Abstracts of the ACL Anthology that speak of deception, diversity or language models, and some without a date.
fn papers(path: &Path) -> Vec<Paper> {
    let mut text = String::new();
    let file = fs_err::File::open(path).expect("opens");
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).expect("gzip");
    let mut papers = Vec::new();
    for line in text.lines().filter(|line| {
        ["decepti", "diversity of", "instruction tuning", "code generation"]
            .iter()
            .any(|word| line.contains(word))
    }) {
        let value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let of = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
        let (id, told) = (of("id"), of("abstract"));
        if told.len() < 300 || papers.len() >= PAPERS {
            continue;
        }
        let mut meta = PaperMeta::new(PaperId::Acl(id), of("title"));
        let year = value["year"].as_i64().and_then(|year| i16::try_from(year).ok());
        meta.year = year.filter(|_| papers.len() % 10 != 0);
        let sections = vec![Section::new("Abstract", told)];
        papers.push(Paper { meta, sections, references: Vec::new(), records: Vec::new() });
    }
    papers
}

fn ports(root: &Path, papers: Vec<Paper>, models: [&Path; 4]) -> Ports {
    let [encoder, heads, reranker, judge] = models;
    let open = |dir: &Path, name: &str| {
        Arc::new(LocalEncoder::open(dir, name, EncoderOptions::project(2)).expect("opens"))
    };
    let own = open(encoder, "all-MiniLM-L6-v2");
    let store = Datastore::open_or_create(root, own.info(), BuildRules::sections()).expect("new");
    let mut writer = DatastoreWriter::open(store.root()).expect("one writer");
    let papers = papers.into_iter().map(Ok);
    let added =
        writer.add(papers, &*own, &AddOptions::standard("acl"), &mut |_| ControlFlow::Continue(()));
    assert!(!added.expect("added").interrupted);
    drop(writer);
    let store = Arc::new(Datastore::open(root).expect("opens"));
    let pool = Arc::new(SearchPool::new(2, 16).expect("threads"));
    let retriever = HybridRetriever::new(store, own.clone(), SearchConfig::tuned(), pool);
    let options = CrossEncoderOptions::project(2);
    let judge = TrainedAttributor::open(judge, "scholar-attributor-mini", options).expect("opens");
    let late = LateInteractionConfig::read(reranker).expect("reads").expect("weights");
    let reads = open(reranker, "scholar-reranker-mini");
    let reranker = LateInteractionReranker::new(reads, LateInteractionOptions::of(late));
    let mut ports = Ports::new(Arc::new(retriever.expect("opens")), Arc::new(judge));
    ports.encoder = Some(own);
    ports.sentence_classifier = Some(Arc::new(SentenceHeads::open(heads).expect("opens")));
    ports.reranker = Some(Arc::new(reranker.expect("opens")));
    ports
}

#[tokio::test]
async fn public_ideas_over_real_abstracts() {
    let (Some(ideas), Some(anthology)) =
        (data("scholarideas"), data("papers/acl_anthology.jsonl.gz"))
    else {
        return;
    };
    let names = [
        "all-MiniLM-L6-v2",
        "scholar-sentences-mini",
        "scholar-reranker-mini",
        "scholar-attributor-mini",
    ];
    let [Some(encoder), Some(heads), Some(reranker), Some(judge)] = names.map(model_dir) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("acl");
    let ports = ports(&root, papers(&anthology), [&encoder, &heads, &reranker, &judge]);
    for name in ["ai_1", "ai_11"] {
        let at = |file: &str| fs_err::read_to_string(ideas.join(name).join(file)).expect("reads");
        let idea = Idea::read(&at(&format!("{name}.txt"))).expect("an idea");
        let cutoff = Cutoff::strict(at("cutoff.txt").trim().parse().expect("a day"));
        let config = ReviewConfig { cutoff: Some(cutoff), ..ReviewConfig::lean() };
        let outcome = review(&ports, &idea, &config, &()).await.expect("a review");
        let review = outcome.value;
        assert!(review.papers().all(|paper| paper.latest_day().is_some_and(|d| d < cutoff.day)));
        let soundness = review.soundness.as_ref().and_then(Module::done).expect("soundness");
        assert!(soundness.reviews.len() >= 5, "{}", soundness.reviews.len());
        for told in &soundness.reviews {
            // Methods and suppositions are the idea's own words, behind their label.
            let own = told.method.text.rsplit_once(": ").map_or(told.method.text.as_str(), |x| x.1);
            let words: Vec<&str> = own.split_whitespace().take(4).collect();
            assert!(idea.text.contains(&words.join(" ")), "{own}");
        }
        let contribution = review.contribution.as_ref().and_then(Module::done).expect("done");
        assert!(!contribution.nearest.is_empty());
        for statement in review.statements() {
            for quote in &statement.sentence.quotes {
                let stored = ports.retriever.passage(&quote.passage_id).await.expect("asked");
                let (passage, _) = stored.expect("stored");
                let span = CharSpan::new(quote.start, quote.end);
                assert_eq!(span.slice(&passage.text), Some(quote.text.as_str()));
            }
        }
    }
}
