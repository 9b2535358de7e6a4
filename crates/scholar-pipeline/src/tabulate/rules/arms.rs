//! Rules of what a trial compares and measures: intervention, comparator, outcome.

use super::PhraseKind::{Outcome as Measured, Treatment};
use super::{Form, Stated};
use crate::tabulate::column::Property::{Comparator, Intervention, Outcome};
use crate::tabulate::sheet::Zone::{self, Interventions, Outcomes};

const ARMS: &[(Zone, f32)] = &[
    (Interventions, 1.0),
    (Zone::Aim, 1.0),
    (Zone::Abstract, 0.95),
    (Zone::Design, 0.95),
    (Zone::Participants, 0.85),
    (Zone::Methods, 0.9),
    (Zone::Results, 0.75),
    (Zone::Conclusion, 0.8),
    (Zone::Background, 0.65),
    (Zone::Discussion, 0.5),
    (Outcomes, 0.5),
    (Zone::Support, 0.0),
    (Zone::Limitations, 0.3),
    (Zone::Title, 1.0),
];

const MEASURED: &[(Zone, f32)] = &[
    (Outcomes, 1.0),
    (Zone::Aim, 1.0),
    (Zone::Abstract, 0.95),
    (Zone::Methods, 0.9),
    (Zone::Design, 0.8),
    (Zone::Results, 0.85),
    (Zone::Conclusion, 0.8),
    (Zone::Background, 0.6),
    (Zone::Discussion, 0.4),
    (Zone::Support, 0.0),
    (Zone::Limitations, 0.2),
    (Zone::Title, 1.0),
];

const TITLE: &[(Zone, f32)] = &[(Zone::Title, 1.0)];

#[rustfmt::skip]
pub(super) const RULES: &[Stated] = &[
    (Intervention, "labelled", Form::Phrase(Treatment), 0.85, &[(Interventions, 1.0)], 0.0, r"^(?P<x>.{3,250})"),
    (Intervention, "assigned to", Form::Phrase(Treatment), 0.9, ARMS, 0.3,
        r"(?i)\b(?:randomi[sz]ed|randomly|allocated|assigned|divided)\b[^.;]{0,70}?\b(?:to receive|to undergo|to either|to one of|into|to|receive|received|receiving|between)\s+(?P<x>.{2,120}?)\s+(?:or|versus|vs\.?|compared with|and)\s"),
    (Intervention, "compared", Form::Phrase(Treatment), 0.8, ARMS, 0.3,
        r"(?i)\b(?:compar(?:e|ed|es|ing)|comparison (?:of|between))\s+(?:the )?(?:(?:effects?|efficacy|effectiveness|safety|impact|outcomes?|results?)(?:,? (?:and|or) \w+)? (?:of|between|for) )?(?P<x>.{2,120}?)\s+(?:with|to|versus|vs\.?|and|against)\s"),
    (Intervention, "versus", Form::Behind(Treatment), 0.75, ARMS, 0.3,
        r"(?i)(?P<x>[^,;]{2,110}?) (?:versus|vs\.?|compared (?:with|to)) "),
    (Intervention, "effect of", Form::Phrase(Treatment), 0.85, ARMS, 0.3,
        r"(?i)\b(?:effects?|efficacy|effectiveness|impact|benefits?|influence|efficiency)(?:,? (?:and|or) [\w-]+)? of (?P<x>.{2,150})"),
    (Intervention, "use of", Form::Phrase(Treatment), 0.55, ARMS, 0.2,
        r"(?i)\b(?:safety|role|use|value|administration|addition|supplementation|feasibility|tolerability)(?:,? (?:and|or) [\w-]+)? of (?P<x>.{2,150})"),
    (Intervention, "whether", Form::Phrase(Treatment), 0.8, ARMS, 0.2,
        r"(?i)\b(?:whether|if|that) (?P<x>.{2,100}?) (?:can|could|would|may|might|reduces?|improves?|increases?|decreases?|prevents?|affects?|enhances?|is effective|is superior|has an? \w+ effect)\b"),
    (Intervention, "group received", Form::Phrase(Treatment), 0.75, ARMS, 0.2,
        r"(?i)\b(?:intervention|treatment|experimental|active|study|verum)(?: group| arm)? (?:received|was given|were given|consisted of|underwent|comprised)\s+(?P<x>.{2,140})"),
    (Intervention, "received", Form::Phrase(Treatment), 0.55, ARMS, 0.1,
        r"(?i)\breceived (?P<x>.{2,140})"),
    (Intervention, "treatment with", Form::Phrase(Treatment), 0.6, ARMS, 0.1,
        r"(?i)\b(?:treatment|treated|therapy|supplementation|supplemented|vaccinat\w+|intervention|immuni[sz]ation|managed|infusion) (?:with|of) (?P<x>.{2,140})"),
    (Intervention, "trial of", Form::Phrase(Treatment), 0.75, ARMS, 0.2,
        r"(?i)\b(?:trials?|study|evaluation|investigation) of (?P<x>[a-z].{2,120})"),
    (Intervention, "reduces", Form::Behind(Treatment), 0.5, &[(Zone::Conclusion, 1.0), (Zone::Abstract, 0.6)], 0.1,
        r"(?i)^(?P<x>[^,;]{2,100}?) (?:significantly |did not |does not |may |can |effectively |was |is )+(?:reduced?s?|improved?s?|increased?s?|decreased?s?|prevents?|prevented|effective|safe|superior|well)"),

    (Intervention, "begins the title", Form::Phrase(Treatment), 0.6, TITLE, 0.0, r"^(?P<x>.{3,160})"),
    (Intervention, "of, in the title", Form::Phrase(Treatment), 0.6, TITLE, 0.0, r"(?i)\bof (?P<x>.{3,120})"),
    (Intervention, "with, in the title", Form::Phrase(Treatment), 0.6, TITLE, 0.0, r"(?i)\b(?:with|by|using|after|following) (?P<x>.{3,120})"),

    (Comparator, "placebo", Form::Exact, 0.93, ARMS, 0.3, r"(?i)\b(?P<x>placebo)\b"),
    (Comparator, "assigned or", Form::Phrase(Treatment), 0.85, ARMS, 0.3,
        r"(?i)\b(?:randomi[sz]ed|randomly|allocated|assigned|divided)\b[^.;]{0,70}?\b(?:to receive|to undergo|to either|to one of|into|to|receive|received|receiving|between)\s+.{2,120}?\s+(?:or|versus|vs\.?|compared with|and)\s+(?P<x>.{2,120})"),
    (Comparator, "compared with", Form::Phrase(Treatment), 0.75, ARMS, 0.3,
        r"(?i)\b(?:compared? (?:with|to)|compared against|versus|vs\.?|comparison with|rather than|in comparison (?:with|to)|relative to) (?P<x>.{2,120})"),
    (Comparator, "comparison and", Form::Phrase(Treatment), 0.8, ARMS, 0.3,
        r"(?i)\b(?:compar(?:e|ed|es|ing)|comparison (?:of|between))\s+(?:the )?.{2,120}?\s+(?:with|to|versus|vs\.?|and|against)\s+(?P<x>.{2,120})"),
    (Comparator, "usual care", Form::Exact, 0.9, ARMS, 0.3,
        r"(?i)\b(?P<x>(?:usual|standard|routine|conventional|normal)(?: (?:medical|clinical|nursing|antenatal|supportive|primary|GP))? (?:care|treatment|therapy|practice|management|diet))\b"),
    (Comparator, "nothing", Form::Exact, 0.85, ARMS, 0.3,
        r"(?i)\b(?P<x>no[- ](?:treatment|intervention|supplementation|infusion|therapy|supplements?|prophylaxis|exercise|training|vaccine|stimulation|drug|additional \w+))\b"),
    (Comparator, "sham", Form::Exact, 0.92, ARMS, 0.3,
        r"(?i)\b(?P<x>sham(?:[- ](?:treatment|acupuncture|stimulation|exposure|procedure|surgery|laser|tDCS|rTMS|TMS|TENS|CPAP|intervention|group|control|therapy|feeding|manipulation|training|\w+))?|(?:wait(?:ing)?[- ]?list)(?: controls?| group)?)\b"),
    (Comparator, "control group received", Form::Phrase(Treatment), 0.85, ARMS, 0.3,
        r"(?i)\b(?:controls?|comparison)(?: groups?| arms?| subjects| participants| patients| condition)?,? (?:\([^)]*\) )?(?:who |which |that )?(?:received|was given|were given|consisted of|underwent|got|used|was treated with|were treated with|had|was|were) (?P<x>.{2,140})"),
    (Comparator, "control group", Form::Exact, 0.6, ARMS, 0.1,
        r"(?i)\b(?P<x>(?:healthy |untreated |attention |active |inactive |negative |non-\w+ )?controls?(?: group| arm| diet| condition| intervention| treatment)?)\b"),
    (Comparator, "saline", Form::Exact, 0.6, ARMS, 0.1,
        r"(?i)\b(?P<x>(?:normal |isotonic |physiological |0\.9% )?saline|vehicle)\b"),

    (Outcome, "on, in the title", Form::Phrase(Measured), 0.6, TITLE, 0.0, r"(?i)\b(?:on|upon) (?P<x>.{3,140})"),
    (Outcome, "for, in the title", Form::Phrase(Measured), 0.5, TITLE, 0.0, r"(?i)\b(?:for|of|reduces?|improves?|increases?|prevents?|decreases?) (?P<x>.{3,140})"),
    (Outcome, "score or scale", Form::Exact, 0.4, MEASURED, 0.1,
        r"(?P<x>(?:[A-Za-z0-9/'-]+ ){1,4}(?:score|scores|scale|index|rate|rates|level|levels|concentrations?|mortality|survival|incidence|prevalence|duration|pressure|volume|density|questionnaire)(?: \([^()]{1,20}\))?)"),

    (Outcome, "primary outcome", Form::Phrase(Measured), 0.95, MEASURED, 0.4,
        r"(?i)\bprimary (?:\w+ )?(?:outcomes?|end[ -]?points?|variables?|measures?|parameters?|criteri(?:on|a))(?:[ -](?:measures?|measurements?|variables?|parameters?|endpoints?|criteri(?:on|a)))?(?: (?:of|for|in) (?:the|this|our) (?:present )?(?:study|trial|analysis|investigation))?,?\s*(?:was|were|is|are|included|includes|comprised|consisted of|[:–-])\s*(?:defined as |to (?:assess|determine|evaluate|compare|examine|measure) )?(?P<x>.{3,200})"),
    (Outcome, "was the primary outcome", Form::Behind(Measured), 0.85, MEASURED, 0.4,
        r"(?i)(?P<x>.{3,140}?)(?: (?:was|were|as|served as|is)| \() ?(?:defined as |considered |chosen as |used as )?(?:the |our )?(?:primary|main|principal) (?:\w+ )?(?:outcome|end[ -]?point|variable|measure|parameter)"),
    (Outcome, "main outcome", Form::Phrase(Measured), 0.9, MEASURED, 0.4,
        r"(?i)\b(?:main|principal|major|key)? ?(?:outcomes?|end[ -]?points?)(?: (?:measures?|measurements?|variables?|parameters?))?(?: of (?:the|this) (?:study|trial))? (?:was|were|included|includes|are|is)(?: the)? (?P<x>.{3,200})"),
    (Outcome, "labelled", Form::Phrase(Measured), 0.85, &[(Outcomes, 1.0)], 0.0, r"^(?P<x>.{3,250})"),
    (Outcome, "effect on", Form::Phrase(Measured), 0.8, MEASURED, 0.3,
        r"(?i)\b(?:effects?|effectiveness|efficacy|impact|influence|benefits?)\b.{0,140}? (?:on|upon|in (?:reducing|improving|preventing|increasing|decreasing|the (?:treatment|prevention|reduction) of)) (?P<x>.{3,160})"),
    (Outcome, "whether it changes", Form::Phrase(Measured), 0.75, MEASURED, 0.3,
        r"(?i)\b(?:whether|if|that|to) .{2,100}?\b(?:reduces?|improves?|increases?|decreases?|prevents?|affects?|alters?|influences?|enhances?|lowers?|modif(?:y|ies)) (?P<x>.{3,160})"),
    (Outcome, "change in", Form::Phrase(Measured), 0.55, MEASURED, 0.1,
        r"(?i)\b(?:changes?|reductions?|increases?|decreases?|improvements?|differences?) in (?P<x>.{3,140})"),
    (Outcome, "was higher", Form::Behind(Measured), 0.55, &[(Zone::Results, 1.0), (Zone::Abstract, 0.8), (Zone::Conclusion, 0.7)], 0.1,
        r"(?i)(?P<x>[^;]{3,110}?) (?:was|were|did not|had|has|is) (?:significantly|not|also|statistically|markedly|more|less|similar|higher|lower|reduced|increased|improved|greater|better|decreased|different|unchanged|differ)\b"),
    (Outcome, "measured", Form::Behind(Measured), 0.5, &[(Zone::Abstract, 1.0), (Outcomes, 1.0), (Zone::Methods, 0.7)], 0.1,
        r"(?i)(?P<x>[^;]{3,110}?) (?:was|were) (?:then |also )?(?:measured|assessed|evaluated|recorded|determined|monitored|compared|quantified|examined)\b"),
];
