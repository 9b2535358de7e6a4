//! Reviews ideas in evidence mode with the models of the program: `review_ideas DATASTORE MODELS OUT IDEA-FOLDER…`.
//!
//! Every folder is one of the published layout: `NAME/NAME.txt` and `NAME/cutoff.txt`. For each, `OUT/NAME.json` is the report and
//! `OUT/NAME.html` and `OUT/NAME.md` what a reader sees.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use scholar_datastore::graph::{GraphMember, StoredGraph};
use scholar_datastore::{Datastore, HybridRetriever, SearchConfig, SearchPool};
use scholar_formats::export::{CitationStyle, ExportFormat};
use scholar_models::{
    CrossEncoderOptions, EncoderOptions, LateInteractionConfig, LateInteractionOptions,
    LateInteractionReranker, LocalEncoder, SentenceHeads, TrainedAttributor,
};
use scholar_pipeline::Ports;
use scholar_pipeline::proof::ensemble::JUDGE_ENSEMBLE_FILE;
use scholar_pipeline::proof::{EnsembleAttributor, JudgeEnsemble};
use scholar_review::{Cutoff, Idea, ModeWanted, ReviewConfig, ReviewDocument, render};

const THREADS: usize = 2;

#[tokio::main]
#[expect(clippy::print_stderr, reason = "a person waits for it")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [store, models, out, ideas @ ..] = args.as_slice() else {
        return Err("usage: review_ideas DATASTORE MODELS OUT IDEA-FOLDER…".into());
    };
    let ports = ports(Path::new(store), Path::new(models))?;
    for folder in ideas {
        let folder = Path::new(folder);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let idea = Idea::read(&fs_err::read_to_string(folder.join(format!("{name}.txt")))?)?;
        let day = fs_err::read_to_string(folder.join("cutoff.txt"))?.trim().parse()?;
        let mut config = ReviewConfig::lean();
        config.mode = ModeWanted::Evidence;
        config.cutoff = Some(Cutoff::strict(day));
        let outcome = scholar_review::evidence::review(&ports, &idea, &config, &()).await?;
        let review = outcome.value;
        eprintln!("{name}: {} references", review.references.len());
        let file = |ending: &str| Path::new(out).join(format!("{name}.{ending}"));
        fs_err::write(file("json"), serde_json::to_string_pretty(&review)?)?;
        let document = ReviewDocument {
            review: &review,
            notices: &outcome.notices,
            generated_by: "openscholar, evidence mode",
        };
        let style = CitationStyle::named("ieee")?;
        for format in
            [ExportFormat::Html, ExportFormat::Markdown, ExportFormat::Latex, ExportFormat::Docx]
        {
            fs_err::write(file(format.extension()), render(&document, format, &style)?)?;
        }
    }
    Ok(())
}

fn ports(store: &Path, models: &Path) -> Result<Ports, Box<dyn Error>> {
    let encoder = |name: &str| {
        LocalEncoder::open(&models.join(name), name, EncoderOptions::project(THREADS)).map(Arc::new)
    };
    let own = encoder("all-MiniLM-L6-v2")?;
    let pool = Arc::new(SearchPool::new(THREADS, 64)?);
    let store = Arc::new(Datastore::open(store)?);
    let config = SearchConfig::tuned();
    let retriever =
        HybridRetriever::new(Arc::clone(&store), own.clone(), config, Arc::clone(&pool))?;
    let name = "scholar-reranker-mini";
    let reads = encoder(name)?;
    let late = LateInteractionConfig::read(&models.join(name))?.ok_or("no weights")?;
    let reranker = LateInteractionReranker::new(reads.clone(), LateInteractionOptions::of(late))?;
    let name = "scholar-attributor-mini";
    let options = CrossEncoderOptions::project(THREADS);
    let judge = Arc::new(TrainedAttributor::open(&models.join(name), name, options)?);
    let ensemble = fs_err::read_to_string(models.join(name).join(JUDGE_ENSEMBLE_FILE))?;
    let judge = EnsembleAttributor::new(judge, Some(reads), JudgeEnsemble::parse(&ensemble)?);
    let graph = GraphMember { name: "papers".to_owned(), store };
    let mut ports = Ports::new(Arc::new(retriever), Arc::new(judge));
    ports.graph = Some(Arc::new(StoredGraph::new(vec![graph], pool)));
    ports.reranker = Some(Arc::new(reranker));
    ports.encoder = Some(own);
    let heads = SentenceHeads::open(&models.join("scholar-sentences-mini"))?;
    ports.sentence_classifier = Some(Arc::new(heads));
    Ok(ports)
}
