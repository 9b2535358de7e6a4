//! Every format with its traps.

use std::io::Write as _;

use super::*;

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
    let limits = Limits { line_bytes: 300, rejected_share: 0.5 };
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
