//! An answer as every document format lays it out.

use std::collections::BTreeMap;

use scholar_core::{AnswerMode, AnswerSentence, Citation, Notice, Verdict};

use super::AnswerExport;
use super::item::{Item, keys, visible};
use super::style::{CitationStyle, CitesBy, Run, StyledEntry};
use crate::error::FormatError;

/// Longest quotation in a note, in characters.
const QUOTE_CHARS: usize = 600;

/// The whole document.
pub(super) struct Outline {
    pub(super) title: String,
    pub(super) abstained: bool,
    pub(super) parts: Vec<OutlinePart>,
    /// Cited papers, in the order of the answer.
    pub(super) items: Vec<Item>,
    /// Keys for citing `items`.
    pub(super) keys: Vec<String>,
    /// The list of references, in the order of the style.
    pub(super) entries: Vec<StyledEntry>,
    pub(super) cites_by: CitesBy,
    pub(super) notices: Vec<String>,
    pub(super) generated_by: String,
}

/// Paragraphs under one heading.
pub(super) struct OutlinePart {
    pub(super) heading: Option<String>,
    pub(super) paragraphs: Vec<Paragraph>,
}

/// Sentences that stand together.
pub(super) struct Paragraph {
    /// It is one point of a list.
    pub(super) bullet: bool,
    pub(super) sentences: Vec<Sentence>,
}

/// One sentence with what it rests on.
pub(super) struct Sentence {
    /// Without its closing punctuation.
    pub(super) text: String,
    pub(super) closing: String,
    /// What the judge found wanting.
    pub(super) doubt: Option<&'static str>,
    /// The citation by the style, for the text or, for styles that cite in notes, for a note.
    pub(super) citation: Vec<Run>,
    /// Places of the cited papers among the items.
    pub(super) cited: Vec<usize>,
    pub(super) quotes: Vec<Quotation>,
}

/// A located quotation.
pub(super) struct Quotation {
    pub(super) text: String,
    /// Place of its paper among the items.
    pub(super) reference: usize,
    pub(super) page: Option<u32>,
}

impl Outline {
    pub(super) fn new(
        export: &AnswerExport<'_>,
        style: &CitationStyle,
    ) -> Result<Self, FormatError> {
        let answer = export.answer;
        let items: Vec<Item> = answer.references.iter().map(Item::of_reference).collect();
        let places: BTreeMap<usize, usize> =
            answer.references.iter().enumerate().map(|(at, r)| (r.number.0, at)).collect();
        let cited = |sentence: &AnswerSentence| -> Vec<usize> {
            sentence.citations.iter().filter_map(|Citation(n)| places.get(n).copied()).collect()
        };
        let clusters: Vec<Vec<usize>> =
            answer.sentences.iter().map(cited).filter(|cluster| !cluster.is_empty()).collect();
        let formatted = style.format(&items, &clusters)?;
        let mut citations = formatted.citations.into_iter();
        let mut parts: Vec<OutlinePart> = Vec::new();
        for sentence in &answer.sentences {
            let cited = cited(sentence);
            let citation = if cited.is_empty() { None } else { citations.next() };
            let heading = sentence.heading.as_deref().map(visible);
            let new_part = parts.last().is_none_or(|part| part.heading != heading);
            if new_part {
                parts.push(OutlinePart { heading, paragraphs: Vec::new() });
            }
            let Some(part) = parts.last_mut() else { continue };
            let starts = new_part || sentence.paragraph_start || part.paragraphs.is_empty();
            if starts {
                let bullet = sentence.verbatim && answer.mode == AnswerMode::Evidence;
                part.paragraphs.push(Paragraph { bullet, sentences: Vec::new() });
            }
            if let Some(paragraph) = part.paragraphs.last_mut() {
                let view = Sentence::new(sentence, cited, citation.unwrap_or_default(), &places);
                paragraph.sentences.push(view);
            }
        }
        Ok(Self {
            title: visible(export.title),
            abstained: answer.abstained,
            parts,
            keys: keys(&items),
            items,
            entries: formatted.entries,
            cites_by: style.cites_by(),
            notices: export.notices.iter().map(notice).collect(),
            generated_by: visible(export.generated_by),
        })
    }
}

impl Sentence {
    fn new(
        sentence: &AnswerSentence,
        cited: Vec<usize>,
        citation: Vec<Run>,
        places: &BTreeMap<usize, usize>,
    ) -> Self {
        let text = visible(&sentence.text);
        let bare = text.trim_end_matches(['.', '!', '?']);
        let quotes = sentence.quotes.iter().filter_map(|quote| {
            Some(Quotation {
                text: shortened(&visible(&quote.text)),
                reference: *places.get(&quote.reference.0)?,
                page: quote.page(),
            })
        });
        Self {
            closing: text[bare.len()..].to_owned(),
            text: bare.to_owned(),
            doubt: match sentence.support.as_ref().map(|support| support.verdict) {
                Some(Verdict::Unsupported) => Some("not supported by the located evidence"),
                Some(Verdict::Contradicted) => Some("contradicted by the located evidence"),
                Some(Verdict::Partial) => Some("partly supported"),
                Some(Verdict::Supported) | None => None,
            },
            citation,
            cited,
            quotes: quotes.collect(),
        }
    }
}

fn notice(notice: &Notice) -> String {
    let message = visible(&notice.message);
    let mut chars = message.chars();
    let head: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    let stop = if message.ends_with(['.', '!', '?']) { "" } else { "." };
    let hint = notice.hint.as_ref().map(|hint| format!(" Hint: {}.", visible(hint)));
    format!("{head}{}{stop}{}", chars.as_str(), hint.unwrap_or_default())
}

fn shortened(text: &str) -> String {
    if text.chars().count() <= QUOTE_CHARS {
        return text.to_owned();
    }
    let cut: String = text.chars().take(QUOTE_CHARS).collect();
    let cut = cut.rsplit_once(' ').map_or(cut.as_str(), |(head, _)| head).to_owned();
    format!("{cut} […]")
}
