//! The dataset: a made tree with the totals of the release, and the real ideas where they are at hand.

use std::path::Path;

use super::counts::{count, differences, markdown};
use super::*;

type Field = (u32, [usize; 2], [usize; 2], usize, [&'static str; 2]);
/// Fields in the order of [`Discipline::ALL`]: ideas, fewest and most rubrics, fewest and most words, all words, dates.
const FIELDS: [Field; 4] = [
    (40, [6, 15], [517, 832], 25_524, ["2024-09-24", "2024-09-24"]),
    (33, [4, 21], [576, 929], 24_143, ["2023-08-11", "2025-07-10"]),
    (25, [2, 14], [579, 911], 17_428, ["2023-11-08", "2025-06-20"]),
    (20, [3, 18], [588, 1034], 14_852, ["2023-09-08", "2025-07-08"]),
];
/// Rubrics by field, and by label in the order of [`LABELS`]; a solution of the published margins.
const RUBRICS: [[usize; 8]; 4] = [
    [163, 108, 67, 32, 26, 13, 9, 5],
    [116, 81, 16, 10, 29, 13, 32, 17],
    [64, 40, 12, 6, 10, 5, 8, 4],
    [80, 59, 14, 7, 10, 5, 9, 6],
];
const LABELS: [(RubricType, Axis, Severity); 8] = [
    (RubricType::Weakness, Axis::Soundness, Severity::Major),
    (RubricType::Weakness, Axis::Soundness, Severity::Minor),
    (RubricType::Weakness, Axis::Contribution, Severity::Major),
    (RubricType::Weakness, Axis::Contribution, Severity::Minor),
    (RubricType::Strength, Axis::Contribution, Severity::Major),
    (RubricType::Strength, Axis::Contribution, Severity::Minor),
    (RubricType::Strength, Axis::Soundness, Severity::Major),
    (RubricType::Strength, Axis::Soundness, Severity::Minor),
];
/// Words of all 1,076 statements.
const STATEMENT_WORDS: usize = 34_109;

/// `n` numbers with this sum, the first two the ends.
fn spread(n: usize, [low, high]: [usize; 2], sum: usize) -> Vec<usize> {
    let left = sum - low - high;
    let share = left / (n - 2);
    let more = left % (n - 2);
    let rest = (0..n - 2).map(|at| share + usize::from(at < more));
    [low, high].into_iter().chain(rest).collect()
}

fn statement(nth: usize, words: usize) -> String {
    let mut text = vec![format!("point-{nth}")];
    text.resize(words, "word".to_owned());
    text.join(" ")
}

/// Ideas with the totals of the release, in memory.
fn release() -> Dataset {
    let mut lengths = spread(1_076, [5, 95], STATEMENT_WORDS).into_iter();
    let mut ideas = Vec::new();
    for (at, (n, per_idea, words, all_words, dates)) in FIELDS.into_iter().enumerate() {
        let discipline = Discipline::ALL[at];
        let n_ideas = usize::try_from(n).expect("small");
        let mut labels = RUBRICS[at]
            .iter()
            .zip(LABELS)
            .flat_map(|(count, label)| std::iter::repeat_n(label, *count));
        let counts = spread(n_ideas, per_idea, RUBRICS[at].iter().sum());
        let lengths_of_ideas = spread(n_ideas, words, all_words);
        for (number, (rubrics, length)) in (1..).zip(counts.into_iter().zip(lengths_of_ideas)) {
            let mut text = vec!["# Plan".to_owned()];
            text.resize(length - 1, "word".to_owned());
            let rubrics = (0..).zip(labels.by_ref().take(rubrics)).map(|(nth, label)| {
                let statement = statement(nth, lengths.next().expect("one a rubric"));
                let (rubric_type, axis, severity) = label;
                Rubric { statement, rubric_type, axis, severity }
            });
            ideas.push(Idea {
                id: IdeaId { discipline, number },
                text: text.join(" "),
                cutoff: dates[usize::from(number > 1)].parse().expect("a date"),
                rubrics: rubrics.collect(),
            });
        }
    }
    Dataset { ideas }
}

/// In the published layout; seven files of rubrics without the last line break.
fn write(dataset: &Dataset, folder: &Path) {
    for (nth, idea) in dataset.ideas.iter().enumerate() {
        let own = folder.join(idea.id.to_string());
        fs_err::create_dir_all(&own).expect("a folder");
        fs_err::write(own.join(format!("{}.txt", idea.id)), &idea.text).expect("written");
        fs_err::write(own.join("cutoff.txt"), idea.cutoff.to_string()).expect("written");
        let lines: Vec<String> = idea
            .rubrics
            .iter()
            .map(|rubric| serde_json::to_string(rubric).expect("plain values"))
            .collect();
        let end = if nth % 17 == 0 { "" } else { "\n" };
        let text = lines.join("\n") + end;
        fs_err::write(own.join(format!("{}.jsonl", idea.id)), text).expect("written");
    }
}

#[test]
fn a_tree_with_the_totals_of_the_release_is_verified() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = release();
    write(&made, folder.path());
    // What lies beside the folders is no idea.
    fs_err::write(folder.path().join("LICENSE"), "MIT").expect("written");
    let loaded = load(folder.path()).expect("the published layout");
    assert_eq!(loaded, made);
    assert_eq!((loaded.ideas.len(), loaded.rubrics()), (118, 1_076));
    let counts = count(&loaded).expect("ideas");
    assert_eq!(differences(&counts), Vec::<String>::new());
    let text = markdown(&counts);
    assert!(text.contains("| total | 118 | 117 | 1076 | 1076 | 2 | 9.12 | 21 |"), "{text}");
    assert!(text.contains("| biochem | 27 | 122 | 116 | 33 | 94 | 55 |"), "{text}");

    let mut less = loaded;
    less.ideas.pop();
    let found = differences(&count(&less).expect("ideas"));
    assert!(found.iter().any(|line| line == "eco ideas: 19 here, 20 in the release"), "{found:?}");
}

#[test]
fn json_lines_of_both_kinds_are_the_same_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let made = release();
    let (mut nested, mut flat, mut quoted) = (String::new(), String::new(), String::new());
    for idea in &made.ideas {
        let base = serde_json::json!({"id": idea.id, "idea": idea.text, "cutoff": idea.cutoff});
        let with = |more: serde_json::Value| {
            let mut row = base.clone();
            for (key, value) in more.as_object().expect("an object") {
                row[key] = value.clone();
            }
            format!("{row}\n")
        };
        nested += &with(serde_json::json!({"rubrics": idea.rubrics}));
        let lines: Vec<String> =
            idea.rubrics.iter().map(|one| serde_json::to_string(one).expect("plain")).collect();
        quoted += &with(serde_json::json!({"rubrics": lines.join("\n")}));
        for rubric in &idea.rubrics {
            flat += &with(serde_json::to_value(rubric).expect("plain"));
        }
    }
    for (name, text) in [("nested", nested), ("flat", flat), ("quoted", quoted)] {
        let path = folder.path().join(format!("{name}.jsonl"));
        fs_err::write(&path, text.trim_end()).expect("written");
        assert_eq!(load(&path).expect(name), made, "{name}");
    }
}

#[test]
fn filters_leave_what_is_meant() {
    let of = |filter: Filter| release().filtered(&filter).rubrics();
    assert_eq!(of(Filter::default()), 1_076);
    assert_eq!(of(Filter { disciplines: vec![Discipline::Biochem], ..Filter::default() }), 149);
    assert_eq!(of(Filter { types: vec![RubricType::Strength], ..Filter::default() }), 201);
    let severe = Filter {
        axes: vec![Axis::Contribution],
        severities: vec![Severity::Major],
        ..Filter::default()
    };
    assert_eq!(of(severe), 109 + 75);
    let one = Filter { ideas: vec!["eco_1".parse().expect("a name")], ..Filter::default() };
    let dataset = release().filtered(&one);
    assert_eq!((dataset.ideas.len(), dataset.rubrics()), (1, 3));
}

#[test]
fn what_cannot_be_used_is_named() {
    let idea = release().ideas.remove(0);
    let check = |change: &dyn Fn(&Path), says: &str| {
        let folder = tempfile::tempdir().expect("a folder");
        write(&Dataset { ideas: vec![idea.clone()] }, folder.path());
        change(folder.path());
        let error = load(folder.path()).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
    };
    let put = |name: &'static str, text: &'static str| {
        move |folder: &Path| fs_err::write(folder.join(name), text).expect("written")
    };
    check(&put("ai_1/cutoff.txt", "2024"), "cutoff.txt: is not a date");
    check(&put("ai_1/cutoff.txt", "2024-02-30"), "is not a date");
    check(&put("ai_1/ai_1.txt", " \n"), "the idea is empty");
    check(&put("ai_1/ai_1.jsonl", "\n"), "there is no rubric");
    check(&put("ai_1/ai_1.jsonl", "\n{\"statement\": \"x\"}"), "ai_1.jsonl line 2: missing field");
    check(
        &put(
            "ai_1/ai_1.jsonl",
            r#"{"statement": "x", "type": "praise", "axis": "soundness", "severity": "major"}"#,
        ),
        "unknown variant `praise`",
    );
    check(
        &|folder| fs_err::remove_file(folder.join("ai_1/cutoff.txt")).expect("there"),
        "cutoff.txt cannot be read",
    );
    check(&|folder| fs_err::create_dir(folder.join("ai_01")).expect("made"), "ai_01 is not");
    let empty = tempfile::tempdir().expect("a folder");
    assert!(load(empty.path()).is_err_and(|error| error.to_string().contains("no ideas")));

    let lines = |text: &str| {
        let path = empty.path().join("export.jsonl");
        fs_err::write(&path, text).expect("written");
        load(&path).expect_err(text).to_string()
    };
    let rubric =
        r#""statement": "x", "type": "strength", "axis": "soundness", "severity": "major""#;
    let whole = r#""idea": "plan", "cutoff": "2024-01-01""#;
    assert!(lines(&format!("{{\"id\": \"ai_1\", {rubric}}}")).contains("no text or no cut-off"));
    let twice = format!("{{\"id\": \"ai_1\", {whole}, \"rubrics\": [{{{rubric}}}]}}\n");
    assert!(lines(&twice.repeat(2)).contains("line 2: the idea ai_1 came before"));
    assert!(lines(&format!("{{\"id\": \"ai_x\", {whole}, {rubric}}}")).contains("ai_x"));
    assert!(lines(&format!("{{\"id\": \"ai_1\", {whole}}}")).contains("neither rubrics nor"));
}

#[test]
fn the_real_ideas_are_read() {
    let Some(folder) = scholar_testing::data("scholarideas") else { return };
    let dataset = load(&folder).expect("the published layout");
    let counts = count(&dataset).expect("ideas");
    assert_eq!((dataset.ideas.len(), dataset.rubrics()), (60, 552));
    assert_eq!(counts.repeated_statements, 0);
    let fields: Vec<usize> = counts.fields.iter().map(|field| field.ideas).collect();
    assert_eq!(fields, [20, 17, 13, 10, 60]);
    // A part of the release lies within its bounds.
    let total = counts.fields.last().expect("a total");
    assert!(total.words.min >= 517 && total.words.max <= 1_034, "{total:?}");
    assert!(total.rubrics_per_idea.min >= 2 && total.rubrics_per_idea.max <= 21, "{total:?}");
    assert!(counts.statement_words.min >= 5 && counts.statement_words.max <= 95);
    assert!(dataset.ideas.iter().all(|idea| idea.id.number % 2 == 1));
}
