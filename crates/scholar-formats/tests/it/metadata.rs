//! Title, authors, year, venue and identifiers of PDFs.

use std::time::{Duration, Instant};

use scholar_core::{Confidence, FieldOrigin, MetaField, MetaOrigin, PaperMeta};
use scholar_formats::document::{Document, DocumentFormat, ReadLimits, read};

fn document(bytes: &[u8]) -> Document {
    read(DocumentFormat::Pdf, bytes, ReadLimits::default()).expect("readable")
}

fn ids(meta: &PaperMeta) -> Vec<String> {
    std::iter::once(&meta.id).chain(&meta.external_ids).map(ToString::to_string).collect()
}

/// A page with a running head, title, authors and text; a footnote names another work.
fn page() -> Vec<(u32, u32, u32, &'static str)> {
    let mut lines = vec![
        (60, 770, 8, "Ng et al. Journal of Several Things (2016) 13:22"),
        (60, 760, 8, "DOI 10.1000/j.16"),
        (120, 720, 18, "A Study of Several Things"),
        (140, 690, 12, "Ada Ng, Ludwig van der Berg and Kyle Lo"),
        (140, 676, 10, "University of Somewhere, Zagreb, Croatia"),
        (140, 662, 10, "{ng,berg,lo}@somewhere.hr"),
        (60, 630, 12, "Abstract"),
    ];
    for at in 0..20 {
        lines.push((
            60,
            610 - 14 * at,
            10,
            "this paper shows that much can be said about many things of 2009",
        ));
    }
    lines.push((
        60,
        60,
        8,
        "1 The data are at https://doi.org/10.5281/zenodo.1 for all who want to use them",
    ));
    lines
}

fn xmp(packet: &str) -> String {
    let length = packet.len();
    format!("<< /Type /Metadata /Subtype /XML /Length {length} >>\nstream\n{packet}\nendstream")
}

#[test]
fn a_title_page_gives_every_field_with_its_origin() {
    let packet =
        xmp("<x><Description><title><Alt><li>A Study of Several Things</li></Alt></title>\
         <creator><Seq><li>Somebody Else</li></Seq></creator>\
         <CreateDate>2019-01-02T03:04:05Z</CreateDate></Description></x>");
    let document = document(&scholar_testing::pdf::pdf_with(&[page()], &packet));
    let meta = &document.paper.meta;
    assert_eq!(meta.title, "A Study of Several Things");
    assert_eq!(meta.authors, ["Ada Ng", "Ludwig van der Berg", "Kyle Lo"]);
    assert_eq!((meta.year, meta.venue.as_deref()), (Some(2016), Some("Journal of Several Things")));
    assert_eq!(ids(meta), ["doi:10.1000/j.16"]);
    assert_eq!(document.file_date.map(|day| day.to_string()).as_deref(), Some("2019-01-02"));
    let at = |origin, confidence| Some(FieldOrigin { origin, confidence });
    let told = |field| document.fields.get(&field).copied();
    assert_eq!(told(MetaField::Title), at(MetaOrigin::Page, Confidence::High));
    assert_eq!(told(MetaField::Authors), at(MetaOrigin::Page, Confidence::Medium));
    assert_eq!(told(MetaField::Year).map(|told| told.origin), Some(MetaOrigin::RunningHead));
    assert_eq!(told(MetaField::Identifiers), at(MetaOrigin::RunningHead, Confidence::Medium));
}

#[test]
fn what_the_file_states_helps_where_the_page_prints_it() {
    let mut lines = page();
    // The journal's name is larger than the title, and one name is set apart.
    lines[2] = (120, 740, 22, "Journal of Everything");
    lines.insert(3, (120, 715, 14, "A Study of Several Things"));
    lines[4] = (140, 690, 12, "Ada Ng and Kyle Lo");
    lines[5] = (300, 676, 10, "in memory of Bo Li");
    let packet = xmp("<x><title><li>A Study of Several Things</li></title>\
         <creator><li>Ada Ng</li><li>Bo Li</li><li>Kyle Lo</li></creator></x>");
    let stated = document(&scholar_testing::pdf::pdf_with(&[lines.clone()], &packet));
    assert_eq!(stated.paper.meta.title, "A Study of Several Things");
    assert_eq!(stated.paper.meta.authors, ["Ada Ng", "Bo Li", "Kyle Lo"]);
    let xmp = FieldOrigin { origin: MetaOrigin::Xmp, confidence: Confidence::Medium };
    assert_eq!(stated.fields.get(&MetaField::Authors), Some(&xmp));
    assert_eq!(stated.fields.get(&MetaField::Title), Some(&xmp));
    // Without the packet nothing tells that the larger words are no title, nor that one more name is an author's.
    let alone = document(&scholar_testing::pdf::pdf(&[lines]));
    assert_eq!(alone.paper.meta.authors, ["Ada Ng", "Kyle Lo"]);
}

#[test]
fn the_date_of_the_file_is_no_year_of_publication() {
    let packet = xmp("<x CreateDate='2019-01-02'><Description CreateDate='2019-01-02'/></x>");
    let lines: Vec<_> = page().into_iter().skip(2).collect();
    let document = document(&scholar_testing::pdf::pdf_with(&[lines], &packet));
    assert_eq!((document.paper.meta.year, document.paper.meta.published), (None, None));
    assert!(document.file_date.is_some() && !document.fields.contains_key(&MetaField::Year));
    assert!(ids(&document.paper.meta)[0].starts_with("local:"));
}

#[test]
fn hostile_packets_of_metadata_cost_nothing_and_say_nothing() {
    let bomb = format!(
        "<!DOCTYPE x [<!ENTITY a \"{}\">{}]><x><title>&z;</title></x>",
        "ha".repeat(1000),
        (b'b'..=b'z')
            .map(|c| format!(
                "<!ENTITY {} \"&{p};&{p};&{p};\">",
                char::from(c),
                p = char::from(c - 1)
            ))
            .collect::<String>()
    );
    let endless = format!("<x><title>A Wrong Title</title>{}</x>", "<y>z</y>".repeat(400_000));
    let deep = "<x>".repeat(200_000);
    for packet in [&bomb, &endless, &deep] {
        let began = Instant::now();
        let document = document(&scholar_testing::pdf::pdf_with(&[page()], &xmp(packet)));
        assert_eq!(document.paper.meta.title, "A Study of Several Things");
        assert_eq!(document.paper.meta.authors.len(), 3);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

/// Real papers, of the half of them on which the reader was developed.
#[test]
fn real_title_pages_are_read() {
    let Some(folder) = scholar_testing::data("fulltext/pdf") else { return };
    let meta = |name: &str| {
        let bytes = fs_err::read(folder.join(name)).expect("the data have it");
        document(&bytes).paper.meta
    };
    let paper = meta("acl_scisumm__W13-2708.pdf");
    assert_eq!(
        paper.title,
        "Towards a Tool for Interactive Concept Building for Large Scale Analysis in the Humanities"
    );
    let names = [
        "Andre Blessing",
        "Jonathan Sonntag",
        "Fritz Kliche",
        "Ulrich Heid",
        "Jonas Kuhn",
        "Manfred Stede",
    ];
    assert_eq!(paper.authors, names, "marks part names");
    assert_eq!(paper.year, Some(2013));
    let paper = meta("acl_scisumm__W11-2135.pdf");
    let ends = |at: usize| paper.authors.get(at).map(String::as_str);
    assert_eq!((ends(5), ends(6)), (Some("Fran\u{e7}ois Yvon"), Some("Gilles Adda")), "columns");
    let paper = meta("acl_scisumm__C10-2167.pdf");
    assert_eq!(paper.authors.len(), 4, "a grid: {:?}", paper.authors);
    let paper = meta("acl_scisumm__W04-0705.pdf");
    assert_eq!(paper.authors, ["Heng Ji", "Ralph Grishman"], "capitals");
    assert_eq!(paper.year, None, "it prints none");
    let paper = meta("acl_scisumm__J13-1008.pdf");
    assert_eq!(
        (paper.year, paper.venue.as_deref()),
        (Some(2013), Some("Computational Linguistics"))
    );
    let paper = meta("grobid_tests__1001._0908.0054.pdf");
    assert_eq!((ids(&paper)[0].as_str(), paper.year), ("arxiv:0908.0054", Some(2009)));
}

#[test]
fn a_page_full_of_names_is_read_in_time() {
    let mut lines = vec![(60, 770, 18, "A Study of Several Things")];
    for row in 0..200 {
        for column in 0..20 {
            lines.push((10 + 30 * column, 750 - 3 * row, 2, "Ada Ng, Bo Li, Xu"));
        }
    }
    let began = Instant::now();
    let document = document(&scholar_testing::pdf::pdf(&[lines]));
    assert_eq!(document.paper.meta.title, "A Study of Several Things");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
}
