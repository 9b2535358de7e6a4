//! Two systems' reports on the same ideas, compared by a judge on three criteria.
//!
//! Each pair is judged in both orders, and a winner is told in terms of systems, not of places. The paper judges once, in an order
//! drawn for each pair: that is `drawn`, one of the two. In `consistent` a winner is one in both orders, anything else a tie. A verdict that
//! cannot be read is unclear and counts nowhere.
//!
//! Source: arXiv 2510.16234, section 4.3, figure 4 and appendix.

pub mod agreement;
pub mod judge;
#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use scholar_core::SplitMix64;
use serde::{Deserialize, Serialize};

use super::model::IdeaId;
use super::published::{Table, table};
use crate::judge::{JudgePin, Judged};
use crate::metrics::preference::{
    Preference, SwappedVerdicts, WinRates, swapped_win_rates, win_rates,
};
use crate::statistics::SEED;

/// Schema of the comparison.
pub const PAIRWISE_SCHEMA: &str = "openscholar.scholarideas-pairwise/1";

/// What reports are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Criterion {
    /// Claims rest on literature that bears on them.
    EvidenceSupport,
    /// Suggestions are clear, feasible, varied and likely to help.
    Actionability,
    /// The idea is taken up from several sides, with specifics of cited work.
    Depth,
}

impl Criterion {
    /// All, in the order of the paper.
    pub const ALL: [Self; 3] = [Self::EvidenceSupport, Self::Actionability, Self::Depth];

    /// Its name in prompts and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::EvidenceSupport => "evidence_support",
            Self::Actionability => "actionability",
            Self::Depth => "depth",
        }
    }
}

/// A verdict on one criterion in both orders.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedPair {
    /// The idea of both reports.
    pub idea: IdeaId,
    /// Both verdicts for each criterion, in the order of [`Criterion::ALL`].
    pub verdicts: [SwappedVerdicts; 3],
    /// Whether the order drawn for the pair shows the second system first.
    pub flipped: bool,
}

impl JudgedPair {
    /// The verdict in the order that was drawn; `None` where it is unclear.
    pub fn drawn(&self, criterion: Criterion) -> Option<Preference> {
        let both = &self.verdicts[place(criterion)];
        let one = if self.flipped { &both.backward } else { &both.forward };
        match one {
            Judged::Read(preference) => Some(*preference),
            Judged::Unreadable(_) => None,
        }
    }
}

fn place(criterion: Criterion) -> usize {
    match criterion {
        Criterion::EvidenceSupport => 0,
        Criterion::Actionability => 1,
        Criterion::Depth => 2,
    }
}

/// Rates of one criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionRates {
    /// Name of the criterion, or `overall`.
    pub criterion: String,
    /// One order a pair, drawn by the seed: as the paper judges.
    pub drawn: WinRates,
    /// Winners of both orders; everything else is a tie.
    pub consistent: WinRates,
}

/// Two systems compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pairwise {
    /// Always [`PAIRWISE_SCHEMA`].
    pub schema: String,
    /// The first system; a win is its.
    pub system_a: String,
    /// The second system.
    pub system_b: String,
    /// The judge, pinned by name and prompt.
    pub judge: JudgePin,
    /// Seed of the drawn orders.
    pub seed: u64,
    /// One entry a criterion, then all verdicts together.
    pub rates: Vec<CriterionRates>,
    /// Every pair.
    pub pairs: Vec<JudgedPair>,
    /// Why not every pair was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// The order of each pair: the same for the same seed, idea by idea.
pub fn drawn_order(seed: u64, idea: IdeaId) -> bool {
    let stream = idea
        .to_string()
        .bytes()
        .fold(0, |bits: u64, byte| bits.wrapping_mul(257).wrapping_add(u64::from(byte)));
    SplitMix64::stream(seed, stream).next_u64() & 1 == 1
}

/// Rates of each criterion and of all together.
pub fn rates(pairs: &[JudgedPair]) -> Vec<CriterionRates> {
    let of = |name: &str, criteria: &[Criterion]| {
        let all = || pairs.iter().flat_map(|pair| criteria.iter().map(move |one| (pair, *one)));
        let drawn: Vec<Preference> = all().filter_map(|(pair, one)| pair.drawn(one)).collect();
        let both: Vec<SwappedVerdicts> =
            all().map(|(pair, one)| pair.verdicts[place(one)].clone()).collect();
        let unreadable = both.len() - drawn.len();
        CriterionRates {
            criterion: name.to_owned(),
            drawn: WinRates { unreadable, ..win_rates(&drawn, SEED) },
            consistent: swapped_win_rates(&both, SEED),
        }
    };
    let each = Criterion::ALL.iter().map(|one| of(one.name(), &[*one]));
    each.chain([of("overall", &Criterion::ALL)]).collect()
}

impl Pairwise {
    /// The rates beside the paper's.
    pub fn markdown(&self) -> String {
        let Self { system_a, system_b, judge, rates, pairs, incomplete, .. } = self;
        let mut text = format!(
            "{system_a} against {system_b}, {} pairs, judged by {} ({}).\n\n\
             | criterion | {system_a} | tie | {system_b} | unclear | without ties | p | both orders: {system_a} | tie | {system_b} | unclear | read first wins | ScholarEval against deep research † |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            pairs.len(),
            judge.name,
            judge.prompts.join(", ")
        );
        let percent = |value: Option<f64>| {
            value.map_or_else(|| "–".to_owned(), |value| format!("{:.1} %", 100.0 * value))
        };
        for CriterionRates { criterion, drawn, consistent } in rates {
            let published = table(Table::Pairwise).cell(criterion, "scholareval_win_pct");
            let published =
                if published.is_empty() { "–".to_owned() } else { format!("{published} % †") };
            // Writing to a string cannot fail.
            let _infallible = writeln!(
                text,
                "| {criterion} | {} | {} | {} | {} | {} | {:.3} | {} | {} | {} | {} | {} | {published} |",
                drawn.wins,
                drawn.ties,
                drawn.losses,
                drawn.unreadable,
                percent(drawn.win_rate_without_ties()),
                drawn.p,
                consistent.wins,
                consistent.ties,
                consistent.losses,
                consistent.unreadable,
                percent(consistent.first_place_share),
            );
        }
        if let Some(why) = incomplete {
            let _infallible = writeln!(text, "\nNot all pairs were judged: {why}");
        }
        text
    }
}
