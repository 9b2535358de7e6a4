//! Pages that are open while an answer is written: loaded again, cut off, and there when it is whole.

use std::time::Duration;

use scholar_testing::{Behaviour, PATIENCE};

use super::{ANSWERED, REPORT, Site, serve};
use crate::model::Model;
use crate::program::{Program, QUESTION};
use crate::site::written_by;
use crate::stopped::silent_once;

/// Long enough between words that a page can be looked at before the last.
const PAUSE: Duration = Duration::from_millis(150);

#[test]
fn a_page_that_is_loaded_again_in_mid_answer_goes_on_and_shows_no_marks() {
    let program = Program::with_papers();
    // Whatever else this form asks for is refused; the draft alone is enough for an answer.
    let model = Model::with(|purpose, before| match (purpose, before) {
        ("unknown", 0) => Some(Behaviour::Slow(REPORT.to_owned(), PAUSE)),
        ("unknown", _) => Some(Behaviour::Empty),
        _ => None,
    });
    written_by(&program, &model.base_url());
    let Some(site) = Site::start(program) else { return };
    let browser = &site.browser;
    let run = site.ask(QUESTION, "generative");
    let draft = "(document.getElementById('draft')?.textContent ?? '')";
    browser.until(&format!("{draft}.includes('Exposure bias')"));
    browser.until("document.querySelector('#evidence .card')");
    browser.reload();
    assert_eq!(browser.words("location.pathname"), run);
    browser.until(&format!("{draft}.includes('decides what it invents')"));
    let shown = browser.words(draft);
    let marks = ["F1 |", "S F1", "##", "[Response_Start]"];
    assert!(marks.iter().all(|mark| !shown.contains(mark)), "{shown}");
    browser.until(ANSWERED);
    let words = site.words();
    assert!(words.contains("Exposure bias is partially to blame"), "{words}");
    assert_eq!(browser.words("location.pathname"), run);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn an_open_page_outlives_its_server_in_mid_answer_and_ends_with_the_answer() {
    let program = Program::with_papers();
    let (model, told) = silent_once("draft");
    written_by(&program, &model.base_url());
    let Some(mut site) = Site::start(program) else { return };
    let run = site.ask(QUESTION, "single-pass");
    told.recv_timeout(PATIENCE).expect("the call comes");
    site.browser.until("document.getElementById('draft').textContent.includes('Exposure bias')");
    let serving = site.serving.take().expect("it serves");
    let address = serving.address.to_string();
    serving.kill();
    site.browser.until("document.getElementById('offline')");
    let told = site.browser.words("document.getElementById('offline').textContent");
    assert!(told.contains("cannot be reached") && told.contains("nothing is lost"), "{told}");
    site.serving = Some(serve(&site.program, &address));
    // Nobody touches the page.
    site.browser.until(ANSWERED);
    assert_eq!(site.browser.value("document.getElementById('offline')"), serde_json::Value::Null);
    assert_eq!(site.browser.words("location.pathname"), run);
    assert!(site.words().contains("Exposure bias is partially to blame"), "{}", site.words());
    assert_eq!(site.program.runs().len(), 1, "the same run went on");
}
