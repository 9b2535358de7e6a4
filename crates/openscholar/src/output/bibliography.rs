//! References for reference managers: BibTeX, RIS and CSL-JSON.

use std::collections::HashSet;
use std::fmt::Write as _;

use scholar_core::text::words;
use scholar_core::{PaperId, Reference};
use serde_json::{Value, json};

/// One `@article`, `@inproceedings` or `@misc` per reference, keys unique.
pub(crate) fn bibtex(references: &[Reference]) -> String {
    let mut keys = HashSet::new();
    let mut text = String::new();
    for reference in references {
        let key = unique_key(reference, &mut keys);
        let kind = match entry_kind(reference) {
            "paper-conference" => "inproceedings",
            "article-journal" => "article",
            _ => "misc",
        };
        let venue_field = if kind == "inproceedings" { "booktitle" } else { "journal" };
        let fields = [
            ("title", Some(format!("{{{}}}", escape_bibtex(&reference.title)))),
            ("author", join_authors(reference).map(|authors| escape_bibtex(&authors))),
            ("year", reference.year.map(|year| year.to_string())),
            (venue_field, reference.venue.as_deref().map(escape_bibtex)),
            ("doi", reference.doi.clone()),
            ("url", reference.url.clone()),
            ("note", Some(escape_bibtex(&reference.paper_id.to_string()))),
        ];
        let body: Vec<String> = fields
            .into_iter()
            .filter_map(|(name, value)| value.map(|value| format!("  {name} = {{{value}}}")))
            .collect();
        // Writing to a string cannot fail.
        let _infallible = write!(text, "@{kind}{{{key},\n{}\n}}\n\n", body.join(",\n"));
    }
    text.trim_end().to_owned()
}

/// One RIS record per reference.
pub(crate) fn ris(references: &[Reference]) -> String {
    let mut lines = Vec::new();
    for reference in references {
        let kind = match entry_kind(reference) {
            "paper-conference" => "CPAPER",
            "article-journal" => "JOUR",
            _ => "GEN",
        };
        lines.push(format!("TY  - {kind}"));
        lines.push(format!("TI  - {}", one_line(&reference.title)));
        lines.extend(reference.authors.iter().map(|author| format!("AU  - {}", inverted(author))));
        lines.extend(reference.year.map(|year| format!("PY  - {year}")));
        lines.extend(reference.venue.as_ref().map(|venue| format!("T2  - {}", one_line(venue))));
        lines.extend(reference.doi.as_ref().map(|doi| format!("DO  - {doi}")));
        lines.extend(reference.url.as_ref().map(|url| format!("UR  - {url}")));
        lines.push(format!("ID  - {}", reference.paper_id));
        lines.push("ER  - ".to_owned());
        lines.push(String::new());
    }
    lines.join("\r\n").trim_end().to_owned()
}

/// A CSL-JSON array.
pub(crate) fn csl(references: &[Reference]) -> Value {
    references
        .iter()
        .map(|reference| {
            let authors: Vec<Value> = reference
                .authors
                .iter()
                .map(|author| match split_name(author) {
                    Some((given, family)) => json!({"family": family, "given": given}),
                    None => json!({"literal": author}),
                })
                .collect();
            let mut item = json!({
                "id": reference.paper_id.to_string(),
                "type": entry_kind(reference),
                "title": reference.title,
                "author": authors,
            });
            let mut set = |name: &str, value: Option<Value>| {
                if let Some(value) = value {
                    item[name] = value;
                }
            };
            set("issued", reference.year.map(|year| json!({"date-parts": [[year]]})));
            set("container-title", reference.venue.as_ref().map(|venue| json!(venue)));
            set("DOI", reference.doi.as_ref().map(|doi| json!(doi)));
            set("URL", reference.url.as_ref().map(|url| json!(url)));
            item
        })
        .collect()
}

/// CSL type, from the registry and the venue's own words.
fn entry_kind(reference: &Reference) -> &'static str {
    let venue = reference.venue.as_deref().unwrap_or("").to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| venue.contains(word));
    match reference.paper_id {
        PaperId::Acl(_) => "paper-conference",
        _ if says(&["proceedings", "conference", "workshop", "symposium"]) => "paper-conference",
        _ if venue.is_empty() || venue.starts_with("arxiv") => "article",
        _ => "article-journal",
    }
}

fn unique_key(reference: &Reference, keys: &mut HashSet<String>) -> String {
    let family = reference
        .authors
        .first()
        .and_then(|author| author.split_whitespace().last())
        .unwrap_or("anon");
    let word = words::words(&reference.title)
        .into_iter()
        .find(|word| word.len() > 3 && !words::is_stop_word(word));
    let year = reference.year.map(|year| year.to_string()).unwrap_or_default();
    let base: String = format!("{family}{year}{}", word.unwrap_or_default())
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    let mut key = base.clone();
    let mut suffix = 'b';
    while !keys.insert(key.clone()) {
        key = format!("{base}{suffix}");
        suffix = char::from_u32(u32::from(suffix) + 1).unwrap_or('b');
    }
    key
}

fn join_authors(reference: &Reference) -> Option<String> {
    (!reference.authors.is_empty()).then(|| reference.authors.join(" and "))
}

fn escape_bibtex(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '{' | '}' | '%' | '&' | '#' | '_' | '$' => {
                escaped.push('\\');
                escaped.push(c);
            }
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '\n' | '\r' | '\t' => escaped.push(' '),
            _ => escaped.push(c),
        }
    }
    escaped
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `Family, Given` where the name has both.
fn inverted(author: &str) -> String {
    split_name(author)
        .map_or_else(|| one_line(author), |(given, family)| format!("{family}, {given}"))
}

/// Given names and family name of `Given Family` or `Family, Given`.
fn split_name(author: &str) -> Option<(String, String)> {
    if let Some((family, given)) = author.split_once(',') {
        return Some((one_line(given), one_line(family)));
    }
    let words: Vec<&str> = author.split_whitespace().collect();
    let (family, given) = words.split_last()?;
    (!given.is_empty()).then(|| (given.join(" "), (*family).to_owned()))
}

#[cfg(test)]
mod tests {
    use scholar_core::Citation;

    use super::*;

    fn reference(number: usize) -> Reference {
        Reference {
            number: Citation(number),
            paper_id: PaperId::Acl("2020.acl-main.1".to_owned()),
            title: "R&D of 50% {better} models_now".to_owned(),
            authors: vec!["Ada B. Lovelace".to_owned(), "Turing, Alan".to_owned()],
            year: Some(2020),
            venue: Some("ACL".to_owned()),
            url: Some("https://aclanthology.org/2020.acl-main.1/".to_owned()),
            doi: None,
            found_by: Vec::new(),
        }
    }

    #[test]
    fn bibtex_escapes_and_keeps_keys_apart() {
        let text = bibtex(&[reference(1), reference(2)]);
        assert!(text.contains("@inproceedings{lovelace2020better,"), "{text}");
        assert!(text.contains("@inproceedings{lovelace2020betterb,"), "{text}");
        assert!(text.contains(r"R\&D of 50\% \{better\} models\_now"), "{text}");
        assert!(text.contains("author = {Ada B. Lovelace and Turing, Alan}"), "{text}");
    }

    #[test]
    fn ris_and_csl_split_names() {
        let text = ris(&[reference(1)]);
        assert!(text.contains("AU  - Lovelace, Ada B.\r\nAU  - Turing, Alan"), "{text}");
        assert!(text.ends_with("ER  -"), "{text}");
        let items = csl(&[reference(1)]);
        assert_eq!(items[0]["author"][1], json!({"family": "Turing", "given": "Alan"}));
        assert_eq!(items[0]["type"], "paper-conference");
    }
}
