//! Which files a library may name. A list of papers comes from anywhere, and must not make a person's other files part of
//! their papers.

use std::path::{Path, PathBuf};

use super::failure::Failure;

/// Folders that the files of a library may lie in.
#[derive(Debug, Clone)]
pub(super) struct Allowed {
    /// Where relative paths begin, in this order.
    bases: Vec<PathBuf>,
    /// Where the folders really are.
    roots: Vec<PathBuf>,
}

impl Allowed {
    /// `own` is the library's own folder and `base` where its relative paths begin; `named` are the folders that a person
    /// names, relative paths may begin there too. Folders that are not there allow nothing.
    pub(super) fn new(own: Option<&Path>, base: &Path, named: &[PathBuf]) -> Self {
        let roots = own.into_iter().chain(named.iter().map(PathBuf::as_path));
        Self {
            bases: [base.to_owned()].into_iter().chain(named.iter().cloned()).collect(),
            roots: roots.filter_map(|folder| fs_err::canonicalize(folder).ok()).collect(),
        }
    }

    /// Where the file that a library states really is.
    pub(super) fn find(&self, stated: &Path) -> Result<PathBuf, Failure> {
        let candidates: Vec<PathBuf> = match stated.is_absolute() {
            true => vec![stated.to_owned()],
            false => self.bases.iter().map(|base| base.join(stated)).collect(),
        };
        let mut is_there = false;
        for candidate in candidates {
            if is_of_another_machine(&candidate) {
                continue;
            }
            let Ok(real) = fs_err::canonicalize(&candidate) else { continue };
            if self.roots.iter().any(|root| real.starts_with(root)) {
                return Ok(real);
            }
            is_there = true;
        }
        let why = match is_there {
            true => "it is outside the folders that this library may refer to",
            false => "there is no such file in the folders that this library may refer to",
        };
        Err(Failure {
            why: why.to_owned(),
            hint: Some("name the folder of its files with --attachments DIR".to_owned()),
        })
    }
}

/// `\\server\share` on Windows: only looking at it would speak to that server.
fn is_of_another_machine(path: &Path) -> bool {
    cfg!(windows) && path.to_string_lossy().starts_with(r"\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_library_stay_in_its_folders() {
        let home = tempfile::tempdir().expect("a folder");
        let at = |name: &str| home.path().join(name);
        for name in ["zotero/storage/KEY/a.pdf", "zotero/prefs.js", "papers/b.pdf", "secret.txt"] {
            fs_err::create_dir_all(at(name).parent().expect("in a folder")).expect("made");
            fs_err::write(at(name), "x").expect("written");
        }
        let (storage, base) = (at("zotero/storage"), at("zotero"));
        let own = Allowed::new(Some(&storage), &base, &[]);
        let real = |path: PathBuf| fs_err::canonicalize(path).expect("there");
        let found = |allowed: &Allowed, stated: &str| allowed.find(Path::new(stated)).ok();
        let stored = "storage/KEY/a.pdf";
        assert_eq!(found(&own, stored), Some(real(at("zotero/storage/KEY/a.pdf"))));
        for stated in [
            "../secret.txt",
            "prefs.js",
            "storage/KEY/../../prefs.js",
            "storage/KEY/../../../secret.txt",
            "../papers/b.pdf",
            "b.pdf",
            r"C:\papers\b.pdf",
            r"\\server\share\b.pdf",
        ] {
            assert_eq!(found(&own, stated), None, "{stated}");
        }
        let absolute = at("secret.txt").to_string_lossy().into_owned();
        let refused = own.find(Path::new(&absolute)).expect_err("outside");
        assert!(refused.why.contains("outside") && refused.hint.is_some());
        let named = Allowed::new(Some(&storage), &base, &[at("papers")]);
        assert_eq!(found(&named, "b.pdf"), Some(real(at("papers/b.pdf"))));
        let absolute = at("papers/b.pdf").to_string_lossy().into_owned();
        assert_eq!(found(&named, &absolute), Some(real(at("papers/b.pdf"))));
        assert_eq!(found(&named, "../secret.txt"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_a_folder_does_not_lead_out_of_it() {
        let home = tempfile::tempdir().expect("a folder");
        fs_err::create_dir_all(home.path().join("list")).expect("made");
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("list/a.txt")).expect("linked");
        let list = home.path().join("list");
        assert!(Allowed::new(Some(&list), &list, &[]).find(Path::new("a.txt")).is_err());
    }
}
