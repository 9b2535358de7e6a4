//! Porter's stemmer with the extensions of the NLTK project, which ROUGE's published implementation uses.
//!
//! Source: Porter, "An algorithm for suffix stripping", 1980; the differences from it (irregular forms, short words in
//! `-ies`, `-ied` and `-y`, `-alli` first, `-fulli`, `-logi`, two-letter stems) are NLTK's and are held by the vectors
//! in `tests/golden/rouge.json`.

/// Forms that no rule gets right.
const IRREGULAR: [(&str, &str); 16] = [
    ("sky", "sky"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Suffixes of step 2, replaced when something measurable is left.
const STEP_2: [(&str, &str); 22] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
    ("logi", "log"),
];

/// Suffixes of step 3.
const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Suffixes of step 4, deleted after a longer stem.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou",
    "ism", "ate", "iti", "ous", "ive", "ize",
];

/// The stem of a word of lower-case ASCII letters and digits; anything else is returned unchanged.
pub fn stem(word: &str) -> String {
    let plain = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if !plain || word.len() <= 2 {
        return word.to_owned();
    }
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return (*stem).to_owned();
    }
    let mut stem = word.to_owned();
    plural(&mut stem);
    past_and_progressive(&mut stem);
    final_y(&mut stem);
    double_suffixes(&mut stem);
    first_suffix(&mut stem, &STEP_3);
    long_suffixes(&mut stem);
    final_e(&mut stem);
    if stem.ends_with("ll") && measure(&stem[..stem.len() - 1]) > 1 {
        stem.pop();
    }
    stem
}

/// Step 1a.
fn plural(word: &mut String) {
    if word.ends_with("ies") {
        let kept = if word.len() == 4 { 1 } else { 2 };
        word.truncate(word.len() - kept);
    } else if word.ends_with("sses") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

/// Step 1b.
fn past_and_progressive(word: &mut String) {
    if word.ends_with("ied") {
        let cut = if word.len() == 4 { 1 } else { 2 };
        word.truncate(word.len() - cut);
        return;
    }
    if let Some(stem) = word.strip_suffix("eed") {
        if measure(stem) > 0 {
            word.pop();
        }
        return;
    }
    let stem = ["ed", "ing"].iter().find_map(|suffix| {
        let stem = word.strip_suffix(suffix)?;
        has_vowel(stem).then_some(stem.len())
    });
    let Some(len) = stem else { return };
    word.truncate(len);
    if ["at", "bl", "iz"].iter().any(|end| word.ends_with(end)) {
        word.push('e');
    } else if ends_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_cvc(word) {
        word.push('e');
    }
}

/// Step 1c: only after a consonant, and not when that is the whole stem.
fn final_y(word: &mut String) {
    let n = word.len();
    if word.ends_with('y') && n > 2 && consonants(word)[n - 2] {
        word.pop();
        word.push('i');
    }
}

/// Step 2. `-alli` goes first, and what it leaves goes through the step again.
fn double_suffixes(word: &mut String) {
    while let Some(stem) = word.strip_suffix("alli") {
        if measure(stem) == 0 {
            break;
        }
        word.truncate(word.len() - 2);
    }
    first_suffix(word, &STEP_2);
}

/// Replaces the first suffix that fits; a stem that is too short ends the search.
fn first_suffix(word: &mut String, rules: &[(&str, &str)]) {
    let Some((suffix, replacement)) = rules.iter().find(|(suffix, _)| word.ends_with(suffix))
    else {
        return;
    };
    // The `l` of `-logi` counts as part of the stem, so that `geo` is long enough.
    let in_stem = usize::from(*suffix == "logi");
    let stem = word.len() - suffix.len();
    if measure(&word[..stem + in_stem]) > 0 {
        word.truncate(stem);
        word.push_str(replacement);
    }
}

/// Step 4.
fn long_suffixes(word: &mut String) {
    let Some(suffix) = STEP_4.iter().find(|suffix| word.ends_with(*suffix)) else { return };
    let stem = &word[..word.len() - suffix.len()];
    let fits = *suffix != "ion" || stem.ends_with(['s', 't']);
    if measure(stem) > 1 && fits {
        word.truncate(stem.len());
    }
}

/// Step 5a.
fn final_e(word: &mut String) {
    if let Some(stem) = word.strip_suffix('e') {
        let m = measure(stem);
        if m > 1 || (m == 1 && !ends_cvc(stem)) {
            word.pop();
        }
    }
}

/// For each letter whether it is a consonant; `y` is one at the start and after a vowel.
fn consonants(word: &str) -> Vec<bool> {
    let mut flags: Vec<bool> = Vec::with_capacity(word.len());
    for letter in word.bytes() {
        let consonant = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' => false,
            b'y' => flags.last().is_none_or(|before| !before),
            _ => true,
        };
        flags.push(consonant);
    }
    flags
}

/// How often a consonant follows a vowel: Porter's m.
fn measure(stem: &str) -> usize {
    consonants(stem).windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn has_vowel(stem: &str) -> bool {
    consonants(stem).contains(&false)
}

fn ends_double_consonant(word: &str) -> bool {
    let bytes = word.as_bytes();
    let n = bytes.len();
    n >= 2 && bytes[n - 1] == bytes[n - 2] && consonants(word)[n - 1]
}

/// Consonant, vowel, consonant other than w, x, y; or a stem that is a vowel and a consonant.
fn ends_cvc(word: &str) -> bool {
    let flags = consonants(word);
    match flags[..] {
        [.., true, false, true] => !word.ends_with(['w', 'x', 'y']),
        [false, true] => true,
        _ => false,
    }
}
