//! Broken lists: what can be read is read, and nothing panics, hangs or grows.

use scholar_formats::FormatErrorKind;
use scholar_formats::library::{self, Library, LibraryFormat};

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

/// Mutations of small lists through every reader, from a fixed seed.
#[test]
fn mutated_lists_never_panic() {
    let seeds: [&[u8]; 3] = [
        b"@string{a = \"x\" # {y}}\n@article{k, title = {A {\\\"o} $x^{2}$ \\alpha{}}, author = \"Lee, Ann and {W H O}\", \
          year = 2020, month = may, day = 3, doi = {10.1/x}, file = {:C\\:/a.pdf:PDF}, crossref = {k}}\n",
        b"TY  - JOUR\nAU  - Lee, Ann, Jr.\nTI  - T\nDA  - 2020/05/03/\nUR  - https://arxiv.org/abs/2101.00001\nER  - \n",
        br#"[{"key":"A","itemType":"preprint","title":"T","id":1,"issued":{"date-parts":[[2020,5,3]]},"author":[{"family":"Lee"}],
            "creators":[{"creatorType":"author","lastName":"Lee"}],"note":"PMID: 3","collections":["C"],"DOI":"10.1/x"}]"#,
    ];
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below.max(1)
    };
    for round in 0..3000 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..=random(6) {
            let at = random(bytes.len());
            match random(5) {
                0 => bytes[at] = u8::try_from(random(256)).unwrap_or(0),
                1 => bytes.truncate(at),
                2 => bytes.insert(at, b"{}\"\\$@,=#%\n\r-\xc3\xff"[random(15)]),
                3 => {
                    let copy = bytes[at..].to_vec();
                    bytes.extend(copy);
                }
                _ => {
                    let end = (at + random(20)).min(bytes.len());
                    bytes.drain(at..end);
                }
            }
            if bytes.is_empty() {
                break;
            }
        }
        for format in ALL {
            if let Ok(found) = library::read(format, &bytes) {
                let papers: Vec<_> = found.entries.into_iter().map(|entry| entry.paper).collect();
                assert!(papers.iter().all(|paper| !paper.meta.id.to_string().is_empty()));
            }
        }
    }
}
