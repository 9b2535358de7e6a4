//! Papers → a list → the same papers.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};

use proptest::prelude::*;
use scholar_core::text::normalise::nfc_single_spaced;
use scholar_core::text::untrusted;
use scholar_core::{Paper, PaperId, PaperMeta, Section};
use scholar_formats::export::{self, ListFormat};
use scholar_formats::library::{self, LibraryFormat};

/// Text of any characters that are characters, with the signs that formats fight over more often than chance has them.
fn text() -> impl Strategy<Value = String> {
    let signs = "\\{}$%&#_~^\"'`@-,;:/<>[]=| ";
    let one = prop_oneof![
        4 => "[a-zA-Z0-9]",
        2 => proptest::sample::select(signs.chars().collect::<Vec<_>>()).prop_map(String::from),
        1 => "[äßøéŁñ漢αΩ±≤–“”²₃½ﬁ\u{301}\u{1f600}]",
        1 => any::<char>().prop_filter("controls", |c| !c.is_control()).prop_map(String::from),
        1 => proptest::sample::select(vec!["--", "---", "``", "''", " and ", "\\alpha", "{\\\"o}", "$x$", " - ", "?`"])
            .prop_map(str::to_owned),
    ];
    proptest::collection::vec(one, 1..30)
        .prop_map(|parts| nfc_single_spaced(&parts.concat()))
        // What CSL-JSON takes for markup cannot be told from text there.
        .prop_filter("nothing", |text| !text.is_empty() && !text.contains("</"))
        // What would be obeyed is not written at all; `hostile` has the tests of that.
        .prop_filter("shown as it is", |text| untrusted(text).line().to_string() == *text)
}

/// A name of words; commas and no-break spaces part names, so that they are tried in the crate's own tests.
fn name() -> impl Strategy<Value = String> {
    proptest::collection::vec("[A-Za-zÀ-ÿ漢'’.-]{1,8}", 1..4)
        .prop_map(|words| nfc_single_spaced(&words.join(" ")))
        .prop_filter("particles alone", |name| {
            let words: Vec<&str> = name.split(' ').collect();
            words.iter().all(|word| word.chars().any(char::is_alphabetic))
        })
}

fn paper() -> impl Strategy<Value = Paper> {
    let ids = (
        proptest::option::of("10\\.[0-9]{4}/[a-z0-9._()/-]{1,12}[a-z0-9]"),
        proptest::option::of("2[0-9]0[1-9]\\.[0-9]{5}"),
        proptest::option::of(1_u64..99_999_999),
        proptest::option::of(1_u64..9_999_999),
        proptest::option::of(1_u64..9_999_999),
        any::<bool>(),
    );
    (text(), proptest::collection::vec(name(), 0..4), 1900_i16..2030, ids, text(), any::<bool>())
        .prop_map(|(title, authors, year, (doi, arxiv, pmid, pmcid, other, acl), venue, turn)| {
            let mut ids: Vec<PaperId> = Vec::new();
            ids.extend(doi.map(PaperId::Doi));
            ids.extend(arxiv.map(PaperId::Arxiv));
            ids.extend(pmid.map(PaperId::Pmid));
            ids.extend(pmcid.map(PaperId::Pmcid));
            ids.extend(acl.then(|| PaperId::Acl("2020.acl-main.1".to_owned())));
            ids.extend(other.map(PaperId::CorpusId));
            ids.extend(other.map(PaperId::OpenAlex));
            if ids.is_empty() {
                ids.push(PaperId::Local("key-01234567".to_owned()));
            }
            if turn {
                ids.rotate_left(1);
            }
            let mut meta = PaperMeta::new(ids.remove(0), title.clone());
            meta.external_ids = ids;
            meta.authors = authors;
            meta.year = Some(year);
            meta.venue = Some(format!("Venue {venue}"));
            Paper {
                meta,
                sections: vec![Section::new("Abstract", title)],
                references: Vec::new(),
                records: Vec::new(),
            }
        })
}

fn sorted(mut ids: Vec<PaperId>) -> Vec<PaperId> {
    ids.sort();
    ids
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn papers_come_back(paper in paper()) {
        for (list, format) in [
            (ListFormat::Bibtex, LibraryFormat::Bibtex),
            (ListFormat::Ris, LibraryFormat::Ris),
            (ListFormat::CslJson, LibraryFormat::CslJson),
        ] {
            let text = export::papers([&paper], list);
            let back = library::read(format, text.as_bytes()).expect("a list");
            prop_assert_eq!(&back.notices, &[], "{}", text);
            prop_assert_eq!(back.entries.len(), 1, "{}", text);
            let meta = &back.entries[0].paper.meta;
            prop_assert_eq!(&meta.title, &paper.meta.title, "{}", text);
            prop_assert_eq!(&meta.authors, &paper.meta.authors, "{}", text);
            prop_assert_eq!(meta.year, paper.meta.year, "{}", text);
            prop_assert_eq!(&meta.venue, &paper.meta.venue, "{}", text);
            prop_assert_eq!(&meta.id, &paper.meta.id, "{}", text);
            let ids = |meta: &PaperMeta| sorted(meta.external_ids.clone());
            prop_assert_eq!(ids(meta), ids(&paper.meta), "{}", text);
            prop_assert_eq!(back.entries[0].paper.abstract_text(), paper.abstract_text(), "{}", text);
            prop_assert!(back.entries[0].odd.is_empty(), "{:?} {}", back.entries[0].odd, text);
        }
    }
}

#[test]
fn lists_are_recognised() {
    for (name, bytes, format) in [
        ("a.bib", "% x\n@article{a,", Some(LibraryFormat::Bibtex)),
        ("a", "\u{feff}TY  - JOUR", Some(LibraryFormat::Ris)),
        ("a.json", "[{\"id\": 1, \"issued\": {}}]", Some(LibraryFormat::CslJson)),
        ("a", "SQLite format 3\0", Some(LibraryFormat::ZoteroDatabase)),
        ("a.json", "[{\"abstract\": \"x\"}]", None),
        ("a.txt", "write to me@example.org", None),
        ("a.pdf", "%PDF-1.4", None),
    ] {
        assert_eq!(LibraryFormat::sniff(name, bytes.as_bytes()), format, "{bytes}");
    }
}

/// Titles, authors and years as people typed them over sixty years, in every language and with every accent.
#[test]
fn real_papers_come_back() {
    #[derive(serde::Deserialize)]
    struct Line {
        id: String,
        title: String,
        #[serde(default)]
        authors: Vec<String>,
        year: Option<i16>,
        booktitle: Option<String>,
        #[serde(rename = "abstract")]
        text: Option<String>,
    }
    let Some(path) = scholar_testing::data("papers/acl_anthology.jsonl.gz") else { return };
    let file = fs_err::File::open(path).expect("readable");
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    // Every fifth paper, so that all decades are among them.
    let papers: Vec<Paper> = lines
        .step_by(5)
        .map(|line| {
            let line: Line = serde_json::from_str(&line.expect("readable")).expect("a paper");
            let id = format!("acl:{}", line.id).parse().expect("an identifier");
            let mut meta = PaperMeta::new(id, nfc_single_spaced(&line.title));
            meta.authors = line.authors.iter().map(|author| nfc_single_spaced(author)).collect();
            meta.year = line.year;
            meta.venue = line.booktitle.map(|venue| nfc_single_spaced(&venue));
            let text = line.text.map(|text| nfc_single_spaced(&text)).unwrap_or_default();
            Paper {
                meta,
                sections: vec![Section::new("Abstract", text)],
                references: Vec::new(),
                records: Vec::new(),
            }
        })
        .collect();
    assert!(papers.len() > 20_000, "{}", papers.len());
    for (list, format) in [
        (ListFormat::Bibtex, LibraryFormat::Bibtex),
        (ListFormat::Ris, LibraryFormat::Ris),
        (ListFormat::CslJson, LibraryFormat::CslJson),
    ] {
        let text = export::papers(&papers, list);
        let back = library::read(format, text.as_bytes()).expect("a list");
        let known: BTreeMap<&PaperId, &PaperMeta> =
            back.entries.iter().map(|entry| (&entry.paper.meta.id, &entry.paper.meta)).collect();
        let mut others = Vec::new();
        for Paper { meta, .. } in &papers {
            let found = known.get(&meta.id).unwrap_or_else(|| panic!("{format:?}: no {}", meta.id));
            assert_eq!(found.year, meta.year, "{format:?}: {}", meta.id);
            if found.title != meta.title || found.authors != meta.authors {
                let stated = (&meta.title, &meta.authors);
                others.push(format!("{stated:?} / {:?}", (&found.title, &found.authors)));
            }
        }
        let shown = others.iter().take(20).map(String::as_str).collect::<Vec<_>>().join("\n");
        println!("{format:?}: {} of {}", others.len(), papers.len());
        assert!(others.len() * 1000 <= papers.len(), "{format:?}: {}\n{shown}", others.len());
    }
}
