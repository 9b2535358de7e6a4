//! From a file that is dropped on the library to an answer that is taken along, by mouse.

use scholar_testing::browser::{Browser, CONTROL, ENTER};
use scholar_testing::http::get;

use super::{ANSWERED, OF_THE_PDF, Site};
use crate::program::Program;

#[test]
fn an_answer_is_asked_checked_to_the_page_of_the_pdf_followed_up_and_kept() {
    let Some(site) = Site::start(Program::with_papers()) else { return };
    let browser = &site.browser;
    site.drop_pdf();
    assert!(site.words().contains("1 of 1 file, 1 paper"), "{}", site.words());
    let run = site.ask(OF_THE_PDF, "evidence");
    browser.until(ANSWERED);
    let quoted = the_chip_opens_its_proof(browser);
    the_source_opens_at_the_quotation(&site, &quoted);
    everything_read_is_told(&site, &run);
    it_is_asked_on(&site, &run);
    it_is_kept(&site, &run);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Whether a part of the page is within the window, and within the box that it is scrolled in.
fn is_in_sight(browser: &Browser, selector: &str) -> bool {
    let seen = format!(
        "(() => {{ const one = document.querySelector(\"{selector}\"), at = one.getBoundingClientRect(); \
         const box = one.closest('[popover]')?.getBoundingClientRect() ?? {{top: 0, bottom: innerHeight}}; \
         return at.height > 0 && at.top >= box.top && at.top < Math.min(box.bottom, innerHeight); }})()"
    );
    browser.value(&seen) == true
}

/// Returns the words that are marked in the passage.
fn the_chip_opens_its_proof(browser: &Browser) -> String {
    browser.click(".answer button.chip");
    browser.until("document.querySelector(':popover-open')");
    let shown = browser.words("document.querySelector(':popover-open').innerText");
    for words in [
        "How Do Political Scientists Find",
        "Supported by the quotation",
        "Retractions: not looked up",
        "Open the source at this place",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let quoted = browser.words("document.querySelector(':popover-open mark').textContent");
    assert!(quoted.split(' ').count() > 5, "{quoted}");
    let passage = browser.words("document.querySelector(':popover-open blockquote').textContent");
    assert!(passage.contains(&quoted) && passage.len() > quoted.len(), "{passage}");
    browser.until("document.querySelector(':popover-open').style.top");
    assert!(is_in_sight(browser, ":popover-open mark"), "the quotation is in sight");
    quoted
}

/// From the open proof to the text, and from there to the page as it was printed.
fn the_source_opens_at_the_quotation(site: &Site, quoted: &str) {
    let browser = &site.browser;
    browser.click(":popover-open .place a");
    browser.until("document.getElementById('quotation')");
    assert_eq!(browser.words("document.getElementById('quotation').textContent"), quoted);
    assert!(is_in_sight(browser, "#quotation"), "the text is opened at the quotation");
    browser.click("a[href*='/pdf?']");
    let drawn = "document.querySelector('.page img')";
    browser.until(&format!("{drawn}?.complete && {drawn}.naturalWidth > 0"));
    let told = browser.words(&format!("{drawn}.alt"));
    assert!(told.contains("with the quotation marked"), "{told}");
    let source = browser.words(&format!("{drawn}.getAttribute('src')"));
    let svg = get(site.serving().address, &source).body;
    let (_, marks) = svg.split_once("<g id=\"marks\"").expect("marks on the page");
    assert!(marks.contains("<rect"), "{marks}");
    let place = "document.querySelector('figure[data-mark]').dataset.mark";
    let place: f64 = browser.words(place).parse().expect("a share of the page");
    assert!((0.0..1.0).contains(&place), "{place}");
    let at = format!("{drawn}.getBoundingClientRect().top + {place} * {drawn}.height");
    let at = browser.value(&at).as_f64().expect("a number");
    let height = browser.value("innerHeight").as_f64().expect("a number");
    assert!(at >= 0.0 && at < height, "the mark is at {at} of {height}");
}

/// What was searched, what was left out, why this rank, and what it cost.
fn everything_read_is_told(site: &Site, run: &str) {
    let browser = &site.browser;
    site.open(run);
    for part in ["What was searched and done", "What was left out and why", "What it cost"] {
        let folded = format!(
            "[...document.querySelectorAll('.behind summary')].find((one) => one.textContent === '{part}')"
        );
        browser.value(&format!("{folded}.click()"));
        let told = browser.words(&format!("{folded}.parentElement.innerText"));
        assert!(told.len() > part.len() + 20, "{told}");
    }
    let references = browser.words("document.querySelector('.references').innerText");
    assert!(references.contains("Andrea Stern, Jon Field"), "{references}");
}

fn it_is_asked_on(site: &Site, run: &str) {
    let browser = &site.browser;
    browser.fill(".follow-up textarea", "What do they accept or reject?");
    browser.chord(CONTROL, ENTER);
    browser.until(&format!("location.pathname !== '{run}' && {ANSWERED}"));
    let thread = "document.querySelectorAll('nav.thread li').length";
    assert_eq!(browser.value(thread), 2, "{}", site.words());
    browser.click("nav.thread a:not([aria-current])");
    browser.until(&format!("location.pathname === '{run}'"));
}

fn it_is_kept(site: &Site, run: &str) {
    let browser = &site.browser;
    browser.click(".menu summary");
    let offered = browser.value(
        "[...document.querySelectorAll('.menu[open] a')].map((one) => one.getAttribute('href'))",
    );
    let offered = offered.as_array().expect("a list");
    assert!(offered.len() >= 7, "{offered:?}");
    for address in offered {
        let address = address.as_str().expect("an address");
        let loaded = format!(
            "fetch('{address}').then(async (file) => [file.ok, file.headers.get('content-disposition'), \
             String.fromCharCode(...new Uint8Array(await file.arrayBuffer()).slice(0, 20))])"
        );
        let loaded = browser.value(&loaded);
        let begins = match address.rsplit('/').next() {
            Some("docx") => "PK",
            // A file within the file has the references.
            Some("latex") => "\\begin{filecontents*",
            Some("bibtex") => "@",
            Some("ris") => "TY  -",
            Some("csl") => "[",
            _ => "",
        };
        let is_named = loaded[1].as_str().is_some_and(|how| how.contains("filename="));
        assert!(loaded[0] == true && is_named, "{address}: {loaded}");
        let first = loaded[2].as_str().expect("bytes");
        assert!(!first.is_empty() && first.starts_with(begins), "{address}: {first}");
    }
    // A thumb and a comment are saved without leaving the page, and are there when it is loaded again.
    browser.click(".feedback button[value=up]");
    browser.until("document.querySelector('.said').textContent === 'Thank you.'");
    browser.reload();
    let pressed =
        "document.querySelector('.feedback button[value=up]').getAttribute('aria-pressed')";
    assert_eq!(browser.words(pressed), "true");
    assert_eq!(browser.words("location.pathname"), run);
}

/// The same over a paper as a publisher printed it.
#[test]
fn a_publishers_pdf_is_opened_at_its_quotation() {
    let Some(pdf) = scholar_testing::data("fulltext/pdf/acl_scisumm__W13-2708.pdf") else { return };
    let Some(site) = Site::start(Program::with_papers()) else { return };
    let browser = &site.browser;
    site.open("/library");
    browser.fill("#files", &pdf.to_string_lossy());
    browser.click("form.upload button");
    browser.until("document.querySelector('h1').textContent === 'Papers added'");
    site.ask(OF_THE_PDF, "evidence");
    browser.until(ANSWERED);
    browser.click(".answer button.chip");
    browser.until("document.querySelector(':popover-open').style.top");
    let quoted = browser.words("document.querySelector(':popover-open mark').textContent");
    the_source_opens_at_the_quotation(&site, &quoted);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
