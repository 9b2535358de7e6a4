//! Whole papers: `LaTeXML`'s HTML, PDF files, and GROBID's TEI.

use scholar_core::text::untrusted::escape_html;

use super::exchange::{Reply, Request};
use super::world::{World, WorldPaper};

/// What marks our PDFs for our GROBID.
const MARK: &str = "% stand-in: ";

pub(super) fn html(world: &World, request: &Request<'_>) -> Reply {
    let id = request.path.strip_prefix("/html/").unwrap_or_default();
    let id = id.split('v').next().unwrap_or(id);
    let found = world.papers.iter().find(|work| work.arxiv.as_deref() == Some(id));
    let Some(work) = found.filter(|work| !work.sections.is_empty()) else {
        return Reply::new(
            404,
            "text/html; charset=utf-8",
            "<!DOCTYPE html><html><title>Not found</title></html>",
        );
    };
    let sections: String = (1..)
        .zip(&work.sections)
        .map(|(at, part)| {
            format!(
                "<section id=\"S{at}\" class=\"ltx_section\"><h2 class=\"ltx_title ltx_title_section\"><span class=\"ltx_tag ltx_tag_section\">{at} </span>{}</h2>\n<div id=\"S{at}.p1\" class=\"ltx_para\">\n<p id=\"S{at}.p1.1\" class=\"ltx_p\">{}</p>\n</div></section>\n",
                escape_html(&part.heading),
                escape_html(&part.text)
            )
        })
        .collect();
    let cited = work.references.iter().filter_map(|key| world.get(key));
    let references: String = (1..)
        .zip(cited)
        .map(|(at, cited)| {
            format!("<li id=\"bib.bib{at}\" class=\"ltx_bibitem\"><span class=\"ltx_tag ltx_tag_bibitem\">[{at}]</span><span class=\"ltx_bibblock\">{}</span></li>", escape_html(&cited.title))
        })
        .collect();
    Reply::html(format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>[{id}] {title}</title></head><body><div class=\"ltx_page_main\"><div class=\"ltx_page_content\"><article class=\"ltx_document\">\n<h1 class=\"ltx_title ltx_title_document\">{title}</h1>\n<div class=\"ltx_abstract\">\n<h6 class=\"ltx_title ltx_title_abstract\">Abstract</h6>\n<p class=\"ltx_p\">{summary}</p>\n</div>\n{sections}<section id=\"bib\" class=\"ltx_bibliography\"><h2 class=\"ltx_title ltx_title_bibliography\">References</h2><ul class=\"ltx_biblist\">{references}</ul></section>\n</article></div></div></body></html>\n",
        title = escape_html(&work.title),
        summary = escape_html(work.summary.as_deref().unwrap_or_default()),
    ))
}

pub(super) fn pdf(world: &World, request: &Request<'_>) -> Reply {
    let key = request.path.trim_start_matches('/').trim_end_matches(".pdf");
    match world.get(key) {
        Some(work) => Reply::new(200, "application/pdf", one_page(work)),
        None => Reply::new(404, "text/html", "<html><title>404</title></html>"),
    }
}

/// A PDF of one page with title and abstract, one line each.
fn one_page(work: &WorldPaper) -> Vec<u8> {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    let lines = [work.title.as_str(), work.summary.as_deref().unwrap_or_default()];
    let shown: String = lines.iter().map(|line| format!("({}) Tj T*\n", quoted(line))).collect();
    let content = format!("BT /F1 12 Tf 14 TL 72 720 Td\n{shown}ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>".to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let mut file = format!("%PDF-1.4\n{MARK}{}\n", work.key);
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (number, object) in (1..).zip(&objects) {
        table.push_str(&entry(file.len()));
        file.push_str(&[&format!("{number} 0 obj\n"), object.as_str(), "\nendobj\n"].concat());
    }
    let start = file.len();
    let trailer = format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        objects.len() + 1
    );
    [file, table, trailer].concat().into_bytes()
}

fn entry(offset: usize) -> String {
    format!("{offset:010} 00000 n \n")
}

pub(super) fn grobid(world: &World, request: &Request<'_>) -> Reply {
    match (request.method, request.path) {
        ("GET", "/api/isalive") => Reply::new(200, "text/plain", "true"),
        ("POST", "/api/processFulltextDocument") => {
            let text = String::from_utf8_lossy(request.body);
            let key = text.split(MARK).nth(1).and_then(|rest| rest.lines().next());
            match key.and_then(|key| world.get(key.trim())) {
                Some(work) => Reply::new(200, "application/xml; charset=UTF-8", tei(world, work)),
                None => {
                    Reply::new(500, "text/plain", "[BAD_INPUT_DATA] PDF to XML conversion failed")
                }
            }
        }
        _ => Reply::new(404, "text/plain", "HTTP 404 Not Found"),
    }
}

/// Headings are numbered in papers of arXiv and not in others; a paper without sections has an empty body.
fn tei(world: &World, work: &WorldPaper) -> String {
    let sections: String = (1..)
        .zip(&work.sections)
        .map(|(at, part)| {
            let number = if work.arxiv.is_some() { format!(" n=\"{at}\"") } else { String::new() };
            format!("<div xmlns=\"http://www.tei-c.org/ns/1.0\"><head{number}>{}</head><p>{}</p></div>\n", escape_html(&part.heading), escape_html(&part.text))
        })
        .collect();
    let author = |name: &String| {
        let (given, family) = WorldPaper::split_name(name);
        format!(
            "<author><persName><forename type=\"first\">{}</forename><surname>{}</surname></persName></author>",
            escape_html(given),
            escape_html(family)
        )
    };
    let authors: String = work.authors.iter().map(author).collect();
    let cited = work.references.iter().filter_map(|key| world.get(key)).enumerate();
    let references: String = cited
        .map(|(at, cited)| {
            let doi = cited.doi.as_ref().map(|doi| format!("<idno type=\"DOI\">{}</idno>", escape_html(doi)));
            format!("<biblStruct xml:id=\"b{at}\"><analytic><title level=\"a\" type=\"main\">{}</title>{}</analytic><monogr/></biblStruct>", escape_html(&cited.title), doi.unwrap_or_default())
        })
        .collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<TEI xml:space=\"preserve\" xmlns=\"http://www.tei-c.org/ns/1.0\"><teiHeader xml:lang=\"en\"><fileDesc><titleStmt><title level=\"a\" type=\"main\">{title}</title></titleStmt><sourceDesc><biblStruct><analytic>{authors}<title level=\"a\" type=\"main\">{title}</title></analytic></biblStruct></sourceDesc></fileDesc><profileDesc><abstract><p>{summary}</p></abstract></profileDesc></teiHeader><text xml:lang=\"en\"><body>{sections}</body><back><div type=\"references\"><listBibl>{references}</listBibl></div></back></text></TEI>\n",
        title = escape_html(&work.title),
        summary = escape_html(work.summary.as_deref().unwrap_or_default()),
    )
}

/// A page of the asked status, for checks of addresses: `/404`; redirects lead to `/200`. `/no-head` answers only `GET`, `/soft-404` says
/// with a status of success that there is nothing.
pub(super) fn link(request: &Request<'_>) -> Reply {
    let page = |status, text: &str| {
        Reply::new(status, "text/html", format!("<html><title>A page</title><p>{text}</p></html>"))
    };
    match request.path.trim_start_matches('/') {
        "no-head" if request.method == "HEAD" => page(405, ""),
        "no-head" => page(206, "There."),
        "soft-404" => page(200, "Sorry, the page cannot be found."),
        path => match path.parse().unwrap_or(404) {
            status @ 300..400 => page(status, "").with_header("location", "/link/200"),
            status => page(status, "Words of a page."),
        },
    }
}
