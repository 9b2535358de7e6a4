//! A student's journey: PDFs and a list in either order, questions, a changed file, doubtful pairs, what is not here.

use scholar_core::{Paper, Section};
use serde_json::Value;

use crate::program::{Program, STORE, text};

/// Papers of the fixture corpus as PDFs in a folder, and a list of the same works with a `file=` for every second one.
struct Desk {
    program: Program,
    folder: String,
    papers: Vec<Paper>,
}

const FILES: usize = 4;

impl Desk {
    fn new() -> Self {
        let program = Program::new();
        program.configure();
        let folder = program.path("desk");
        fs_err::create_dir_all(folder.join("pdfs")).expect("made");
        let all = scholar_testing::corpus::papers().into_iter();
        let papers: Vec<Paper> = all.take(FILES).map(with_body).collect();
        let mut entries = Vec::new();
        for (at, paper) in papers.iter().enumerate() {
            let file = format!("pdfs/{at}.pdf");
            fs_err::write(folder.join(&file), scholar_testing::pdf::printed(paper))
                .expect("written");
            let meta = &paper.meta;
            let named = if at % 2 == 0 { format!(", file = {{{file}}}") } else { String::new() };
            entries.push(format!(
                "@article{{key{at}, title = {{{}}}, author = {{{}}}, year = {{{}}}, journal = {{The Journal}}{named}}}\n",
                meta.title,
                meta.authors.join(" and "),
                meta.year.expect("known"),
            ));
        }
        fs_err::write(folder.join("refs.bib"), entries.concat()).expect("written");
        Self { program, folder: folder.to_string_lossy().into_owned(), papers }
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn add(&self, code: i32, what: &[&str]) -> Value {
        let paths: Vec<String> = what.iter().map(|name| self.path(name)).collect();
        let mut args = vec!["papers", "add", "--no-lookup"];
        args.extend(paths.iter().map(String::as_str));
        self.program.json(code, &args)
    }

    fn list(&self) -> Vec<Value> {
        self.program.json(0, &["papers", "list"])["papers"].as_array().expect("a list").clone()
    }
}

/// The paper with a section of running text behind its abstract.
fn with_body(mut paper: Paper) -> Paper {
    let summary = paper.abstract_text().expect("an abstract").to_owned();
    paper.sections.push(Section::new("Introduction", format!("{summary} {summary}")));
    paper
}

/// What of a paper must not depend on what came first.
fn known(paper: &Value) -> (String, String, Value, Value) {
    let text = |name: &str| paper[name].to_string();
    (text("title"), text("authors"), paper["year"].clone(), paper["venue"].clone())
}

#[test]
fn pdfs_and_a_list_give_the_same_papers_in_either_order() {
    let mut results: Vec<Vec<(String, String, Value, Value)>> = Vec::new();
    for order in [["pdfs", "refs.bib"], ["refs.bib", "pdfs"]] {
        let desk = Desk::new();
        for what in order {
            desk.add(0, &[what]);
        }
        let listed = desk.list();
        assert_eq!(listed.len(), FILES, "{order:?}: {listed:#?}");
        let mut papers: Vec<_> = listed.iter().map(known).collect();
        papers.sort_by(|a, b| a.0.cmp(&b.0));
        for (_, authors, year, _) in &papers {
            assert!(authors.len() > 4 && !year.is_null(), "{papers:#?}");
        }
        results.push(papers);
        let pairs = desk.program.json(0, &["papers", "duplicates"]);
        assert_eq!(pairs["total"], 0, "{pairs:#}");
        // Both again: nothing changes.
        let again = desk.add(0, &["pdfs", "refs.bib"]);
        assert_eq!((&again["added"], &again["replaced"]), (&0.into(), &0.into()), "{again:#}");
    }
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_changed_file_is_quoted_as_it_is_now_and_old_proofs_say_so() {
    let desk = Desk::new();
    desk.add(0, &["pdfs", "refs.bib"]);
    let title = desk.papers[0].meta.title.clone();
    let ask = ["ask", &title, "--mode", "evidence", "--generator", "none"];
    let before = desk.program.json(0, &ask);
    let run = before["run"].as_str().expect("a name").to_owned();
    let mut changed = desk.papers[0].clone();
    let words = "Nothing of what this paper said before is in it any more, as a reader of the new text can see.";
    changed.sections = vec![Section::new("Abstract", format!("{words} {title} was its subject."))];
    fs_err::write(desk.path("pdfs/0.pdf"), scholar_testing::pdf::printed(&changed))
        .expect("written");
    let checked = desk.program.json(4, &["papers", "check"]);
    assert_eq!((&checked["changed"], &checked["missing"]), (&1.into(), &0.into()), "{checked:#}");
    let report = desk.add(0, &["pdfs"]);
    assert_eq!((&report["replaced"], &report["added"]), (&1.into(), &1.into()), "{report:#}");
    assert_eq!(desk.list().len(), FILES);
    let (_, out, _) = text(&desk.program.run(&ask));
    let old = desk.papers[0].abstract_text().expect("an abstract");
    let first: String = old.split(". ").next().unwrap_or(old).chars().take(60).collect();
    assert!(!out.contains(&first), "{first} is stale: {out}");
    let (code, out, stderr) = text(&desk.program.run(&["runs", "verify", &run]));
    assert!(out.contains("the source has changed since"), "{code} {out} {stderr}");
    desk.program.json(0, &["papers", "check"]);
}

#[test]
fn moved_and_missing_files_are_told() {
    let desk = Desk::new();
    desk.add(0, &["pdfs"]);
    fs_err::rename(desk.path("pdfs/1.pdf"), desk.path("pdfs/other.pdf")).expect("moved");
    let checked = desk.program.json(4, &["papers", "check"]);
    assert_eq!(checked["missing"], 1, "{checked:#}");
    let report = desk.add(0, &["pdfs"]);
    assert_eq!(report["replaced"], 0, "moved, not changed: {report:#}");
    desk.program.json(0, &["papers", "check"]);
    assert_eq!(desk.list().len(), FILES);
    fs_err::remove_file(desk.path("pdfs/other.pdf")).expect("removed");
    desk.program.json(4, &["papers", "check"]);
    desk.program.json(0, &["papers", "check", "--forget"]);
    assert_eq!(desk.list().len(), FILES - 1);
}

#[test]
fn papers_answer_to_keys_paths_and_words_of_their_titles() {
    let desk = Desk::new();
    desk.add(0, &["refs.bib"]);
    let program = &desk.program;
    let title = |named: &str| {
        let shown = program.json(0, &["papers", "show", named]);
        shown["paper"]["meta"]["title"].as_str().expect("a title").to_owned()
    };
    let own = desk.papers[2].meta.title.clone();
    assert_eq!(title("key2"), own);
    assert_eq!(title(&desk.path("pdfs/2.pdf")), own);
    assert_eq!(title(&own.to_lowercase()), own);
    let shown = program.json(0, &["papers", "show", "key2"]);
    let authors = shown["fields"].as_array().expect("a list");
    let authors = authors.iter().find(|field| field["field"] == "authors").expect("stated");
    assert!(authors["source"].as_str().expect("a name").ends_with("refs.bib:key2"), "{authors}");
    program.fails(1, &["papers", "remove", "no-such-paper"], &["no-such-paper", "removed 0 of 1"]);
    let near: String = own.split(' ').take(2).collect::<Vec<_>>().join(" ") + " xyzzy";
    program.fails(1, &["papers", "remove", &near], &["near it: "]);
    program.succeeds(&["papers", "remove", "key2"]);
    assert_eq!(desk.list().len(), FILES - 1);
}

#[test]
fn pairs_are_merged_and_split_by_hand_and_stay_so() {
    let desk = Desk::new();
    desk.add(0, &["refs.bib"]);
    let program = &desk.program;
    program.succeeds(&["papers", "merge", "key0", "key1"]);
    assert_eq!(desk.list().len(), FILES - 1);
    let records = program.json(0, &["papers", "split", "key0"]);
    let count = records["records"].as_array().expect("a list").len();
    let second = records["records"].as_array().expect("a list").iter();
    let second = 1 + second
        .clone()
        .position(|record| record["source"]["key"] == "key1")
        .expect("its record");
    assert!(count >= 2, "{records:#}");
    program.succeeds(&["papers", "split", "key0", &second.to_string()]);
    assert_eq!(desk.list().len(), FILES);
    // Adding the list again joins nothing that was told apart.
    desk.add(0, &["refs.bib"]);
    assert_eq!(desk.list().len(), FILES);
}

#[test]
fn filters_count_what_is_not_known() {
    let desk = Desk::new();
    let list = "@misc{undated, title = {A paper without a year about sleep}, author = {Ng, Ada}, abstract = {Sleep helps memory in adults.}}
@misc{dated, title = {A paper with a year about sleep}, author = {Ng, Ada}, year = {2001}, abstract = {Sleep helps memory in children.}}
";
    fs_err::write(desk.path("two.bib"), list).expect("written");
    desk.add(0, &["two.bib"]);
    let program = &desk.program;
    let listed = program.json(0, &["papers", "list", "--year-from", "2000"]);
    assert_eq!((&listed["found"], &listed["unknown"]), (&1.into(), &1.into()), "{listed:#}");
    let lenient = program.json(0, &["papers", "list", "--year-from", "2000", "--include-unknown"]);
    assert_eq!(lenient["found"], 2, "{lenient:#}");
    let search = ["search", "sleep memory", "--year-from", "2000"];
    let (_, _, stderr) = text(&program.run(&search));
    assert!(
        stderr.contains("leaves 1 of 2 papers") && stderr.contains("1 are left out"),
        "{stderr}"
    );
    let ask = ["ask", "Does sleep help memory?", "--year-from", "2010", "--generator", "none"];
    program.fails(
        4,
        &ask,
        &["the filter (published 2010 or later) leaves 0 of 2", "--include-unknown"],
    );
}

#[test]
fn printed_references_that_match_nothing_are_wanted() {
    let desk = Desk::new();
    let cited = "Kyle Lo. 2019. First things about everything that people do. ACL.";
    let jats = format!(
        "<article><front><article-meta><title-group><article-title>Of things</article-title></title-group></article-meta></front><body><sec><title>Text</title><p>We do things.</p></sec></body><back><ref-list><ref><mixed-citation>{cited}</mixed-citation></ref></ref-list></back></article>"
    );
    fs_err::write(desk.path("things.xml"), jats).expect("written");
    desk.add(0, &["things.xml"]);
    let program = &desk.program;
    let references = program.succeeds(&["papers", "references", "of things"]);
    assert!(
        references.contains("not in this library") && references.contains("First things"),
        "{references}"
    );
    let wanted = program.json(0, &["papers", "wanted"]);
    assert_eq!(
        wanted["works"][0]["title"], "First things about everything that people do",
        "{wanted:#}"
    );
    let list = program.succeeds(&["papers", "wanted", "--format", "bibtex"]);
    assert!(list.contains("First things about everything that people do"), "{list}");
    // Once the work is there, the reference leads to it.
    let work = "@article{lo, title = {First things about everything that people do}, author = {Lo, Kyle}, year = {2019}}\n";
    fs_err::write(desk.path("lo.bib"), work).expect("written");
    desk.add(0, &["lo.bib"]);
    assert_eq!(program.json(0, &["papers", "wanted"])["total"], 0);
    let citing = program.json(0, &["papers", "cited-by", "lo"]);
    assert_eq!(citing["total"], 1, "{citing:#}");
}

#[test]
fn follow_ups_keep_the_thread_and_its_numbers() {
    let program = Program::with_papers();
    let first = program.json(0, &["ask", crate::program::QUESTION, "--generator", "none"]);
    let run = |answer: &Value| answer["run"].as_str().expect("a name").to_owned();
    // Two runs of one second have no order: each is named.
    let follow_up = format!("--follow-up={}", run(&first));
    let ask = ["ask", &follow_up, "And how are they detected?", "--generator", "none"];
    let second = program.json(0, &ask);
    let question = second["question"].as_str().expect("a question");
    assert!(question.contains("hallucinations"), "{question}");
    let ids = |answer: &Value| -> Vec<String> {
        let references = answer["references"].as_array().expect("a list");
        references.iter().map(|one| one["paper_id"].as_str().expect("an id").to_owned()).collect()
    };
    let (before, after) = (ids(&first), ids(&second));
    assert_eq!(after[..before.len()], before[..], "numbers stay");
    let threads = program.json(0, &["runs", "threads"]);
    assert_eq!(threads["threads"][0]["questions"].as_array().expect("a list").len(), 2);
    let thread = program.succeeds(&["runs", "thread", &run(&second)]);
    assert!(
        thread.matches("\n## References").count() == 1 && thread.contains("Asked as:"),
        "{thread}"
    );
    program.succeeds(&["runs", "verify", &run(&second)]);
    program.succeeds(&["runs", "replay", &run(&second)]);
}

#[test]
fn several_datastores_are_asked_as_one() {
    let desk = Desk::new();
    desk.add(0, &["refs.bib", "pdfs"]);
    let program = &desk.program;
    let corpus = crate::program::corpus().to_string_lossy().into_owned();
    program.succeeds(&["datastore", "build", "other", &corpus]);
    let both = format!("{STORE},other");
    let title = desk.papers[1].meta.title.clone();
    let found = program.json(0, &["search", &title, "--datastore", &both, "--by", "paper"]);
    let hits = found["hits"].as_array().expect("a list");
    let from: Vec<&Value> = hits.iter().map(|hit| &hit["found_by"]).collect();
    assert!(from.iter().any(|names| names.to_string().contains(STORE)), "{from:?}");
    assert!(from.iter().any(|names| names.to_string().contains("other")), "{from:?}");
    let csv = program.succeeds(&["search", &title, "--by", "paper", "--format", "csv"]);
    assert!(csv.starts_with("rank,score,id,title"), "{csv:.100}");
    program.fails(
        2,
        &["search", &title, "--format", "csv", "--by", "paper", "--json"],
        &["cannot be used together"],
    );
    let answer = program.json(0, &["ask", &title, "--datastore", &both, "--generator", "none"]);
    let run = answer["run"].as_str().expect("a name");
    program.succeeds(&["runs", "verify", run]);
}

#[test]
fn datastores_are_chosen_and_removed() {
    let desk = Desk::new();
    let corpus = crate::program::corpus().to_string_lossy().into_owned();
    let program = &desk.program;
    program.succeeds(&["datastore", "build", "other", &corpus]);
    program.fails(1, &["datastore", "use", "nowhere"], &["nowhere"]);
    program.succeeds(&["datastore", "use", "other"]);
    assert_eq!(program.json(0, &["datastore", "list"])["default"], "other");
    assert_eq!(program.json(0, &["papers", "list"])["total"], 40);
    let config = fs_err::read_to_string(program.path(".config/openscholar/config.toml"));
    assert!(config.expect("there").contains("[generator]"), "other settings stay");
    program.fails(1, &["datastore", "remove", "other"], &["--yes"]);
    program.succeeds(&["datastore", "remove", "other", "--yes"]);
    program.fails(1, &["papers", "list", "--datastore", "other"], &["other"]);
}

#[test]
fn odd_lists_are_read_as_far_as_they_can_be() {
    let desk = Desk::new();
    let list = "@article{same, title = {The first of two works with one key}, author = {de la Cruz, Juana and van der Berg, Jan}, year = {in press}}
@article{same, title = {The second of them, which is about sleep}, author = {王小明}, year = {1890}}
@article{later, title = {A work that is not there yet at all}, author = {محمد علي}, year = {2031}}
@article{circle, title = {An entry whose file is the list itself}, file = {odd.bib}}
";
    fs_err::write(desk.path("odd.bib"), list).expect("written");
    let report = desk.add(0, &["odd.bib"]);
    let notices = report["notices"].to_string();
    assert!(notices.contains("the key same is used 2 times"), "{notices}");
    assert!(notices.contains("skipped its file"), "{notices}");
    let listed = desk.list();
    assert_eq!(listed.len(), 4, "{listed:#?}");
    let all = serde_json::to_string(&listed).expect("JSON");
    for name in ["Juana de la Cruz", "Jan van der Berg", "王小明", "محمد علي"] {
        assert!(all.contains(name), "{name}: {all}");
    }
    let again = desk.add(0, &["odd.bib"]);
    assert_eq!(again["added"], 0, "{again:#}");
}

#[test]
fn a_library_is_screened_tabulated_and_exported() {
    let desk = Desk::new();
    desk.add(0, &["pdfs", "refs.bib"]);
    let program = &desk.program;
    let criteria = "title = \"Neural machine translation\"\n[[criterion]]\nid = \"nmt\"\ntext = \"The paper is about neural machine translation\"\n";
    fs_err::write(desk.path("criteria.toml"), criteria).expect("written");
    let file = desk.path("criteria.toml");
    program.succeeds(&["papers", "screen", &file, "--set", "key1=exclude", "--reason", "too old"]);
    let flow = desk.path("flow.svg");
    let screening = program.json(0, &["papers", "screen", &file, "--prisma", &flow]);
    let rows = screening["papers"].as_array().expect("a list");
    assert_eq!(rows.len(), FILES, "{screening:#}");
    let own: Vec<&Value> = rows.iter().filter(|row| row["by"] == "person").collect();
    assert_eq!((own.len(), &own[0]["decision"]), (1, &"exclude".into()), "{own:#?}");
    assert!(fs_err::read_to_string(&flow).expect("there").starts_with("<svg"));
    let table = ["papers", "table", "key0", &desk.path("pdfs/1.pdf"), "--columns", "method"];
    let csv = program.succeeds(&[&table[..], &["--format", "csv", "--mode", "evidence"]].concat());
    assert_eq!(csv.lines().count(), 3, "a header and two papers: {csv}");
    let list = program.succeeds(&["papers", "export", "key0", "key1"]);
    assert_eq!(list.matches("\n@").count() + usize::from(list.starts_with('@')), 2, "{list}");
    for paper in desk.papers.iter().take(2) {
        assert!(list.contains(paper.meta.title.split(' ').next().expect("a word")), "{list}");
    }
}

#[test]
fn a_list_that_ends_in_others_gets_all_authors_from_the_page() {
    let desk = Desk::new();
    let several = |paper: &Paper| paper.meta.authors.len() > 2;
    let at = desk.papers.iter().position(several).expect("one with several authors");
    let meta = &desk.papers[at].meta;
    let entry = format!(
        "@article{{cut, title = {{{}}}, author = {{{} and others}}, year = {{{}}}, file = {{pdfs/{at}.pdf}}}}\n",
        meta.title,
        meta.authors[0],
        meta.year.expect("known"),
    );
    fs_err::write(desk.path("cut.bib"), entry).expect("written");
    desk.add(0, &["cut.bib"]);
    let shown = desk.program.json(0, &["papers", "show", "cut"]);
    let authors = shown["paper"]["meta"]["authors"].as_array().expect("a list").len();
    assert_eq!(authors, meta.authors.len(), "{:#}", shown["fields"]);
}

#[test]
fn a_page_of_a_pdf_is_drawn_with_the_words_of_a_quotation_marked() {
    let desk = Desk::new();
    desk.add(0, &["pdfs"]);
    let program = &desk.program;
    let paper = &desk.papers[0];
    let words: Vec<&str> = paper.abstract_text().expect("an abstract").split(' ').collect();
    let quotation = words[3..12].join(" ");
    let path = desk.path("pdfs/0.pdf");
    let svg = program.path("page.svg");
    let output = svg.to_str().expect("UTF-8");
    let told = program.json(0, &["papers", "show", &path, "--mark", &quotation, "-o", output]);
    assert_eq!((&told["schema"], &told["page"]), (&"openscholar.page/1".into(), &1.into()));
    let boxes = told["marks"][0]["boxes"].as_array().expect("boxes").len();
    let drawn = fs_err::read_to_string(&svg).expect("written");
    assert!(boxes >= 1 && drawn.contains("<g id=\"marks\""), "{told:#}");
    assert!(!drawn.contains(&quotation), "letters are outlines");
    let printed = program.succeeds(&["papers", "show", &path, "--page", "1"]);
    assert!(printed.starts_with("<svg") && !printed.contains("marks"), "a page without marks");

    program.fails(
        4,
        &["papers", "show", &path, "--mark", "no such words stand here"],
        &["do not stand"],
    );
    program.fails(1, &["papers", "show", &path, "--page", "99"], &["there is no page 99"]);
    program.fails(2, &["papers", "show", &path, "-o", output], &["--page", "--mark"]);
    // A file that is another than it was is not shown as the source.
    fs_err::write(&path, b"%PDF-1.4 another").expect("written");
    program.fails(
        1,
        &["papers", "show", &path, "--page", "1"],
        &["has changed since", "papers add"],
    );
    fs_err::remove_file(&path).expect("removed");
    program.fails(
        1,
        &["papers", "show", &path, "--page", "1"],
        &["cannot be read", "papers check"],
    );
}
