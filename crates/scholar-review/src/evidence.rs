//! A review without a strong model: what exists already, in the papers' own words.
//!
//! ```text
//! idea → units → methods, suppositions, claims (wording, sentence classifier)
//!      → each: two searches, what the best hits cite → ranked papers with their abstracts
//!      → sentences with roles and nearness → what the nearest did and found
//!                                          → suppositions: agreement or conflict, only where the judge says so
//!                                          → claims: closest work side by side, terms shared, terms nobody has
//! ```
//!
//! All sentences about papers are quotations at known places; nothing is scored that was not measured. Searches run side by
//! side; everything else goes in a fixed order over what they brought, so that no timing changes a report.
//!
//! Source: ours, for the questions of arXiv 2510.16234.

mod contribution;
mod cues;
mod gather;
mod items;
mod numbering;
mod soundness;
mod study;
mod terms;
mod units;
mod vectors;

use scholar_core::{AnswerMode, Notice, NoticeKind, PortError, Question};
use scholar_pipeline::{Event, Frame, Observer, Outcome, Ports};

use crate::config::ReviewConfig;
use crate::desk::Desk;
use crate::idea::Idea;
use crate::library::Library;
use crate::report::{
    Contribution, Module, REVIEW_SCHEMA, Review, ReviewMode, ReviewModule, Soundness,
};
use crate::review::{ReviewError, mode_for};
use gather::{Read, gather};
use items::{Item, Items, Limits, items};
use numbering::Numbering;
use soundness::Looked;
use vectors::Vectors;

/// Reviews `idea` in code. No generator is called; encoder, sentence classifier, reranker and graph are used where the ports have
/// them, and a notice says what their absence costs.
///
/// What fails in one module is told in its place, and the other stays.
///
/// # Errors
/// [`ReviewError`] when there is nothing to show.
pub async fn review(
    ports: &Ports,
    idea: &Idea,
    config: &ReviewConfig,
    observer: &dyn Observer,
) -> Result<Outcome<Review>, ReviewError> {
    let question = Question::new(&idea.text).map_err(ReviewError::Idea)?;
    let asked = config.ask(crate::Guard::of(idea, config.cutoff).filter());
    let frame = Frame::new(AnswerMode::Evidence, ports, &question, &asked, observer);
    let (_, reason) = mode_for(config.mode, ports.generator.as_ref().map(|one| one.info()));
    frame.emit(&Event::Started { mode: AnswerMode::Evidence, reason });
    let mut review = reviewed(&Desk::new(&frame, idea, config)).await;
    review.link_papers();
    if let Some(reasons) = nothing(&review) {
        return Err(ReviewError::Nothing { reasons });
    }
    for statement in review.statements() {
        frame.emit(&Event::Sentence { sentence: statement.sentence.clone() });
    }
    frame.emit(&Event::Finished { abstained: review.references.is_empty() });
    Ok(frame.finish(review))
}

async fn reviewed(desk: &Desk<'_>) -> Review {
    let modules = desk.config.modules;
    let mut vectors = Vectors::new(&desk.frame.ports);
    without_models(desk, &vectors);
    let mut numbering = Numbering::default();
    let (soundness, contribution) = match read_idea(desk, &mut vectors) {
        Ok(items) => {
            let library = Library::new(desk);
            let topic = topic(desk.idea, &items);
            let subject = subject(desk.idea, &items);
            let rests_on: Vec<&Item> = items.methods.iter().chain(&items.suppositions).collect();
            let claims: Vec<&Item> = items.statements.iter().collect();
            let rests_on = if modules.soundness() { rests_on } else { Vec::new() };
            let claims = if modules.contribution() { claims } else { Vec::new() };
            let all: Vec<&Item> = rests_on.iter().chain(&claims).copied().collect();
            let reads = gather(&library, &topic, &all).await;
            let looked = looked(desk, &all, &reads, rests_on.len());
            let (rests_on, claims) = looked.split_at(rests_on.len());
            let soundness = match modules.soundness() {
                true => Some(sound(desk, rests_on, &subject, &mut vectors, &mut numbering).await),
                false => None,
            };
            let contribution = modules
                .contribution()
                .then(|| new(desk, claims, &subject, &mut vectors, &mut numbering));
            (soundness, contribution)
        }
        Err(error) => {
            let reason = format!("the idea could not be read: {error}");
            (
                modules.soundness().then(|| Module::Failed(reason.clone())),
                modules.contribution().then_some(Module::Failed(reason)),
            )
        }
    };
    numbering.show(desk.frame);
    Review {
        schema: REVIEW_SCHEMA.to_owned(),
        idea: desk.idea.clone(),
        mode: ReviewMode::Evidence,
        cutoff: desk.config.cutoff,
        soundness,
        contribution,
        appraisal: None,
        references: numbering.into_references(),
        unproven: 0,
        removed_links: 0,
        left_out: desk.left_out(),
        failures: desk.failures(),
    }
}

/// Why there is nothing to show, where every module that was asked for failed.
fn nothing(review: &Review) -> Option<String> {
    let soundness = review.soundness.as_ref().map(Module::failure);
    let contribution = review.contribution.as_ref().map(Module::failure);
    let asked: Vec<Option<&str>> = soundness.into_iter().chain(contribution).collect();
    let mut reasons: Vec<&str> = asked.iter().copied().flatten().collect();
    let all = reasons.len() == asked.len() && !reasons.is_empty();
    reasons.dedup();
    all.then(|| reasons.join("; "))
}

fn read_idea(desk: &Desk<'_>, vectors: &mut Vectors<'_>) -> Result<Items, PortError> {
    let limits = Limits {
        methods: desk.config.soundness.max_methods,
        dimensions: desk.config.contribution.max_dimensions,
        per_dimension: desk.config.contribution.statements_per_dimension,
    };
    items(&units::units(desk.idea), limits, vectors)
}

/// What the idea is about, in a few words for searches: its title, else the terms of its boldest claim.
fn topic(idea: &Idea, items: &Items) -> String {
    if let Some(title) = &idea.title {
        return title.clone();
    }
    let first = items.statements.iter().chain(&items.methods).next();
    let terms = first.map(|item| terms::terms(&item.key)).unwrap_or_default();
    terms.into_iter().map(|term| term.words).collect::<Vec<_>>().join(" ")
}

/// What the idea is about, as far as an encoder reads: its title with its claims, or what it does where it claims nothing.
fn subject(idea: &Idea, items: &Items) -> String {
    let own = if items.statements.is_empty() { &items.methods } else { &items.statements };
    let title = idea.title.iter().map(String::as_str);
    let words = title.chain(own.iter().map(|item| item.key.as_str()));
    let words: Vec<&str> = words.flat_map(str::split_whitespace).take(SUBJECT_WORDS).collect();
    words.join(" ")
}

/// Words of an idea that whole papers are measured against: as many as encoders read. Ours.
const SUBJECT_WORDS: usize = 180;

/// Items beside what was read for them; failures of the first `of_soundness` are listed here, others by their module.
fn looked<'a>(
    desk: &Desk<'_>,
    items: &[&'a Item],
    reads: &'a [Result<Read, PortError>],
    of_soundness: usize,
) -> Vec<Looked<'a>> {
    let mut looked = Vec::with_capacity(items.len());
    for (at, (item, read)) in items.iter().copied().zip(reads).enumerate() {
        let read = read.as_ref().map_err(ToString::to_string);
        if let (Err(reason), true) = (&read, at < of_soundness) {
            desk.failed(ReviewModule::Soundness, "search", &item.id, reason);
        }
        looked.push(Looked { item, read });
    }
    looked
}

/// Why a module has nothing although it had something to look up.
fn all_failed(looked: &[Looked<'_>]) -> Option<String> {
    let first = looked.first()?.read.as_ref().err()?;
    let all = looked.iter().all(|one| one.read.is_err());
    all.then(|| format!("nothing could be searched: {first}"))
}

async fn sound(
    desk: &Desk<'_>,
    looked: &[Looked<'_>],
    subject: &str,
    vectors: &mut Vectors<'_>,
    numbering: &mut Numbering,
) -> Module<Soundness> {
    if let Some(reason) = all_failed(looked) {
        return Module::Failed(reason);
    }
    if looked.is_empty() {
        let message = "no method was recognised in the idea";
        let notice = Notice::new(NoticeKind::InsufficientEvidence, message)
            .with_hint("say in sentences what will be done: “We will …”");
        desk.frame.notice(notice);
    }
    match soundness::soundness(desk, looked, subject, vectors, numbering).await {
        Ok(soundness) => Module::Done(soundness),
        Err(error) => Module::Failed(error.to_string()),
    }
}

fn new(
    desk: &Desk<'_>,
    looked: &[Looked<'_>],
    subject: &str,
    vectors: &mut Vectors<'_>,
    numbering: &mut Numbering,
) -> Module<Contribution> {
    if let Some(reason) = all_failed(looked) {
        return Module::Failed(reason);
    }
    if looked.is_empty() {
        let message = "no claim of something new was recognised in the idea";
        let notice = Notice::new(NoticeKind::InsufficientEvidence, message)
            .with_hint("say what is proposed: “We propose …”, “Our core idea is …”");
        desk.frame.notice(notice);
    }
    match contribution::contribution(desk, looked, subject, vectors, numbering) {
        Ok(contribution) => Module::Done(contribution),
        Err(error) => Module::Failed(error.to_string()),
    }
}

/// What could not be measured.
fn without_models(desk: &Desk<'_>, vectors: &Vectors<'_>) {
    let message = if !vectors.has_encoder() {
        "no encoder is configured: sentences were compared by their words alone"
    } else if !vectors.has_classifier() {
        "no sentence classifier reads this encoder's vectors: roles of sentences were told by their wording"
    } else {
        return;
    };
    desk.frame.notice(Notice::new(NoticeKind::Weak, message));
}
