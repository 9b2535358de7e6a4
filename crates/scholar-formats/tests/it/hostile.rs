//! Text made to be obeyed, in every format that answers and lists are written in: it is shown, and nothing of it has
//! become structure. What structure there may be is what the same document has with a harmless word.

use std::collections::BTreeSet;
use std::io::{Cursor, Read as _};

use pulldown_cmark::{Event, Options, Parser, Tag};
use quick_xml::Reader;
use quick_xml::events::Event as Xml;
use scholar_formats::export::{self, AnswerExport, CitationStyle, ExportFormat, ListFormat};
use scholar_formats::fragment;
use scholar_formats::library::{self, LibraryFormat};
use scholar_testing::hostile::{self, STRINGS, longest_run, obeyed};

/// Text that nobody obeys.
const HARMLESS: &str = "plain words";

/// Styles that cite by numbers and by names.
const SOME_STYLES: [&str; 2] = ["ieee", "apa"];

fn written(text: &str, format: ExportFormat, style: &str) -> Vec<u8> {
    let answer = hostile::answer(text);
    let notices = [hostile::notice(text)];
    let export = AnswerExport {
        title: text,
        answer: &answer,
        notices: &notices,
        generated_by: &format!("openscholar 0, {text}, run x"),
    };
    let style = CitationStyle::named(style).expect("a style");
    export::answer(&export, format, &style).expect("a document")
}

/// Tries every string in every style; `check` gets what was written of it, and says what is wrong.
fn every(format: ExportFormat, check: impl Fn(&str, &str, &str) -> Result<(), String>) {
    for style in SOME_STYLES {
        let plain = written(HARMLESS, format, style);
        let plain = String::from_utf8(plain).expect("UTF-8");
        for hostile in STRINGS {
            let document =
                String::from_utf8(written(&hostile.text(), format, style)).expect("UTF-8");
            assert!(obeyed(&document).is_empty(), "{}: {:?}", hostile.name, obeyed(&document));
            assert!(longest_run(&document) <= 30, "{}", hostile.name);
            let found = check(&document, &plain, hostile.name);
            assert_eq!(found, Ok(()), "{} in {style}\n{document}", hostile.name);
        }
    }
}

/// What a renderer of Markdown sees besides words, addresses that are not of this document cut to their scheme.
fn structure_of_markdown(text: &str) -> BTreeSet<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_MATH
        | Options::ENABLE_HEADING_ATTRIBUTES;
    Parser::new_ext(text, options)
        .filter_map(|event| {
            Some(match event {
                Event::Start(Tag::Link { dest_url, .. }) => {
                    let ours = dest_url.starts_with("#ref-");
                    let example = dest_url.starts_with("https://example.org/");
                    assert!(ours || example, "a link to {dest_url}");
                    "link".to_owned()
                }
                Event::Start(tag) => format!("{tag:?}").split(['(', '{']).next()?.to_owned(),
                Event::InlineHtml(html) | Event::Html(html) => {
                    html.chars().filter(|c| !c.is_ascii_digit()).collect()
                }
                Event::Code(_) | Event::InlineMath(_) | Event::DisplayMath(_) => "code".to_owned(),
                Event::TaskListMarker(_) => "task".to_owned(),
                _ => return None,
            })
        })
        .collect()
}

#[test]
fn markdown_has_the_structure_of_ours_alone() {
    every(ExportFormat::Markdown, |document, plain, _| {
        let (found, ours) = (structure_of_markdown(document), structure_of_markdown(plain));
        let foreign: Vec<&String> = found.difference(&ours).collect();
        // How a style writes a name or a title decides about emphasis.
        let foreign: Vec<&&String> =
            foreign.iter().filter(|tag| !["Emphasis", "link"].contains(&tag.as_str())).collect();
        if foreign.is_empty() { Ok(()) } else { Err(format!("{foreign:?} beside {ours:?}")) }
    });
}

/// Names of elements and attributes, and where addresses lead; fails where it is not well-formed.
fn structure_of_xml(text: &str) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    loop {
        match reader.read_event().map_err(|error| error.to_string())? {
            Xml::Eof => return Ok(found),
            Xml::Start(tag) | Xml::Empty(tag) => {
                let name: String = tag.name().as_ref().to_owned();
                for attribute in tag.attributes() {
                    let attribute = attribute.map_err(|error| error.to_string())?;
                    let key: String = attribute.key.as_ref().to_owned();
                    let value: String = attribute.value.into_owned();
                    let leads = ["href", "Target"].contains(&key.as_str());
                    if leads && value.contains(':') && !value.starts_with("https://example.org/") {
                        return Err(format!("{key} leads to {value}"));
                    }
                    found.insert(format!("{name} {key}"));
                }
                found.insert(name);
            }
            Xml::Comment(_) | Xml::CData(_) | Xml::PI(_) => return Err("a comment or more".into()),
            _ => {}
        }
    }
}

#[test]
fn html_has_the_elements_of_ours_alone() {
    // Void elements of HTML as XML has them.
    let closed = |html: &str| {
        let mut html = html.replace("<!DOCTYPE html>", "");
        for end in ["charset=\"utf-8\">", "initial-scale=1\">", "content=\"light dark\">"] {
            html = html.replace(end, &end.replace('>', "/>"));
        }
        html
    };
    every(ExportFormat::Html, |document, plain, _| {
        let ours = structure_of_xml(&closed(plain))?;
        let found = structure_of_xml(&closed(document))?;
        // Looks that a style gives or not, and a link at an entry's end where its text has none.
        let looks = ["i", "b", "span class", "a href", "a", "sup", "sub"];
        let foreign: Vec<&String> =
            found.difference(&ours).filter(|one| !looks.contains(&one.as_str())).collect();
        if foreign.is_empty() { Ok(()) } else { Err(format!("{foreign:?}")) }
    });
}

#[test]
fn docx_opens_and_leads_nowhere_else() {
    for hostile in STRINGS {
        let docx = written(&hostile.text(), ExportFormat::Docx, "ieee");
        let mut archive = zip::ZipArchive::new(Cursor::new(docx)).expect("an archive");
        for at in 0..archive.len() {
            let mut xml = String::new();
            let mut part = archive.by_index(at).expect("a part");
            part.read_to_string(&mut xml).expect("UTF-8");
            assert!(obeyed(&xml).is_empty(), "{}: {:?}", hostile.name, obeyed(&xml));
            let links = part.name().is_ok_and(|name| name.ends_with("document.xml.rels"));
            let structure = structure_of_xml(&xml);
            let known = structure.as_ref().err().is_some_and(|wrong| wrong.contains("purl.org"));
            assert!(structure.is_ok() || known, "{}: {structure:?}", hostile.name);
            let external = xml.matches("TargetMode").count();
            assert!(!links || external == xml.matches("Target=\"https://example.org/").count());
        }
    }
}

#[test]
fn latex_obeys_nothing_of_it() {
    let commands = |tex: &str| -> BTreeSet<String> {
        tex.split('\\')
            .skip(1)
            .map(|rest| rest.chars().take_while(char::is_ascii_alphabetic).collect())
            .collect()
    };
    every(ExportFormat::Latex, |document, plain, _| {
        let ours = commands(plain);
        let foreign: Vec<String> = commands(document)
            .into_iter()
            .filter(|name| !ours.contains(name) && !name.starts_with("text"))
            .filter(|name| !["oschar", "ensuremath", "url", "href", ""].contains(&name.as_str()))
            // Accents of letters, and signs of mathematics.
            .filter(|name| name.len() > 1 && name != "sim")
            .collect();
        if !foreign.is_empty() {
            return Err(format!("commands {foreign:?}"));
        }
        if document.contains("^^") || document.matches("\\end{document}").count() != 1 {
            return Err("characters by their codes, or a second end".to_owned());
        }
        let bare = document.replace("\\{", "").replace("\\}", "");
        let mut depth = 0_i64;
        for c in bare.chars() {
            depth += i64::from(c == '{') - i64::from(c == '}');
            if depth < 0 {
                return Err("a brace too many".to_owned());
            }
        }
        if depth == 0 { Ok(()) } else { Err("a group is open".to_owned()) }
    });
}

#[test]
fn lists_come_back_with_as_many_papers() {
    let papers = hostile::papers();
    for (format, read_as) in [
        (ListFormat::Ris, LibraryFormat::Ris),
        (ListFormat::Bibtex, LibraryFormat::Bibtex),
        (ListFormat::CslJson, LibraryFormat::CslJson),
    ] {
        for paper in &papers {
            let text = export::papers([paper], format);
            let id = &paper.meta.id;
            assert!(obeyed(&text).is_empty(), "{id} {format:?}: {:?}", obeyed(&text));
            let list = library::read(read_as, text.as_bytes())
                .unwrap_or_else(|error| panic!("{id} {format:?}: {error}\n{text}"));
            assert_eq!((list.entries.len(), list.skipped), (1, 0), "{id} {format:?}\n{text}");
            let read = &list.entries[0].paper.meta;
            let title = &read.title;
            assert!(title.contains(hostile::WORD), "{id} {format:?}: {title:?}\n{text}");
            assert!(read.year == Some(2020), "{id} {format:?}\n{text}");
        }
        let all = export::papers(&papers, format);
        let list = library::read(read_as, all.as_bytes()).expect("a list");
        assert_eq!((list.entries.len(), list.skipped), (papers.len(), 0), "{format:?}");
    }
}

/// What a model wrote is shown on a page with the looks it asked for, and can do nothing but be read.
#[test]
fn fragments_of_pages_do_nothing() {
    const KNOWN: [&str; 24] = [
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "pre",
        "code",
        "ol",
        "ul",
        "li",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "em",
        "strong",
        "del",
        "a",
        "br",
        "hr",
    ];
    for hostile in STRINGS {
        let html = fragment::html(&hostile.text(), &|_| None);
        assert!(obeyed(&html).is_empty(), "{}: {:?}", hostile.name, obeyed(&html));
        for tag in html.split('<').skip(1) {
            let (tag, _) = tag.split_once('>').expect("every element is closed");
            let name = tag.trim_start_matches('/').split(' ').next().unwrap_or_default();
            assert!(KNOWN.contains(&name), "{}: {name}\n{html}", hostile.name);
            let attributes: String = tag.split('"').step_by(2).collect();
            assert!(!attributes.contains(" on"), "{}: {tag}", hostile.name);
        }
        assert!(!html.contains("href=\"javascript"), "{}", hostile.name);
    }
}
