//! Broken lists: what can be read is read, and nothing panics, hangs or grows.

use scholar_formats::FormatErrorKind;
use scholar_formats::export::{self, ListFormat};
use scholar_formats::library::{self, Library, LibraryFormat};
use scholar_testing::mutate::{Random, mutate, overwrite};

const ALL: [LibraryFormat; 4] =
    [LibraryFormat::Bibtex, LibraryFormat::Ris, LibraryFormat::CslJson, LibraryFormat::ZoteroJson];

fn titles(library: &Library) -> Vec<&str> {
    library.entries.iter().map(|entry| entry.paper.meta.title.as_str()).collect()
}

#[test]
fn latin_1_with_windows_line_ends() {
    let ris = b"TY  - JOUR\r\nTI  - M\xfcller \x96 Stra\xdfe\r\nER  - \r\n";
    let found = library::read(LibraryFormat::Ris, ris).expect("a list");
    assert_eq!(titles(&found), ["Müller – Straße"]);
    assert!(found.notices[0].message.contains("Windows-1252"));
    let bib = b"\xef\xbb\xbf@article{a,\r\n  title = {One},\r\n  year = 2000\r\n}\r\n";
    let found = library::read(LibraryFormat::Bibtex, bib).expect("a list");
    assert_eq!(titles(&found), ["One"]);
    assert_eq!(found.notices, []);
}

#[test]
fn large_fields_are_read_and_too_large_ones_skipped() {
    let of = |len: usize| {
        format!("@misc{{a, title = {{{}}}}}\n@misc{{b, title = {{B}}}}", "x".repeat(len))
    };
    let found = library::read(LibraryFormat::Bibtex, of(1 << 20).as_bytes()).expect("a list");
    assert_eq!(found.entries.len(), 2);
    let found = library::read(LibraryFormat::Bibtex, of(5 << 20).as_bytes()).expect("a list");
    assert_eq!((titles(&found), found.skipped), (vec!["B"], 1));
    let ris =
        format!("TY  - JOUR\nTI  - {}\nER  - \nTY  - JOUR\nTI  - B\nER  - ", "x".repeat(5 << 20));
    let found = library::read(LibraryFormat::Ris, ris.as_bytes()).expect("a list");
    assert_eq!((titles(&found), found.skipped), (vec!["B"], 1));
}

#[test]
fn binary_is_refused_by_name() {
    for format in ALL {
        let error = library::read(format, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR").expect_err("no text");
        assert_eq!(error.kind, FormatErrorKind::Malformed, "{error}");
    }
}

#[test]
fn nothing_is_no_paper() {
    for format in [LibraryFormat::Bibtex, LibraryFormat::Ris] {
        assert_eq!(library::read(format, b"").expect("an empty list").entries.len(), 0);
    }
    for format in [LibraryFormat::CslJson, LibraryFormat::ZoteroJson] {
        assert!(library::read(format, b"").is_err());
        assert_eq!(library::read(format, b"[]").expect("an empty list").entries.len(), 0);
    }
}

const LISTS: [&[u8]; 3] = [
    b"@string{a = \"x\" # {y}}\n@article{k, title = {A {\\\"o} $x^{2}$ \\alpha{}}, author = \"Lee, Ann and {W H O}\", \
      year = 2020, month = may, day = 3, doi = {10.1/x}, file = {:C\\:/a.pdf:PDF}, crossref = {k}}\n",
    b"TY  - JOUR\nAU  - Lee, Ann, Jr.\nTI  - T\nDA  - 2020/05/03/\nUR  - https://arxiv.org/abs/2101.00001\nER  - \n",
    br#"[{"key":"A","itemType":"preprint","title":"T","id":1,"issued":{"date-parts":[[2020,5,3]]},"author":[{"family":"Lee"}],
        "creators":[{"creatorType":"author","lastName":"Lee"}],"note":"PMID: 3","collections":["C"],"DOI":"10.1/x"}]"#,
];

/// Damaged lists through every reader, and what is left of them through every writer.
fn damaged_lists(rounds: usize) {
    let mut random = Random::new(7);
    for round in 0..rounds {
        let bytes = mutate(&[LISTS[round % LISTS.len()].to_vec()], &mut random);
        for format in ALL {
            if let Ok(found) = library::read(format, &bytes) {
                let papers: Vec<_> = found.entries.into_iter().map(|entry| entry.paper).collect();
                for list in [ListFormat::Bibtex, ListFormat::Ris, ListFormat::CslJson] {
                    let written = export::papers(&papers, list);
                    assert!(papers.is_empty() || !written.trim().is_empty());
                }
            }
        }
    }
}

/// Damaged databases; returns how many still had papers to read.
fn damaged_databases(rounds: usize) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let path = crate::zotero::database(folder.path(), "");
    let whole = fs_err::read(&path).expect("the file");
    let mut random = Random::new(11);
    let mut read = 0;
    for _ in 0..rounds {
        fs_err::write(&path, overwrite(&whole, &mut random)).expect("a damaged file");
        read += usize::from(library::zotero::read_database(&path).is_ok());
    }
    read
}

#[test]
fn damaged_lists_are_survived() {
    damaged_lists(600);
}

#[test]
fn damaged_databases_are_survived() {
    let read = damaged_databases(60);
    assert!((1..=60).contains(&read), "some damage is where nothing stands");
}
