//! Does evidence support a claim?

use async_trait::async_trait;
use scholar_core::{Attributor, Judgement, PortError, PortErrorKind, Verdict};

use super::{JudgePin, Judged};

/// Judges of the citation scores.
#[async_trait]
pub trait SupportJudge: Send + Sync {
    /// Which judge it is.
    fn pin(&self) -> JudgePin;

    /// For each `(claim, evidence)` pair, in order, whether the evidence supports the claim.
    ///
    /// # Errors
    /// When the judge cannot run. A reply that cannot be read is a value.
    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError>;
}

/// The [`Attributor`] port as a judge: only [`Verdict::Supported`] supports. Partial support counts as none, as
/// anything but `Attributable` does in the reference scorer.
pub struct AttributorJudge<'a> {
    attributor: &'a dyn Attributor,
}

impl<'a> AttributorJudge<'a> {
    /// A [`SupportJudge`] that takes its verdicts from `attributor`.
    pub fn new(attributor: &'a dyn Attributor) -> Self {
        Self { attributor }
    }

    async fn one_by_one(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        let mut judged = Vec::with_capacity(pairs.len());
        for pair in pairs {
            judged.push(match self.attributor.judge(std::slice::from_ref(pair)).await {
                Ok(one) => one.first().copied().map_or_else(missing, supported),
                Err(error) if error.kind() == PortErrorKind::Corrupt => {
                    Judged::Unreadable(error.to_string())
                }
                Err(error) => return Err(error),
            });
        }
        Ok(judged)
    }
}

#[async_trait]
impl SupportJudge for AttributorJudge<'_> {
    fn pin(&self) -> JudgePin {
        JudgePin {
            name: self.attributor.name().to_owned(),
            way: "verdict \"supported\"".to_owned(),
            prompts: Vec::new(),
        }
    }

    /// All pairs at once, as fast as the judge can. If one reply makes it fail, each pair is asked alone, so that the
    /// others are not lost.
    async fn supports(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judged<bool>>, PortError> {
        if pairs.is_empty() {
            return Ok(Vec::new());
        }
        match self.attributor.judge(pairs).await {
            Ok(judged) if judged.len() == pairs.len() => {
                Ok(judged.into_iter().map(supported).collect())
            }
            Ok(_) => self.one_by_one(pairs).await,
            Err(error) if error.kind() == PortErrorKind::Corrupt => self.one_by_one(pairs).await,
            Err(error) => Err(error),
        }
    }
}

fn supported(judgement: Judgement) -> Judged<bool> {
    Judged::Read(judgement.verdict == Verdict::Supported)
}

fn missing() -> Judged<bool> {
    Judged::Unreadable("the judge gave no verdict".to_owned())
}

#[cfg(test)]
mod tests;
