use scholar_core::{AnswerMode, PaperId, PaperMeta, Support, Verdict};

use super::super::finalise::reference_of;
use super::DifferenceKind::{
    CitationAdded, CitationRemoved, CitationsReordered, FieldDiffers, LineAdded, LineChanged,
    LineRemoved, ReferenceAdded, ReferenceDiffers, ReferenceRemoved, SentenceAdded,
    SentenceDeleted, VerdictDiffers, WordsChanged,
};
use super::*;

fn sentence(text: &str, citations: &[usize]) -> AnswerSentence {
    AnswerSentence {
        text: text.to_owned(),
        heading: None,
        paragraph_start: false,
        citations: citations.iter().map(|number| Citation(*number)).collect(),
        support: None,
        quotes: Vec::new(),
        gates: Vec::new(),
        verbatim: false,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    }
}

fn answer() -> Answer {
    let reference =
        |n: u64| reference_of(Citation(1), &PaperMeta::new(PaperId::Pmid(n), format!("Paper {n}")));
    Answer {
        question: "Do cells grow?".to_owned(),
        mode: AnswerMode::Evidence,
        abstained: false,
        sentences: vec![
            sentence("Cells grow in the dark.", &[1]),
            sentence("They die in the light of day.", &[2, 1]),
            sentence("Nobody knows why this is so.", &[]),
        ],
        references: vec![reference(1), reference(2)],
        sections: Vec::new(),
        table: None,
        missing: Vec::new(),
        outline: None,
        tree: None,
    }
}

fn kinds(change: impl Fn(&mut Answer)) -> Vec<(DifferenceKind, String)> {
    let mut found = answer();
    change(&mut found);
    compare_answers(&answer(), &found).into_iter().map(|one| (one.kind, one.place)).collect()
}

#[test]
fn every_change_has_its_name_and_place() {
    let of = |kind, place: &str| vec![(kind, place.to_owned())];
    assert_eq!(kinds(|_| ()), []);
    assert_eq!(
        kinds(|all| all.sentences[0].text = "Cells shrink in the dark.".to_owned()),
        of(WordsChanged, "sentence 1")
    );
    assert_eq!(kinds(|all| drop(all.sentences.remove(1))), of(SentenceDeleted, "sentence 2"));
    let added = sentence("Lead is good for you.", &[1]);
    assert_eq!(
        kinds(|all| all.sentences.insert(1, added.clone())),
        of(SentenceAdded, "sentence 2")
    );
    assert_eq!(
        kinds(|all| all.sentences[2].citations.push(Citation(999))),
        of(CitationAdded, "sentence 3")
    );
    assert_eq!(
        kinds(|all| all.sentences[0].citations.push(Citation(1))),
        of(CitationAdded, "sentence 1")
    );
    assert_eq!(kinds(|all| all.sentences[0].citations.clear()), of(CitationRemoved, "sentence 1"));
    assert_eq!(
        kinds(|all| all.sentences[1].citations.reverse()),
        of(CitationsReordered, "sentence 2")
    );
    let support = Support { verdict: Verdict::Supported, score: 1.0, judge: "x".to_owned() };
    assert_eq!(
        kinds(|all| all.sentences[1].support = Some(support.clone())),
        of(VerdictDiffers, "sentence 2")
    );
    assert_eq!(kinds(|all| drop(all.references.remove(0))), of(ReferenceRemoved, "reference 1"));
    assert_eq!(
        kinds(|all| all.references.push(all.references[0].clone())),
        of(ReferenceAdded, "reference 3")
    );
    assert_eq!(
        kinds(|all| all.references[1].year = Some(1999)),
        of(ReferenceDiffers, "reference 2.year")
    );
    assert_eq!(kinds(|all| all.abstained = true), of(FieldDiffers, "abstained"));
    assert_eq!(
        kinds(|all| all.sentences.swap(0, 1)),
        [(SentenceAdded, "sentence 1".to_owned()), (SentenceDeleted, "sentence 2".to_owned())]
    );
}

#[test]
fn changed_words_are_shown_as_both() {
    let found = Answer {
        sentences: vec![
            sentence("Cells grow in the dark.", &[1]),
            sentence("They thrive in the light of day.", &[2, 1]),
            sentence("Everybody knows why this is so.", &[]),
        ],
        ..answer()
    };
    let changes: Vec<_> = compare_answers(&answer(), &found)
        .into_iter()
        .map(|one| (one.expected.unwrap_or_default(), one.found.unwrap_or_default()))
        .collect();
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    assert_eq!(changes, [pair("die", "thrive"), pair("Nobody", "Everybody")]);
    assert_eq!(word_changes("a b", "a  b"), [("".to_owned(), " ".to_owned())]);
}

#[test]
fn lines_are_added_removed_and_changed() {
    let kinds = |found: &str| -> Vec<(DifferenceKind, String)> {
        let all = compare_lines("# A\n\none two three\nend", found);
        all.into_iter().map(|one| (one.kind, one.place)).collect()
    };
    assert_eq!(kinds("# A\n\none two three\nend"), []);
    let of = |kind, place: &str| vec![(kind, place.to_owned())];
    assert_eq!(kinds("# A\n\none two three\nend\nmore"), of(LineAdded, "line 5"));
    assert_eq!(kinds("# A\n\none two three"), of(LineRemoved, "line 4"));
    assert_eq!(kinds("# A\n\none two four\nend"), of(LineChanged, "line 3"));
}

/// Texts that have nothing in common are one exchange, however long they are.
#[test]
fn much_that_differs_is_not_aligned() {
    let many = |word: &str| (0..200_000).map(|n| format!("{word}{n} ")).collect::<String>();
    assert_eq!(word_changes(&many("a"), &many("b")).len(), 1);
    let lines = |word: &str| (0..5_000).map(|n| format!("{word}{n}\n")).collect::<String>();
    assert_eq!(compare_lines(&lines("a"), &lines("b")).len(), 10_000);
}
