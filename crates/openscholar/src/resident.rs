//! Models and datastores that stay open: a server opens each once. A command that answers once keeps nothing.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// What is kept, by what it is and the name it was asked for by.
#[derive(Default)]
pub(crate) struct Resident {
    is_on: AtomicBool,
    kept: Mutex<HashMap<(TypeId, String), Arc<dyn Any + Send + Sync>>>,
}

impl Resident {
    /// From now on what is opened stays open.
    pub(crate) fn keep(&self) {
        self.is_on.store(true, Ordering::Release);
    }

    /// Whether it is a server that runs.
    pub(crate) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Acquire)
    }

    /// What is kept under `name`, or else what `open` opens. Two who come first at the same time both open it, and the later
    /// one's is kept.
    pub(crate) async fn or_open<T: Clone + Send + Sync + 'static, E>(
        &self,
        name: &str,
        open: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        if !self.is_on() {
            return open.await;
        }
        let key = (TypeId::of::<T>(), name.to_owned());
        let found = self.kept.lock().get(&key).cloned();
        if let Some(kept) = found.and_then(|kept| kept.downcast_ref::<T>().cloned()) {
            return Ok(kept);
        }
        let opened = open.await?;
        self.kept.lock().insert(key, Arc::new(opened.clone()));
        Ok(opened)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::atomic::AtomicUsize;

    use futures::FutureExt as _;

    use super::*;

    #[test]
    fn what_is_opened_stays_open_once_that_was_asked_for() {
        let resident = Resident::default();
        let n_opened = AtomicUsize::new(0);
        let opened = |name: &str| {
            let open = async { Ok::<_, Infallible>(n_opened.fetch_add(1, Ordering::Relaxed)) };
            resident.or_open(name, open).now_or_never().expect("at once").expect("opened")
        };
        assert_eq!([opened("a"), opened("a")], [0, 1], "nothing is kept");
        resident.keep();
        assert_eq!([opened("a"), opened("b"), opened("a")], [2, 3, 2]);
        let other = resident.or_open("a", async { Ok::<_, Infallible>("another kind") });
        assert_eq!(other.now_or_never().expect("at once"), Ok("another kind"));
    }
}
