//! Markdown with YAML-like front matter.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use scholar_core::PaperId;
use scholar_core::paper::ABSTRACT_HEADING;

use super::dates::StatedDate;
use super::draft::{self, Draft, SectionText};
use super::headings::{self, Opens};
use super::prose::{Prose, single_spaced};
use super::{Document, decode, reference_list};
use crate::deadline::Bounds;
use crate::error::{FormatError, FormatErrorKind};

const FORMAT: &str = "Markdown";

/// Parts of the text between two looks at the clock.
const EVENTS_A_LOOK: usize = 1_024;

/// Reads `CommonMark` with tables, footnotes and formulas. Headings become paths (`Methods: Data`); a single heading of
/// the first level that stands before all others is the title if the front matter has none.
pub(super) fn read(bytes: &[u8], bounds: &Bounds) -> Result<Document, FormatError> {
    let text = decode::plain_text_of(bytes, FORMAT)?;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_MATH
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS;
    let mut reader = MarkdownReader::default();
    for (number, event) in Parser::new_ext(&text, options).enumerate() {
        if number.is_multiple_of(EVENTS_A_LOOK) && bounds.deadline.is_over() {
            return Err(bounds.deadline.error(FORMAT));
        }
        reader.event(event);
    }
    reader.close_section();
    reader.take_title();
    if reader.draft.sections.is_empty() && reader.draft.title.is_empty() {
        return Err(FormatError::new(FormatErrorKind::NoText, FORMAT, "the file contains no text"));
    }
    Ok(reader.draft.finish(bytes, bounds.limits))
}

#[derive(Default)]
struct MarkdownReader {
    draft: Draft,
    prose: Prose,
    whole: SectionText,
    /// Level and words of the headings that are open.
    path: Vec<(HeadingLevel, String)>,
    first_levels: usize,
    title_like: Option<String>,
    /// What the innermost heading opened.
    opens: Option<Opens>,
    metadata: Option<String>,
    in_heading: bool,
    in_footnote: bool,
}

impl MarkdownReader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.prose.push(&text);
            }
            Event::SoftBreak | Event::HardBreak | Event::Rule => self.prose.gap(),
            Event::FootnoteReference(_)
            | Event::TaskListMarker(_)
            | Event::Html(_)
            | Event::InlineHtml(_) => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let Some(metadata) = &mut self.metadata {
            metadata.push_str(text);
        } else {
            self.prose.push(text);
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Heading { .. } => {
                self.paragraph();
                self.in_heading = true;
            }
            Tag::MetadataBlock(_) => self.metadata = Some(String::new()),
            Tag::FootnoteDefinition(_) => {
                self.paragraph();
                self.in_footnote = true;
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(_) | CodeBlockKind::Indented)
            | Tag::Paragraph
            | Tag::Item => {
                self.paragraph();
            }
            Tag::TableCell | Tag::TableRow => self.prose.gap(),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let words = std::mem::take(&mut self.prose).finish();
                self.in_heading = false;
                self.heading(level, &words);
            }
            TagEnd::MetadataBlock(_) => {
                let metadata = self.metadata.take().unwrap_or_default();
                front_matter(&metadata, &mut self.draft);
            }
            TagEnd::FootnoteDefinition => {
                self.paragraph();
                self.in_footnote = false;
            }
            TagEnd::Paragraph
            | TagEnd::Item
            | TagEnd::CodeBlock
            | TagEnd::Table
            | TagEnd::BlockQuote(_) => {
                self.paragraph();
            }
            TagEnd::TableCell | TagEnd::TableHead | TagEnd::TableRow => self.prose.gap(),
            _ => {}
        }
    }

    /// Ends the paragraph that was being gathered.
    fn paragraph(&mut self) {
        if self.in_heading {
            return;
        }
        let text = without_marks(&std::mem::take(&mut self.prose).finish());
        if text.is_empty() {
        } else if self.in_footnote {
            self.draft.footnotes.push(text);
        } else if self.opens == Some(Opens::References) {
            self.draft.references.extend(reference_list::entry(&text));
        } else if self.opens != Some(Opens::BackMatter) {
            self.whole.paragraph(&text, None);
        }
    }

    fn close_section(&mut self) {
        self.paragraph();
        let words: Vec<&str> = self.path.iter().map(|(_, words)| words.as_str()).collect();
        let heading = words.join(": ");
        self.draft.section(self.whole.take(&heading));
    }

    fn heading(&mut self, level: HeadingLevel, words: &str) {
        self.close_section();
        let read = headings::heading(words);
        let opens = read.as_ref().map_or(Opens::Body, |heading| heading.opens);
        let words = read.map_or_else(|| words.to_owned(), |heading| heading.title);
        let words = draft::heading_words(words);
        if level == HeadingLevel::H1 {
            self.first_levels += 1;
            let first =
                self.first_levels == 1 && self.path.is_empty() && self.draft.sections.is_empty();
            if first && opens == Opens::Body {
                self.title_like = Some(words.clone());
            }
        }
        self.path.retain(|(above, _)| *above < level);
        self.opens = Some(opens);
        let words = if opens == Opens::Abstract {
            self.path.clear();
            ABSTRACT_HEADING.to_owned()
        } else {
            words
        };
        if !words.is_empty() {
            self.path.push((level, words));
        }
    }

    /// A lone heading of the first level was the title: it leaves the paths of the others.
    fn take_title(&mut self) {
        let Some(title) = self.title_like.take().filter(|_| self.first_levels == 1) else { return };
        for section in &mut self.draft.sections {
            if section.heading == title {
                section.heading.clear();
            } else if let Some(rest) = section.heading.strip_prefix(&format!("{title}: ")) {
                section.heading = rest.to_owned();
            }
        }
        if self.draft.title.is_empty() {
            self.draft.title = title;
        }
    }
}

/// Text without Pandoc's citation keys: `[@lo2020, p. 3]`, `[see @lo2020]`.
fn without_marks(text: &str) -> String {
    let mut prose = Prose::default();
    let mut rest = text;
    while let Some(start) = rest.find('[') {
        let Some(length) = rest[start..].find(']') else { break };
        let inside = &rest[start + 1..start + length];
        prose.push(&rest[..start]);
        let key = inside.contains('@')
            && inside.split('@').nth(1).is_some_and(|key| key.starts_with(char::is_alphanumeric));
        if key {
            prose.citation();
        } else {
            prose.push(&rest[start..=start + length]);
        }
        rest = &rest[start + length + 1..];
    }
    prose.push(rest);
    prose.finish()
}

/// Keys such as `title: …`; lists as `[a, b]` or as lines that begin with `- `. Anything else is passed over.
fn front_matter(text: &str, draft: &mut Draft) {
    let mut key = String::new();
    for line in text.lines() {
        let (value, continues) =
            match line.strip_prefix("- ").or_else(|| line.trim_start().strip_prefix("- ")) {
                Some(item) => (item.strip_prefix("name:").unwrap_or(item), true),
                None => match line.split_once(':') {
                    Some((name, value)) if !line.starts_with(char::is_whitespace) => {
                        key = name.trim().to_lowercase();
                        (value, false)
                    }
                    _ => continue,
                },
            };
        let value = single_spaced(value.trim().trim_matches(['"', '\'']));
        if value.is_empty() || ["|", ">", "null", "~"].contains(&value.as_str()) {
            continue;
        }
        match key.as_str() {
            "title" if !continues => draft.title = value,
            "author" | "authors" => {
                let list = value.trim_matches(['[', ']']);
                let parts =
                    if list.len() < value.len() { list.split(',').collect() } else { vec![list] };
                draft.authors.extend(
                    parts.into_iter().map(|part| part.trim().trim_matches(['"', '\'']).to_owned()),
                );
            }
            "date" | "year" | "published" => draft.dates.extend(StatedDate::iso(&value)),
            "doi" => draft.ids.extend(PaperId::doi(&value)),
            "arxiv" | "eprint" => draft.ids.extend(PaperId::arxiv(&value)),
            "pmid" => draft.ids.extend(value.parse().ok().map(PaperId::Pmid)),
            "journal" | "venue" => draft.venue = Some(value),
            "license" | "licence" => draft.licence = Some(value),
            "abstract" => draft.section(scholar_core::Section::new(ABSTRACT_HEADING, value)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn front_matter_headings_code_and_references_are_read() {
        let source = "---\ntitle: \"A: paper\"\nauthors:\n  - Ada Ng\n  - Kyle Lo\ndate: 2020-05-01\ndoi: 10.1000/X\n---\n\n\
            # A heading\n\nIntro *text* [@lo2020] with `code`[^1].\n\n## Methods\n\n```\nlet x = 1;\n```\n\n### Data\n\n\
            - one\n- two [link](http://x)\n\n[^1]: A note.\n\n## References\n\n1. Lo, Kyle. 2020. A title of a paper.\n";
        let document = read(source.as_bytes(), &Bounds::default()).expect("readable");
        let meta = &document.paper.meta;
        assert_eq!((meta.title.as_str(), meta.year), ("A: paper", Some(2020)));
        assert_eq!(meta.authors, ["Ada Ng", "Kyle Lo"]);
        assert_eq!(meta.id.to_string(), "doi:10.1000/x");
        let sections: Vec<(&str, &str)> =
            document.paper.sections.iter().map(|s| (s.heading.as_str(), s.text.as_str())).collect();
        assert_eq!(
            sections,
            [
                ("", "Intro text with code."),
                ("Methods", "let x = 1;"),
                ("Methods: Data", "one two link"),
                ("Footnotes", "A note.")
            ]
        );
        assert_eq!(document.references.len(), 1);
    }

    #[test]
    fn a_lone_first_heading_is_the_title_and_two_are_sections() {
        let title = |source: &str| {
            read(source.as_bytes(), &Bounds::default()).expect("text").paper.meta.title
        };
        assert_eq!(title("# Title\n\n## Abstract\n\nText"), "Title");
        assert_eq!(title("# One\n\ntext\n\n# Two\n\ntext"), "");
    }
}
