//! The summary as a table beside the paper's.

use std::fmt::Write as _;

use super::{DimensionEffect, ReviewSummary};
use crate::scholarideas::published::{Table, table};
use crate::statistics::welch::Sample;

impl ReviewSummary {
    /// Effects, means, blindness; what the paper reports is marked with †.
    pub fn markdown(&self) -> String {
        let Self { system, baseline, evaluations, passed_over, participants, .. } = self;
        let mut text = format!(
            "# Experts on review reports\n\n{evaluations} evaluations by {participants} participants; {passed_over} passed over. β is the \
             effect of {system} against {baseline} on the standardised mean of a dimension's items, with a random intercept a participant.\n\n\
             | dimension | n | β | SE | p | {system} | {baseline} | variance of participants | β † | ScholarEval † | deep research † |\n\
             |---|---|---|---|---|---|---|---|---|---|---|\n"
        );
        let published = table(Table::UserStudy);
        let sample = |sample: Option<Sample>| {
            sample.map_or_else(|| "–".to_owned(), |one| format!("{:.2} ± {:.2}", one.mean, one.sd))
        };
        for one in &self.dimensions {
            let DimensionEffect { dimension, n, effect, participants_share, .. } = one;
            let [beta, se, p] = match effect {
                Some(effect) => [
                    format!("{:+.2}", effect.estimate),
                    format!("{:.2}", effect.se),
                    format!("{:.3}", effect.p),
                ],
                None => std::array::from_fn(|_| "–".to_owned()),
            };
            let share = participants_share
                .map_or_else(|| "–".to_owned(), |share| format!("{:.0} %", 100.0 * share));
            let cell = |column: &str| published.cell(dimension, column);
            // Writing to a string cannot fail.
            let _infallible = writeln!(
                text,
                "| {dimension} | {n} | {beta} | {se} | {p} | {} | {} | {share} | {}{} † | {} ± {} † | {} ± {} † |",
                sample(one.system),
                sample(one.baseline),
                cell("beta"),
                cell("sig"),
                cell("scholareval_mean"),
                cell("scholareval_sd"),
                cell("deep_research_mean"),
                cell("deep_research_sd"),
            );
        }
        text.push('\n');
        match &self.blindness {
            Some(one) => {
                let _infallible = writeln!(
                    text,
                    "Guessed and true system: r = {:+.2}, p = {:.2}, {} guesses (the paper: −0.12, 0.44 †).",
                    one.r, one.p, one.n
                );
            }
            None => text.push_str("Guessed and true system: not enough guesses.\n"),
        }
        if let Some(detail) = &self.detail {
            let _infallible = writeln!(
                text,
                "\nWords of the plans by system: t = {:+.2}, df = {:.0}, p = {:.2}.",
                detail.t, detail.df, detail.p
            );
        }
        text.push_str("\n† published: arXiv 2510.16234, table 4, 46 evaluations by 18 experts.\n");
        text
    }
}
