//! Where runs quoted a paper.

use std::sync::Arc;

use scholar_core::PaperId;
use scholar_server::backend::QuotedIn;

use super::desk::Desk;
use crate::error::CommandError;
use crate::output::document::AnswerDocument;
use crate::runs::{self, ANSWER_FILE, RunFolder, RunStatus};

/// Newest runs that are looked through.
const MOST_RUNS: usize = 1_000;
/// Quotations of one paper that are listed.
const MOST_QUOTATIONS: usize = 200;

impl Desk {
    /// Quotations of a paper in answers, those of the newest run first.
    pub(super) fn quotations_of(&self, paper: &PaperId) -> Result<Vec<QuotedIn>, CommandError> {
        let mut found = Vec::new();
        for id in runs::ids(&self.app.home)?.into_iter().rev().take(MOST_RUNS) {
            let quotations = self.quotations_in(&id);
            found.extend(quotations.iter().filter(|one| one.passage.paper == *paper).cloned());
            if found.len() >= MOST_QUOTATIONS {
                found.truncate(MOST_QUOTATIONS);
                break;
            }
        }
        Ok(found)
    }

    /// The quotations of a run, read once: a run that is over does not change. One that cannot be read has none.
    fn quotations_in(&self, run: &str) -> Arc<Vec<QuotedIn>> {
        if let Some(known) = self.quoted.lock().get(run) {
            return Arc::clone(known);
        }
        let folder = RunFolder::at(self.app.home.runs().join(run));
        let is_done = folder.record().is_ok_and(|record| record.status == RunStatus::Done);
        let document = folder.read_json::<AnswerDocument>(ANSWER_FILE);
        let quotations: Arc<Vec<QuotedIn>> = match document.ok().filter(|_| is_done) {
            Some(document) => Arc::new(quotations(run, &document)),
            None => Arc::default(),
        };
        if is_done {
            let mut known = self.quoted.lock();
            if known.len() >= MOST_RUNS {
                known.clear();
            }
            known.insert(run.to_owned(), Arc::clone(&quotations));
        }
        quotations
    }
}

fn quotations(run: &str, document: &AnswerDocument) -> Vec<QuotedIn> {
    let answer = &document.answer;
    let mut found: Vec<QuotedIn> = Vec::new();
    for quote in answer.sentences.iter().flat_map(|sentence| &sentence.quotes) {
        let one = QuotedIn {
            run: run.to_owned(),
            question: answer.question.clone(),
            quotation: quote.text.clone(),
            passage: quote.passage_id.clone(),
            start: quote.start,
            end: quote.end,
        };
        if !found.contains(&one) {
            found.push(one);
        }
    }
    found
}
