//! Which words may be parts of a divided one, and which words look divided and are not.

/// Function words that may stand before a common word. Those that begin many other words (`a`, `in`, `over`, `can`, `be`,
/// `un`, `by`, `not`) are left out.
#[rustfmt::skip]
pub(super) const BEFORE: &[&str] = &[
    "the", "and", "that", "this", "these", "those", "which", "we", "is", "are", "was", "were",
    "have", "has", "had", "would", "such", "our", "their", "from", "with", "while", "when", "to",
    "of", "for", "using", "into", "than", "they", "then", "also", "more", "most", "been",
    "between", "both", "each",
];

/// Function words that may stand behind a common word. Those that end many other words (`it`, `or`, `our`, `all`) are
/// left out.
#[rustfmt::skip]
pub(super) const AFTER: &[&str] = &[
    "the", "and", "that", "this", "these", "those", "which", "was", "were", "can", "has", "have",
    "would", "such", "their", "from", "with", "within", "while", "when", "where", "to", "of",
    "for", "by", "been", "also", "into", "than", "they", "we", "are",
];

/// Function words that may stand only behind common words with these endings, which names, species and compounds do not
/// have before them: `oftena`, not `exotica`; `containedin`, not `resistin`.
pub(super) const ENDINGS: &[(&str, &[&str])] = &[
    ("a", &["ing", "ed", "ly", "en", "ve"]),
    ("an", &["ing", "ed", "ly", "s", "ve"]),
    ("in", &["ing", "ed", "ions", "ly"]),
    ("on", &["ing", "ed", "ly"]),
    ("as", &["ing", "ed", "ly", "ions"]),
    ("is", &["ing", "ion", "ions", "ness", "ment"]),
];

/// Function words that may be the first of two.
#[rustfmt::skip]
pub(super) const FIRST_OF_TWO: &[&str] = &[
    "also", "and", "are", "as", "at", "been", "between", "both", "by", "can", "each", "for",
    "from", "had", "has", "have", "in", "into", "is", "it", "more", "most", "of", "on", "our",
    "such", "than", "that", "the", "their", "then", "these", "they", "this", "those", "to",
    "using", "was", "we", "were", "when", "which", "while", "with", "would",
];

/// Function words that may be the second of two.
#[rustfmt::skip]
pub(super) const SECOND_OF_TWO: &[&str] = &[
    "also", "and", "are", "be", "been", "by", "can", "for", "from", "has", "have", "into", "is",
    "it", "not", "of", "our", "such", "than", "that", "the", "their", "these", "they", "this",
    "those", "to", "was", "we", "were", "when", "where", "which", "while", "with", "within",
    "would",
];

/// Function words that may be the second of three, before a common one.
#[rustfmt::skip]
pub(super) const DETERMINERS: &[&str] = &[
    "each", "our", "such", "that", "the", "their", "these", "this", "those",
];

/// Words with which a divided word with a capital may begin: `Thispaper`, not `Forman`.
pub(super) const OPENING: &[&str] = &[
    "the", "this", "these", "those", "their", "our", "while", "when", "such", "with", "that",
    "from", "using",
];

/// Words of large dictionaries that the rules would divide, and such words of the papers; sorted.
#[rustfmt::skip]
pub(super) const ORDINARY: &[&str] = &[
    "afterwhile", "againstand", "allwhere", "anywhen", "anywhere", "arefact", "aregenerative",
    "ascan", "atonable", "atour", "backare", "bestare", "betweenbrain", "betweentimes",
    "bothlike", "bothwell", "cancan", "canis", "canonlike", "canto", "confirmand", "distilland",
    "downby", "downwith", "eachwhere", "everywhen", "farand", "forasmuch", "forby", "fordays",
    "fordone", "forgather", "forgathered", "forgathering", "forgive", "forgiven", "forgives",
    "forgiving", "forleft", "formatter", "formature", "formedon", "forshape", "forspread",
    "fortravail", "goodby", "handwhile", "haveable", "haveless", "havering", "herefrom",
    "hereinto", "hereof", "hereto", "herewith", "hightoby", "incan", "incandescent",
    "informetric", "informetrics", "intonative", "inwith", "isabnormal", "isacoustic",
    "isanomalous", "issite", "majorcan", "manywhere", "minorcan", "modesto", "mostlike",
    "mostwhat", "oftest", "onethe", "onewhere", "ontocycle", "ontocyclic", "ontologic",
    "ontologistic", "otherwhere", "otherwhile", "outby", "outwith", "overby", "perforin",
    "solidare", "somewhen", "somewhere", "somewhile", "suchlike", "thebe", "therefor",
    "therefrom", "thereinto", "thereto", "therewhile", "therewith", "therewithin", "thisbe",
    "thislike", "toastable", "tobias", "todays", "toother", "touser", "towering", "toyear",
    "wastable", "weissite", "welland", "wherefor", "wherefrom", "whereinto", "whereof",
    "whereto", "wherewith", "whichways", "whoof", "widewhere", "withholds", "withinside",
    "withoutside", "withstanding", "withstands", "withstrain",
];
