//! Cutting a paper into passages: consecutive words of one kind, exact slices, every word once.

use crate::ids::PassageId;
use crate::paper::{Paper, SECTION_BREAK, Section};
use crate::passage::{Passage, PassageKind};
use crate::place::{Place, places_within};
use crate::span::CharSpan;
use crate::text::blocks::{Block, blocks, prose_kind};
use crate::text::normalise::is_space;

/// Words in a passage. Source: Nature article, methods, and every upstream configuration (the preprint says 250).
pub const PASSAGE_WORDS: usize = 256;
/// Shortest tail of a section that stands alone, in words. Ours: a shorter one says too little to be found.
pub const SHORTEST_TAIL_WORDS: usize = 64;

/// How papers are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PassageRules {
    /// Words in a passage, at least 1.
    pub words: usize,
    /// A last block with fewer words joins the block before it, if there is one. 0 joins nothing.
    pub min_last_words: usize,
    /// Whether a last block shorter than `words` is kept at all.
    pub keep_last: bool,
    /// Whether a passage may reach over the end of a section. If not, it holds one [`PassageKind`] only.
    pub cross_sections: bool,
}

impl PassageRules {
    /// The paper's: blocks of 256 words over the whole text, short tail kept.
    pub fn paper() -> Self {
        Self { words: PASSAGE_WORDS, min_last_words: 0, keep_last: true, cross_sections: true }
    }

    /// Ours: the same blocks inside each section and of one kind, a short tail joined to its neighbour.
    pub fn sections() -> Self {
        Self {
            words: PASSAGE_WORDS,
            min_last_words: SHORTEST_TAIL_WORDS,
            keep_last: true,
            cross_sections: false,
        }
    }
}

/// A run of words of the text, in bytes and characters. Papers of millions of words are cut without a list of them.
#[derive(Clone, Copy)]
struct WordBlock<'a> {
    /// Where its first word stands.
    section: &'a Section,
    kind: PassageKind,
    words: usize,
    bytes: (usize, usize),
    chars: (usize, usize),
}

/// Cuts `paper` by `rules`. Each text is an exact slice of [`Paper::text`] from the first to the last character of
/// its words; a passage that crosses sections carries the heading of its first word.
pub fn cut(paper: &Paper, rules: PassageRules) -> Vec<Passage> {
    let text = paper.text();
    let places = all_places(&paper.sections);
    (0_u32..)
        .zip(word_blocks(&paper.sections, rules))
        .map(|(ordinal, WordBlock { section, kind, words: _, bytes, chars })| Passage {
            id: PassageId { paper: paper.meta.id.clone(), ordinal },
            title: paper.meta.title.clone(),
            section: section.heading.clone(),
            kind,
            text: text[bytes.0..bytes.1].to_owned(),
            span: CharSpan::new(chars.0, chars.1),
            places: places_within(&places, chars.0, chars.1),
        })
        .collect()
}

/// Where on the pages the joined text stands.
fn all_places(sections: &[Section]) -> Vec<Place> {
    if sections.iter().all(|section| section.places.is_empty()) {
        return Vec::new();
    }
    let mut start = 0;
    let mut places = Vec::new();
    for section in sections {
        let own = section.places.iter();
        places.extend(own.map(|place| Place { start: start + place.start, ..*place }));
        start += section.text.chars().count() + SECTION_BREAK.chars().count();
    }
    places
}

/// The blocks of `sections`, with their places in the joined text.
fn word_blocks(sections: &[Section], rules: PassageRules) -> Vec<WordBlock<'_>> {
    let size = rules.words.max(1);
    let (mut byte, mut char) = (0, 0);
    let mut all: Vec<WordBlock<'_>> = Vec::new();
    // Where the blocks begin that belong together: all of them, or those of a section.
    let mut first = 0;
    for section in sections {
        let mut is_inside = false;
        let mut kinds = kinds_of(section, rules).into_iter();
        let mut kind = kinds.next();
        let section_start = byte;
        for c in section.text.chars() {
            while let Some(current) = kind.as_ref()
                && byte - section_start >= current.range.end
                && let Some(next) = kinds.next()
            {
                if next.kind != current.kind {
                    end(&mut all, first, rules);
                    first = all.len();
                }
                kind = Some(next);
            }
            let is_word = !is_space(c);
            let begins = is_word && !is_inside;
            let has_room = all[first..].last().is_some_and(|block| block.words < size);
            if begins && !has_room {
                let kind = kind.as_ref().map_or(PassageKind::Body, |block| block.kind);
                let (bytes, chars) = ((byte, byte), (char, char));
                all.push(WordBlock { section, kind, words: 0, bytes, chars });
            }
            byte += c.len_utf8();
            char += 1;
            if let Some(block) = all.last_mut().filter(|_| is_word) {
                block.words += usize::from(begins);
                (block.bytes.1, block.chars.1) = (byte, char);
            }
            is_inside = is_word;
        }
        if !rules.cross_sections {
            end(&mut all, first, rules);
            first = all.len();
        }
        byte += SECTION_BREAK.len();
        char += SECTION_BREAK.len();
    }
    if rules.cross_sections {
        end(&mut all, 0, rules);
    }
    all
}

/// What a section consists of. Passages that cross sections hold whatever stands there, as the paper's do; they are of
/// the kind of the section in which they begin.
fn kinds_of(section: &Section, rules: PassageRules) -> Vec<Block> {
    if rules.cross_sections {
        vec![Block { range: 0..section.text.len(), kind: prose_kind(&section.heading) }]
    } else {
        blocks(&section.heading, &section.text)
    }
}

/// Leaves out or joins the last of the blocks from `first` on, if it is a short one.
fn end(all: &mut Vec<WordBlock<'_>>, first: usize, rules: PassageRules) {
    let PassageRules { words, min_last_words, keep_last, cross_sections: _ } = rules;
    let Some(last) = all[first..].last().copied() else { return };
    if last.words < words.max(1) && !keep_last {
        all.pop();
    } else if last.words < min_last_words && all.len() - first > 1 {
        all.pop();
        if let Some(block) = all.last_mut() {
            block.words += last.words;
            (block.bytes.1, block.chars.1) = (last.bytes.1, last.chars.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::PaperId;
    use crate::paper::PaperMeta;

    fn paper(texts: &[(&str, String)]) -> Paper {
        Paper {
            meta: PaperMeta::new(PaperId::Pmid(1), "T"),
            sections: texts
                .iter()
                .map(|(heading, text)| Section::new(*heading, text.clone()))
                .collect(),
            references: Vec::new(),
            records: Vec::new(),
        }
    }

    #[test]
    fn golden_block_sizes() {
        let check = |n: usize, rules: PassageRules, expect: &[usize]| {
            let paper = paper(&[("", vec!["w"; n].join(" "))]);
            let sizes: Vec<usize> = cut(&paper, rules)
                .iter()
                .map(|passage| passage.text.split_whitespace().count())
                .collect();
            assert_eq!(sizes, expect, "{n} {rules:?}");
        };
        let upstream = PassageRules::paper();
        check(0, upstream, &[]);
        check(1, upstream, &[1]);
        check(256, upstream, &[256]);
        check(257, upstream, &[256, 1]);
        check(600, upstream, &[256, 256, 88]);
        check(257, PassageRules { min_last_words: 64, ..upstream }, &[257]);
        check(255, PassageRules { keep_last: false, ..upstream }, &[]);
        check(600, PassageRules { keep_last: false, ..upstream }, &[256, 256]);
        check(20, PassageRules::sections(), &[20]);
    }

    #[test]
    fn sections_are_crossed_only_by_the_papers_rule() {
        let paper = paper(&[("Abstract", "α one".to_owned()), ("Methods", "two three".to_owned())]);
        let ours = cut(&paper, PassageRules::sections());
        assert_eq!(ours[0].kind, PassageKind::Abstract);
        assert_eq!((ours[1].section.as_str(), ours[1].text.as_str()), ("Methods", "two three"));
        assert_eq!(ours[1].span, CharSpan::new(7, 16));
        assert_eq!(ours[1].id.ordinal, 1);
        let upstream = cut(&paper, PassageRules::paper());
        assert_eq!(upstream.len(), 1);
        assert_eq!(upstream[0].text, "α one\n\ntwo three");
    }

    proptest! {
        #[test]
        fn passages_cover_every_word_once_and_slice_back(
            texts in proptest::collection::vec("[a-zé .\u{a0}\u{1c}]{0,80}", 0..5),
            words in 1_usize..9,
            min_last_words in 0_usize..5,
            cross_sections: bool,
        ) {
            let sections: Vec<(&str, String)> = texts.into_iter().map(|text| ("H", text)).collect();
            let paper = paper(&sections);
            let text = paper.text();
            let rules = PassageRules { words, min_last_words, keep_last: true, cross_sections };
            let passages = cut(&paper, rules);
            let split = |text: &str| -> Vec<String> {
                text.split(is_space).filter(|w| !w.is_empty()).map(str::to_owned).collect()
            };
            let covered: Vec<String> = passages.iter().flat_map(|p| split(&p.text)).collect();
            prop_assert_eq!(covered, split(&text));
            let mut end = 0;
            for passage in &passages {
                prop_assert_eq!(passage.span.slice(&text), Some(passage.text.as_str()));
                prop_assert!(passage.span.start >= end);
                end = passage.span.end;
            }
        }
    }
}
