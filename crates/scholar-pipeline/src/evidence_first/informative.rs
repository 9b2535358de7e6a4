//! How much a sentence says, whatever it says it about.

use std::sync::LazyLock;

use regex::Regex;

use super::question::{Aspect, Reading};

/// What part of its paper a sentence reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Label {
    Background,
    Methods,
    Findings,
    Unknown,
}

impl Label {
    /// From a section's heading.
    pub(crate) fn of_heading(heading: &str) -> Self {
        let lower = heading.to_lowercase();
        let any = |parts: &[&str]| parts.iter().any(|part| lower.contains(part));
        if any(&["result", "finding", "conclu", "discussion", "outcome", "summary"]) {
            Self::Findings
        } else if any(&[
            "method",
            "material",
            "procedure",
            "design",
            "setup",
            "statistic",
            "protocol",
        ]) {
            Self::Methods
        } else if any(&["introduction", "background", "related work", "objective", "aim"]) {
            Self::Background
        } else {
            Self::Unknown
        }
    }

    /// From `RESULTS:` at the start of a sentence; with the bytes to skip to what follows.
    pub(crate) fn at_start(sentence: &str) -> Option<(Self, usize)> {
        static LABEL: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^(?i:background(?: and aims?)?|introduction|context|aims?|objectives?|purpose|rationale|importance|hypothesis|(?:materials?|patients?|subjects?|participants) and methods?|methods?(?:/principal findings| and (?:findings|results|materials))?|methodology(?:/principal findings)?|study design|design|setting|participants|interventions?|measurements?|main outcome measures?|principal findings|results?|findings|results and discussion|conclusions?(?:/(?:significance|interpretation))?|interpretation|significance|discussion|limitations?|summary)(?:\s*[:.—–]|\s+-)\s*")
                .expect("the pattern is valid")
        });
        let label = LABEL.find(sentence)?;
        let named = Self::of_heading(label.as_str());
        let named = if named == Self::Unknown { Self::Background } else { named };
        (label.end() < sentence.len()).then_some((named, label.end()))
    }
}

/// Where in its paper a sentence stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    /// What part.
    pub(crate) label: Label,
    /// In the abstract.
    pub(crate) in_abstract: bool,
    /// Share of the passage's sentences before it.
    pub(crate) position: f32,
}

/// In `[0, 1]`: findings, numbers and comparisons raise it, background, plans and self-praise lower it, and what the
/// question asks for raises it again. `cites` says that the source itself cites others for it. Weights ours, set by reading
/// digests.
pub(crate) fn informativeness(sentence: &str, place: Place, cites: bool, reading: &Reading) -> f32 {
    static CUES: LazyLock<Vec<(Regex, f32)>> = LazyLock::new(|| {
        [
            // Findings.
            (r"\b(?:we|our \w+|results?|findings?|experiments?|analys[ei]s|study|evidence|trial|investigation|evaluation)\b[^.]{0,40}\b(?:find|found|show|shows|showed|demonstrate[sd]?|observed?|reveal(?:s|ed)?|indicate[sd]?|suggest(?:s|ed)?|conclude[sd]?|confirm(?:s|ed)?)\b", 0.2),
            (r"\b(?:significant(?:ly)?|outperform\w*|superior|inferior|effective(?:ly)?|ineffective|associated with|correlat\w+|no (?:significant |statistically significant )?(?:difference|effect|association|improvement|benefit)|improv(?:e|es|ed|ing|ement)s?|reduc(?:e|es|ed|ing|tion)s?|increas(?:e|es|ed|ing)|decreas(?:e|es|ed|ing)|lower(?:s|ed)?|higher|better|worse|fewer|mitigat\w+|alleviat\w+|prevent(?:s|ed)?|surpass\w*|degrad\w+)\b", 0.14),
            (r"\d(?:\.\d+)?\s*%|\bp\s*[<=≤]\s*0?\.\d|\bCI\b|\b\d+(?:\.\d+)? (?:points?|BLEU|F1|fold|times|mg|mmol|kg|weeks|months)\b", 0.08),
            (r"\b(?:than|compared (?:to|with)|versus|vs\.?|relative to|whereas|in comparison)\b", 0.08),
            // Background, plans, praise.
            (r"\b(?:has|have) (?:recently )?(?:become|been (?:widely|extensively|a long)|gained|emerged|attracted|received|drawn|revolutioni[sz]ed|made (?:great|significant|remarkable))\b|\b(?:in recent years|recently|with the (?:rise|advent|rapid|growing|increasing)|attention in|growing (?:interest|need)|is an? (?:important|crucial|fundamental|key|challenging|essential|critical|central|long-standing|popular|common|major|well-known)|are (?:widely|commonly|increasingly)|remains? (?:an? )?(?:open|challeng\w+|under-?explored|unclear|largely|difficult|poorly)|little is known|is crucial|are crucial|plays? an? \w+ role)\b", -0.22),
            (r"\b(?:were|was) (?:randomi[sz]ed|randomly|recruited|assigned|enrolled|measured|collected|performed|administered|asked|included|excluded|calculated|recorded|obtained|assessed|conducted|carried out|analy[sz]ed|invited|divided|evaluated)\b", -0.22),
            (r"\b(?:our|the proposed|the resulting|the (?:fine-?)?tuned|the trained|this (?:novel|new)) (?:\w+ )?(?:method|model|approach|framework|system|technique|strategy|algorithm|code|dataset|implementation)s?\b", -0.18),
            // What others found or said: the source of it is elsewhere.
            (r"\b(?:previous(?:ly)?|prior|earlier|other|several|many|some|most|two|recent|existing) (?:\w+ )?(?:studies|study|works?|research(?:ers)?|authors?|trials?|reports?|methods|approaches)\b|\bet al\b|\b(?:study|work|trial|review) (?:by|of) [A-Z]|\bin the [A-Z]\w+ (?:study|trial)\b", -0.2),
            (r"^[A-Z]\w+ and [A-Z]\w+ (?:both |also )?(?:found|report|show|discuss|suggest|demonstrat|observ)\w*|\b(?:a|one|another) (?:\w+ )?stud(?:y|ies)\b", -0.2),
            (r"\b(?:we|who|that) (?:collected|recruited|enrolled|randomi[sz]ed|measured|recorded|asked|included|excluded|obtained|selected)\b|^a total of\b|\bat baseline\b", -0.2),
            (r"^(?:despite|although|while|though|even though|thanks to)\b", -0.08),
            (r"\bwidely (?:recogni[sz]ed|used|known|adopted|accepted)\b|\bwell[- ](?:established|known)\b|\bcommon(?:ly)? (?:and|used|in)\b", -0.15),
            (r"\b(?:various|several|multiple|diverse|different|many) (?:\w+ )?(?:tasks|datasets|benchmarks|settings)\b", -0.05),
            (r"^(?:however|moreover|furthermore|in addition|additionally|thus|therefore|hence|finally|consequently|specifically|but|and|also|besides|nevertheless|first|second|third|then)\b", -0.06),
            (r"\b(?:may|might|could|should|potential(?:ly)?|promising|need(?:s|ed)? to|it is (?:important|necessary|essential))\b", -0.05),
            (r"\b(?:our|the) (?:hypothesis|previous (?:study|work)|knowledge|paper)\b|to our knowledge|to the best of", -0.12),
            (r"\b(?:extensive|comprehensive) experiments\b", -0.06),
        ]
        .into_iter()
        .map(|(pattern, value)| {
            (Regex::new(&format!("(?i){pattern}")).expect("the pattern is valid"), value)
        })
        .collect()
    });
    let met: Vec<f32> =
        CUES.iter().filter(|(cue, _)| cue.is_match(sentence)).map(|(_, value)| *value).collect();
    let for_it: f32 = met.iter().filter(|value| **value > 0.0).sum();
    let against: f32 = met.iter().filter(|value| **value < 0.0).sum();
    let cues = for_it.min(MOST_FOR_IT) + against;
    let Place { label, in_abstract, position } = place;
    let by_label = match label {
        Label::Findings => 0.15,
        Label::Background => -0.12,
        Label::Methods => -0.2,
        Label::Unknown => 0.0,
    };
    let by_position = if !in_abstract || label != Label::Unknown {
        0.0
    } else if position >= 0.5 {
        0.1
    } else if position < 0.25 {
        -0.1
    } else {
        0.0
    };
    let by_source = if cites { -0.12 } else { 0.0 };
    (0.35 + cues + by_source + by_label + by_position + aspect_bonus(sentence, reading))
        .clamp(0.0, 1.0)
}

/// Most that wording alone can say for a sentence.
const MOST_FOR_IT: f32 = 0.32;
/// For a sentence that speaks of nothing that was asked for.
const BESIDE_THE_POINT: f32 = -0.15;

/// For sentences that speak of what was asked for.
fn aspect_bonus(sentence: &str, reading: &Reading) -> f32 {
    let bonus = |aspect: Aspect| match aspect {
        Aspect::Methods => 0.14,
        Aspect::Effects => 0.06,
        Aspect::Limits | Aspect::Causes => 0.18,
        Aspect::Evaluation => 0.1,
        Aspect::Data => 0.2,
    };
    if reading.aspects.is_empty() {
        return 0.0;
    }
    let met = reading.aspects.iter().filter(|aspect| speaks_of(sentence, **aspect));
    met.map(|aspect| bonus(*aspect)).max_by(f32::total_cmp).unwrap_or(BESIDE_THE_POINT)
}

/// Whether the sentence's wording is that of `aspect`.
pub(crate) fn speaks_of(sentence: &str, aspect: Aspect) -> bool {
    static PATTERNS: LazyLock<[Regex; 6]> = LazyLock::new(|| {
        [
            r"\b(?:propose|introduce|present|develop|employ|leverage|adopt|design|train|fine-tun|use|using|method|approach|framework|technique|strateg|algorithm|intervention|via|by \w+ing)",
            r"\b(?:improv|reduc|increas|decreas|effective|benefit|enhanc|outperform|better|lower|higher|mitigat|gain|boost|significant|advantage|help|associated|effect)",
            r"\b(?:challeng|limit|fail|struggl|difficult|lack|suffer|drawback|problem|poor|bias|risk|adverse|harm|hinder|unreliable|sensitive to|vulnerab|degrad|error|costly|expensive|inconsisten|weakness|hallucinat|cannot|side effect)",
            r"\b(?:evaluat|metric|measur|benchmark|correlat|human judg|accuracy|reliab|score|rating|agreement|compar)",
            r"\b(?:dataset|corpus|corpora|benchmark|annotat|collection of|test set|resource)",
            r"\b(?:because|due to|caus|lead(?:s|ing)? to|attribut|stem from|arise|reason|mechanism|explain|result(?:s|ing)? from|driven by|induce)",
        ]
        .map(|pattern| Regex::new(&format!("(?i){pattern}")).expect("the pattern is valid"))
    });
    PATTERNS[aspect as usize].is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence_first::terms::Abbreviations;

    fn value(sentence: &str, question: &str) -> f32 {
        let reading = Reading::of(question, &Abbreviations::default());
        let place = Place { label: Label::Unknown, in_abstract: true, position: 0.4 };
        informativeness(sentence, place, false, &reading)
    }

    #[test]
    fn findings_say_more_than_background_and_procedure() {
        let question = "Does exercise help patients with heart failure?";
        let finding =
            value("We found that exercise reduced mortality by 20% compared with rest.", question);
        let background =
            value("Heart failure has become an important problem in recent years.", question);
        let procedure =
            value("Patients were randomly assigned to exercise or to usual care.", question);
        assert!(finding > background + 0.3 && finding > procedure + 0.3);
    }

    #[test]
    fn what_is_asked_for_counts_more() {
        let sentence =
            "Annotators struggle with long summaries, and metrics fail on rare entities.";
        let asked = value(sentence, "What are the challenges of summarization?");
        assert!(asked > value(sentence, "Who wrote about summarization?"));
    }

    #[test]
    fn labels_are_read_and_skipped() {
        assert_eq!(Label::at_start("RESULTS: We saw."), Some((Label::Findings, 9)));
        assert_eq!(Label::at_start("Materials and methods: We saw."), Some((Label::Methods, 23)));
        assert_eq!(Label::at_start("Results show that it works."), None);
        assert_eq!(Label::of_heading("Patients and Methods"), Label::Methods);
    }
}
