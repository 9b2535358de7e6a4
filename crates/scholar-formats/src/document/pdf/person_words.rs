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
/// (Park, West, Hall, Field, Banks) are none of them.
#[rustfmt::skip]
pub(super) const INSTITUTIONS: [&str; 301] = [
    "abstract", "academia", "academy", "accademia", "accepted", "access", "agency", "airport", "akademie",
    "algorithm", "algorithms", "an", "analysis", "annual", "apartado", "application", "applications", "approach",
    "approaches", "are", "article", "artificial", "as", "association", "at", "author", "authors", "automatic",
    "available", "ave", "avenue", "be", "between", "biology", "bldg", "blvd", "book", "boulevard", "branch", "bureau",
    "business", "by", "calle", "campus", "can", "cancer", "center", "central", "centre", "centro", "chair", "chapter",
    "chemistry", "chinese", "city", "clinic", "clinical", "cnrs", "cognition", "college", "commentary", "committee",
    "communication", "communications", "company", "computational", "computer", "computers", "computing", "conference",
    "consortium", "contents", "cooperation", "copyright", "corp", "corporation", "correspondence", "corresponding",
    "council", "country", "d\u{e9}partement", "data", "departamento", "departement", "department", "dept",
    "development", "dipartimento", "division", "downloaded", "draft", "drive", "ecole", "economics", "edition",
    "editor", "editorial", "editors", "education", "efficient", "electrical", "electronics", "engineering",
    "environment", "evaluation", "extended", "facult\u{e9}", "facultad", "faculty", "fakult\u{e4}t", "first", "floor",
    "for", "foundation", "from", "general", "genetics", "geology", "gmbh", "graduate", "group", "health", "hospital",
    "human", "in-house", "inc", "industrial", "industries", "informatica", "informatics", "informatik", "information",
    "informatique", "inria", "institut", "institute", "institutes", "institution", "institutions", "instituto",
    "intelligence", "international", "into", "introduction", "invited", "is", "istituto", "journal", "keynote",
    "keywords", "kingdom", "knowledge", "lab", "laboratoire", "laboratories", "laboratorio", "laboratory", "labs",
    "language", "languages", "large", "learning", "lehrstuhl", "letters", "library", "life", "limited", "linguistics",
    "linguistik", "llc", "ltd", "machine", "management", "manuscript", "material", "mathematics", "medical",
    "medicine", "member", "method", "methods", "ministry", "model", "models", "museum", "nacional", "national",
    "natural", "network", "networks", "neuroscience", "new", "news", "not", "note", "observatory", "of", "office",
    "on", "online", "open", "opinion", "our", "paper", "parsing", "perspective", "philosophy", "physics",
    "politecnico", "polytechnic", "polytechnique", "postal", "preprint", "proceedings", "processing", "program",
    "programme", "project", "psychology", "public", "published", "received", "region", "report", "republic",
    "research", "review", "road", "robotics", "robust", "room", "rue", "school", "science", "sciences", "second",
    "section", "semantics", "seminar", "senior", "services", "short", "social", "society", "software", "solutions",
    "speech", "statistical", "stra\u{df}e", "strasse", "street", "student", "studies", "suite", "summary",
    "supplementary", "survey", "system", "systems", "talk", "team", "technical", "technische", "technologies",
    "technology", "text", "than", "that", "the", "their", "theory", "these", "this", "through", "to", "toward",
    "towards", "translation", "trust", "tutorial", "univ", "universidad", "universidade", "universit\u{e0}",
    "universit\u{e4}t", "universit\u{e9}", "universitaet", "universitat", "universiteit", "universities",
    "university", "using", "version", "via", "vision", "volume", "web", "with", "without", "workshop", "zentrum",
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
pub(super) const PLACES: [&str; 84] = [
    "argentina", "australia", "austria", "belgium", "brazil", "brasil", "bulgaria", "canada", "chile", "china",
    "colombia", "croatia", "cyprus", "czech republic", "denmark", "egypt", "england", "estonia", "finland",
    "deutschland", "germany", "greece", "hong kong", "hungary", "iceland", "india", "indonesia", "iran", "iraq",
    "ireland", "italia", "italy", "japan", "kenya", "latvia", "lebanon", "lithuania", "luxembourg", "macau",
    "malaysia", "malta", "mexico", "morocco", "nepal", "the netherlands", "netherlands", "new zealand", "nigeria",
    "norway", "northern ireland", "pakistan", "peru", "philippines", "poland", "portugal", "puerto rico", "qatar",
    "romania", "russia", "saudi arabia", "scotland", "serbia", "singapore", "slovakia", "slovenia", "south africa",
    "south korea", "korea", "spain", "sri lanka", "sweden", "switzerland", "taiwan", "thailand", "tunisia", "turkey",
    "ukraine", "united arab emirates", "united states", "uruguay", "usa", "vietnam", "new york", "los angeles",
];
