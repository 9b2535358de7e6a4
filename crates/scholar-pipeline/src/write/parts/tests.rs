use AnswerRole::{Finding, Framing, Gap, Synthesis};
use SectionKind::{Facet, Limits, ShortAnswer};

use super::*;

const REPLY: &str = "## Gains on rare facts
X | Two lines of work bear on this question.
F1 | Retrieval raised accuracy from 21 % to 48 % on rare entities. [0]
F2 | Irrelevant passages misled models in 37 % of cases. [1][4]

S F1 F2 | What is retrieved therefore decides whether it helps.

T | Task | Gain
T [0] | rare entities | 21 % to 48 %
T [1] | reading | – |

## Limits
G | No study tested this on speech recognition.

## Short answer
F3 | Retrieval more than doubled accuracy on rare entities [0].
S S1 | Its gain depends on what is found.";

/// Role, part, whether it begins a paragraph, evidence, and what it follows from.
type Seen = (AnswerRole, usize, bool, Vec<usize>, Vec<usize>);

fn seen(parts: &Parts) -> Vec<Seen> {
    let numbers = |one: &PartSentence| one.draft.evidence.iter().map(|n| n.0).collect();
    let all = parts.sentences.iter();
    all.map(|one| {
        (one.role, one.section, one.draft.paragraph_start, numbers(one), one.follows.clone())
    })
    .collect()
}

#[test]
fn a_reply_in_lines_becomes_parts_in_reading_order() {
    let text = REPLY.replace("S F1 F2 |", "S1 < F1, F2 |");
    let parts = Parts::read(&text);
    let kinds: Vec<SectionKind> = parts.sections.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [ShortAnswer, Facet, Limits]);
    assert_eq!(
        seen(&parts),
        [
            (Finding, 0, true, vec![0], vec![]),
            (Synthesis, 0, false, vec![], vec![3, 4]),
            (Framing, 1, true, vec![], vec![]),
            (Finding, 1, false, vec![0], vec![]),
            (Finding, 1, false, vec![1, 4], vec![]),
            (Synthesis, 1, true, vec![], vec![3, 4]),
            (Gap, 2, true, vec![], vec![]),
        ]
    );
    assert_eq!(
        parts.sentences[3].draft.text,
        "Retrieval raised accuracy from 21 % to 48 % on rare entities."
    );
    let table = parts.table.expect("a table");
    assert_eq!(table.columns, ["Task", "Gain"]);
    assert_eq!(table.rows.len(), 2);
    assert_eq!(table.rows[1].cells, ["reading", "–"]);
}

#[test]
fn prose_without_marks_gets_its_roles_by_code() {
    let parts = Parts::read(
        "Retrieval raised accuracy on rare entities [0]. Taken together, accuracy on rare entities improves.\n\n\
         **Costs**\n- Prompts grow\nby a factor of five [2].\n- The passages do not report energy.",
    );
    assert_eq!(
        seen(&parts),
        [
            (Finding, 0, true, vec![0], vec![]),
            (Synthesis, 0, false, vec![], vec![0]),
            (Finding, 1, true, vec![2], vec![]),
            (Gap, 1, false, vec![], vec![]),
        ]
    );
    assert_eq!(parts.sections[1].heading.as_deref(), Some("Costs"));
    assert_eq!(parts.words(), 26);
}

#[test]
fn what_is_no_mark_is_text() {
    let check = |line: &str, expected: Option<(&str, usize)>| {
        let found = marked(line);
        let found = found.as_ref().map(|(mark, text)| (*text, mark.follows.len()));
        assert_eq!(found, expected, "{line}");
    };
    check("F1 | A. [0]", Some(("A. [0]", 0)));
    check("- f12| A", Some(("A", 0)));
    check("S (F1, F2) | B", Some(("B", 2)));
    check("S from F1 F2 | B", Some(("B", 2)));
    check("P(A|B) is what is asked for.", None);
    check("So | B", None);
    check("S with F1 | B", None);
    check("Xylitol helped [1].", None);
    assert!(table_line("The T cells | grow").is_none());
    assert!(table_line("T cells | grow").is_none());
    let two = Parts::read("F1 | Cells grow in light [0]. They die in darkness [1].");
    assert_eq!(two.sentences.len(), 2);
    let one = Parts::read("F1 | Cells grow in light. They die in darkness [1].");
    assert_eq!(one.sentences.len(), 1);
}

#[test]
fn what_is_said_twice_or_copied_from_the_prompt_is_left_out() {
    let parts = Parts::read(
        "## Heading 2: Gains:\nF1 | Retrieval raised accuracy [0].\nReferences: Title: RAG Text: “Retrieval helps.” [0]\n\
         F2 | Prompts grow [2].\n\nF3 | Retrieval raised accuracy [1].\nF4 | Nobody measured energy [3].\nS F3 F4 | It pays.\n\
         ## Limits\nF5 | Prompts grow [2].\n## Short answer\nF6 | Prompts grow [2].",
    );
    assert_eq!(parts.sections[1].heading.as_deref(), Some("Gains"));
    assert_eq!(
        seen(&parts),
        [
            (Finding, 0, true, vec![2], vec![]),
            (Finding, 1, true, vec![0, 1], vec![]),
            (Finding, 1, false, vec![2], vec![]),
            (Finding, 1, true, vec![3], vec![]),
            (Synthesis, 1, false, vec![], vec![1, 3]),
        ]
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_and_nothing_points_outside(text in "((F1|S F1|X|G|T|T \\[0\\]|## H|) ?\\|? ?\\PC{0,20}\n){0,8}") {
        let parts = Parts::read(&text);
        for one in &parts.sentences {
            proptest::prop_assert!(one.section < parts.sections.len());
            for at in &one.follows {
                proptest::prop_assert!(parts.sentences[*at].role == Finding);
            }
        }
    }
}
