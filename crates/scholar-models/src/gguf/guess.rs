//! Guessing the next tokens of a reply from what was read: answers repeat their evidence.
//!
//! Where the last tokens stood before in prompt or reply, what followed there is guessed to follow again. The model checks
//! a guess in one pass that costs little more than one token does; what it writes does not change.
//!
//! Source: Saxena 2023, prompt lookup decoding; Yang et al. 2023, inference with reference.

use super::activations::MAX_ROWS;

/// Tokens that must stand the same before a guess is made, and the most that are compared.
const SHORTEST_MATCH: usize = 3;
const LONGEST_MATCH: usize = 8;
/// The shortest match after guesses that failed.
const CAREFUL_MATCH: usize = 5;
/// Tokens of a first guess, and of one after a guess that held: each with the token before it fills the kernels' rows.
const FIRST_GUESS: usize = 3;
const LONGEST_GUESS: usize = MAX_ROWS - 1;
/// Failed guesses in a row after which a longer match is wanted.
const FAILURES: u32 = 2;

/// How guesses went so far in a reply.
#[derive(Debug, Default)]
pub(super) struct Guesser {
    last_held: bool,
    failures: u32,
}

impl Guesser {
    /// What may follow `tokens`; empty where nothing like its end stood before.
    pub(super) fn guess<'a>(&self, tokens: &'a [u32]) -> &'a [u32] {
        let shortest = if self.failures < FAILURES { SHORTEST_MATCH } else { CAREFUL_MATCH };
        let length = if self.last_held { LONGEST_GUESS } else { FIRST_GUESS };
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
        best.map_or(&[], |(_, end)| &tokens[end..tokens.len().min(end + length)])
    }

    /// Takes note that `held` of `guessed` tokens were right.
    pub(super) fn learn(&mut self, guessed: usize, held: usize) {
        self.last_held = held == guessed;
        self.failures = if held == 0 { self.failures + 1 } else { 0 };
    }
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
        check(&[1, 2, 3, 9, 1, 2, 3], &[9, 1, 2]);
        check(&[1, 2, 9, 1, 2], &[]);
        // Two matches of three: the later one; one of four beats it.
        check(&[1, 2, 3, 7, 0, 1, 2, 3, 8, 0, 0, 1, 2, 3], &[8, 0, 0]);
        check(&[5, 1, 2, 3, 7, 0, 1, 2, 3, 8, 6, 5, 1, 2, 3], &[7, 0, 1]);
        check(&[4, 4, 4, 4], &[4]);
    }

    #[test]
    fn guesses_grow_when_they_hold_and_need_more_when_they_fail() {
        let tokens = [&(0..20).collect::<Vec<u32>>()[..], &[2, 3, 4]].concat();
        let mut guesser = Guesser::default();
        assert_eq!(guesser.guess(&tokens).len(), FIRST_GUESS);
        guesser.learn(3, 3);
        assert_eq!(guesser.guess(&tokens).len(), LONGEST_GUESS);
        guesser.learn(7, 0);
        assert_eq!(guesser.guess(&tokens).len(), FIRST_GUESS);
        guesser.learn(3, 0);
        assert!(guesser.guess(&tokens).is_empty());
        let longer = [&tokens[..], &[5, 6]].concat();
        assert_eq!(guesser.guess(&longer), [7, 8, 9]);
    }
}
