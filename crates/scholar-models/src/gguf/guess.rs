//! Guessing the next tokens of a reply from what was read: answers repeat their evidence.
//!
//! Where the last tokens stood before in prompt or reply, what followed there is guessed to follow again. The model checks
//! a guess in one pass that costs little more than one token does; what it writes does not change.
//!
//! Source: Saxena 2023, prompt lookup decoding; Yang et al. 2023, inference with reference.

use super::activations::MAX_ROWS;

/// Tokens that must stand the same before a guess is made, and the most that are compared.
const SHORTEST_MATCH: usize = 2;
const LONGEST_MATCH: usize = 8;
/// The shortest match after guesses that failed.
const CAREFUL_MATCH: usize = 3;
/// The most tokens that are guessed: with the token before them they fill the kernels' rows.
const LONGEST_GUESS: usize = MAX_ROWS - 1;
/// Failed guesses in a row after which a longer match is wanted.
const FAILURES: u32 = 2;

/// How guesses went so far in a reply.
#[derive(Debug, Default)]
pub(super) struct Guesser {
    failures: u32,
}

impl Guesser {
    /// What may follow `tokens`; empty where nothing like its end stood before.
    pub(super) fn guess<'a>(&self, tokens: &'a [u32]) -> &'a [u32] {
        let shortest = if self.failures < FAILURES { SHORTEST_MATCH } else { CAREFUL_MATCH };
        let mut best: Option<(usize, usize)> = None;
        for end in (shortest..tokens.len()).rev() {
            let matched = tokens[..end]
                .iter()
                .rev()
                .zip(tokens.iter().rev())
                .take(LONGEST_MATCH)
                .take_while(|(a, b)| a == b)
                .count();
            // The latest of equally long matches is the likeliest.
            if matched >= shortest && best.is_none_or(|(longest, _)| matched > longest) {
                best = Some((matched, end));
                if matched == LONGEST_MATCH {
                    break;
                }
            }
        }
        let upto = |(matched, end)| tokens.len().min(end + length(matched));
        best.map_or(&[], |found| &tokens[found.1..upto(found)])
    }

    /// Takes note that `held` of the guessed tokens were right.
    pub(super) fn learn(&mut self, held: usize) {
        self.failures = if held == 0 { self.failures + 1 } else { 0 };
    }
}

/// Tokens that are guessed after a match: twice as many for each token more of it.
///
/// Ours: over 8 recorded calls of the embedded model (1,335 tokens written) it takes 607 passes and 966 guesses, of which 728
/// hold, instead of 642, 929 and 693 for three tokens after a match of three and seven after a guess that held.
fn length(matched: usize) -> usize {
    let doublings = u32::try_from(matched - SHORTEST_MATCH).unwrap_or(u32::MAX);
    1_usize.checked_shl(doublings).map_or(LONGEST_GUESS, |length| length.min(LONGEST_GUESS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_followed_the_longest_latest_match_is_guessed() {
        let guesser = Guesser::default();
        let check = |tokens: &[u32], expected: &[u32]| {
            assert_eq!(guesser.guess(tokens), expected, "{tokens:?}");
        };
        check(&[], &[]);
        check(&[1, 2, 3], &[]);
        check(&[1, 2, 9, 2], &[]);
        check(&[1, 2, 9, 1, 2], &[9]);
        check(&[1, 2, 3, 9, 1, 2, 3], &[9, 1]);
        // Two matches of three: the later one; one of four beats it.
        check(&[1, 2, 3, 7, 0, 1, 2, 3, 8, 0, 6, 1, 2, 3], &[8, 0]);
        check(&[5, 1, 2, 3, 7, 0, 1, 2, 3, 8, 6, 5, 1, 2, 3], &[7, 0, 1, 2]);
        check(&[4, 4, 4, 4], &[4]);
    }

    #[test]
    fn longer_matches_guess_more_and_failures_want_them() {
        let long: Vec<u32> = (0..20).collect();
        let after = |from: usize, matched: usize| [&long[..], &long[from..from + matched]].concat();
        let guesser = Guesser::default();
        for (matched, expected) in [(2, 1), (3, 2), (4, 4), (5, 7), (8, 7), (9, 7)] {
            let tokens = after(2, matched);
            let guess = guesser.guess(&tokens);
            assert_eq!(guess, &long[2 + matched..2 + matched + expected], "{matched}");
        }
        let mut guesser = Guesser::default();
        guesser.learn(0);
        assert_eq!(guesser.guess(&after(2, 2)), [4]);
        guesser.learn(0);
        assert!(guesser.guess(&after(2, 2)).is_empty());
        assert_eq!(guesser.guess(&after(2, 3)), [5, 6]);
        guesser.learn(1);
        assert_eq!(guesser.guess(&after(2, 2)), [4]);
    }
}
