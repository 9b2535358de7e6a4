//! `BibTeX`: read by LaTeX and by every reference manager.

use std::fmt::Write as _;

use scholar_core::PaperId;

use super::item::{Item, Kind, keys};
use crate::latex::encode::{field, text as latex};
use crate::library::filed_first;
use crate::names::Name;

/// One entry per item. Letters stay UTF-8; titles stand in two pairs of braces, which keep their capitals.
pub(crate) fn write(items: &[Item]) -> String {
    written(items, field)
}

/// The same for a LaTeX document beside it: letters outside of ASCII as its commands, so that every engine prints them.
pub(crate) fn write_for_latex(items: &[Item]) -> String {
    written(items, latex)
}

/// How text is written.
type Encode = fn(&str) -> String;

fn written(items: &[Item], encode: Encode) -> String {
    let mut text = String::new();
    for (item, key) in items.iter().zip(keys(items)) {
        let kind = match item.kind() {
            Kind::Conference => "inproceedings",
            Kind::Article => "article",
            Kind::Preprint => "misc",
        };
        let body: Vec<String> = fields(item, encode)
            .into_iter()
            .filter_map(|(name, value)| Some(format!("  {name} = {{{}}}", value?)))
            .collect();
        // Writing to a string cannot fail.
        let _infallible = write!(text, "@{kind}{{{key},\n{}\n}}\n\n", body.join(",\n"));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

fn fields(item: &Item, encode: Encode) -> Vec<(&'static str, Option<String>)> {
    let venue = match item.kind() {
        Kind::Conference => "booktitle",
        Kind::Article => "journal",
        Kind::Preprint => "howpublished",
    };
    let authors: Vec<String> = item.authors.iter().map(|name| author(name, encode)).collect();
    let mut fields = vec![
        (
            "title",
            Some(item.title.as_str())
                .filter(|t| !t.is_empty())
                .map(|t| format!("{{{}}}", encode(t))),
        ),
        ("author", (!authors.is_empty()).then(|| authors.join(" and "))),
        ("year", item.year.map(|year| year.to_string())),
        ("date", item.published.map(|day| day.to_string())),
        (venue, item.venue.as_deref().map(encode)),
    ];
    for id in &item.ids {
        match id {
            PaperId::Doi(doi) => fields.push(("doi", Some(field(doi)))),
            PaperId::Arxiv(number) => {
                fields.push(("eprint", Some(number.clone())));
                fields.push(("eprinttype", Some("arxiv".to_owned())));
                fields.push(("archiveprefix", Some("arXiv".to_owned())));
            }
            PaperId::Pmid(number) => fields.push(("pmid", Some(number.to_string()))),
            PaperId::Pmcid(number) => fields.push(("pmcid", Some(format!("PMC{number}")))),
            PaperId::CorpusId(number) => fields.push(("corpusid", Some(number.to_string()))),
            PaperId::OpenAlex(number) => fields.push(("openalex", Some(format!("W{number}")))),
            PaperId::Acl(name) => fields.push(("aclid", Some(field(name)))),
            PaperId::Local(_) => {}
        }
    }
    fields.push(("url", item.link().as_deref().map(field)));
    fields.push(("note", item.retracted.then(|| "Retracted".to_owned())));
    fields.push(("abstract", item.abstract_text.as_deref().map(encode)));
    // Only where a reader would file it under another identifier.
    let other = filed_first(&item.ids) != Some(&item.id) || matches!(item.id, PaperId::Local(_));
    fields.push(("openscholar-id", other.then(|| field(&item.id.to_string()))));
    fields
}

/// `Family, Suffix, Given`, or the whole name in braces.
fn author(name: &Name, encode: Encode) -> String {
    let family = encode(&name.family);
    match (&name.given, &name.suffix) {
        (None, _) => format!("{{{family}}}"),
        (Some(given), None) => format!("{}, {}", protected(&family), protected(&encode(given))),
        (Some(given), Some(suffix)) => {
            format!("{}, {}, {}", protected(&family), encode(suffix), protected(&encode(given)))
        }
    }
}

/// Braces around what would be taken for a separator.
fn protected(part: &str) -> String {
    let separates =
        |word: &str| word.eq_ignore_ascii_case("and") || word.eq_ignore_ascii_case("others");
    if part.contains(',') || part.split(char::is_whitespace).any(separates) {
        format!("{{{part}}}")
    } else {
        part.to_owned()
    }
}
