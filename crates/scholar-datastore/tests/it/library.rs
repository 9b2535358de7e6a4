//! One work, one paper, whatever comes first: a PDF, an entry of a library, an identifier.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use scholar_core::{
    Paper, PaperId, PaperMeta, PassageId, RecordSource, SearchMode, Section, SourceFile,
    SourceRecord,
};
use scholar_datastore::{AddOptions, AddProgress, Datastore, Resolution, Revision, SearchConfig};
use scholar_formats::library::works::SameBy;

use super::{Counting, create, request, retriever};

const TITLE: &str = "On the growth of cells in vitro";

fn meta(id: &str, title: &str) -> PaperMeta {
    PaperMeta::new(id.parse().expect("an identifier"), title)
}

fn pdf(path: &str, digest: &str, title: &str, text: &str) -> SourceRecord {
    let file = SourceFile {
        path: PathBuf::from(path),
        sha256: digest.to_owned(),
        bytes: 1,
        modified: None,
        format: "PDF".to_owned(),
    };
    let own = meta(&format!("local:sha256-{digest}"), title);
    SourceRecord {
        sections: vec![Section::new("Introduction", text)],
        ..SourceRecord::new(RecordSource::File(file), own)
    }
}

fn entry(key: &str, title: &str, file: Option<&str>) -> SourceRecord {
    let source = RecordSource::Library {
        library: "/refs.bib".to_owned(),
        key: Some(key.to_owned()),
        files: file.map(PathBuf::from).into_iter().collect(),
    };
    let mut own = meta(&format!("local:{key}-1"), title);
    own.authors = vec!["Ada Ng".to_owned()];
    own.year = Some(2020);
    SourceRecord::new(source, own)
}

fn registry(title: &str) -> SourceRecord {
    let asked = PaperId::doi("10.1000/x").expect("a doi");
    let mut own = PaperMeta::new(asked.clone(), title);
    own.venue = Some("Journal of Cells".to_owned());
    own.authors = vec!["A. Ng".to_owned()];
    let source = RecordSource::Registry { names: "Crossref".to_owned(), asked: Some(asked) };
    SourceRecord::new(source, own)
}

fn take(store: &Datastore, things: Vec<SourceRecord>, counting: &Counting) -> AddProgress {
    let offered = things.into_iter().map(|record| vec![record]).collect();
    let resolved = store.resolve(offered).expect("resolved");
    write(store, resolved.into_iter().map(|one| one.revision).collect(), counting)
}

fn write(store: &Datastore, revisions: Vec<Revision>, counting: &Counting) -> AddProgress {
    let mut writer = store.writer().expect("writer");
    let options = AddOptions::standard("test");
    let mut go_on = |_: &AddProgress| ControlFlow::Continue(());
    writer.revise(revisions, counting, &options, &mut go_on).expect("written").progress
}

fn papers(store: &Datastore) -> Vec<Paper> {
    let mut ids = Vec::new();
    let collect = |meta: PaperMeta| {
        ids.push(meta.id);
        Ok(())
    };
    store.each_paper(collect).expect("read");
    ids.iter().map(|id| store.paper(id).expect("read").expect("stored")).collect()
}

#[test]
fn every_order_of_pdf_entry_and_identifier_gives_one_paper() {
    let things = [
        pdf("/a.pdf", "aa", TITLE, "Cells divide quickly."),
        entry("ng2020", TITLE, Some("/a.pdf")),
        registry(TITLE),
    ];
    let mut results: Vec<Paper> = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let folder = tempfile::tempdir().expect("a folder");
        let store = create(folder.path());
        for at in order {
            take(&store, vec![things[at].clone()], &Counting::default());
        }
        let stored = papers(&store);
        assert_eq!(stored.len(), 1, "{order:?}");
        let mut paper = stored.into_iter().next().expect("one");
        assert_eq!(paper.meta.id.to_string(), "doi:10.1000/x");
        assert_eq!(paper.meta.authors, ["Ada Ng"]);
        assert_eq!(paper.meta.venue.as_deref(), Some("Journal of Cells"));
        assert_eq!(store.passages_of(&paper.meta.id).expect("read").len(), 1);
        paper.records.sort_by(|a, b| a.source.cmp(&b.source));
        paper.meta.external_ids.sort();
        results.push(paper);
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:#?}");
}

#[test]
fn all_at_once_is_one_paper_too_and_again_changes_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    let things = vec![
        pdf("/a.pdf", "aa", TITLE, "Cells divide quickly."),
        entry("ng2020", "On the Growth of Cells in vitro.", None),
        registry(TITLE),
        pdf("/b.pdf", "bb", "Sleep and memory in children", "Children sleep."),
    ];
    let done = take(&store, things.clone(), &Counting::default());
    assert_eq!((papers(&store).len(), done.papers_added), (2, 2));
    let counting = Counting::default();
    let again = take(&store, things, &counting);
    assert_eq!((again.papers_added, again.papers_unchanged, counting.encoded()), (0, 2, 0));
}

#[test]
fn a_changed_file_replaces_its_text_and_new_metadata_cost_no_encoding() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    take(&store, vec![pdf("/a.pdf", "aa", TITLE, "Cells divide quickly.")], &Counting::default());
    let old = PassageId { paper: "local:sha256-aa".parse().expect("an identifier"), ordinal: 0 };
    let counting = Counting::default();
    let done = take(&store, vec![registry(TITLE)], &counting);
    assert_eq!((done.papers_completed, counting.encoded()), (1, 0));
    // The paper has the registry's identifier now, and its passages are found under both.
    let (passage, paper) = store.passage(&old).expect("read").expect("stored");
    assert_eq!(passage.id.paper, paper.id);
    assert_eq!(paper.id.to_string(), "doi:10.1000/x");
    let counting = Counting::default();
    let done = take(&store, vec![pdf("/a.pdf", "bb", TITLE, "Cells do not divide.")], &counting);
    assert_eq!((done.papers_replaced, counting.encoded()), (1, 1));
    assert_eq!(papers(&store).len(), 1);
    let again = Datastore::open(store.root()).expect("opens");
    let found = retriever(again, SearchConfig::tuned());
    for mode in [SearchMode::Lexical, SearchMode::Dense] {
        let hits = futures::executor::block_on(scholar_core::Retriever::search(
            &found,
            &request("cells divide quickly", mode, 10),
        ));
        let texts: Vec<String> =
            hits.expect("searched").into_iter().map(|hit| hit.passage.text).collect();
        assert_eq!(texts, ["Cells do not divide."], "{mode:?}");
    }
    assert!(!store.is_stored_file(Path::new("/a.pdf"), "aa").expect("read"));
    assert!(store.is_stored_file(Path::new("/a.pdf"), "bb").expect("read"));
}

#[test]
fn a_file_that_holds_another_work_now_leaves_the_paper_it_was_of() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    let first =
        vec![pdf("/a.pdf", "aa", TITLE, "Cells divide."), entry("ng2020", TITLE, Some("/a.pdf"))];
    take(&store, first, &Counting::default());
    let other = pdf("/a.pdf", "cc", "Sleep and memory in children", "Children sleep.");
    let resolved = store.resolve(vec![vec![other.clone()]]).expect("resolved");
    assert_eq!(resolved.iter().filter(|one| one.lost).count(), 1);
    take(&store, vec![other], &Counting::default());
    let stored = papers(&store);
    assert_eq!(stored.len(), 2);
    let cells = stored.iter().find(|paper| paper.meta.title == TITLE).expect("the entry stays");
    assert!(cells.sections.is_empty(), "its text left with the file");
}

#[test]
fn two_files_that_swap_their_names_stay_two_papers() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    let sleep = "Sleep and memory in children";
    let first = vec![
        pdf("/a.pdf", "aa", TITLE, "Cells divide."),
        pdf("/b.pdf", "bb", sleep, "They sleep."),
    ];
    take(&store, first, &Counting::default());
    let swapped = vec![
        pdf("/a.pdf", "bb", sleep, "They sleep."),
        pdf("/b.pdf", "aa", TITLE, "Cells divide."),
    ];
    take(&store, swapped, &Counting::default());
    let mut titles: Vec<String> =
        papers(&store).into_iter().map(|paper| paper.meta.title).collect();
    titles.sort();
    assert_eq!(titles, [TITLE, sleep]);
}

#[test]
fn what_a_person_told_apart_stays_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    let entry = entry("ng2020", TITLE, None);
    let mut file = pdf("/a.pdf", "aa", TITLE, "Cells divide.");
    file.distinct_from = vec![entry.meta.id.clone()];
    take(&store, vec![file], &Counting::default());
    let resolved = store.resolve(vec![vec![entry.clone()]]).expect("resolved");
    assert!(resolved.iter().all(|Resolution { joined, .. }| joined.is_empty()));
    take(&store, vec![entry], &Counting::default());
    assert_eq!(papers(&store).len(), 2);
}

#[test]
fn a_row_of_a_corpus_gets_the_persons_record_and_keeps_its_identifier() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = create(folder.path());
    let mut row = super::paper(7, TITLE, "Cells divide in a dish.");
    row.meta.external_ids = vec![PaperId::doi("10.1000/x").expect("a doi")];
    super::add(&mut store.writer().expect("writer"), vec![row]);
    let resolved = store.resolve(vec![vec![registry(TITLE)]]).expect("resolved");
    let [Resolution { joined, .. }] = &resolved[..] else { panic!("{resolved:?}") };
    assert!(matches!(joined[0].1, SameBy::Identifier(_)), "{joined:?}");
    take(&store, vec![registry(TITLE)], &Counting::default());
    let stored = papers(&store);
    assert_eq!(stored.len(), 1);
    assert_eq!(stored[0].meta.id, PaperId::Pmid(7));
    assert_eq!(stored[0].sections[0].text, "Cells divide in a dish.");
}
