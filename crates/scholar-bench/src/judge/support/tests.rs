use scholar_testing::FakeAttributor;

use super::*;

/// Fails on the whole of a batch with the word, as a model judge does.
struct Stumbling {
    word: &'static str,
    kind: PortErrorKind,
}

#[async_trait]
impl Attributor for Stumbling {
    fn name(&self) -> &'static str {
        "stumbling/1"
    }

    async fn judge(&self, pairs: &[(&str, &str)]) -> Result<Vec<Judgement>, PortError> {
        if pairs.iter().any(|(claim, _)| claim.contains(self.word)) {
            return Err(PortError::new(self.kind, "the reply is not a verdict"));
        }
        Ok(pairs.iter().map(|_| Judgement { verdict: Verdict::Supported, score: 1.0 }).collect())
    }
}

#[tokio::test]
async fn only_full_support_counts() {
    let attributor = FakeAttributor::new()
        .ruling("half", Verdict::Partial)
        .ruling("full", Verdict::Supported)
        .ruling("opposite", Verdict::Contradicted);
    let judge = AttributorJudge::new(&attributor);
    let judged = judge
        .supports(&[("full", "full"), ("half", "half"), ("opposite", "opposite")])
        .await
        .expect("the judge runs");
    assert_eq!(judged, [Judged::Read(true), Judged::Read(false), Judged::Read(false)]);
    assert_eq!(judge.pin().name, attributor.name());
}

#[tokio::test]
async fn one_unreadable_verdict_costs_itself_only() {
    let attributor = Stumbling { word: "odd", kind: PortErrorKind::Corrupt };
    let judge = AttributorJudge::new(&attributor);
    let judged =
        judge.supports(&[("a", "e"), ("odd", "e"), ("b", "e")]).await.expect("values, no failure");
    assert_eq!(judged[0], Judged::Read(true));
    assert!(matches!(&judged[1], Judged::Unreadable(why) if why.contains("not a verdict")));
    assert_eq!(judged[2], Judged::Read(true));
}

#[tokio::test]
async fn a_dead_judge_is_an_error() {
    let attributor = Stumbling { word: "a", kind: PortErrorKind::Unavailable };
    let judge = AttributorJudge::new(&attributor);
    let error = judge.supports(&[("a", "e")]).await.expect_err("it cannot run");
    assert_eq!(error.kind(), PortErrorKind::Unavailable);
}
