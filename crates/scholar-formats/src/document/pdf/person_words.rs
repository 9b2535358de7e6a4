//! Words that tell names of people from what stands around them on a title page.

/// Words in small letters that stand in names.
#[rustfmt::skip]
pub(super) const PARTICLES: [&str; 50] = [
    "af", "al", "am", "auf", "aus", "av", "ben", "bin", "bint", "da", "dal", "das", "de", "degli", "dei", "del",
    "della", "den", "der", "di", "do", "dos", "du", "e", "el", "ibn", "la", "las", "le", "lo", "los", "op", "st",
    "'t", "\u{2019}t", "te", "ten", "ter", "ul", "van", "vande", "vander", "vom", "von", "von der", "y", "zu", "zum",
    "zur", "abu",
];

/// What follows a name and does not belong to it, without full stops, in small letters.
#[rustfmt::skip]
pub(super) const DEGREES: [&str; 32] = [
    "phd", "dphil", "md", "msc", "bsc", "ms", "ma", "mph", "mba", "mbbs", "mbchb", "dds", "dmd", "dvm", "rn", "bs",
    "ba", "bm", "do", "frcp", "frcs", "mrcp", "facp", "facs", "pharmd", "scd", "dsc", "ieee", "fellow", "member",
    "meng", "drph",
];

/// What stands before a name, without full stops, in small letters.
#[rustfmt::skip]
pub(super) const TITLES: [&str; 10] = [
    "dr", "prof", "professor", "mr", "mrs", "ms", "sir", "ing", "dipl-ing", "doctor",
];

/// Words of the names of institutions, of addresses, titles and other lines of a title page. Words that are common family names
/// (Park, West, Hall, Field, Banks) are none of them. Sorted.
#[rustfmt::skip]
pub(super) const INSTITUTIONS: [&str; 338] = [
    "abstract", "academia", "academy", "accademia", "accepted", "access", "adobe", "agency", "ai", "airport",
    "akademie", "algorithm", "algorithms", "alibaba", "amazon", "an", "analysis", "annual", "apartado", "application",
    "applications", "approach", "approaches", "are", "article", "artificial", "as", "association", "at", "author",
    "authors", "automatic", "available", "ave", "avenue", "baidu", "be", "berkeley", "between", "biology", "bldg",
    "blvd", "book", "boulevard", "branch", "bureau", "business", "by", "calle", "caltech", "campus", "can", "cancer",
    "center", "central", "centre", "centro", "chair", "chapter", "chemistry", "chinese", "city", "clinic", "clinical",
    "cnrs", "cognition", "college", "commentary", "committee", "communication", "communications", "company",
    "computational", "computer", "computers", "computing", "conference", "consortium", "contents", "cooperation",
    "copyright", "cornell", "corp", "corporation", "correspondence", "corresponding", "council", "country", "csail",
    "csiro", "data", "deepmind", "departamento", "departement", "department", "dept", "development", "dipartimento",
    "division", "downloaded", "draft", "drive", "d\u{e9}partement", "ecole", "economics", "edition", "editor",
    "editorial", "editors", "education", "efficient", "electrical", "electronics", "engineering", "environment",
    "epfl", "evaluation", "extended", "facebook", "facultad", "faculty", "facult\u{e9}", "fakult\u{e4}t", "first",
    "floor", "for", "foundation", "from", "general", "genetics", "geology", "gmbh", "google", "graduate", "group",
    "harvard", "health", "hospital", "huawei", "human", "ibm", "in-house", "inc", "industrial", "industries",
    "informatica", "informatics", "informatik", "information", "informatique", "inria", "institut", "institute",
    "institutes", "institution", "institutions", "instituto", "intel", "intelligence", "international", "into",
    "introduction", "invited", "is", "istituto", "journal", "keynote", "keywords", "kingdom", "knowledge", "lab",
    "laboratoire", "laboratories", "laboratorio", "laboratory", "labs", "language", "languages", "large", "learning",
    "lehrstuhl", "letters", "library", "life", "limited", "linguistics", "linguistik", "llc", "ltd", "machine",
    "management", "manuscript", "material", "mathematics", "medical", "medicine", "member", "method", "methods",
    "microsoft", "ministry", "mit", "model", "models", "museum", "nacional", "nasa", "national", "natural", "network",
    "networks", "neuroscience", "new", "news", "nih", "nist", "nlp", "not", "note", "nvidia", "observatory", "of",
    "office", "on", "online", "open", "openai", "opinion", "our", "paper", "parsing", "perspective", "philosophy",
    "physics", "politecnico", "polytechnic", "polytechnique", "postal", "preprint", "princeton", "proceedings",
    "processing", "program", "programme", "project", "psychology", "public", "published", "received", "region",
    "report", "republic", "research", "review", "road", "robotics", "robust", "room", "rue", "samsung", "school",
    "science", "sciences", "second", "section", "semantics", "seminar", "senior", "services", "short", "siemens",
    "social", "society", "software", "solutions", "speech", "stanford", "statistical", "strasse", "stra\u{df}e",
    "street", "student", "studies", "suite", "summary", "supplementary", "survey", "system", "systems", "talk",
    "team", "technical", "technion", "technische", "technologies", "technology", "tencent", "text", "than", "that",
    "the", "their", "theory", "these", "this", "through", "to", "toward", "towards", "translation", "trust",
    "tutorial", "ucl", "ucla", "univ", "universidad", "universidade", "universitaet", "universitat", "universiteit",
    "universities", "university", "universit\u{e0}", "universit\u{e4}t", "universit\u{e9}", "usc", "using", "version",
    "via", "vision", "volume", "web", "with", "without", "workshop", "xerox", "yahoo", "zentrum",
];

/// Words of institutions in scripts without capitals.
#[rustfmt::skip]
pub(super) const CASELESS_INSTITUTIONS: [&str; 21] = [
    "\u{5927}\u{5b66}", "\u{5b66}\u{9662}", "\u{7814}\u{7a76}", "\u{5b9e}\u{9a8c}\u{5ba4}", "\u{516c}\u{53f8}",
    "\u{533b}\u{9662}", "\u{4e2d}\u{5fc3}", "\u{79d1}\u{5b66}", "\u{5927}\u{5b78}", "\u{5b78}\u{9662}",
    "\u{682a}\u{5f0f}\u{4f1a}\u{793e}", "\u{6458}\u{8981}", "\u{5173}\u{952e}\u{8bcd}", "\u{c5f0}\u{ad6c}",
    "\u{b300}\u{d559}", "\u{d559}\u{ad50}", "\u{c694}\u{c57d}", "\u{62c}\u{627}\u{645}\u{639}",
    "\u{643}\u{644}\u{64a}", "\u{642}\u{633}\u{645}", "\u{645}\u{639}\u{647}\u{62f}",
];

/// Countries and a few large cities, as a whole part of an address. Those that are family or given names as well (Israel,
/// Jordan, Georgia, Holland, Cuba) are told by what stands beside them.
#[rustfmt::skip]
pub(super) const PLACES: [&str; 111] = [
    "ann arbor", "argentina", "australia", "austria", "belgium", "brasil", "brazil", "buenos aires", "bulgaria",
    "canada", "cape town", "chapel hill", "chile", "china", "college park", "colombia", "croatia", "cyprus",
    "czech republic", "den haag", "denmark", "deutschland", "egypt", "england", "estonia", "finland", "germany",
    "greece", "hong kong", "hungary", "iceland", "india", "indonesia", "iran", "iraq", "ireland", "italia", "italy",
    "japan", "kenya", "korea", "kuala lumpur", "la jolla", "latvia", "lebanon", "lithuania", "los angeles",
    "luxembourg", "macau", "malaysia", "malta", "marina del rey", "menlo park", "mexico", "mexico city", "morocco",
    "mountain view", "nepal", "netherlands", "new brunswick", "new delhi", "new haven", "new york", "new zealand",
    "nigeria", "northern ireland", "norway", "pakistan", "palo alto", "peru", "philippines", "poland", "portugal",
    "puerto rico", "qatar", "rio de janeiro", "romania", "russia", "s\u{e3}o paulo", "salt lake city", "san diego",
    "san francisco", "san jose", "santa barbara", "santa cruz", "santa monica", "saudi arabia", "scotland", "serbia",
    "singapore", "slovakia", "slovenia", "south africa", "south korea", "spain", "sri lanka", "sweden", "switzerland",
    "taiwan", "tel aviv", "thailand", "the hague", "the netherlands", "tunisia", "turkey", "ukraine",
    "united arab emirates", "united states", "uruguay", "usa", "vietnam",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn institutions_can_be_searched() {
        assert!(INSTITUTIONS.is_sorted());
    }
}
