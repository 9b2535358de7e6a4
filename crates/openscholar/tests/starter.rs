//! The starter papers are what their notice says: readable, identified, licensed and clean.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::PathBuf;

use scholar_core::text::PassageRules;
use scholar_core::text::passages::cut;
use scholar_core::{Paper, PaperId};
use sha2::Digest as _;

fn starter(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../starter").join(name)
}

fn papers() -> Vec<Paper> {
    let packed = fs_err::File::open(starter("papers.jsonl.gz"))
        .expect("the starter papers are in the repository");
    let mut lines = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut lines).expect("gzip of UTF-8");
    lines
        .lines()
        .enumerate()
        .map(|(at, line)| {
            serde_json::from_str(line).unwrap_or_else(|e| panic!("line {}: {e}", at + 1))
        })
        .collect()
}

fn counts() -> serde_json::Value {
    let text =
        fs_err::read_to_string(starter("counts.json")).expect("counts.json is in the repository");
    serde_json::from_str(&text).expect("counts.json is JSON")
}

fn source(id: &PaperId) -> &'static str {
    match id {
        PaperId::Acl(_) => "acl",
        PaperId::Arxiv(_) => "arxiv",
        PaperId::Pmcid(_) => "pmc",
        other => panic!("{other} is of no source in NOTICE"),
    }
}

#[test]
fn every_paper_is_identified_once_and_licensed() {
    let papers = papers();
    let mut seen = BTreeSet::new();
    for paper in &papers {
        let meta = &paper.meta;
        for id in meta.ids() {
            assert!(seen.insert(id.clone()), "{id} names two papers");
        }
        let licence = meta.licence.as_deref().unwrap_or_default();
        assert!(
            licence == "CC0 1.0" || licence.starts_with("CC BY "),
            "{}: licence {licence:?}",
            meta.id
        );
        assert!(!meta.authors.is_empty() && !meta.title.is_empty(), "{}: attribution", meta.id);
        assert!(
            meta.venue.is_some() && meta.url.is_some() && meta.year.is_some(),
            "{}: attribution",
            meta.id
        );
        if source(&meta.id) == "pmc" {
            assert!(meta.doi().is_some(), "{}: attribution of a full text names its DOI", meta.id);
        }
    }
    let ids: Vec<String> = papers.iter().map(|paper| paper.meta.id.to_string()).collect();
    assert!(ids.is_sorted(), "the file is sorted by identifier");
}

#[test]
fn texts_are_clean_and_of_sane_length() {
    for paper in papers() {
        let id = &paper.meta.id;
        let summary = paper.abstract_text().unwrap_or_else(|| panic!("{id} has no abstract"));
        let n_words = summary.split(' ').count();
        assert!((60..=450).contains(&n_words), "{id}: abstract of {n_words} words");
        assert_eq!(
            paper.sections.first().map(|section| section.heading.as_str()),
            Some("Abstract"),
            "{id}"
        );
        for section in &paper.sections {
            assert!(!section.heading.is_empty(), "{id}: a section without heading");
            assert!(
                section.text.split(' ').count() >= 40,
                "{id}: section {} is too short",
                section.heading
            );
        }
        let texts = paper.sections.iter().flat_map(|s| [&s.heading, &s.text]);
        for text in
            texts.chain([&paper.meta.title]).chain(&paper.meta.authors).chain(&paper.meta.venue)
        {
            assert!(!text.chars().any(char::is_control), "{id}: control character in {text:?}");
            assert!(!text.contains("  ") && text.trim() == text, "{id}: spaces in {text:?}");
            assert!(
                !text.contains('\u{fffd}') && !text.contains('\u{ad}'),
                "{id}: broken character in {text:?}"
            );
        }
    }
}

#[test]
fn counts_and_notice_agree_with_the_papers() {
    let papers = papers();
    let counts = counts();
    let mut by_source: BTreeMap<&str, u64> = BTreeMap::new();
    let mut by_licence: BTreeMap<&str, u64> = BTreeMap::new();
    for paper in &papers {
        *by_source.entry(source(&paper.meta.id)).or_default() += 1;
        *by_licence.entry(paper.meta.licence.as_deref().unwrap_or_default()).or_default() += 1;
    }
    assert_eq!(counts["papers"], papers.len());
    assert_eq!(counts["by_source"], serde_json::json!(by_source));
    assert_eq!(counts["by_licence"], serde_json::json!(by_licence));
    assert_eq!(counts["sections"], papers.iter().map(|p| p.sections.len()).sum::<usize>());
    assert_eq!(counts["references"], papers.iter().map(|p| p.references.len()).sum::<usize>());

    let notice = fs_err::read_to_string(starter("NOTICE")).expect("NOTICE is in the repository");
    let mut claims = vec![format!("{} papers", thousands(papers.len() as u64))];
    for (source, what) in
        [("acl", "abstracts, 2019"), ("arxiv", "abstracts, 2016"), ("pmc", "full texts")]
    {
        claims.push(format!("{} {what}", thousands(by_source[source])));
    }
    for claim in claims {
        assert!(
            notice.contains(&claim),
            "starter/NOTICE does not say {claim:?}; run starter/make.py and update it"
        );
    }
}

/// The vectors exist only to spare the first use minutes of encoding; stale ones would be encoded anew in silence.
#[test]
fn the_shipped_vectors_are_of_these_papers() {
    let text =
        fs_err::read_to_string(starter("vectors.json")).expect("vectors.json is in the repository");
    let info: serde_json::Value = serde_json::from_str(&text).expect("vectors.json is JSON");
    let packed =
        fs_err::read(starter("papers.jsonl.gz")).expect("the starter papers are in the repository");
    let digest = scholar_core::text::hex(&sha2::Sha256::digest(packed));
    let n_passages: usize =
        papers().iter().map(|paper| cut(paper, PassageRules::sections()).len()).sum();
    let next = "export vectors again (openscholar datastore export-vectors starter starter/)";
    assert_eq!(info["papers_sha256"], digest, "{next}");
    assert_eq!(info["passages"], n_passages, "{next}");
    let dim = info["dim"].as_u64().expect("vectors.json has a dimension");
    let n_bytes =
        fs_err::metadata(starter("vectors.f16")).expect("vectors.f16 is in the repository").len();
    assert_eq!(n_bytes, 2 * dim * n_passages as u64, "{next}");
}

/// `4116` as `4,116`.
fn thousands(n: u64) -> String {
    if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) }
}
