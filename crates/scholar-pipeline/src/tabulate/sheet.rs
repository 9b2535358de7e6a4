//! The sentences of a paper, each with the part of the paper it stands in.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::sentences::sentences;
use scholar_core::{Passage, PassageKind};

use crate::modes::evidence::pattern::pattern;

/// The part of a paper, by the heading of a section or the label in an abstract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// An abstract without labels, or before its first.
    Abstract,
    /// Background and introduction.
    Background,
    /// Aims and objectives.
    Aim,
    /// Design and setting, where labelled.
    Design,
    /// Participants, where labelled.
    Participants,
    /// Interventions, where labelled.
    Interventions,
    /// Outcome measures, where labelled.
    Outcomes,
    /// Methods.
    Methods,
    /// Results.
    Results,
    /// Discussion.
    Discussion,
    /// Conclusions.
    Conclusion,
    /// Limitations, where they have a heading.
    Limitations,
    /// Funding, acknowledgements, competing interests.
    Support,
    /// Registration, where labelled.
    Registration,
    /// Availability of data and code.
    Availability,
    /// Any other heading.
    Other,
    /// The title, which is no passage: what rules find there counts where a passage says it too.
    Title,
}

/// A sentence and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// The passage.
    pub passage: &'a Passage,
    /// Bytes of the passage's text, the label in front of it left out.
    pub range: Range<usize>,
    /// The part of the paper.
    pub zone: Zone,
    /// Whether it stands in the abstract.
    pub in_abstract: bool,
    /// Its number among the sentences of the paper, from 0.
    pub nth: usize,
    /// Its number among those of its passage, from 0.
    pub nth_in_passage: usize,
    /// Number of sentences of its passage, at least 1.
    pub of_passage: usize,
}

impl<'a> Line<'a> {
    /// The sentence.
    pub fn text(&self) -> &'a str {
        &self.passage.text[self.range.clone()]
    }
}

/// Labels of structured abstracts; publishers glue them to the words around (`MethodsThe within-subject …`).
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?:^|[.?!)\]:;%]\s*|\n\s*)(Objectives?|Aims?(?: of the study)?|Aims? and [Oo]bjectives?|Background(?: and (?:[Aa]ims?|[Oo]bjectives?|[Pp]urpose))?|Introduction|Context|Purpose|Hypothes[ie]s|Methods? and (?:[Mm]aterials?|[Ff]indings|[Rr]esults)|Methods?(?:[ /]+(?:[Dd]esign|[Pp]rincipal [Ff]indings))?|Methodology(?:/[Pp]rincipal [Ff]indings)?|Materials? and [Mm]ethods?|Patients and [Mm]ethods?|Subjects and [Mm]ethods?|Design(?: and [Ss]etting|, [Ss]etting,? and [Pp]articipants)?|Study [Dd]esign|Trial [Dd]esign|Setting(?:s)?(?: and [Pp]articipants)?|Participants|Patients|Subjects|Population|Interventions?|(?:Main |Primary |Primary and [Ss]econdary )?[Oo]utcomes?(?: [Mm]easures?| [Mm]easurements?)?|Main outcome measures?|Measurements?(?: and [Mm]ain [Rr]esults)?|Results?|Findings|Main [Rr]esults|Principal [Ff]indings|Discussion|Limitations?|Conclusions?(?:/[Ss]ignificance)?|Interpretation|Significance|Trial [Rr]egistration(?: [Nn]umber)?|Clinical [Tt]rial [Rr]egistration|Registration|Funding)(?:\s*[:.–—]\s*|\s*\n\s*|([A-Z0-9“\[(]))",
    )
});

/// The zone a label or heading names.
fn zone_of(heading: &str) -> Option<Zone> {
    let heading = heading.trim().trim_start_matches(|c: char| !c.is_alphabetic()).to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| heading.contains(word));
    Some(
        if any(&[
            "fund",
            "acknowledg",
            "competing",
            "conflict",
            "financial",
            "support",
            "sponsor",
            "disclosure",
        ]) {
            Zone::Support
        } else if any(&["registration", "registered"]) {
            Zone::Registration
        } else if any(&["availab", "licen"]) {
            Zone::Availability
        } else if any(&["limitation"]) {
            Zone::Limitations
        } else if any(&["outcome", "endpoint", "end point", "measurement"]) && !any(&["result"]) {
            Zone::Outcomes
        } else if any(&["participant", "patient", "subject", "population", "eligib", "inclusion"])
            && !any(&["method"])
        {
            Zone::Participants
        } else if any(&["intervention", "treatment"]) && !any(&["method", "effect", "result"]) {
            Zone::Interventions
        } else if any(&["design", "setting"]) && !any(&["method"]) {
            Zone::Design
        } else if any(&["conclusion", "interpretation", "significance"]) {
            Zone::Conclusion
        } else if any(&["discussion"]) {
            Zone::Discussion
        } else if any(&["method", "material", "procedure"]) {
            Zone::Methods
        } else if any(&["result", "finding", "experiment", "evaluation"]) {
            Zone::Results
        } else if any(&["objective", "aim", "purpose", "hypothes"]) {
            Zone::Aim
        } else if any(&["background", "introduction", "context", "related work"]) {
            Zone::Background
        } else {
            return None;
        },
    )
}

/// The sentences of `passages` that are prose, in order. Sections read twice (a passage that repeats another) stay twice.
pub fn lines(passages: &[Passage]) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    // The zone of an abstract goes on from passage to passage.
    let mut open = Zone::Abstract;
    for passage in passages.iter().filter(|passage| passage.kind.is_prose()) {
        let in_abstract = passage.kind == PassageKind::Abstract;
        let first = lines.len();
        let parts = if in_abstract {
            let parts = labelled(&passage.text, open);
            open = parts.last().map_or(open, |(zone, _)| *zone);
            parts
        } else {
            subheaded(&passage.text, zone_of(&passage.section).unwrap_or(Zone::Other))
        };
        for (zone, part) in parts {
            for sentence in sentences(&passage.text[part.clone()]) {
                let range = part.start + sentence.start..part.start + sentence.end;
                let nth = lines.len();
                let nth_in_passage = nth - first;
                lines.push(Line {
                    passage,
                    range,
                    zone,
                    in_abstract,
                    nth,
                    nth_in_passage,
                    of_passage: 1,
                });
            }
        }
        let of_passage = lines.len() - first;
        lines[first..].iter_mut().for_each(|line| line.of_passage = of_passage);
    }
    lines
}

/// The parts of an abstract behind its labels.
fn labelled(text: &str, first: Zone) -> Vec<(Zone, Range<usize>)> {
    let mut parts = Vec::new();
    let (mut zone, mut from, mut search) = (first, 0, 0);
    while let Some(found) = LABEL.captures_at(text, search) {
        let (Some(whole), Some(label)) = (found.get(0), found.get(1)) else { break };
        // A glued capital belongs to the sentence behind the label.
        let behind = found.get(2).map_or(whole.end(), |next| next.start());
        search = behind.max(whole.start() + 1);
        let Some(next) = zone_of(label.as_str()) else { continue };
        parts.push((zone, from..label.start()));
        (zone, from) = (next, behind);
        while !text.is_char_boundary(search) {
            search += 1;
        }
    }
    parts.push((zone, from..text.len()));
    parts.retain(|(_, part)| !part.is_empty());
    parts
}

/// What a heading inside a section begins with, where the format keeps it. Line breaks around it may be lost.
const SUBHEADING: &str = "## ";
/// Longest heading inside a section, in words.
const HEADING_WORDS: usize = 9;

/// The parts of a section below its `## ` headings, which keep the section's zone where they name none.
fn subheaded(text: &str, section: Zone) -> Vec<(Zone, Range<usize>)> {
    let mut parts: Vec<(Zone, Range<usize>)> = Vec::new();
    let (mut zone, mut from) = (section, 0);
    for (at, _) in text.match_indices(SUBHEADING) {
        if at < from {
            continue;
        }
        parts.push((zone, from..at));
        let behind = at + SUBHEADING.len();
        let end = behind + heading_len(&text[behind..]);
        zone = match zone_of(&text[behind..end]) {
            // Participants of the results section are not those of the methods.
            Some(Zone::Participants | Zone::Interventions | Zone::Outcomes | Zone::Design)
                if section != Zone::Methods =>
            {
                section
            }
            named => named.unwrap_or(section),
        };
        from = end;
    }
    parts.push((zone, from..text.len()));
    parts.retain(|(_, part)| !text[part.clone()].trim().is_empty());
    parts
}

/// Bytes of the heading that `text` begins with: up to its line's end, or to the first capital that can begin a sentence.
fn heading_len(text: &str) -> usize {
    if let Some(end) =
        text.find('\n').filter(|end| text[..*end].split(' ').count() <= HEADING_WORDS)
    {
        return end;
    }
    let mut capital = None;
    let mut at = 0;
    for (nth, word) in text.split_inclusive(' ').take(HEADING_WORDS).enumerate() {
        if nth > 0 && word.starts_with(char::is_uppercase) {
            if STARTERS.contains(&word.trim()) {
                return at;
            }
            capital = capital.or(Some(at));
        }
        at += word.len();
    }
    capital.unwrap_or(0)
}

/// Words that begin sentences rather than stand inside headings.
const STARTERS: &[&str] = &[
    "The",
    "We",
    "A",
    "An",
    "In",
    "This",
    "These",
    "All",
    "Participants",
    "Patients",
    "Subjects",
    "To",
    "At",
    "For",
    "Of",
    "Our",
    "There",
    "Each",
    "Both",
    "After",
    "From",
    "As",
    "It",
    "Between",
    "Data",
    "Men",
    "Women",
    "Children",
];

#[cfg(test)]
pub(crate) mod tests {
    use scholar_core::{CharSpan, PaperId, PassageId};

    use super::*;

    /// A passage for tests; `section` "Abstract" makes it one.
    pub(crate) fn passage(ordinal: u32, section: &str, text: &str) -> Passage {
        Passage {
            id: PassageId { paper: PaperId::Pmid(1), ordinal },
            title: "Vitamin D and falls".to_owned(),
            section: section.to_owned(),
            kind: if section == "Abstract" { PassageKind::Abstract } else { PassageKind::Body },
            span: CharSpan::new(0, text.chars().count()),
            text: text.to_owned(),
            places: Vec::new(),
        }
    }

    #[test]
    fn labels_and_headings_tell_the_part() {
        let passages = [
            passage(
                0,
                "Abstract",
                "BackgroundFalls are common.MethodsWe enrolled 12 adults. They took pills.Results:None fell.",
            ),
            passage(
                1,
                "Methods",
                "We did it. ## Outcome measures The primary outcome was falls. ## Statistics A test.",
            ),
            passage(2, "Funding", "Paid by X."),
        ];
        let seen: Vec<(Zone, &str)> =
            lines(&passages).iter().map(|line| (line.zone, line.text())).collect();
        assert_eq!(
            seen,
            [
                (Zone::Background, "Falls are common."),
                (Zone::Methods, "We enrolled 12 adults."),
                (Zone::Methods, "They took pills."),
                (Zone::Results, "None fell."),
                (Zone::Methods, "We did it."),
                (Zone::Outcomes, "The primary outcome was falls."),
                (Zone::Methods, "A test."),
                (Zone::Support, "Paid by X."),
            ]
        );
    }
}
