//! What a JATS article says about itself.

use scholar_core::{Notice, NoticeKind, PaperId, Retraction};

use super::super::dates::{StatedDate, day, month, year};
use super::super::draft::Draft;
use super::super::licences;
use super::super::tree::Element;
use super::body;

/// Kinds of dates in `pub-date` that are not the day the paper appeared.
const NOT_PUBLICATION: [&str; 8] = [
    "received",
    "accepted",
    "rev-recd",
    "retract",
    "correct",
    "update",
    "pmc-release",
    "submitted",
];

/// Fills in the metadata.
pub(super) fn read(article: Element<'_>, draft: &mut Draft) {
    let Some(front) = article.first("front").or_else(|| article.first("front-stub")) else {
        return;
    };
    let meta = front.first("article-meta").unwrap_or(front);
    draft.title = title(meta);
    draft.authors = authors(meta);
    draft.venue = venue(front);
    for id in meta.all("article-id") {
        if let Some(id) =
            article_id(id.attribute("pub-id-type").unwrap_or_default(), &id.raw_text())
        {
            draft.id(id);
        }
    }
    draft.dates = meta.all("pub-date").filter_map(date).collect();
    draft.licence = meta.first("permissions").and_then(licence);
    retraction(article, meta, draft);
}

fn title(meta: Element<'_>) -> String {
    let Some(group) = meta.first("title-group") else { return String::new() };
    let mut title = group.first("article-title").map(body::text).unwrap_or_default();
    if let Some(subtitle) = group.first("subtitle").map(body::text).filter(|text| !text.is_empty())
    {
        let joint = if title.ends_with([':', '?', '!', '.']) { " " } else { ": " };
        title.push_str(joint);
        title.push_str(&subtitle);
    }
    title
}

fn authors(meta: Element<'_>) -> Vec<String> {
    let contributors =
        meta.all("contrib-group").flat_map(|group| group.all("contrib").collect::<Vec<_>>());
    contributors
        .filter(|contributor| {
            contributor
                .attribute("contrib-type")
                .is_none_or(|kind| kind.starts_with("author") || kind == "group")
        })
        .filter_map(author)
        .collect()
}

fn author(contributor: Element<'_>) -> Option<String> {
    let around = contributor.first("name-alternatives").unwrap_or(contributor);
    let named = around.elements().find(|child| child.is_any(&["name", "string-name", "collab"]))?;
    Some(person(named)).filter(|name| !name.is_empty())
}

/// A name with the given names first.
pub(super) fn person(name: Element<'_>) -> String {
    let part = |key| name.first(key).map(body::text).filter(|text| !text.is_empty());
    match (name.name(), part("surname")) {
        ("name" | "string-name", Some(surname)) => {
            let parts = [part("given-names"), Some(surname), part("suffix")];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        _ => body::text_without(name, &["contrib-group", "xref", "aff", "address"]),
    }
}

fn venue(front: Element<'_>) -> Option<String> {
    let journal = front.first("journal-meta")?;
    let around = journal.first("journal-title-group").unwrap_or(journal);
    around.first("journal-title").map(body::text)
}

/// The identifier of an `article-id` or `pub-id`, by its type; a version behind a PMC id goes.
pub(super) fn article_id(kind: &str, value: &str) -> Option<PaperId> {
    let value = value.trim();
    let digits = |text: &str| text.parse::<u64>().ok();
    match kind.to_ascii_lowercase().as_str() {
        "doi" => PaperId::doi(value).ok(),
        "pmid" => digits(value).map(PaperId::Pmid),
        "pmc" | "pmcid" | "pmcaid" if kind != "pmcaid" => {
            let bare = value.trim_start_matches(|c: char| c.is_ascii_alphabetic());
            digits(bare.split('.').next().unwrap_or(bare)).map(PaperId::Pmcid)
        }
        "arxiv" => PaperId::arxiv(value).ok(),
        _ => None,
    }
}

fn date(element: Element<'_>) -> Option<StatedDate> {
    let kind = element
        .attribute("date-type")
        .or_else(|| element.attribute("pub-type"))
        .unwrap_or_default();
    if NOT_PUBLICATION.iter().any(|other| kind.contains(other)) {
        return None;
    }
    if let Some(date) = element.attribute("iso-8601-date").and_then(StatedDate::iso) {
        return Some(date);
    }
    let part = |key| element.first(key).map(Element::raw_text);
    let year = year(&part("year")?)?;
    let month = part("month").as_deref().and_then(month);
    let day = month.and(part("day").as_deref().and_then(day));
    Some(StatedDate { year, month, day })
}

fn licence(permissions: Element<'_>) -> Option<String> {
    let mut stated = None;
    for licence in permissions.all("license") {
        let inside = licence.descendants().filter_map(|element| {
            let text = (element.name() == "license_ref").then(|| element.raw_text());
            element.attribute("href").map(str::to_owned).or(text)
        });
        let addresses: Vec<String> =
            licence.attribute("href").map(str::to_owned).into_iter().chain(inside).collect();
        if let Some(name) = addresses.iter().find_map(|address| licences::by_address(address)) {
            return Some(name);
        }
        let text = body::text(licence);
        stated = stated.or_else(|| licences::by_text(&text));
    }
    stated.or_else(|| {
        permissions
            .first("copyright-statement")
            .and_then(|text| licences::by_text(&body::text(text)))
    })
}

/// What the article says of its own standing. A notice of retraction speaks of another paper, which only a notice here
/// can say.
fn retraction(article: Element<'_>, meta: Element<'_>, draft: &mut Draft) {
    let kind = article.attribute("article-type").unwrap_or_default();
    let related = || meta.all("related-article").chain(meta.all("related-object"));
    let says = |words: &[&str]| {
        related().any(|other| {
            other.attribute("related-article-type").is_some_and(|kind| words.contains(&kind))
        })
    };
    let title = draft.title.to_lowercase();
    if kind == "retracted-article"
        || says(&["retraction-forward", "retraction"])
        || title.starts_with("retracted:")
        || title.starts_with("retracted article:")
        || title.starts_with("[retracted]")
    {
        draft.retraction = Retraction::Retracted;
    } else if says(&["concern-forward", "expression-of-concern"]) {
        draft.retraction = Retraction::Concern;
    } else if says(&["correction-forward", "corrected-forward", "erratum", "correction"])
        && kind != "correction"
    {
        draft.retraction = Retraction::Corrected;
    }
    let of = || {
        related()
            .find_map(|other| other.attribute("href"))
            .map_or(String::new(), |address| format!(" of {address}"))
    };
    let what = match kind {
        "retraction" | "partial-retraction" => "a notice of retraction",
        "expression-of-concern" => "an expression of concern",
        "correction" | "corrected-article" | "addendum" => "a correction",
        _ => return,
    };
    draft
        .notices
        .push(Notice::new(NoticeKind::Retraction, format!("this document is {what}{}", of())));
}
