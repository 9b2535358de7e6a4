use std::sync::Arc;

use scholar_testing::{Reply, ScriptedGenerator};

use super::agreement::{agreement, majority, read_labels};
use super::judge::{PAIRWISE, PairwiseRun, compare_all};
use super::*;
use crate::judge::model::ModelJudge;
use crate::scholarideas::model::{Dataset, Idea};
use crate::scholarideas::reports::{Report, Reports};

fn reply(winners: [&str; 3]) -> String {
    let verdict = |winner| serde_json::json!({"rationale": "because A is named", "winner": winner});
    let [e, a, d] = winners.map(verdict);
    serde_json::json!({"evidence_support": e, "actionability": a, "depth": d}).to_string()
}

fn reports(system: &str, names: &[&str]) -> Reports {
    let report = |name: &&str| {
        let text = format!("the review by {system} of {name}");
        (name.parse().expect("a name"), Report { text, evidence: None })
    };
    names.iter().map(report).collect()
}

fn compared(scripted: ScriptedGenerator) -> Pairwise {
    let idea = |name: &str| Idea {
        id: name.parse().expect("a name"),
        text: format!("the plan of {name}"),
        cutoff: "2024-01-01".parse().expect("a date"),
        rubrics: Vec::new(),
    };
    let dataset = Dataset { ideas: ["ai_1", "ai_2", "eco_1"].map(idea).into() };
    let (ours, theirs) =
        (reports("ours", &["ai_1", "ai_2", "eco_1"]), reports("theirs", &["ai_1", "ai_2"]));
    let judge = ModelJudge::new(Arc::new(scripted));
    let run = PairwiseRun { seed: 7, parallel: 2, progress: &|_, _| {} };
    let systems = (("ours", &ours), ("theirs", &theirs));
    futures::executor::block_on(compare_all(&judge, &dataset, systems.0, systems.1, run))
}

#[test]
fn a_winner_is_told_by_system_in_both_orders() {
    // Ours has the evidence, whatever the order; A always wins on actionability; depth cannot be read.
    let scripted = ScriptedGenerator::new("judge").answer("report_pair", |request| {
        let asked = &request.messages.last().expect("a turn").content;
        let ours_first =
            asked.find("by ours").expect("there") < asked.find("by theirs").expect("there");
        let best = if ours_first { "A" } else { "B" };
        Reply::Text(reply([best, "A", "A and B"]))
    });
    let found = compared(scripted);
    assert_eq!((found.pairs.len(), found.incomplete.clone()), (2, None), "one idea has one report");
    let of =
        |name: &str| found.rates.iter().find(|one| one.criterion == name).expect("a criterion");
    let evidence = of("evidence_support");
    assert_eq!((evidence.drawn.wins, evidence.consistent.wins), (2, 2));
    let position = of("actionability");
    assert_eq!(position.drawn.n, 2);
    assert_eq!((position.consistent.ties, position.consistent.inconsistent), (2, Some(2)));
    assert_eq!(position.consistent.first_place_share, Some(1.0));
    let unclear = of("depth");
    assert_eq!(
        (unclear.drawn.n, unclear.drawn.unreadable, unclear.consistent.unreadable),
        (0, 2, 2)
    );
    assert_eq!(of("overall").consistent.wins, 2);
    // The order that was drawn decides who wins by position.
    for pair in &found.pairs {
        let winner = if pair.flipped { Preference::B } else { Preference::A };
        assert_eq!(pair.drawn(Criterion::Actionability), Some(winner));
        assert_eq!(pair.flipped, drawn_order(7, pair.idea));
    }
    let text = found.markdown();
    assert!(text.contains("| evidence_support | 2 | 0 | 0 | 0 | 100.0 % |"), "{text}");
    assert!(text.contains("| 76.6 % † |"), "{text}");
    assert_eq!(PAIRWISE.problem(), None);
}

#[test]
fn only_whole_words_are_winners_and_orders_are_fair() {
    let said = |text: String| {
        compared(
            ScriptedGenerator::new("judge")
                .answer("report_pair", move |_| Reply::Text(text.clone())),
        )
    };
    let found = said(reply(["TIE", " b ", "A"]));
    assert_eq!(found.rates[0].consistent.ties, 2);
    assert_eq!(found.rates[1].consistent.inconsistent, Some(2));
    assert_eq!(said("no JSON: A".to_owned()).rates[3].consistent.unreadable, 6);
    let flipped =
        (1..=1_000).filter(|n| drawn_order(1, format!("ai_{n}").parse().expect("a name"))).count();
    // Four standard deviations of a fair coin.
    assert!((437..=563).contains(&flipped), "{flipped}");
}

#[test]
fn people_and_judge_are_compared_by_majority() {
    use Preference::{A, B, Tie};
    assert_eq!(majority(&[A, A, B]), Some(A));
    assert_eq!((majority(&[A, B]), majority(&[]), majority(&[Tie])), (None, None, Some(Tie)));
    let scripted = ScriptedGenerator::new("judge")
        .answer("report_pair", |_| Reply::Text(reply(["Tie", "Tie", "Tie"])));
    let found = compared(scripted);
    let row = |cells: [&str; 3]| cells.map(str::to_owned).to_vec();
    let rows = [
        row(["idea", "criterion", "label"]),
        row(["ai_1", "depth", "tie"]),
        row(["ai_2", "depth", "ours"]),
        row(["ai_2", "depth", "ours"]),
        row(["ai_2", "depth", "tie"]),
        row(["ai_1", "actionability", "ours"]),
        row(["ai_1", "actionability", "theirs"]),
    ];
    let labels = read_labels(&rows, ["ours", "theirs"]).expect("well-formed");
    let found = agreement(&found, &labels);
    assert_eq!((found[2].n, found[2].percent), (2, Some(50.0)));
    assert_eq!(found[2].kappa, Some(0.0));
    assert_eq!((found[1].n, found[1].without_majority, found[1].percent), (0, 1, None));
    let error =
        read_labels(&[rows[0].clone(), row(["ai_1", "depth", "nobody"])], ["ours", "theirs"]);
    assert!(error.is_err_and(|error| error.contains("row 2: \"nobody\"")));
}
