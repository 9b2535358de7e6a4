//! Pairwise comparison of two systems' answers, with positions swapped.
//!
//! A judge that prefers what it reads first would decide by position. So each pair is judged twice, in both orders: the
//! same winner twice is a preference, anything else a tie, and how often the verdicts follow the position is reported.
//! The paper's people judge once, blind; their preferences enter as they are.

use serde::{Deserialize, Serialize};

pub use crate::statistics::agreement::Preference;
use crate::statistics::{self, Estimate, sign};

use crate::judge::Judged;

impl Preference {
    /// The same preference when the two answers change places.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::Tie => Self::Tie,
            Self::B => Self::A,
        }
    }
}

/// Both verdicts on one pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SwappedVerdicts {
    /// Verdict with the first system's answer read first.
    pub forward: Judged<Preference>,
    /// Verdict with the second system's answer read first, told in terms of systems, not of places.
    pub backward: Judged<Preference>,
}

impl SwappedVerdicts {
    /// The preference both orders agree on, else a tie; `None` when a verdict could not be read.
    pub fn preference(&self) -> Option<Preference> {
        let (Judged::Read(forward), Judged::Read(backward)) = (&self.forward, &self.backward)
        else {
            return None;
        };
        Some(if forward == backward { *forward } else { Preference::Tie })
    }

    /// Whether the winner changed with the order; `None` when a verdict could not be read.
    fn follows_position(&self) -> Option<bool> {
        let (Judged::Read(forward), Judged::Read(backward)) = (&self.forward, &self.backward)
        else {
            return None;
        };
        Some(forward != backward)
    }

    /// Whether the answer read first won, in each order.
    pub(crate) fn first_wins(&self) -> impl Iterator<Item = bool> {
        let first = |verdict: &Judged<Preference>, winner: Preference| match verdict {
            Judged::Read(Preference::Tie) | Judged::Unreadable(_) => None,
            Judged::Read(preference) => Some(*preference == winner),
        };
        [first(&self.forward, Preference::A), first(&self.backward, Preference::B)]
            .into_iter()
            .flatten()
    }
}

/// How two systems compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WinRates {
    /// Pairs with a preference or a tie.
    pub n: usize,
    /// Pairs in which the first system is preferred.
    pub wins: usize,
    /// Pairs in which neither is preferred.
    pub ties: usize,
    /// Pairs in which the second system is preferred.
    pub losses: usize,
    /// Share of wins with its interval; `None` without pairs.
    pub win_rate: Option<Estimate>,
    /// Share of ties with its interval; `None` without pairs.
    pub tie_rate: Option<Estimate>,
    /// Share of losses with its interval; `None` without pairs.
    pub loss_rate: Option<Estimate>,
    /// Two-sided p of the exact sign test, ties left out.
    pub p: f64,
    /// Pairs left out because a verdict could not be read.
    pub unreadable: usize,
    /// Pairs whose winner changed with the order: judged ties. Of swapped verdicts only.
    pub inconsistent: Option<usize>,
    /// Of the verdicts that are no ties, the share for the answer read first; half is fair. Of swapped verdicts only.
    pub first_place_share: Option<f64>,
}

impl WinRates {
    /// Share of wins among the pairs that are decided, ties left out; `None` where none is.
    pub fn win_rate_without_ties(&self) -> Option<f64> {
        let decided = self.wins + self.losses;
        (decided > 0).then(|| statistics::ratio(self.wins, decided))
    }
}

/// Rates of preferences that people gave, or that were decided before.
pub fn win_rates(preferences: &[Preference], seed: u64) -> WinRates {
    let count = |which: Preference| preferences.iter().filter(|one| **one == which).count();
    let rate = |which: Preference| {
        let values: Vec<f64> =
            preferences.iter().map(|one| f64::from(u8::from(*one == which))).collect();
        statistics::estimate(&values, seed)
    };
    let (wins, losses) = (count(Preference::A), count(Preference::B));
    WinRates {
        n: preferences.len(),
        wins,
        ties: count(Preference::Tie),
        losses,
        win_rate: rate(Preference::A),
        tie_rate: rate(Preference::Tie),
        loss_rate: rate(Preference::B),
        p: sign::sign_test(wins, losses),
        unreadable: 0,
        inconsistent: None,
        first_place_share: None,
    }
}

/// Rates of verdicts with swapped positions.
pub fn swapped_win_rates(verdicts: &[SwappedVerdicts], seed: u64) -> WinRates {
    let preferences: Vec<Preference> =
        verdicts.iter().filter_map(SwappedVerdicts::preference).collect();
    let first: Vec<bool> = verdicts.iter().flat_map(SwappedVerdicts::first_wins).collect();
    let n_first = first.iter().filter(|first| **first).count();
    let inconsistent =
        verdicts.iter().filter(|verdicts| verdicts.follows_position() == Some(true)).count();
    WinRates {
        unreadable: verdicts.len() - preferences.len(),
        inconsistent: Some(inconsistent),
        first_place_share: (!first.is_empty()).then(|| statistics::ratio(n_first, first.len())),
        ..win_rates(&preferences, seed)
    }
}

#[cfg(test)]
mod tests;
