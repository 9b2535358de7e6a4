//! Whether a printed reference is the paper that a registry offers for it. Metadata is never guessed: what is not
//! confirmed twice is not the same paper.

use std::collections::BTreeSet;

use scholar_core::PaperMeta;
use scholar_core::text::normalise::title_key;
use scholar_formats::PrintedReference;

/// Shortest title, in words, that identifies a paper inside of a reference's text.
const FEWEST_TITLE_WORDS: usize = 4;

/// Share of words that two printings of one title have in common at least. Ours: it lets pass one changed word in ten.
const SAME_TITLE: f64 = 0.9;

/// Whether `candidate` is the paper that `reference` names.
///
/// The title must be the same (its letters and digits, or at
/// least nine in ten of its words), and year and first author must agree as far as both sides state them, one of them
/// at least; without a stated title all three must stand in the reference's text.
pub fn is_same_paper(reference: &PrintedReference, candidate: &PaperMeta) -> bool {
    let theirs = title_key(&candidate.title);
    if theirs.is_empty() {
        return false;
    }
    let whole = format!(" {} ", title_key(&reference.text));
    let year = year_agrees(reference.year, &reference.text, candidate.year);
    let author = author_agrees(reference.first_author.as_deref(), &whole, candidate);
    match reference.title.as_deref().map(title_key).filter(|title| !title.is_empty()) {
        Some(ours) => {
            let same = ours == theirs
                || (ours.split(' ').count() > FEWEST_TITLE_WORDS
                    && overlap(&ours, &theirs) >= SAME_TITLE);
            let contradicted = year == Some(false) || author == Some(false);
            same && !contradicted && (year == Some(true) || author == Some(true))
        }
        None => {
            theirs.split(' ').count() >= FEWEST_TITLE_WORDS
                && whole.contains(&format!(" {theirs} "))
                && year == Some(true)
                && author == Some(true)
        }
    }
}

/// Words in common among all words of both (Jaccard).
fn overlap(a: &str, b: &str) -> f64 {
    let a: BTreeSet<&str> = a.split(' ').collect();
    let b: BTreeSet<&str> = b.split(' ').collect();
    let (common, all) = (a.intersection(&b).count(), a.union(&b).count());
    let number = |n: usize| f64::from(u32::try_from(n).unwrap_or(u32::MAX));
    number(common) / number(all.max(1))
}

/// Whether the years agree: preprint and print are often a year apart. `None` if a side states none.
fn year_agrees(stated: Option<i16>, text: &str, theirs: Option<i16>) -> Option<bool> {
    let theirs = theirs?;
    let near = |year: i16| (year - theirs).abs() <= 1;
    if let Some(year) = stated {
        return Some(near(year));
    }
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| run.len() == 4);
    let mut years = runs.filter_map(|run| run.parse().ok()).filter(|y| (1500..=2100).contains(y));
    let mut any = false;
    let found = years.any(|year: i16| {
        any = true;
        near(year)
    });
    any.then_some(found)
}

/// Whether the first author's surname is one of theirs. `None` if a side states none.
fn author_agrees(stated: Option<&str>, whole: &str, candidate: &PaperMeta) -> Option<bool> {
    let theirs: Vec<String> = candidate.authors.iter().map(|name| title_key(name)).collect();
    if theirs.is_empty() {
        return None;
    }
    if let Some(surname) = stated.map(title_key).filter(|surname| !surname.is_empty()) {
        let word = format!(" {surname} ");
        return Some(theirs.iter().any(|name| format!(" {name} ").contains(&word)));
    }
    if whole.trim().is_empty() {
        return None;
    }
    // Nobody says which words of the text are names: the last word of the first author's name must be among them.
    let surname = theirs.first()?.rsplit(' ').next()?;
    Some(whole.contains(&format!(" {surname} ")))
}

#[cfg(test)]
mod tests {
    use scholar_core::PaperId;

    use super::*;

    fn attention() -> PaperMeta {
        let mut meta = PaperMeta::new(PaperId::Pmid(1), "Attention Is All You Need");
        meta.authors = vec!["Ashish Vaswani".to_owned(), "Noam Shazeer".to_owned()];
        meta.year = Some(2017);
        meta
    }

    fn text(text: &str) -> PrintedReference {
        PrintedReference { text: text.to_owned(), ..PrintedReference::default() }
    }

    #[test]
    fn a_printed_reference_must_have_title_year_and_author() {
        let paper = attention();
        assert!(is_same_paper(
            &text("A. Vaswani et al. Attention is all you need. NIPS 2017."),
            &paper
        ));
        assert!(is_same_paper(&text("Vaswani A: Attention is all you need, 2018"), &paper));
        assert!(
            !is_same_paper(&text("Vaswani A: Attention is all you need, 2023"), &paper),
            "year"
        );
        assert!(
            !is_same_paper(&text("Smith J: Attention is all you need, 2017"), &paper),
            "author"
        );
        assert!(
            !is_same_paper(&text("Vaswani A: Attention is all we need, 2017"), &paper),
            "title"
        );
        assert!(!is_same_paper(&text("Vaswani A: Attention is all you need"), &paper), "no year");
        let short = PaperMeta { title: "Deep learning".to_owned(), ..attention() };
        assert!(!is_same_paper(&text("Vaswani: Deep learning of x, 2017"), &short), "too short");
    }

    #[test]
    fn a_stated_title_needs_one_confirmation_and_no_contradiction() {
        let paper = attention();
        let with = |title: &str, year, author: Option<&str>| PrintedReference {
            title: Some(title.to_owned()),
            year,
            first_author: author.map(str::to_owned),
            ..PrintedReference::default()
        };
        let title = "Attention is all you need!";
        assert!(is_same_paper(&with(title, Some(2017), None), &paper));
        assert!(is_same_paper(&with(title, None, Some("Vaswani")), &paper));
        assert!(!is_same_paper(&with(title, None, None), &paper), "nothing confirms it");
        assert!(!is_same_paper(&with(title, Some(2017), Some("Smith")), &paper));
        assert!(!is_same_paper(&with("Attention", Some(2017), Some("Vaswani")), &paper));
        assert!(!is_same_paper(&with("", Some(2017), Some("Vaswani")), &paper));
    }
}
