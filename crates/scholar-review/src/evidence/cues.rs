//! Wording by which an idea says what will be done, what would be new and what it takes for granted. Source: ours, read off public
//! research plans.

use std::sync::LazyLock;

use regex::Regex;
use scholar_core::text::normalise::capitalised;

/// Compiles a pattern of the code.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant pattern")
}

const DO: &str = r"us(?:e|es|ing)|utili[sz]\w+|employ\w*|appl(?:y|ies|ying)|adopt\w*|adapt\w*|develop\w*|design\w*|buil[dt]\w*|construct\w*|implement\w*|introduc\w+|propos\w+|formali[sz]\w+|formulat\w+|defin(?:e|es|ing)|model|models|train\w*|fine-?tun\w+|pre-?train\w*|learn|optimi[sz]\w+|comput\w+|calculat\w+|measur\w+|estimat\w+|quantif\w+|evaluat\w+|compar\w+|benchmark\w*|test|tests|analy[sz]\w+|conduct\w*|perform|run|collect\w*|curat\w+|annotat\w+|recruit\w*|randomi[sz]\w+|sampl\w+|generat\w+|simulat\w+|record\w*|imag\w+|sequenc\w+|cultur\w+|treat|administer\w*|extract\w*|encod\w+|embed\w*|cluster\w*|classif\w+|predict\w*|regress\w*|fit|correlat\w+|validat\w+|ablat\w+|combin\w+|integrat\w+|incorporat\w+|leverag\w+|represent\w*|parameteri[sz]\w+|deriv\w+|prov(?:e|ing)|partition\w*|filter\w*|align\w*|mask\w*|replac\w+|modif\w+|extend\w*|infer|manipulat\w+|stimulat\w+|inject\w*|knock\w*|express\w*|purif\w+|synthesi[sz]\w+|assay\w*|survey\w*|interview\w*|monitor\w*|track\w*|map|visuali[sz]\w+|decompos\w+|regulari[sz]\w+|initiali[sz]\w+|reconstruct\w*|assess\w*|examin\w+|creat\w+|focus\w*|investigat\w+|explor\w+|play|plac(?:e|ing)";

static DOES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"(?i)\b(?:we|our \w+(?: \w+)?|this (?:study|work|research|project)|the (?:system|framework|model|method|network|algorithm|study|approach|pipeline|participants?|experiments?|simulations?|analysis)|participants|subjects|animals|mice|patients|each \w+)(?: \w+)? (?:will (?:\w+ly |also |then |first |further )?(?:be |involve |include |consist of )?|plans? to |proposes? to |intends? to |aims? to |involves? |(?:also |first |then |further )?)(?:{DO})\b"
    ))
});
static BEGINS: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"(?i)^(?:by |to )?(?:{DO})\b")));
static RATIONALE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)^(?:this|these|such|it|the) (?:\w+ ){0,3}?(?:(?:will )?(?:allows?|enables?|ensures?|provides?|helps?|addresses|reflects?|reveals?|captures?|makes?|is (?:crucial|important|motivated|essential)|are (?:crucial|important)))\b|^(?:understanding|our motivation|the motivation|the importance|by (?:doing|understanding))\b|\bwe (?:expect|anticipate|hope|believe)\b",
    )
});
static BACKGROUND: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:ha(?:s|ve) (?:recently |long |also )?(?:been|become|shown|demonstrated|emerged|achieved|gained)|with the (?:rapid|rise|advent|growing|increasing)|current(?:ly)? (?:approaches|methods|models|available)|existing (?:approaches|methods|work|definitions|techniques|models|benchmarks)|previous (?:work|studies|research|methods)|prior (?:work|studies|research)|traditional(?:ly)?|in recent years|remains? (?:a|an|un|largely|challenging|limited|difficult|poorly)|is (?:a|an) (?:important|critical|fundamental|key|long-?standing|major|well-known)|plays? an? \w+ role|preliminary evidence|recent (?:findings|advances|studies|work))\b",
    )
});
static CLAIMS: LazyLock<Vec<(Regex, f32)>> = LazyLock::new(|| {
    [
        (r"\b(?:our|the|a) (?:\w+ )?(?:core|key|main|central|primary|major) (?:\w+ )?(?:innovation|contribution|novelty|insight|idea|hypothesis|(?:research )?questions?|manipulation)\b", 1.3),
        (r"\bwe (?:will |also |further |therefore |thus )*(?:propose|introduce|present|develop|design|formali[sz]e|create|construct|build|derive|adapt)\b", 1.0),
        (r"\bwe (?:aim|seek|intend|plan|propose|want) to (?:develop|design|create|build|introduce|formali[sz]e|propose|establish|construct|address|bridge|unify)\b", 1.0),
        (r"\b(?:our|the) (?:\w+ )?(?:goal|aim|objective|research question|approach|method|framework|research|study|work) (?:is|are|will be|seeks?|aims?|centers? on|centres? on|explores?|addresses)\b", 0.7),
        (r"\bwe (?:also |further )?(?:hypothesi[sz]e|aim|seek|investigate|ask|explore|study)\b", 0.7),
        (r"\b(?:novel|innovative|first[- ](?:ever|of)|for the first time|unlike|in contrast to|beyond|unified|unifying|unexplored|under-?explored|no (?:prior|previous|existing)|not (?:yet )?been)\b", 0.5),
        (r"\bnew (?:\w+ ){0,2}?(?:method|framework|approach|algorithm|model|benchmark|dataset|metric|architecture|paradigm|definition|theory|task|protocol|mechanism)\b", 0.5),
    ]
    .into_iter()
    .map(|(text, worth)| (pattern(&format!("(?i){text}")), worth))
    .collect()
});
static SUPPOSES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:we (?:\w+ly |also |further |therefore |additionally )?(?:hypothesi[sz]e|expect|anticipate|predict|posit|conjecture|postulate|believe|argue|assume|suspect)|(?:our|the) (?:\w+ ){0,2}(?:hypothesis|assumption|intuition|premise|expectation) is)(?:, [^,]{3,60},)? that\s+",
    )
});
static OTHERS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:current|existing|traditional|conventional|standard|previous|prior|recent|most) (?:[\w-]+ ){0,4}?(?:approaches|methods|models|techniques|works?|studies|definitions|benchmarks|systems|algorithms|frameworks|strategies|metrics)\b[^.]{0,80}?\b(?:fails?|(?:is|are|remains?) (?:often |typically |primarily |largely )?(?:limited|inadequate|insufficient|restricted|unable|prone)|struggles?|cannot|can not|do(?:es)? not|lacks?|ignores?|neglects?|overlooks?|suffers?|relies|rely|assumes?|requires?)\b",
    )
});

/// How a sentence tells what is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    /// Someone of the project does it.
    BySomeone,
    /// The sentence begins with it, as items of lists do.
    Bare,
}

/// What the wording of a sentence says of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wording {
    /// Whether something is done, and by whom.
    pub(super) deed: Option<Deed>,
    /// It says why, not what.
    pub(super) rationale: bool,
    /// It tells what is known or lacking.
    pub(super) background: bool,
    /// How much it claims something new, from 0.
    pub(super) claims: f32,
}

impl Wording {
    pub(super) fn of(sentence: &str) -> Self {
        Self {
            deed: if DOES.is_match(sentence) {
                Some(Deed::BySomeone)
            } else {
                BEGINS.is_match(sentence).then_some(Deed::Bare)
            },
            rationale: RATIONALE.is_match(sentence),
            background: BACKGROUND.is_match(sentence),
            claims: CLAIMS
                .iter()
                .filter(|(cue, _)| cue.is_match(sentence))
                .map(|(_, worth)| *worth)
                .sum(),
        }
    }
}

/// What a sentence supposes to be so: a hypothesis without the words that announce it, or what others are said to lack.
pub(super) fn supposition(sentence: &str) -> Option<String> {
    let claim = match SUPPOSES.find(sentence) {
        Some(found) => &sentence[found.end()..],
        None if OTHERS.is_match(sentence) => sentence,
        None => return None,
    };
    let claim = claim.trim();
    (claim.split_whitespace().count() >= FEWEST_SUPPOSED).then(|| capitalised(claim))
}

/// Fewest words of something that can be so or not.
const FEWEST_SUPPOSED: usize = 5;

/// Whether a sentence is announced as a hypothesis, and not as a lack of others.
pub(super) fn is_hypothesis(sentence: &str) -> bool {
    SUPPOSES.is_match(sentence)
}

/// Words in front of what a search is for: `We will`, `Our approach centers on`.
pub(super) fn without_lead(sentence: &str) -> &str {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:(?:first|second|third|finally|additionally|furthermore|specifically|moreover|in addition|to this end|here|next|then), )?(?:we (?:will |also |further |then |first |additionally )*(?:plan to |propose to |aim to |seek to |intend to )?|our (?:\w+ )?(?:approach|method|methodology|study|research|core innovation|evaluation|experiments?) (?:will )?(?:involves?|cent(?:er|re)s on|is to|focus(?:es)? on|includes?|consists? of|is) )",
        )
    });
    let rest = LEAD.find(sentence).map_or(sentence, |found| &sentence[found.end()..]);
    if rest.split_whitespace().count() >= FEWEST_SUPPOSED { rest } else { sentence }
}

/// Along which dimension something is claimed. The first that fits.
pub(super) fn dimension(statement: &str) -> &'static str {
    static DIMENSIONS: LazyLock<Vec<(Regex, &'static str)>> = LazyLock::new(|| {
        [
            (r"\b(?:hypothes\w+|whether|research questions?|investigate (?:how|the)|ask (?:how|what))\b", QUESTION),
            (r"\b(?:data ?sets?|benchmarks?|corpus|corpora|test suites?|test ?beds?)\b", "data and benchmarks"),
            (r"\b(?:theor\w+|formali[sz]\w+|formal|definitions?|axiom\w*|mathemat\w+|prov(?:e|able|ably)|bounds?|guarantees?|convergence)\b", "theory"),
            (r"\b(?:metrics?|evaluat\w+|measur\w+|assess\w*|user stud\w+|human (?:ratings?|judg\w+)|protocols?|quantif\w+)\b", "evaluation"),
            (r"\b(?:appl(?:y|ied|ication)\b[^.]{0,40}\bto|deploy\w*|clinic\w*|in practice|real-world|designers?|practitioners?)\b", "application"),
        ]
        .into_iter()
        .map(|(text, name)| (pattern(&format!("(?i){text}")), name))
        .collect()
    });
    let found = DIMENSIONS.iter().find(|(cue, _)| cue.is_match(statement));
    found.map_or("methodology", |(_, name)| name)
}

/// Name of the dimension of questions and hypotheses.
pub(super) const QUESTION: &str = "research question";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeds_reasons_and_background_are_told_apart() {
        let of = Wording::of;
        let deed = of("We will conduct a user study with 50 participants.");
        assert!(deed.deed == Some(Deed::BySomeone) && !deed.rationale && !deed.background);
        assert_eq!(of("Participants will rate deceptiveness on a Likert scale.").deed, None);
        assert_eq!(
            of("Using Expectation-Adjusted Distinct n-grams on programs").deed,
            Some(Deed::Bare)
        );
        assert!(of("This formulation allows us to capture two kinds of deception.").rationale);
        assert!(of("Existing definitions of deception are limited.").background);
        assert!(of("Our core innovation is measuring deception through regret.").claims > 1.0);
        assert!(of("The weather was fine in all of the rivers.").claims < 0.1);
    }

    #[test]
    fn suppositions_lose_their_announcement() {
        let hypothesis = "We hypothesize that preference-tuned models generate less diverse code.";
        assert_eq!(
            supposition(hypothesis).as_deref(),
            Some("Preference-tuned models generate less diverse code.")
        );
        let lack = "Current approaches to defining deception are limited to false statements.";
        assert_eq!(supposition(lack).as_deref(), Some(lack));
        assert!(is_hypothesis(hypothesis) && !is_hypothesis(lack));
        assert_eq!(supposition("We will train a model on ImageNet."), None);
        assert_eq!(supposition("We expect that this helps."), None, "says too little");
    }

    #[test]
    fn leads_go_unless_nothing_is_left() {
        assert_eq!(
            without_lead("We will adopt a pairwise diversity metric over programs."),
            "adopt a pairwise diversity metric over programs."
        );
        assert_eq!(without_lead("We will test it."), "We will test it.");
    }

    #[test]
    fn statements_have_a_dimension() {
        assert_eq!(
            dimension("We introduce a benchmark of linguistic puzzles."),
            "data and benchmarks"
        );
        assert_eq!(dimension("We hypothesize that tuning reduces diversity."), QUESTION);
        assert_eq!(dimension("We propose soft weight rescaling of layers."), "methodology");
        assert_eq!(dimension("A regret-based theory of deception."), "theory");
    }
}
