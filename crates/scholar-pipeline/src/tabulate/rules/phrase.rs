//! Where a phrase ends: the noun phrase beside a cue, without the clause that follows it.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use crate::modes::evidence::pattern::pattern;

/// Longest phrase, in words. Ours.
const MOST_WORDS: usize = 16;

/// Words at which a name of a treatment or of a group ends.
static END_OF_TREATMENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:in|among|on|for|during|over|after|before|who|which|that|were|was|is|are|has|have|had|as|using|at|when|while|whereas|compared|versus|vs\.?|within|between|until|because|if|since|than|did|does|significantly|resulted|reduces?|reduced|improves?|improved|increases?|increased|decreases?|decreased|prevents?|would|could|may|might|can|will|in addition|prior|every|under|where|through|via|according|followed|regarding|without|to (?:reduce|improve|prevent|determine|assess|evaluate|treat|increase|decrease)|by (?:a|the|means))$",
    )
});

/// Words at which the name of what is measured ends.
static END_OF_OUTCOME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:among|during|over|who|which|were|was|is|are|has|have|had|as|using|when|while|whereas|compared|versus|vs\.?|within|between|until|because|if|than|did|does|significantly|at|after|assessed|measured|defined|would|could|may|might|can|will|following|based|determined|evaluated|by|for)$",
    )
});

/// Words at which a description of people ends.
static END_OF_PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:underwent|visited|were|was|are|is|completed|participated|received|took|had|have|randomi[sz]ed|randomly|enrolled|recruited|included|assigned|allocated|entered|attended|attending|to|using|during|between|for|by|into|after|before|as|while|when|did|signed|gave|agreed|provided|showed|then)$",
    )
});

/// Words that do not end a phrase.
static TAIL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:[\s,;:.–—-]+|\s*\((?:n ?= ?)?\d+\)|\s+(?:and|or|the|a|an|of|with|in|to|by|on|for|at|from|either|both|respectively|group|groups|than|as|also|not|based|received|recorded|or both|only|were|was|who|which|through|whose))$",
    )
});

/// Words that do not begin one.
static HEAD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:[\s,;:–—-]+|\(?[a-d1-4ivx]{1,3}\)\s*|(?:either|the|a|an|our|both|one of|two|three|four|between|had|have|undergo|underwent|use|used|using|with|get|got|(?:\w+ )?groups?:?|treatment with|treatments? of|receive|receiving|to receive|an? (?:intervention|control|experimental|treatment) group|of)(?:\s+|$))",
    )
});

/// People.
static PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:\w*patients|participants|subjects|adults|women|men|children|infants|neonates|newborns|adolescents|students|individuals|people|persons|volunteers|smokers|athletes|boys|girls|mothers|families|residents|workers|veterans|couples|males|females)\b",
    )
});

/// Words behind which people are named.
static LEADS_OVER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)(?:\b(?:in|of|among|on|for|to|by|that|from|with|found|we|enrolled|recruited|included|randomi[sz]ed)|,|;|:)\s+",
    )
});

/// Words that name nothing by themselves, or begin a clause.
static NOT_A_NAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:it|they|them|this|these|those|that|each|he|she|we|us|there|here|again|respectively|which|who|other|others|same|one|both|to|was|were|is|are|be|been|in|at|for|on|by|from|and|or|not|all|any|some|such|when|if|as|than|then|also|only|further|same \w+|other half .*|(?:this|these|those|our|all|both|each|such) .*)$",
    )
});

/// What a phrase names, which decides where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PhraseKind {
    /// A treatment or a comparator.
    Treatment,
    /// What is measured.
    Outcome,
    /// People.
    People,
    /// Anything up to the end of its clause.
    Clause,
}

/// The phrase at the beginning of `text[range]`; `None` where nothing is left.
pub(super) fn from_start(
    text: &str,
    range: Range<usize>,
    kind: PhraseKind,
) -> Option<Range<usize>> {
    let (mut start, mut end) = (range.start, range.end);
    while let Some(head) = HEAD.find(&text[start..end]).filter(|head| !head.is_empty()) {
        start += head.end();
    }
    end = start + end_of_phrase(&text[start..end], kind);
    if kind == PhraseKind::People {
        start += before_people(&text[start..end]);
    }
    trimmed(text, start..end)
}

/// Bytes in front of the people of a phrase, up to the last word that leads over to them.
fn before_people(text: &str) -> usize {
    let head = PEOPLE.find(text).map_or(0, |head| head.start());
    LEADS_OVER.find_iter(&text[..head]).last().map_or(0, |last| last.end())
}

/// The phrase at the end of `text[range]`: what follows its last boundary.
pub(super) fn from_end(text: &str, range: Range<usize>, kind: PhraseKind) -> Option<Range<usize>> {
    let slice = &text[range.clone()];
    let mut start = 0;
    let mut depth = 0_usize;
    for (at, word) in words(slice) {
        let opened = depth;
        depth = (depth + word.matches(['(', '[']).count())
            .saturating_sub(word.matches([')', ']']).count());
        let bare = word.trim_end_matches([',', ';', ':']);
        if opened > 0 {
            continue;
        }
        let ends = match kind {
            PhraseKind::Outcome => END_OF_OUTCOME.is_match(bare),
            _ => END_OF_TREATMENT.is_match(bare),
        };
        let leads = [
            "of",
            "with",
            "to",
            "and",
            "comparing",
            "receiving",
            "received",
            "that",
            "between",
            "whether",
            "against",
            "the",
            "in",
        ];
        if ends || bare.len() < word.len() || leads.contains(&bare.to_lowercase().as_str()) {
            start = at + word.len();
        }
    }
    trimmed(text, range.start + start..range.end)
}

fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let base = text.as_ptr() as usize;
    text.split_whitespace().map(move |word| (word.as_ptr() as usize - base, word))
}

fn end_of_phrase(text: &str, kind: PhraseKind) -> usize {
    let mut depth = 0_usize;
    let mut end = 0;
    for (nth, (at, word)) in words(text).enumerate() {
        if depth == 0 {
            let bare = word.trim_end_matches([',', ';', ':', '.']);
            let ends = match kind {
                PhraseKind::Treatment => END_OF_TREATMENT.is_match(bare),
                PhraseKind::Outcome => END_OF_OUTCOME.is_match(bare),
                PhraseKind::People => END_OF_PEOPLE.is_match(bare),
                PhraseKind::Clause => false,
            };
            // Numbers of participants and statistics stand in brackets behind the name.
            let counts = word.starts_with("(n") || word.starts_with("(N") || word.starts_with("[n");
            if (nth > 0 && ends) || counts || nth >= MOST_WORDS && kind != PhraseKind::Clause {
                return end;
            }
        }
        depth = (depth + word.matches(['(', '[']).count())
            .saturating_sub(word.matches([')', ']']).count());
        end = at + word.len();
        if depth == 0 && word.ends_with([';', ':', ',']) && kind != PhraseKind::Clause {
            return end;
        }
    }
    end
}

/// Without function words and stops at its ends, and without a bracket that is not closed.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let (mut start, mut end) = (range.start, range.end);
    loop {
        let slice = &text[start..end];
        if let Some(head) = HEAD.find(slice).filter(|head| !head.is_empty()) {
            start += head.end();
        } else if let Some(tail) = TAIL.find(slice).filter(|tail| !tail.is_empty()) {
            end = start + tail.start();
        } else {
            break;
        }
    }
    let slice = &text[start..end];
    let open = slice.matches('(').count();
    let closed = slice.matches(')').count();
    if open > closed {
        // What stands before the open bracket.
        let at = slice.rfind('(').unwrap_or(0);
        return if at > 2 { trimmed(text, start..start + at) } else { None };
    }
    if closed > open {
        let at = slice.find(')').unwrap_or(0);
        return if at > 2 { trimmed(text, start..start + at) } else { None };
    }
    if NOT_A_NAME.is_match(slice) {
        return None;
    }
    let letters = slice.chars().filter(|c| c.is_alphanumeric()).count();
    (letters >= 2).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_ends_before_the_next_clause() {
        let check = |kind, text: &str, expected: Option<&str>| {
            let found = from_start(text, 0..text.len(), kind).map(|range| &text[range]);
            assert_eq!(found, expected, "{text}");
        };
        use PhraseKind::{Outcome, People, Treatment};
        check(
            Treatment,
            "either vitamin D3 (800 IU/day) for 12 weeks",
            Some("vitamin D3 (800 IU/day)"),
        );
        check(Treatment, "placebo (n = 40; control group)", Some("placebo"));
        check(Outcome, "the change in HbA1c at six months.", Some("change in HbA1c"));
        check(
            People,
            "patients with asthma (aged 6–12, both sexes) were randomised",
            Some("patients with asthma (aged 6–12, both sexes)"),
        );
        check(Treatment, "the", None);
        let text = "a comparison of oral aspirin";
        assert_eq!(
            from_end(text, 0..text.len(), Treatment).map(|range| &text[range]),
            Some("oral aspirin")
        );
    }
}
