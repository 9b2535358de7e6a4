//! The summary for people.

use std::fmt::Write as _;

use super::{PairSummary, Summary};
use crate::experts::Scores;
use crate::experts::length::SIMILAR;
use crate::statistics::Estimate;

impl Summary {
    /// The tables, as Markdown.
    pub fn markdown(&self) -> String {
        let mut out = format!(
            "# Expert evaluation\n\n{} judgements of {} instances by {} annotators; {} questions passed over; {} \
             submissions with those that were replaced.\n\n\
             Brackets hold 95 % bootstrap intervals over instances. A dash is what could not be computed.\n",
            self.judgements, self.instances, self.annotators, self.passed_over, self.submissions
        );
        if self.judgements == 0 {
            return out;
        }
        out.push_str(
            "\n## Scores\n\n| system | instances | organization | coverage | relevance | usefulness | useful, % | words | references |\n\
             |---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
        for system in &self.systems {
            let scores = Scores::ASPECTS.map(|name| number(system.scores[name], 1.0, 2));
            let _infallible = writeln!(
                out,
                "| {} | {} | {} | {} | {} | {} |",
                cell(&system.system),
                system.instances,
                scores.join(" | "),
                number(system.useful, 100.0, 0),
                number(system.words, 1.0, 0),
                number(system.citations, 1.0, 1)
            );
        }
        for pair in &self.pairs {
            out.push_str(&of_pair(pair));
        }
        out.push_str(&self.of_agreement());
        let _infallible = writeln!(
            out,
            "\n## Position\n\nThe answer shown as A was preferred {} times, B {} times (sign test p = {:.3}).",
            self.place.a, self.place.b, self.place.sign_test_p
        );
        out
    }

    fn of_agreement(&self) -> String {
        let agreement = &self.agreement;
        let mut out = format!(
            "\n## Agreement\n\n{} instances with several judgements, {} pairs of judgements.\n\n\
             | preference | |\n|---|--:|\n",
            agreement.instances, agreement.pairs
        );
        for (name, value) in [
            ("same", agreement.strict),
            ("same, a tie against a preference half", agreement.relaxed),
            ("not opposed (ties merged)", agreement.ties_merged),
            ("Cohen's κ", agreement.kappa),
            ("Cohen's κ without ties", agreement.kappa_without_ties),
            ("Krippendorff's α", agreement.alpha),
            ("Krippendorff's α, ordinal", agreement.alpha_ordinal),
            ("Krippendorff's α without ties", agreement.alpha_without_ties),
            ("same, first two judgements (reference code)", agreement.upstream_strict),
            ("half for ties, first two judgements (reference code)", agreement.upstream_relaxed),
        ] {
            let _infallible = writeln!(out, "| {name} | {} |", plain(value));
        }
        out.push_str(
            "\n| scores | same | at most 1 apart | κ, quadratic | α, ordinal |\n|---|--:|--:|--:|--:|\n",
        );
        for (name, score) in Scores::ASPECTS.map(|name| (name, &agreement.scores[name])) {
            let values = [score.same, score.within_one, score.kappa, score.alpha].map(plain);
            let _infallible = writeln!(out, "| {name} | {} |", values.join(" | "));
        }
        out
    }
}

fn of_pair(pair: &PairSummary) -> String {
    let (first, second) = (cell(&pair.first), cell(&pair.second));
    let mut out = format!(
        "\n## {first} against {second}\n\n{} instances, {} judgements.\n\n| | {first} is better | tie | {second} is better |\n|---|--:|--:|--:|\n",
        pair.instances, pair.outcomes.judgements
    );
    let outcomes = &pair.outcomes;
    let _infallible = writeln!(
        out,
        "| judgements, % | {} | {} | {} |",
        number(outcomes.first, 100.0, 0),
        number(outcomes.tie, 100.0, 0),
        number(outcomes.second, 100.0, 0)
    );
    let (majority, upstream) = (&pair.majority, &pair.upstream);
    let _infallible = writeln!(
        out,
        "| instances, by majority | {} | {} | {} |\n| first judgement of each (reference code), % | {:.0} | {:.0} | {:.0} |\n",
        majority.first,
        majority.tie,
        majority.second,
        100.0 * upstream.first,
        100.0 * upstream.tie,
        100.0 * upstream.second
    );
    let _infallible = writeln!(
        out,
        "Win rate of {first}, ties half: {} %; sign test over instances p = {:.3}.",
        number(pair.win_rate, 100.0, 0),
        majority.sign_test_p
    );
    let _infallible = writeln!(
        out,
        "At equal length, by the logistic model: {} %; log-odds of an answer twice as long: {}.",
        number(pair.length.win_rate_at_equal_length, 100.0, 0),
        number(pair.length.log_odds_of_doubling, 1.0, 2)
    );
    let _infallible = writeln!(out, "\n| {first} is | instances | win rate, % |\n|---|--:|--:|");
    for stratum in &pair.length.strata {
        let _infallible = writeln!(
            out,
            "| {} | {} | {} |",
            match stratum.first_is.as_str() {
                "similar" => format!("as long, up to {SIMILAR} times"),
                other => other.to_owned(),
            },
            stratum.instances,
            number(stratum.win_rate, 100.0, 0)
        );
    }
    let _infallible = writeln!(out, "\n| {first} minus {second} | difference | p |\n|---|--:|--:|");
    for name in Scores::ASPECTS {
        let difference = pair.differences[name];
        let _infallible = writeln!(
            out,
            "| {name} | {} | {} |",
            number(difference.map(|one| one.estimate), 1.0, 2),
            difference.map_or("–".to_owned(), |one| format!("{:.3}", one.p))
        );
    }
    out
}

/// `4.21 [4.02, 4.40]`.
fn number(estimate: Option<Estimate>, scale: f64, digits: usize) -> String {
    estimate.map_or("–".to_owned(), |one| {
        let [mean, low, high] = [one.mean, one.low, one.high].map(|value| scale * value);
        format!("{mean:.digits$} [{low:.digits$}, {high:.digits$}]")
    })
}

fn plain(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.2}"))
}

/// A name cannot break a table.
fn cell(name: &str) -> String {
    name.replace('|', "\\|").replace(['\n', '\r'], " ")
}
