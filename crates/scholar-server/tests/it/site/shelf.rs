//! Papers of the program in memory, and what it says of its runs and of itself.

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use scholar_core::{
    PageBox, PaperId, PaperMeta, Passage, PassageId, PortError, Retrieved, Retriever, SearchRequest,
};
use scholar_server::backend::{
    AddedFile, AddedPaper, Backend as _, BackendError, BackendErrorKind, CitedPassage, CitedWork,
    DoubtfulPair, DrawnPage, MarkedPage, PaperList, PaperQuery, PaperView, QuotedIn, Replayed,
    RunDifference, SearchedDatastores, Shelf, Status, StatusCheck, Upkeep, Verified,
};
use scholar_testing::MemoryRetriever;

use super::FakeBackend;

/// What a file may hold to break its reader, or to end all reading.
const BROKEN: &str = "broken";
const FATAL: &str = "fatal";
/// What a file may hold to be the last one that is read before the program ends.
const ENDS: &str = "ends the program";

/// Searches the corpus as one of several datastores does.
struct Named(MemoryRetriever);

#[async_trait]
impl Retriever for Named {
    fn name(&self) -> &str {
        "datastore"
    }

    async fn search(&self, request: &SearchRequest) -> Result<Vec<Retrieved>, PortError> {
        let mut found = self.0.search(request).await?;
        for hit in &mut found {
            hit.found_by = vec!["forty".to_owned()];
        }
        Ok(found)
    }

    async fn passage(&self, id: &PassageId) -> Result<Option<(Passage, PaperMeta)>, PortError> {
        self.0.passage(id).await
    }
}

impl FakeBackend {
    /// The first paper of the corpus, in the words of the test.
    pub(crate) fn first(&self) -> PaperView {
        let mut paper = scholar_testing::corpus::papers().swap_remove(0);
        if let Some(words) = &self.words {
            let id = paper.meta.id.clone();
            paper = scholar_testing::hostile::paper(0, words);
            paper.meta.id = id;
        }
        let (passage, meta) = scholar_testing::corpus::whole_text_passage(&paper);
        let other = self.words.clone().unwrap_or_else(|| "Another work. 2019.".to_owned());
        let quoted = QuotedIn {
            run: "run-0".to_owned(),
            question: other.clone(),
            quotation: passage.text.chars().take(30).collect(),
            passage: passage.id.clone(),
            start: 0,
            end: 30,
        };
        PaperView {
            paper,
            passages: vec![passage],
            references: vec![
                CitedWork { id: Some(meta.id.clone()), text: other.clone(), is_stored: true },
                CitedWork { id: None, text: other, is_stored: false },
            ],
            cited_by: vec![(*meta).clone()],
            quoted_in: vec![quoted],
            has_pdf: true,
        }
    }

    fn named(&self, datastore: &str, paper: &PaperId) -> Result<PaperView, BackendError> {
        let first = self.first();
        match datastore == "forty" && first.paper.meta.id == *paper {
            true => Ok(first),
            false => Err(BackendError::not_found("there is no such paper in this datastore")),
        }
    }
}

impl Shelf for FakeBackend {
    fn searched(&self, names: &[String]) -> Result<SearchedDatastores, BackendError> {
        let all = ["forty", "empty"].map(str::to_owned);
        if let Some(other) = names.iter().find(|name| !all.contains(name)) {
            let message = format!("there is no datastore {other:?} here");
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
        let names = if names.is_empty() { all.to_vec() } else { names.to_vec() };
        let retriever: Arc<dyn Retriever> = match names.iter().any(|name| name == "forty") {
            true => Arc::new(Named(MemoryRetriever::corpus())),
            false => Arc::new(MemoryRetriever::new(Vec::new())),
        };
        Ok(SearchedDatastores { names, left_out: vec!["broken".to_owned()], retriever })
    }

    fn papers(&self, datastore: &str, query: &PaperQuery) -> Result<PaperList, BackendError> {
        if datastore != "forty" {
            return Err(BackendError::not_found("there is no such datastore here"));
        }
        let mut all: Vec<PaperMeta> =
            scholar_testing::corpus::papers().into_iter().map(|paper| paper.meta).collect();
        all[0] = self.first().paper.meta;
        let total = all.len();
        all.retain(|meta| meta.title.to_lowercase().contains(&query.words.to_lowercase()));
        let found = all.len();
        let papers = all.into_iter().skip(query.offset).take(query.limit).collect();
        Ok(PaperList { papers, found, total })
    }

    fn paper(&self, datastore: &str, paper: &PaperId) -> Result<PaperView, BackendError> {
        self.named(datastore, paper)
    }

    fn meta(&self, datastore: &str, paper: &PaperId) -> Result<PaperMeta, BackendError> {
        self.named(datastore, paper).map(|view| view.paper.meta)
    }

    fn passage(
        &self,
        datastore: &str,
        passage: &PassageId,
    ) -> Result<Option<CitedPassage>, BackendError> {
        let mut view = self.named(datastore, &passage.paper)?;
        let found = view.passages.pop().filter(|one| one.id == *passage);
        Ok(found.map(|passage| CitedPassage { passage, paper: view.paper.meta }))
    }

    fn marks(
        &self,
        datastore: &str,
        paper: &PaperId,
        words: &str,
    ) -> Result<Vec<MarkedPage>, BackendError> {
        self.named(datastore, paper)?;
        let bbox = PageBox { left: 10, top: 20, right: 200, bottom: 32 };
        let mark = MarkedPage { page: 2, boxes: vec![bbox] };
        Ok(if words.contains("nowhere") { Vec::new() } else { vec![mark] })
    }

    fn drawn_page(
        &self,
        datastore: &str,
        paper: &PaperId,
        page: u32,
        words: Option<&str>,
    ) -> Result<DrawnPage, BackendError> {
        self.named(datastore, paper)?;
        if !(1..=3).contains(&page) {
            return Err(BackendError::not_found("there is no such page"));
        }
        let marks = if words.is_some() && page == 2 { "<rect/>" } else { "" };
        Ok(DrawnPage {
            svg: format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{marks}</svg>"),
            pages: 3,
            width: 612.0,
            height: 792.0,
            notices: self.words.iter().cloned().collect(),
        })
    }

    fn added_to(&self) -> String {
        "library".to_owned()
    }

    fn takes_files(&self, datastore: &str) -> Result<(), BackendError> {
        match ["library", "forty", "empty"].contains(&datastore) {
            true => Ok(()),
            false => Err(BackendError::not_found("there is no such datastore here")),
        }
    }

    fn incoming(&self) -> Result<PathBuf, BackendError> {
        let folder = self.incoming.lock().clone();
        folder.ok_or_else(|| BackendError::new(BackendErrorKind::Internal, "no folder"))
    }

    fn add(
        &self,
        _datastore: &str,
        files: &[PathBuf],
        tell: &dyn Fn(AddedFile),
    ) -> Result<(), BackendError> {
        for path in files {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            let text = fs_err::read_to_string(path).unwrap_or_default();
            if text.contains(FATAL) {
                return Err(BackendError::new(BackendErrorKind::Internal, "the disk is full"));
            }
            // As if the program was asked to end while it read this file, the first time.
            if text.contains(ENDS) && !self.added.lock().contains(path) {
                self.added.lock().push(path.clone());
                return Err(BackendError::new(BackendErrorKind::Interrupted, "interrupted"));
            }
            let is_broken = text.contains(BROKEN);
            let paper = AddedPaper {
                id: self.first().paper.meta.id,
                title: self.first().paper.meta.title,
                joined: vec!["arxiv:1 by the bytes of a file".to_owned()],
            };
            self.added.lock().push(path.clone());
            tell(AddedFile {
                name,
                papers: if is_broken { Vec::new() } else { vec![paper] },
                notices: if is_broken {
                    vec!["it breaks the reader".to_owned()]
                } else {
                    Vec::new()
                },
                is_unchanged: false,
            });
        }
        Ok(())
    }

    fn doubtful(
        &self,
        datastore: &str,
        _limit: usize,
    ) -> Result<(Vec<DoubtfulPair>, usize), BackendError> {
        let list = self.papers(datastore, &PaperQuery { limit: 2, ..PaperQuery::default() })?;
        let why = self.words.clone().unwrap_or_else(|| "their years differ".to_owned());
        let papers: [PaperMeta; 2] = list.papers.try_into().expect("two");
        Ok((vec![DoubtfulPair { papers, why }], 1))
    }

    fn settle(
        &self,
        _datastore: &str,
        [one, other]: [&PaperId; 2],
        are_one: bool,
    ) -> Result<(), BackendError> {
        self.settled.lock().push((one.to_string(), other.to_string(), are_one));
        Ok(())
    }
}

impl Upkeep for FakeBackend {
    fn compare(&self, left: &str, right: &str) -> Result<RunDifference, BackendError> {
        self.run(left)?;
        self.run(right)?;
        let line = self.words.clone().unwrap_or_else(|| "config.top_n: 5 → 10".to_owned());
        let settings = if left == right { Vec::new() } else { vec![line] };
        Ok(RunDifference { settings, ..RunDifference::default() })
    }

    fn verify(&self, run: &str) -> Result<Verified, BackendError> {
        self.run(run)?;
        let lines =
            vec![self.words.clone().unwrap_or_else(|| "3 of 3 quotations are exact".to_owned())];
        Ok(Verified { holds: self.words.is_none(), lines })
    }

    fn replay(&self, run: &str) -> Result<Replayed, BackendError> {
        self.run(run)?;
        let lines = vec!["answer.json is identical, byte for byte".to_owned()];
        Ok(Replayed { is_identical: true, lines })
    }

    fn explain(&self, run: &str) -> Result<Vec<String>, BackendError> {
        self.run(run)?;
        let words = self.words.clone().unwrap_or_else(|| "A title".to_owned());
        Ok(vec![format!("[1] {words}\n\ncited for: {words}\npassage 1\n")])
    }

    fn status(&self, ask_providers: bool) -> Result<Status, BackendError> {
        let check = |what: &str, ok, is_private| StatusCheck {
            what: what.to_owned(),
            ok,
            found: self.words.clone().unwrap_or_else(|| format!("/data/of/{what}")),
            hint: (!ok).then(|| "openscholar models pull mini".to_owned()),
            is_private,
        };
        let mut checks = vec![check("cpu", true, false), check("model mini", false, false)];
        checks.push(check("data folder", true, true));
        if ask_providers {
            checks.push(check("source Crossref", true, false));
        }
        Ok(Status { version: "9.9.9".to_owned(), checks })
    }
}
