//! The one door to what tantivy reads: damage that makes it panic or fail becomes [`Error::Corrupt`] naming the file.
//!
//! tantivy trusts its files; a wrong byte in one makes it index out of bounds or divide by zero, in the thread that asked
//! or in one of a pool. [`reading`] catches that, then compares the checksums of the commit's files and names the first
//! that does not fit. Where all of them fit, the panic is a fault of this program and is told as one, with its place.
//!
//! What can read tantivy's files is kept in [`Guarded`], which in debug builds fails when it is used outside: tests find
//! what does not go through the door.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::sync::Once;

use super::Datastore;
use crate::error::Error;

thread_local! {
    /// How many doors this thread is inside of.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Where the last panic in this thread was.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Something that reads tantivy's files when it is used.
pub(crate) struct Guarded<T>(T);

impl<T> Guarded<T> {
    pub(crate) fn new(reader: T) -> Self {
        Self(reader)
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        assert!(DEPTH.get() > 0, "tantivy is read through guard::reading");
        &self.0
    }
}

/// Says that this thread is inside a door, until it is dropped: panics are not printed, because they are caught and told
/// as errors. Threads of a pool that read for a caller inside say so too.
pub(crate) struct Inside(());

impl Inside {
    pub(crate) fn enter() -> Self {
        keep_quiet_inside();
        DEPTH.set(DEPTH.get() + 1);
        Self(())
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get().saturating_sub(1));
    }
}

/// Reads from the datastore at `root`. Calls may be nested.
///
/// # Errors
/// Those of `read`; [`Error::Corrupt`] with the damaged file in place of any that does not name one; [`Error::Panicked`]
/// when it panicked and no file is damaged.
pub(crate) fn reading<T>(root: &Path, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let caught = {
        let _inside = Inside::enter();
        catch_unwind(AssertUnwindSafe(read))
    };
    let panicked = |panic: Box<dyn Any + Send>| Error::Panicked {
        path: root.to_owned(),
        what: message(panic.as_ref()),
        place: PLACE.take(),
    };
    let error = match caught {
        Ok(Ok(read)) => return Ok(read),
        Ok(Err(error)) if !may_be_damage(&error, root) => return Err(error),
        Ok(Err(error)) => error,
        Err(panic) => panicked(panic),
    };
    Err(damage(root).unwrap_or(error))
}

/// Reads something that is damaged, or may be: `None` when it panicked.
pub(crate) fn attempt<T>(read: impl FnOnce() -> T) -> Option<T> {
    let _inside = Inside::enter();
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// Whether an error may come from a damaged file that it does not name.
fn may_be_damage(error: &Error, root: &Path) -> bool {
    match error {
        Error::Index { doing, .. } => !matches!(*doing, "create" | "write" | "commit"),
        Error::Corrupt { path, .. } => path == root || !path.is_file(),
        Error::Io { doing: "read", path, .. } => path == root,
        _ => false,
    }
}

/// The first damaged file of the newest commit.
fn damage(root: &Path) -> Option<Error> {
    match attempt(|| Datastore::check_files(root, &mut |_| {})) {
        Some(Err(error @ (Error::Corrupt { .. } | Error::Io { .. } | Error::Version { .. }))) => {
            Some(error)
        }
        Some(_) | None => None,
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".to_owned())
}

/// Begins the names of tantivy's own threads: what panics there reaches the caller as an error.
const THREADS_OF_TANTIVY: [&str; 3] = ["merge_thread", "segment_updater", "thrd-tantivy"];

/// Lets panics inside be told as errors only. Any other panic is printed as before.
fn keep_quiet_inside() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic: &PanicHookInfo<'_>| {
            let thread = std::thread::current();
            let name = thread.name().unwrap_or_default();
            let is_tantivys = THREADS_OF_TANTIVY.iter().any(|theirs| name.starts_with(theirs));
            if DEPTH.get() == 0 && !is_tantivys {
                before(panic);
                return;
            }
            let place = panic.location().map(ToString::to_string).unwrap_or_default();
            tracing::info!(thread = name, place, "reading the index panicked: {panic}");
            PLACE.set(place);
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_over_whole_files_is_told_as_a_fault_with_its_place() {
        let folder = tempfile::tempdir().expect("temp dir");
        let broken = || -> Result<(), Error> { panic!("out of {}", "bounds") };
        let error = reading(folder.path(), broken).expect_err("told");
        let Error::Panicked { what, place, .. } = &error else { panic!("{error}") };
        assert_eq!(what, "out of bounds");
        assert!(place.contains("guard.rs"), "{place}");
        assert!(error.hint().is_some());
    }

    #[test]
    fn other_errors_pass_and_depth_is_left_as_it_was() {
        let folder = tempfile::tempdir().expect("temp dir");
        let locked = || Error::Locked { path: folder.path().to_owned(), holder: "h".to_owned() };
        let read = || reading(folder.path(), || reading(folder.path(), || Err::<(), _>(locked())));
        assert!(matches!(read(), Err(Error::Locked { .. })));
        assert_eq!(DEPTH.get(), 0);
        let guarded = Guarded::new(7);
        assert_eq!(reading(folder.path(), || Ok(*guarded)).expect("read"), 7);
    }

    #[test]
    #[should_panic(expected = "through guard::reading")]
    fn what_is_guarded_is_not_read_outside() {
        let guarded = Guarded::new(7);
        let _read: i32 = *guarded;
    }
}
