//! What chance decides, from the study's seed: the same for the same names, and told by nothing else.

use sha2::{Digest as _, Sha256};

use super::model::Instance;

/// 64 bits for `purpose` and names. Lengths are mixed in, so that no two lists of names are the same bytes.
fn draw(seed: u64, purpose: &str, names: &[&str]) -> u64 {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for name in std::iter::once(&purpose).chain(names) {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

/// Whether this annotator sees the second answer of this instance as A.
pub(super) fn flipped(seed: u64, annotator: &str, instance: &str) -> bool {
    draw(seed, "order of answers", &[annotator, instance]) & 1 == 1
}

/// Whether this annotator sees the second system's report at this place, from 0, among their reviews: of every two in a row one is
/// the one's and one the other's.
pub(super) fn second_system(seed: u64, annotator: &str, place: usize) -> bool {
    let pair = (place / 2).to_string();
    let first = draw(seed, "systems of two reviews", &[annotator, &pair]) & 1 == 1;
    first ^ (place % 2 == 1)
}

/// Instances are shown to an annotator by rising value.
pub(super) fn place(seed: u64, annotator: &str, instance: &str) -> u64 {
    draw(seed, "order of instances", &[annotator, instance])
}

/// Among annotators with equally much to do, the one with the lowest value gets the instance.
pub(super) fn lot(seed: u64, annotator: &str, instance: &str) -> u64 {
    draw(seed, "assignment", &[annotator, instance])
}

/// Keeps `limit` of `instances`, in their order.
pub(super) fn sample(instances: &mut Vec<Instance>, limit: usize, seed: u64) {
    let mut lots: Vec<(u64, String)> = instances
        .iter()
        .map(|instance| (draw(seed, "sample", &[&instance.id]), instance.id.clone()))
        .collect();
    lots.sort();
    lots.truncate(limit);
    instances.retain(|instance| lots.iter().any(|(_, id)| *id == instance.id));
}

/// An instance that needs annotators.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub(super) instance: &'a str,
    /// Who may not judge it.
    pub(super) authors: &'a [String],
    /// The only ones who may; empty for all.
    pub(super) participants: &'a [String],
}

/// Which instances get or need annotators: gives each of `wanted` instances annotators until it has `per_instance`,
/// those with the least to do first and never an author.
///
/// `have` are the assignments there are already, as (annotator, instance); new ones are returned in the same form.
/// Instances for which too few annotators are eligible get as many as there are.
pub(super) fn assign<'a>(
    seed: u64,
    annotators: &[&'a str],
    wanted: &[Wanted<'a>],
    have: &[(String, String)],
    per_instance: usize,
) -> Vec<(&'a str, &'a str)> {
    let mut load: Vec<usize> = annotators
        .iter()
        .map(|name| have.iter().filter(|(annotator, _)| annotator == name).count())
        .collect();
    let mut order: Vec<&Wanted<'a>> = wanted.iter().collect();
    order.sort_by_key(|one| (draw(seed, "who is first", &[one.instance]), one.instance));
    let mut new = Vec::new();
    for Wanted { instance, authors, participants } in order {
        let holders: Vec<&str> = have
            .iter()
            .filter(|(_, held)| held == instance)
            .map(|(name, _)| name.as_str())
            .collect();
        let mut eligible: Vec<usize> = (0..annotators.len())
            .filter(|at| {
                let name = annotators[*at];
                let is_among = |list: &[String]| list.iter().any(|one| same_person(one, name));
                !holders.contains(&name)
                    && !is_among(authors)
                    && (participants.is_empty() || is_among(participants))
            })
            .collect();
        eligible.sort_by_key(|at| (load[*at], lot(seed, annotators[*at], instance)));
        for at in eligible.into_iter().take(per_instance.saturating_sub(holders.len())) {
            load[at] += 1;
            new.push((annotators[at], *instance));
        }
    }
    new
}

/// Names are the same whatever their case and blanks: an exclusion must not fail over a capital.
fn same_person(a: &str, b: &str) -> bool {
    let plain = |name: &str| {
        name.split_whitespace()
            .flat_map(str::chars)
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_stable_and_balanced() {
        let sides: Vec<bool> = (0..1_000).map(|n| flipped(42, "ada", &format!("q{n}"))).collect();
        let again: Vec<bool> = (0..1_000).map(|n| flipped(42, "ada", &format!("q{n}"))).collect();
        assert_eq!(sides, again);
        let share = sides.iter().filter(|side| **side).count();
        // Four standard deviations of a fair coin.
        assert!((437..=563).contains(&share), "{share}");
        let other: usize =
            (0..1_000).filter(|n| flipped(42, "ben", &format!("q{n}")) != sides[*n]).count();
        assert!((437..=563).contains(&other), "{other}");
        assert_ne!(draw(1, "x", &["ab", "c"]), draw(1, "x", &["a", "bc"]));
    }

    #[test]
    fn an_annotator_sees_each_system_as_often_as_the_other() {
        let mut first = 0;
        for who in 0..200 {
            let seen: Vec<bool> =
                (0..4).map(|place| second_system(3, &format!("a{who}"), place)).collect();
            assert_eq!(seen.iter().filter(|second| **second).count(), 2, "{seen:?}");
            first += usize::from(seen[0]);
        }
        // Four standard deviations of a fair coin.
        assert!((72..=128).contains(&first), "{first}");
    }

    #[test]
    fn nobody_judges_their_own_and_work_is_spread_evenly() {
        let names = ["ada", "ben", "cem", "dee"];
        let ids: Vec<String> = (0..20).map(|n| format!("q{n}")).collect();
        let own = vec!["Ada ".to_owned()];
        let wanted: Vec<Wanted<'_>> = ids
            .iter()
            .enumerate()
            .map(|(n, id)| Wanted {
                instance: id,
                authors: if n < 8 { own.as_slice() } else { &[] },
                participants: &[],
            })
            .collect();
        let given = assign(7, &names, &wanted, &[], 2);
        assert_eq!(given.len(), 40);
        for name in names {
            let load = given.iter().filter(|(annotator, _)| *annotator == name).count();
            assert!((8..=12).contains(&load), "{name}: {load}");
        }
        for id in &ids[..8] {
            assert!(!given.contains(&("ada", id.as_str())), "{id} is Ada's own");
        }
        // A later call only fills up.
        let have: Vec<(String, String)> =
            given.iter().map(|(a, i)| ((*a).to_owned(), (*i).to_owned())).collect();
        assert_eq!(assign(7, &names, &wanted, &have, 2), []);
        assert_eq!(assign(7, &names, &wanted, &have, 3).len(), 20);
        let whose = [Wanted { participants: &own, authors: &[], ..wanted[9] }];
        assert_eq!(assign(7, &names, &whose, &[], 99), [("ada", "q9")], "the plan is Ada's");
        // Eight questions have three eligible annotators, twelve have four.
        assert_eq!(assign(7, &names, &wanted, &have, 99).len(), 8 + 24);
    }
}
