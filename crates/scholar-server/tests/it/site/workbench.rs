//! A table and a screening of the program in memory, in the words of the test.

use scholar_core::{CharSpan, PaperId, Passage};
use scholar_pipeline::screen::{
    Basis, Criterion, CriterionDecision, Decision, Finding, FlowCounts, PaperDecision,
    PersonDecision, Ranked, RankedBy, RankedPaper, ScreenQuote,
};
use scholar_pipeline::tabulate::{Cell, Column, TABLE_SCHEMA, Table, TableRow};
use scholar_server::backend::{
    BackendError, CriterionRequest, Export, RunState, ScreeningFile, ScreeningRequest,
    ScreeningView, TableFile, Workbench,
};

use super::FakeBackend;

/// Characters of a cell and of the sentence around it.
const CELL: std::ops::Range<usize> = 3..9;
const SENTENCE: std::ops::Range<usize> = 0..20;

impl FakeBackend {
    fn passage(&self) -> Passage {
        self.first().passages.swap_remove(0)
    }

    fn said(&self) -> String {
        self.words.clone().unwrap_or_else(|| "said".to_owned())
    }

    fn is_done(&self, run: &str) -> bool {
        self.runs.lock().get(run).is_some_and(|run| run.summary.state == RunState::Done)
    }

    fn cell(&self) -> Cell {
        let passage = self.passage();
        let words = |range: &std::ops::Range<usize>| {
            CharSpan::new(range.start, range.end).slice(&passage.text).expect("long").to_owned()
        };
        Cell {
            text: words(&CELL),
            passage_id: passage.id.clone(),
            start: CELL.start,
            end: CELL.end,
            section: self.said(),
            page: Some(2),
            quote: words(&SENTENCE),
            quote_start: SENTENCE.start,
            score: 0.9,
        }
    }
}

/// The criteria of every screening of the test.
fn criteria(words: &str) -> Vec<Criterion> {
    let of = |text: &str, excludes| CriterionRequest { id: None, text: text.to_owned(), excludes };
    let request = ScreeningRequest {
        title: "x".to_owned(),
        criteria: vec![of("Reports data on humans", false), of("Is a review", true)],
        ..ScreeningRequest::default()
    };
    let mut criteria = request.check().expect("criteria").criteria;
    criteria[1].text = words.to_owned();
    criteria
}

impl Workbench for FakeBackend {
    fn table(&self, run: &str) -> Result<Option<Table>, BackendError> {
        if !self.is_done(run) {
            return Ok(None);
        }
        let said = self.said();
        let columns =
            vec![Column::asking(said.clone(), said.clone()), Column::asking("Empty", "?")];
        let row = TableRow {
            paper: self.first().paper.meta,
            cells: vec![Some(self.cell()), None],
            notices: vec![scholar_testing::hostile::notice(&said)],
        };
        Ok(Some(Table {
            schema: TABLE_SCHEMA.to_owned(),
            datastore: "forty".to_owned(),
            method: said,
            columns,
            rows: vec![row],
            notices: Vec::new(),
        }))
    }

    fn export_table(&self, run: &str, format: TableFile) -> Result<Export, BackendError> {
        let none = || BackendError::not_found("no table");
        self.table(run)?.ok_or_else(none)?;
        Ok(Export { bytes: format.name().as_bytes().to_vec() })
    }

    fn screening(&self, run: &str) -> Result<Option<ScreeningView>, BackendError> {
        if !self.is_done(run) {
            return Ok(None);
        }
        let (said, passage) = (self.said(), self.passage());
        let criteria = criteria(&said);
        let quote = ScreenQuote {
            passage: passage.id.clone(),
            start: SENTENCE.start,
            end: SENTENCE.end,
            text: said.clone(),
            page: None,
        };
        let decisions = criteria.iter().enumerate().map(|(at, criterion)| CriterionDecision {
            criterion: criterion.id.clone(),
            digest: criterion.digest(),
            decision: Decision::Unclear,
            finding: Finding::Unclear,
            basis: Basis::Stated,
            score: 0.5,
            quote: (at == 0).then(|| quote.clone()),
            signs: None,
        });
        let paper = self.first().paper.meta;
        let program = PaperDecision {
            paper: paper.id.clone(),
            text_digest: "t".to_owned(),
            method: "m".to_owned(),
            decision: Decision::Unclear,
            reason: said.clone(),
            excluded_by: None,
            score: 0.5,
            criteria: decisions.collect(),
        };
        let ranked_by = RankedBy { total: 0.0, words: 0.0, similarity: 0.0, criteria: 0.0 };
        let ranked = Ranked {
            papers: vec![RankedPaper { paper, has_text: true, ranked_by, program: Some(program) }],
            counts: FlowCounts { identified: 1, ..FlowCounts::default() },
            duplicates: Vec::new(),
            learnt_from: 0,
        };
        let decided = self.decided.lock();
        let mut screening =
            ranked.decided(&criteria, |paper| decided.iter().rev().find(|one| one.paper == *paper));
        screening.notices = vec![scholar_testing::hostile::notice(&said)];
        let (title, datastore) = (said.clone(), "forty".to_owned());
        Ok(Some(ScreeningView { title, datastore, criteria, method: said, screening }))
    }

    fn export_screening(&self, run: &str, format: ScreeningFile) -> Result<Export, BackendError> {
        let none = || BackendError::not_found("no screening");
        self.screening(run)?.ok_or_else(none)?;
        Ok(Export { bytes: format.name().as_bytes().to_vec() })
    }

    fn decide(
        &self,
        run: &str,
        paper: &PaperId,
        decision: Decision,
        reason: Option<&str>,
    ) -> Result<(), BackendError> {
        let view = self.screening(run)?.ok_or_else(|| BackendError::not_found("no screening"))?;
        if view.screening.papers.iter().all(|one| one.paper.id != *paper) {
            return Err(BackendError::not_found("there is no such paper in this screening"));
        }
        let reason = reason.map(str::to_owned);
        self.decided.lock().push(PersonDecision { paper: paper.clone(), decision, reason });
        Ok(())
    }
}
