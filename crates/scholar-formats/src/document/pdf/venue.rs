//! The name of the proceedings or journal in an imprint or a running head.

use super::imprint_patterns::{
    ACCEPTED, CITED, COPYRIGHT, EVENT, LOCATED, MEETING, PAGES, PLACE_DATE, PROCEEDINGS, PUBLISHED,
    VANCOUVER, VOLUME, is_sentence,
};

/// The name that a line states.
pub(super) fn find(text: &str) -> Option<String> {
    let text = text.trim_start_matches(|c: char| c.is_ascii_digit() || c.is_whitespace());
    if ACCEPTED.is_match(text) || PUBLISHED.is_match(text) {
        return None;
    }
    if let Some(found) = PROCEEDINGS.find(text)
        && !is_sentence(&text[..found.start()])
    {
        return Some(proceedings(&text[found.start()..]))
            .filter(|name| name.split(' ').count() >= 4);
    }
    if let Some(meeting) = MEETING.captures(text).and_then(|found| found.get(1)) {
        return Some(meeting.as_str().to_owned());
    }
    if is_sentence(text) {
        return None;
    }
    let cited = LOCATED.captures(text).or_else(|| VANCOUVER.captures(text));
    if let Some(found) = PAGES.find(text).filter(|_| cited.is_none())
        && EVENT.is_match(&text[..found.start()])
        && !text[..found.start()].contains(". ")
        && text.starts_with(char::is_uppercase)
    {
        return Some(proceedings(text)).filter(|name| name.contains(char::is_alphabetic));
    }
    let journal = cited.or_else(|| VOLUME.captures(text)).or_else(|| CITED.captures(text))?;
    let name = journal.get(1)?.as_str().trim_matches(|c: char| !c.is_alphanumeric() && c != '.');
    let letters = name.chars().filter(|c| c.is_alphabetic()).count();
    (letters >= 4 && name.starts_with(char::is_uppercase) && !name.contains('@'))
        .then(|| name.to_owned())
}

/// `Proceedings of the Meeting, pages 1–8, City, July 2002. ©2002 Somebody` to the name of the book.
fn proceedings(text: &str) -> String {
    let end = PAGES.find(text).map_or(text.len(), |pages| pages.start());
    let end = COPYRIGHT.find(text).map_or(end, |found| end.min(found.start()));
    let named = text[..end].trim_end_matches(|c: char| !c.is_alphanumeric() && c != ')');
    let named = named.split(". ").next().unwrap_or(named);
    let mut parts: Vec<&str> = named.split(", ").collect();
    // A date, and the city and country before it, follow the name.
    if let Some(date) = parts.iter().skip(1).position(|part| PLACE_DATE.is_match(part)) {
        parts.truncate(date + 1);
        let place = |part: &&str| {
            let words = part.split(' ').count();
            words <= 3 && part.starts_with(char::is_uppercase) && !part.contains(['(', ')'])
        };
        let mut places = 0;
        while parts.len() > 1 && places < 2 && parts.last().is_some_and(place) {
            parts.pop();
            places += 1;
        }
    } else if let Some(at) = parts.iter().position(|part| part.ends_with(')')) {
        // `… (ACL), Philadelphia`
        parts.truncate(at + 1);
    }
    parts.join(", ")
}
