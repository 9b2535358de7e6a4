//! Every format with its traps.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use scholar_core::{Paper, ReadLimits};
use serde_json::Value;

use super::*;
use crate::error::Error;

fn file(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("temp dir");
    let path = folder.path().join(name);
    fs_err::write(&path, bytes).expect("written");
    (folder, path)
}

fn read(path: &Path, limits: Limits) -> (Vec<Paper>, ReadReport, Option<Error>) {
    let mut reader = PaperReader::open(path, None, limits).expect("opens");
    let mut papers = Vec::new();
    let mut failure = None;
    for item in &mut reader {
        match item {
            Ok(paper) => papers.push(paper),
            Err(error) => failure = Some(error),
        }
    }
    (papers, reader.report().clone(), failure)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("in memory");
    encoder.finish().expect("in memory")
}

#[test]
fn each_format_is_recognised_and_read() {
    let check = |row: &str, format: Format, id: &str, title: &str, sections: &[(&str, &str)]| {
        let (_folder, path) = file("rows", row.as_bytes());
        let (papers, report, failure) = read(&path, Limits::standard());
        assert!(failure.is_none(), "{failure:?}");
        assert_eq!(report.format, Some(format), "{row}");
        let paper = papers.first().expect("one paper");
        assert_eq!((paper.meta.id.to_string().as_str(), paper.meta.title.as_str()), (id, title));
        let found: Vec<(&str, &str)> =
            paper.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(found, sections);
    };
    check(
        r#"{"meta":{"id":"acl:P1","title":"T"},"sections":[{"heading":"","text":"a  b"}]}"#,
        Format::Papers,
        "acl:P1",
        "T",
        &[("", "a b")],
    );
    check(
        r#"{"id":"17","source":"pes2o/s2ag","text":"A title\n\nAn\nabstract.","created":"2020-03-02T00:00:00.000Z"}"#,
        Format::Pes2o,
        "corpusid:17",
        "A title",
        &[("Abstract", "An abstract.")],
    );
    check(
        r#"{"id":"18","source":"s2orc/train","text":"T\n\nSummary.\n\nOne.\nTwo.","created":"0001-01-01T00:00:00.000Z"}"#,
        Format::Pes2o,
        "corpusid:18",
        "T",
        &[("Abstract", "Summary."), ("", "One. Two.")],
    );
    check(
        r#"{"_id":"7","title":"T","text":"x"}"#,
        Format::Beir,
        "local:7",
        "T",
        &[("Abstract", "x")],
    );
    check(
        r#"{"id":"P18-1001","title":"T","abstract":"x","bibkey":"k","year":2018}"#,
        Format::Acl,
        "acl:P18-1001",
        "T",
        &[("Abstract", "x")],
    );
    check(
        r#"{"id":"acc-phys/9411004","title":"T","abstract":"x","categories":"c","authors":"A and B, C"}"#,
        Format::Arxiv,
        "arxiv:acc-phys/9411004",
        "T",
        &[("Abstract", "x")],
    );
    check(
        r#"{"id":"PMC12","title":"T","abstract":"x","sections":[{"title":"Methods","text":"y"}],"references":[]}"#,
        Format::Pmc,
        "pmcid:PMC12",
        "T",
        &[("Abstract", "x"), ("Methods", "y")],
    );
}

#[test]
fn dates_are_taken_only_as_far_as_known() {
    let rows = concat!(
        r#"{"id":"1","source":"s2ag","text":"T\n\nx","created":"2020-03-02T00:00:00.000Z"}"#,
        "\n",
        r#"{"id":"2","source":"s2ag","text":"T\n\nx","created":"2019-01-01T00:00:00.000Z"}"#,
        "\n",
        r#"{"id":"3","source":"s2ag","text":"T\n\nx","created":"0001-01-01T00:00:00.000Z"}"#,
    );
    let (_folder, path) = file("p.json.gz", &gzip(rows.as_bytes()));
    let (papers, ..) = read(&path, Limits::standard());
    let dates: Vec<_> = papers.iter().map(|p| (p.meta.year, p.meta.published)).collect();
    assert_eq!(
        dates,
        [(Some(2020), Some(jiff::civil::date(2020, 3, 2))), (Some(2019), None), (None, None)]
    );
}

#[test]
fn unusable_lines_are_counted_with_their_numbers() {
    let good: String = (0..40).map(|n| format!("{{\"_id\":\"{n}\",\"text\":\"x\"}}\n\n")).collect();
    let long = "y".repeat(500);
    let text = format!(
        "{good}{{not json\n{{\"_id\":\"long\",\"text\":\"{long}\"}}\n{{\"text\":\"no id\"}}"
    );
    let (_folder, path) = file("corpus.jsonl", text.as_bytes());
    let most = ReadLimits { line_bytes: 300, ..ReadLimits::standard() };
    let limits = Limits { rejected_share: 0.5, read: most };
    let (papers, report, failure) = read(&path, limits);
    assert!(failure.is_none());
    assert_eq!((papers.len(), report.lines, report.rejected), (40, 43, 3));
    let lines: Vec<u64> = report.rejects.iter().map(|reject| reject.line).collect();
    assert_eq!(lines, [81, 82, 83]);

    let strict = Limits { rejected_share: 0.01, ..limits };
    let (papers, _, failure) = read(&path, strict);
    assert_eq!(papers.len(), 40);
    assert!(
        matches!(failure, Some(Error::TooManyRejects { rejected: 3, first_line: 81, .. })),
        "{failure:?}"
    );
}

#[test]
fn one_bad_line_does_not_refuse_a_short_file() {
    let good = "{\"_id\":\"1\",\"text\":\"x\"}\n{\"_id\":\"2\",\"text\":\"y\"}\n";
    let (_folder, path) = file("corpus.jsonl", format!("{good}{{not json\n").as_bytes());
    let (papers, report, failure) = read(&path, Limits::standard());
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!((papers.len(), report.rejected), (2, 1));

    let (_, _, failure) = read(&path, Limits { rejected_share: 0.0, ..Limits::standard() });
    assert!(matches!(failure, Some(Error::TooManyRejects { rejected: 1, .. })), "{failure:?}");
    let (_folder, path) = file("corpus.jsonl", format!("{good}{{a\n{{b\n").as_bytes());
    let (_, _, failure) = read(&path, Limits::standard());
    assert!(matches!(failure, Some(Error::TooManyRejects { rejected: 2, .. })), "{failure:?}");
}

#[test]
fn compressed_data_that_ends_early_names_the_line() {
    let rows: String =
        (0..2000).map(|n| format!("{{\"_id\":\"{n}\",\"text\":\"word{n}\"}}\n")).collect();
    let whole = gzip(rows.as_bytes());
    let (_folder, path) = file("corpus.jsonl.gz", &whole[..whole.len() / 2]);
    let (papers, _, failure) = read(&path, Limits::standard());
    let Some(Error::Ingest { line, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!(line, papers.len() as u64 + 1);
    assert!(!papers.is_empty());
}

#[test]
fn binary_data_is_no_format() {
    let (_folder, path) = file("x.bin", &[0xff, 0xfe, b'\n', 7, 8, 9]);
    let (papers, _, failure) = read(&path, Limits::standard());
    assert!(papers.is_empty());
    assert!(matches!(failure, Some(Error::UnknownFormat { .. })), "{failure:?}");
}

#[test]
fn format_names_round_trip() {
    for (format, name) in Format::ALL {
        assert_eq!(name.parse::<Format>().expect("known"), format);
        assert_eq!(format.to_string(), name);
    }
    assert!("word".parse::<Format>().is_err());
}

#[test]
fn openalex_works_are_put_back_together() {
    let row = r#"{"id":"https://openalex.org/W12","doi":"https://doi.org/10.1/AB","title":"A  title",
        "publication_year":2019,"publication_date":"2019-05-06","cited_by_count":7,"is_retracted":true,
        "ids":{"openalex":"https://openalex.org/W12","mag":"12","pmid":"https://pubmed.ncbi.nlm.nih.gov/77",
               "pmcid":"https://www.ncbi.nlm.nih.gov/pmc/articles/8"},
        "primary_location":{"source":{"display_name":"Journal"},"license":"cc-by"},
        "authorships":[{"author":{"display_name":"A. One"}},{"author":{"display_name":null}}],
        "referenced_works":["https://openalex.org/W3","https://openalex.org/bad"],
        "abstract_inverted_index":{"cells":[1,3],"All":[0],"divide":[2]}}"#;
    let line = row.replace('\n', " ");
    let (_folder, path) = file("works.jsonl", line.as_bytes());
    let (papers, report, failure) = read(&path, Limits::standard());
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(report.format, Some(Format::OpenAlex), "{:?}", report.rejects);
    let paper = &papers[0];
    let ids: Vec<String> = paper.meta.external_ids.iter().map(ToString::to_string).collect();
    assert_eq!(paper.meta.id.to_string(), "openalex:W12");
    assert_eq!(ids, ["doi:10.1/ab", "pmid:77", "pmcid:PMC8"]);
    assert_eq!(paper.abstract_text(), Some("All cells divide cells"));
    assert_eq!(paper.references, ["openalex:W3".parse().expect("an id")]);
    assert_eq!(paper.meta.retraction, scholar_core::paper::Retraction::Retracted);
    assert_eq!(paper.meta.published, Some(jiff::civil::date(2019, 5, 6)));
    let meta = &paper.meta;
    assert_eq!((meta.venue.as_deref(), meta.licence.as_deref()), (Some("Journal"), Some("cc-by")));
    assert_eq!((meta.citation_count, meta.authors.len()), (Some(7), 1));
}

#[test]
fn every_version_of_pes2o_is_read() {
    let check = |row: &str, title: &str, sections: &[(&str, &str)], year: Option<i16>| {
        let (_folder, path) = file("rows", row.as_bytes());
        let (papers, report, _) = read(&path, Limits::standard());
        assert_eq!(report.format, Some(Format::Pes2o));
        let paper = papers.first().expect("one paper");
        let found: Vec<(&str, &str)> =
            paper.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!((paper.meta.title.as_str(), paper.meta.year), (title, year));
        assert_eq!(found, sections);
    };
    let v1 = r#"{"added":"2022-11-16T21:23:53.000Z","created":"2011-01-01T00:00:00.000Z","id":"5","source":"s2ag","text":"T\n\nOne.","version":"v1"}"#;
    check(v1, "T", &[("Abstract", "One.")], Some(2011));
    let v2 = r#"{"added":"2021","created":"0001-01-01T00:00:00.000Z","id":"5","source":"s2orc/valid","text":"T\n\nOne.\n\nIntro\nTwo.\n\nEnd","version":"v2"}"#;
    check(v2, "T", &[("Abstract", "One."), ("", "Intro Two. End")], None);
    let v3 = r#"{"created":"2024-02-03T00:00:00.000Z","id":"5","source":"pes2o/s2ag","text":"T\n\nOne.","version":"v3-fos-license",
        "metadata":{"year":2024,"title":"T","abstract":"One.","sha1":"x","sources":["a"],"s2fieldsofstudy":["x"],"extFieldsOfStudy":[],
                    "external_ids":[{"source":"DOI","id":"10.1/X"},{"source":"MAG","id":"1"}]}}"#;
    check(&v3.replace('\n', " "), "T", &[("Abstract", "One.")], Some(2024));
    // Without a blank line there is no title in the text.
    let bare =
        r#"{"id":"5","source":"pes2o/s2ag","text":"Only this.","metadata":{"title":"Stated"}}"#;
    check(bare, "Stated", &[("Abstract", "Only this.")], None);
    // Neither a title nor a blank line: the first of several lines.
    let lines = r#"{"id":"5","source":"pes2o/s2ag","text":"On Trees\nOne.\nTwo."}"#;
    check(lines, "On Trees", &[("Abstract", "One. Two.")], None);
    let blank = r#"{"id":"5","source":"pes2o/s2ag","text":"\n\nOn Trees\n\nOne.","metadata":{"title":" "}}"#;
    check(blank, "On Trees", &[("Abstract", "One.")], None);
    let one = r#"{"id":"5","source":"pes2o/s2ag","text":"Only this."}"#;
    check(one, "", &[("Abstract", "Only this.")], None);
    // A paragraph is no title.
    let paragraph = "word ".repeat(80);
    let long =
        format!(r#"{{"id":"5","source":"pes2o/s2ag","text":"{}.\n\nTwo."}}"#, paragraph.trim_end());
    let whole = format!("{}. Two.", paragraph.trim_end());
    check(&long, "", &[("Abstract", whole.as_str())], None);
}

#[test]
fn lost_spaces_are_put_back_where_that_is_asked_for() {
    let row = r#"{"id":"P18-1001","title":"T","abstract":"We show how wecan reduce suchhallucinations.","bibkey":"k","year":2018}"#;
    let (_folder, path) = file("rows", row.as_bytes());
    for (repair_spaces, expect, count) in [
        (true, "We show how we can reduce such hallucinations.", 2),
        (false, "We show how wecan reduce suchhallucinations.", 0),
    ] {
        let options = ReadOptions { repair_spaces, ..ReadOptions::standard() };
        let mut reader = PaperReader::with(&FilePart::whole(&path), options).expect("opens");
        let paper = reader.next().expect("a paper").expect("is read");
        assert_eq!(paper.abstract_text(), Some(expect));
        assert_eq!(reader.report().spaces_repaired, count);
    }
}

/// `(id, text of the abstract, references)` of each paper of a dump.
fn joined(
    files: &[(PathBuf, Format)],
    shard: Option<Shard>,
) -> (Vec<(u64, String, usize)>, S2Report) {
    let folder = tempfile::tempdir().expect("temp dir");
    let options = ReadOptions::standard();
    let go = &mut || std::ops::ControlFlow::Continue(());
    let split = S2Join::split(files, folder.path(), shard, &options, go).expect("split");
    let std::ops::ControlFlow::Continue(mut join) = split else { panic!("nobody stopped it") };
    let papers: Vec<_> = join
        .papers()
        .map(|paper| {
            let paper = paper.expect("a paper");
            let scholar_core::PaperId::CorpusId(id) = paper.meta.id else {
                panic!("{:?}", paper.meta)
            };
            let text = paper.abstract_text().unwrap_or_default().to_owned();
            (id, text, paper.references.len())
        })
        .collect();
    let report = join.report().clone();
    drop(join);
    assert_eq!(fs_err::read_dir(folder.path()).expect("read").count(), 0, "nothing is left behind");
    (papers, report)
}

#[test]
fn semantic_scholars_dumps_are_joined_by_corpus_id() {
    let folder = tempfile::tempdir().expect("temp dir");
    let write = |name: &str, rows: Vec<String>| {
        let path = folder.path().join(name);
        fs_err::write(&path, gzip(rows.join("\n").as_bytes())).expect("written");
        let format = format_of(&path, Limits::standard()).expect("read").expect("recognised");
        (path, format)
    };
    let paper = |n: u64| {
        format!(
            r#"{{"corpusid":{n},"externalids":{{"DOI":"10.1/{n}","ArXiv":null,"PubMed":"{n}"}},"url":"","title":"T{n}",
            "authors":[{{"authorId":"1","name":"A"}}],"venue":"","year":2020,"citationcount":3,
            "publicationdate":"2020-01-02","journal":{{"name":"J"}}}}"#
        )
        .replace('\n', " ")
    };
    let files = vec![
        write(
            "citations.gz",
            vec![
                r#"{"citationid":1,"citingcorpusid":2,"citedcorpusid":1,"isinfluential":false}"#
                    .to_owned(),
                r#"{"citationid":2,"citingcorpusid":2,"citedcorpusid":3}"#.to_owned(),
                r#"{"citationid":3,"citingcorpusid":2,"citedcorpusid":null}"#.to_owned(),
                r#"{"citationid":4,"citingcorpusid":99,"citedcorpusid":1}"#.to_owned(),
            ],
        ),
        write(
            "abstracts.gz",
            vec![
                r#"{"corpusid":2,"openaccessinfo":{"license":"CCBY"},"abstract":"Two's."}"#
                    .to_owned(),
                r#"{"corpusid":3,"openaccessinfo":null,"abstract":"Three's."}"#.to_owned(),
            ],
        ),
        write("papers.gz", (1..=40).map(paper).collect()),
        write(
            "s2orc.gz",
            vec![r#"{"corpusid":3,"content":{"text":"Full text.","annotations":{}}}"#.to_owned()],
        ),
    ];
    let formats: Vec<Format> = files.iter().map(|(_, format)| *format).collect();
    assert_eq!(
        formats,
        [Format::S2Citations, Format::S2Abstracts, Format::S2Papers, Format::S2Orc]
    );
    let (papers, report) = joined(&files, None);
    assert_eq!(papers.len(), 40);
    assert!(papers.contains(&(2, "Two's.".to_owned(), 2)), "{papers:?}");
    assert!(papers.contains(&(3, "Three's.".to_owned(), 0)), "{papers:?}");
    assert_eq!((report.citations, report.citations_unused, report.citations_incomplete), (3, 1, 1));
    assert_eq!((report.abstracts, report.full_texts, report.rejected), (2, 1, 0));
    // Shards take each paper once, with everything that belongs to it.
    let mut parts: Vec<_> = ["0/3", "1/3", "2/3"]
        .iter()
        .flat_map(|shard| joined(&files, Some(shard.parse().expect("a shard"))).0)
        .collect();
    parts.sort();
    let mut whole = papers;
    whole.sort();
    assert_eq!(parts, whole);
}

#[test]
fn shards_cover_every_line_exactly_once() {
    let folder = tempfile::tempdir().expect("temp dir");
    let row = |n: usize| format!("{{\"_id\":\"{n}\",\"text\":\"x{}\"}}\n", "é".repeat(n % 7));
    let mut files = Vec::new();
    for (name, range) in [("b.jsonl", 0..40), ("a.jsonl", 40..41), ("c.jsonl", 41..90)] {
        let path = folder.path().join(name);
        let mut text: String = range.map(row).collect();
        if name == "c.jsonl" {
            text.insert(0, '\n');
            text.pop();
        }
        fs_err::write(&path, text).expect("written");
        files.push(path);
    }
    let zipped = folder.path().join("d.gz");
    fs_err::write(&zipped, gzip((90..95).map(row).collect::<String>().as_bytes()))
        .expect("written");
    files.push(zipped);
    // From one part to more parts than there are lines: some cut falls on every kind of byte.
    for count in (1..150).step_by(3) {
        let mut seen = Vec::new();
        for index in 0..count {
            let shard: Shard = format!("{index}/{count}").parse().expect("a shard");
            for part in parts(&files, shard).expect("parts") {
                let reader = PaperReader::with(&part, ReadOptions::standard()).expect("opens");
                seen.extend(reader.map(|paper| paper.expect("a paper").meta.id.to_string()));
            }
        }
        seen.sort();
        let mut expect: Vec<String> = (0..95).map(|n| format!("local:{n}")).collect();
        expect.sort();
        assert_eq!(seen, expect, "{count} parts");
    }
    for wrong in ["3/3", "1", "-1/2", "a/b", "0/0"] {
        assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
    }
}

#[test]
fn what_is_not_taken_in_is_written_down() {
    let rows: Vec<&[u8]> = vec![
        b"{\"_id\":\"1\",\"text\":\"x\"}",
        b"{\"_id\":\"2\",\"text\":\"\xff\xfe\"}",
        b"{\"_id\":\"3\",\"text\":\"\",\"title\":\" \"}",
        b"{\"_id\":\"4\",\"text\":\"x\"",
    ];
    let (folder, path) = file("rows.jsonl", &rows.join(&b'\n'));
    let log = std::sync::Arc::new(RejectLog::new(&folder.path().join("log")).expect("a log"));
    let limits = Limits { rejected_share: 1.0, ..Limits::standard() };
    let options = ReadOptions { limits, rejects: Some(log.clone()), ..ReadOptions::standard() };
    let mut reader = PaperReader::with(&FilePart::whole(&path), options).expect("opens");
    assert_eq!(reader.by_ref().filter(Result::is_ok).count(), 1);
    assert_eq!((reader.report().rejected, log.rows()), (3, 3));
    log.flush().expect("written");
    let text = fs_err::read_to_string(log.path()).expect("read");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let numbers: Vec<u64> = lines.iter().filter_map(|line| line["line"].as_u64()).collect();
    assert_eq!(numbers, [2, 3, 4]);
    let reason = |at: usize| lines[at]["reason"].as_str().expect("a reason").to_owned();
    assert!(reason(0).contains("UTF-8"), "{}", reason(0));
    assert!(reason(1).contains("neither title nor text"), "{}", reason(1));
    for (line, row) in lines.iter().zip(&rows[1..]) {
        let byte = usize::try_from(line["byte"].as_u64().expect("an offset")).expect("small");
        assert_eq!(&rows.join(&b'\n')[byte..byte + row.len()], *row);
        assert_eq!(line["file"], path.display().to_string());
        assert!(line["record"].as_str().expect("text").starts_with("{\"_id\""));
    }
    // A later run without rejects leaves no file that says otherwise.
    RejectLog::new(log.path()).expect("a log");
    assert!(!log.path().exists());
}

#[test]
fn a_line_of_fifty_megabytes_is_passed_over() {
    let mut text = b"{\"_id\":\"1\",\"text\":\"x\"}\n{\"_id\":\"2\",\"text\":\"".to_vec();
    text.resize(text.len() + (50 << 20), b'y');
    text.extend_from_slice(b"\"}\n{\"_id\":\"3\",\"text\":\"x\"}\n");
    let (_folder, path) = file("long.jsonl", &text);
    let limits = Limits { rejected_share: 0.5, ..Limits::standard() };
    let (papers, report, failure) = read(&path, limits);
    assert!(failure.is_none(), "{failure:?}");
    let ids: Vec<String> = papers.iter().map(|paper| paper.meta.id.to_string()).collect();
    assert_eq!(ids, ["local:1", "local:3"]);
    assert_eq!(report.rejects[0].line, 2);
}

#[test]
fn zstd_that_ends_early_names_the_line() {
    // Written by the reference compressor: 4 rows {"_id":"N","text":"word N"}.
    const ROWS: usize = 4;
    let whole = include_bytes!("../../tests/data/rows.jsonl.zst");
    let (_folder, path) = file("rows.zst", whole);
    let (papers, _, failure) = read(&path, Limits::standard());
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!(papers.len(), ROWS);
    for cut in 5..whole.len() {
        let (_folder, path) = file("rows.zst", &whole[..cut]);
        let (papers, _, failure) = read(&path, Limits::standard());
        assert!(
            matches!(failure, Some(Error::Ingest { .. })) && papers.len() <= ROWS,
            "cut at {cut}: {failure:?}"
        );
    }
}

const ROW: &str = "{\"_id\":\"1\",\"text\":\"caf\u{e9} \u{1f600}\"}\n";

#[test]
fn marks_encodings_and_notes_before_the_rows_are_blemishes() {
    let utf16 = |order: fn(u16) -> [u8; 2]| -> Vec<u8> {
        format!("\u{feff}{ROW}").encode_utf16().flat_map(order).collect()
    };
    let check = |bytes: &[u8], rejected: u64, encoding: Option<&str>| {
        let (_folder, path) = file("rows.jsonl", bytes);
        let (papers, report, failure) = read(&path, Limits::standard());
        assert!(failure.is_none(), "{failure:?}");
        assert_eq!(papers.len(), 1, "{report:?}");
        assert_eq!(papers[0].sections[0].text, "caf\u{e9} \u{1f600}");
        assert_eq!((report.rejected, report.encoding), (rejected, encoding));
        assert_eq!(report.format, Some(Format::Beir));
        let format = format_of(&path, Limits::standard()).expect("read");
        assert_eq!(format, Some(Format::Beir));
    };
    let marked = format!("\u{feff}{ROW}");
    check(marked.as_bytes(), 0, Some("UTF-8 with a byte order mark"));
    check(&gzip(marked.as_bytes()), 0, Some("UTF-8 with a byte order mark"));
    check(&utf16(u16::to_le_bytes), 0, Some("UTF-16LE"));
    check(&gzip(&utf16(u16::to_be_bytes)), 0, Some("UTF-16BE"));
    check(format!("\n// made by hand\n# twice\n\n{ROW}").as_bytes(), 2, None);
    check(format!("ut in two\"}}\n{{\"made\": \"today\"}}\n{ROW}").as_bytes(), 2, None);
}

#[test]
fn a_file_whose_first_lines_are_no_papers_is_told_by_what_they_are() {
    let fails = |text: &str, says: &[&str]| {
        let (_folder, path) = file("rows.jsonl", text.as_bytes());
        let (papers, _, failure) = read(&path, Limits::standard());
        let told = failure.map(|error| error.to_string()).unwrap_or_default();
        assert!(papers.is_empty() && says.iter().all(|part| told.contains(part)), "{told}");
    };
    fails("{\"a\": 1, \"b\\u001b\": 2}\n", &["line 1", "(\"a\", \"b\\u{1b}\")", "cannot tell"]);
    fails(&format!("{}{ROW}", "no row\n".repeat(30)), &["its first 20 lines", "expected ident"]);
    // Nothing may be wrong with a file that is read strictly.
    let (_folder, path) = file("rows.jsonl", format!("// note\n{ROW}").as_bytes());
    let (_, _, failure) = read(&path, Limits { rejected_share: 0.0, ..Limits::standard() });
    assert!(matches!(failure, Some(Error::TooManyRejects { .. })), "{failure:?}");
}

#[test]
fn a_marked_file_is_shared_out_whole() {
    let rows: String = (0..9).map(|n| format!("{{\"_id\":\"{n}\",\"text\":\"x\"}}\n")).collect();
    let utf16: Vec<u8> =
        format!("\u{feff}{rows}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [format!("\u{feff}{rows}").into_bytes(), utf16] {
        let (_folder, path) = file("rows.jsonl", &bytes);
        for count in [1, 2, 100] {
            let mut ids: Vec<String> = Vec::new();
            for index in 0..count {
                let shard: Shard = format!("{index}/{count}").parse().expect("a shard");
                for part in parts(std::slice::from_ref(&path), shard).expect("parts") {
                    let mut reader =
                        PaperReader::with(&part, ReadOptions::standard()).expect("opens");
                    ids.extend(reader.by_ref().map(|p| p.expect("read").meta.id.to_string()));
                    assert_eq!(reader.report().rejected, 0, "{:?}", reader.report());
                }
            }
            ids.sort();
            let expect: Vec<String> = (0..9).map(|n| format!("local:{n}")).collect();
            assert_eq!(ids, expect, "{count} shards");
        }
    }
}

#[test]
fn what_unpacks_to_much_more_than_itself_ends_early() {
    let ratio = |limits: ReadLimits, bytes: &[u8]| {
        let (_folder, path) = file("rows.jsonl.gz", bytes);
        let (papers, _, failure) = read(&path, Limits { read: limits, ..Limits::standard() });
        (papers.len(), failure)
    };
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..100 {
        encoder.write_all(&b"\n".repeat(1 << 20)).expect("in memory");
    }
    encoder.write_all(ROW.as_bytes()).expect("in memory");
    let blanks = encoder.finish().expect("in memory");
    let (papers, failure) = ratio(ReadLimits::standard(), &blanks);
    let Some(Error::TooMuch { limit, .. }) = &failure else { panic!("{failure:?}") };
    assert_eq!((papers, *limit), (0, scholar_core::Limit::UnpackRatio));
    let told = failure.as_ref().and_then(Error::hint).unwrap_or_default();
    assert!(told.contains("--limit unpack-ratio="), "{told}");
    let (papers, failure) =
        ratio(ReadLimits { unpack_ratio: 2_000, ..ReadLimits::standard() }, &blanks);
    assert!(failure.is_none() && papers == 1, "{failure:?}");
}

#[test]
fn a_line_without_an_end_ends_the_reading() {
    let (_folder, path) = file("rows.jsonl", "x".repeat(40_000).as_bytes());
    let most = ReadLimits { line_bytes: 1_000, ..ReadLimits::standard() };
    let (_, _, failure) = read(&path, Limits { read: most, ..Limits::standard() });
    // The buffer of a quarter megabyte is one look.
    assert!(
        matches!(failure, Some(Error::TooMuch { .. } | Error::UnknownFormat { .. })),
        "{failure:?}"
    );
    let (_folder, path) = file("rows.jsonl", "x".repeat(900_000).as_bytes());
    let (_, _, failure) = read(&path, Limits { read: most, ..Limits::standard() });
    let Some(Error::TooMuch { limit, .. }) = failure else { panic!("{failure:?}") };
    assert_eq!(limit, scholar_core::Limit::LineBytes);
}

#[test]
fn a_row_beyond_a_limit_is_left_out_with_the_limits_name() {
    let rows = concat!(
        r#"{"meta":{"id":"pmid:1","title":"A"},"sections":[{"heading":"","text":"a"},{"heading":"","text":"b"}]}"#,
        "\n",
        r#"{"meta":{"id":"pmid:2","title":"B"},"sections":[{"heading":"","text":"a"}]}"#,
    );
    let (_folder, path) = file("rows.jsonl", rows.as_bytes());
    let most = ReadLimits { sections: 1, ..ReadLimits::standard() };
    let (papers, report, failure) = read(&path, Limits { read: most, ..Limits::standard() });
    assert!(failure.is_none(), "{failure:?}");
    assert_eq!((papers.len(), report.rejected), (1, 1));
    let what = &report.rejects[0].what;
    assert!(what.contains("2 sections") && what.contains("--limit sections="), "{what}");
}
