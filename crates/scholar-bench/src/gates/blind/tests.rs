use super::*;
use crate::gates::data::{Case, Source};

const EVIDENCE: &str = "Metformin lowered glucose in mice by 12 %.";

/// A clean source of sentences that all count as supported.
fn checked(sentences: &[&str]) -> Checked {
    let case = |(n, sentence): (usize, &&str)| Case {
        id: n.to_string(),
        sentence: (*sentence).to_owned(),
        source: vec![EVIDENCE.to_owned(), "A\ttitle".to_owned()],
        label: Truth::Full,
    };
    Checked::of(Source {
        name: "answers".to_owned(),
        remark: "made up",
        is_clean: true,
        is_listed: false,
        cases: sentences.iter().enumerate().map(case).collect(),
    })
}

/// Three alarms and five sentences without one.
fn answers() -> [Checked; 1] {
    [checked(&[
        "Metformin lowered glucose.",
        "Metformin lowered glucose in HIV.",
        "Glucose was lowered.",
        "Metformin lowered glucose by 97 %.",
        "Metformin lowered it.",
        "IL-8 was lowered by 55 %.",
        "In mice, metformin lowered glucose.",
        "Mice were given metformin.",
    ])]
}

fn cells(table: &str) -> Vec<Vec<&str>> {
    table.lines().skip(1).map(|line| line.split('\t').collect()).collect()
}

#[test]
fn the_sheet_has_every_alarm_and_as_many_others_and_does_not_tell() {
    let drawn = draw(&answers());
    assert_eq!(drawn, draw(&answers()));
    let (sheet, key) = (sheet(&drawn), key(&drawn));
    let (rows, keys) = (cells(&sheet), cells(&key));
    let alarms: Vec<&str> = keys.iter().filter(|row| row[3] == "yes").map(|row| row[2]).collect();
    assert_eq!((rows.len(), keys.len(), alarms.len()), (6, 6, 3));
    assert!(["1", "3", "5"].iter().all(|case| alarms.contains(case)), "{key}");
    for (row, key) in rows.iter().zip(keys) {
        assert_eq!((row.len(), row[0]), (3, key[0]));
        assert_eq!(row[2], format!("{EVIDENCE} ¶ A title"));
        assert_eq!(key[3] == "yes", key[4].contains(": "));
    }
}

/// A folder with a key of [`answers`] and these verdicts.
fn folder(verdicts: &str) -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let (key, votes) = (folder.path().join("key.tsv"), folder.path().join("verdicts.tsv"));
    let rows = "id\tsource\tcase\talarm\tmissing\na\tanswers\t1\tyes\tx\nb\tanswers\t3\tyes\tx\nc\tanswers\t0\tno\t\n\
        d\tanswers\t2\tno\t\ne\tanswers\t5\tyes\tx\n";
    fs_err::write(&key, rows).expect("written");
    fs_err::write(&votes, verdicts).expect("written");
    (folder, key, votes)
}

#[test]
fn what_most_judges_refuse_is_no_false_alarm() {
    let said = "judge\tid\tverdict\tmissing\nx\ta\tno\tHIV\ny\ta\tno\tHIV\nz\ta\tyes\t\nx\tb\tno\t\ny\tb\tyes\t\n\
        x\tc\tno\t\nx\td\tyes\t\n";
    let (_folder, key, verdicts) = folder(said);
    let voted = votes(&key, &verdicts).expect("well-formed");
    let report = judged(&answers(), &voted).expect("of these answers");
    assert_eq!(report.judges, ["x", "y", "z"]);
    assert_eq!((report.random.hits, report.random.n), (1, 2));
    // Three pairs of verdicts on `a`, one on `b`; only x and y agree on `a`.
    assert_eq!((report.agreement.hits, report.agreement.n), (1, 4));
    let all = &report.pooled;
    // A tie on `b` and no verdict on `e` leave both false alarms.
    assert_eq!((all.alarms, all.judged, all.unsupported, all.left.hits), (3, 2, 1, 2));
    // Beside these `d`, and half of the three that nobody read, rounded down.
    assert_eq!(all.left.n, 2 + 1 + 1);
}

#[test]
fn verdicts_that_mean_nothing_are_refused() {
    let refused = |said: &str, words: &str| {
        let (_folder, key, verdicts) = folder(said);
        let error = votes(&key, &verdicts).expect_err(words).to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("id\tjudge\tverdict\nq\tx\tno\n", "line 2: the key has no q");
    refused("id\tjudge\tverdict\na\tx\tperhaps\n", "neither yes nor no");
    refused("id\tjudge\tverdict\na\tx\tno\n\na\tx\tyes\n", "line 4: a second verdict of x on a");
    refused("id,judge,verdict\na,x,no\n", "line 1: no column `id`");
    refused("id\tjudge\tverdict\na\tx\n", "line 2: too few cells");
    let (_folder, key, verdicts) = folder("id\tjudge\tverdict\ne\tx\tno\n");
    let voted = votes(&key, &verdicts).expect("well-formed");
    let error =
        judged(&[checked(&["Metformin lowered glucose."])], &voted).expect_err("other data");
    assert!(error.to_string().contains("no supported sentence 5"), "{error}");
}
