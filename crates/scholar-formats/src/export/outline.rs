//! An answer as every document format lays it out.

use std::collections::BTreeMap;

use scholar_core::{
    Abstention, Answer, AnswerMode, AnswerRole, AnswerSentence, Citation, Notice, Verdict,
};

use super::AnswerExport;
use super::item::{Item, keys, visible};
use super::lead::{Lead, named_item};
use super::style::{CitationStyle, CitesBy, Run, StyledEntry};
use crate::error::FormatError;

/// Longest quotation in a note, in characters.
const QUOTE_CHARS: usize = 600;

/// What stands behind a sentence that stays doubtful.
pub(super) const DOUBT_MARK: &str = "†";
/// What the mark means.
const LEGEND: &str = "Not confirmed in full by the passages cited.";

/// Studies side by side.
pub(super) struct OutlineTable {
    /// The part in front of which it stands; the number of parts where it stands behind them.
    pub(super) before: usize,
    /// Headings of the cells, without that of the first column.
    pub(super) columns: Vec<String>,
    pub(super) rows: Vec<OutlineRow>,
}

/// One paper of a table.
pub(super) struct OutlineRow {
    /// `Li et al. (2021)`.
    pub(super) paper: String,
    /// Its place among the items.
    pub(super) reference: usize,
    /// As many as there are columns.
    pub(super) cells: Vec<String>,
}

impl OutlineTable {
    /// Heading of the first column.
    pub(super) const PAPERS: &'static str = "Study";

    fn of(
        answer: &Answer,
        items: &[Item],
        places: &BTreeMap<usize, usize>,
        before: usize,
    ) -> Option<Self> {
        let table = answer.table.as_ref()?;
        let rows = table.rows.iter().filter_map(|row| {
            let reference = *places.get(&row.reference.0)?;
            let cells = row.cells.iter().map(|cell| match visible(&cell.text) {
                empty if empty.is_empty() => "–".to_owned(),
                text => text,
            });
            Some(OutlineRow {
                paper: named_item(&items[reference]),
                reference,
                cells: cells.collect(),
            })
        });
        let columns = table.columns.iter().map(|column| visible(column)).collect();
        Some(Self { before, columns, rows: rows.collect() })
    }
}

/// The whole document.
pub(super) struct Outline {
    pub(super) title: String,
    /// What an abstention says.
    pub(super) abstention: Option<Abstention>,
    pub(super) parts: Vec<OutlinePart>,
    pub(super) table: Option<OutlineTable>,
    /// What [`DOUBT_MARK`] means, where a sentence has it.
    pub(super) legend: Option<&'static str>,
    /// Cited papers, in the order of the answer.
    pub(super) items: Vec<Item>,
    /// Keys for citing `items`.
    pub(super) keys: Vec<String>,
    /// The list of references, in the order of the style.
    pub(super) entries: Vec<StyledEntry>,
    pub(super) cites_by: CitesBy,
    pub(super) notices: Vec<String>,
    pub(super) generated_by: String,
    /// Quotations stand beside what they prove instead of being folded away.
    pub(super) quotes_beside: bool,
}

/// Paragraphs under one heading.
pub(super) struct OutlinePart {
    pub(super) heading: Option<String>,
    /// Whether it is a part of the part before it.
    pub(super) below: bool,
    /// What it is about in someone's own words, shown beside or above the paragraphs.
    pub(super) about: Option<String>,
    /// A drawing as SVG, made by this crate; only pages show it.
    pub(super) figure: Option<String>,
    pub(super) paragraphs: Vec<Paragraph>,
}

impl OutlinePart {
    pub(super) fn new(heading: Option<String>) -> Self {
        Self { heading, below: false, about: None, figure: None, paragraphs: Vec::new() }
    }
}

/// Sentences that stand together.
pub(super) struct Paragraph {
    /// It is one point of a list.
    pub(super) bullet: bool,
    /// What its sentences are for, in a word or two in front of them.
    pub(super) label: Option<String>,
    pub(super) sentences: Vec<Sentence>,
}

/// One sentence with what it rests on.
pub(super) struct Sentence {
    /// What stands in front of a quoted finding.
    pub(super) lead: Option<Lead>,
    /// Without its closing punctuation.
    pub(super) text: String,
    pub(super) closing: String,
    /// [`DOUBT_MARK`] stands behind it.
    pub(super) marked: bool,
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
        let mut before = usize::MAX;
        for (at, sentence) in answer.sentences.iter().enumerate() {
            if at == answer.table_place() {
                before = parts.len();
            }
            let cited = cited(sentence);
            let citation = if cited.is_empty() { None } else { citations.next() };
            let heading = sentence.heading.as_deref().map(visible);
            let new_part = parts.last().is_none_or(|part| part.heading != heading);
            if new_part {
                parts.push(OutlinePart::new(heading));
            }
            let Some(part) = parts.last_mut() else { continue };
            let starts = new_part || sentence.paragraph_start || part.paragraphs.is_empty();
            if starts {
                let bullet = sentence.verbatim && answer.mode == AnswerMode::Evidence;
                part.paragraphs.push(Paragraph { bullet, label: None, sentences: Vec::new() });
            }
            if let Some(paragraph) = part.paragraphs.last_mut() {
                let view = Sentence::new(sentence, cited, citation.unwrap_or_default(), &places);
                paragraph.sentences.push(Sentence { lead: Lead::of(answer, at), ..view });
            }
        }
        let before = before.min(parts.len());
        let mut sentences =
            parts.iter().flat_map(|part| &part.paragraphs).flat_map(|one| &one.sentences);
        let legend = sentences.any(|one| one.marked).then_some(LEGEND);
        Ok(Self {
            table: OutlineTable::of(answer, &items, &places, before),
            legend,
            title: visible(export.title),
            abstention: answer.abstention(),
            parts,
            keys: keys(&items),
            items,
            entries: formatted.entries,
            cites_by: style.cites_by(),
            notices: export.notices.iter().map(notice).collect(),
            generated_by: visible(export.generated_by),
            quotes_beside: false,
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
        let verdict = sentence.support.as_ref().map(|support| support.verdict);
        // A source's own words stand in quotation marks.
        let quoted = sentence.is_quoted();
        Self {
            lead: None,
            closing: if quoted { String::new() } else { text[bare.len()..].to_owned() },
            text: if quoted { format!("“{text}”") } else { bare.to_owned() },
            marked: verdict.is_some_and(|one| one != Verdict::Supported)
                || sentence.role == Some(AnswerRole::Finding) && sentence.citations.is_empty(),
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
