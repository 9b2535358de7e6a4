//! How much a sentence says, whatever it says it about.

use std::sync::LazyLock;

use regex::Regex;

use super::pattern::pattern;
use super::question::{Aspect, Reading};
use super::terms::stem_set;

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
            pattern(
                r"^(?i:background(?: and aims?)?|introduction|context|aims?|objectives?|purpose|rationale|importance|hypothesis|(?:materials?|patients?|subjects?|participants) and methods?|methods?(?:/principal findings| and (?:findings|results|materials))?|methodology(?:/principal findings)?|study design|design|setting|participants|interventions?|measurements?|main outcome measures?|principal findings|results?|findings|results and discussion|conclusions?(?:/(?:significance|interpretation))?|interpretation|significance|discussion|limitations?|summary)(?:\s*[:.—–]|\s+-)\s*",
            )
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
    /// Begins with a word such as `moreover`, which is not shown: it adds to what stands before it.
    pub(crate) leans: bool,
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
            (COMPARES, 0.08),
            // Background, plans, praise.
            (r"\b(?:has|have) (?:recently )?(?:become|been (?:widely|extensively|a long)|gained|emerged|attracted|received|drawn|revolutioni[sz]ed|made (?:great|significant|remarkable))\b|\b(?:in recent years|recently|with the (?:rise|advent|rapid|growing|increasing)|attention in|growing (?:interest|need)|is an? (?:important|crucial|fundamental|key|challenging|essential|critical|central|long-standing|popular|common|major|well-known)|are (?:widely|commonly|increasingly)|remains? (?:an? )?(?:open|challeng\w+|under-?explored|unclear|largely|difficult|poorly)|little is known|is crucial|are crucial|plays? an? \w+ role)\b", -0.22),
            (WAS_DONE, -0.22),
            (r"\b(?:our|the proposed|the resulting|the (?:fine-?)?tuned|the trained|this (?:novel|new)) (?:[\w-]+ ){0,3}?(?:submission|method|model|approach|framework|system|technique|strategy|algorithm|code|dataset|implementation)s?\b", -0.18),
            // What others found or said: the source of it is elsewhere.
            (r"\b(?:previous(?:ly)?|prior|earlier|other|several|many|some|most|two|recent|existing) (?:\w+ )?(?:studies|study|works?|research(?:ers)?|authors?|trials?|reports?|methods|approaches)\b|\bet al\b|\b(?:study|work|trial|review) (?:by|of) [A-Z]|\bin the [A-Z]\w+ (?:study|trial)\b", -0.2),
            (r"^[A-Z]\w+ and [A-Z]\w+ (?:both |also )?(?:found|report|show|discuss|suggest|demonstrat|observ)\w*|\b(?:a|one|another) (?:\w+ )?stud(?:y|ies)\b", -0.2),
            (r"\b(?:we|who|that) (?:collected|recruited|enrolled|randomi[sz]ed|measured|recorded|asked|included|excluded|obtained|selected)\b|^a total of\b|\bat baseline\b", -0.2),
            (r"^(?:despite|although|while|though|even though|thanks to)\b", -0.08),
            (r"\bwidely (?:recogni[sz]ed|used|known|adopted|accepted)\b|\bwell[- ](?:established|known)\b|\bcommon(?:ly)? (?:and|used|in)\b", -0.15),
            (r"\b(?:various|several|multiple|diverse|different|many) (?:\w+ )?(?:tasks|datasets|benchmarks|settings)\b", -0.05),
            (r"^(?:particularly|in particular|afterwards|meanwhile|second|third|then|likewise|similarly|on the other hand|first)\b", -0.12),
            (r"\b(?:new )?state[- ]of[- ]the[- ]art (?:performance|results?)\b|\bsimple (?:yet|but|and) (?:effective|efficient|powerful)\b", -0.06),
            (r"\b(?:effectiveness|superiority|efficacy|robustness|validity) (?:and \w+ )?of (?:our|the proposed|this|the) (?:\w+ )?(?:method|approach|framework|model|technique|strategy|system)\b", -0.18),
            // Promises.
            (r"\b(?:insights?|findings?|results?|work|analysis) (?:\w+ )?(?:have (?:a |the )?potential|can (?:help|inform|guide)|pave|open|sheds?|highlights? the (?:need|importance))\b|\b(?:pav\w+ the way|shed\w* light|valuable insights|promising direction|new avenues?|(?:is|are) (?:urgently )?needed|in the future|for future)\b", -0.2),
            (r"\b(?:inclusion|exclusion) criteria\b|\b(?:strengths?|limitations?) (?:of|in) (?:this|the|our) (?:study|trial|work)\b|\bstudy (?:strengths?|limitations?)\b|\bgenerali[sz]ability\b|^the (?:focus|aim|goal|purpose|objective) (?:was|is)\b|\bnext step\b|\bimplications\b", -0.5),
            (r"\b(?:have|has) (?:\w+ )?(?:exhibited|shown|demonstrated|achieved|made) (?:\w+ )?(?:impressive|remarkable|great|promising|notable|outstanding|unprecedented)\b", -0.15),
            (r"\brefers? to\b|\b(?:is|are) defined as\b|\bthe phenomenon\b", -0.15),
            (r"\bwe (?:\w+ly )?(?:encouraged|invited|instructed|told|offered|provided|trained|followed)\b", -0.2),
            (r"\b(?:may|might|could|should|potential(?:ly)?|promising|need(?:s|ed)? to|it is (?:important|necessary|essential))\b", -0.05),
            (r"\b(?:our|the) (?:hypothesis|previous (?:study|work)|knowledge|paper)\b|to our knowledge|to the best of", -0.12),
            (r"\b(?:extensive|comprehensive) experiments\b", -0.06),
        ]
        .into_iter()
        .map(|(text, value)| {
            (pattern(&format!("(?i){text}")), value)
        })
        .collect()
    });
    let met: Vec<f32> =
        CUES.iter().filter(|(cue, _)| cue.is_match(sentence)).map(|(_, value)| *value).collect();
    let for_it: f32 = met.iter().filter(|value| **value > 0.0).sum();
    let against: f32 = met.iter().filter(|value| **value < 0.0).sum();
    let for_it = if is_praise(sentence) { PRAISE } else { for_it.min(MOST_FOR_IT) };
    let mut cues = for_it + against;
    if is_motivation(sentence) && !reading.wants(Aspect::Limits) {
        cues += MOTIVATION;
    }
    if is_procedure(sentence) {
        cues += PROCEDURE;
    }
    if offers_data(sentence) && !reading.wants(Aspect::Data) {
        cues += DATA_UNASKED;
    }
    let Place { label, in_abstract, position, leans } = place;
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
    let by_source = if cites { -0.12 } else { 0.0 } + if leans { LEANING } else { 0.0 };
    (0.35 + cues + by_source + by_label + by_position + aspect_bonus(sentence, reading))
        .clamp(0.0, 1.0)
}

/// One thing set against another.
const COMPARES: &str =
    r"\b(?:than|compared (?:to|with)|versus|vs\.?|relative to|whereas|in comparison)\b";
/// What was done with the subjects.
const WAS_DONE: &str = r"\b(?:were|was) (?:also |then |further |subsequently )?(?:randomi[sz]ed|randomly|recruited|assigned|enrolled|measured|collected|performed|administered|asked|included|excluded|calculated|recorded|obtained|assessed|conducted|carried out|made|analy[sz]ed|invited|divided|evaluated)\b";

/// Whether the sentence sets one thing against another: `than`, `compared with`.
pub(crate) fn compares(sentence: &str) -> bool {
    static COMPARISON: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?i){COMPARES}")));
    COMPARISON.is_match(sentence)
}

/// Whether the sentence says what was done with the subjects: `were randomly assigned`.
pub(crate) fn says_what_was_done(sentence: &str) -> bool {
    static DONE: LazyLock<Regex> = LazyLock::new(|| pattern(&format!("(?i){WAS_DONE}")));
    DONE.is_match(sentence)
}

/// Whether the sentence says what came of something: `we find`, `reduces`, `achieves`.
pub(crate) fn says_what_came_of_it(sentence: &str) -> bool {
    static OUTCOME: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:find|found|show\w*|demonstrat\w+|reveal\w*|observ\w+|improv\w+|outperform\w*|achiev\w+|reduc\w+|increas\w+|detects?|that (?:can|is|are)|evidence)\b",
        )
    });
    OUTCOME.is_match(sentence)
}

/// Most that wording alone can say for a sentence.
const MOST_FOR_IT: f32 = 0.32;
/// For what others lack, which is why the paper was written.
const MOTIVATION: f32 = -0.22;
/// In place of what wording says for a sentence, if that is praise of its own method.
const PRAISE: f32 = -0.45;
/// For a new benchmark or dataset that nobody asked for.
const DATA_UNASKED: f32 = -0.15;
/// For a sentence that adds to one before it.
const LEANING: f32 = -0.08;
/// For what was done, without what came of it.
const PROCEDURE: f32 = -0.16;

/// Whether the sentence says what was wrong with the work of others: `Current methods often …`.
pub(crate) fn is_motivation(sentence: &str) -> bool {
    static MOTIVATION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:however, |but |yet |while |although |though |despite |nevertheless, |moreover, |furthermore, |unfortunately, |since |as |because |given )*(?:the |many |most |much of the )?(?:current|dominant|mainstream|existing|previous|prior|earlier|conventional|traditional|standard|recent|typical|state[- ]of[- ]the[- ]art|most|many) (?:[\w-]+ ){0,5}?(?:methods?|approach(?:es)?|works?|studies|models?|techniques?|efforts?|research|systems?|LLMs|LMs|advance\w*|progress|metrics?|datasets?|benchmarks?|evaluations?|solutions?|strategies)\b",
        )
    });
    static LACK: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:remains? (?:\w+ )?(?:challeng\w+|open|unclear|unexplored|under-?explored|difficult|unknown)|little attention|has not been|have not been|limited to|neglect\w*|overlook\w*|undermines?|necessitat\w+|(?:is|are) limited by)\b",
        )
    });
    // `We find that models neglect the middle` is a finding.
    static FINDING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bwe (?:\w+ )?(?:find|found|show|showed|observed?|reveal|discover|demonstrate)\b",
        )
    });
    MOTIVATION.is_match(sentence) || LACK.is_match(sentence) && !FINDING.is_match(sentence)
}

/// Praise without content: `MIND outperforms existing methods`, `our approach achieves better scores`; not `by 12 %`.
pub(crate) fn is_praise(sentence: &str) -> bool {
    static BETTER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:outperform\w*|surpass\w*|exceed\w*|superior to|better than|improv\w+ (?:over|upon)) (?:the |all |other |several |many |most |various |a |range |of |both )*(?:existing|previous|prior|current|strong|competitive|baselines?|state[- ]of[- ]the[- ]art|sota|other|recent|multiple)\b|\b(?:our|the proposed) (?:[\w-]+ ){0,3}?(?:approach|method|model|framework|system|technique|strategy|algorithm)s?\b[^.]{0,60}\b(?:higher|better|best|superior|outperform\w*|achiev\w*|improv\w*|significantly|effective\w*|enhanc\w*|consistent\w*)\b",
        )
    });
    static SHOWN: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:show|demonstrat|prov|verif|validat|confirm)\w* the (?:effectiveness|superiority|usefulness|efficacy|validity|advantages?) (?:and \w+ )?of (?:our|the proposed)\b",
        )
    });
    static HOW_MUCH: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\d\s*(?:%|percent\b|(?:percentage )?points?\b|times\b|x\b)|\bby (?:a (?:\w+ )?margin\b|\d)|\btimes (?:faster|smaller|fewer|more)\b",
        )
    });
    // With what it is, or by how much, praise has content.
    (BETTER.is_match(sentence) || SHOWN.is_match(sentence))
        && Role::of(sentence) != Role::Approach
        && !HOW_MUCH.is_match(sentence)
}

/// Whether a sentence says what the first thing that the question names is.
pub(crate) fn defines(text: &str, reading: &Reading) -> bool {
    let Some(named) = reading.phrases.first() else { return false };
    // `We propose X, a …` defines the paper's own thing.
    if Role::of(text) == Role::Approach {
        return false;
    }
    let stems = stem_set(named);
    let marks = [
        " is a ",
        " is an ",
        " is the ",
        " are ",
        " refers to ",
        " refer to ",
        "defined as",
        " aims to ",
        " which is ",
        ", a ",
        ", an ",
        " combines ",
        " consists of ",
        " involves ",
    ];
    marks.iter().any(|mark| {
        text.find(mark).is_some_and(|at| {
            let before = stem_set(&text[..at]);
            !stems.is_empty() && stems.is_subset(&before) && before.len() <= stems.len() + 4
        })
    })
}

/// `We present HELM, a new benchmark …`
pub(crate) fn offers_data(sentence: &str) -> bool {
    static DATA: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\bwe (?:\w+ )?(?:propose|introduce|present|develop|construct|create|collect|build|release|argue that our)\b[^.]{0,60}\b(?:benchmarks?|datasets?|corpus|corpora|test suite|shared task)\b",
        )
    });
    DATA.is_match(sentence)
}

/// Whether the text speaks of side effects, tolerability or safety.
pub(crate) fn speaks_of_harm(text: &str) -> bool {
    static HARM: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:side[- ]effects?|adverse (?:events?|effects?|reactions?|outcomes?)|safety|safe|tolerat\w+|tolerability|toxicit\w+|discontinu\w+|complications?|harms?|unwanted effects?)\b",
        )
    });
    HARM.is_match(text)
}

/// Whether the sentence guesses at reasons, or says what is not known: `we speculate`, `it is probable`, `few trials`.
pub(crate) fn is_guess(sentence: &str) -> bool {
    static GUESS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:we (?:\w+ )?(?:speculate|hypothesi[sz]e|assume|believe|suspect|postulate)|it is (?:probable|possible|likely|conceivable|plausible|unclear|unknown) (?:that|whether|if)|(?:may|might|could) (?:account for|explain|assist|help|serve)|(?:may|might|could) (?:be|have been) (?:due|because|explained|related|attribut\w+)|(?:a|one|another) possible (?:explanation|reason)|there (?:have|has) been (?:few|little|no)|(?:is|are|was|were) (?:inconsistent|consistent|in (?:line|agreement|contrast)) with (?:a |the |an? )?(?:previous|earlier|other|prior)|it should be (?:noted|emphasi[sz]ed)|it must be)\b",
        )
    });
    GUESS.is_match(sentence)
}

/// Whether the sentence promises or urges: `pave the way`, `further research is needed`.
pub(crate) fn is_promise(sentence: &str) -> bool {
    static PROMISE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:pav\w+ the way|shed\w* light|valuable insights|promising direction|new avenues?|(?:is|are) (?:urgently |still )?(?:needed|warranted)|in the future|for future|future (?:work|research|studies|trials)|further (?:work|research|studies|trials|investigations?)|we plan to|we hope|(?:studies|study|trials?|research|work) (?:is|are) (?:\w+ )?(?:required|needed|necessary|warranted|worthwhile)|will (?:be|help|provide|inform|determine)|highlights? the (?:need|importance))\b",
        )
    });
    PROMISE.is_match(sentence)
}

/// `We validate our judges on two benchmarks.`
pub(crate) fn is_procedure(sentence: &str) -> bool {
    static DONE: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:[^,]{1,50}, )?we (?:\w+ly |also |further |then |first |next |instead )?(?:consider|validate|apply|employ|collect|construct|build|create|curate|benchmark|run|train|use|adopt|annotate|release|provide|carry)d?\b",
        )
    });
    DONE.is_match(sentence) && !says_what_came_of_it(sentence)
}

/// Whether the sentence says how much or how many: in digits, those of names (`BERT-2`, `F1`) aside, or in words (`five languages`,
/// `a third`, `twice`).
pub(crate) fn has_number(sentence: &str) -> bool {
    static NUMBER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)(?:^|[\s(\[~≈<>=≤≥±$€£+−])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozens?|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|(?:m|b)illions?|half|(?:a|one|two) (?:third|quarter|fifth)s?|twice|doubled|none)\b",
        )
    });
    NUMBER.is_match(sentence)
}

/// What a sentence is in an answer that nothing else divides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Approach,
    Result,
    Limit,
}

impl Role {
    pub(crate) fn of(sentence: &str) -> Self {
        static APPROACH: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\bwe (?:\w+ )?(?:propose|introduce|present|develop|design|devise|frame|formulate|build|construct)\b|\b(?:is|are|was|were|been) (?:proposed|introduced|developed|designed)\b",
            )
        });
        static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\b(?:challeng\w+|limitations?|limits|fail(?:s|ed|ures?)?|struggl\w+|difficult\w*|lacks?|suffers?|hinder\w*|insufficient|unreliable|cannot|costly|drawbacks?|remains? (?:an? )?(?:open|challeng\w+|unclear|limited|under\w*))\b",
            )
        });
        if is_motivation(sentence) || (LIMIT.is_match(sentence) && !APPROACH.is_match(sentence)) {
            Self::Limit
        } else if APPROACH.is_match(sentence) {
            Self::Approach
        } else {
            Self::Result
        }
    }
}

/// What a sentence reports about the effect a question asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Effect,
    NoEffect,
}

impl Side {
    /// As [`Side::of`]; `None` also where the question's subject is only what another thing is compared with.
    pub(crate) fn on(sentence: &str, reading: &Reading) -> Option<Self> {
        let compared = sentence.find(" than ").map_or(sentence, |at| &sentence[..at]);
        let about = |stem: &String| stem_set(compared).contains(stem);
        let beside = compared.len() < sentence.len() && !reading.subject.as_ref().is_none_or(about);
        let proposal = Role::of(sentence) == Role::Approach;
        if beside || proposal { None } else { Self::of(sentence) }
    }

    /// `None` where the wording is not plain, or is hedged.
    pub(crate) fn of(sentence: &str) -> Option<Self> {
        static NONE: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\bno (?:[\w-]+ ){0,3}(?:difference|effect|improvement|benefit|association|change|evidence|advantage|impact|reduction|increase|correlation)s?\b|\b(?:did|does|do|was|were|is|are|has|had|have|could|can) not (?:[\w-]+ ){0,3}(?:differ|improve|reduce|affect|increase|decrease|change|alter|benefit|associated|effective|significant\w*|superior|better|help|prevent|lower|enhance|find|show|support|influence|outperform)|\bnot (?:[\w-]+ ){0,2}(?:significant(?:ly)?|associated|effective|superior|better|differ\w*)\b|\bineffective\b|\bfail(?:s|ed)? to\b|\bnull effects?\b|\bunlikely to\b|\blittle (?:or no )?(?:evidence|effect|benefit|impact)\b|\bneither\b",
            )
        });
        static SOME: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\b(?:improve[sd]?|improvements?|effective(?:ly)?|efficac\w+|benefits?|benefited|beneficial|reduce[sd]?|reductions?|increase[sd]?|decrease[sd]?|enhance[sd]?|alleviate[sd]?|prevent(?:s|ed)|protect(?:s|ed|ive)|associated with|lower(?:s|ed)?|higher|superior|greater|outperform(?:s|ed)?|boost(?:s|ed)?|impair(?:s|ed)?|worsen(?:s|ed)?|harm(?:s|ed|ful))\b",
            )
        });
        static HEDGE: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)\b(?:may|might|could|should|whether|potential(?:ly)?|would|in order to|aim\w*|propose|unclear|unknown)\b|^to \w+",
            )
        });
        static TURNS: LazyLock<Regex> = LazyLock::new(|| {
            pattern(
                r"(?i)[.;,] (?:however|but|yet)\b|\bonly (?:appear|emerge)\w*|\bonly (?:for|in|when|if)\b",
            )
        });
        // What turns in the middle says both.
        if is_motivation(sentence) || HEDGE.is_match(sentence) || TURNS.is_match(sentence) {
            None
        } else if NONE.is_match(sentence) {
            Some(Self::NoEffect)
        } else {
            SOME.is_match(sentence).then_some(Self::Effect)
        }
    }
}

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
    let limits_only = is_motivation(sentence);
    let met =
        |aspect: Aspect| speaks_of(sentence, aspect) && (!limits_only || aspect == Aspect::Limits);
    // Of two aspects, `challenges of evaluating`, both are meant.
    let each = reading
        .aspects
        .iter()
        .map(|aspect| if met(*aspect) { bonus(*aspect) } else { BESIDE_THE_POINT });
    each.sum::<f32>() / reading.aspects.len() as f32
}

/// Whether the sentence tells a problem or a limit.
pub(crate) fn tells_limit(sentence: &str) -> bool {
    Role::of(sentence) == Role::Limit || speaks_of(sentence, Aspect::Limits)
}

/// Whether the sentence tells which problem there is: `to tackle the problem` does not.
pub(crate) fn tells_which_problem(sentence: &str) -> bool {
    static NAMELESS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:the|this|that|these|those|such) (?:problem|issue|challenge|limitation)s?\b",
        )
    });
    tells_limit(sentence) && !NAMELESS.is_match(sentence)
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
        .map(|text| pattern(&format!("(?i){text}")))
    });
    PATTERNS[aspect as usize].is_match(sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::evidence::terms::Abbreviations;

    #[test]
    fn numbers_are_told_from_names() {
        let with = [
            "It has 1.5M+ pairs in all.",
            "Five languages are covered.",
            "About a third left.",
            "(95% CI)",
            "P>3 of it",
        ];
        assert!(with.into_iter().all(has_number));
        assert!(
            !["BERT-2 and GPT-4 differ by F1.", "These highlight existing biases."]
                .into_iter()
                .any(has_number)
        );
    }

    fn value(sentence: &str, question: &str) -> f32 {
        let reading = Reading::of(question, &Abbreviations::default());
        let place = Place { label: Label::Unknown, in_abstract: true, position: 0.4, leans: false };
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
    fn what_others_lack_promises_and_empty_praise_say_little() {
        let question = "How can hallucinations of language models be detected?";
        let finding = value(
            "Consistency between sampled answers reveals hallucinations better than token probabilities.",
            question,
        );
        for empty in [
            "Current hallucination detection methods often necessitate the retrieval of much evidence.",
            "Our experiments demonstrate that MIND outperforms existing methods in hallucination detection.",
            "Our insights have a potential to improve the detection of hallucinations in the future.",
            "Moreover, our method not only addresses hallucinations but also improves recognition.",
            "We validate our hallucination detectors on two benchmarks of the literature.",
        ] {
            assert!(finding > value(empty, question) + 0.2, "{empty}");
        }
        let method = value("We present a new detector of hallucinations of models.", question);
        let data = value("We present a new benchmark of hallucinations of models.", question);
        assert!(method > data + 0.1, "a benchmark detects nothing");
    }

    #[test]
    fn promises_guesses_and_empty_praise_are_known() {
        for promise in [
            "We plan to study the distributions of the scores of words.",
            "Adequately powered studies are required to assess its effectiveness.",
        ] {
            assert!(is_promise(promise), "{promise}");
        }
        assert!(is_guess("Accumulation in tissues may account for the detrimental effects."));
        assert!(is_guess("An AI of this kind could assist the editors of journals."));
        assert!(is_praise(
            "Experiments on two datasets demonstrate the effectiveness of our approach."
        ));
        assert!(!is_praise("Experiments show that FLAT outperforms other models by 12.2%."));
        assert!(is_motivation("The dominant methods make use of pre-trained language models."));
        assert!(is_motivation("Long inputs are limited by what a model can attend to."));
        assert!(!is_motivation(
            "Across datasets we find that models neglect the middle of a text."
        ));
        let finding = "Letters to the spouse could increase attendance by 10%.";
        assert!(!is_promise(finding) && !is_guess(finding) && !is_praise(finding));
    }

    #[test]
    fn sides_are_taken_only_where_the_wording_is_plain() {
        let side = Side::of;
        assert_eq!(side("Acupuncture reduced pain more than usual care."), Some(Side::Effect));
        assert_eq!(side("Vitamin D had no significant effect on HbA1c."), Some(Side::NoEffect));
        assert_eq!(side("We did not show any improvement of control."), Some(Side::NoEffect));
        assert_eq!(side("Acupuncture may reduce pain."), None, "hedged");
        assert_eq!(side("To reduce pain, needles were placed."), None, "a purpose");
    }

    #[test]
    fn roles_tell_proposals_from_results_and_limits() {
        assert_eq!(Role::of("We introduce a detector that samples answers."), Role::Approach);
        assert_eq!(Role::of("Current methods need many passages."), Role::Limit);
        assert_eq!(Role::of("Sampling detects nine of ten hallucinations."), Role::Result);
    }

    #[test]
    fn limits_are_told_in_several_words() {
        assert!(tells_limit("Learning is limited by the cost of communication."));
        assert!(tells_limit("The metrics fail to detect corrupted summaries."));
        assert!(!tells_limit("Sampling detects nine of ten spelling variants."));
        assert!(tells_which_problem("The metrics fail to detect corrupted summaries."));
        assert!(!tells_which_problem("We leverage agents in order to tackle the problem."));
    }

    #[test]
    fn labels_are_read_and_skipped() {
        assert_eq!(Label::at_start("RESULTS: We saw."), Some((Label::Findings, 9)));
        assert_eq!(Label::at_start("Materials and methods: We saw."), Some((Label::Methods, 23)));
        assert_eq!(Label::at_start("Results show that it works."), None);
        assert_eq!(Label::of_heading("Patients and Methods"), Label::Methods);
    }
}
