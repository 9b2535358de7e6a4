use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::Date;
use scholar_core::{
    Paper, PaperId, PaperMeta, Passage, PassageId, PortError, Retrieved, Retriever, SearchFilter,
    SearchRequest,
};
use scholar_pipeline::Ports;
use scholar_review::{Cutoff, EvidenceTier, Module, Refusal, Review, ReviewConfig};
use scholar_testing::{
    FakeAttributor, FakeEncoder, MemoryGraph, MemoryRetriever, ScriptedGenerator,
};

use crate::stage::{IDEA, Lawless, config, model, papers, passages, review_of};
use crate::writing::check;

const CUTOFF: Date = Date::constant(2023, 6, 1);

struct Stage {
    ports: Ports,
    retriever: Arc<Lawless<MemoryRetriever>>,
    graph: Arc<Lawless<MemoryGraph>>,
    model: Arc<ScriptedGenerator>,
}

fn stage(papers: &[Paper]) -> Stage {
    let retriever = Arc::new(Lawless::new(MemoryRetriever::new(papers.iter().flat_map(passages))));
    let graph = Arc::new(Lawless::new(MemoryGraph::new(papers.to_vec())));
    let model = Arc::new(model());
    let port: Arc<Lawless<MemoryRetriever>> = Arc::clone(&retriever);
    let mut ports = Ports::new(port, Arc::new(FakeAttributor::new()));
    let port: Arc<Lawless<MemoryGraph>> = Arc::clone(&graph);
    ports.graph = Some(port);
    let port: Arc<ScriptedGenerator> = Arc::clone(&model);
    ports.generator = Some(port);
    ports.encoder = Some(Arc::new(FakeEncoder::new(16)));
    Stage { ports, retriever, graph, model }
}

fn strict() -> ReviewConfig {
    ReviewConfig { cutoff: Some(Cutoff::strict(CUTOFF)), ..config() }
}

/// Walks every request, every prompt and every paper of the report.
fn walk(stage: &Stage, review: &Review, papers: &[Paper]) {
    check(review);
    let strict = |filter: &SearchFilter| {
        assert_eq!(filter.published_before, Some(CUTOFF));
        assert!(!filter.include_unknown && !filter.exclude_titles.is_empty());
    };
    stage.retriever.searches.lock().iter().for_each(|request| strict(&request.filter));
    stage.graph.steps.lock().iter().for_each(|request| strict(&request.filter));
    let may = |paper: &PaperMeta| paper.latest_day().is_some_and(|day| day < CUTOFF);
    review.papers().for_each(|paper| assert!(may(paper), "{} is in the report", paper.id));
    let prompts: Vec<String> = stage
        .model
        .requests()
        .into_iter()
        .flat_map(|request| request.messages.into_iter().map(|message| message.content))
        .collect();
    for paper in papers.iter().filter(|paper| !may(&paper.meta)) {
        let shown =
            prompts.iter().any(|prompt| prompt.contains(&format!("] {} (", paper.meta.title)));
        assert!(!shown, "{} was shown to the model", paper.meta.title);
    }
}

fn dated(paper: &mut Paper, day: Date) {
    paper.meta.published = Some(day);
    paper.meta.year = Some(day.year());
}

/// One paper that must not be read for each rule, behind ports that obey no filter.
#[tokio::test]
async fn a_leak_on_every_route_is_caught() {
    let mut papers = papers();
    for paper in &mut papers {
        dated(paper, Date::constant(2020, 1, 1));
    }
    let outcome = {
        let stage = stage(&papers);
        review_of(&stage.ports, &strict()).await.expect("a review").value
    };
    // Every paper that this review met on some way becomes a leak in turn: by day, by year, without date, by title.
    let met: Vec<_> = outcome.papers().map(|paper| paper.id.clone()).collect();
    assert!(met.len() > 8, "{}", met.len());
    for (nth, id) in met.iter().enumerate() {
        let mut leaky = papers.clone();
        let paper = leaky.iter_mut().find(|paper| paper.meta.id == *id).expect("in the corpus");
        let why = match nth % 4 {
            0 => {
                dated(paper, CUTOFF);
                Refusal::TooLate
            }
            1 => {
                (paper.meta.published, paper.meta.year) = (None, Some(2023));
                Refusal::TooLate
            }
            2 => {
                (paper.meta.published, paper.meta.year) = (None, None);
                Refusal::UnknownDate
            }
            _ => {
                "Retrieval against hallucination in translation".clone_into(&mut paper.meta.title);
                Refusal::SameTitle
            }
        };
        let stage = stage(&leaky);
        let review = review_of(&stage.ports, &strict()).await.expect("a review").value;
        let counted = review.left_out.iter().filter(|one| one.why == why).count();
        assert!(counted > 0, "{why:?} of {id}: {:?}", review.left_out);
        assert!(review.papers().all(|paper| paper.id != *id), "{why:?}");
        if why != Refusal::SameTitle {
            walk(&stage, &review, &leaky);
        }
    }
}

#[tokio::test]
async fn searches_recommendations_and_references_each_refuse_and_count() {
    let mut papers = papers();
    // Every second paper is too late: each way meets some.
    for (at, paper) in papers.iter_mut().enumerate() {
        let late = at % 2 == 0;
        dated(paper, if late { CUTOFF } else { Date::constant(2021, 2, 3) });
    }
    let stage = stage(&papers);
    let review = review_of(&stage.ports, &strict()).await.expect("a review").value;
    walk(&stage, &review, &papers);
    for route in ["search", "recommendations", "references"] {
        let counted = review.left_out.iter().find(|one| one.route == route);
        assert!(counted.is_some_and(|one| one.papers > 0), "{route}: {:?}", review.left_out);
    }
}

#[tokio::test]
async fn the_ideas_own_paper_is_known_by_its_text_too() {
    let mut papers = papers();
    papers.truncate(6);
    let mut own = papers[0].clone();
    own.meta.id = "local:own".parse().expect("an id");
    own.meta.external_ids.clear();
    own.meta.title = "A renamed paper on hallucination in translation".to_owned();
    own.sections[0].text = IDEA
        .split("## Method\n")
        .nth(1)
        .expect("a part")
        .split("\n\n##")
        .next()
        .expect("text")
        .to_owned();
    papers.push(own);
    let stage = stage(&papers);
    let review = review_of(&stage.ports, &config()).await.expect("a review").value;
    assert!(
        review.left_out.iter().any(|one| one.why == Refusal::SameText),
        "{:?}",
        review.left_out
    );
    assert!(review.papers().all(|paper| !paper.title.contains("renamed")));
}

/// A retriever whose full text of a paper turns out to be of a later version.
struct Later {
    inner: MemoryRetriever,
    of: PaperId,
}

#[async_trait]
impl Retriever for Later {
    fn name(&self) -> &'static str {
        "later"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let within = request.filter.papers.is_some();
        let mut hits = self.inner.search(request).await?;
        for hit in hits.iter_mut().filter(|hit| within && hit.paper.id == self.of) {
            let paper = Arc::make_mut(&mut hit.paper);
            (paper.published, paper.year) = (Some(CUTOFF), Some(CUTOFF.year()));
            hit.passage.text = "Leaked from the published version.".to_owned();
        }
        Ok(hits)
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.inner.passage(id).await
    }
}

#[tokio::test]
async fn a_leak_in_a_full_text_is_refused_and_the_rest_is_read() {
    let mut papers = papers();
    for paper in &mut papers {
        dated(paper, Date::constant(2020, 1, 1));
    }
    let clean = stage(&papers);
    let before = review_of(&clean.ports, &strict()).await.expect("a review").value;
    let read = |review: &Review, id: Option<&PaperId>| -> Vec<(PaperId, EvidenceTier)> {
        let soundness = review.soundness.as_ref().and_then(Module::done).expect("soundness");
        let evidence = soundness.reviews.iter().flat_map(|one| &one.evidence);
        let all = evidence.map(|one| (one.paper.id.clone(), one.tier));
        all.filter(|(known, _)| id.is_none_or(|id| id == known)).collect()
    };
    let (of, tier) = read(&before, None).swap_remove(0);
    assert_eq!(tier, EvidenceTier::FullText);
    let mut leaky = stage(&papers);
    let inner = MemoryRetriever::new(papers.iter().flat_map(passages));
    leaky.ports.retriever = Arc::new(Later { inner, of: of.clone() });
    let review = review_of(&leaky.ports, &strict()).await.expect("a review").value;
    check(&review);
    let refused = review.left_out.iter().find(|one| one.route == "full_text");
    let refused = refused.unwrap_or_else(|| panic!("{:?}", review.left_out));
    assert_eq!((refused.why, refused.papers), (Refusal::TooLate, 1));
    let tiers = read(&review, Some(&of));
    assert!(!tiers.is_empty(), "its abstract is from before");
    assert!(tiers.iter().all(|(_, tier)| *tier == EvidenceTier::AbstractOnly), "{tiers:?}");
    let shown = leaky.model.requests().into_iter().flat_map(|one| one.messages);
    assert!(shown.into_iter().all(|message| !message.content.contains("Leaked")));
}

fn papers_with(days: &[Option<(i16, i8, bool)>]) -> Vec<Paper> {
    let mut papers = papers();
    for (paper, day) in papers.iter_mut().zip(days) {
        (paper.meta.published, paper.meta.year) = match day {
            Some((year, month, true)) => (Date::new(*year, *month, 1).ok(), Some(*year)),
            Some((year, _, false)) => (None, Some(*year)),
            None => (None, None),
        };
    }
    papers
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn no_request_and_no_list_reaches_past_the_cutoff(
        days in proptest::collection::vec(
            proptest::option::weighted(0.9, (2021_i16..2026, 1_i8..13, proptest::bool::ANY)), 40),
    ) {
        let papers = papers_with(&days);
        let stage = stage(&papers);
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let review = runtime.block_on(review_of(&stage.ports, &strict())).expect("a review").value;
        walk(&stage, &review, &papers);
    }
}
