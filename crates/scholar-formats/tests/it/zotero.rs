//! Zotero's database, made by `tests/data/zotero.sql` for each test.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use scholar_core::{PaperId, Retraction};
use scholar_formats::export::{self, ListFormat};
use scholar_formats::library::zotero::{read_database, read_json};
use scholar_formats::library::{self, AttachmentPlace, Library, LibraryFormat};
use scholar_formats::{FormatError, FormatErrorKind};

const SCHEMA: &str = include_str!("../data/zotero.sql");

/// A new database of the schema, changed by `more`.
pub(crate) fn database(folder: &Path, more: &str) -> PathBuf {
    let path = folder.join("zotero.sqlite");
    let connection = Connection::open(&path).expect("a new database");
    // Nobody needs this file after a power cut.
    let schema = format!("PRAGMA synchronous = OFF; BEGIN; {SCHEMA} COMMIT;");
    connection.execute_batch(&schema).expect("the schema");
    connection.execute_batch(more).expect("changes");
    path
}

fn library(more: &str) -> Library {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path(), more);
    read_database(&path).expect("a library")
}

fn failure(more: &str) -> FormatError {
    let folder = tempfile::tempdir().expect("a folder");
    read_database(&database(folder.path(), more)).expect_err("no library")
}

#[test]
fn a_library_with_everything() {
    let found = library("");
    let keys: Vec<&str> =
        found.entries.iter().filter_map(|entry| entry.entry_key.as_deref()).collect();
    assert_eq!(keys, ["AAAA1111", "CCCC3333", "EEEE5555", "KKKK1111"], "bin, feed and notes go");
    let [article, preprint, shared, bare] = found.entries.as_slice() else { panic!("four") };
    let meta = &article.paper.meta;
    assert_eq!(meta.title, "Sleep and memory in mice");
    assert_eq!(meta.authors, ["Maria Garcia\u{a0}Lopez", "World\u{a0}Health\u{a0}Organization"]);
    assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2019-05-03"));
    assert_eq!(meta.venue.as_deref(), Some("Journal of Rest"));
    assert_eq!(meta.id.to_string(), "doi:10.1000/sleep");
    assert_eq!(meta.external_ids, [PaperId::Pmid(31_000_001), PaperId::Pmcid(6_000_001)]);
    assert_eq!(meta.licence.as_deref(), Some("Creative Commons Attribution 4.0"));
    assert_eq!(article.paper.abstract_text(), Some("Mice slept."));
    assert_eq!(article.collections, ["Thesis/Sleep"]);
    assert_eq!(article.tags, ["animals", "mice"]);
    let places: Vec<&AttachmentPlace> =
        article.attachments.iter().map(|file| &file.place).collect();
    let stored = Path::new("storage/BBBB2222/Lopez 2019.pdf").to_owned();
    assert_eq!(
        places,
        [&AttachmentPlace::Path(stored), &AttachmentPlace::Path("/papers/x.pdf".into())]
    );
    assert_eq!(preprint.paper.meta.id.to_string(), "arxiv:2101.00001");
    assert_eq!((preprint.paper.meta.year, preprint.paper.meta.published), (Some(2021), None));
    assert_eq!(preprint.collections, ["Thesis"], "a deleted collection is none");
    assert_eq!(preprint.attachments, [], "a stored name never leaves its folder");
    assert_eq!(shared.collections, ["Lab/Shared"]);
    assert_eq!(bare.paper.meta.id.to_string(), "local:KKKK1111");
    assert_eq!(bare.paper.meta.year, Some(1999), "numbers are stored as such");
    assert_eq!(bare.paper.meta.retraction, Retraction::Retracted);
    assert_eq!(found.loose.len(), 1);
}

#[test]
fn a_collection_is_a_scope() {
    let mut found = library("");
    found.keep_collection("thesis");
    assert_eq!(found.entries.len(), 2);
    found.keep_collection("Thesis/Sleep/");
    assert_eq!(found.entries.len(), 1);
    found.keep_collection("Thes");
    assert_eq!(found.entries.len(), 0);
}

#[test]
fn a_library_comes_back_from_bibtex() {
    let found = library("");
    let papers: Vec<_> = found.entries.iter().map(|entry| entry.paper.clone()).collect();
    for (list, format) in [
        (ListFormat::Bibtex, LibraryFormat::Bibtex),
        (ListFormat::Ris, LibraryFormat::Ris),
        (ListFormat::CslJson, LibraryFormat::CslJson),
    ] {
        let text = export::papers(&papers, list);
        let back = library::read(format, text.as_bytes()).expect("a list");
        assert_eq!(back.notices, []);
        let back: Vec<_> = back.entries.into_iter().map(|entry| entry.paper).collect();
        let sent: Vec<_> = papers
            .iter()
            .cloned()
            .map(|mut paper| {
                // Lists have no field for a licence, and one address for a paper that has none.
                paper.meta.licence = None;
                paper.meta.url = paper.meta.link();
                paper
            })
            .collect();
        assert_eq!(back, sent, "{format:?}");
    }
}

#[test]
fn the_schema_of_zotero_4() {
    let found = library(
        "CREATE TABLE creatorData (creatorDataID INTEGER PRIMARY KEY, firstName, lastName, fieldMode);
         INSERT INTO creatorData SELECT creatorID, firstName, lastName, fieldMode FROM creators;
         DROP TABLE creators; CREATE TABLE creators (creatorID INTEGER PRIMARY KEY, creatorDataID INT);
         INSERT INTO creators SELECT creatorDataID, creatorDataID FROM creatorData;
         ALTER TABLE itemAttachments RENAME COLUMN parentItemID TO sourceItemID;
         ALTER TABLE itemAttachments RENAME COLUMN contentType TO mimeType;
         DROP TABLE retractedItems; DROP TABLE deletedCollections; DROP TABLE fieldsCombined;
         DROP TABLE libraries; CREATE TABLE libraries (libraryID INTEGER PRIMARY KEY, libraryType TEXT);
         DELETE FROM items WHERE libraryID = 3;",
    );
    assert_eq!(found.entries.len(), 4);
    assert_eq!(found.entries[0].paper.meta.authors[0], "Maria Garcia\u{a0}Lopez");
    assert_eq!(found.entries[0].attachments.len(), 2);
}

#[test]
fn a_running_zotero_is_read_without_disturbing_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path(), "PRAGMA journal_mode = WAL;");
    let busy = Connection::open(&path).expect("the database");
    busy.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA wal_autocheckpoint = 0; BEGIN EXCLUSIVE;
         UPDATE itemDataValues SET value = 'New title' WHERE valueID = 17; COMMIT;
         BEGIN EXCLUSIVE; UPDATE itemDataValues SET value = 'Unfinished' WHERE valueID = 7;",
    )
    .expect("a transaction under way");
    let found = read_database(&path).expect("a library");
    let titles: Vec<&str> =
        found.entries.iter().map(|entry| entry.paper.meta.title.as_str()).collect();
    assert!(titles.contains(&"New title"), "{titles:?}");
    assert!(titles.contains(&"A preprint"), "{titles:?}");
    busy.execute_batch("ROLLBACK").expect("the writer was not disturbed");
}

#[test]
fn a_locked_database_without_a_log_is_read_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = database(folder.path(), "");
    let busy = Connection::open(&path).expect("the database");
    busy.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;").expect("a lock");
    assert_eq!(read_database(&path).expect("a library").entries.len(), 4);
}

#[test]
fn what_is_no_library_is_said_to_be_none() {
    let other = failure("DROP TABLE itemData;");
    assert_eq!(other.kind, FormatErrorKind::Unsupported);
    assert!(other.to_string().contains("itemData"), "{other}");
    let folder = tempfile::tempdir().expect("a folder");
    let missing = read_database(&folder.path().join("zotero.sqlite")).expect_err("no file");
    assert!(missing.to_string().contains("zotero.sqlite"), "{missing}");
    let path = database(folder.path(), "");
    let bytes = fs_err::read(&path).expect("the file");
    // Cut off, zeroed inside, and no database at all.
    let mut zeroed = bytes.clone();
    zeroed[4096..8192].fill(0);
    for bad in [bytes[..bytes.len() / 2].to_vec(), zeroed, b"not a database at all".repeat(300)] {
        fs_err::write(&path, bad).expect("a damaged file");
        let error = read_database(&path).expect_err("damaged");
        assert_eq!(error.kind, FormatErrorKind::Malformed, "{error}");
        assert!(error.hint.is_some());
    }
}

#[test]
fn what_a_file_defines_is_not_run() {
    let found = library(
        "DROP TABLE tags; CREATE VIEW tags AS WITH RECURSIVE n(x) AS \
         (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS tagID, 'x' AS name FROM n;",
    );
    assert_eq!(found.entries.len(), 4);
    assert!(found.entries.iter().all(|entry| entry.tags.is_empty()), "a view is no table");
}

#[test]
fn work_in_a_file_ends() {
    // Two tables of one key each to match, without an index: nine million pairs.
    let endless = failure(
        "DROP TABLE tags; CREATE TABLE tags (tagID, name); DROP TABLE itemTags;
         CREATE TABLE itemTags (itemID, tagID, type);
         WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 3000)
         INSERT INTO tags SELECT 1, 'x' FROM n;
         INSERT INTO itemTags SELECT 1, 1, 0 FROM tags;",
    );
    assert_eq!(endless.kind, FormatErrorKind::TooLarge, "{endless}");
}

#[test]
fn items_of_the_interface() {
    let items = r#"[
      {"key": "AAAA1111", "version": 3, "library": {"type": "user", "id": 1}, "meta": {"parsedDate": "2019-05-03"},
       "data": {"key": "AAAA1111", "itemType": "journalArticle", "title": "Sleep", "date": "May 3rd 2019",
        "creators": [{"creatorType": "author", "firstName": "Maria", "lastName": "Garcia Lopez"},
                     {"creatorType": "author", "name": "World Health Organization"},
                     {"creatorType": "editor", "firstName": "Ed", "lastName": "Itor"}],
        "DOI": "10.1000/Sleep", "extra": "PMID: 7", "tags": [{"tag": "mice"}], "collections": ["C2", "C9"],
        "publicationTitle": "Journal of Rest", "dateAdded": "2020-01-01T00:00:00Z"}},
      {"key": "BBBB2222", "links": {"enclosure": {"href": "file:///z/storage/BBBB2222/a%20b.pdf"}},
       "data": {"key": "BBBB2222", "itemType": "attachment", "parentItem": "AAAA1111",
        "contentType": "application/pdf", "filename": "a b.pdf", "linkMode": "imported_file"}},
      {"key": "DDDD4444", "data": {"key": "DDDD4444", "itemType": "book", "title": "Bin", "deleted": 1}},
      {"data": {"title": "no type"}}, 7]"#;
    let collections = r#"[{"data": {"key": "C1", "name": "Thesis", "parentCollection": false}},
                          {"data": {"key": "C2", "name": "Sleep", "parentCollection": "C1"}}]"#;
    let found = read_json(items, collections).expect("items");
    assert_eq!((found.entries.len(), found.skipped), (1, 2));
    let entry = &found.entries[0];
    assert_eq!(entry.collections, ["Thesis/Sleep", "C9"]);
    assert_eq!(
        entry.attachments[0].place,
        AttachmentPlace::Path("/z/storage/BBBB2222/a b.pdf".into())
    );
    assert_eq!(entry.paper.meta.authors.len(), 2);
    assert_eq!(entry.paper.meta.external_ids, [PaperId::Pmid(7)]);
    assert!(entry.paper.meta.published.is_some());
    assert_eq!(LibraryFormat::sniff("x", items.as_bytes()), Some(LibraryFormat::ZoteroJson));
}
