//! Every page and every state of it: readable in light and dark, on a phone, by a screen reader; pictured where a folder is named.
//!
//! A new page is a line in [`PAGES`].

use scholar_testing::Behaviour;
use scholar_testing::browser::Browser;
use scholar_testing::http::post;
use serde_json::{Value, json};

use super::{ANSWERED, OF_THE_PDF, REPORT, Site};
use crate::model::{DRAFT, Model};
use crate::program::{Program, QUESTION, STORE};
use crate::review::IDEA;
use crate::site::{over, submit, written_by};

const PHONE: (u32, u32) = (375, 740);
const DESK: (u32, u32) = (1280, 900);
/// Longest picture, in pixels: of longer pages, the top.
const LONGEST: u64 = 1_800;
/// Answered by no paper.
const OFF_TOPIC: &str = "Which taxes did the monasteries of medieval Burgundy pay to the duke?";

/// What the pages show, made in this order.
struct Made {
    /// The file that was added, and its paper.
    addition: String,
    paper: String,
    /// Runs, as addresses of their pages.
    answer: String,
    report: String,
    abstained: String,
    over_budget: String,
    source_down: String,
    failed: String,
    under_way: String,
    waiting: String,
    stopped: String,
    /// The answer, as everybody may read it.
    shared: String,
    review: String,
    table: String,
    screening: String,
    /// What one annotator of a study has to judge.
    study: String,
}

/// Name, the way to it, and words that it must show: what it is, said so that it cannot be taken for something else.
type Page = (&'static str, fn(&Site, &Made), &'static [&'static str]);

const PAGES: &[Page] = &[
    ("ask", |site, _| site.open("/"), &["Ask the literature", "works offline", "For example"]),
    ("ask-refused", refused, &["Not asked.", "from year", "which is no number"]),
    ("estimate", estimated, &["this costs nothing"]),
    ("waiting", |site, made| site.open(&made.waiting), &["Waiting: this is next."]),
    ("under-way", |site, made| site.open(&made.under_way), &["Under way", "Evidence", "Stop"]),
    (
        "answer",
        |site, made| site.open(&made.answer),
        &[
            "Findings",
            "a pipeline of text processing tools",
            "How to read this answer",
            "References",
        ],
    ),
    (
        "proof",
        proof,
        &["Supported by the quotation", "Why this rank", "Open the source at this place"],
    ),
    (
        "report",
        |site, made| site.open(&made.report),
        &["Short answer", "Follows from the cited sentences", "Searched for, and not reported"],
    ),
    (
        "abstained",
        |site, made| site.open(&made.abstained),
        &["Insufficient evidence.", "No stored paper was found to answer this question"],
    ),
    (
        "over-budget",
        |site, made| site.open(&made.over_budget),
        &["Over budget.", "the best answer so far"],
    ),
    (
        "source-down",
        |site, made| site.open(&made.source_down),
        &["Not every source could be asked.", "not the same as nothing being there"],
    ),
    ("failed", |site, made| site.open(&made.failed), &["could not be answered", "Go on"]),
    ("stopped", |site, made| site.open(&made.stopped), &["You stopped this question.", "Go on"]),
    (
        "shared",
        |site, made| site.open(&made.shared),
        &["a pipeline of text processing tools", "References"],
    ),
    ("verified", |site, made| pressed(site, &made.answer, "verify"), &["Everything holds"]),
    ("replayed", |site, made| pressed(site, &made.answer, "replay"), &["byte for byte"]),
    (
        "explained",
        |site, made| site.open(&format!("{}/explain", made.answer)),
        &["Why these papers are cited"],
    ),
    ("review", |site, _| site.open("/review"), &["Review a research idea", "What you get"]),
    ("reviewed", |site, made| site.open(&made.review), &["What exists already"]),
    ("tables", |site, _| site.open("/tables"), &["Make a table of papers", "Columns"]),
    ("table", |site, made| site.open(&made.table), &["Save as", "Method"]),
    ("screenings", |site, _| site.open("/screenings"), &["Screen papers for a review"]),
    ("screening", |site, made| site.open(&made.screening), &["Flow of papers", "Criteria"]),
    ("runs", |site, _| site.open("/runs"), &["leaves a run", "failed", "under way"]),
    ("compare", |site, _| site.open("/compare"), &["Compare two runs"]),
    ("compared", compared, &["Differences", "Papers cited only by the first"]),
    ("library", |site, _| site.open("/library"), &["Add papers", "of 41 papers"]),
    (
        "library-nothing-found",
        |site, _| site.open("/library?words=zzz"),
        &["None of its 41 papers has all these words."],
    ),
    ("papers-added", |site, made| site.open(&made.addition), &["1 of 1 file, 1 paper"]),
    (
        "duplicates",
        |site, _| site.open(&format!("/library/duplicates?datastore={STORE}")),
        &["Pairs that may be one work"],
    ),
    (
        "paper",
        |site, made| site.open(&made.paper),
        &["How Do Political Scientists Find", "Cited by", "Quoted in"],
    ),
    ("paper-quoted", quoted, &["Go to the quotation", "See it on the page of the PDF"]),
    ("pdf-page", printed, &["Page 1 of", "The paper’s text"]),
    ("status", |site, _| site.open("/status"), &["Datastores", "Checks"]),
    ("studies", |site, _| site.open("/annotate"), &["judgements given"]),
    ("study", |site, made| site.open(&made.study), &["You are here as", "submitted"]),
    ("study-pair", judged, &["Which answer is better, all in all?", "Save for later"]),
    ("docs", |site, _| site.open("/docs"), &["Interface for programs"]),
    ("sign-in", |site, _| site.open("/sign-in"), &["Your token"]),
    ("nothing-here", |site, _| site.open("/nothing"), &["There is nothing at this address"]),
];

fn refused(site: &Site, _: &Made) {
    site.open("/");
    site.browser.fill("#question", QUESTION);
    site.browser.click("details.more summary");
    site.browser.fill("#year_from", "MMXX");
    site.browser.click("form.ask button.primary");
    site.browser.until("document.querySelector('[role=alert]')");
}

fn estimated(site: &Site, _: &Made) {
    site.open("/");
    site.browser.fill("#question", QUESTION);
    site.browser.value("document.getElementById('mode').value = 'evidence'");
    site.browser.click("button[formaction='/estimate']");
    site.browser.until("document.querySelector('.estimate')");
}

fn judged(site: &Site, made: &Made) {
    site.open(&format!("{}/2", made.study));
}

fn pressed(site: &Site, run: &str, verb: &str) {
    site.open(run);
    site.browser.click(&format!("form[action$='/{verb}'] button"));
    site.browser.until("document.querySelector('h1').textContent.includes(' of run ')");
}

fn compared(site: &Site, made: &Made) {
    let name = |run: &str| run.trim_start_matches("/runs/").to_owned();
    site.open(&format!("/compare?left={}&right={}", name(&made.answer), name(&made.report)));
}

fn quoted(site: &Site, made: &Made) {
    site.open(&made.answer);
    let source = site.browser.words("document.querySelector('.place a').getAttribute('href')");
    site.open(&source);
}

fn proof(site: &Site, made: &Made) {
    site.open(&made.answer);
    site.browser.click(".answer button.chip");
    site.browser.until("document.querySelector(':popover-open')?.style.top");
}

fn printed(site: &Site, made: &Made) {
    quoted(site, made);
    site.browser.click("a[href*='/pdf?']");
    site.browser.until("document.querySelector('.page img')?.complete");
}

/// What models do for the questions of [`make`]: they are asked one after the other.
fn model() -> Model {
    Model::with(|purpose, before| match (purpose, before) {
        ("unknown", 0) => Some(Behaviour::Text(REPORT.to_owned())),
        ("unknown", _) => Some(Behaviour::Empty),
        ("draft", 0) => Some(Behaviour::HangAfter(DRAFT.replace("[Response_End]", ""))),
        ("draft", 1) => {
            let refusal = "{\"error\": {\"message\": \"no such model\"}}";
            Some(Behaviour::Status(400, refusal.to_owned()))
        }
        ("draft", _) => Some(Behaviour::HangAfter("Exposure bias".to_owned())),
        _ => None,
    })
}

/// Asks, and returns the page of the run; it is over.
fn run(site: &Site, question: &str, more: &Value) -> String {
    let run = begin(site, question, more);
    over(site.serving(), run.trim_start_matches("/runs/"));
    run
}

fn begin(site: &Site, question: &str, more: &Value) -> String {
    let mut request = json!({ "question": question });
    for (name, value) in more.as_object().expect("fields") {
        request[name] = value.clone();
    }
    format!("/runs/{}", submit(site.serving(), &request))
}

/// Sends a request for something else than an answer, and returns the name of its run; it is over.
fn sent(site: &Site, path: &str, request: &Value) -> String {
    let reply = post(site.serving().address, path, &request.to_string());
    assert_eq!(reply.status, 202, "{}", reply.body);
    let run = reply.json()["run"].as_str().expect("a name").to_owned();
    let ended = over(site.serving(), &run);
    assert_eq!(ended["state"], "done", "{path}: {ended}");
    run
}

fn make(site: &Site, study: &str) -> Made {
    let browser = &site.browser;
    site.drop_pdf();
    let addition = browser.words("location.pathname");
    let paper = browser.words("document.querySelector('.added a').getAttribute('href')");
    let answer = run(site, OF_THE_PDF, &json!({"mode": "evidence"}));
    site.open(&answer);
    browser.value("document.querySelector('form[action$=\"/share\"]').requestSubmit()");
    browser.until("document.querySelector('a[href^=\"/shared/\"]')");
    let shared =
        browser.words("document.querySelector('a[href^=\"/shared/\"]').getAttribute('href')");
    let source_down = json!({"mode": "evidence", "sources": ["datastore", "arxiv"]});
    let single = json!({"mode": "single-pass"});
    let review = json!({"idea": IDEA, "mode": "evidence"});
    let table =
        json!({"columns": ["method.method"], "query": QUESTION, "top": 3, "mode": "evidence"});
    let criteria = json!([
        {"id": "topic", "text": "The study is about machine translation"},
        {"id": "survey", "text": "The paper is a survey", "excludes": true},
    ]);
    let screening = json!({"title": "Translation", "criteria": criteria, "mode": "evidence"});
    Made {
        review: format!("/runs/{}", sent(site, "/v1/reviews", &review)),
        table: format!("/tables/{}", sent(site, "/v1/tables", &table)),
        screening: format!("/screenings/{}", sent(site, "/v1/screenings", &screening)),
        study: study.to_owned(),
        addition,
        paper,
        answer,
        shared,
        abstained: run(site, OFF_TOPIC, &json!({"mode": "evidence"})),
        source_down: run(site, QUESTION, &source_down),
        report: run(site, QUESTION, &json!({"mode": "generative"})),
        over_budget: run(site, QUESTION, &json!({"mode": "single-pass", "max_seconds": 3})),
        failed: run(site, QUESTION, &single),
        under_way: begin(site, QUESTION, &single),
        waiting: begin(site, "What is waited for?", &single),
        stopped: {
            let stopped = begin(site, "What was stopped?", &single);
            let path = format!("/v1{stopped}/cancel");
            assert_eq!(post(site.serving().address, &path, "").status, 200);
            stopped
        },
    }
}

/// The widest that a page is, folded and unfolded.
fn widest(browser: &Browser) -> u64 {
    browser
        .value(
            "(() => { const width = () => document.documentElement.scrollWidth; const folded = width(); \
             for (const one of document.querySelectorAll('main details')) one.open = true; \
             return Math.max(folded, width()); })()",
        )
        .as_u64()
        .expect("a width")
}

/// Writes the page as it looks now, where a folder for that is named.
fn picture(browser: &Browser, name: &str, (width, height): (u32, u32)) {
    let Some(folder) = scholar_testing::screenshots() else { return };
    let long = browser.value("document.documentElement.scrollHeight").as_u64().expect("a height");
    browser.resize(width, u32::try_from(long.min(LONGEST)).expect("short").max(height));
    fs_err::create_dir_all(&folder).expect("made");
    fs_err::write(folder.join(format!("{name}.png")), browser.picture()).expect("written");
    browser.resize(width, height);
}

/// Opens and examines all pages; `axe` looks for faults of accessibility.
fn examine(site: &Site, made: &Made, pages: &[Page], axe: Option<&str>) -> Vec<String> {
    let browser = &site.browser;
    let mut faults = Vec::new();
    for (name, open, says) in pages {
        browser.darken(false);
        browser.resize(DESK.0, DESK.1);
        open(site, made);
        let words = site.words();
        for said in *says {
            if !words.contains(said) {
                faults.push(format!("{name} does not say {said:?}: {words}"));
            }
        }
        picture(browser, name, DESK);
        let mut found = Vec::new();
        if let Some(axe) = axe {
            found.extend(browser.violations(axe, false));
        }
        browser.darken(true);
        picture(browser, &format!("{name}-dark"), DESK);
        browser.darken(false);
        browser.resize(PHONE.0, PHONE.1);
        picture(browser, &format!("{name}-phone"), PHONE);
        let width = widest(browser);
        if width > u64::from(PHONE.0) {
            faults.push(format!("{name} is {width} pixels wide on a phone"));
        }
        browser.resize(DESK.0, DESK.1);
        if let Some(axe) = axe {
            found.extend(browser.violations(axe, true));
            browser.darken(true);
            found.extend(browser.violations(axe, true));
        }
        found.sort_unstable();
        found.dedup();
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    faults
}

#[test]
fn every_page_is_readable_by_everybody_and_says_what_it_is() {
    let program = Program::with_papers();
    let model = model();
    written_by(&program, &model.base_url());
    crate::annotate::write_study(&program);
    let db = program.path("study.db").to_string_lossy().into_owned();
    let address = "https://papers.example.org/annotate";
    let links = program.json(0, &["bench", "annotate", "create", "--db", &db, "--url", address]);
    let url = links["annotators"][0]["url"].as_str().expect("theirs");
    let study = url.strip_prefix("https://papers.example.org").expect("below the address");
    let Some(site) = Site::start_with(program, &["--study", &db]) else { return };
    let axe = scholar_testing::axe();
    let made = make(&site, study);
    site.browser.until("document.readyState === 'complete'");
    let faults = examine(&site, &made, PAGES, axe.as_deref());
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n\n"));
    let said: Vec<String> = site.browser.complaints();
    // A page that is not there is a failed request by its nature, as is a question that was not taken.
    let own = |one: &String| !one.contains("status of 40") && !one.contains("Password forms");
    assert_eq!(said.into_iter().filter(own).collect::<Vec<_>>(), Vec::<String>::new());
}

/// What a person sees who has no papers yet, and what becomes of a page when the server is gone.
#[test]
fn a_server_without_papers_says_where_to_begin() {
    let program = Program::new();
    program.configure();
    let none = program.path("none.jsonl");
    fs_err::write(&none, "").expect("written");
    program.succeeds(&["datastore", "build", STORE, &none.to_string_lossy()]);
    let Some(mut site) = Site::start(program) else { return };
    site.open("/");
    let words = site.words();
    assert!(
        words.contains("There is nothing to ask yet.") && !words.contains("For example"),
        "{words}"
    );
    picture(&site.browser, "ask-without-papers", DESK);
    if let Some(axe) = scholar_testing::axe() {
        assert_eq!(site.browser.violations(&axe, true), Vec::<String>::new());
    }
    site.browser.click("main a[href='/library']");
    site.browser.until("document.querySelector('form.upload')");
    assert!(site.words().contains("This datastore has no papers."), "{}", site.words());
    picture(&site.browser, "library-empty", DESK);
    site.drop_pdf();
    site.ask(OF_THE_PDF, "evidence");
    site.browser.until(ANSWERED);
    assert!(site.words().contains("complex concepts"), "{}", site.words());
    site.serving.take();
}
