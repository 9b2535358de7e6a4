//! 100 edits of all files alike, every digest taken anew by whoever edits.

use std::sync::Arc;

use scholar_core::{PaperMeta, SplitMix64};
use scholar_pipeline::proof::ProofRecord;
use scholar_pipeline::proof::canonical::sha256;
use scholar_testing::corpus;

use super::*;

/// Writes answer, proof and Markdown of an edited answer as the program would, with the digests of all of them.
fn forge(files: &mut RunFiles, edit: impl FnOnce(&mut Answer, &mut ProofFile)) {
    let mut document: AnswerDocument = files.json(ANSWER_FILE).expect("an answer");
    let mut proof: ProofFile = files.json(PROOF_FILE).expect("a proof");
    edit(&mut document.answer, &mut proof);
    let old = proof.digests.clone().expect("bound");
    let record = ProofRecord {
        run: proof.run.clone(),
        version: proof.version.clone(),
        datastore: proof.datastore.clone(),
        recorded: proof.recorded.clone(),
        answer: digest(&document).expect("serialises"),
        settings: old.settings,
        files: derive::file_digests(|name| files.get(name)),
    };
    let forged = ProofFile::of(&document.answer, &[], record).expect("serialises");
    let forged = ProofFile { passages: proof.passages, ..forged };
    put(files, ANSWER_FILE, derive::pretty(&document).expect("serialises"));
    put(files, MARKDOWN_FILE, derive::markdown_of(&document));
    put(files, PROOF_FILE, derive::pretty(&forged).expect("serialises"));
}

/// The `nth` edit of the sentence `at`, in the answer and in what the proof embeds.
fn edit(nth: usize, at: usize, answer: &mut Answer, proof: &mut ProofFile) {
    let sentence = &mut answer.sentences[at];
    match nth % 9 {
        0 => drop(answer.sentences.remove(at)),
        1 => {
            let mut added = sentence.clone();
            added.text = "Lead is good for children.".to_owned();
            added.verbatim = false;
            answer.sentences.insert(at, added);
        }
        2 => {
            let words = sentence.text.split(' ').skip(1).collect::<Vec<_>>().join(" ");
            sentence.text = format!("Nothing {words}");
        }
        3 => sentence.citations = vec![Citation(answer.references.len() + 1)],
        4 => sentence.text.insert_str(0, "It is false that "),
        5 => answer.references[0].title = "A paper that never was".to_owned(),
        6 => answer.references[0].authors.insert(0, "Nobody, N.".to_owned()),
        7 => sentence.heading = Some("Proven beyond doubt".to_owned()),
        _ => {
            // A quotation that is not in the source, in a passage changed to have it.
            let Some(quote) = sentence.quotes.first_mut() else {
                sentence.text.push_str(" Indeed.");
                return;
            };
            let mut passages = proof.passages.iter_mut();
            let passage = passages.find(|one| one.passage_id == quote.passage_id);
            let passage = passage.expect("embedded");
            let text = passage.text.as_mut().expect("a text");
            let old = quote.text.clone();
            quote.text = old.chars().rev().collect();
            *text = text.replacen(&old, &quote.text, 1);
            passage.text_sha256 = sha256(text.as_bytes());
        }
    }
}

/// Fifty edits of answer, proof and Markdown together: the journal contradicts them.
#[tokio::test]
async fn fifty_consistent_edits_beside_the_journal_are_caught() {
    let good = [
        sample::of(Kind::Evidence).await.expect("a run"),
        sample::of(Kind::Generative).await.expect("a run"),
    ];
    let mut same = good[0].clone();
    forge(&mut same, |_, _| ());
    assert_eq!(same.0, good[0].0, "what is forged without an edit is the run itself");
    let mut random = SplitMix64::new(50);
    for nth in 0..50 {
        let mut files = good[nth / 9 % 2].clone();
        forge(&mut files, |answer, proof| {
            edit(nth, random.below(answer.sentences.len()), answer, proof);
        });
        let alone = check(&files, None).await.expect("checked");
        assert!(!alone.holds(), "edit {nth} is unnoticed without the datastore");
        assert!(is_caught(&files).await, "edit {nth} is unnoticed");
    }
}

/// Fifty runs over papers in which one word was exchanged: journal, events, answer and proof agree in everything, and the
/// datastore contradicts them. Without the datastore only a signature tells.
#[tokio::test]
async fn fifty_consistent_runs_over_changed_papers_are_caught_by_the_datastore() {
    let kinds = [Kind::Evidence, Kind::Generative];
    let mut quoted = Vec::new();
    for kind in kinds {
        let good = sample::of(kind).await.expect("a run");
        let proof: ProofFile = good.json(PROOF_FILE).expect("a proof");
        quoted.push(proof.passages);
    }
    let mut random = SplitMix64::new(100);
    let (mut done, mut tried) = (0, 0);
    while done < 50 {
        tried += 1;
        assert!(tried < 500, "{done} of {tried} edits left a quotation of the passage");
        let which = random.below(2);
        let changed = &quoted[which][random.below(quoted[which].len())];
        let text = changed.text.as_deref().expect("a text");
        let mut words: Vec<&str> = text.split(' ').collect();
        let at = random.below(words.len());
        words[at] = "purple";
        let edited = words.join(" ");
        let papers = corpus::passages().into_iter().map(|(mut passage, paper)| {
            if passage.id == changed.passage_id {
                passage.text.clone_from(&edited);
            }
            (passage, paper)
        });
        let files = sample::run(kinds[which], papers.collect()).await.expect("a run");
        let proof: ProofFile = files.json(PROOF_FILE).expect("a proof");
        // Another word can mean that another passage is quoted.
        if !proof.passages.iter().any(|one| one.text.as_deref() == Some(edited.as_str())) {
            continue;
        }
        done += 1;
        let alone = check(&files, None).await.expect("checked");
        assert!(alone.holds(), "it agrees with itself: {:?}", alone.files);
        let told = told_of(&files).await;
        assert!(
            told.iter().any(|one| one.contains("in the datastore at the same commit")),
            "word {at} of {}: {told:?}",
            changed.passage_id
        );
    }
}

/// Whatever commit is named: a quotation that the datastore's paper does not have is found.
#[tokio::test]
async fn a_forged_quotation_is_caught_at_any_commit() {
    let good = sample::of(Kind::Evidence).await.expect("a run");
    let proof: ProofFile = good.json(PROOF_FILE).expect("a proof");
    let store = MemoryRetriever::corpus();
    let later = Sources { passages: &store, same_commit: false };
    let mut forged = 0;
    for quote in proof.sentences.iter().filter_map(|sentence| sentence.quotes.first()) {
        let mut words: Vec<&str> = quote.text.split(' ').collect();
        let middle = words.len() / 2;
        words[middle] = "purple";
        let words = words.join(" ");
        let papers = corpus::passages().into_iter().map(|(mut passage, paper)| {
            if passage.id == quote.passage_id {
                passage.text = passage.text.replace(&quote.text, &words);
            }
            (passage, paper)
        });
        let files = sample::run(Kind::Evidence, papers.collect()).await.expect("a run");
        let proof: ProofFile = files.json(PROOF_FILE).expect("a proof");
        let mut quotes = proof.sentences.iter().flat_map(|sentence| &sentence.quotes);
        if !quotes.any(|quote| quote.text == words) {
            continue;
        }
        forged += 1;
        let checked = check(&files, Some(later)).await.expect("checked");
        let told: Vec<String> = checked.report.problems.iter().map(describe::problem).collect();
        assert!(told.iter().any(|one| one.contains("which has it no longer")), "{told:?}");
    }
    assert!(forged > 0, "no run quotes the forged words");

    let papers = corpus::passages().into_iter().map(|(passage, paper)| {
        let mut paper = PaperMeta::clone(&paper);
        paper.authors.insert(0, "Nobody, N.".to_owned());
        (passage, Arc::new(paper))
    });
    let files = sample::run(Kind::Evidence, papers.collect()).await.expect("a run");
    let checked = check(&files, Some(later)).await.expect("checked");
    assert!(!checked.holds(), "authors that the datastore does not have");
}
