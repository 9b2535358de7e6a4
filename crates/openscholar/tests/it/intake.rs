//! Papers from documents, libraries and folders; lists and answers out again.

use std::io::BufReader;

use serde_json::Value;

use crate::program::{Program, QUESTION, STORE, text};
use crate::stopped::{signal, wait_for};

const JATS: &str = r#"<article xmlns:xlink="http://www.w3.org/1999/xlink"><front>
<journal-meta><journal-title>Journal of Examples</journal-title></journal-meta>
<article-meta><article-id pub-id-type="doi">10.5555/example.1</article-id>
<title-group><article-title>Sleep spindles and <italic>verbal</italic> memory</article-title></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Lovelace</surname><given-names>Ada</given-names></name></contrib></contrib-group>
<pub-date pub-type="epub"><day>3</day><month>2</month><year>2021</year></pub-date>
<abstract><p>Spindle density predicted verbal memory in forty adults.</p></abstract></article-meta></front>
<body><sec><title>Results</title><p>Recall rose with spindle density <xref ref-type="bibr" rid="r1">[1]</xref>.</p></sec></body>
<back><ref-list><ref id="r1"><element-citation><article-title>On Exposure Bias, Hallucination and Domain Shift in Neural Machine Translation</article-title>
<person-group><name><surname>Wang</surname></name></person-group><year>2020</year></element-citation></ref></ref-list></back></article>"#;

const BIB: &str = "@article{hopper1952, title = {The education of a computer}, author = {Hopper, Grace}, year = {1952},
  abstract = {A compiler routine translates a formula into a program.}, doi = {10.1145/609784.609818}}
@article{broken, title = {No end
";

fn folder(program: &Program) -> String {
    let folder = program.path("inbox");
    fs_err::create_dir_all(&folder).expect("made");
    fs_err::write(folder.join("spindles.xml"), JATS).expect("written");
    fs_err::write(folder.join("spindles.txt"), "Sleep spindles again, as plain text.")
        .expect("written");
    fs_err::write(folder.join("refs.bib"), BIB).expect("written");
    fs_err::write(folder.join("empty.pdf"), b"%PDF-1.4\n%%EOF").expect("written");
    folder.to_string_lossy().into_owned()
}

fn added(report: &Value, ending: &str) -> Value {
    let papers = report["papers"].as_array().expect("a list");
    let found = papers.iter().find(|one| one["origin"].as_str().expect("a name").ends_with(ending));
    found.unwrap_or_else(|| panic!("{ending} in {report:#}")).clone()
}

#[test]
fn a_folder_of_documents_and_lists_is_taken_in() {
    let program = Program::with_papers();
    let inbox = folder(&program);
    // Exit code 4: the broken PDF and the broken entry gave no paper, the others did.
    let report = program.json(4, &["papers", "add", &inbox, "--no-lookup"]);
    let article = added(&report, "spindles.xml");
    assert_eq!(
        (&article["id"], &article["sections"]),
        (&"doi:10.5555/example.1".into(), &2.into())
    );
    assert_eq!(article["matched"], 1, "its reference is one of the forty papers: {article}");
    added(&report, "hopper1952");
    let notices = report["notices"].to_string();
    assert!(notices.contains("spindles.xml: joined with"), "one paper: {notices}");
    assert!(notices.contains("empty.pdf"), "{notices}");
    assert!(report["failed"].as_u64().expect("a number") >= 1);

    let paper = program.json(0, &["papers", "show", "doi:10.5555/example.1"]);
    assert_eq!(paper["paper"]["meta"]["title"], "Sleep spindles and verbal memory");
    assert_eq!(paper["paper"]["meta"]["published"], "2021-02-03");
    let citers = program.json(0, &["papers", "cited-by", "acl:2020.acl-main.326"]);
    assert!(citers.to_string().contains("10.5555/example.1"), "{citers}");
    // Again: nothing is new.
    let again = program.json(4, &["papers", "add", &inbox, "--no-lookup"]);
    assert_eq!(again["added"], 0, "{again}");
}

#[test]
fn lists_come_back_as_they_went_out() {
    let program = Program::with_papers();
    for (format, ending) in [("bibtex", "bib"), ("ris", "ris"), ("csl", "json")] {
        let file = program.path(&format!("list.{ending}")).to_string_lossy().into_owned();
        program.succeeds(&["papers", "export", "--format", format, "-o", &file]);
        let name = format!("from-{format}");
        let report =
            program.json(0, &["papers", "add", &file, "--no-lookup", "--datastore", &name]);
        assert_eq!(report["papers"].as_array().expect("a list").len(), 40, "{format}");
        let listed = |store: &str| -> Vec<String> {
            let list = program.json(0, &["papers", "list", "--datastore", store]);
            let papers = list["papers"].as_array().expect("a list").clone();
            let mut titles: Vec<String> =
                papers.iter().map(|one| one["title"].to_string()).collect();
            titles.sort();
            titles
        };
        assert_eq!(listed(&name), listed(STORE), "{format}");
    }
}

#[test]
fn answers_leave_as_documents() {
    let program = Program::with_papers();
    let ask = ["ask", QUESTION, "--generator", "none", "--mode", "evidence"];
    program.succeeds(&ask);
    let html = program.succeeds(&["runs", "export", "last", "--style", "apa"]);
    assert!(html.starts_with("<!DOCTYPE html>") && html.contains("<h1"), "{html:.200}");
    let latex = program.succeeds(&["runs", "export", "last", "--to", "latex"]);
    assert!(latex.contains("\\documentclass") && latex.contains("\\end{document}"));
    program.fails(1, &["runs", "export", "last", "--to", "docx"], &["cannot be printed", "hint:"]);
    let file = program.path("answer.docx").to_string_lossy().into_owned();
    program.succeeds(&["runs", "export", "last", "--to", "docx", "-o", &file]);
    let bytes = fs_err::read(&file).expect("written");
    assert!(bytes.starts_with(b"PK"), "a zip");
    program.fails(
        1,
        &["runs", "export", "last", "--style", "no-such-style"],
        &["no style is called"],
    );
    let bib = program.succeeds(&["papers", "export", "--run", "last"]);
    assert!(bib.contains("@inproceedings{"), "{bib:.200}");
}

#[test]
fn what_is_no_paper_is_told() {
    let program = Program::with_papers();
    let check = |name: &str, bytes: &[u8], says: &[&str]| {
        let file = program.path(name);
        fs_err::write(&file, bytes).expect("written");
        let file = file.to_string_lossy().into_owned();
        let (code, _, stderr) = text(&program.run(&["papers", "add", &file, "--no-lookup"]));
        assert_eq!(code, 1, "{stderr}");
        assert!(says.iter().all(|part| stderr.contains(part)), "{says:?} in {stderr}");
    };
    check("binary.pdf", &[0, 159, 146, 150], &["binary.pdf", "no paper could be read"]);
    check("page.html", b"<html><body>Not a paper</body></html>", &["page.html"]);
    check("half.xml", &JATS.as_bytes()[..300], &["half.xml"]);
    check("odd.json", b"{\"a\": 1}", &["odd.json"]);
    check("zotero.sqlite", b"SQLite format 3\0 and then nothing", &["zotero.sqlite"]);
    program.fails(
        1,
        &["papers", "add", "nowhere.pdf"],
        &["neither a file nor an identifier", "hint:"],
    );
    program.fails(
        1,
        &["papers", "add", "arxiv:2411.14199", "--offline"],
        &["arxiv:2411.14199", "--offline"],
    );
}

#[test]
fn a_watched_folder_may_be_empty_and_hold_broken_files() {
    let program = Program::with_papers();
    let inbox = program.path("inbox");
    fs_err::create_dir_all(&inbox).expect("made");
    let add = ["papers", "add", &inbox.to_string_lossy(), "--no-lookup", "--watch"];
    let mut child = program.start(&add);
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    wait_for(&mut stderr, "watching");
    fs_err::write(inbox.join("empty.pdf"), b"%PDF-1.4\n%%EOF").expect("written");
    wait_for(&mut stderr, "no paper could be read");
    fs_err::write(inbox.join("spindles.xml"), JATS).expect("written");
    wait_for(&mut stderr, "1 papers added");
    fs_err::write(inbox.join("refs.bib"), BIB).expect("written");
    wait_for(&mut stderr, "1 papers added");
    fs_err::remove_file(inbox.join("spindles.xml")).expect("removed");
    wait_for(&mut stderr, "spindles.xml was removed or renamed");
    fs_err::remove_dir_all(&inbox).expect("removed");
    wait_for(&mut stderr, "is gone");
    fs_err::create_dir_all(&inbox).expect("made");
    fs_err::write(inbox.join("spindles.xml"), JATS.replace("forty", "fifty")).expect("written");
    wait_for(&mut stderr, "1 replaced");
    signal(&child, "INT");
    assert!(child.wait().expect("ends").success());
    let papers = &program.json(0, &["datastore", "info", STORE])["info"]["papers"];
    assert_eq!(papers, 42, "the forty there were, the article and the book");
}

#[test]
fn a_broken_file_of_rows_does_not_keep_a_watch_from_beginning() {
    let program = Program::with_papers();
    let inbox = program.path("inbox");
    fs_err::create_dir_all(&inbox).expect("made");
    let row = |n: u32| {
        format!(
            "{{\"meta\": {{\"id\": \"pmid:{n}\", \"title\": \"Title {n}\"}}, \"sections\": [{{\"heading\": \"Abstract\", \"text\": \"Text of paper {n}.\"}}]}}\n"
        )
    };
    fs_err::write(inbox.join("broken.jsonl"), "no row at all\n".repeat(3)).expect("written");
    fs_err::write(inbox.join("good.jsonl"), row(9_900_001)).expect("written");
    let add = ["papers", "add", &inbox.to_string_lossy(), "--no-lookup", "--watch"];
    let mut child = program.start(&add);
    let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
    wait_for(&mut stderr, "broken.jsonl");
    wait_for(&mut stderr, "watching");
    let papers =
        || program.json(0, &["datastore", "info", STORE])["info"]["papers"].as_u64().expect("n");
    assert_eq!(papers(), 41, "the broken file cost itself alone");
    fs_err::write(inbox.join("worse.ndjson"), "{\"a\": 1}\n").expect("written");
    wait_for(&mut stderr, "worse.ndjson");
    fs_err::write(inbox.join("late.jsonl"), row(9_900_002)).expect("written");
    wait_for(&mut stderr, "1 papers added");
    signal(&child, "INT");
    assert!(child.wait().expect("ends").success());
    assert_eq!(papers(), 42);
}

#[test]
fn references_mean_papers_of_which_only_the_title_is_known() {
    let program = Program::with_papers();
    let list = program.path("list.bib");
    let entry = "@article{a, title = {On exposure bias, hallucination and domain shift in machine translation of speech},
      author = {Wang, Chaojun}, year = {2020}, doi = {10.5555/bare.1}}";
    fs_err::write(&list, entry).expect("written");
    let add = |file: &std::path::Path| {
        program.json(0, &["papers", "add", &file.to_string_lossy(), "--no-lookup"])
    };
    add(&list);
    let article = program.path("spindles.xml");
    let title = "On Exposure Bias, Hallucination and Domain Shift in Machine Translation of Speech";
    let known = "On Exposure Bias, Hallucination and Domain Shift in Neural Machine Translation";
    fs_err::write(&article, JATS.replace(known, title)).expect("written");
    let report = add(&article);
    assert_eq!(added(&report, "spindles.xml")["matched"], 1, "{report:#}");
    let citers = program.json(0, &["papers", "cited-by", "doi:10.5555/bare.1"]);
    assert!(citers.to_string().contains("10.5555/example.1"), "{citers}");
}
