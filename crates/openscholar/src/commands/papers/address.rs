//! How people name a paper: by an identifier, a citation key, the path of its file, or words of its title.

use std::collections::BTreeSet;
use std::path::Path;

use scholar_core::text::normalise::title_key;
use scholar_core::text::untrusted;
use scholar_core::{PaperId, PaperMeta};
use scholar_datastore::{Datastore, StoredWork};

use crate::error::CommandError;

/// Papers that are named where a name means none or several.
const SHOWN: usize = 5;
/// Characters of a title in such a list.
const TITLE_CHARS: usize = 70;

/// The stored paper that `text` means in `store`, which is called `name`.
///
/// # Errors
/// No paper or several are meant; the nearest are named.
pub(crate) fn stored(store: &Datastore, name: &str, text: &str) -> Result<PaperId, CommandError> {
    match find(store, name, text)? {
        Named::Stored(id) => Ok(id),
        Named::Unknown(id) => {
            let mut error = CommandError::user(format!("{name} has no paper {id}"));
            for near in nearest(store, text)? {
                error = error.with_hint(near);
            }
            Err(error.with_hint(format!("openscholar papers list --datastore {name}")))
        }
    }
}

/// The same of a name that somebody sent: it means no path of this machine.
///
/// # Errors
/// As [`stored`].
pub(crate) fn sent(store: &Datastore, name: &str, text: &str) -> Result<PaperId, CommandError> {
    match find_by(store, name, text, Paths::Refused)? {
        Named::Stored(id) => Ok(id),
        Named::Unknown(id) => Err(CommandError::user(format!("{name} has no paper {id}"))),
    }
}

/// The same for several names, in their order.
///
/// # Errors
/// As [`stored`], for the first name that means no paper.
pub(crate) fn all_stored(
    store: &Datastore,
    name: &str,
    texts: &[String],
) -> Result<Vec<PaperId>, CommandError> {
    texts.iter().map(|text| stored(store, name, text)).collect()
}

/// The paper that `text` means: a stored one, or one that is named by its identifier and not stored.
///
/// # Errors
/// As [`stored`], but for identifiers.
pub(crate) fn any(store: &Datastore, name: &str, text: &str) -> Result<PaperId, CommandError> {
    match find(store, name, text)? {
        Named::Stored(id) | Named::Unknown(id) => Ok(id),
    }
}

enum Named {
    Stored(PaperId),
    /// An identifier that no stored paper has.
    Unknown(PaperId),
}

/// Whether a name may be the path of a paper's file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Paths {
    Taken,
    Refused,
}

fn find(store: &Datastore, name: &str, text: &str) -> Result<Named, CommandError> {
    find_by(store, name, text, Paths::Taken)
}

fn find_by(store: &Datastore, name: &str, text: &str, paths: Paths) -> Result<Named, CommandError> {
    let text = text.trim();
    let id = text.parse::<PaperId>().ok().or_else(|| PaperId::recognise(text));
    if let Some(id) = &id
        && let Some(paper) = store.paper(id)?
    {
        return Ok(Named::Stored(paper.meta.id));
    }
    let keyed = store.papers_keyed(text)?;
    let found = match keyed.is_empty() && paths == Paths::Taken {
        true => store.papers_at_path(&absolute(Path::new(text)))?,
        false => keyed,
    };
    if !found.is_empty() {
        let metas = found.into_iter().map(|StoredWork { paper, .. }| paper.meta).collect();
        return only(metas, name, text).map(Named::Stored);
    }
    if let Some(id) = id {
        return Ok(Named::Unknown(id));
    }
    let titled = store.papers_titled(text)?;
    if !titled.is_empty() {
        return only(titled, name, text).map(Named::Stored);
    }
    let words: BTreeSet<String> = title_words(text);
    let mut with_words: Vec<PaperMeta> = Vec::new();
    if !words.is_empty() {
        store.each_paper(|meta| {
            if words.is_subset(&title_words(&meta.title)) {
                with_words.push(meta);
            }
            Ok(())
        })?;
    }
    if with_words.is_empty() {
        let mut error = CommandError::user(format!(
            "{name} has no paper that {:?} names: it is no identifier, citation key or path of it, and no title has all its words",
            untrusted(text).line().to_string()
        ));
        for near in nearest(store, text)? {
            error = error.with_hint(near);
        }
        return Err(error);
    }
    only(with_words, name, text).map(Named::Stored)
}

/// The one paper of `found`; several are an error that names them.
fn only(found: Vec<PaperMeta>, name: &str, text: &str) -> Result<PaperId, CommandError> {
    if let [one] = &found[..] {
        return Ok(one.id.clone());
    }
    let message = format!(
        "{:?} names {} papers of {name}; say which by its identifier",
        untrusted(text).line().to_string(),
        found.len()
    );
    let hints = found.iter().take(SHOWN).map(described);
    Err(hints.fold(CommandError::user(message), CommandError::with_hint))
}

/// Titles that have most words of `text`, described.
fn nearest(store: &Datastore, text: &str) -> Result<Vec<String>, CommandError> {
    let words = title_words(text);
    let mut near: Vec<(usize, String)> = Vec::new();
    store.each_paper(|meta| {
        let shared = title_words(&meta.title).intersection(&words).count();
        let key = meta.ids().any(|id| {
            let id = id.to_string();
            text.len() > 3 && (id.contains(text) || text.contains(&id))
        });
        if shared > 0 || key {
            near.push((shared + if key { 100 } else { 0 }, described(&meta)));
            // Few are shown; a large store must not fill the memory.
            if near.len() > 1_000 {
                near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
                near.truncate(SHOWN);
            }
        }
        Ok(())
    })?;
    near.sort_by_key(|(shared, _)| std::cmp::Reverse(*shared));
    Ok(near.into_iter().take(SHOWN).map(|(_, described)| format!("near it: {described}")).collect())
}

fn described(meta: &PaperMeta) -> String {
    let title: String = meta.display_title().chars().take(TITLE_CHARS).collect();
    let year = meta.year.map(|year| format!(" ({year})")).unwrap_or_default();
    format!("{} {}{year}", meta.id, untrusted(&title).line())
}

/// Words that say nothing about which paper is meant.
const COMMON: [&str; 12] =
    ["a", "an", "the", "of", "in", "on", "and", "for", "with", "to", "by", "from"];

fn title_words(text: &str) -> BTreeSet<String> {
    let key = title_key(text);
    let words = key.split(' ').filter(|word| !word.is_empty() && !COMMON.contains(word));
    words.map(str::to_owned).collect()
}

/// Where a path leads, or would lead if there were a file.
pub(crate) fn absolute(path: &Path) -> std::path::PathBuf {
    fs_err::canonicalize(path)
        .or_else(|_| std::path::absolute(path))
        .unwrap_or_else(|_| path.to_owned())
}
