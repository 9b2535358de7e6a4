//! ACL Anthology and arXiv: papers whose titles ask, or name what a method is for.
//!
//! Nobody labelled these. Roles are those of unmistakable wording ([`super::cue_role`]). A title that asks is answered by
//! the results and conclusions of its abstract; `… for TASK` becomes a question on methods for the task, which what is
//! proposed and what came out answer; background answers neither, nor do abstracts on other tasks. Of the anthology,
//! papers from 2016 on are used, whose licence is CC BY; of arXiv, those on computing and statistics.

use super::super::abstracts::{flat, sentences};
use super::super::error::DataError;
use super::super::nearest::Nearest;
use super::super::source::{PaperText, Source, SourceName, read_papers};
use super::super::wording::{coverage, stems};
use super::labels::cue_role;
use super::{LabelledSentence, Maker, SentenceRow, Use, is_reserved};
use scholar_core::SentenceRole::{self, Background, Conclusion, Method, Purpose, Result as Found};

/// First year under CC BY 4.0.
const FIRST_YEAR: u32 = 2016;

/// Papers that give roles, and of each kind of question at most, for each collection.
const ROLE_PAPERS: usize = 2500;
const QUESTIONS: usize = 900;

/// What is asked of the task a method is for.
const FORMS: [&str; 6] = [
    "What methods are there for {}?",
    "Which approaches work for {}?",
    "How can {} be improved?",
    "How is {} done?",
    "What improves {}?",
    "Which techniques have been proposed for {}?",
];

/// A task has so many words.
const TASK_WORDS: std::ops::RangeInclusive<usize> = 2..=7;

pub(super) fn papers(source: &Source, maker: &mut Maker<'_>) -> Result<(), DataError> {
    let mut papers = read_papers(&source.files[0], maker.settings.max_rejected_fraction)?;
    papers.retain(|paper| is_usable(source.name, paper));
    maker.random.shuffle(&mut papers);
    // Sizes for searching, not for asking.
    papers.truncate(3 * maker.settings.max_papers);
    let texts: Vec<String> =
        papers.iter().map(|paper| format!("{} {}", paper.title, paper.text)).collect();
    let nearest = Nearest::of(texts.iter().map(String::as_str));
    let name = source.name.name();
    for paper in papers.iter().take(ROLE_PAPERS) {
        maker.add(Use::Train, row("", name, paper, |_| None));
    }
    let (mut asking, mut naming) = (0, 0);
    for paper in &papers {
        if asking < QUESTIONS
            && let Some(question) = asked(&paper.title)
        {
            asking += 1;
            let answers = |role| answer(role, &[Found, Conclusion], &[Background, Purpose, Method]);
            let mut own = row(&question, &format!("{name}, title asks"), paper, answers);
            // The question is the title.
            own.title.clear();
            maker.add(Use::Train, own);
            other(&question, &papers, &nearest, name, maker);
        } else if naming < QUESTIONS
            && let Some(task) = task(&paper.title)
        {
            naming += 1;
            let question = FORMS[maker.random.below(FORMS.len())].replace("{}", task);
            let answers = |role| answer(role, &[Purpose, Found], &[Background]);
            maker.add(
                Use::Train,
                row(&question, &format!("{name}, method for a task"), paper, answers),
            );
            other(&question, &papers, &nearest, name, maker);
        }
    }
    Ok(())
}

/// Yes for some roles, no for others, else unknown.
fn answer(role: SentenceRole, yes: &[SentenceRole], no: &[SentenceRole]) -> Option<bool> {
    if yes.contains(&role) {
        return Some(true);
    }
    no.contains(&role).then_some(false)
}

/// A paper that shares words with the question and not most of them answers nothing.
fn other(
    question: &str,
    papers: &[PaperText],
    nearest: &Nearest,
    name: &str,
    maker: &mut Maker<'_>,
) {
    let asked = stems(question);
    let found = nearest.find(question, 8, |n| {
        let paper = &papers[n];
        coverage(&asked, &stems(&format!("{} {}", paper.title, paper.text))) <= 0.5
    });
    if found.is_empty() {
        return;
    }
    let paper = &papers[found[maker.random.below(found.len())]];
    let mut row = row(question, &format!("{name}, other paper"), paper, |_| None);
    for one in &mut row.sentences {
        one.answers = Some(false);
    }
    maker.add(Use::Train, row);
}

fn row(
    question: &str,
    source: &str,
    paper: &PaperText,
    answers: impl Fn(SentenceRole) -> Option<bool>,
) -> SentenceRow {
    let labelled = sentences(&flat(&paper.text)).into_iter().enumerate().map(|(n, text)| {
        let role = cue_role(&text, n);
        LabelledSentence { role, answers: role.and_then(&answers), ..LabelledSentence::new(text) }
    });
    SentenceRow {
        question: question.to_owned(),
        paper: paper.id.clone(),
        title: paper.title.clone(),
        in_abstract: true,
        whole: true,
        sentences: labelled.collect(),
        source: source.to_owned(),
    }
}

fn is_usable(source: SourceName, paper: &PaperText) -> bool {
    let words = paper.text.split_whitespace().count();
    let open = match source {
        SourceName::Acl => year(&paper.id).is_some_and(|year| year >= FIRST_YEAR),
        _ => paper.field.starts_with("cs") || paper.field.starts_with("stat"),
    };
    open && (50..400).contains(&words) && !is_reserved(&paper.id)
}

/// The year in a name of the anthology: `2020.acl-main.1`, or `P18-1001` before 2020.
fn year(id: &str) -> Option<u32> {
    if let Some((year, _)) = id.split_once('.') {
        return year.parse().ok();
    }
    let short: u32 = id.get(1..3)?.parse().ok()?;
    Some(if short < 50 { 2000 + short } else { 1900 + short })
}

/// The question in a title, with its mark.
fn asked(title: &str) -> Option<String> {
    let (before, _) = title.split_once('?')?;
    let question = before.rsplit(". ").next()?.trim();
    let question = match question.split_once(": ") {
        Some((_, after)) if after.split_whitespace().count() >= 4 => after,
        _ => question,
    };
    (question.split_whitespace().count() >= 4).then(|| format!("{question}?"))
}

/// What a method is for.
fn task(title: &str) -> Option<&str> {
    if title.contains('?') {
        return None;
    }
    let (_, task) = title.rsplit_once(" for ")?;
    let task = task.split(": ").next()?.trim().trim_end_matches('.');
    TASK_WORDS.contains(&task.split_whitespace().count()).then_some(task)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_questions() {
        let question = asked("Tea or coffee: Does tea improve parsing of notes?");
        assert_eq!(question.as_deref(), Some("Does tea improve parsing of notes?"));
        assert_eq!(asked("Parsing of notes"), None);
        assert_eq!(task("A parser for notes of doctors"), Some("notes of doctors"));
        assert_eq!(task("Parsers: an overview"), None);
        assert_eq!(year("2020.acl-main.1"), Some(2020));
        assert_eq!(year("P18-1001"), Some(2018));
        assert_eq!(year("W99-0001"), Some(1999));
    }
}
