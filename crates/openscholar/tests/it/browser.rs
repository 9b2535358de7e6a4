//! Pages of the real program in a real browser: asked, read, checked and kept.
//!
//! Without a browser these tests are skipped, and say so; `OPENSCHOLAR_BROWSER=required` makes that a failure.

mod mid_answer;
mod pages;
mod walk;
mod ways;

use scholar_core::{Paper, Section};
use scholar_testing::browser::Browser;
use serde_json::json;

use crate::program::Program;
use crate::serve::Serving;

/// A question that [`paper_of_a_pdf`] answers, and nothing else in the library.
const OF_THE_PDF: &str =
    "How can political scientists find complex concepts in large amounts of text?";
/// Its answer is whole, with everything that belongs to it.
const ANSWERED: &str =
    "!document.querySelector('[data-live]') && document.querySelector('article.answer')";

/// A report as models are asked to write one, with the marks of its lines.
const REPORT: &str = "[Response_Start]## Causes
F1 | Exposure bias is partially to blame for hallucinations in neural machine translation [0].
S F1 | What a model saw in training decides what it invents.

## Limits
G | No paper found here reports what this costs.

## Short answer
F2 | Training with Minimum Risk Training avoids exposure bias and can mitigate hallucinations [0].[Response_End]";

/// A server, and a browser to look at it.
struct Site {
    browser: Browser,
    serving: Option<Serving>,
    program: Program,
}

impl Site {
    /// Serves `program`; `None` where there is no browser.
    fn start(program: Program) -> Option<Self> {
        Self::start_with(program, &[])
    }

    /// The same with more options of `serve`.
    fn start_with(program: Program, more: &[&str]) -> Option<Self> {
        let browser = Browser::start()?;
        let serving = Some(serve_with(&program, "127.0.0.1:0", more));
        Some(Self { browser, serving, program })
    }

    fn serving(&self) -> &Serving {
        self.serving.as_ref().expect("it serves")
    }

    fn open(&self, path: &str) {
        self.browser.open(&format!("http://{}{path}", self.serving().address));
    }

    /// The words of the page, as far as they are shown.
    fn words(&self) -> String {
        self.browser.words("document.querySelector('main').innerText")
    }

    /// Asks from the page; returns where the run is shown.
    fn ask(&self, question: &str, mode: &str) -> String {
        let browser = &self.browser;
        self.open("/");
        browser.fill("#question", question);
        let choose = format!("document.getElementById('mode').value = {}", json!(mode));
        assert_eq!(browser.value(&choose), mode);
        browser.click("form.ask button.primary");
        browser.until("location.pathname.startsWith('/runs/')");
        browser.words("location.pathname")
    }

    /// Adds the PDF by dropping it on the library.
    fn drop_pdf(&self) {
        let browser = &self.browser;
        let path = self.program.path("concepts.pdf");
        fs_err::write(&path, scholar_testing::pdf::printed(&paper_of_a_pdf())).expect("written");
        self.open("/library");
        browser.drop_files("form.upload", &[&path]);
        browser.until(
            "location.pathname.startsWith('/library/additions/') && \
             document.querySelector('h1').textContent === 'Papers added'",
        );
    }
}

/// Nobody outside this machine is asked for anything.
fn serve(program: &Program, address: &str) -> Serving {
    serve_with(program, address, &[])
}

fn serve_with(program: &Program, address: &str, more: &[&str]) -> Serving {
    let usual = ["serve", "--offline", "--concurrency", "1", "--listen", address];
    Serving::of(program, &[&usual[..], more].concat())
}

/// A paper that the fixtures do not have.
fn paper_of_a_pdf() -> Paper {
    let mut paper = scholar_testing::corpus::papers().swap_remove(0);
    paper.meta.title = "How Do Political Scientists Find Complex Concepts in Texts?".to_owned();
    paper.meta.authors = vec!["Andrea Stern".to_owned(), "Jon Field".to_owned()];
    paper.meta.external_ids.clear();
    let summary = "Political scientists find complex concepts in large amounts of text when an active learning \
        algorithm proposes passages to them. We developed a pipeline of text processing tools which helps political \
        scientists to find complex concepts in large amounts of text. They accept or reject each proposal on a page.";
    let rest = "Many concepts of political science are faceted and come in different linguistic forms. Search with \
        keywords alone misses them. The tools therefore learn from every decision of their users. In a study with four \
        scientists, two hundred decisions were enough to find the passages that an expert had marked by hand.";
    paper.sections =
        vec![Section::new("Abstract", summary), Section::new("Introduction", rest.repeat(4))];
    paper
}
