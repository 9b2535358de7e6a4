//! Plain text.

use scholar_core::paper::ABSTRACT_HEADING;
use scholar_core::{Confidence, FieldOrigin, MetaField, MetaOrigin};

use super::draft::{Draft, SectionText};
use super::headings::{self, Opens, Outline};
use super::hyphens::join_line;
use super::prose::single_spaced;
use super::{Document, decode, mentions, reference_list};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "plain text";

/// Paragraphs between two looks at the clock.
const PARAGRAPHS_A_LOOK: usize = 64;

/// Reads paragraphs between blank lines. A paragraph of one line that is a numbered or well-known heading opens a
/// section. The title stays empty: a text's first line may be anything.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let text = decode::plain_text_of(bytes, FORMAT)?;
    let mut draft = Draft::default();
    let mut outline = Outline::default();
    let mut heading = String::new();
    let mut opens = Opens::Body;
    let mut whole = SectionText::default();
    for (number, paragraph) in paragraphs(&text).into_iter().enumerate() {
        if number.is_multiple_of(PARAGRAPHS_A_LOOK) && bounds.deadline.is_over() {
            return Err(bounds.deadline.error(FORMAT));
        }
        let found = (paragraph.lines == 1).then(|| headings::heading(&paragraph.text)).flatten();
        if let Some(found) = found {
            draft.section(whole.take(&heading));
            heading = if found.opens == Opens::Abstract {
                ABSTRACT_HEADING.into()
            } else {
                outline.path(&found)
            };
            opens = found.opens;
            continue;
        }
        match opens {
            Opens::References => draft.references.extend(reference_list::entry(&paragraph.text)),
            Opens::BackMatter => {}
            Opens::Abstract | Opens::Body => whole.paragraph(&paragraph.text, None),
        }
    }
    draft.section(whole.take(&heading));
    let head: String = text.chars().take(1500).collect();
    for stated in [mentions::dois(&head), mentions::arxiv_ids(&head)] {
        if let [only] = &stated[..] {
            draft.id(only.clone());
            // Words, and no markup that says whose identifier it is.
            let page = FieldOrigin { origin: MetaOrigin::Page, confidence: Confidence::Medium };
            draft.fields.insert(MetaField::Identifiers, page);
        }
    }
    if draft.sections.is_empty() {
        return Err(FormatError::new(FormatErrorKind::NoText, FORMAT, "the file contains no text"));
    }
    Ok(draft.finish(bytes, bounds.limits))
}

struct Paragraph {
    text: String,
    lines: usize,
}

fn paragraphs(text: &str) -> Vec<Paragraph> {
    let mut all = Vec::new();
    let mut open = Paragraph { text: String::new(), lines: 0 };
    for line in text.lines().map(single_spaced).chain([String::new()]) {
        if line.is_empty() {
            if open.lines > 0 {
                all.push(std::mem::replace(&mut open, Paragraph { text: String::new(), lines: 0 }));
            }
            continue;
        }
        open.lines += 1;
        join_line(&mut open.text, &line);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_headings_and_references_are_told_apart() {
        let source = "Some paper\ndoi:10.1000/x\n\nAbstract\n\nWe trans-\nlate state-of-\nthe-art  things.\n\n1. Introduction\n\n\
            First.\n\nSecond.\n\nReferences\n\n[1] Lo, Kyle and others. 2020. A title.\n\n[2] Ng, Ada. 2021. Another one.\n";
        let document = read(source.as_bytes(), &Bounds::default()).expect("text");
        let sections: Vec<(&str, &str)> =
            document.paper.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(
            sections,
            [
                ("", "Some paper doi:10.1000/x"),
                ("Abstract", "We translate state-of-the-art things."),
                ("Introduction", "First. Second.")
            ]
        );
        assert_eq!(document.references.len(), 2);
        assert_eq!(document.paper.meta.id.to_string(), "doi:10.1000/x");
        assert_eq!(
            read(b" \n ", &Bounds::default()).expect_err("empty").kind,
            FormatErrorKind::NoText
        );
    }
}
