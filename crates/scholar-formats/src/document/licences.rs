//! Licences by the names people know.

/// The name of a Creative Commons licence by its address: `CC BY-NC 4.0`, `CC0 1.0`.
pub(crate) fn by_address(address: &str) -> Option<String> {
    let rest = address.trim().split_once("creativecommons.org/")?.1.to_ascii_lowercase();
    let mut parts = rest.split('/').filter(|part| !part.is_empty());
    let (family, kind) = (parts.next()?, parts.next()?);
    let version = parts.next().filter(|part| part.starts_with(|c: char| c.is_ascii_digit()));
    let name = match (family, kind) {
        ("publicdomain", "zero") => "CC0".to_owned(),
        ("publicdomain", "mark") => "Public Domain Mark".to_owned(),
        ("licenses", kind)
            if kind.split('-').all(|word| ["by", "nc", "nd", "sa"].contains(&word)) =>
        {
            format!("CC {}", kind.to_ascii_uppercase())
        }
        _ => return None,
    };
    Some(version.map_or(name.clone(), |version| format!("{name} {version}")))
}

/// The Creative Commons licence a text names without an address, or the address it has in plain text.
pub(crate) fn by_text(text: &str) -> Option<String> {
    if let Some(name) = text.split_whitespace().find_map(by_address) {
        return Some(name);
    }
    let lower = text.to_lowercase().replace(['-', '\u{2010}', '\u{2011}'], " ");
    let at = lower.find("creative commons attribution")?;
    let rest = &lower[at + "creative commons attribution".len()..];
    let clause: String =
        rest.split(['.', ',', ';', '(']).next().unwrap_or_default().chars().take(60).collect();
    let clause = clause.replace(' ', "");
    let mut name = String::from("CC BY");
    for (word, short) in [("noncommercial", "-NC"), ("noderiv", "-ND"), ("sharealike", "-SA")] {
        if clause.contains(word) {
            name.push_str(short);
        }
    }
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_words_have_names() {
        for (address, name) in [
            ("http://creativecommons.org/licenses/by/4.0/", Some("CC BY 4.0")),
            ("https://creativecommons.org/licenses/by-nc-sa/2.0/uk/", Some("CC BY-NC-SA 2.0")),
            ("https://creativecommons.org/publicdomain/zero/1.0/", Some("CC0 1.0")),
            ("http://www.nature.com/reprints", None),
        ] {
            assert_eq!(by_address(address).as_deref(), name, "{address}");
        }
        let text =
            "under the terms of the Creative Commons Attribution-NonCommercial License, which";
        assert_eq!(by_text(text).as_deref(), Some("CC BY-NC"));
        assert_eq!(by_text("All rights reserved"), None);
    }
}
