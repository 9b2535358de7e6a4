use scholar_core::PortErrorKind;
use scholar_testing::{Reply, ScriptedGenerator};

use super::*;

const SOUND: &str = "```markdown\n## Method: adapters\n### Support\nThey work [(Li, 2020-01)](https://a.example/1) and [(Wu et al., 2024-10)](https://a.example/2).\n```";
const NEW: &str = "## Dimension: data\n### Strengths\nNone known [(Li, 2020-01)](https://a.example/1), see [here](https://b.example) and [(Li, 2024-09)](https://c.example).";

fn idea() -> Idea {
    Idea {
        id: "ai_3".parse().expect("a name"),
        text: "# Research Plan: Adapters".to_owned(),
        cutoff: Date::constant(2024, 9, 24),
        rubrics: Vec::new(),
    }
}

fn write(
    generator: &ScriptedGenerator,
    said: &Memory<Generation>,
) -> Result<BaselineReport, BaselineError> {
    futures::executor::block_on(Baseline { generator, said }.write(&idea()))
}

#[test]
fn one_prompt_a_module_makes_a_report_and_is_not_asked_again() {
    let generator = ScriptedGenerator::new("m")
        .reply("baseline_soundness", SOUND)
        .reply("baseline_contribution", NEW);
    let said = Memory::default();
    let report = write(&generator, &said).expect("two replies");
    assert_eq!(
        report.text,
        format!(
            "# Soundness\n\n{}\n\n# Contribution\n\n{NEW}\n",
            SOUND.trim_start_matches("```markdown\n").trim_end_matches("\n```")
        )
    );
    assert_eq!(report.record.citations, Citations { links: 4, dated: 4, late: 1 });
    assert_eq!(report.calls, 2);
    assert!(report.record.usage.prompt > 0 && report.record.usage.completion > 0);
    assert!(report.record.is_of("m") && !report.record.is_of("another"));
    for request in generator.requests() {
        let asked = &request.messages.last().expect("a turn").content;
        assert!(asked.contains("# Research Plan: Adapters"), "{asked}");
        assert!(asked.contains("on or before 2024-09-24"), "{asked}");
        assert!(asked.contains("[(author, YYYY-MM)](link)"), "{asked}");
    }

    let again = write(&generator, &said).expect("remembered");
    assert_eq!((again.calls, &again.text), (0, &report.text));
    assert_eq!(again.record, report.record, "usage is that of the replies, whenever they came");
    assert_eq!(generator.requests().len(), 2);
    for prompt in [BASELINE_SOUNDNESS, BASELINE_CONTRIBUTION] {
        assert_eq!(prompt.problem(), None);
    }
}

#[test]
fn what_is_no_review_names_its_module_and_only_it_is_asked_again() {
    let says = |reply: Reply, says: &str| {
        let generator = ScriptedGenerator::new("m")
            .reply("baseline_soundness", SOUND)
            .reply("baseline_contribution", reply)
            .reply("baseline_contribution", NEW);
        let said = Memory::default();
        let error = write(&generator, &said).expect_err(says).to_string();
        assert!(error.contains("Contribution of ai_3") && error.contains(says), "{error}");
        assert_eq!(write(&generator, &said).expect("a second try").calls, 1);
    };
    says(Reply::Cut("## Dimension: da".to_owned()), "cut at the token limit");
    says(Reply::Filtered("## Dimension".to_owned()), "withheld");
    says(Reply::Text("```\n```".to_owned()), "empty");
    says(Reply::Fails(PortErrorKind::Unavailable, "gone".to_owned()), "");
}

#[test]
fn citations_are_counted_in_the_form_that_was_asked_for() {
    let of = |text: &str| Citations::of(text, Date::constant(2024, 9, 24));
    let check = |text: &str, links, dated, late| {
        assert_eq!(of(text), Citations { links, dated, late }, "{text}");
    };
    check("[(Li, 2024-10)](https://a.example)", 1, 1, 1);
    check("[(Li, 2024)](https://a.example) (Wu, 2023-01) https://b.example", 2, 0, 0);
    check("[(Li, 2024-13)](https://a.example)", 1, 0, 0);
    check("[(Li and Wu, 2019-02)](https://a.example) [(Li, 2019-02)](https://a.example)", 1, 2, 0);
    check("nothing)](http", 0, 0, 0);
}
