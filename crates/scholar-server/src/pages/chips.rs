//! Chips: `Zhang et al., 2024` beside a sentence, and what opens from one.
//!
//! A chip is a button that opens a popover of the browser's own, without a script; what it holds is beside the reference in the
//! list at the end, too.

use std::collections::BTreeMap;

use maud::{Markup, html};
use scholar_core::paper::display_title;
use scholar_core::{
    AnswerSentence, PaperMeta, Passage, PassageId, Quote, Reference, Retraction, Support, Verdict,
};
use scholar_pipeline::{Event, Evidence};

use super::text::{counted, encoded, text, web_address};
use crate::backend::CitedPassage;

/// What the popovers of an answer are made from.
pub(super) struct Sources<'a> {
    /// The datastore that was asked.
    pub(super) datastore: &'a str,
    pub(super) references: &'a [Reference],
    /// Passages that were shown to whoever wrote, by name.
    evidence: BTreeMap<String, &'a Evidence>,
    /// Other passages that are quoted, by name, as the datastore has them.
    stored: BTreeMap<String, &'a CitedPassage>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(
        datastore: &'a str,
        references: &'a [Reference],
        events: &'a [Event],
    ) -> Self {
        let ranked = events.iter().filter_map(|event| match event {
            Event::Ranked { evidence, .. } => Some(evidence),
            _ => None,
        });
        let named = ranked.flatten().map(|one| (one.ranked.retrieved.passage.id.to_string(), one));
        Self { datastore, references, evidence: named.collect(), stored: BTreeMap::new() }
    }

    /// The same with passages of the datastore.
    pub(super) fn and(self, stored: &'a [CitedPassage]) -> Self {
        let stored = stored.iter().map(|one| (one.passage.id.to_string(), one)).collect();
        Self { stored, ..self }
    }

    pub(super) fn passage(&self, id: &PassageId) -> Option<&'a Evidence> {
        self.evidence.get(&id.to_string()).copied()
    }

    /// The text that is quoted from, whoever has it.
    fn quoted(&self, id: &PassageId) -> Option<&'a Passage> {
        let ranked = self.passage(id).map(|one| &one.ranked.retrieved.passage);
        ranked.or_else(|| self.stored.get(&id.to_string()).map(|one| &one.passage))
    }

    pub(super) fn reference(&self, number: usize) -> Option<&'a Reference> {
        self.references.iter().find(|reference| reference.number.0 == number)
    }

    /// What is known of a paper beyond its reference, where a passage of it was shown.
    fn paper(&self, reference: &Reference) -> Option<&'a PaperMeta> {
        let of_it = |one: &&&Evidence| one.ranked.retrieved.paper.id == reference.paper_id;
        let shown = self.evidence.values().find(of_it).map(|one| &*one.ranked.retrieved.paper);
        let stored = || self.stored.values().find(|one| one.paper.id == reference.paper_id);
        shown.or_else(|| stored().map(|one| &one.paper))
    }
}

/// `Zhang et al., 2024`.
pub(super) fn label(reference: &Reference) -> String {
    let family = |name: &String| {
        let name = name.split(',').next().unwrap_or(name).trim();
        // A family name in front of a comma may have several words; otherwise it is the last.
        match name.rsplit_once(' ') {
            Some((_, last)) if !reference.authors.iter().any(|author| author.contains(',')) => {
                last.to_owned()
            }
            _ => name.to_owned(),
        }
    };
    let names = match reference.authors.as_slice() {
        [] => {
            let title = display_title(&reference.title, &reference.paper_id).into_owned();
            let words: Vec<&str> = title.split_whitespace().take(4).collect();
            format!("{}…", words.join(" "))
        }
        [one] => family(one),
        [one, two] => format!("{} & {}", family(one), family(two)),
        [one, ..] => format!("{} et al.", family(one)),
    };
    let year = reference.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    format!("{names}, {year}")
}

/// A verdict in words and as a shape: colour alone says nothing.
pub(super) fn verdict(verdict: Verdict) -> Markup {
    let (class, shape, words) = verdict_words(verdict);
    html! { span class={ "verdict " (class) } { span aria-hidden="true" { (shape) } " " (words) } }
}

/// Class, shape and words.
pub(super) fn verdict_words(verdict: Verdict) -> (&'static str, &'static str, &'static str) {
    match verdict {
        Verdict::Supported => ("supported", "●", "Supported by the quotation"),
        Verdict::Partial => ("partial", "◐", "Partly supported by the quotation"),
        Verdict::Unsupported => ("unsupported", "○", "Not confirmed by the quotation"),
        Verdict::Contradicted => ("contradicted", "✕", "Contradicted by the quotation"),
    }
}

/// The chips of a sentence, in order of its citations.
pub(super) fn chips(at: usize, sentence: &AnswerSentence, sources: &Sources<'_>) -> Markup {
    html! {
        @for citation in &sentence.citations {
            @if let Some(reference) = sources.reference(citation.0) {
                " "
                button.chip type="button" popovertarget={ "c" (at) "-" (citation.0) } aria-haspopup="dialog" {
                    (text(&label(reference)))
                    @if let Some(support) = &sentence.support {
                        @let (class, shape, words) = verdict_words(support.verdict);
                        span class={ "shape " (class) } aria-hidden="true" { (shape) }
                        span.hidden { ": " (words) }
                    }
                }
            }
        }
    }
}

/// What the chips of a sentence open. It stands behind the paragraph: nothing of it is a part of the sentence.
pub(super) fn popovers(at: usize, sentence: &AnswerSentence, sources: &Sources<'_>) -> Markup {
    html! {
        @for citation in &sentence.citations {
            @if let Some(reference) = sources.reference(citation.0) {
                @let id = format!("c{at}-{}", citation.0);
                div.popover #(id) popover role="dialog" aria-labelledby={ (id) "-title" } {
                    div.popover-head {
                        h3 id={ (id) "-title" } { (text(&display_title(&reference.title, &reference.paper_id))) }
                        button.close type="button" popovertarget=(id) popovertargetaction="hide" { span aria-hidden="true" { "✕" } span.hidden { "Close" } }
                    }
                    (about(reference, sources))
                    @if let Some(support) = &sentence.support { (judged(support)) }
                    @for quote in sentence.quotes.iter().filter(|quote| quote.reference == reference.number) {
                        (quoted(quote, reference, sources))
                    }
                    p { a href={ "#ref-" (citation.0) } { "Reference " (citation.0) } }
                }
            }
        }
    }
}

/// Who judged, and how sure they were.
fn judged(support: &Support) -> Markup {
    let share = (f64::from(support.score) * 100.0).round();
    html! {
        p { (verdict(support.verdict)) " " span.soft { "(" (share) " % by " (text(&support.judge)) ")" } }
    }
}

/// Who wrote it, where, how often it is cited, and what is recorded against it.
pub(super) fn about(reference: &Reference, sources: &Sources<'_>) -> Markup {
    let paper = sources.paper(reference);
    let shown: Vec<&str> = reference.authors.iter().take(6).map(String::as_str).collect();
    let more = reference.authors.len().saturating_sub(shown.len());
    let authors =
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") };
    let link = reference.url.as_deref().and_then(web_address);
    html! {
        p.about {
            @if !authors.is_empty() { (text(&authors)) ". " }
            @if let Some(venue) = &reference.venue { em { (text(venue)) } ", " }
            @match reference.year { Some(year) => { (year) } None => { "undated" } }
            ". "
            @if let Some(n) = paper.and_then(|paper| paper.citation_count) { (counted(n as usize, "citation", "citations")) ". " }
            @if let Some(paper) = paper { (retraction(paper.retraction)) " " }
            @if let Some(doi) = &reference.doi {
                a href={ "https://doi.org/" (encoded_doi(doi)) } rel="noreferrer noopener" target="_blank" { "doi:" (text(doi)) } " "
            }
            @if let Some(link) = link {
                a href=(text(link)) rel="noreferrer noopener" target="_blank" { "Publisher’s page" }
            }
        }
    }
}

/// A DOI within an address: its slash stays.
fn encoded_doi(doi: &str) -> String {
    doi.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

/// What registries record against a paper.
pub(super) fn retraction(retraction: Retraction) -> Markup {
    let (class, words) = match retraction {
        Retraction::Unknown => ("soft", "Retractions: not looked up."),
        Retraction::Clean => ("soft", "No retraction is recorded."),
        Retraction::Corrected => ("warn", "⚠ A correction was published."),
        Retraction::Concern => ("warn", "⚠ An expression of concern was published."),
        Retraction::Retracted => ("bad", "⚠ This paper was retracted."),
    };
    html! { span class=(class) { (words) } }
}

/// A quotation inside its passage, and the way to its place in the paper.
pub(super) fn quoted(quote: &Quote, reference: &Reference, sources: &Sources<'_>) -> Markup {
    let evidence = sources.passage(&quote.passage_id);
    let passage = sources.quoted(&quote.passage_id);
    let cut = passage.and_then(|passage| around(&passage.text, quote));
    html! {
        blockquote {
            @match cut {
                Some((before, marked, after)) => { (text(before)) mark { (text(marked)) } (text(after)) }
                None => { mark { (text(&quote.text)) } }
            }
        }
        p.place {
            @if let Some(section) = passage.map(|passage| passage.section.as_str()).filter(|section| !section.is_empty()) { (text(section)) ". " }
            a href=(source_address(quote, reference, sources)) { "Open the source at this place" @if let Some(page) = quote.page() { ", page " (page) } }
        }
        @if let Some(evidence) = evidence {
            details.why {
                summary { "Why this rank" }
                pre tabindex="0" { (text(&evidence.ranked.explanation.to_string())) (text(&evidence.ranked.retrieved.explanation.to_string())) }
            }
        }
    }
}

/// Where the page of a paper shows a quotation.
fn source_address(quote: &Quote, reference: &Reference, sources: &Sources<'_>) -> String {
    let Quote { passage_id, start, end, .. } = quote;
    format!(
        "/papers/{}/{}?passage={}&start={start}&end={end}#quotation",
        encoded(sources.datastore),
        encoded(&reference.paper_id.to_string()),
        encoded(&passage_id.to_string()),
    )
}

/// A passage's text before, at and after the quotation; `None` where it is not the text that was quoted.
fn around<'t>(passage: &'t str, quote: &Quote) -> Option<(&'t str, &'t str, &'t str)> {
    let byte =
        |chars: usize| passage.char_indices().map(|(at, _)| at).chain([passage.len()]).nth(chars);
    let (start, end) = (byte(quote.start)?, byte(quote.end)?);
    let marked = passage.get(start..end)?;
    (marked == quote.text).then(|| (&passage[..start], marked, &passage[end..]))
}

#[cfg(test)]
mod tests {
    use scholar_core::{Citation, PaperId};

    use super::*;

    fn reference(authors: &[&str], year: Option<i16>) -> Reference {
        Reference {
            number: Citation(1),
            paper_id: "doi:10.1000/x".parse::<PaperId>().expect("an id"),
            title: "A long title of five words".to_owned(),
            authors: authors.iter().map(|author| (*author).to_owned()).collect(),
            year,
            venue: None,
            url: None,
            doi: None,
            found_by: Vec::new(),
        }
    }

    #[test]
    fn a_chip_names_authors_and_year() {
        for (authors, year, expect) in [
            (&["Wei Zhang", "Ann Li", "Bo Xu"][..], Some(2024), "Zhang et al., 2024"),
            (&["Zhang, Wei", "van der Berg, Jan"][..], Some(2024), "Zhang & van der Berg, 2024"),
            (&["Plato"][..], None, "Plato, n.d."),
            (&[][..], Some(1999), "A long title of…, 1999"),
        ] {
            assert_eq!(label(&reference(authors, year)), expect);
        }
    }

    #[test]
    fn a_quotation_is_marked_by_characters_and_only_where_it_is() {
        let mut quote = Quote {
            reference: Citation(1),
            passage_id: "doi:10.1000/x#0".parse().expect("an id"),
            start: 2,
            end: 5,
            text: "übe".to_owned(),
            places: Vec::new(),
        };
        assert_eq!(around("ä üben", &quote), Some(("ä ", "übe", "n")));
        quote.text = "oth".to_owned();
        assert_eq!(around("ä üben", &quote), None);
        quote.end = 99;
        assert_eq!(around("ä üben", &quote), None);
    }
}
