//! What was measured, as tables.

use std::fmt::Write as _;

use scholar_core::{PaperId, PortError};
use scholar_pipeline::retrieve::links::{LinkCount, LinkRule};
use serde::Serialize;

use super::{
    BUDGET, CUTS, Engines, ExpansionQuery, Material, Tuned, Way, recall, reranked_with_links,
};
use crate::statistics::{Difference, Estimate, SEED, difference, estimate, mean, ratio};

/// Hits from which reach is counted.
const REACH: usize = 10;

/// A set of queries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetReport {
    /// Its name.
    pub name: String,
    /// What was done to the data, for people.
    pub about: String,
    /// Papers of the datastore.
    pub papers: u64,
    /// References between them.
    pub inner_edges: u64,
    /// Queries on which rules were chosen.
    pub dev: usize,
    /// Queries that are reported.
    pub test: usize,
    /// Mean number of papers to be found, on the test queries.
    pub gold: f64,
    /// Systems, the reranked search first but for the search as it is.
    pub systems: Vec<Measured>,
    /// What links lead to, by way.
    pub wide: Vec<Wide>,
}

/// Recall of one system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measured {
    /// What it is, for people.
    pub name: String,
    /// Recall at the cuts.
    pub recall: Vec<Option<Estimate>>,
    /// What it gains over the reranked search at the cuts.
    pub gain: Vec<Option<Difference>>,
}

/// What links of the best hits lead to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Wide {
    /// Which links.
    pub way: Way,
    /// Papers they lead to, mean over the queries.
    pub neighbours: f64,
    /// Of the papers to be found that are not among the first 100 of the search, the share that they lead to.
    pub missed_reached: f64,
}

/// Measures the search and the ways of `tuned` on `queries`, whose `materials` are in the same order.
///
/// # Errors
/// The first of search or reranking.
pub async fn measure(
    engines: Engines<'_>,
    queries: &[ExpansionQuery],
    materials: &[Material],
    tuned: &[Tuned],
    progress: &mut dyn FnMut(),
) -> Result<(Vec<Measured>, Vec<Wide>), PortError> {
    let base = Recalls::of(materials, |one| one.reranked.clone());
    let mut systems = vec![
        Recalls::of(materials, |one| one.search.clone()).against(&base, "search"),
        base.against(&base, "search, reranked"),
    ];
    for way in Way::ALL.into_iter().filter(|way| way.is_one_hop()) {
        let by_text = |one: &Material| one.by_text.get(&way).cloned().unwrap_or_default();
        let name = format!("{}, by text alone", way.name());
        systems.push(Recalls::of(materials, by_text).against(&base, &name));
    }
    for Tuned { way, rule, .. } in tuned {
        let fused = Recalls::of(materials, |one| one.fused(*way, *rule));
        let name = format!("{}, {}", way.name(), described(*rule));
        systems.push(fused.against(&base, &name));
    }
    for Tuned { way, rule, .. } in tuned.iter().filter(|one| one.way.is_one_hop()) {
        let by_citations = Recalls::of(materials, |one| one.fused_by_citations(*way, *rule));
        let LinkRule { seeds, weight, .. } = rule;
        let name = format!("{}, {seeds} seeds, by citations, weight {weight}", way.name());
        systems.push(by_citations.against(&base, &name));
    }
    for Tuned { way, rule, .. } in tuned.iter().filter(|one| one.way.is_one_hop()) {
        let mut rankings = Vec::with_capacity(materials.len());
        for (query, material) in queries.iter().zip(materials) {
            rankings.push(reranked_with_links(engines, query, material, *way, *rule).await?);
            progress();
        }
        let mut next = rankings.into_iter();
        let after = Recalls::of(materials, |_| next.next().unwrap_or_default());
        let name = format!("{}, {}, reranked after", way.name(), described(*rule));
        systems.push(after.against(&base, &name));
    }
    Ok((systems, Way::ALL.map(|way| wide(materials, way)).to_vec()))
}

fn wide(materials: &[Material], way: Way) -> Wide {
    let (mut missed, mut reached, mut neighbours) = (0, 0, Vec::new());
    for one in materials {
        let led = one.reached(way, REACH);
        #[expect(clippy::cast_precision_loss, reason = "a few hundred papers")]
        neighbours.push(led.len() as f64);
        let first: Vec<&PaperId> = one.search.iter().take(BUDGET).collect();
        let lost = one.gold.iter().filter(|id| !first.contains(id));
        for id in lost {
            missed += 1;
            reached += usize::from(led.contains(id));
        }
    }
    Wide { way, neighbours: mean(&neighbours), missed_reached: ratio(reached, missed.max(1)) }
}

/// Recall of each query at the cuts.
struct Recalls([Vec<f64>; CUTS.len()]);

impl Recalls {
    fn of(materials: &[Material], mut ranking: impl FnMut(&Material) -> Vec<PaperId>) -> Self {
        let rankings: Vec<Vec<PaperId>> = materials.iter().map(&mut ranking).collect();
        Self(CUTS.map(|cut| {
            let of_query =
                |(one, ranking): (&Material, &Vec<PaperId>)| recall(ranking, &one.gold, cut);
            materials.iter().zip(&rankings).map(of_query).collect()
        }))
    }

    fn against(&self, base: &Self, name: &str) -> Measured {
        let pairs = || self.0.iter().zip(&base.0);
        Measured {
            name: name.to_owned(),
            recall: self.0.iter().map(|values| estimate(values, SEED)).collect(),
            gain: pairs().map(|(values, base)| difference(values, base, SEED)).collect(),
        }
    }
}

/// A rule in words.
fn described(rule: LinkRule) -> String {
    let LinkRule { seeds, count, weight } = rule;
    let count = match count {
        LinkCount::Each => "each link 1",
        LinkCount::Discounted => "links by their hit's place",
        LinkCount::Shared => "links by their hit's number",
    };
    format!("{seeds} seeds, {count}, weight {weight}")
}

/// The rules that were chosen, of all and for each number of seeds, what the preset `lean` has, and a table for each set.
pub fn markdown(tuned: &[Tuned], lean: Tuned, by_seeds: &[Tuned], sets: &[SetReport]) -> String {
    let mut text = String::from(
        "## Rules\n\nChosen on the development halves, each set counting alike: the highest mean of recall at 20, 50 and 100 \
         among the rules that lose on none of the sets (* where every rule loses on one).\n\n\
         | links | rule | development: search, reranked | with links |\n|---|---|---|---|\n",
    );
    for Tuned { way, rule, reached, search, loses } in tuned {
        let _infallible = writeln!(
            text,
            "| {} | {} | {search:.3} | {reached:.3}{} |",
            way.name(),
            described(*rule),
            star(*loses)
        );
    }
    let _infallible = writeln!(
        text,
        "\nSciRAG's preset `lean` has {}, {}: {:.3}{}.",
        lean.way.name(),
        described(lean.rule),
        lean.reached,
        star(lean.loses)
    );
    text.push_str(
        "\nThe best rule for each number of seeds, on the same halves:\n\n| links | rule | with links |\n|---|---|---|\n",
    );
    for Tuned { way, rule, reached, loses, .. } in by_seeds {
        let (rule, star) = (described(*rule), star(*loses));
        let _infallible = writeln!(text, "| {} | {rule} | {reached:.3}{star} |", way.name());
    }
    for set in sets {
        let _infallible = write!(text, "\n{}", section(set));
    }
    text
}

fn star(loses: bool) -> &'static str {
    if loses { " *" } else { "" }
}

fn section(set: &SetReport) -> String {
    let SetReport { name, about, papers, inner_edges, dev, test, gold, systems, wide } = set;
    let mut text = format!(
        "## {name}\n\n{about}\n\n{papers} papers with {inner_edges} references to one another; {dev} development and {test} test queries, \
         {gold:.1} papers to be found on average. The test queries:\n\n| system |"
    );
    for cut in CUTS {
        let _infallible = write!(text, " Recall@{cut} (95 %) | gain |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|---|".repeat(CUTS.len()));
    text.push('\n');
    for Measured { name, recall, gain } in systems {
        let _infallible = write!(text, "| {name} |");
        for (recall, gain) in recall.iter().zip(gain) {
            let _infallible = write!(text, " {} | {} |", interval(*recall), signed(*gain));
        }
        text.push('\n');
    }
    text.push_str(
        "\n| links of the first 10 hits | papers they lead to | of what the search's first 100 miss, they lead to |\n|---|---|---|\n",
    );
    for Wide { way, neighbours, missed_reached } in wide {
        let share = missed_reached * 100.0;
        let _infallible = writeln!(text, "| {} | {neighbours:.0} | {share:.1} % |", way.name());
    }
    text
}

fn interval(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(
        || "none".to_owned(),
        |Estimate { mean, low, high }| format!("{mean:.3} ({low:.3}–{high:.3})"),
    )
}

fn signed(difference: Option<Difference>) -> String {
    difference.map_or_else(
        || "none".to_owned(),
        |Difference { estimate: Estimate { mean, low, high }, p: _ }| {
            format!("{mean:+.3} ({low:+.3} to {high:+.3})")
        },
    )
}
