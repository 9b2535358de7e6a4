//! Whether a number is the next one of a paper's headings: what tells `3 Results` from `3 apples were eaten`.

/// The numbers of the headings so far.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    last: Vec<u32>,
}

impl Sequence {
    /// Whether `number` can follow: `2` and `1.1` after `1`, `3` after `2.4`, `A` after any; and if so, remembers it.
    pub(super) fn takes(&mut self, number: &str) -> bool {
        let Some(parts) = parts(number) else { return false };
        let fits = follows(&self.last, &parts);
        if fits {
            self.last = parts;
        }
        fits
    }
}

/// Letters of appendices count from 1000 on, so that they come after every number.
fn parts(number: &str) -> Option<Vec<u32>> {
    let roman = !number.is_empty() && number.bytes().all(|byte| b"IVX".contains(&byte));
    if roman {
        return Some(vec![roman_value(number)]);
    }
    number
        .split('.')
        .map(|part| match part.as_bytes() {
            [letter @ b'A'..=b'Z'] => Some(1000 + u32::from(letter - b'A')),
            _ => part.parse().ok(),
        })
        .collect()
}

fn roman_value(number: &str) -> u32 {
    let value = |byte| match byte {
        b'I' => 1,
        b'V' => 5,
        _ => 10,
    };
    let bytes = number.as_bytes();
    let mut sum = 0_u32;
    for (at, &byte) in bytes.iter().enumerate() {
        let next = bytes.get(at + 1).map_or(0, |&next| value(next));
        sum = if value(byte) < next { sum.saturating_sub(value(byte)) } else { sum + value(byte) };
    }
    sum
}

fn follows(last: &[u32], next: &[u32]) -> bool {
    let Some((&final_part, above)) = next.split_last() else { return false };
    if last.is_empty() {
        return next.len() == 1 && (final_part <= 1 || final_part == 1000);
    }
    // One deeper: the first of its kind.
    if next.len() == last.len() + 1 && above == last {
        return final_part <= 1;
    }
    if next.len() <= last.len() && above == &last[..next.len() - 1] {
        let before = last[next.len() - 1];
        // A heading that was not recognised leaves a hole of one.
        return final_part > before && (final_part <= before + 2 || final_part == 1000);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_each_other() {
        let mut sequence = Sequence::default();
        let takes: Vec<bool> =
            ["3", "1", "2", "2.1", "2.2", "7", "2.2.1", "3", "1", "4.1", "5", "A", "A.1", "B"]
                .iter()
                .map(|number| sequence.takes(number))
                .collect();
        let expect = [
            false, true, true, true, true, false, true, true, false, false, true, true, true, true,
        ];
        assert_eq!(takes, expect);
        let mut roman = Sequence::default();
        assert!(["I", "II", "III", "IV"].iter().all(|number| roman.takes(number)));
    }
}
