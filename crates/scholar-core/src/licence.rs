//! Names of licences, told apart from how sources write them.

/// A licence as it is compared: `CC BY 4.0`, `cc-by-4.0` and the address of its deed are one.
///
/// Ours, because no two sources write licences alike: lower-case words joined by `-`, the deeds of Creative Commons
/// by the licence they stand for.
pub fn licence_key(licence: &str) -> String {
    let lower = licence.trim().to_lowercase();
    let deed = lower.split_once("creativecommons.org/").map(|(_, path)| path);
    let named = match deed {
        Some(path) => match path.strip_prefix("licenses/") {
            Some(terms) => format!("cc {terms}"),
            None => path
                .strip_prefix("publicdomain/")
                .map_or(path, |rest| rest)
                .replace("zero/", "cc0/"),
        },
        None => lower,
    };
    let words =
        named.split(|c: char| !(c.is_alphanumeric() || c == '.')).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// Whether `licence` is `wanted`, in the wanted version or in any if none is named: `cc-by` accepts CC BY 4.0 and not
/// CC BY-NC 4.0. Both as [`licence_key`] makes them.
pub fn is_licence(licence: &str, wanted: &str) -> bool {
    licence.strip_prefix(wanted).is_some_and(|rest| {
        rest.is_empty()
            || rest
                .strip_prefix('-')
                .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_licence_written_four_ways_is_one() {
        for written in [
            "CC BY 4.0",
            "cc-by-4.0",
            "https://creativecommons.org/licenses/by/4.0/",
            " CC-BY 4.0 ",
        ] {
            assert_eq!(licence_key(written), "cc-by-4.0", "{written}");
        }
        assert_eq!(licence_key("http://creativecommons.org/publicdomain/zero/1.0/"), "cc0-1.0");
        assert_eq!(licence_key("CC0"), "cc0");
    }

    #[test]
    fn a_licence_without_version_accepts_every_version_and_no_other_terms() {
        assert!(is_licence("cc-by-4.0", "cc-by"));
        assert!(is_licence("cc-by", "cc-by"));
        assert!(is_licence("cc0-1.0", "cc0"));
        assert!(!is_licence("cc-by-nc-4.0", "cc-by"));
        assert!(!is_licence("cc-by-4.0", "cc-by-3.0"));
        assert!(!is_licence("cc-byte", "cc-by"));
    }
}
