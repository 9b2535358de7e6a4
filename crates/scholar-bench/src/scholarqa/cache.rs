//! Verdicts on disk: a judge is asked once about a pair, however often a run is scored. Replies that could not be read are
//! asked again.

use std::path::Path;

use async_trait::async_trait;
use scholar_core::PortError;

use super::json::DataError;
use crate::judge::memory::{Memory, key};
use crate::judge::support::SupportJudge;
use crate::judge::{JudgePin, Judged};

/// Pairs asked about before their verdicts are kept. Ours: a local model takes seconds for each.
const BATCH: usize = 16;

/// A judge that remembers.
pub struct CachedJudge<'a> {
    judge: &'a dyn SupportJudge,
    pin: JudgePin,
    known: Memory<bool>,
}

impl<'a> CachedJudge<'a> {
    /// Asks `judge` for what the file at `path` does not hold and adds it there; `None` remembers while it lives. The pin is
    /// the judge's own with `prompts`.
    ///
    /// # Errors
    /// [`DataError::Read`] when the file cannot be read or written.
    pub fn new(
        judge: &'a dyn SupportJudge,
        prompts: Vec<String>,
        path: Option<&Path>,
    ) -> Result<Self, DataError> {
        let mut pin = judge.pin();
        pin.prompts.extend(prompts);
        let known = match path {
            None => Memory::default(),
            Some(path) => Memory::open(path)
                .map_err(|source| DataError::Read { path: path.to_owned(), source })?,
        };
        Ok(Self { judge, pin, known })
    }

    /// Verdicts known so far.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether nothing is known yet.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn key(&self, claim: &str, evidence: &str) -> String {
        let prompts = self.pin.prompts.iter().map(String::as_str);
        key([self.pin.name.as_str(), claim, evidence].into_iter().chain(prompts))
    }
}

#[async_trait]
impl SupportJudge for CachedJudge<'_> {
    fn pin(&self) -> JudgePin {
        self.pin.clone()
    }

    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        let keys: Vec<String> =
            pairs.iter().map(|(claim, evidence)| self.key(claim, evidence)).collect();
        let mut verdicts: Vec<Option<Judged<bool>>> =
            keys.iter().map(|key| self.known.get(key).map(Judged::Read)).collect();
        let open: Vec<usize> = (0..pairs.len()).filter(|nth| verdicts[*nth].is_none()).collect();
        for batch in open.chunks(BATCH) {
            let asked: Vec<(&str, &str)> = batch.iter().map(|nth| pairs[*nth]).collect();
            let said = self.judge.supports(&asked).await?;
            for (nth, verdict) in batch.iter().zip(said) {
                if let Judged::Read(verdict) = &verdict {
                    self.known.keep(keys[*nth].clone(), *verdict);
                }
                verdicts[*nth] = Some(verdict);
            }
        }
        let missing = || Judged::Unreadable("the judge gave no verdict".to_owned());
        Ok(verdicts.into_iter().map(|verdict| verdict.unwrap_or_else(missing)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;
    use parking_lot::Mutex;

    struct Counting(Mutex<usize>);

    #[async_trait]
    impl SupportJudge for Counting {
        fn pin(&self) -> JudgePin {
            JudgePin { name: "counting/1".to_owned(), way: "odd".to_owned(), prompts: Vec::new() }
        }

        async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
            *self.0.lock() += pairs.len();
            let verdict = |(claim, evidence): &(&str, &str)| match *claim {
                "unreadable" => Judged::Unreadable("?".to_owned()),
                claim => Judged::Read(claim == *evidence),
            };
            Ok(pairs.iter().map(verdict).collect())
        }
    }

    #[test]
    fn a_pair_is_asked_once_even_by_the_next_process() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("verdicts.jsonl");
        let judge = Counting(Mutex::new(0));
        let pairs = [("a", "a"), ("a", "b"), ("unreadable", "x")];
        let expected =
            [Judged::Read(true), Judged::Read(false), Judged::Unreadable("?".to_owned())];
        {
            let cached =
                CachedJudge::new(&judge, vec!["p@1".to_owned()], Some(&path)).expect("new");
            assert_eq!(block_on(cached.supports(&pairs)).expect("asked"), expected);
            assert_eq!((*judge.0.lock(), cached.len()), (3, 2));
        }
        let text = fs_err::read_to_string(&path).expect("kept");
        fs_err::write(&path, format!("{text}{{\"key\": \"torn")).expect("written");
        let cached = CachedJudge::new(&judge, vec!["p@1".to_owned()], Some(&path)).expect("again");
        assert_eq!(block_on(cached.supports(&pairs)).expect("asked"), expected);
        assert_eq!(*judge.0.lock(), 4, "only what could not be read");
        let other = CachedJudge::new(&judge, vec!["p@2".to_owned()], Some(&path)).expect("another");
        block_on(other.supports(&pairs)).expect("asked");
        assert_eq!(*judge.0.lock(), 7, "another prompt is another judge");
    }
}
