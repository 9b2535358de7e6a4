use super::*;

fn verdicts(forward: Preference, backward: Preference) -> SwappedVerdicts {
    SwappedVerdicts { forward: Judged::Read(forward), backward: Judged::Read(backward) }
}

#[test]
fn a_preference_holds_in_both_orders() {
    use Preference::{A, B, Tie};
    assert_eq!(verdicts(A, A).preference(), Some(A));
    assert_eq!(verdicts(B, B).preference(), Some(B));
    assert_eq!(verdicts(A, B).preference(), Some(Tie));
    assert_eq!(verdicts(A, Tie).preference(), Some(Tie));
    let garbled =
        SwappedVerdicts { backward: Judged::Unreadable("?".to_owned()), ..verdicts(A, A) };
    assert_eq!(garbled.preference(), None);
    assert_eq!((A.swapped(), Tie.swapped(), B.swapped()), (B, Tie, A));
}

#[test]
fn a_judge_of_positions_decides_nothing() {
    use Preference::{A, B, Tie};
    let all = vec![verdicts(A, B); 6];
    let rates = swapped_win_rates(&all, 1);
    assert_eq!((rates.wins, rates.ties, rates.losses), (0, 6, 0));
    assert_eq!((rates.inconsistent, rates.first_place_share), (Some(6), Some(1.0)));
    assert!((rates.p - 1.0).abs() < 1e-12);

    let mut some = vec![verdicts(A, A); 7];
    some.extend([verdicts(B, B), verdicts(B, B), verdicts(Tie, Tie), verdicts(A, Tie)]);
    some.push(SwappedVerdicts { forward: Judged::Unreadable("?".to_owned()), ..verdicts(A, A) });
    let rates = swapped_win_rates(&some, 1);
    assert_eq!((rates.n, rates.wins, rates.ties, rates.losses), (11, 7, 2, 2));
    assert_eq!((rates.unreadable, rates.inconsistent), (1, Some(1)));
    assert!(rates.win_rate.is_some_and(|rate| (rate.mean - 7.0 / 11.0).abs() < 1e-12));
    assert!((rates.p - 0.179_687_5).abs() < 1e-9, "seven against two: {}", rates.p);
    assert_eq!(win_rates(&[], 1).win_rate, None);
}

/// `ScholarEval`'s figure 4: its three shares fit whole numbers of 111 pairs.
#[test]
fn win_rates_with_and_without_ties_differ_by_the_ties() {
    let of = |wins: usize, ties: usize, losses: usize| {
        let parts = [(Preference::A, wins), (Preference::Tie, ties), (Preference::B, losses)];
        let all: Vec<Preference> =
            parts.iter().flat_map(|(one, n)| std::iter::repeat_n(*one, *n)).collect();
        win_rates(&all, 1)
    };
    for (wins, percent) in [(85, 76.6), (79, 71.2), (93, 83.8)] {
        let rate = of(wins, 0, 111 - wins).win_rate_without_ties().expect("decided");
        assert!((100.0 * rate - percent).abs() < 0.05, "{rate}");
    }
    let tied = of(3, 4, 1);
    assert_eq!(tied.win_rate_without_ties(), Some(0.75));
    assert!(tied.win_rate.is_some_and(|rate| (rate.mean - 0.375).abs() < 1e-12));
    assert_eq!(of(0, 5, 0).win_rate_without_ties(), None);
}
