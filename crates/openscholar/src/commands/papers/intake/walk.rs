//! Which files of a folder are read: regular ones that lie in it, each once. What is passed over is told.

use std::collections::{BTreeSet, VecDeque};
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use scholar_core::{Notice, NoticeKind};
use scholar_datastore::files::special;

use crate::error::{CommandError, Context as _};

/// Deepest folder that is walked.
const DEEPEST: usize = 64;
/// Names that are told of many of a kind.
const NAMED: usize = 3;

/// Which links are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Links {
    /// Those that lead to something in the same folder.
    Inside,
    /// All of them.
    Everywhere,
}

/// The files of a folder in the order of their names, those behind links last.
#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) files: Vec<PathBuf>,
    /// What was passed over.
    pub(crate) notices: Vec<Notice>,
}

/// Walks `root`. Names that begin with a dot are left out.
///
/// # Errors
/// When `root` itself cannot be listed.
pub(crate) fn walk(root: &Path, links: Links) -> Result<Walked, CommandError> {
    let cannot = || format!("cannot list {}", root.display());
    let canonical = fs_err::canonicalize(root).user(cannot)?;
    let mut walk = Walk { root: canonical.clone(), links, ..Walk::new() };
    walk.folder(root, canonical, 0).user(cannot)?;
    // Links come last, so that what lies in the folder is read under its own name.
    while let Some((link, depth)) = walk.pending.pop_front() {
        walk.link(&link, depth);
    }
    Ok(Walked { notices: walk.passed_over.notices(root), files: walk.files })
}

struct Walk {
    root: PathBuf,
    links: Links,
    /// Where files and folders really are that were seen.
    seen: BTreeSet<PathBuf>,
    /// Links with the depth they stand in.
    pending: VecDeque<(PathBuf, usize)>,
    files: Vec<PathBuf>,
    passed_over: PassedOver,
}

/// What was not read, by the reason.
#[derive(Default)]
struct PassedOver {
    outside: Vec<String>,
    circular: Vec<String>,
    broken: Vec<String>,
    special: Vec<String>,
    unreadable: Vec<String>,
    deep: Vec<String>,
}

impl Walk {
    fn new() -> Self {
        Self {
            root: PathBuf::new(),
            links: Links::Inside,
            seen: BTreeSet::new(),
            pending: VecDeque::new(),
            files: Vec::new(),
            passed_over: PassedOver::default(),
        }
    }

    /// Takes a folder that is called `path` and lies at `canonical`.
    fn folder(&mut self, path: &Path, canonical: PathBuf, depth: usize) -> io::Result<()> {
        if depth > DEEPEST {
            self.passed_over.deep.push(shown(path));
            return Ok(());
        }
        if self.seen.contains(&canonical) {
            return Ok(());
        }
        let mut entries = Vec::new();
        for entry in fs_err::read_dir(path)? {
            let entry = entry?;
            entries.push((entry.file_name(), entry.file_type()?));
        }
        entries.sort_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in entries {
            if !name.to_string_lossy().starts_with('.') {
                self.entry(path.join(&name), canonical.join(&name), kind, depth + 1);
            }
        }
        self.seen.insert(canonical);
        Ok(())
    }

    fn entry(&mut self, path: PathBuf, canonical: PathBuf, kind: FileType, depth: usize) {
        if kind.is_symlink() {
            self.pending.push_back((path, depth));
        } else if kind.is_dir() {
            // What cannot be listed costs itself alone.
            if let Err(error) = self.folder(&path, canonical, depth) {
                self.passed_over.unreadable.push(format!("{} ({})", shown(&path), error.kind()));
            }
        } else if let Some(kind) = special(kind) {
            self.passed_over.special.push(format!("{} ({kind})", shown(&path)));
        } else if self.seen.insert(canonical) {
            self.files.push(path);
        }
    }

    fn link(&mut self, path: &Path, depth: usize) {
        let target = match fs_err::canonicalize(path) {
            Ok(target) => target,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.passed_over.broken.push(shown(path));
            }
            Err(_) => return self.passed_over.circular.push(shown(path)),
        };
        let stands_in = path.parent().and_then(|parent| fs_err::canonicalize(parent).ok());
        if stands_in.is_some_and(|folder| folder.starts_with(&target)) {
            return self.passed_over.circular.push(shown(path));
        }
        if self.links == Links::Inside && !target.starts_with(&self.root) {
            return self.passed_over.outside.push(shown(path));
        }
        match fs_err::metadata(&target) {
            Ok(found) => self.entry(path.to_owned(), target, found.file_type(), depth),
            Err(_) => self.passed_over.broken.push(shown(path)),
        }
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

impl PassedOver {
    /// One notice for each reason.
    fn notices(self, root: &Path) -> Vec<Notice> {
        let Self { outside, circular, broken, special, unreadable, deep } = self;
        let root = root.display();
        let told = |names: Vec<String>, what: &str, hint: Option<&str>| {
            let count = names.len();
            let more = if count > NAMED { ", …" } else { "" };
            let first = names.into_iter().take(NAMED).collect::<Vec<_>>().join(", ");
            let message = format!("{root}: {count} {what}: {first}{more}");
            let notice = Notice::new(NoticeKind::Skipped, message);
            let notice = hint.into_iter().fold(notice, Notice::with_hint);
            (count > 0).then_some(notice)
        };
        [
            told(
                outside,
                "links lead out of the folder and were not followed",
                Some("pass --follow-links to follow them, or name their targets"),
            ),
            told(circular, "links lead in a circle and were not followed", None),
            told(broken, "links lead to nothing", None),
            told(special, "entries are not regular files and were skipped", None),
            told(unreadable, "folders could not be listed", Some("make them readable")),
            told(deep, "folders are nested too deeply", Some("name them themselves")),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_out_of_the_folder_circles_and_special_files_are_told() {
        let outer = tempfile::tempdir().expect("a folder");
        let root = outer.path().join("inbox");
        let write = |path: &Path| {
            fs_err::create_dir_all(path.parent().expect("in a folder")).expect("made");
            fs_err::write(path, "x").expect("written");
        };
        write(&outer.path().join("secret.txt"));
        write(&root.join("b/one.txt"));
        write(&root.join(".store/two.txt"));
        symlink("../secret.txt", root.join("secret.txt")).expect("linked");
        symlink(".", root.join("again")).expect("linked");
        symlink("ring", root.join("ring")).expect("linked");
        symlink("b/one.txt", root.join("a.txt")).expect("linked");
        symlink("b", root.join("c")).expect("linked");
        symlink(".store/two.txt", root.join("two.txt")).expect("linked");
        symlink("nowhere", root.join("gone.txt")).expect("linked");
        symlink("/dev/zero", root.join("zero.pdf")).expect("linked");
        let pipe = root.join("pipe.pdf");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());

        let Walked { files, notices } = walk(&root, Links::Inside).expect("listed");
        assert_eq!(files, [root.join("b/one.txt"), root.join("two.txt")]);
        let told: Vec<&str> = notices.iter().map(|notice| notice.message.as_str()).collect();
        let says = |words: &str, names: &[&str]| {
            let one = told.iter().find(|message| message.contains(words));
            let one = one.unwrap_or_else(|| panic!("{words} is not told: {told:?}"));
            assert!(names.iter().all(|name| one.contains(name)), "{one}");
        };
        says("2 links lead out", &["secret.txt", "zero.pdf"]);
        says("2 links lead in a circle", &["again", "ring"]);
        says("1 links lead to nothing", &["gone.txt"]);
        says("1 entries are not regular files", &["pipe.pdf (a named pipe)"]);

        let Walked { files, notices } = walk(&root, Links::Everywhere).expect("listed");
        assert_eq!(files, [root.join("b/one.txt"), root.join("secret.txt"), root.join("two.txt")]);
        assert!(notices.iter().any(|notice| notice.message.contains("zero.pdf (a device)")));
    }
}
