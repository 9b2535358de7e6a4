//! Whether a reply has begun to repeat itself: the likeliest text of a small model can fall into a cycle that it never leaves.
//!
//! Source: Holtzman et al. 2020, which calls it degeneration. The rule is ours: cycles differ in the numbers that the model counts on,
//! so sentences are compared by their letters.

use std::collections::HashMap;

/// How often a sentence or line may stand in a reply. Ours: short answers repeat a finding once.
const MOST: usize = 4;
/// Fewest letters of one that counts: cells, labels and headings may well repeat. Ours.
const FEWEST_LETTERS: usize = 24;

/// The sentences and lines of a reply so far.
#[derive(Debug, Default)]
pub(super) struct Repetition {
    /// Letters of the one that is being written.
    letters: String,
    /// Whether what was written last may end a sentence.
    ends: bool,
    seen: HashMap<String, usize>,
}

impl Repetition {
    /// Takes the next piece of the reply; whether a sentence has ended that stood [`MOST`] times before.
    pub(super) fn goes_on(&mut self, piece: &str) -> bool {
        let mut repeats = false;
        for c in piece.chars() {
            if c == '\n' || (self.ends && c.is_whitespace()) {
                repeats |= self.end();
            }
            self.ends = matches!(c, '.' | '?' | '!') || (self.ends && matches!(c, ')' | '"' | '”'));
            self.letters.extend(c.is_alphabetic().then_some(c));
        }
        repeats
    }

    fn end(&mut self) -> bool {
        let letters = std::mem::take(&mut self.letters);
        if letters.chars().count() < FEWEST_LETTERS {
            return false;
        }
        let times = self.seen.entry(letters).or_default();
        *times += 1;
        *times > MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cycle_is_noticed_although_its_numbers_count_on() {
        let mut reply = Repetition::default();
        let line = |n: usize| format!("F{n} | Bed nets lowered the incidence of malaria. [{n}]\n");
        let noticed = (1..=9).find(|n| reply.goes_on(&line(*n)));
        assert_eq!(noticed, Some(5));
        let mut reply = Repetition::default();
        let sentence = "Bed nets lowered the incidence of malaria. ";
        let pieces: Vec<String> = sentence.repeat(9).chars().map(String::from).collect();
        let noticed = pieces.iter().position(|piece| reply.goes_on(piece));
        assert_eq!(noticed, Some(5 * sentence.len() - 1));
    }

    #[test]
    fn answers_and_tables_do_not_repeat_themselves() {
        let mut reply = Repetition::default();
        let rows = "T [3] | mice | – |\n".repeat(40);
        assert!(!reply.goes_on(&rows));
        let finding = "Bed nets lowered the incidence of malaria in 3.5 of 4 trials. ";
        assert!(!reply.goes_on(&finding.repeat(4)));
        assert!(
            !reply.goes_on("Bed nets lowered the incidence of malaria in no trial of children.\n")
        );
    }
}
