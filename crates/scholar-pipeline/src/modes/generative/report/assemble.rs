//! From decided sentences to the answer: sections, roles, table, references.

use scholar_core::{
    Answer, AnswerRole, AnswerSection, MissingContent, Notice, NoticeKind, SectionKind,
};

use super::proof::{Proof, Tally};
use super::table;
use crate::event::Event;
use crate::evidence::EvidenceRegistry;
use crate::frame::Frame;
use crate::proof::{DraftSentence, Fate, ProvenSentence, finalise};

/// The answer, and what there is to say of it.
pub(super) fn answer(frame: &Frame<'_>, proof: Proof, registry: &EvidenceRegistry) -> Answer {
    let kept: Vec<usize> = (0..proof.kept.len()).filter(|at| proof.kept[*at]).collect();
    let sentences = paragraphs(&proof, &kept);
    let (mut sentences, mut references) = finalise(&sentences, registry);
    let place = |old: &usize| kept.iter().position(|at| at == old);
    for (sentence, at) in sentences.iter_mut().zip(&kept) {
        let one = &proof.parts.sentences[*at];
        sentence.role = Some(one.role);
        if one.role == AnswerRole::Synthesis {
            sentence.follows = one.follows.iter().filter_map(place).collect();
        }
    }
    // A conclusion may rest on a finding that is shown with a mark and cites nothing; only cited ones are named.
    let cites: Vec<bool> = sentences.iter().map(|one| !one.citations.is_empty()).collect();
    for sentence in &mut sentences {
        sentence.follows.retain(|at| cites[*at]);
    }
    for sentence in &sentences {
        frame.emit(&Event::Sentence { sentence: sentence.clone() });
    }
    tell(frame, &proof, references.is_empty());
    if sentences.is_empty() {
        return frame.abstain("no sentence of the draft could be proven");
    }
    let draft = proof.parts.table.as_ref();
    let table = draft.and_then(|draft| table::located(draft, registry, &mut references));
    if draft.is_some() && table.is_none() {
        let message =
            "the table is left out: fewer than four papers have cells found in their passages";
        frame.notice(Notice::new(NoticeKind::Unproven, message));
    }
    let sections = sections(&proof, &kept);
    let missing = missing(&proof, &kept);
    Answer { sections, table, missing, ..frame.answer(sentences, references) }
}

/// What the checks of content miss in findings that are shown.
fn missing(proof: &Proof, kept: &[usize]) -> Vec<MissingContent> {
    let missing = |(sentence, at): (usize, &usize)| {
        let finding = proof.parts.sentences[*at].role == AnswerRole::Finding;
        let missing = proof.proven[*at].as_ref().filter(|_| finding)?.missing.clone();
        (!missing.is_empty()).then_some(MissingContent { sentence, missing })
    };
    kept.iter().enumerate().filter_map(missing).collect()
}

/// The kept sentences; a paragraph whose first sentence went begins with its next.
fn paragraphs(proof: &Proof, kept: &[usize]) -> Vec<ProvenSentence> {
    let mut out: Vec<ProvenSentence> = Vec::with_capacity(kept.len());
    let mut from = 0;
    for at in kept {
        let skipped = &proof.parts.sentences[from..*at];
        let one = &proof.parts.sentences[*at];
        let lost_start = skipped.iter().any(|lost| lost.draft.paragraph_start);
        let mut proven = match (&proof.proven[*at], one.role) {
            (Some(proven), AnswerRole::Finding) => proven.clone(),
            _ => bare(&one.draft),
        };
        proven.paragraph_start |= lost_start;
        out.push(proven);
        from = at + 1;
    }
    out
}

/// A sentence that cites nothing.
fn bare(draft: &DraftSentence) -> ProvenSentence {
    let DraftSentence { text, heading, paragraph_start, evidence: _, clauses: _, verbatim: _ } =
        draft.clone();
    ProvenSentence {
        text,
        heading,
        paragraph_start,
        verbatim: false,
        citations: Vec::new(),
        quotes: Vec::new(),
        support: None,
        gates: Vec::new(),
        missing: Vec::new(),
        fate: Fate::Uncited,
    }
}

fn sections(proof: &Proof, kept: &[usize]) -> Vec<AnswerSection> {
    let mut sections: Vec<(usize, AnswerSection)> = Vec::new();
    for (new, at) in kept.iter().enumerate() {
        let own = proof.parts.sentences[*at].section;
        match sections.last_mut() {
            Some((section, open)) if *section == own => open.end = new + 1,
            _ => {
                let begun = &proof.parts.sections[own];
                let (heading, kind) = (begun.heading.clone(), begun.kind);
                let section = AnswerSection { heading, kind, start: new, end: new + 1 };
                sections.push((own, section));
            }
        }
    }
    sections.into_iter().map(|(_, section)| section).collect()
}

/// In sum what became of the sentences, and what a report should have and this one has not.
fn tell(frame: &Frame<'_>, proof: &Proof, unsupported: bool) {
    let Tally { findings, passed, recited, repaired, deleted, marked } = proof.tally;
    if passed < findings || deleted > 0 {
        let parts = [
            (recited, "cited to another passage"),
            (repaired, "rewritten from a passage"),
            (deleted, "deleted"),
            (marked, "marked †"),
        ];
        let list: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let message =
            format!("{passed} of {findings} findings passed as written; {}", list.join(", "));
        frame.notice(Notice::new(NoticeKind::Unproven, message.trim_end_matches("; ")));
    }
    let has_short_answer = proof.kept.iter().zip(&proof.parts.sentences).any(|(kept, one)| {
        *kept && proof.parts.sections[one.section].kind == SectionKind::ShortAnswer
    });
    if !has_short_answer && !proof.kept.is_empty() {
        let message =
            "the answer has no short answer: the draft had none, or none of it was proven";
        frame.notice(Notice::new(NoticeKind::ModelReply, message));
    }
    if unsupported && proof.kept.contains(&true) {
        let message = "no sentence of the draft is supported by a passage that was found";
        frame.notice(Notice::new(NoticeKind::InsufficientEvidence, message));
    }
}
