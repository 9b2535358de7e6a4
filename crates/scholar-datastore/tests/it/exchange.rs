//! Passages from elsewhere with their vectors, and Parquet for elsewhere.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use parquet::file::reader::SerializedFileReader;
use parquet::record::{Field, Row, RowAccessor as _};
use scholar_core::{Encoder as _, PaperId, Side};
use scholar_datastore::export::ExportPart;
use scholar_datastore::ingest::{Limits, ReadOptions, RejectLog};
use scholar_datastore::npy::Npy;
use scholar_datastore::store::verify::Depth;
use scholar_datastore::{
    AddOptions, AddProgress, Datastore, Error, MergeSource, PrecomputedPassages,
};

use super::{DIM, add, create, encoder, paper};

/// A `.npy` file of version 1.0.
fn npy(path: &Path, kind: &str, shape: &str, data: &[u8]) -> PathBuf {
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).expect("short");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    fs_err::write(path, bytes).expect("written");
    path.to_owned()
}

fn floats(rows: &[Vec<f32>]) -> Vec<u8> {
    rows.iter().flatten().flat_map(|value| value.to_le_bytes()).collect()
}

fn vectors(texts: &[&str]) -> Vec<Vec<f32>> {
    let encoded = encoder().encode(Side::Passage, texts).expect("encoded");
    encoded.rows().map(<[f32]>::to_vec).collect()
}

fn import(
    store: &Datastore,
    (passages, vectors, ids): (&Path, &Path, Option<&Path>),
    reading: &ReadOptions,
) -> Result<AddProgress, Error> {
    let vectors = Npy::open(vectors)?;
    let ids = ids.map(Npy::open).transpose()?;
    let given = PrecomputedPassages { passages, vectors: &vectors, ids: ids.as_ref() };
    let options = AddOptions::standard("given");
    let go = &mut |_: &AddProgress| ControlFlow::Continue(());
    let report = store.writer().expect("writer").add_precomputed(
        &given,
        &encoder(),
        &options,
        reading,
        go,
    )?;
    Ok(report.progress)
}

#[test]
fn passages_with_vectors_come_in_and_a_second_time_change_nothing() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let texts = ["Alpha beta.  Gamma", "delta epsilon", "zeta", "eta theta"];
    let rows: Vec<String> = [
        serde_json::json!({"text": texts[0], "origin_id": 7, "id": 0, "shard_id": 1, "num_shards": 16}),
        serde_json::json!({"text": texts[1], "origin_id": "7", "id": 1}),
        serde_json::json!({"text": texts[2], "origin_id": null, "id": 2, "shard_id": 1}),
        serde_json::json!({"text": texts[3], "paper": "doi:10.1/x", "id": 3, "section": "Abstract"}),
    ]
    .iter()
    .map(ToString::to_string)
    .collect();
    fs_err::write(at("passages.jsonl"), rows.join("\n")).expect("written");
    let mut reversed = vectors(&texts);
    reversed.reverse();
    let matrix = npy(&at("v.npy"), "<f4", &format!("(4, {DIM})"), &floats(&reversed));
    let names: Vec<u8> = [3_i64, 2, 1, 0].iter().flat_map(|id| id.to_le_bytes()).collect();
    let ids = npy(&at("ids.npy"), "<i8", "(4,)", &names);
    let store = create(&at("store"));
    let files = (at("passages.jsonl"), matrix, ids);
    let run = || {
        let paths = (files.0.as_path(), files.1.as_path(), Some(files.2.as_path()));
        let done = import(&store, paths, &ReadOptions::standard()).expect("imported");
        (done.papers_added, done.passages_added, done.papers_unchanged)
    };
    assert_eq!(run(), (3, 4, 0));
    assert_eq!(run(), (0, 0, 3));
    let paper = store.paper(&PaperId::CorpusId(7)).expect("read").expect("stored");
    let passages = store.passages_of(&paper.meta.id).expect("read");
    assert_eq!(passages.len(), 2);
    for (passage, text) in passages.iter().zip(texts) {
        assert_eq!(passage.text, text, "exactly as given");
        assert_eq!(passage.span.slice(&paper.text()), Some(text));
    }
    assert!(store.paper(&PaperId::Local("1-2".to_owned())).expect("read").is_some());
    // Each vector is that of its text, whatever the order in the file.
    let report = store.verify(Depth::Checksums, Some((&encoder(), 9))).expect("whole");
    assert!(report.least_cosine > 0.999);
}

#[test]
fn vectors_that_cannot_be_right_are_refused() {
    let folder = tempfile::tempdir().expect("temp dir");
    let at = |name: &str| folder.path().join(name);
    let texts: Vec<String> = (0..40).map(|n| format!("word{n} text")).collect();
    let rows: Vec<String> = texts
        .iter()
        .enumerate()
        .map(|(n, text)| serde_json::json!({"text": text, "corpus_id": n}).to_string())
        .collect();
    let passages = at("passages.jsonl");
    fs_err::write(&passages, rows.join("\n")).expect("written");
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let good = vectors(&borrowed);
    let attempt = |name: &str, kind: &str, shape: &str, data: &[u8]| {
        let store = create(&at(name));
        let matrix = npy(&at(&format!("{name}.npy")), kind, shape, data);
        let log = std::sync::Arc::new(RejectLog::new(&at("log")).expect("a log"));
        let limits = Limits { rejected_share: 0.1, ..Limits::standard() };
        let reading = ReadOptions { rejects: Some(log.clone()), limits, ..ReadOptions::standard() };
        (import(&store, (&passages, &matrix, None), &reading), log.rows())
    };
    let whole = format!("(40, {DIM})");
    let (done, rejected) = attempt("good", "<f4", &whole, &floats(&good));
    assert_eq!((done.expect("imported").papers_added, rejected), (40, 0));
    // One vector is not finite: its passage is written down, the others come in.
    let mut holed = good.clone();
    holed[5][3] = f32::NAN;
    let (done, rejected) = attempt("holed", "<f4", &whole, &floats(&holed));
    assert_eq!((done.expect("imported").papers_added, rejected), (39, 1));
    // Too few vectors: too much is unusable.
    let (done, _) = attempt("few", "<f4", &format!("(30, {DIM})"), &floats(&good[..30]));
    assert!(matches!(done, Err(Error::TooManyRejects { rejected: 10, .. })), "{done:?}");
    // Other texts' vectors, another length, another kind, cut short.
    let mut shifted = good.clone();
    shifted.rotate_left(1);
    let (done, _) = attempt("shifted", "<f4", &whole, &floats(&shifted));
    assert!(matches!(done, Err(Error::Vectors { .. })), "{done:?}");
    let narrow: Vec<Vec<f32>> = good.iter().map(|row| row[..DIM / 2].to_vec()).collect();
    let (done, _) = attempt("narrow", "<f4", &format!("(40, {})", DIM / 2), &floats(&narrow));
    assert!(matches!(done, Err(Error::Vectors { .. })), "{done:?}");
    for (name, kind, data) in [
        ("kind", "<c8", floats(&good)),
        ("short", "<f4", floats(&good[..39])),
        ("halves", "<f2", floats(&good)),
    ] {
        let (done, _) = attempt(name, kind, &whole, &data);
        assert!(matches!(done, Err(Error::Corrupt { .. })), "{name}: {done:?}");
    }
    let store = create(&at("other"));
    fs_err::write(at("no.npy"), b"not an array").expect("written");
    let done = import(&store, (&passages, &at("no.npy"), None), &ReadOptions::standard());
    assert!(matches!(done, Err(Error::Corrupt { .. })), "{done:?}");
}

fn read(path: &Path) -> Vec<Row> {
    let file = fs_err::File::open(path).expect("opens").into_parts().0;
    SerializedFileReader::new(file)
        .expect("Parquet")
        .into_iter()
        .map(|row| row.expect("a row"))
        .collect()
}

#[test]
fn everything_comes_back_from_parquet() {
    let folder = tempfile::tempdir().expect("temp dir");
    let store = create(&folder.path().join("store"));
    let mut first = paper(1, "On α-helices", &vec!["helix"; 400].join(" "));
    first.meta.external_ids = vec![PaperId::doi("10.1/a").expect("a doi"), PaperId::CorpusId(4)];
    first.meta.authors = vec!["A. One".to_owned(), "B. Two".to_owned()];
    first.meta.citation_count = Some(12);
    first.meta.licence = Some("CC BY 4.0".to_owned());
    first.references = vec![PaperId::Pmid(2), PaperId::Pmid(9)];
    add(&mut store.writer().expect("writer"), vec![first, paper(2, "Sheets", "beta")]);
    let out = folder.path().join("out");
    let source = MergeSource::open(store.root()).expect("opens");
    let exported = source
        .export(&out, &ExportPart::ALL, &mut |_| ControlFlow::Continue(()))
        .expect("exported");
    let ControlFlow::Continue(files) = exported else { panic!("nobody stopped it") };
    let rows: Vec<u64> = files.iter().map(|file| file.rows).collect();
    assert_eq!(rows, [2, 3, 3, 2]);

    let papers = read(&out.join("papers.parquet"));
    assert_eq!(papers[0].get_string(0).expect("an id"), "pmid:1");
    assert_eq!(papers[0].get_string(1).expect("a title"), "On α-helices");
    assert_eq!(papers[0].get_int(2).expect("a year"), 2001);
    assert_eq!(papers[0].get_long(8).expect("a count"), 12);
    assert_eq!(papers[0].get_list(9).expect("authors").len(), 2);
    assert_eq!(
        papers[0].get_list(10).expect("ids").elements()[0],
        Field::Str("doi:10.1/a".to_owned())
    );
    assert_eq!(papers[1].get_list(9).expect("no authors").len(), 0);
    assert!(papers[1].get_long(8).is_err(), "unknown is null");
    let passages = read(&out.join("passages.parquet"));
    let stored = store.passages_of(&PaperId::Pmid(1)).expect("read");
    for (row, passage) in passages.iter().zip(&stored) {
        assert_eq!(row.get_string(0).expect("an id"), &passage.id.to_string());
        assert_eq!(row.get_string(6).expect("a text"), &passage.text);
        assert_eq!(
            row.get_long(8).expect("an end"),
            i64::try_from(passage.span.end).expect("small")
        );
    }
    let rows = read(&out.join("vectors.parquet"));
    let text = format!("On α-helices {}", stored[0].text);
    let list = rows[0].get_list(1).expect("a vector");
    assert_eq!(list.len(), DIM);
    for (value, expect) in list.elements().iter().zip(&vectors(&[text.as_str()])[0]) {
        let Field::Float(value) = value else { panic!("{value:?}") };
        assert!((value - expect).abs() < 1e-3, "{value} {expect}");
    }
    let edges = read(&out.join("edges.parquet"));
    assert_eq!(edges[1].get_string(1).expect("cited"), "pmid:9");

    // Stopped: nothing half written is left.
    let again = folder.path().join("again");
    let stopped =
        source.export(&again, &ExportPart::ALL, &mut |_| ControlFlow::Break(())).expect("stopped");
    assert!(stopped.is_break());
    assert_eq!(fs_err::read_dir(&again).expect("read").count(), 0);
}
