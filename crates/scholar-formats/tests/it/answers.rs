//! Answers as documents: citations lead to references, everything is escaped, and the files are what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use quick_xml::Reader;
use quick_xml::events::Event;
use scholar_core::{
    Answer, AnswerMode, AnswerSentence, Citation, Gate, Notice, NoticeKind, PaperId, PassageId,
    Place, Quote, Reference, Support, Verdict,
};
use scholar_formats::FormatErrorKind;
use scholar_formats::export::{self, AnswerExport, CitationStyle, ExportFormat, STYLES};
use scholar_formats::library::{self, LibraryFormat};

/// Signs that some format or engine is known to stumble over.
const NASTY: &str = "50% of R&D_x costs $5 #1 {a} \\b ~c^d <script>alert('x')</script> & \"q\" α–β ± ≤ ≥ × µm 10⁻³ \
                     H₂O Gödel Łódź Dvořák Nguyễn ½ ﬁ “x” ‘y’ … → ∞ 漢字 Ж \u{1f600} \u{301}e [1] *b* `c` -- ---";

fn reference(
    number: usize,
    id: &str,
    title: &str,
    authors: &[&str],
    venue: Option<&str>,
) -> Reference {
    let paper_id: PaperId = id.parse().expect("an id");
    Reference {
        number: Citation(number),
        title: title.to_owned(),
        authors: authors.iter().map(|author| (*author).to_owned()).collect(),
        year: i16::try_from(2000 + number).ok().filter(|_| number != 3),
        venue: venue.map(str::to_owned),
        url: paper_id.url(),
        doi: None,
        found_by: Vec::new(),
        paper_id,
    }
}

fn sentence(text: &str, citations: &[usize], heading: &str, quote: Option<&str>) -> AnswerSentence {
    let quotes = quote.iter().zip(citations).map(|(text, number)| Quote {
        reference: Citation(*number),
        passage_id: PassageId { paper: PaperId::Pmid(1), ordinal: 0 },
        start: 0,
        end: text.chars().count(),
        text: (*text).to_owned(),
        places: vec![Place { start: 0, page: 7, bbox: None }],
    });
    AnswerSentence {
        text: text.to_owned(),
        heading: Some(heading.to_owned()),
        paragraph_start: false,
        citations: citations.iter().copied().map(Citation).collect(),
        support: None,
        quotes: quotes.collect(),
        gates: vec![Gate::L0],
        verbatim: false,
        role: None,
        follows: Vec::new(),
        study: Vec::new(),
    }
}

fn answer() -> Answer {
    let mut doubtful = sentence("A doubtful claim stands here.", &[2, 3], "Second & last", None);
    doubtful.support =
        Some(Support { verdict: Verdict::Unsupported, score: 0.1, judge: "test".to_owned() });
    let mut point = sentence("A point of a list.", &[1], "Second & last", Some("verbatim words"));
    (point.verbatim, point.paragraph_start) = (true, true);
    Answer {
        question: "Does it hold?".to_owned(),
        mode: AnswerMode::Evidence,
        abstained: false,
        sentences: vec![
            sentence("Cells grow 10⁻³ mm per day.", &[1], "First", Some(NASTY)),
            sentence(NASTY, &[2, 1], "First", Some("plain quotation")),
            sentence("Nothing is cited here.", &[], "First", None),
            sentence("A number nobody has.", &[9], "First", None),
            doubtful,
            point,
        ],
        references: vec![
            reference(
                1,
                "doi:10.1000/a_b",
                NASTY,
                &["Ada Lovelace", "Kurt Gödel"],
                Some("Nature & Co"),
            ),
            reference(
                2,
                "arxiv:2101.00001",
                "On “growth” of mRNA in R&D with BERT",
                &["Ludwig van Beethoven", "B C", "D E"],
                None,
            ),
            reference(
                3,
                "acl:2020.acl-main.1",
                "",
                &["World\u{a0}Health\u{a0}Organization"],
                Some("Proceedings of X"),
            ),
            reference(4, "pmid:7", "Never cited", &[], Some("漢字 Journal")),
        ],
        sections: Vec::new(),
        table: None,
        missing: Vec::new(),
        outline: None,
        tree: None,
    }
}

fn export(format: ExportFormat, style: &str) -> Vec<u8> {
    let answer = answer();
    let notices =
        [Notice::new(NoticeKind::Skipped, "one source <b> was skipped").with_hint("set a key")];
    let export = AnswerExport {
        title: NASTY,
        answer: &answer,
        notices: &notices,
        generated_by: "openscholar 0 · run x_1",
    };
    let style = CitationStyle::named(style).expect("a style");
    export::answer(&export, format, &style).expect("a document")
}

fn text(format: ExportFormat, style: &str) -> String {
    String::from_utf8(export(format, style)).expect("UTF-8")
}

/// What stands between `open` and `close`, wherever it does.
fn between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    text.split(open).skip(1).filter_map(|rest| rest.split(close).next()).collect()
}

/// Names, attributes and text of an XML file; fails where it is not well-formed.
fn xml(bytes: &[u8]) -> (Vec<(String, String, String)>, String) {
    let mut reader = Reader::from_str(std::str::from_utf8(bytes).expect("UTF-8"));
    reader.config_mut().check_end_names = true;
    let (mut attributes, mut text, mut depth) = (Vec::new(), String::new(), 0_i64);
    loop {
        match reader.read_event().expect("well-formed XML") {
            event @ (Event::Start(_) | Event::Empty(_)) => {
                depth += i64::from(matches!(event, Event::Start(_)));
                let (Event::Start(tag) | Event::Empty(tag)) = event else { continue };
                let name: String = tag.name().as_ref().to_owned();
                for attribute in tag.attributes() {
                    let attribute = attribute.expect("an attribute");
                    let key: String = attribute.key.as_ref().to_owned();
                    let value: String = attribute.value.into_owned();
                    attributes.push((name.clone(), key, value));
                }
            }
            Event::End(_) => depth -= 1,
            Event::Text(part) => text.push_str(&part),
            Event::GeneralRef(name) => {
                let known = [("amp", "&"), ("lt", "<"), ("gt", ">"), ("quot", "\""), ("#39", "'")];
                let found = known.iter().find(|(entity, _)| *entity == name.as_ref() as &str);
                text.push_str(found.expect("a known entity").1);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!(depth, 0, "every element is closed");
    (attributes, text)
}

#[test]
fn every_style_cites_and_lists() {
    for (name, _) in STYLES {
        let markdown = text(ExportFormat::Markdown, name);
        let anchors: BTreeSet<&str> = between(&markdown, "<a id=\"", "\"").into_iter().collect();
        assert_eq!(anchors.len(), 4, "{name}: uncited papers are listed too\n{markdown}");
        let targets = between(&markdown, "](#", ")");
        assert!(targets.len() >= 5, "{name}: citations are links\n{markdown}");
        assert!(targets.iter().all(|target| anchors.contains(target)), "{name}\n{markdown}");
        let marks = between(&markdown, "[^", "]");
        let notes: BTreeSet<&str> = marks.iter().copied().collect();
        assert!(notes.len() >= 3, "{name}");
        assert!(notes.iter().all(|note| markdown.contains(&format!("\n[^{note}]: "))), "{name}");
    }
    for (name, _) in STYLES {
        let markdown = text(ExportFormat::Markdown, name);
        let entry =
            markdown.lines().find(|line| line.starts_with("<a id=\"ref-2\">")).expect("an entry");
        assert!(entry.contains("Beethoven"), "{name}: authors are listed\n{entry}");
        assert!(entry.contains("mRNA in R\\&D with BERT"), "{name}: capitals stay\n{entry}");
        assert!(entry.contains("2002") && !entry.contains("und"), "{name}\n{entry}");
    }
    let numbered = text(ExportFormat::Markdown, "ieee");
    assert!(numbered.contains("per day [\\[1\\]](#ref-1).[^1]"), "{numbered}");
    assert!(numbered.contains("A number nobody has.\n"), "an unknown number is no citation");
    assert!(numbered.contains('†') && !numbered.contains("not supported by"), "{numbered}");
    let authors = text(ExportFormat::Markdown, "apa");
    assert!(
        authors.contains("Lovelace & Gödel, 2001") || authors.contains("Lovelace \\& Gödel, 2001"),
        "{authors}"
    );
    assert!(authors.contains("Beethoven et al., 2002"), "{authors}");
}

#[test]
fn html_is_whole_and_harmless() {
    for (name, _) in STYLES {
        let html = text(ExportFormat::Html, name);
        // Void elements of HTML as XML has them, so that a parser of XML can judge the rest.
        let body = html.replace("charset=\"utf-8\">", "charset=\"utf-8\"/>");
        let body = body.replace("initial-scale=1\">", "initial-scale=1\"/>");
        let body = body.replace("content=\"light dark\">", "content=\"light dark\"/>");
        let (attributes, text) = xml(body.trim_start_matches("<!DOCTYPE html>").as_bytes());
        let ids: Vec<&str> = attributes
            .iter()
            .filter(|(_, key, _)| key == "id")
            .map(|(_, _, id)| id.as_str())
            .collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len(), "{name}: ids are unique");
        for (tag, key, value) in &attributes {
            assert!(!key.starts_with("on") && tag != "script" && key != "src", "{tag} {key}");
            if key == "href" {
                let inside = value.strip_prefix('#').map(|id| unique.contains(id));
                assert!(inside.unwrap_or(value.starts_with("https://")), "{name}: {value}");
            }
        }
        assert!(text.contains("<script>alert('x')</script>"), "{name}: shown, not run");
        assert!(text.contains(", p. 7"), "{name}: pages are told");
        assert!(unique.contains("ref-4") && unique.contains("quote-3"), "{name}");
    }
}

/// The parts of a DOCX by name.
fn unpacked(docx: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(docx)).expect("an archive");
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).expect("a part");
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).expect("its bytes");
            (file.name().expect("a name").into_owned(), bytes)
        })
        .collect()
}

#[test]
fn docx_parts_fit_together() {
    for (name, _) in STYLES {
        let parts = unpacked(&export(ExportFormat::Docx, name));
        let values = |part: &str, tag: &str, key: &str| -> BTreeSet<String> {
            let (attributes, _) = xml(&parts[part]);
            let fits = attributes.into_iter().filter(|(t, k, _)| t == tag && k == key);
            fits.map(|(_, _, value)| value).collect()
        };
        let document = "word/document.xml";
        let bookmarks = values(document, "w:bookmarkStart", "w:name");
        let anchors = values(document, "w:hyperlink", "w:anchor");
        assert_eq!(bookmarks.len(), 4, "{name}");
        assert!(!anchors.is_empty() && anchors.is_subset(&bookmarks), "{name}: {anchors:?}");
        let notes = values("word/footnotes.xml", "w:footnote", "w:id");
        let marks = values(document, "w:footnoteReference", "w:id");
        assert!(marks.len() >= 3 && marks.is_subset(&notes), "{name}: {marks:?}");
        let styles = values("word/styles.xml", "w:style", "w:styleId");
        assert!(values(document, "w:pStyle", "w:val").is_subset(&styles), "{name}");
        let relations = values("word/_rels/document.xml.rels", "Relationship", "Id");
        assert!(values(document, "w:hyperlink", "r:id").is_subset(&relations), "{name}");
        let (_, text) = xml(&parts[document]);
        assert!(text.contains("<script>alert('x')</script>"), "{name}");
        for part in parts.keys().filter(|part| part.ends_with(".xml")) {
            xml(&parts[part]);
        }
    }
    let same = |style| export(ExportFormat::Docx, style);
    assert_eq!(same("apa"), same("apa"), "the same answer gives the same bytes");
}

/// Commands, groups and signs of a LaTeX document: a small judge of what an engine would refuse.
fn check_latex(tex: &str) {
    let (head, body) = tex.split_once("\\begin{document}").expect("a document");
    let (list, head) = head.split_once("\\end{filecontents*}").expect("a bibliography beside it");
    let found = library::read(LibraryFormat::Bibtex, list.as_bytes()).expect("a list");
    assert_eq!((found.entries.len(), found.skipped), (4, 0));
    let text = format!("{{{}{body}", between(head, "\\title{", "\\date").join(""));
    let keys: BTreeSet<&str> = between(body, "\\bibitem[", "\n")
        .iter()
        .filter_map(|item| item.rsplit_once("]{"))
        .map(|i| i.1.trim_end_matches('}'))
        .collect();
    let cited: Vec<&str> = ["\\cite{", "\\citep{", "\\citealp{"]
        .iter()
        .flat_map(|command| between(body, command, "}"))
        .flat_map(|keys| keys.split(','))
        .collect();
    assert_eq!(keys.len(), 4, "{keys:?}");
    assert!(cited.len() >= 3 && cited.iter().all(|key| keys.contains(key)), "{cited:?} {keys:?}");
    let mut open: Vec<&str> = Vec::new();
    for command in body.match_indices('\\').map(|(at, _)| &body[at + 1..]) {
        let name =
            |rest: &'static str| command.strip_prefix(rest).and_then(|r| r.split('}').next());
        if let Some(name) = name("begin{") {
            open.push(name);
        } else if let Some(name) = name("end{").filter(|name| *name != "document") {
            assert_eq!(open.pop(), Some(name));
        }
    }
    let (mut depth, mut chars) = (0_i64, text.chars().peekable());
    // A guarded character stands between braces behind its code points.
    let mut guarded = false;
    while let Some(c) = chars.next() {
        match c {
            '\\' => {
                let name: String =
                    std::iter::from_fn(|| chars.next_if(char::is_ascii_alphabetic)).collect();
                if name.is_empty() {
                    chars.next();
                }
                guarded |= name == "oschar";
                if matches!(name.as_str(), "url" | "href") {
                    // An address is not text.
                    while chars.next_if(|c| *c != '}').is_some() {}
                    chars.next();
                }
            }
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                assert!(depth >= 0, "a brace too many");
            }
            '%' => while chars.next_if(|c| *c != '\n').is_some() {},
            '#' | '&' | '$' => assert_eq!(c, '\\', "a bare sign"),
            '_' | '^' => assert_eq!(chars.peek(), Some(&'{'), "only inside of mathematics"),
            _ => assert!(c.is_ascii() || guarded, "{c:?} has no command"),
        }
    }
    assert_eq!(depth, 0, "every group is closed");
}

#[test]
fn latex_has_nothing_an_engine_refuses() {
    for (name, _) in STYLES {
        check_latex(&text(ExportFormat::Latex, name));
    }
}

#[test]
fn styles_of_ones_own() {
    let endless =
        CitationStyle::from_csl(include_bytes!("../data/nested.csl")).expect_err("a ring");
    assert_eq!(endless.kind, FormatErrorKind::TooLarge, "{endless}");
    let broken = CitationStyle::from_csl(b"<style><citation>").expect_err("no style");
    assert_eq!(broken.kind, FormatErrorKind::Malformed, "{broken}");
    let deep = format!("<style>{}", "<group>".repeat(100_000));
    assert_eq!(
        CitationStyle::from_csl(deep.as_bytes()).expect_err("too deep").kind,
        FormatErrorKind::TooLarge
    );
    let ring = include_str!("../data/nested.csl");
    let plain = ring.replace("macro=\"a\"/></macro>", "variable=\"title\"/></macro>");
    let own = CitationStyle::from_csl(plain.as_bytes()).expect("a style");
    assert_eq!(own.name(), "Round and round");
    // As the processor calls it, as the repository calls it, and whole.
    for name in ["karger", "karger-journals", "http://www.zotero.org/styles/karger-journals"] {
        assert!(CitationStyle::named(name).is_ok(), "{name}");
    }
    let unknown = CitationStyle::named("no such style").expect_err("unknown");
    assert!(unknown.hint.is_some_and(|hint| hint.contains("apa")));
}

/// A folder with every style's answer in `format`.
fn written(format: ExportFormat) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format.extension());
    fs_err::create_dir_all(&folder).expect("a folder");
    for (name, _) in STYLES {
        let file = folder.join(format!("{name}.{}", format.extension()));
        fs_err::write(file, export(format, name)).expect("a file");
    }
    folder
}

fn run_in(folder: &Path, program: &str, args: &[&str]) -> String {
    let done = Command::new(program).args(args).current_dir(folder).output().expect(program);
    let log = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{program} {args:?}: {log}");
    log
}

/// Whether `program` can be run here; says what is skipped when it cannot.
///
/// # Panics
/// When `OPENSCHOLAR_LATEX` is `required`, as in the checks, which install the compiler.
#[expect(clippy::print_stderr, reason = "a skipped test must be visible")]
#[expect(clippy::disallowed_methods, reason = "how the checks demand a compiler of tests")]
fn is_here(program: &str) -> bool {
    let run = Command::new(program).arg("--version").output();
    let is_here = run.is_ok_and(|output| output.status.success());
    if !is_here {
        let required = std::env::var("OPENSCHOLAR_LATEX").is_ok_and(|value| value == "required");
        assert!(!required, "OPENSCHOLAR_LATEX is required, and {program} is missing");
        eprintln!("skipped: there is no {program} here");
    }
    is_here
}

#[test]
fn pdflatex_compiles_every_style() {
    if !is_here("pdflatex") {
        return;
    }
    let folder = written(ExportFormat::Latex);
    for (name, _) in STYLES {
        let args = ["-halt-on-error", "-interaction=nonstopmode", &format!("{name}.tex")];
        run_in(&folder, "pdflatex", &args);
        // The second pass knows where references went.
        let log = run_in(&folder, "pdflatex", &args);
        let wrong = ["undefined", "Missing character"];
        assert!(!wrong.iter().any(|words| log.contains(words)), "{name}: {log}");
        assert!(folder.join(format!("{name}.pdf")).is_file(), "{name}");
    }
}
