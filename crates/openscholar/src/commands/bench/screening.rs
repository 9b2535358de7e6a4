//! How much reading an order of papers saves in screening, and how well criteria are decided.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use scholar_bench::retrieval::{Collection, document_name};
use scholar_bench::screening::{
    DecidedPair, Half, LabelledPair, PairsReport, PapersDecided, Topic, TopicRow, agreement,
    markdown_of_pairs, markdown_of_papers, markdown_of_topics, random_work_saved, read_pairs,
    simulate, topic_papers, work_saved,
};
use scholar_core::{Encoder as _, PaperId, Side};
use scholar_datastore::Datastore;
use scholar_pipeline::screen::{
    Criterion, EvidenceScreener, PaperDecision, RankedBy, Ranking, RankingQuery, ScreenPaper, rank,
};

use crate::app::App;
use crate::args::BenchScreeningArgs;
use crate::commands::papers::screen::{criteria_file, read_paper};
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::{OpenDatastore, judge, models, reranker};

/// Largest file of labels, in bytes.
const LARGEST: usize = 16 << 20;

/// The collection opened for screening.
struct Bench<'a> {
    collection: Collection,
    datastore: OpenDatastore,
    ids: BTreeMap<String, PaperId>,
    screener: EvidenceScreener,
    app: &'a App,
}

pub(super) fn run(args: &BenchScreeningArgs, app: &App) -> Result<ExitCode, CommandError> {
    let BenchScreeningArgs { dir, labels, pairs_only, batch, out } = args;
    let collection = Collection::load(dir)?;
    let pairs = labelled(&labels.join("screening-pairs.jsonl"))?;
    let second_file = labels.join("screening-pairs-second.jsonl");
    let second = if second_file.is_file() { labelled(&second_file)? } else { Vec::new() };
    let bench = Bench::open(collection, app)?;
    let decided = bench.pairs(&pairs)?;
    let mut topics = Vec::new();
    if !pairs_only {
        for query in &bench.collection.queries {
            let criteria =
                criteria_file::read(&labels.join(format!("criteria-{}.toml", query.id)))?;
            let papers = topic_papers(&bench.collection, &query.id)
                .user(|| "the collection does not fit the labels".to_owned())?;
            topics.push(bench.topic(&Topic { id: query.id.clone(), criteria, papers }, *batch)?);
        }
    }
    let half = |half: Half| {
        PairsReport::of(&decided.iter().filter(|one| one.half == half).collect::<Vec<_>>())
    };
    let halves = [("held-out half", half(Half::HeldOut)), ("development half", half(Half::Dev))];
    let (agreed, kappa) = agreement(&pairs, &second);
    let options = if *pairs_only { " --pairs-only" } else { "" };
    let head = format!(
        "# Screening for systematic reviews\n\nCommand: `openscholar bench screening {}{options} --labels crates/scholar-bench/data/screening`\n\n\
         Method: {}. Machine: {}.",
        dir.file_name().unwrap_or_default().to_string_lossy(),
        bench.screener.method(),
        super::machine(app),
    );
    let mut parts = vec![head];
    if !topics.is_empty() {
        parts.extend([
            "## Work saved over sampling at 95 % recall (WSS@95)".to_owned(),
            markdown_of_topics(&topics),
            format!("Active learning ranks the rest again after every {batch} papers."),
            "## Decisions on whole papers".to_owned(),
            markdown_of_papers(&topics),
        ]);
    }
    parts.extend(["## Decisions on labelled criteria".to_owned(), markdown_of_pairs(&halves)]);
    if agreed.n > 0 {
        let kappa = kappa.map_or_else(|| "undefined".to_owned(), |kappa| format!("{kappa:.2}"));
        parts.push(format!(
            "The two labellers agree on {} of {} pairs; Cohen's kappa {kappa}.",
            agreed.hits, agreed.n
        ));
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    let text = parts.join("\n\n") + "\n";
    let json = serde_json::json!({
        "schema": "openscholar.bench-screening/1", "topics": topics, "pairs": decided,
        "halves": halves.iter().map(|(name, report)| serde_json::json!({"half": name, "report": report})).collect::<Vec<_>>(),
        "labellers": {"agreed": agreed, "kappa": kappa},
    });
    super::publish("screening", &text, &json, out.as_deref(), app)
}

fn labelled(path: &Path) -> Result<Vec<LabelledPair>, CommandError> {
    let text = scholar_datastore::files::read_text(path, LARGEST)?;
    read_pairs(&text).user(|| format!("{} is not a file of labelled pairs", path.display()))
}

impl<'a> Bench<'a> {
    fn open(collection: Collection, app: &'a App) -> Result<Self, CommandError> {
        let name = super::encoder_name(None, app);
        let encoder = app.block_on(models::encoder(app, name, models::Reading::WHOLE))??;
        let store = super::retrieval::store(&collection, &encoder, app)?;
        let datastore = OpenDatastore::with(app, store, encoder)?;
        let screener = app.block_on(async {
            let attributor = judge::alone(app, crate::config::DEFAULT_JUDGE).await?;
            let (reranker, _) = reranker::open(app, &datastore, None, None).await?;
            let encoder = Arc::clone(&datastore.encoder);
            Ok::<_, CommandError>(EvidenceScreener::new(encoder, Some(reranker), attributor))
        })??;
        let mut ids = BTreeMap::new();
        datastore.store.each_paper(|paper| {
            ids.insert(document_name(&paper.id), paper.id);
            Ok(())
        })?;
        Ok(Self { collection, datastore, ids, screener, app })
    }

    fn store(&self) -> &Datastore {
        &self.datastore.store
    }

    /// The paper of that name; without text where the collection's file was not stored.
    fn paper(&self, name: &str) -> Result<ScreenPaper, CommandError> {
        let stored = match self.ids.get(name) {
            Some(id) => read_paper(self.store(), id)?,
            None => None,
        };
        Ok(stored.unwrap_or_else(|| ScreenPaper {
            id: PaperId::Local(name.to_owned()),
            title: String::new(),
            passages: Vec::new(),
        }))
    }

    fn decide(
        &self,
        paper: &ScreenPaper,
        criteria: &[&Criterion],
    ) -> Result<Vec<scholar_pipeline::screen::CriterionDecision>, CommandError> {
        let screened = self.app.block_on(self.screener.screen(paper, criteria))??;
        Ok(screened.decisions)
    }

    fn pairs(&self, pairs: &[LabelledPair]) -> Result<Vec<DecidedPair>, CommandError> {
        let bar = progress::counted(&self.app.printer, "pairs", u64::try_from(pairs.len()).ok());
        let mut decided = Vec::with_capacity(pairs.len());
        for pair in pairs {
            let criterion = Criterion {
                id: pair.criterion_id.clone(),
                text: pair.criterion.clone(),
                kind: pair.kind,
            };
            let paper = self.paper(&pair.paper)?;
            let mut own = self.decide(&paper, &[&criterion])?;
            if let Some(own) = own.pop() {
                decided.push(DecidedPair { pair: pair.clone(), half: pair.half(), decided: own });
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(decided)
    }

    fn topic(&self, topic: &Topic, batch: usize) -> Result<TopicRow, CommandError> {
        let papers =
            topic.papers.iter().map(|(name, _)| self.paper(name)).collect::<Result<Vec<_>, _>>()?;
        let wanted: Vec<bool> = topic.papers.iter().map(|(_, wanted)| *wanted).collect();
        let criteria: Vec<&Criterion> = topic.criteria.criteria.iter().collect();
        let bar = progress::counted(&self.app.printer, "papers", u64::try_from(papers.len()).ok())
            .with_message(&topic.id);
        let mut scores = Vec::with_capacity(papers.len());
        let mut decided = PapersDecided::default();
        for (paper, wanted) in papers.iter().zip(&wanted) {
            let decisions = self.decide(paper, &criteria)?;
            let decision =
                PaperDecision::new(paper.id.clone(), String::new(), "", decisions, &topic.criteria);
            decided.count(decision.decision, *wanted);
            scores.push(paper.has_text().then_some(decision.score));
            bar.inc(1);
        }
        bar.finish_and_clear();
        let ids: Vec<PaperId> = papers.iter().map(|paper| paper.id.clone()).collect();
        let vectors = unit(self.store().first_vectors(&ids)?);
        let query = RankingQuery::of(&topic.criteria);
        let texts: Vec<&str> = query.texts.iter().map(String::as_str).collect();
        let queries = self.datastore.encoder.encode(Side::Query, &texts)?.unit_rows();
        let heads: Vec<String> = papers.iter().map(ScreenPaper::head).collect();
        let ranked = |with_scores: bool| {
            let papers: Vec<Ranking<'_>> = heads
                .iter()
                .zip(&vectors)
                .zip(&scores)
                .map(|((text, vector), score)| Ranking {
                    text,
                    vector: vector.as_deref(),
                    score: score.filter(|_| with_scores),
                })
                .collect();
            rank(&query, &queries, &papers)
        };
        let full = ranked(true);
        let order = |of: &dyn Fn(&RankedBy) -> f32| full.iter().map(of).collect::<Vec<f32>>();
        let total = order(&|one| one.total);
        let borrowed: Vec<Option<&[f32]>> = vectors.iter().map(Option::as_deref).collect();
        let words: Vec<&str> = heads.iter().map(String::as_str).collect();
        let orders = [
            ("BM25", order(&|one| one.words)),
            ("dense", order(&|one| one.similarity)),
            ("criteria", order(&|one| one.criteria)),
            ("BM25 + dense", order(&|one| one.words + one.similarity)),
            ("**papers screen**", total.clone()),
            ("**with active learning**", simulate(&words, &borrowed, &total, &wanted, batch)),
        ];
        let orders = orders
            .into_iter()
            .map(|(name, scores)| (name.to_owned(), work_saved(&scores, &wanted)))
            .collect();
        Ok(TopicRow {
            topic: topic.id.clone(),
            papers: papers.len(),
            included: wanted.iter().filter(|one| **one).count(),
            without_text: papers.iter().filter(|paper| !paper.has_text()).count(),
            random: random_work_saved(&wanted),
            decided,
            orders,
        })
    }
}

/// Vectors scaled to length 1.
fn unit(vectors: Vec<Option<Vec<f32>>>) -> Vec<Option<Vec<f32>>> {
    crate::commands::papers::screen::unit_vectors(vectors)
}
