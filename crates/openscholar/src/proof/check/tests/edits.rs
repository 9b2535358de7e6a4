//! 200 seeded random edits of one file each.

use scholar_core::SplitMix64;

use super::*;

/// A random edit of a JSON file by its structure; what was done, or `None` when the draw does not fit the file.
fn structural(files: &mut RunFiles, random: &mut SplitMix64) -> Option<String> {
    let file = [ANSWER_FILE, PROOF_FILE][random.below(2)];
    let mut value = json(files, file);
    let n = value["sentences"].as_array()?.len();
    let m = value["references"].as_array()?.len();
    let (at, reference) = (random.below(n.max(1)), random.below(m.max(1)));
    let what = random.below(18);
    let sentences = value["sentences"].as_array_mut()?;
    match what {
        0 => drop(sentences.remove(at)),
        1 => sentences.insert(at, sentences[at].clone()),
        2 if n > 1 => sentences.swap(at, (at + 1) % n),
        3 => sentences[at]["citations"].as_array_mut()?.push((m + 1).into()),
        4 => sentences[at]["citations"].as_array_mut()?.clear(),
        5 => sentences[at]["citations"] = serde_json::json!([999]),
        6 => sentences[at]["quotes"].get_mut(0)?["start"] = 1_000_000.into(),
        7 => sentences[at]["quotes"].get_mut(0)?["end"] = 3.into(),
        8 => sentences[at]["quotes"].get_mut(0)?["text"] = "something else".into(),
        9 => sentences[at].get_mut("support")?["verdict"] = "contradicted".into(),
        10 => sentences[at].get_mut("support")?["score"] = 0.123.into(),
        11 => sentences[at]["gates"] = serde_json::json!(["L0"]),
        12 => sentences[at]["verbatim"] = (!sentences[at]["verbatim"].as_bool()?).into(),
        13 => value["references"][reference]["title"] = "Another title".into(),
        14 => value["references"][reference]["authors"] = serde_json::json!(["Nobody"]),
        15 => value["references"][reference]["year"] = 1887.into(),
        16 => drop(value["references"].as_array_mut()?.remove(reference)),
        _ => value["references"][reference]["number"] = 77.into(),
    }
    if value == json(files, file) {
        return None;
    }
    put_json(files, file, &value);
    Some(format!("{file}: structure {what} at {at}, {reference}"))
}

/// Takes out, adds or swaps words of a file, or changes a digit.
fn token(files: &mut RunFiles, random: &mut SplitMix64) -> Option<String> {
    let file = [ANSWER_FILE, PROOF_FILE, MARKDOWN_FILE][random.below(3)];
    let text = text(files, file);
    let words: Vec<&str> = text.split_inclusive(' ').collect();
    let (at, other) = (random.below(words.len()), random.below(words.len()));
    // Indentation is no word.
    if words[at].trim().is_empty() || words[other].trim().is_empty() {
        return None;
    }
    let what = random.below(4);
    let mut edited: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    match what {
        0 => drop(edited.remove(at)),
        1 => edited.insert(at, words[other].to_owned()),
        2 => edited.swap(at, other),
        _ => {
            let digit = edited[at].find(|c: char| c.is_ascii_digit())?;
            let new = if edited[at].as_bytes()[digit] == b'7' { "8" } else { "7" };
            edited[at].replace_range(digit..=digit, new);
        }
    }
    let edited = edited.concat();
    if edited == text {
        return None;
    }
    put(files, file, edited);
    Some(format!("{file}: word {what} at {at}"))
}

/// Changes, takes out or adds a byte of a file, cuts it, or appends a line.
fn bytes(files: &mut RunFiles, random: &mut SplitMix64) -> Option<String> {
    let file = [ANSWER_FILE, PROOF_FILE, MARKDOWN_FILE][random.below(3)];
    let bytes = files.0.get_mut(file)?;
    let at = random.below(bytes.len());
    let what = random.below(5);
    match what {
        0 => bytes[at] ^= 1 << random.below(7),
        1 => drop(bytes.remove(at)),
        2 => bytes.insert(at, b'x'),
        3 => bytes.truncate(at),
        _ => bytes.extend_from_slice(b"A line more.\n"),
    }
    Some(format!("{file}: byte {what} at {at}"))
}

/// Every edit is found, or is white space between the values of a JSON file and told as that.
#[tokio::test]
async fn two_hundred_random_edits_are_caught() {
    let good = [
        sample::of(Kind::Evidence).await.expect("a run"),
        sample::of(Kind::Generative).await.expect("a run"),
    ];
    let mut random = SplitMix64::new(20);
    let (mut done, mut white_space) = (0, 0);
    while done < 200 {
        let of = random.below(2);
        let mut files = good[of].clone();
        let edit = match done % 4 {
            0 | 1 => structural(&mut files, &mut random),
            2 => token(&mut files, &mut random),
            _ => bytes(&mut files, &mut random),
        };
        let Some(edit) = edit else { continue };
        done += 1;
        // What cannot be read at all is refused.
        let Ok(checked) = checked(&files).await else { continue };
        if !checked.holds() {
            continue;
        }
        white_space += 1;
        let [FileRemark::WhiteSpace { file }] = checked.file_remarks.as_slice() else {
            panic!("unnoticed: {edit}");
        };
        assert_eq!(json(&good[of], file), json(&files, file), "{edit} is no white space");
    }
    assert!(white_space < 20, "{white_space} of 200 edits were white space");
}
