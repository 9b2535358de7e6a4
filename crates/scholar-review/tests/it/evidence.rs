use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::Date;
use scholar_core::{
    Attributor, CharSpan, Judgement, NoticeKind, Paper, PaperId, PaperMeta, Passage, PassageId,
    PortError, PortErrorKind, Retrieved, Retriever, SearchRequest, Section, Verdict,
};
use scholar_formats::export::{CitationStyle, ExportFormat};
use scholar_pipeline::{Event, Outcome, Ports};
use scholar_review::evidence::review;
use scholar_review::{
    Cutoff, Idea, MethodReview, Module, ModulesWanted, Refusal, Review, ReviewConfig,
    ReviewDocument, ReviewError, ReviewMode, render,
};
use scholar_testing::hostile::{self, STRINGS};
use scholar_testing::{
    FakeAttributor, FakeEncoder, FakeReranker, FakeSentenceClassifier, MemoryGraph, MemoryRetriever,
};

use crate::stage::{Lawless, papers, passages};
use crate::writing::check;

const CUTOFF: Date = Date::constant(2023, 6, 1);

const PLAN: &str = "# Research Plan: Detecting hallucinations in translation\n\n## Problem\n\n\
Neural machine translation hallucinates. We hypothesize that the probability of the model detects most hallucinations in \
translation.\n\n## Method\n\nWe propose a novel detector of hallucinations in neural machine translation that reads the \
probabilities of the model.\n\n**Retrieval**: We will retrieve passages with dense passage retrieval for open-domain question \
answering.\n\n## Experiment Design\n\nWe will compare the detector with quality estimation on four language pairs.\n";

fn plan() -> Idea {
    Idea::read(PLAN).expect("an idea")
}

fn retriever(papers: &[Paper]) -> MemoryRetriever {
    MemoryRetriever::new(papers.iter().flat_map(passages))
}

/// All models but a generator.
fn ports(papers: &[Paper]) -> Ports {
    let mut ports = Ports::new(Arc::new(retriever(papers)), Arc::new(FakeAttributor::new()));
    ports.graph = Some(Arc::new(MemoryGraph::new(papers.to_vec())));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    ports.encoder = Some(Arc::new(FakeEncoder::new(64)));
    ports.sentence_classifier = Some(Arc::new(FakeSentenceClassifier::new(64)));
    ports
}

async fn of(ports: &Ports, idea: &Idea, config: &ReviewConfig) -> Outcome<Review> {
    review(ports, idea, config, &()).await.expect("a review")
}

fn methods(review: &Review) -> &[MethodReview] {
    let soundness = review.soundness.as_ref().and_then(Module::done);
    &soundness.expect("soundness").reviews
}

#[tokio::test]
async fn every_quotation_stands_in_a_stored_passage_and_no_model_writes() {
    let papers = papers();
    let ports = ports(&papers);
    let outcome = of(&ports, &plan(), &ReviewConfig::lean()).await;
    let review = &outcome.value;
    check(review);
    assert_eq!((review.mode, outcome.spent.calls), (ReviewMode::Evidence, 0));
    let contribution = review.contribution.as_ref().and_then(Module::done).expect("contribution");
    let of_overlaps = contribution.nearest.iter().flat_map(|work| &work.overlaps);
    let of_sentences = review.statements().flat_map(|one| &one.sentence.quotes);
    let quotes: Vec<_> = of_sentences.chain(of_overlaps.map(|one| &one.quote)).collect();
    assert!(quotes.len() > 5, "{}", quotes.len());
    // A proof embeds what the run shows.
    let shown = |id: &PassageId| {
        let of_event = |event: &Event| match event {
            Event::Ranked { evidence, .. } => {
                evidence.iter().any(|one| &one.ranked.retrieved.passage.id == id)
            }
            _ => false,
        };
        outcome.trace.iter().any(of_event)
    };
    for quote in quotes {
        assert!(shown(&quote.passage_id), "{}", quote.passage_id);
        let stored = ports.retriever.passage(&quote.passage_id).await.expect("asked");
        let (passage, _) = stored.expect("stored");
        let span = CharSpan::new(quote.start, quote.end);
        assert_eq!(span.slice(&passage.text), Some(quote.text.as_str()));
        let reference = review.references.iter().find(|one| one.number == quote.reference);
        assert_eq!(reference.expect("referred to").paper_id, quote.passage_id.paper);
    }
    let ids: Vec<&str> = methods(review).iter().map(|one| one.method.id.as_str()).collect();
    assert!(ids.contains(&"M1") && ids.contains(&"H1"), "{ids:?}");
    assert!(methods(review).iter().any(|one| one.method.text.starts_with("Retrieval: We will")));
    let detector = contribution.nearest.iter().find(|one| one.statement.contains("novel detector"));
    let detector = detector.expect("claimed");
    let closest = review.references.iter().find(|one| Some(one.number) == detector.closest);
    let title = closest.expect("something near").title.to_lowercase();
    assert!(title.contains("hallucination") || title.contains("translation"), "{title}");
    assert!(detector.shared.iter().any(|term| term.contains("hallucinations")), "{detector:?}");
}

#[tokio::test]
async fn agreement_and_conflict_are_told_only_where_the_judge_says_so() {
    let mut papers = papers();
    let found = "The probability of the model detected 83% of the hallucinations in translation.";
    let mut paper = papers[0].clone();
    paper.meta =
        PaperMeta::new(PaperId::Pmid(83), "Hallucinations by the probability of the model");
    paper.sections = vec![Section::new("Abstract", found)];
    papers.push(paper);
    let told = |verdict: Option<Verdict>, sure: bool| {
        let papers = papers.clone();
        async move {
            let mut ports = ports(&papers);
            ports.attributor = Arc::new(Judge { verdict, sure });
            let review = of(&ports, &plan(), &ReviewConfig::lean()).await.value;
            let supposed: Vec<MethodReview> = methods(&review)
                .iter()
                .filter(|one| one.method.id.starts_with('H'))
                .cloned()
                .collect();
            let others = methods(&review).iter().filter(|one| one.method.id.starts_with('M'));
            let judged = others.map(|one| one.support.len() + one.contradictions.len());
            assert_eq!(judged.sum::<usize>(), 0, "nothing is supposed of what is done");
            let [one] = supposed.as_slice() else { panic!("{supposed:?}") };
            (one.support.len(), one.contradictions.len(), one.related.len())
        }
    };
    let (agree, conflict, _) = told(Some(Verdict::Supported), true).await;
    assert!(agree > 0 && conflict == 0);
    let (agree, conflict, _) = told(Some(Verdict::Contradicted), true).await;
    assert!(agree == 0 && conflict > 0);
    for undecided in [Some(Verdict::Partial), Some(Verdict::Unsupported), None] {
        let (agree, conflict, related) = told(undecided, true).await;
        assert!(agree == 0 && conflict == 0 && related > 0, "{undecided:?}");
    }
    let (agree, conflict, related) = told(Some(Verdict::Supported), false).await;
    assert!(agree == 0 && conflict == 0 && related > 0, "too unsure to count");
}

/// Gives every pair one verdict; fails without one.
struct Judge {
    verdict: Option<Verdict>,
    sure: bool,
}

#[async_trait]
impl Attributor for Judge {
    fn name(&self) -> &'static str {
        "judge"
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let Some(verdict) = self.verdict else {
            return Err(PortError::new(PortErrorKind::Unavailable, "asleep"));
        };
        let score = if self.sure { 0.95 } else { 0.3 };
        Ok(pairs.iter().map(|_| Judgement { verdict, score }).collect())
    }

    fn finds_contradictions(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn no_date_leaks_on_any_route() {
    let mut papers = papers();
    for paper in &mut papers {
        paper.meta.published = Some(Date::constant(2020, 1, 1));
        paper.meta.year = Some(2020);
    }
    let config = ReviewConfig { cutoff: Some(Cutoff::strict(CUTOFF)), ..ReviewConfig::lean() };
    let lawless = |papers: &[Paper]| {
        let mut ports = ports(papers);
        ports.retriever = Arc::new(Lawless::new(retriever(papers)));
        ports.graph = Some(Arc::new(Lawless::new(MemoryGraph::new(papers.to_vec()))));
        ports
    };
    let first = of(&lawless(&papers), &plan(), &config).await.value;
    let met: Vec<_> = first.papers().map(|paper| paper.id.clone()).collect();
    assert!(met.len() > 8, "{}", met.len());
    for (nth, id) in met.iter().enumerate().step_by(3) {
        let mut leaky = papers.clone();
        let paper = leaky.iter_mut().find(|paper| paper.meta.id == *id).expect("in the corpus");
        let why = if nth % 2 == 0 {
            paper.meta.published = Some(CUTOFF);
            Refusal::TooLate
        } else {
            (paper.meta.published, paper.meta.year) = (None, None);
            Refusal::UnknownDate
        };
        let review = of(&lawless(&leaky), &plan(), &config).await.value;
        assert!(review.papers().all(|paper| paper.id != *id), "{id} leaked");
        assert!(review.references.iter().all(|one| one.paper_id != *id), "{id} is cited");
        assert!(review.left_out.iter().any(|left| left.why == why), "{:?}", review.left_out);
    }
}

/// Answers late, the later the shorter the query.
struct Late(MemoryRetriever);

#[async_trait]
impl Retriever for Late {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        for _ in 0..400_usize.saturating_sub(request.query.as_str().len()) {
            tokio::task::yield_now().await;
        }
        self.0.search(request).await
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.0.passage(id).await
    }
}

#[tokio::test]
async fn timing_changes_nothing() {
    let papers = papers();
    let mut late = ports(&papers);
    late.retriever = Arc::new(Late(retriever(&papers)));
    let wide = ReviewConfig { concurrency: 8, ..ReviewConfig::lean() };
    let narrow = ReviewConfig { concurrency: 1, ..ReviewConfig::lean() };
    let one = of(&ports(&papers), &plan(), &narrow).await.value;
    let other = of(&late, &plan(), &wide).await.value;
    let json = |review: &Review| serde_json::to_string(review).expect("serialises");
    assert_eq!(json(&one), json(&other));
    let back: Review = serde_json::from_str(&json(&one)).expect("reads");
    assert_eq!(back, one);
}

#[tokio::test]
async fn what_is_missing_is_told_and_the_rest_stays() {
    let papers = papers();
    let bare = Ports::new(Arc::new(retriever(&papers)), Arc::new(FakeAttributor::new()));
    let outcome = of(&bare, &plan(), &ReviewConfig::lean()).await;
    check(&outcome.value);
    assert!(!outcome.value.references.is_empty(), "words alone find something");
    assert!(outcome.notices.iter().any(|notice| notice.kind == NoticeKind::Weak));
    let contribution = outcome.value.contribution.as_ref().and_then(Module::done);
    let scored = &contribution.expect("contribution").papers;
    assert!(scored.iter().all(|one| one.cosine.is_none()), "nothing measured, nothing scored");

    let mut broken = ports(&papers);
    let failing = retriever(&papers).failing(PortErrorKind::Unavailable, "no index");
    broken.retriever = Arc::new(failing);
    let error = review(&broken, &plan(), &ReviewConfig::lean(), &()).await.expect_err("nothing");
    assert!(matches!(error, ReviewError::Nothing { .. }), "{error}");
    assert!(error.to_string().contains("no index"));

    let one = ReviewConfig { modules: ModulesWanted::Contribution, ..ReviewConfig::lean() };
    let only = of(&ports(&papers), &plan(), &one).await.value;
    assert!(only.soundness.is_none() && only.contribution.is_some());
}

#[tokio::test]
async fn an_idea_that_plans_nothing_gets_an_empty_review_that_says_so() {
    let essay = "The sea is blue in summer and grey in winter, and the ships of the old harbour come and go with the tides of the moon.";
    let idea = Idea::read(essay).expect("English");
    let outcome = of(&ports(&papers()), &idea, &ReviewConfig::lean()).await;
    assert!(methods(&outcome.value).is_empty() && outcome.value.references.is_empty());
    let told: Vec<&str> = outcome.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert!(told.iter().any(|one| one.contains("no method was recognised")), "{told:?}");
    assert!(told.iter().any(|one| one.contains("no claim of something new")), "{told:?}");
    let html = page(&outcome, ExportFormat::Html);
    assert!(html.contains("No method was recognised.") && !html.contains("<svg"));
}

fn page(outcome: &Outcome<Review>, format: ExportFormat) -> String {
    let style = CitationStyle::named("ieee").expect("a style");
    let document = ReviewDocument {
        review: &outcome.value,
        notices: &outcome.notices,
        generated_by: "openscholar",
    };
    let bytes = render(&document, format, &style).expect("writes");
    String::from_utf8_lossy(&bytes).into_owned()
}

#[tokio::test]
async fn documents_say_what_exists_first() {
    let outcome = of(&ports(&papers()), &plan(), &ReviewConfig::lean()).await;
    let markdown = page(&outcome, ExportFormat::Markdown);
    let at = |part: &str| markdown.find(part).unwrap_or_else(|| panic!("{part} in {markdown}"));
    assert!(at("## At a glance") < at("## What exists already"));
    assert!(at("## What exists already") < at("## Map of what is near"));
    assert!(at("## Map of what is near") < at("## What studies say of the methods"));
    for part in ["**Closest:**", "**C1:**", "| Study |", "### Method M1"] {
        at(part);
    }
    let html = page(&outcome, ExportFormat::Html);
    assert!(html.contains("<svg") && !html.contains("<script"));
    assert!(page(&outcome, ExportFormat::Latex).contains("\\subsection*{Method M1}"));
    assert!(page(&outcome, ExportFormat::Docx).starts_with("PK"));
}

#[tokio::test]
async fn hostile_ideas_and_papers_are_shown_and_not_obeyed() {
    let papers = hostile::papers();
    let ports = ports(&papers);
    for one in STRINGS {
        let text: String = one.text().chars().take(1_500).collect();
        let idea = format!(
            "# Research Plan: {text} of zebrafish\n\n## Method\n\nWe propose a novel map of where the zebrafish swims: {text}.\n\n\
             - **{text}**: We will count the rivers of the zebrafish {text} in its own words.\n\n\
             We hypothesize that the zebrafish swims in more than three rivers of the land {text}.\n"
        );
        // Binary and foreign texts are refused before there is anything to review.
        let Ok(idea) = Idea::read(&idea) else { continue };
        let outcome = of(&ports, &idea, &ReviewConfig::lean()).await;
        for format in [ExportFormat::Html, ExportFormat::Markdown, ExportFormat::Latex] {
            let shown = page(&outcome, format);
            assert!(hostile::obeyed(&shown).is_empty(), "{} in {format:?}", one.name);
            if format == ExportFormat::Html {
                let lower = shown.to_lowercase();
                assert!(!lower.contains("<script") && !lower.contains("<img"), "{}", one.name);
            }
        }
        assert!(page(&outcome, ExportFormat::Docx).starts_with("PK"));
    }
}

#[tokio::test]
async fn the_longest_idea_is_read_in_bounded_time() {
    let sentence =
        "We will measure hallucinations of the translation model number with passage retrieval. ";
    let long: String = sentence.chars().cycle().take(19_000).collect();
    let idea = Idea::read(&long).expect("just accepted");
    let review = of(&ports(&papers()), &idea, &ReviewConfig::paper()).await.value;
    assert!(methods(&review).len() <= 14, "{}", methods(&review).len());
}
