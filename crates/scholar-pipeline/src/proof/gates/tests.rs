use std::sync::Arc;

use parking_lot::Mutex;
use scholar_core::{
    AnswerMode, Attributor, Explanation, PaperId, PaperMeta, Passage, PassageId, PassageKind,
    PortErrorKind, Question, RetrievalScore, Retrieved,
};
use scholar_testing::MemoryRetriever;

use super::remedies::ranked;
use super::*;
use crate::config::AskConfig;
use crate::event::Observer;
use crate::ports::Ports;
use crate::proof::finalise::finalise;
use crate::proof::lexical::LexicalAttributor;
use crate::write::sentences::draft_sentences;

const VITAMIN: &str = "We review nutrition. Vitamin D supplementation reduced tumour growth in 120 old mice [3]. \
                       Mice were fed daily.";
const VITAMIN_AGAIN: &str = "A second trial of diet. Fish oil lowered blood pressure in 40 adults.";
const RETRIEVAL: &str = "Retrieval augmentation improved factual accuracy of language models by 12 points on open questions.";
const HIDDEN: &str =
    "Caffeine intake shortened reaction times of tired drivers in a randomised trial.";

fn passage(paper: u64, ordinal: u32, text: &str) -> (Passage, Arc<PaperMeta>) {
    let id = PaperId::Pmid(paper);
    let mut meta = PaperMeta::new(id.clone(), format!("Paper {paper}"));
    meta.year = Some(2020);
    let passage = Passage {
        id: PassageId { paper: id, ordinal },
        title: meta.title.clone(),
        section: String::new(),
        kind: PassageKind::Body,
        text: text.to_owned(),
        span: CharSpan::new(0, text.chars().count()),
        places: Vec::new(),
    };
    (passage, Arc::new(meta))
}

/// Three shown passages of two papers; the datastore has a fourth.
fn shown() -> Vec<(Passage, Arc<PaperMeta>)> {
    vec![passage(1, 0, VITAMIN), passage(1, 1, VITAMIN_AGAIN), passage(2, 0, RETRIEVAL)]
}

fn registry() -> EvidenceRegistry {
    let mut registry = EvidenceRegistry::new();
    for (passage, paper) in shown() {
        let retrieved = Retrieved {
            passage,
            paper,
            score: RetrievalScore::new(1.0).expect("finite"),
            explanation: Explanation::new(1.0, "test"),
            found_by: Vec::new(),
        };
        registry.add(ranked(retrieved).expect("finite"));
    }
    registry
}

fn ports(attributor: Arc<dyn Attributor>, retriever: MemoryRetriever) -> Ports {
    Ports::new(Arc::new(retriever), attributor)
}

fn datastore() -> MemoryRetriever {
    MemoryRetriever::new(shown().into_iter().chain([passage(3, 0, HIDDEN)]))
}

/// Proves `draft` as `proof` says.
async fn prove_by(
    ports: &Ports,
    registry: &mut EvidenceRegistry,
    draft: &[DraftSentence],
    proof: &ProofConfig,
    observer: &dyn Observer,
) -> Result<Proven, PortError> {
    let config = AskConfig { proof: proof.clone(), ..AskConfig::paper() };
    let question = Question::new("What is known?").expect("a question");
    let frame = Frame::new(AnswerMode::Generative, ports, &question, &config, observer);
    prove(&frame, registry, draft).await
}

async fn run(draft: &[DraftSentence], config: &ProofConfig) -> (Proven, EvidenceRegistry) {
    let mut registry = registry();
    let ports = ports(Arc::new(LexicalAttributor::new()), datastore());
    let proven = prove_by(&ports, &mut registry, draft, config, &()).await.expect("nothing fails");
    (proven, registry)
}

fn numbers(sentence: &ProvenSentence) -> Vec<usize> {
    sentence.citations.iter().map(|number| number.0).collect()
}

/// Readers found short answers whose clauses had all but one of their citations taken away.
#[tokio::test]
async fn each_clause_keeps_the_citation_that_supports_it() {
    let text = "Vitamin D supplementation reduced tumour growth in 120 old mice [0], and retrieval augmentation improved factual accuracy of language models by 12 points [2].";
    let (proven, _) = run(&draft_sentences(text), &ProofConfig::standard()).await;
    let sentence = &proven.sentences[0];
    assert_eq!((sentence.fate, numbers(sentence)), (Fate::Kept, vec![0, 2]));
    assert_eq!(sentence.quotes.len(), 2, "a quotation for each");
    // A clause that its citation does not support is not covered by the other's.
    let text = "Vitamin D supplementation reduced tumour growth in 120 old mice [0], and caffeine shortened reaction times of drivers in a trial [2].";
    let (proven, _) = run(&draft_sentences(text), &ProofConfig::standard()).await;
    assert!(proven.sentences.iter().all(|one| one.fate != Fate::Kept), "{proven:?}");
}

#[tokio::test]
async fn a_supported_sentence_is_kept_with_its_exact_quotation() {
    let draft = draft_sentences(
        "Vitamin D supplementation reduced the growth of tumours in old mice [0][2].",
    );
    let (proven, _) = run(&draft, &ProofConfig::standard()).await;
    let sentence = &proven.sentences[0];
    assert_eq!((sentence.fate, numbers(sentence)), (Fate::Kept, vec![0]));
    assert_eq!(sentence.gates, [Gate::L0, Gate::L1, Gate::L2]);
    let quote = &sentence.quotes[0];
    assert_eq!(quote.text, "Vitamin D supplementation reduced tumour growth in 120 old mice [3].");
    assert_eq!(quote.span.slice(VITAMIN), Some(quote.text.as_str()));
    assert_eq!(sentence.support.as_ref().map(|s| s.judge.as_str()), Some("lexical/1"));
    assert_eq!(proven.notices.len(), 1, "the citation that does not support is removed, visibly");
}

#[tokio::test]
async fn numbers_that_do_not_exist_are_removed_and_the_source_is_found() {
    let draft =
        draft_sentences("Retrieval augmentation improved the accuracy of language models [999].");
    let (proven, _) = run(&draft, &ProofConfig::standard()).await;
    assert_eq!(
        (proven.sentences[0].fate, numbers(&proven.sentences[0])),
        (Fate::Reattributed, vec![2])
    );
    assert!(proven.notices[0].message.contains("[999]"));
    assert_eq!(proven.counts, ProofCounts { reattributed: 1, ..ProofCounts::default() });
}

#[tokio::test]
async fn a_wrong_citation_is_replaced_by_a_shown_or_a_searched_passage() {
    let draft = draft_sentences(
        "Fish oil lowered blood pressure in adults [2]. Caffeine intake shortened the reaction times of tired drivers [0].",
    );
    let (proven, registry) = run(&draft, &ProofConfig::standard()).await;
    assert_eq!(numbers(&proven.sentences[0]), [1]);
    assert_eq!(numbers(&proven.sentences[1]), [3], "the searched passage got the next number");
    assert_eq!(registry.len(), 4);
    let found = &registry.items()[3].ranked.retrieved.passage.text;
    assert_eq!(found, HIDDEN);
}

#[tokio::test]
async fn what_nothing_supports_is_weakened_or_dropped_as_configured() {
    let draft =
        draft_sentences("Graphene transistors switch at terahertz frequencies in vacuum [1].");
    let (weakened, registry) = run(&draft, &ProofConfig::standard()).await;
    assert_eq!(
        weakened.sentences[0].text,
        "Graphene transistors switch at terahertz frequencies in vacuum."
    );
    assert!(weakened.sentences[0].citations.is_empty() && weakened.sentences[0].gates.is_empty());
    assert_eq!(registry.len(), 3, "passages that do not pass get no number");
    let (dropped, _) = run(&draft, &ProofConfig::strict()).await;
    assert!(dropped.sentences.is_empty());
    assert_eq!(dropped.counts.dropped, 1);
    let (reported, _) = run(&draft, &ProofConfig::report_only()).await;
    assert_eq!(reported.sentences[0].fate, Fate::Unproven);
    assert_eq!(reported.sentences[0].gates, [Gate::L0]);
}

#[tokio::test]
async fn an_opposing_source_is_disputed_not_hidden() {
    let draft =
        draft_sentences("Vitamin D supplementation increased tumour growth in 120 old mice [0].");
    let (proven, _) = run(&draft, &ProofConfig::standard()).await;
    let sentence = &proven.sentences[0];
    assert!(sentence.text.ends_with("120 old mice."), "no verdict in prose: {}", sentence.text);
    assert_eq!(sentence.support.as_ref().map(|s| s.verdict), Some(Verdict::Contradicted));
    assert_eq!(
        (numbers(sentence), sentence.gates.as_slice()),
        (vec![0], &[Gate::L0, Gate::L1][..])
    );
}

#[tokio::test]
async fn a_quotation_must_stand_in_the_cited_passage() {
    let draft = draft_sentences(
        "One trial says “tumour growth in 120 old\nmice” was reduced by vitamin D supplementation [0].",
    );
    let draft_false = draft_sentences(
        "One trial says “tumour growth in 900 old mice” was reduced by vitamin D supplementation [0].",
    );
    let (proven, _) = run(&draft, &ProofConfig::synthesis()).await;
    assert_eq!(proven.sentences[0].quotes[0].text, "tumour growth in 120 old mice");
    let (refused, _) = run(&draft_false, &ProofConfig::synthesis()).await;
    assert!(refused.sentences.is_empty(), "an invented quotation fails whatever the overlap");
}

#[tokio::test]
async fn verbatim_sentences_are_located_or_dropped() {
    let draft = [
        DraftSentence::verbatim(EvidenceNumber(1), "Fish oil lowered blood pressure in 40 adults."),
        DraftSentence::verbatim(EvidenceNumber(1), "Fish oil raised blood pressure in 40 adults."),
        DraftSentence::verbatim(EvidenceNumber(7), "Fish oil lowered blood pressure in 40 adults."),
    ];
    let (proven, _) = run(&draft, &ProofConfig::standard()).await;
    assert_eq!(proven.sentences.len(), 1);
    assert_eq!(
        proven.sentences[0].support.as_ref().map(|s| s.judge.as_str()),
        Some(VERBATIM_JUDGE)
    );
    assert_eq!(proven.counts, ProofCounts { kept: 1, dropped: 2, ..ProofCounts::default() });
}

#[tokio::test]
async fn sentences_that_claim_nothing_stay_and_uncited_claims_follow_the_rule() {
    let text = "In summary, evidence grows. Graphene transistors switch at terahertz frequencies in vacuum. \
                Fish oil lowered blood pressure in adults.";
    let (proven, _) = run(&draft_sentences(text), &ProofConfig::standard()).await;
    let fates: Vec<Fate> = proven.sentences.iter().map(|s| s.fate).collect();
    assert_eq!(fates, [Fate::Uncited, Fate::Uncited, Fate::Reattributed]);
    let (strict, _) = run(&draft_sentences(text), &ProofConfig::strict()).await;
    let fates: Vec<Fate> = strict.sentences.iter().map(|s| s.fate).collect();
    assert_eq!(fates, [Fate::Uncited, Fate::Reattributed]);
}

#[tokio::test]
async fn references_are_numbered_from_one_per_paper_in_order_of_appearance() {
    let draft = draft_sentences(
        "Retrieval augmentation improved factual accuracy of language models [2]. \
         Fish oil lowered blood pressure in adults [1]. Vitamin D supplementation reduced tumour growth in old mice [0].",
    );
    let (proven, registry) = run(&draft, &ProofConfig::standard()).await;
    let (sentences, references) = finalise(&proven.sentences, &registry);
    let cited: Vec<Vec<usize>> =
        sentences.iter().map(|s| s.citations.iter().map(|c| c.0).collect()).collect();
    assert_eq!(cited, [vec![1], vec![2], vec![2]]);
    let papers: Vec<String> = references.iter().map(|r| r.paper_id.to_string()).collect();
    assert_eq!(papers, ["pmid:2", "pmid:1"]);
    assert_eq!(sentences[2].quotes[0].passage_id.to_string(), "pmid:1#0");
}

struct BrokenJudge;

#[async_trait::async_trait]
impl Attributor for BrokenJudge {
    fn name(&self) -> &'static str {
        "broken"
    }

    async fn judge(&self, _pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        Err(PortError::new(PortErrorKind::Unavailable, "no judge at home"))
    }
}

#[tokio::test]
async fn a_failing_judge_or_search_is_a_notice_or_an_error_as_configured() {
    let draft = draft_sentences("Fish oil lowered blood pressure in adults [1].");
    let broken = ports(Arc::new(BrokenJudge), datastore());
    let config = ProofConfig::standard();
    let proven = prove_by(&broken, &mut registry(), &draft, &config, &()).await.expect("a notice");
    assert_eq!(proven.sentences[0].gates, [Gate::L0, Gate::L1]);
    assert!(proven.sentences[0].support.is_none());
    assert_eq!(proven.notices.len(), 1);
    let fail = ProofConfig { judge_failure: JudgeFailure::Fail, ..ProofConfig::standard() };
    prove_by(&broken, &mut registry(), &draft, &fail, &()).await.expect_err("configured to fail");

    let offline = datastore().failing(PortErrorKind::Unavailable, "no index");
    let ports = ports(Arc::new(LexicalAttributor::new()), offline);
    let draft =
        draft_sentences("Graphene transistors switch at terahertz frequencies in vacuum [1].");
    let proven = prove_by(&ports, &mut registry(), &draft, &config, &()).await.expect("a notice");
    assert!(proven.notices.iter().any(|n| n.message.contains("no index")), "{:?}", proven.notices);
}

#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Observer for Recorder {
    fn on_event(&self, event: &Event) {
        self.0.lock().push(match event {
            Event::Verified { kept, reattributed, weakened, dropped } => {
                format!("verified {kept} {reattributed} {weakened} {dropped}")
            }
            Event::Noticed { .. } => "noticed".to_owned(),
            Event::Searched { hits, .. } => format!("searched {}", hits > &0),
            other => format!("{other:?}"),
        });
    }
}

#[tokio::test]
async fn every_change_is_an_event() {
    let draft = draft_sentences(
        "Fish oil lowered blood pressure in adults [1]. Caffeine intake shortened the reaction times of tired drivers [0].",
    );
    let recorder = Recorder::default();
    let ports = ports(Arc::new(LexicalAttributor::new()), datastore());
    prove_by(&ports, &mut registry(), &draft, &ProofConfig::standard(), &recorder)
        .await
        .expect("proven");
    assert_eq!(*recorder.0.lock(), ["searched true", "noticed", "verified 1 1 0 0"]);
}

/// The sentence that words would choose is not the one this judge points at.
struct Pointing;

#[async_trait::async_trait]
impl Attributor for Pointing {
    fn name(&self) -> &'static str {
        "pointing"
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        let supports = |(_, evidence): &(&str, &str)| {
            assert_eq!(*evidence, "Mice were fed daily.", "the judge reads what it pointed at");
            Judgement { verdict: Verdict::Supported, score: 0.9 }
        };
        Ok(pairs.iter().map(supports).collect())
    }

    async fn evidence(
        &self,
        _sentence: &str,
        candidates: &[&str],
    ) -> Result<Option<Vec<f32>>, PortError> {
        let score = |text: &&str| if text.contains("fed") { 0.9 } else { 0.1 };
        Ok(Some(candidates.iter().map(score).collect()))
    }
}

#[tokio::test]
async fn a_judge_that_tells_evidence_chooses_the_quotation() {
    let draft = draft_sentences("Vitamin D supplementation reduced tumour growth in mice [0].");
    let ports = ports(Arc::new(Pointing), datastore());
    let mut registry = registry();
    let config = ProofConfig::standard();
    let proven =
        prove_by(&ports, &mut registry, &draft, &config, &()).await.expect("nothing fails");
    let quotes = &proven.sentences[0].quotes;
    assert_eq!(quotes.len(), 1);
    assert_eq!(quotes[0].text, "Mice were fed daily.");
}
