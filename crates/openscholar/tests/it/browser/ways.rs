//! Other ways of using the same pages: by keyboard alone, and without scripts.

use scholar_testing::browser::{Browser, CONTROL, ENTER, ESCAPE, TAB};

use super::{ANSWERED, OF_THE_PDF, Site};
use crate::program::{Program, QUESTION};

/// More stops than any of these pages has.
const MOST_STOPS: usize = 200;

/// Goes on by Tab until `expression` holds for the focused element `at`. Every stop on the way can be seen, and stands in the page
/// behind the one before it.
fn tab_to(browser: &Browser, expression: &str) {
    let look = format!(
        "(() => {{ const at = document.activeElement, before = window.stopBefore; \
         if (at === document.body) return 'on'; window.stopBefore = at; \
         if (getComputedStyle(at).outlineStyle === 'none') return `invisible: ${{at.outerHTML}}`; \
         if (before && before !== at && !(before.compareDocumentPosition(at) & 4)) return `backwards: ${{at.outerHTML}}`; \
         return ({expression}) ? 'found' : 'on'; }})()"
    );
    browser.value("delete window.stopBefore");
    for _ in 0..MOST_STOPS {
        browser.press(&[TAB]);
        match browser.words(&look).as_str() {
            "found" => return,
            "on" => {}
            fault => panic!("{fault}"),
        }
    }
    panic!("Tab never reaches {expression}");
}

fn focused(browser: &Browser, expression: &str) -> bool {
    browser.value(&format!("((at) => Boolean({expression}))(document.activeElement)")) == true
}

#[test]
fn everything_can_be_done_by_keyboard_alone() {
    let Some(site) = Site::start(Program::with_papers()) else { return };
    let browser = &site.browser;
    site.open("/");
    browser.press(&[TAB]);
    site.open("/");
    assert!(focused(browser, "at.id === 'question'"), "one can type at once");
    browser.write(QUESTION);
    browser.chord(CONTROL, ENTER);
    browser.until(ANSWERED);

    // Past the navigation in one step.
    browser.press(&[TAB]);
    assert!(focused(browser, "at.matches('.skip')"));
    browser.press(&[ENTER]);
    browser.until("location.hash === '#main' && document.activeElement.id === 'main'");

    tab_to(browser, "at.matches('.menu summary')");
    browser.press(&[ENTER]);
    browser.until("document.activeElement.parentElement.open");
    tab_to(browser, "at.matches('.menu a[download]')");
    tab_to(browser, "at.matches('.part > summary')");
    browser.press(&[ENTER]);
    browser.until("!document.activeElement.parentElement.open");
    assert!(browser.value("document.querySelector('.gist').offsetHeight").as_u64() > Some(0));
    browser.press(&[ENTER]);
    browser.until("document.activeElement.parentElement.open");

    // A proof opens, holds the focus in order, closes by Escape, and gives the focus back.
    tab_to(browser, "at.matches('button.chip')");
    browser.press(&[ENTER]);
    browser.until("document.querySelector(':popover-open')");
    browser.press(&[TAB]);
    assert!(focused(browser, "at.matches(':popover-open .close')"));
    for _ in 0..MOST_STOPS {
        browser.press(&[TAB]);
        if focused(browser, "at.matches(':popover-open .place a')") {
            break;
        }
        assert!(focused(browser, "at.closest(':popover-open')"), "the source can be opened");
    }
    browser.press(&[ESCAPE]);
    browser.until("!document.querySelector(':popover-open')");
    assert!(focused(browser, "at.matches('button.chip')"));

    tab_to(browser, "at.matches('.feedback button[value=down]')");
    browser.press(&[ENTER]);
    browser.until("document.querySelector('.said').textContent === 'Thank you.'");
    tab_to(browser, "at.matches('.follow-up textarea')");
    browser.write("And what about charts?");
    tab_to(browser, "at.matches('.follow-up button')");
    let run = browser.words("location.pathname");
    browser.press(&[ENTER]);
    browser.until(&format!("location.pathname !== '{run}' && {ANSWERED}"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn asking_reading_and_proofs_work_without_scripts() {
    let Some(site) = Site::start(Program::with_papers()) else { return };
    let browser = &site.browser;
    site.drop_pdf();
    browser.allow_scripts(false);
    let run = site.ask(OF_THE_PDF, "evidence");
    // The page says that it loads itself again, and does.
    browser.until(ANSWERED);
    assert_eq!(
        browser.value("document.querySelector('[data-print]').hidden"),
        true,
        "no script ran"
    );
    browser.click(".answer button.chip");
    browser.until("document.querySelector(':popover-open mark')");
    browser.click(":popover-open .close");
    browser.click(".references summary");
    browser.until("document.querySelector('.references blockquote').offsetHeight > 0");
    browser.click(".feedback button[value=up]");
    browser.until("location.hash === '#part-0'");
    let pressed =
        "document.querySelector('.feedback button[value=up]').getAttribute('aria-pressed')";
    assert_eq!(browser.words(pressed), "true");
    browser.click("a.copy");
    browser.until("location.pathname.endsWith('/parts/0/markdown')");
    site.open(&run);
    browser.click(".answer button.chip");
    browser.click(":popover-open .place a");
    browser.until("document.getElementById('quotation')");
    browser.click("a[href*='/pdf?']");
    browser.until("document.querySelector('.page img')?.naturalWidth > 0");
    site.open("/library");
    browser.fill("#files", &site.program.path("concepts.pdf").to_string_lossy());
    browser.click("form.upload button");
    browser.until("document.querySelector('h1').textContent === 'Papers added'");
    assert!(site.words().contains("by the same bytes"), "{}", site.words());
}
