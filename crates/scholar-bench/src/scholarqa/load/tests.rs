use super::*;
use crate::scholarqa::task::Correctness;

fn excerpts() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/scholarqabench")
}

fn file(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    fs_err::write(file.path(), text).expect("written");
    file
}

fn fails(task: BenchTask, text: &str, says: &str) {
    let file = file(text);
    let error = load(task, file.path()).expect_err(text).to_string();
    assert!(error.contains(says), "{error}");
    assert!(error.contains(&file.path().display().to_string()), "{error}");
}

#[test]
fn excerpts_of_every_public_task_are_read() {
    for task in BenchTask::ALL {
        if task == BenchTask::Qasa {
            continue;
        }
        let loaded = load(task, &excerpts()).unwrap_or_else(|error| panic!("{task:?}: {error}"));
        assert!(loaded.items.len() >= 3, "{task:?}");
        assert_eq!(loaded.sha256.len(), 64);
        for item in &loaded.items {
            assert!(!item.question.is_empty() && item.task == task);
            let content = task.measures().correctness;
            match &item.gold {
                Gold::Label(label) => {
                    assert!(task.labels().expect("two").contains(&label.as_str()));
                }
                Gold::Text(_) => assert_eq!(content, Correctness::Overlap, "{task:?}"),
                Gold::Rubric(_) => assert_eq!(content, Correctness::Rubric),
                Gold::None => assert_eq!(content, Correctness::None),
            }
        }
    }
}

#[test]
fn what_is_special_about_a_file_is_kept_or_said() {
    let pubmed = load(BenchTask::PubMedQa, &excerpts()).expect("read");
    let [object, text] = [&pubmed.items[0], &pubmed.items[1]].map(|item| &item.contexts[0].text);
    assert!(object.len() > 200 && text.len() > 200, "an object and a text");
    let multi = load(BenchTask::Multi, &excerpts()).expect("bare NaN is accepted");
    let without_text =
        multi.items.iter().flat_map(|item| &item.contexts).filter(|c| c.text.is_empty()).count();
    assert_eq!(without_text, 1, "the number of a passage without text is kept");
    assert!(multi.notices.iter().any(|notice| notice.contains("has no text")));
    assert!(multi.items[0].subject.is_some() && multi.items[0].contexts[0].year.is_some());
    let scifact = load(BenchTask::SciFact, &excerpts()).expect("read");
    assert!(scifact.notices.iter().any(|notice| notice.contains("repeat")), "a repeated claim");
    assert!(scifact.items.iter().any(|item| item.duplicate_of.is_some()));
    let related = load(BenchTask::RelatedWork, &excerpts()).expect("read");
    assert!(related.items.iter().all(|item| item.before.is_some() && item.own_title.is_some()));
    assert!(!related.items[0].question.contains('\n'));
}

#[test]
fn a_missing_file_says_where_it_belongs() {
    let error = load(BenchTask::Qasa, &excerpts()).expect_err("QASA is not public");
    assert!(error.to_string().contains("single_paper_tasks/qasa_test.jsonl"), "{error}");
    assert!(error.hint().expect("a hint").contains("QASA release"));
    let folder = tempfile::tempdir().expect("a folder");
    let error = load(BenchTask::Bio, folder.path()).expect_err("nothing there");
    assert!(error.to_string().contains("scholarqa_bio/scholarqabench_bio.jsonl"), "{error}");
    assert!(error.hint().expect("a hint").contains("--data"));
    let qasa = file(
        "{\"input\": \"Why?\", \"answer\": \"So.\", \"ctxs\": [\"One.\", {\"title\": \"T\", \"text\": \"Two.\"}], \"gold_ctxs\": []}",
    );
    let loaded = load(BenchTask::Qasa, qasa.path()).expect("the documented form");
    assert_eq!(loaded.items[0].contexts.len(), 2);
    assert_eq!(loaded.items[0].id, "qasa_0");
}

#[test]
fn wrong_records_name_line_and_field() {
    let (sci, cs) = (BenchTask::SciFact, BenchTask::Cs);
    fails(sci, "{\"answer\": \"true\"}", "line 1: the field `input` is missing");
    fails(sci, "{\"input\": 3, \"answer\": \"true\"}", "`input` is a number");
    fails(sci, "{\"input\": \" \", \"answer\": \"true\"}", "`input` is empty");
    fails(
        sci,
        "{\"input\": \"x\", \"answer\": \"maybe\"}",
        "\"maybe\" instead of \"true\" or \"false\"",
    );
    fails(
        sci,
        "{\"input\": \"x\", \"answer\": \"true\", \"gold_ctx\": {\"a\": 1}}",
        "`gold_ctx` is an object instead of a list",
    );
    fails(
        sci,
        "{\"input\": \"x\", \"answer\": \"true\", \"gold_ctx\": [7]}",
        "`gold_ctx`, element 1: a number",
    );
    fails(
        BenchTask::PubMedQa,
        "{\"input\": \"x\", \"answer\": \"yes\", \"gold_ctx\": [{\"text\": {\"labels\": []}}]}",
        "without a list `contexts`",
    );
    fails(
        BenchTask::Bio,
        "{\"input\": \"x\", \"id\": \"a\"}\n{\"input\": \"y\", \"id\": \"a\"}",
        "line 2 has the id \"a\" of",
    );
    fails(
        cs,
        "{\"initial_prompt\": \"x\", \"case_id\": \"a\"}",
        "`metric_config.config` is missing",
    );
    fails(
        cs,
        "{\"initial_prompt\": \"x\", \"case_id\": \"a\", \"metric_config\": {\"config\": {\"other_properties\": [{\"name\": \"a\"}]}}}",
        "element 1: name, criterion and weight",
    );
    fails(
        BenchTask::RelatedWork,
        "{\"arxiv_id\": \"a\", \"title\": \"t\", \"abstract\": \"b\", \"related_works_tex\": \"c\", \"date\": \"May\", \"citations\": []}",
        "`date` is \"May\"",
    );
    fails(sci, "", "contains no record");
}
