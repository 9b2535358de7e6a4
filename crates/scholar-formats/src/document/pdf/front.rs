//! Metadata of a PDF: title page, margins, and what the file states about itself, held against each other.
//!
//! What the pages print decides. What the information dictionary and XMP state confirms it, or stands in for it where the
//! page prints the same words in a way that could not be read.

use scholar_core::text::normalise::title_key;
use scholar_core::{Confidence, FieldOrigin, MetaField, MetaOrigin, PaperId};

use super::super::draft::Draft;
use super::authors::{self, Authors};
use super::cells::Cell;
use super::glyphs::Pages;
use super::imprint::{self, Imprint, Years};
use super::lines::Line;
use super::person;
use super::title;

/// How many pages have something to say.
pub(super) const PAGES: u32 = 3;

/// Fills title, authors, date, venue and identifiers; the lines of the title among `lines`, which have no furniture.
/// `first` are the lines of the first [`PAGES`] pages with it.
pub(super) fn read(
    pages: &Pages,
    first: &[Line],
    lines: &[Line],
    body: f64,
    draft: &mut Draft,
) -> Vec<usize> {
    let latest = super::super::dates::LATEST_YEAR;
    let dois: Vec<PaperId> =
        pages.stated.sources().iter().flat_map(|source| source.dois.iter().cloned()).collect();
    let imprint = imprint::read(first, &pages.pages, body, Years { latest }, &dois);
    draft.file_date = pages.stated.made.or(pages.stated.changed);
    let mut taken = Vec::new();
    let mut below = 0.0;
    let stated = stated_title(pages, lines);
    let mut found = title::find(lines, body);
    // A title that the file states and that fills lines of the page is surer than the largest type, which may be that of
    // the journal's name.
    if let (Some((text, _)), Some(stated)) = (&found, &stated)
        && stated.fills_lines
        && bare(text).to_lowercase() != bare(&stated.text).to_lowercase()
    {
        found = None;
    }
    if let Some((text, in_lines)) = found {
        let bases = in_lines.iter().filter_map(|at| lines.get(*at)).map(|line| line.y);
        below = bases.fold(0.0, f64::max);
        taken = in_lines;
        let (text, origin) = confirmed_title(text, pages);
        draft.title = text;
        draft.fields.insert(MetaField::Title, origin);
    } else if let Some(StatedTitle { text, origin, below: last, .. }) = stated {
        below = last;
        draft.title = text;
        draft.fields.insert(MetaField::Title, origin);
    }
    let region = authors::region(&pages.front, below);
    if draft.title.is_empty()
        && let Some((text, until)) = title::above_authors(&region)
    {
        draft.title = text;
        below = until;
        let origin = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::Low };
        draft.fields.insert(MetaField::Title, origin);
    }
    let region: Vec<&Cell> = region.into_iter().filter(|cell| cell.y > below).collect();
    if let Some((names, origin)) = confirmed_authors(authors::find(&region), &region, pages) {
        draft.authors = names;
        draft.fields.insert(MetaField::Authors, origin);
    }
    publish(imprint, pages, draft);
    taken
}

/// Date, venue and identifiers.
fn publish(imprint: Imprint, pages: &Pages, draft: &mut Draft) {
    let Imprint { date, venue, mut ids } = imprint;
    if let Some((date, origin)) = date {
        draft.dates.push(date);
        draft.fields.insert(MetaField::Year, origin);
    }
    let stated = || pages.stated.sources().into_iter();
    if let Some((name, mut origin)) = venue {
        let key = title_key(&name);
        let agrees = stated()
            .filter_map(|source| source.venue.as_deref())
            .any(|other| title_key(other) == key);
        if agrees {
            origin.confidence = Confidence::High;
        }
        draft.venue = Some(name);
        draft.fields.insert(MetaField::Venue, origin);
    } else if let Some(name) = pages.stated.xmp.venue.clone() {
        // Publishers alone write this field.
        draft.venue = Some(name);
        let origin = FieldOrigin { origin: MetaOrigin::Xmp, confidence: Confidence::Medium };
        draft.fields.insert(MetaField::Venue, origin);
    }
    if !ids.iter().any(|(id, _)| matches!(id, PaperId::Doi(_))) {
        let named = [(&pages.stated.xmp, MetaOrigin::Xmp), (&pages.stated.info, MetaOrigin::Info)];
        for (source, origin) in named {
            if let [only] = &source.dois[..] {
                ids.push((only.clone(), FieldOrigin { origin, confidence: Confidence::Medium }));
                break;
            }
        }
    }
    // The field has one origin: that of the identifier that is surest.
    if let Some((_, origin)) = ids.iter().max_by_key(|(_, origin)| origin.confidence) {
        draft.fields.insert(MetaField::Identifiers, *origin);
    }
    for (id, _) in ids {
        draft.id(id);
    }
}

/// Letters and digits of a text, in their case.
fn bare(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// A title as printed, and how sure it is. Where the file states the same letters, its spaces and hyphens are right: the
/// printer breaks lines and kerns capitals.
fn confirmed_title(printed: String, pages: &Pages) -> (String, FieldOrigin) {
    let letters = bare(&printed);
    let small = letters.to_lowercase();
    let mut origin = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::Medium };
    for stated in pages.stated.sources().into_iter().filter_map(|source| source.title.as_deref()) {
        let other = bare(stated);
        if other.to_lowercase() == small {
            origin.confidence = Confidence::High;
        }
        if other == letters {
            return (stated.to_owned(), origin);
        }
    }
    (printed, origin)
}

/// A title that the file states and the first page prints.
struct StatedTitle {
    text: String,
    origin: FieldOrigin,
    /// The base line of the last line it stands in.
    below: f64,
    /// Whether the lines it stands in hold nothing else.
    fills_lines: bool,
}

/// Most lines of a title.
const TITLE_LINES: usize = 6;

fn stated_title(pages: &Pages, lines: &[Line]) -> Option<StatedTitle> {
    let named = [(&pages.stated.info, MetaOrigin::Info), (&pages.stated.xmp, MetaOrigin::Xmp)];
    let first: Vec<(&Line, String)> = lines
        .iter()
        .take_while(|line| line.page == 1)
        .map(|line| (line, bare(&line.text).to_lowercase()))
        .collect();
    named.into_iter().find_map(|(source, origin)| {
        let stated = source.title.as_deref().filter(|title| title::is_sensible(title))?;
        let wanted = bare(stated).to_lowercase();
        // Lines that follow each other and hold it, the first of them a part of it.
        let places = (0..first.len()).filter_map(|start| {
            let mut text = String::new();
            let (last, _) = first.iter().skip(start).take(TITLE_LINES).find(|(_, letters)| {
                text.push_str(letters);
                text.contains(&wanted)
            })?;
            let needed = !text.get(first[start].1.len()..)?.contains(&wanted);
            needed.then_some((last.y, text == wanted))
        });
        let found: Vec<(f64, bool)> = places.take(TITLE_LINES).collect();
        let (below, fills_lines) =
            found.iter().find(|(_, fills)| *fills).or(found.first()).copied()?;
        let confidence = if fills_lines { Confidence::Medium } else { Confidence::Low };
        let origin = FieldOrigin { origin, confidence };
        Some(StatedTitle { text: stated.to_owned(), origin, below, fills_lines })
    })
}

/// Authors as printed, held against those the file states; where none could be read, those the file states, if the page
/// prints every one of them.
fn confirmed_authors(
    printed: Option<Authors>,
    region: &[&Cell],
    pages: &Pages,
) -> Option<(Vec<String>, FieldOrigin)> {
    let named = [(&pages.stated.info, MetaOrigin::Info), (&pages.stated.xmp, MetaOrigin::Xmp)];
    let stated: Vec<(Vec<String>, MetaOrigin)> = named
        .into_iter()
        .filter_map(|(source, origin)| Some((stated_names(&source.authors)?, origin)))
        .collect();
    let keys =
        |names: &[String]| names.iter().map(|name| person::family_key(name)).collect::<Vec<_>>();
    let page: String = region.iter().map(|cell| person::key(&cell.plain())).collect();
    let on_page = |names: &[String]| names.iter().all(|name| page.contains(&person::key(name)));
    if let Some(Authors { names, clear }) = printed {
        let own = keys(&names);
        let agrees = stated.iter().any(|(others, _)| keys(others) == own);
        // A longer list that has all of these, each of them printed, is what the page could not be read for.
        let longer = stated.iter().find(|(others, _)| {
            let theirs = keys(others);
            others.len() > names.len()
                && own.iter().all(|one| theirs.contains(one))
                && on_page(others)
        });
        if let Some((others, origin)) = longer.filter(|_| !agrees) {
            let told = FieldOrigin { origin: *origin, confidence: Confidence::Medium };
            return Some((others.clone(), told));
        }
        let confidence = match (agrees, clear) {
            (true, _) => Confidence::High,
            (false, true) => Confidence::Medium,
            (false, false) => Confidence::Low,
        };
        return Some((names, FieldOrigin { origin: MetaOrigin::Page, confidence }));
    }
    let (names, origin) = stated
        .into_iter()
        .find(|(names, _)| names.iter().all(|name| page.contains(&person::family_key(name))))?;
    let confidence = if on_page(&names) { Confidence::Medium } else { Confidence::Low };
    Some((names, FieldOrigin { origin, confidence }))
}

/// Names of a list as files state it: one name each, or all in one string. The name of an account or program is none.
fn stated_names(stated: &[String]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for text in stated {
        names.extend(person::names(text)?);
    }
    (!names.is_empty()).then_some(names)
}
