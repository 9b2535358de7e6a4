//! Rules of papers on methods.

use super::PhraseKind::{Clause, Outcome as Measured, Treatment};
use super::{Form, Stated};
use crate::tabulate::column::Property::{
    Baseline, Data, Limitation, Method, Metric, Problem, Score,
};
use crate::tabulate::sheet::Zone;

const OFFER: &[(Zone, f32)] = &[
    (Zone::Abstract, 1.0),
    (Zone::Aim, 1.0),
    (Zone::Background, 0.9),
    (Zone::Methods, 0.7),
    (Zone::Conclusion, 0.8),
    (Zone::Support, 0.0),
];

const TESTED: &[(Zone, f32)] = &[
    (Zone::Abstract, 1.0),
    (Zone::Results, 0.95),
    (Zone::Methods, 0.8),
    (Zone::Conclusion, 0.85),
    (Zone::Background, 0.7),
    (Zone::Support, 0.0),
];

#[rustfmt::skip]
pub(super) const RULES: &[Stated] = &[
    (Problem, "however", Form::Sentence, 0.7, OFFER, 0.2,
        r"(?i)(?:^(?:however|yet|but|unfortunately|nevertheless|despite)\b|\b(?:remains?|is|are) (?:still )?(?:an? )?(?:\w+ )?(?:challeng\w+|difficult|unclear|unsolved|limited|open (?:problem|question|issue))|\b(?:suffers?|suffering) from|\black of\b|\bfails? to\b|\bproblem of\b|\bbottleneck\b|\bscarc\w+)"),
    (Problem, "address", Form::Phrase(Clause), 0.85, OFFER, 0.3,
        r"(?i)\b(?:we|this (?:paper|work|article)|our (?:work|goal|aim)) (?:\w+ )?(?:address(?:es)?|tackles?|considers?|stud(?:y|ies)|investigates?|focus(?:es)? on|deals? with|aims? to) (?P<x>.{5,200})"),
    (Method, "we propose", Form::Phrase(Treatment), 0.95, OFFER, 0.3,
        r"(?i)\b(?:we|this (?:paper|work|article)|the (?:paper|authors?)) (?:\w+ )?(?:propose|present|introduce|develop|describe|design|devise|proposes|presents|introduces|develops|describes) (?P<x>.{3,180})"),
    (Method, "called", Form::Exact, 0.7, OFFER, 0.2,
        r"\b(?:called|named|dubbed|termed|namely) (?P<x>[A-Z][\w+-]*(?:[ -][A-Z][\w+-]*){0,4})"),
    (Data, "data set", Form::Behind(Treatment), 0.75, TESTED, 0.3,
        r"(?i)(?P<x>(?:[\w/.+-]+ ){1,6}(?:data ?sets?|corpora|corpus|benchmarks?|treebanks?|shared tasks?|collections?))\b"),
    (Data, "experiments on", Form::Phrase(Treatment), 0.85, TESTED, 0.3,
        r"(?i)\b(?:experiments?|evaluat\w+|tested|results?|performance|experimental results) (?:are |were |was |is |\w+ ){0,3}on (?P<x>.{3,140})"),
    (Metric, "metric", Form::Exact, 0.85, TESTED, 0.3,
        r"\b(?P<x>(?:(?:macro|micro|Macro|Micro)[- ])?(?:F1|F-?1|F-?[sS]core|F-?[mM]easure)(?:[- ]scores?)?|BLEU(?:-\d)?|ROUGE(?:-[\dL]+)?|METEOR|chrF\+*|COMET|TER|WER|CER|BERTScore|nDCG(?:@\d+)?|NDCG(?:@\d+)?|MRR|MAP|UAS|LAS|AUC|AUROC|[Pp]erplexity|[Aa]ccuracy|[Ee]xact [Mm]atch|RMSE|MSE|MAE|Spearman(?:'s)?(?: correlation)?|Pearson(?:'s)?(?: correlation)?|[Pp]recision and recall|recall@\d+|hit rate|IoU|mAP|FID|PSNR|SSIM)\b"),
    (Score, "gain", Form::Sentence, 0.85, TESTED, 0.2,
        r"(?i)\b(?:outperform\w*|improv\w+|achiev\w+|state[- ]of[- ]the[- ]art|surpass\w*|reach\w*|obtain\w*|gains?|reduc\w+|increas\w+)\b.*\d"),
    (Score, "better", Form::Sentence, 0.65, TESTED, 0.2,
        r"(?i)\b(?:outperform\w*|state[- ]of[- ]the[- ]art|surpass\w*|competitive|better than|superior|significant(?:ly)? improve\w*)\b"),
    (Baseline, "outperforms", Form::Phrase(Treatment), 0.9, TESTED, 0.3,
        r"(?i)\b(?:outperform(?:s|ed|ing)?|surpass(?:es|ed)?|better than|superior to|improve(?:s|d|ment)? (?:over|upon)|gains? over|compared? (?:to|with|against)|in comparison (?:to|with)|baselines? (?:of|such as|like)) (?P<x>.{3,140})"),
    (Baseline, "baseline", Form::Behind(Treatment), 0.7, TESTED, 0.3,
        r"(?i)(?P<x>(?:[\w/.+-]+ ){1,6}baselines?(?: (?:models?|systems?|methods?))?)\b"),
    (Limitation, "headed", Form::Sentence, 0.8, &[(Zone::Limitations, 1.0)], 0.0, r"^.{30,}"),
    (Limitation, "limitation", Form::Sentence, 0.9,
        &[(Zone::Limitations, 1.0), (Zone::Discussion, 1.0), (Zone::Conclusion, 0.95), (Zone::Results, 0.8), (Zone::Other, 0.8), (Zone::Abstract, 0.9), (Zone::Methods, 0.6), (Zone::Background, 0.2), (Zone::Support, 0.0)], 0.5,
        r"(?i)\b(?:(?:a|one|another|main|major|first|our|the|some|several|potential) (?:\w+ )?(?:limitations?|shortcomings?|weakness(?:es)?|drawbacks?)|limitations? of (?:this|our|the (?:present|current)) |(?:this|our) (?:study|work|method|approach|model) (?:is|was) limited|is limited (?:to|by))"),
    (Limitation, "we did not", Form::Sentence, 0.75, &[(Zone::Limitations, 1.0), (Zone::Discussion, 0.8), (Zone::Conclusion, 0.6)], 0.0,
        r"(?i)(?:\b(?:we|our (?:study|work|data)|this study|the (?:present|current) study) (?:did|do|does|could|can|was|were) (?:not|unable to) (?:measure|assess|include|have|evaluate|consider|collect|use|control|test|allow|examine|power|discard|exclude)|\b(?:small|limited|low) (?:sample|number)|\black of (?:a |an )?(?:\w+ )?(?:control|follow-up|blinding|power|data)|self-report(?:ed)? bias|generali[sz]ab|should be interpreted with caution|not powered)"),
    (Problem, "task of", Form::Phrase(Measured), 0.6, OFFER, 0.2,
        r"(?i)\b(?:the )?(?:task|problem) of (?P<x>.{3,120})"),
];
