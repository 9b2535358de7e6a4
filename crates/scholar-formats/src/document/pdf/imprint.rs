//! What margins, footers and small print of the first pages say about where and when a paper was published.
//!
//! Only years that are printed as a date of publication are taken, in this order: that of the proceedings or journal a
//! line names, of the copyright, of a line that says `published`, of a running head, of arXiv's stamp, of the day when the
//! paper was accepted. A year in the text, or the date of the file, is none of them.

use scholar_core::{Confidence, FieldOrigin, MetaOrigin, PaperId};

use super::super::dates::{self, StatedDate};
use super::super::hyphens::join_line;
use super::super::mentions;
use super::imprint_patterns::{
    ACCEPTED, ANTHOLOGY, CITED, COPYRIGHT, EVENT, FORTHCOMING, LOCATED, MEETING, MONTH_YEAR, NOTE,
    OWN_DOI, PAGES, PROCEEDINGS, PUBLISHED, RANGE, STAMP, VANCOUVER, YEAR, is_sentence,
};
use super::lines::Line;
use super::page::Page;
use super::venue;

/// What was found, and where.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Imprint {
    /// Date of publication.
    pub(super) date: Option<(StatedDate, FieldOrigin)>,
    /// Journal, book or conference.
    pub(super) venue: Option<(String, FieldOrigin)>,
    /// Identifiers printed for the paper itself.
    pub(super) ids: Vec<(PaperId, FieldOrigin)>,
}

/// Years a paper can have been published in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Years {
    /// The last one.
    pub(super) latest: i16,
}

/// The first year that is believed: before it, four digits in a margin are more likely a number.
const EARLIEST: i16 = 1900;

impl Years {
    fn plausible(self, text: &str) -> Option<i16> {
        dates::year(text).filter(|year| (EARLIEST..=self.latest).contains(year))
    }
}

/// Lines that stand together in a margin or in small print.
#[derive(Debug, Clone)]
struct Block {
    page: u32,
    text: String,
    /// Above or below the text of the page, as opposed to between its lines.
    margin: bool,
    last: Line,
}

/// Longest text of a stamp, in bytes.
const LONGEST_STAMP: usize = 300;

/// Furniture further from the edges than this is text.
const MARGIN: f64 = 0.115;

/// Reads the lines of the first pages, with their furniture, and arXiv's stamp, which stands sideways. The first page has
/// the imprint, the others repeat the running head.
///
/// `stated` are DOIs that the file gives as its own: one of them that is printed is the paper's.
pub(super) fn read(
    lines: &[Line],
    pages: &[Page],
    body: f64,
    years: Years,
    stated: &[PaperId],
) -> Imprint {
    let blocks = blocks(lines, pages, body);
    let mut imprint = Imprint::default();
    let stamp = pages.first().map(|page| page.sideways.as_str()).unwrap_or_default();
    let at = |origin, confidence| FieldOrigin { origin, confidence };
    // A page that lies on its side is no stamp.
    let stamp = Some(stamp).filter(|stamp| stamp.len() <= LONGEST_STAMP).unwrap_or_default();
    if let [only] = &mentions::arxiv_ids(stamp)[..] {
        imprint.ids.push((only.clone(), at(MetaOrigin::MarginStamp, Confidence::High)));
    }
    own_ids(&blocks, stated, &mut imprint);
    imprint.venue = blocks.iter().find_map(|block| {
        let name = venue::find(&block.text).filter(|_| block.margin || block.page == 1)?;
        Some((name, at(origin(block), Confidence::Medium)))
    });
    imprint.date = date(&blocks, stamp, years);
    imprint
}

fn origin(block: &Block) -> MetaOrigin {
    if block.margin { MetaOrigin::RunningHead } else { MetaOrigin::Page }
}

/// Lines in the margins of the first pages, and those in smaller type on the first one, joined where they follow each other.
fn blocks(lines: &[Line], pages: &[Page], body: f64) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for line in lines {
        let height = usize::try_from(line.page)
            .ok()
            .and_then(|number| pages.get(number.checked_sub(1)?))
            .map_or(800.0, |page| page.height);
        let margin = line.y < height * MARGIN || line.y > height * (1.0 - MARGIN);
        let small = line.page == 1 && line.size < body * 0.93;
        // A footnote stands in the margin's place and is none of it.
        if !(margin || small) || (NOTE.is_match(&line.text) && line.y > height / 2.0) {
            continue;
        }
        let goes_on = |block: &Block| {
            let last = &block.last;
            let step = line.y - last.y;
            last.page == line.page
                && step > 0.0
                && step < line.size * 1.7
                && (line.size - last.size).abs() < 1.2
                && line.left < last.right
                && last.left < line.right
                && !OWN_DOI.is_match(&line.text)
        };
        match blocks.iter_mut().rev().take(4).find(|block| goes_on(block)) {
            Some(block) => {
                join_line(&mut block.text, &line.text);
                block.margin |= margin;
                block.last = line.clone();
            }
            None => blocks.push(Block {
                page: line.page,
                text: line.text.clone(),
                margin,
                last: line.clone(),
            }),
        }
    }
    blocks
}

/// DOIs and Anthology identifiers that stand for the paper itself: in a line that begins with one, or in a margin. A
/// sentence of a footnote that mentions one is about another work; two different ones contradict each other, unless one
/// of them stands in the margin or is repeated.
fn own_ids(blocks: &[Block], stated: &[PaperId], imprint: &mut Imprint) {
    let mut dois: Vec<Printed> = Vec::new();
    for block in blocks {
        let own = OWN_DOI.is_match(&block.text) || names_itself(&block.text);
        let marginal = block.margin && !is_sentence(&block.text);
        let found = mentions::dois(&block.text);
        if let [only] = &found[..]
            && (own || marginal || stated.contains(only))
        {
            match dois.iter_mut().find(|printed| printed.id == *only) {
                Some(printed) => printed.again = true,
                None => dois.push(Printed {
                    id: only.clone(),
                    origin: origin(block),
                    marginal,
                    again: false,
                }),
            }
        }
        if marginal && let Some(id) = ANTHOLOGY.captures(&block.text).and_then(|found| found.get(1))
        {
            let at = FieldOrigin { origin: origin(block), confidence: Confidence::Medium };
            let id = PaperId::Acl(id.as_str().to_owned());
            if imprint.ids.iter().all(|(known, _)| *known != id) {
                imprint.ids.push((id, at));
            }
        }
    }
    for better in [
        &|printed: &Printed| stated.contains(&printed.id),
        &|printed: &Printed| printed.again,
        &|printed: &Printed| printed.marginal,
    ] as [&dyn Fn(&Printed) -> bool; 3]
    {
        if dois.len() > 1 && dois.iter().any(better) {
            dois.retain(better);
        }
    }
    if let [Printed { id, origin, again, .. }] = &dois[..] {
        let sure = *again || stated.contains(id);
        let confidence = if sure { Confidence::High } else { Confidence::Medium };
        imprint.ids.push((id.clone(), FieldOrigin { origin: *origin, confidence }));
    }
}

/// A DOI as it is printed.
struct Printed {
    id: PaperId,
    origin: MetaOrigin,
    /// In a margin, in a line that is no sentence.
    marginal: bool,
    /// In more than one place.
    again: bool,
}

/// Whether a block is a citation of the paper itself: its copyright or its `cite this article`.
fn names_itself(text: &str) -> bool {
    let lower = text.to_lowercase();
    COPYRIGHT.is_match(text)
        || ["cite this article", "citation:", "article reference", "to cite this"]
            .iter()
            .any(|words| lower.contains(words))
}

/// The date of publication, by what states it.
fn date(blocks: &[Block], stamp: &str, years: Years) -> Option<(StatedDate, FieldOrigin)> {
    let only = |year: i16| StatedDate { year, month: None, day: None };
    let mut found: Vec<(u8, StatedDate, FieldOrigin)> = Vec::new();
    for block in blocks {
        if FORTHCOMING.is_match(&block.text) && block.page == 1 && !block.margin {
            continue;
        }
        if let Some((rank, year)) = block_year(block, years) {
            let confidence = match rank {
                0..=2 => Confidence::High,
                3 => Confidence::Medium,
                _ => Confidence::Low,
            };
            found.push((rank, only(year), FieldOrigin { origin: origin(block), confidence }));
        }
    }
    if let Some(parts) = STAMP.captures(stamp).filter(|_| !mentions::arxiv_ids(stamp).is_empty()) {
        let part = |at| parts.get(at).map_or("", |part| part.as_str());
        if let Some(year) = years.plausible(part(3)) {
            let date = StatedDate { year, month: dates::month(part(2)), day: dates::day(part(1)) };
            let at = FieldOrigin { origin: MetaOrigin::MarginStamp, confidence: Confidence::High };
            found.push((4, date, at));
        }
    }
    found.into_iter().min_by_key(|(rank, ..)| *rank).map(|(_, date, at)| (date, at))
}

/// The year a block states, and how well: 0 proceedings or journal with a copyright, 1 copyright, 2 proceedings or
/// journal, 3 published, 4 a running head, 5 accepted.
fn block_year(block: &Block, years: Years) -> Option<(u8, i16)> {
    let text = &block.text;
    let plausible = |text: &str| years.plausible(text);
    let copyright = COPYRIGHT
        .captures(text)
        .and_then(|found| found.get(1).or_else(|| found.get(2)))
        .and_then(|year| plausible(year.as_str()));
    let without = PAGES.replace_all(text, " ");
    let without = RANGE.replace_all(&without, " ");
    let mut stated: Vec<i16> =
        YEAR.find_iter(&without).filter_map(|year| plausible(year.as_str())).collect();
    stated.sort_unstable();
    stated.dedup();
    if ACCEPTED.is_match(text) || PUBLISHED.is_match(text) {
        if let Some(rest) = PUBLISHED.captures(text).and_then(|found| found.get(1)) {
            let year = YEAR.find(rest.as_str()).and_then(|year| plausible(year.as_str()));
            if let Some(year) = year {
                return Some((3, year));
            }
        }
        return copyright.map(|year| (1, year)).or_else(|| stated.last().map(|year| (5, *year)));
    }
    if is_sentence(text) && copyright.is_none() {
        return None;
    }
    let proceedings = PROCEEDINGS.is_match(text) || (PAGES.is_match(text) && EVENT.is_match(text));
    let month = MONTH_YEAR.captures(text).and_then(|found| plausible(found.get(1)?.as_str()));
    if let Some(year) = copyright {
        // The meeting's own date is surer than the copyright of a template.
        return Some(if proceedings { (0, month.unwrap_or(year)) } else { (1, year) });
    }
    let one = match stated.as_slice() {
        [one] => Some(*one),
        _ => None,
    };
    if proceedings {
        return month.or(one).or_else(|| stated.last().copied()).map(|year| (2, year));
    }
    // A running head: one year beside the name of a journal or meeting, and nothing that is a sentence.
    let head = block.margin && text.split_whitespace().count() <= 24 && EVENT.is_match(text);
    let journal = block.margin
        && [&CITED, &LOCATED, &VANCOUVER, &MEETING].iter().any(|pattern| pattern.is_match(text));
    (head || journal).then(|| month.or(one)).flatten().map(|year| (4, year))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(page: u32, y: f64, text: &str) -> Line {
        Line { page, right: 500.0, ..Line::sample(text, y, 9.0) }
    }

    fn pages(sideways: &str) -> Vec<Page> {
        let page = |number| Page { number, width: 600.0, height: 800.0, ..Page::default() };
        vec![Page { sideways: sideways.to_owned(), ..page(1) }, page(2)]
    }

    fn imprint(lines: &[(u32, f64, &str)]) -> Imprint {
        let lines: Vec<Line> = lines.iter().map(|(page, y, text)| line(*page, *y, text)).collect();
        read(&lines, &pages(""), 10.0, Years { latest: 2027 }, &[])
    }

    fn year(lines: &[(u32, f64, &str)]) -> Option<i16> {
        imprint(lines).date.map(|(date, _)| date.year)
    }

    #[test]
    fn footers_of_proceedings_state_book_and_year() {
        for (text, name, year) in [
            (
                "Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics (ACL), Philadelphia, July 2002, pp. 481-488.",
                "Proceedings of the 40th Annual Meeting of the Association for Computational Linguistics (ACL)",
                2002,
            ),
            (
                "Proceedings of the 2012 Joint Conference on Things, pages 1455\u{2013}1465, Jeju Island, Korea, 12\u{2013}14 July 2012. c\u{a9}2012 Association",
                "Proceedings of the 2012 Joint Conference on Things",
                2012,
            ),
            (
                "Proceedings of NAACL-HLT 2018, pages 84\u{2013}91, New Orleans, Louisiana, June 1 - 6, 2018. c\u{a9}2017 Association",
                "Proceedings of NAACL-HLT 2018",
                2018,
            ),
            (
                "Coling 2010: Posters, pages 197\u{2013}205, Beijing, August 2010",
                "Coling 2010: Posters",
                2010,
            ),
            (
                "Proceedings of the 7th Workshop on Cultural Heritage, Social Sciences, and Humanities, pages 55\u{2013}64, Sofia, Bulgaria, August 8 2013.",
                "Proceedings of the 7th Workshop on Cultural Heritage, Social Sciences, and Humanities",
                2013,
            ),
        ] {
            let found = imprint(&[(1, 770.0, text)]);
            assert_eq!(found.venue.map(|(name, _)| name).as_deref(), Some(name));
            assert_eq!(found.date.map(|(date, _)| date.year), Some(year), "{text}");
        }
    }

    #[test]
    fn running_heads_state_journal_and_year() {
        let found = imprint(&[
            (2, 30.0, "Computational Linguistics Volume 39, Number 1"),
            (1, 770.0, "\u{a9} 2013 Association"),
        ]);
        assert_eq!(found.venue.map(|(name, _)| name).as_deref(), Some("Computational Linguistics"));
        assert_eq!(found.date.map(|(date, _)| date.year), Some(2013));
        let found = imprint(&[(1, 30.0, "J. Chem. Phys. 12 (2010) 100-110")]);
        assert_eq!(found.venue.map(|(name, _)| name).as_deref(), Some("J. Chem. Phys."));
        assert_eq!(found.date.map(|(date, _)| date.year), Some(2010));
        for (text, name, year) in [
            (
                "De Marchis et al. Journal of Engineering (2016) 13:22",
                "Journal of Engineering",
                2016,
            ),
            ("Immunology. 2022;165:141\u{2013}142. \u{a9} 2022 A Publisher", "Immunology", 2022),
            ("SPAA\u{2019}04, June 27\u{2013}30, 2004, Barcelona, Spain.", "SPAA\u{2019}04", 2004),
        ] {
            let found = imprint(&[(1, 770.0, text)]);
            assert_eq!(found.venue.map(|(name, _)| name).as_deref(), Some(name));
            assert_eq!(found.date.map(|(date, _)| date.year), Some(year), "{text}");
        }
    }

    #[test]
    fn only_years_of_publication_count() {
        assert_eq!(year(&[(1, 30.0, "Journal of Things, Vol. 2, 1890")]), None);
        assert_eq!(year(&[(1, 30.0, "Journal of Things, Vol. 2, 2031")]), None);
        assert_eq!(year(&[(1, 30.0, "Journal of Things, Vol. 2, 2027")]), Some(2027));
        assert_eq!(year(&[(1, 30.0, "Journal of Things, Vol. 2, pp. 1990-2001")]), None);
        assert_eq!(year(&[(1, 400.0, "This work is in press (Ng, 2009).")]), None);
        assert_eq!(
            year(&[(
                1,
                600.0,
                "We thank the 2009 workshop and all who came to it for what they said."
            )]),
            None
        );
        assert_eq!(
            year(&[(1, 600.0, "Received May 1, 2011; accepted August 3, 2012")]),
            Some(2012)
        );
        assert_eq!(
            year(&[(
                1,
                600.0,
                "Received May 1, 2011; accepted August 3, 2012; published online January 5, 2013"
            )]),
            Some(2013)
        );
        assert_eq!(year(&[(1, 780.0, "1999")]), None);
        assert_eq!(year(&[(3, 770.0, "2The \u{201c}id\u{201d} is of the Journal AVE2008")]), None);
    }

    #[test]
    fn the_stamp_in_the_margin_names_the_paper_and_its_day() {
        let found = read(
            &[],
            &pages("arXiv:0908.0054v1 [cs.CL] 1 Aug 2009"),
            10.0,
            Years { latest: 2027 },
            &[],
        );
        assert_eq!(found.ids[0].0, PaperId::arxiv("0908.0054").expect("valid"));
        let (date, at) = found.date.expect("stated");
        assert_eq!(
            (date.day().map(|day| day.to_string()).as_deref(), at.origin),
            (Some("2009-08-01"), MetaOrigin::MarginStamp)
        );
    }

    #[test]
    fn a_page_on_its_side_is_no_stamp() {
        let stamped =
            |text: &str| read(&[], &pages(text), 10.0, Years { latest: 2027 }, &[]).ids.len();
        assert_eq!(stamped("arXiv:0908.0054v1 [cs.CL] 1 Aug 2009"), 1);
        assert_eq!(stamped("See arXiv:0908.0054 and arXiv:0908.0055"), 0);
        assert_eq!(stamped(&format!("{} arXiv:0908.0054", "words on a table ".repeat(40))), 0);
    }

    #[test]
    fn identifiers_of_other_works_are_left() {
        let ids = |lines: &[(u32, f64, &str)]| -> Vec<String> {
            imprint(lines).ids.iter().map(|(id, _)| id.to_string()).collect()
        };
        assert_eq!(ids(&[(1, 640.0, "doi:10.1162/COLI_a_00138")]), ["doi:10.1162/coli_a_00138"]);
        assert_eq!(
            ids(&[(
                1,
                640.0,
                "1 The data are at https://doi.org/10.5281/zenodo.1 and free for all who want them"
            )]),
            [""; 0]
        );
        assert_eq!(
            ids(&[(1, 30.0, "doi:10.1000/a"), (1, 700.0, "doi:10.1000/b")]),
            ["doi:10.1000/a"]
        );
        assert_eq!(ids(&[(1, 600.0, "doi:10.1000/a"), (1, 640.0, "doi:10.1000/b")]), [""; 0]);
        assert_eq!(
            ids(&[
                (1, 600.0, "doi:10.1000/a"),
                (1, 640.0, "doi:10.1000/b"),
                (2, 30.0, "doi:10.1000/a")
            ]),
            ["doi:10.1000/a"]
        );
        assert_eq!(
            ids(&[(1, 780.0, "https://aclanthology.org/2020.acl-main.1")]),
            ["acl:2020.acl-main.1"]
        );
    }
}
