//! Names of people as one printed string that can be taken apart again.
//!
//! Ours, because a paper keeps an author as it is printed, while lists of papers tell given and family names apart.
//! Where the printed form alone would be split wrongly (`Maria Garcia Lopez`, `World Health Organization`), the words
//! that belong together are joined by no-break spaces: it prints the same, and the parts survive.

use scholar_core::text::normalise::single_spaced;

const JOIN: char = '\u{a0}';

/// Words in lower case that begin a family name.
const PARTICLES: [&str; 32] = [
    "af", "al", "am", "auf", "aus", "bin", "da", "dal", "de", "degli", "dei", "del", "della",
    "den", "der", "di", "do", "dos", "du", "e", "el", "la", "las", "le", "los", "op", "ter", "ten",
    "van", "vom", "von", "zu",
];

const SUFFIXES: [&str; 10] = ["Jr.", "Jr", "Sr.", "Sr", "II", "III", "IV", "2nd", "3rd", "4th"];

/// Endings of names of companies, which a comma may stand before.
const COMPANIES: [&str; 7] = ["Inc.", "Inc", "Ltd.", "Ltd", "LLC", "Corp.", "GmbH"];

/// A name in parts. Without given names it is a single name or an institution.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Name {
    /// Given names.
    pub(crate) given: Option<String>,
    /// Family name with its particles, or the whole of a name that has no parts.
    pub(crate) family: String,
    /// `Jr.`, `III`.
    pub(crate) suffix: Option<String>,
}

impl Name {
    /// Parts as a list tells them; `None` when nothing is left.
    pub(crate) fn new(given: &str, family: &str, suffix: &str) -> Option<Self> {
        let [given, family, suffix] = [given, family, suffix].map(single_spaced);
        let filled = |text: String| (!text.is_empty()).then_some(text);
        match (filled(given), filled(family)) {
            (given, Some(family)) => Some(Self { given, family, suffix: filled(suffix) }),
            (Some(given), None) => Some(Self { given: None, family: given, suffix: None }),
            (None, None) => None,
        }
    }

    /// A name that has no parts.
    pub(crate) fn whole(name: &str) -> Option<Self> {
        Self::new("", name, "")
    }

    /// `Family, Given` or `Family, Suffix, Given`, or, without a comma, the printed form.
    pub(crate) fn inverted(text: &str) -> Option<Self> {
        let parts: Vec<&str> = commas(text).into_iter().filter(|part| !part.is_empty()).collect();
        match parts.as_slice() {
            [] => None,
            [whole] => Self::printed(whole),
            [name, ending] if COMPANIES.contains(ending) => {
                Self::whole(&format!("{name}, {ending}"))
            }
            [name, suffix] if is_suffix(suffix) => {
                let name = Self::printed(name)?;
                Self::new(name.given.as_deref().unwrap_or_default(), &name.family, suffix)
            }
            [family, suffix, given @ ..] if is_suffix(suffix) => {
                Self::new(&given.join(", "), family, suffix)
            }
            [family, given, suffix] if is_suffix(suffix) => Self::new(given, family, suffix),
            [family, given @ ..] => Self::new(&given.join(" "), family, ""),
        }
    }

    /// Takes a printed name apart: at no ordinary space, it is whole; else the last word and the particles before it
    /// are the family name.
    pub(crate) fn printed(text: &str) -> Option<Self> {
        let text = text.trim_matches(' ');
        if commas(text).len() > 1 && text.contains(' ') {
            return Self::inverted(text);
        }
        let words: Vec<&str> = text
            .split(|c: char| c != JOIN && c.is_whitespace())
            .filter(|w| !w.is_empty())
            .collect();
        let (last, before) = words.split_last()?;
        if before.is_empty() {
            return Self::whole(last);
        }
        let (mut family, mut given, mut suffix) = ((*last).to_owned(), before, String::new());
        if before.len() > 1 && is_suffix(last) {
            suffix = (*last).to_owned();
            let (name, rest) = before.split_last()?;
            (family, given) = ((*name).to_owned(), rest);
        } else if let Some((name, last)) = last.rsplit_once(JOIN)
            && is_suffix(last)
        {
            (family, suffix) = (name.to_owned(), last.to_owned());
        }
        while let Some((particle, rest)) = given.split_last()
            && !rest.is_empty()
            && PARTICLES.contains(particle)
        {
            family = format!("{particle} {family}");
            given = rest;
        }
        Self::new(&given.join(" "), &family, &suffix)
    }

    /// Whether a part of a name is `Jr.` or the like.
    pub(crate) fn is_suffix(part: &str) -> bool {
        is_suffix(part)
    }

    /// The name as it is printed, with no-break spaces where they are needed to find the parts again.
    pub(crate) fn to_printed(&self) -> String {
        let suffix = self.suffix.as_deref().unwrap_or_default();
        let Some(given) = &self.given else {
            return self.family.replace(' ', "\u{a0}");
        };
        let plain = single_spaced(&format!("{given} {} {suffix}", self.family));
        if Self::printed(&plain).as_ref() == Some(self) {
            return plain;
        }
        let joined = single_spaced(&format!("{} {suffix}", self.family)).replace(' ', "\u{a0}");
        format!("{given} {joined}")
    }
}

/// Parts between commas that no no-break space follows.
fn commas(text: &str) -> Vec<&str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    for (at, _) in text.match_indices(',').filter(|(at, _)| !text[at + 1..].starts_with(JOIN)) {
        parts.push(text[start..at].trim());
        start = at + 1;
    }
    parts.push(text[start..].trim());
    parts
}

fn is_suffix(text: &str) -> bool {
    SUFFIXES.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_survive_printing() {
        for (given, family, suffix, printed) in [
            ("Ada B.", "Lovelace", "", "Ada B. Lovelace"),
            ("Ludwig", "van der Berg", "", "Ludwig van der Berg"),
            ("Maria", "Garcia Lopez", "", "Maria Garcia\u{a0}Lopez"),
            ("", "World Health Organization", "", "World\u{a0}Health\u{a0}Organization"),
            ("Martin Luther", "King", "Jr.", "Martin Luther King Jr."),
            ("Martin", "King", "Jr.", "Martin King Jr."),
            ("Jan", "de Vries Lang", "III", "Jan de\u{a0}Vries\u{a0}Lang\u{a0}III"),
            ("", "Acme, Inc.", "", "Acme,\u{a0}Inc."),
            ("", "Plato", "", "Plato"),
        ] {
            let name = Name::new(given, family, suffix).expect("a name");
            assert_eq!(name.to_printed(), printed);
            assert_eq!(Name::printed(printed), Some(name), "{printed}");
        }
        assert_eq!(Name::printed(" "), None);
        assert_eq!(Name::new(" ", "", "Jr."), None);
    }

    #[test]
    fn inverted_names_are_turned() {
        let printed = |text| Name::inverted(text).map(|name| name.to_printed());
        assert_eq!(printed("Lovelace, Ada").as_deref(), Some("Ada Lovelace"));
        assert_eq!(printed("King, Jr., Martin Luther").as_deref(), Some("Martin Luther King Jr."));
        assert_eq!(printed("King, Martin Luther, Jr.").as_deref(), Some("Martin Luther King Jr."));
        assert_eq!(printed("van Beethoven, Ludwig").as_deref(), Some("Ludwig van Beethoven"));
        assert_eq!(printed("Plato").as_deref(), Some("Plato"));
        assert_eq!(printed("John H. Clippinger, Jr.").as_deref(), Some("John H. Clippinger Jr."));
        assert_eq!(printed("IsoQuest, Inc.").as_deref(), Some("IsoQuest,\u{a0}Inc."));
        assert_eq!(printed("Lev Kharlashkin,").as_deref(), Some("Lev Kharlashkin"));
        assert_eq!(printed(","), None);
    }
}
