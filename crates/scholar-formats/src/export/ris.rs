//! RIS: read by every reference manager.

use scholar_core::PaperId;
use scholar_core::text::untrusted;

use super::item::{Item, Kind};
use crate::names::Name;

/// One record per item; lines end in CRLF, as the format has it.
pub(crate) fn write(items: &[Item]) -> String {
    let mut records = String::new();
    for item in items {
        let mut lines = Vec::new();
        let kind = match item.kind() {
            Kind::Conference => "CPAPER",
            Kind::Article => "JOUR",
            Kind::Preprint => "GEN",
        };
        lines.push(format!("TY  - {kind}"));
        if !item.title.is_empty() {
            lines.push(format!("TI  - {}", item.title));
        }
        lines.extend(item.authors.iter().map(|name| format!("AU  - {}", author(name))));
        lines.extend(item.year.map(|year| format!("PY  - {year}")));
        lines.extend(item.published.map(|day| format!("DA  - {}", day.strftime("%Y/%m/%d/"))));
        lines.extend(item.venue.as_ref().map(|venue| format!("T2  - {venue}")));
        lines.extend(item.doi().map(|doi| format!("DO  - {doi}")));
        for id in &item.ids {
            match id {
                PaperId::Pmcid(number) => lines.push(format!("C2  - PMC{number}")),
                PaperId::Doi(_) | PaperId::Local(_) => {}
                // The address of the registry is the one place that every reader keeps; the note is for the others.
                _ => lines.push(format!("N1  - {}", super::note_line(id))),
            }
        }
        lines.extend(item.link().map(|url| format!("UR  - {url}")));
        if item.retracted {
            lines.push("N1  - Retracted".to_owned());
        }
        lines.extend(item.abstract_text.as_ref().map(|text| format!("AB  - {text}")));
        lines.push(format!("ID  - {}", item.id));
        lines.push("ER  - ".to_owned());
        // A value that brought a line break would begin a field of its own, or end the record.
        for line in lines {
            records.push_str(&one_field(&line));
            records.push_str("\r\n");
        }
        records.push_str("\r\n");
    }
    records
}

/// A tag of six characters and its value on one line; spaces of a name that is whole are no-break ones, and stay.
fn one_field(line: &str) -> String {
    untrusted(line).line().to_string()
}

fn author(name: &Name) -> String {
    match (&name.given, &name.suffix) {
        // The comma alone keeps a name of several words whole.
        (None, _) => name.family.replace(' ', "\u{a0}"),
        (Some(given), None) => format!("{}, {given}", name.family),
        (Some(given), Some(suffix)) => format!("{}, {given}, {suffix}", name.family),
    }
}
