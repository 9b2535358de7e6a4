//! Rules of papers on data sets.

use super::PhraseKind::{Clause, Outcome as Measured, Treatment};
use super::{Form, Stated};
use crate::tabulate::column::Property::{Availability, DatasetName, Licence, Size, Source, Task};
use crate::tabulate::sheet::Zone;

const OFFER: &[(Zone, f32)] = &[
    (Zone::Abstract, 1.0),
    (Zone::Aim, 1.0),
    (Zone::Background, 0.85),
    (Zone::Conclusion, 0.85),
    (Zone::Methods, 0.75),
    (Zone::Support, 0.0),
];

#[rustfmt::skip]
pub(super) const RULES: &[Stated] = &[
    (DatasetName, "we present", Form::Exact, 0.95, OFFER, 0.4,
        r"(?:[Ww]e|[Tt]his (?:paper|work|article)) (?:\w+ )?(?:introduce|present|release|construct|describe|propose|create|build|publish|introduces|presents|releases|describes) (?:the )?(?P<x>[A-Z][\w+.-]*(?:[ -][A-Z0-9][\w+.-]*){0,5})"),
    (DatasetName, "called", Form::Exact, 0.85, OFFER, 0.4,
        r"\b(?:called|named|dubbed|namely|termed) (?P<x>[A-Z][\w+.-]*(?:[ -][A-Z0-9][\w+.-]*){0,4})"),
    (DatasetName, "the corpus", Form::Exact, 0.6, OFFER, 0.3,
        r"\b[Tt]he (?P<x>[A-Z][\w+.-]*(?:[ -][A-Z0-9][\w+.-]*){0,4}) (?:data ?set|corpus|treebank|benchmark|database|collection|resource)\b"),
    (Task, "data set for", Form::Phrase(Measured), 0.9, OFFER, 0.3,
        r"(?i)\b(?:data ?sets?|corpus|corpora|benchmarks?|resources?|treebanks?|collections?|test ?(?:set|suite)) (?:\w+ ){0,2}for (?:the )?(?:task of |training |evaluating |studying )?(?P<x>.{3,120})"),
    (Task, "task of", Form::Phrase(Measured), 0.75, OFFER, 0.2, r"(?i)\btasks? of (?P<x>.{3,120})"),
    (Size, "so many", Form::Exact, 0.85, OFFER, 0.3,
        r"(?i)\b(?P<x>(?:(?:more than|over|about|around|approximately|nearly) )?\d[\d,.]*(?: ?[kKmM]\b| million| billion| thousand)?\+? (?:[\w-]+ ){0,4}?(?:sentences|examples|instances|questions|pairs|tokens|words|documents|articles|images|utterances|hours|dialogues|conversations|tweets|posts|reviews|papers|abstracts|annotations|triples|samples|entries|texts|recordings|speakers|languages|claims|passages|records|videos|queries))\b"),
    (Source, "language", Form::Exact, 0.8, OFFER, 0.2,
        r"\b(?P<x>(?:English|German|French|Spanish|Chinese|Mandarin|Japanese|Korean|Arabic|Hindi|Bengali|Urdu|Persian|Turkish|Russian|Polish|Czech|Portuguese|Italian|Dutch|Swedish|Danish|Norwegian|Finnish|Hungarian|Romanian|Greek|Hebrew|Vietnamese|Thai|Indonesian|Malay|Swahili|Yoruba|Hausa|Amharic|Tamil|Telugu|Marathi|Basque|Catalan|Icelandic|Ukrainian|Latin|Sanskrit)(?:(?:, |,? and |[-–/])(?:English|German|French|Spanish|Chinese|Mandarin|Japanese|Korean|Arabic|Hindi|Bengali|Urdu|Persian|Turkish|Russian|Polish|Czech|Portuguese|Italian|Dutch|Swedish|Danish|Norwegian|Finnish|Hungarian|Romanian|Greek|Hebrew|Vietnamese|Thai|Indonesian|Malay|Swahili|Tamil|Telugu))*)\b"),
    (Source, "collected from", Form::Phrase(Treatment), 0.85, OFFER, 0.3,
        r"(?i)\b(?:collected|extracted|crawled|sampled|drawn|derived|gathered|taken|constructed|built|mined) from (?P<x>.{3,120})"),
    (Licence, "licence", Form::Exact, 0.95, &[], 1.0,
        r"(?P<x>\b(?:CC[- ]?BY(?:[- ](?:NC|SA|ND))*(?:[- ]?\d\.\d)?|CC0(?: 1\.0)?|Creative Commons [A-Z][\w-]*(?:[ -][A-Z0-9][\w.-]*)*|MIT [Ll]icen[sc]e|Apache(?: License)?(?:,? [Vv]ersion)? ?2\.0|GNU [A-Z][\w ]* Licen[sc]e|GPL(?:v\d)?|ODC-BY|public domain))"),
    (Licence, "licensed under", Form::Phrase(Clause), 0.8, &[], 1.0,
        r"(?i)\b(?:licen[sc]ed|released|available|distributed) under (?:the |an? )?(?P<x>.{3,100}?licen[sc]e)"),
    (Availability, "address", Form::Exact, 0.95, &[(Zone::Abstract, 1.0), (Zone::Availability, 1.0), (Zone::Conclusion, 1.0), (Zone::Background, 0.8)], 0.3,
        r"(?i)\b(?:data|data ?sets?|corpus|corpora|code|resources?|benchmark|treebank|materials|models?|annotations|software)\b[^.]{0,100}?\b(?:available|released?|download\w*|found|obtained|accessed|deposited|published)\b[^.]{0,80}?(?P<x>(?:https?://|www\.)[^\s)\]>,;]*[^\s)\]>,;.])"),
    (Availability, "our address", Form::Exact, 0.9, &[], 1.0,
        r"(?i)\b(?:we|our|all) (?:\w+ ){0,4}?(?:data|code|corpus|dataset|resource|release|publish|deposit\w*)\b[^.]{0,120}?(?P<x>(?:https?://|www\.)[^\s)\]>,;]*[^\s)\]>,;.])"),
    (Availability, "publicly available", Form::Sentence, 0.7, OFFER, 0.5,
        r"(?i)\b(?:(?:is|are|be|made) (?:\w+ )?(?:freely|publicly|openly) (?:available|accessible)|available (?:up)?on request|we (?:will )?(?:make|release) .{0,80}available|publicly release)"),
];
