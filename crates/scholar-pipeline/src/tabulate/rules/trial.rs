//! Rules of trials, arms and outcomes left out: design, people, number, effect, follow-up, funding, registration.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::PhraseKind::{Clause, People};
use super::{Form, Stated};
use crate::modes::evidence::pattern::pattern;
use crate::modes::evidence::study::{DESIGN_WORDS, OF_OTHERS, SIZE_WORDS};
use crate::tabulate::column::Property::{
    Design, Effect, FollowUp, Funding, Population, Registration, SampleSize,
};
use crate::tabulate::sheet::Line;
use crate::tabulate::sheet::Zone::{self, Interventions, Limitations, Support};

/// Where the paper speaks of its own study.
const OWN: &[(Zone, f32)] = &[
    (Zone::Abstract, 1.0),
    (Zone::Design, 1.0),
    (Zone::Participants, 1.0),
    (Zone::Methods, 0.9),
    (Zone::Results, 0.85),
    (Zone::Aim, 0.8),
    (Interventions, 0.8),
    (Zone::Outcomes, 0.6),
    (Zone::Conclusion, 0.5),
    (Zone::Background, 0.4),
    (Zone::Discussion, 0.35),
    (Limitations, 0.3),
    (Support, 0.0),
];

const FOUND: &[(Zone, f32)] = &[
    (Zone::Results, 1.0),
    (Zone::Conclusion, 0.9),
    (Zone::Abstract, 0.85),
    (Zone::Discussion, 0.5),
    (Zone::Other, 0.5),
];

const PAID: &[(Zone, f32)] =
    &[(Support, 1.0), (Zone::Other, 0.7), (Zone::Methods, 0.5), (Zone::Abstract, 0.8)];

const FOLLOWED: &[(Zone, f32)] = &[
    (Zone::Abstract, 1.0),
    (Zone::Design, 1.0),
    (Zone::Methods, 0.95),
    (Zone::Outcomes, 0.9),
    (Zone::Results, 0.9),
    (Interventions, 0.9),
    (Zone::Participants, 0.85),
    (Zone::Aim, 0.7),
    (Zone::Conclusion, 0.6),
    (Zone::Discussion, 0.5),
    (Zone::Background, 0.2),
];

#[rustfmt::skip]
pub(super) const RULES: &[Stated] = &[
    (Design, "design words", Form::Exact, 0.9, OWN, 0.3, DESIGN_WORDS),
    (Design, "design list", Form::Exact, 0.85, OWN, 0.3,
        r"(?i)\b(?P<x>(?:(?:cluster[- ]|quasi[- ]?)?randomi[sz]ed|(?:double|single|triple|observer|assessor|investigator|evaluator|rater)[- ](?:blind(?:ed)?|mask(?:ed)?)|(?:placebo|sham|vehicle|active)[- ]controlled|controlled|cross-?over|parallel(?:[- ](?:group|arm)s?)?|factorial|prospective|open(?:[- ]label)?|multi-?cent(?:er|re)|within-subjects?|[0-9] ?[×x] ?[0-9])(?:(?:, |,? and |,? | )(?:(?:cluster[- ]|quasi[- ]?)?randomi[sz]ed|(?:double|single|triple|observer|assessor|investigator|evaluator|rater)[- ](?:blind(?:ed)?|mask(?:ed)?)|(?:placebo|sham|vehicle|active)[- ]controlled|controlled|cross-?over|parallel(?:[- ](?:group|arm)s?)?|factorial|prospective|open(?:[- ]label)?|multi-?cent(?:er|re)|clinical|comparative|[0-9] ?[×x] ?[0-9]|phase [0-9IVab]+))*,? ?(?:trial|study|design|experiment|comparison)?)"),

    (Design, "randomly assigned", Form::Phrase(Clause), 0.55, OWN, 0.1,
        r"(?i)(?P<x>\b(?:(?:[\w-]+ )?(?:participants|patients|subjects|women|men|children|students|individuals|volunteers|adults|they|animals|mothers|infants) were|we) (?:then |also )?(?:randomly (?:assigned|allocated|divided)|randomi[sz]ed|assigned randomly|allocated randomly)(?: [\w-]+){0,12})"),
    (Design, "kind of trial", Form::Exact, 0.9, OWN, 0.2,
        r"(?i)\b(?P<x>(?:randomi[sz]ed control trial|(?:[\w-]+(?:, | )){0,5}(?:between|within)[- ](?:subjects?|groups?|participants?)(?: (?:[\w-]+))? (?:design|stud(?:y|ies)|trial|experiment)|prospective follow-up (?:study|trial)|randomi[sz]ed experiment|quasi-experimental (?:study|design)|pre-?(?:test)?[- –]post-?(?:test)? design))\b"),

    (Population, "labelled", Form::Phrase(People), 0.95, &[(Zone::Participants, 1.0)], 0.0, r"^(?P<x>.{4,260})"),
    (Population, "people who took part", Form::Phrase(People), 0.85, OWN, 0.2,
        r"(?i)(?P<x>(?:(?:[\w,-]+ ){0,5}?)(?:patients|participants|subjects|adults|women|men|children|infants|neonates|newborns|adolescents|students|individuals|people|persons|volunteers|smokers|athletes|boys|girls|mothers|families|outpatients|inpatients|residents|workers|veterans|couples|households|schools|villages|practices|rats|mice|dogs|cows|pigs|alpacas|males|females)\b(?:[^.]{0,160})?)(?:(?:were|was)(?: also| then)? (?:randomi[sz]ed|randomly|enrolled|recruited|included|assigned|allocated|studied|investigated|selected|treated)|participated|took part|entered|completed|received)"),
    (Population, "recruited", Form::Phrase(People), 0.85, OWN, 0.2,
        r"(?i)\b(?:we|study) (?:have )?(?:randomi[sz]ed|randomly (?:assigned|allocated)|enrolled|recruited|included|studied|assigned|allocated) (?P<x>.{6,200})"),
    (Population, "in people", Form::Phrase(People), 0.7, OWN, 0.2,
        r"(?i)\b(?:in|among|on|of|performed in|conducted (?:in|on|among)) (?P<x>(?:[\w–-]+ ){0,6}?(?:patients|participants|subjects|adults|women|men|children|infants|neonates|adolescents|students|individuals|people|volunteers|smokers|athletes|boys|girls|mothers|outpatients)(?: (?:with|who|aged|undergoing|suffering|having|admitted|attending|between|from|at|treated|living) .{3,120})?)"),

    (SampleSize, "size", Form::Exact, 0.75, OWN, 0.2, SIZE_WORDS),
    (SampleSize, "size who took part", Form::Exact, 0.95, OWN, 0.2,
        r"(?i)\b(?P<x>\d+(?:[,\s]\d{3})* (?:[\w-]+ ){0,5}?(?:patients|participants|subjects|adults|women|men|children|infants|neonates|newborns|adolescents|students|individuals|people|persons|volunteers|smokers|households|villages|schools|practices|pregnancies|couples|workers|veterans|residents|athletes|boys|girls|mothers|families|outpatients|males|females|cases)\b)[^.]{0,90}?\b(?:randomi[sz]ed|randomly|enrolled|recruited|included|participated|took part|entered|assigned|allocated|completed|studied)"),
    (SampleSize, "randomised so many", Form::Exact, 0.95, OWN, 0.2,
        r"(?i)\b(?:randomi[sz]ed|randomly (?:assigned|allocated)|enrolled|recruited|assigned|allocated|conducted (?:in|on|among)|included|studied)\s+(?:a total of )?(?P<x>\d+(?:[,\s]\d{3})*(?: (?:[\w-]+ ){0,5}?(?:patients|participants|subjects|adults|women|men|children|infants|individuals|people|volunteers|students|outpatients|smokers|mothers))?)"),
    (SampleSize, "number in words", Form::Exact, 0.9, OWN, 0.2,
        r"(?i)\b(?P<x>(?:(?:twenty|thirty|forty|fourty|fifty|sixty|seventy|eighty|ninety|(?:one|two|three|four|five|six|seven|eight|nine) hundred(?: and)?)(?:[- ](?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety))?(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen) (?:[\w-]+ ){0,5}?(?:patients|participants|subjects|adults|women|men|children|infants|neonates|adolescents|students|individuals|people|volunteers|smokers|athletes|boys|girls|mothers|families|outpatients|males|females))\b"),
    (SampleSize, "n in brackets", Form::Exact, 0.7, OWN, 0.1,
        r"(?i)\b(?:patients|participants|subjects|adults|women|men|children|infants|individuals|volunteers|students|males|females|sample)\b[^().]{0,40}\((?P<x>n ?= ?\d[\d,]*)\)"),
    (SampleSize, "a total of", Form::Exact, 0.9, OWN, 0.2,
        r"(?i)\ba total of (?P<x>\d+(?:[,\s]\d{3})*(?: (?:[\w-]+ ){0,5}?(?:patients|participants|subjects|adults|women|men|children|infants|individuals|people|volunteers|students|outpatients|males|females))?)"),

    (Effect, "significant finding", Form::Sentence, 0.6, FOUND, 0.1,
        r"(?i)\b(?:significant(?:ly)?|no (?:statistically )?(?:significant )?(?:difference|effect|evidence)|did not|(?:more|less) effective|superior|non-?inferior|similar|(?:reduced|increased|improved|decreased|lowered|higher|lower|greater|better|worse))\b"),
    (Effect, "finding with numbers", Form::Sentence, 0.8, FOUND, 0.1,
        r"(?i)\b(?:significant(?:ly)?|differ\w*|reduc\w+|increas\w+|improv\w+|decreas\w+|higher|lower|greater|effective)\b.*(?:\b[pP] ?[<>=≤] ?0?\.\d|\bCI\b|confidence interval|\d ?%|\b(?:OR|RR|HR|odds ratio|relative risk|hazard ratio|risk ratio|mean difference)\b)"),

    (FollowUp, "followed for", Form::Exact, 0.95, FOLLOWED, 0.4,
        r"(?i)\bfollow(?:ed)?[- ]?up[^.;]{0,60}?(?P<x>(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four)[- ](?:days?|weeks?|wks?|months?|mo|years?|yrs?|hours?|h)\b)"),
    (FollowUp, "duration of follow-up", Form::Exact, 0.95, FOLLOWED, 0.4,
        r"(?i)(?P<x>(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four)[- ](?:days?|weeks?|wks?|months?|years?|yrs?|hours?)\b)(?:'|’)?s?(?: of)?[- ]follow[- ]?up"),
    (FollowUp, "were followed", Form::Exact, 0.9, FOLLOWED, 0.4,
        r"(?i)\b(?:were|was) (?:followed|monitored|observed)(?: up)?[^.;]{0,40}?(?P<x>(?:\d+(?:\.\d+)?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four)[- ](?:days?|weeks?|wks?|months?|years?|yrs?|hours?)\b)"),
    (FollowUp, "duration of treatment", Form::Exact, 0.6, FOLLOWED, 0.1,
        r"(?i)\b(?:for|over|during|after|at)(?: a period of| a total of| up to)? (?P<x>(?:\d+(?:\.\d+)?|two|three|four|five|six|seven|eight|nine|ten|twelve|eighteen|twenty-four)[- ](?:weeks?|wks?|months?|years?|yrs?)\b)"),
    (FollowUp, "length of the trial", Form::Exact, 0.65, FOLLOWED, 0.1,
        r"(?i)\b(?P<x>(?:\d+|one|two|three|four|five|six|eight|nine|ten|twelve|eighteen)[- ](?:day|week|wk|month|year))(?:[- ](?:long|double|single|open|randomi\w+|controlled|placebo|parallel|\w+))* (?:trial|study|treatment|intervention|period|programme|program)"),

    (Funding, "paid by", Form::Phrase(Clause), 0.95, PAID, 0.4,
        r"(?i)\b(?:(?:study|trial|work|research|project|investigation|program(?:me)?|review|authors?|we|paper)\b[^.;]{0,80}?|^)(?:funded|supported|sponsored|financed|funding)(?: (?:in part|partly|financially|entirely|solely|primarily|was (?:provided|received|obtained)))? (?:by|from|through) (?P<x>.{3,300})"),
    (Funding, "grant from", Form::Phrase(Clause), 0.85, PAID, 0.3,
        r"(?i)\b(?:grants?|funding|funds|financial support|fellowships?|sponsorship|support)\b[^.;]{0,40}? (?:from|by|of) (?P<x>.{3,300})"),
    (Funding, "grant of", Form::Phrase(Clause), 0.75, &[(Support, 1.0)], 0.0,
        r"(?P<x>(?:[A-Z][\w&.'-]*(?: (?:of|for|and|the|de|in))? ){1,10}(?:[\w-]+ )?(?:funded|provided|supported|paid|sponsored))\b"),
    (Funding, "grant", Form::Exact, 0.6, PAID, 0.2,
        r"(?i)\b(?P<x>(?:un)?restricted (?:research |educational )?grants?(?: from [^.;]{3,120})?)"),
    (Funding, "funder", Form::Phrase(Clause), 0.9, &[(Support, 1.0), (Zone::Other, 0.9)], 0.6,
        r"(?i)\b(?:funding(?: sources?)?|sponsors?|source of funding|role of the funding source|financial disclosures?|support)\s*[:.]\s*(?P<x>[A-Z].{2,250})"),

    (Registration, "number", Form::Exact, 0.95, &[(Zone::Background, 0.6), (Zone::Discussion, 0.5)], 1.0,
        r"\b(?P<x>NCT ?0?\d{7,8}|ISRCTN ?\d{6,8}|ACTRN ?\d{12,14}p?|ChiCTR[-\w]*\d{6,}|IRCT\d{8,}N?\d*|UMIN(?:-CTR)?[- ]?\d{6,9}|JPRN-\w+|DRKS ?\d{8}|PACTR ?\d{12,}|CTRI/\d{4}/\d+/\d+|NTR ?\d{2,5}|EudraCT(?: (?:number|no\.?|nr\.?))?:? ?\d{4}-\d{6}-\d{2}|TCTR\d{8,}|SLCTR/\d{4}/\d+|RBR-\w{5,}|KCT\d{7})"),
];

/// Words in front of or behind a number by which it is not the number of those who took part.
static OTHER_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:eligible|screened|assessed for eligibility|invited|approached|excluded|refus\w+|declin\w+|withdr\w+|dropped|lost|per group|in each|each group|aged|age|years|required|needed|sample size|power|calculat\w+|would|should|previous\w*|studies|of whom|of these|died|million|worldwide|annually|[smhd]|min|s|sec|ms|days?|weeks?|months?)\b",
    )
});

/// Designs of others, where an article's body names them.
static REVIEW: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)meta-analys|systematic review"));

static PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:\w*patients|participants|subjects|adults|women|men|children|infants|neonates|newborns|adolescents|students|individuals|people|persons|volunteers|smokers|athletes|boys|girls|mothers|families|residents|workers|veterans|couples|households|males|females|rats|mice|dogs|cows|pigs|alpacas|asthmatics|survivors|users|drinkers|diabetics)\b",
    )
});

/// Beginnings by which a phrase is no description of people.
static NOT_PEOPLE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:we|recruitment|potential|both|each|group|all of|there|this|these|that|if|when|number|total|none|eligible|excluded|remaining|other|some|most|several|in|for|to|of|it|they)\b",
    )
});

/// A second look at what a rule found, where the pattern alone is too wide.
pub(super) fn accepts(rule: &str, line: &Line<'_>, span: &Range<usize>) -> bool {
    let text = line.text();
    let words = &text[span.clone()];
    match rule {
        "design words" => {
            words.len() <= 110
                && (line.in_abstract || !REVIEW.is_match(words))
                && !OF_OTHERS.is_match(&text[..span.start])
                && !words.eq_ignore_ascii_case("trial")
        }
        "design list" => {
            words.split_whitespace().count() >= 2
                && words.len() <= 140
                && !OF_OTHERS.is_match(&text[..span.start])
        }
        "size" | "size who took part" | "number in words" | "n in brackets" => {
            let before = text[..span.start].char_indices().rev().nth(24).map_or(0, |(at, _)| at);
            // What stands in brackets behind the number describes those counted.
            let in_brackets = text[span.end..].trim_start().starts_with('(');
            let near = text[span.end..].char_indices().nth(30);
            let near = near.map_or(text.len(), |(at, _)| span.end + at);
            let after = if in_brackets { span.end } else { near };
            !OTHER_NUMBER.is_match(&text[before..span.start])
                && !OTHER_NUMBER.is_match(&text[span.end..after])
                && !OTHER_NUMBER.is_match(words)
        }
        "people who took part" | "recruited" | "in people" => {
            let number = words
                .split_whitespace()
                .filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
            number.count() >= 2 && PEOPLE.is_match(words) && !NOT_PEOPLE.is_match(words)
        }
        _ => true,
    }
}
