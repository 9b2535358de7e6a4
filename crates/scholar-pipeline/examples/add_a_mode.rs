//! A worked example: a mode of answering, from nothing to an answer, asked with fakes.
//!
//! It shows the first sentence of every passage that was found. A mode that stays has a variant of its own in
//! `AnswerMode`, lies in `src/modes/` and is named in `MODES` and `of`: ARCHITECTURE.md, "Where to begin".
//!
//! `cargo run -p scholar-pipeline --example add_a_mode`
#![expect(clippy::print_stdout, reason = "an example prints what it made")]

use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

use scholar_core::text::sentences::sentence_texts;
use scholar_core::{Answer, AnswerMode, Question};
use scholar_pipeline::write::{Manuscript, conclude};
use scholar_pipeline::{AskConfig, AskError, Frame, Mode, Outcome, Ports, ask_in};
use scholar_testing::{FakeAttributor, FakeReranker, MemoryRetriever};

static FIRST_SENTENCES: Mode = Mode {
    id: AnswerMode::Evidence,
    name: "first-sentences",
    aliases: &[],
    title: "first sentences",
    summary: "What every passage begins with",
    needs_generator: false,
    retrieves: true,
    labels: false,
    calls: |_| Vec::new(),
    run: |frame| Box::pin(run(frame)),
};

async fn run(frame: &Frame<'_>) -> Result<Answer, AskError> {
    // Plan and gather: queries, searches, one pool, ranked and numbered.
    let mut manuscript = match Manuscript::gather(frame).await? {
        ControlFlow::Continue(manuscript) => manuscript,
        ControlFlow::Break(nothing_found) => return Ok(nothing_found),
    };
    // Write: sentences with the numbers of their evidence.
    for evidence in &manuscript.visible {
        let passage = &evidence.ranked.retrieved.passage.text;
        if let Some(first) = sentence_texts(passage).first() {
            let _ = writeln!(manuscript.text, "{first} {}\n", evidence.number);
        }
    }
    // Prove: every sentence through the gates, references numbered.
    conclude(frame, manuscript).await
}

async fn ask() -> Result<Outcome<Answer>, AskError> {
    let mut ports =
        Ports::new(Arc::new(MemoryRetriever::corpus()), Arc::new(FakeAttributor::new()));
    ports.reranker = Some(Arc::new(FakeReranker::new()));
    let mut config = AskConfig::paper();
    config.ranking.top_n = 3;
    let question = Question::new("What do language models know?").expect("a question");
    ask_in(&FIRST_SENTENCES, &ports, &question, &config, &()).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), AskError> {
    let outcome = ask().await?;
    for sentence in &outcome.value.sentences {
        println!("{}", sentence.text);
    }
    for reference in &outcome.value.references {
        println!("[{}] {}", reference.number.0, reference.title);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_example_answers_with_proven_sentences() {
        let outcome = ask().await.expect("answers");
        assert!(!outcome.value.sentences.is_empty() && !outcome.value.abstained);
        assert!(outcome.value.sentences.iter().all(|sentence| !sentence.citations.is_empty()));
    }
}
