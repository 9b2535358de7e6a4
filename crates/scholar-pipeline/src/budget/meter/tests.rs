use scholar_core::{OutputShape, Sampling};
use scholar_testing::{Reply, ScriptedGenerator};

use super::*;
use crate::clock::stopped_clock;

fn request(words: usize, max_tokens: usize) -> GenerationRequest {
    GenerationRequest {
        purpose: "draft".to_owned(),
        messages: vec![Message::user("word ".repeat(words))],
        sampling: Sampling::greedy(max_tokens),
        shape: OutputShape::Text,
    }
}

/// A model that repeats the reply limit it was given, so that lowering shows.
fn echo() -> Arc<dyn Generator> {
    let limit = |request: &GenerationRequest| Reply::Text(request.sampling.max_tokens.to_string());
    let repair = format!("repair {RESERVED_PURPOSE}");
    let priced = ScriptedGenerator::new("m").answer("draft", limit).answer(&repair, limit);
    Arc::new(priced.with_info(|info| info.usd_per_million = Some((1.0, 10.0))))
}

async fn reply(generator: &Arc<dyn Generator>, words: usize) -> Result<String, BudgetExceeded> {
    match generator.generate(&request(words, 1_000), &|_| {}).await {
        Ok(generation) => Ok(generation.text),
        Err(error) => Err(BudgetExceeded::behind(&error).expect("refused by the meter")),
    }
}

#[tokio::test]
async fn each_limit_lowers_the_reply_or_refuses_the_call() {
    let metered = |budget: Budget| Meter::start(budget, stopped_clock()).wrap(echo());
    let unlimited = Budget::unlimited();

    let calls = metered(Budget { max_calls: Some(1), ..unlimited });
    assert_eq!(reply(&calls, 10).await, Ok("1000".to_owned()));
    assert_eq!(reply(&calls, 10).await, Err(BudgetExceeded::Calls { limit: 1 }));

    let reserved = metered(Budget { max_calls: Some(2), reserved_calls: 1, ..unlimited });
    assert_eq!(reply(&reserved, 10).await, Ok("1000".to_owned()));
    assert_eq!(reply(&reserved, 10).await, Err(BudgetExceeded::Calls { limit: 2 }));
    let mut last = request(10, 1_000);
    last.purpose = format!("repair {RESERVED_PURPOSE}");
    assert!(reserved.generate(&last, &|_| {}).await.is_ok(), "kept for this call");

    let tokens = metered(Budget { max_tokens: Some(150), ..unlimited });
    assert_eq!(reply(&tokens, 50).await, Ok("100".to_owned()), "150 - 50");
    assert_eq!(reply(&tokens, 60).await, Ok("39".to_owned()), "150 - 51 - 60");
    assert_eq!(reply(&tokens, 60).await, Err(BudgetExceeded::Tokens { limit: 150 }));

    // 100 prompt tokens cost 0.0001, the rest pays 90 completion tokens.
    let cost = metered(Budget { max_cost: Some(0.001), ..unlimited });
    assert_eq!(reply(&cost, 100).await, Ok("90".to_owned()));
    assert_eq!(reply(&cost, 2_000).await, Err(BudgetExceeded::Cost { limit: 0.001 }));
}

#[tokio::test]
async fn an_unknown_price_cannot_keep_a_cost_limit() {
    let meter =
        Meter::start(Budget { max_cost: Some(1.0), ..Budget::unlimited() }, stopped_clock());
    let generator = meter.wrap(Arc::new(ScriptedGenerator::new("m").reply("draft", "x")));
    assert_eq!(reply(&generator, 1).await, Err(BudgetExceeded::UnknownPrice { limit: 1.0 }));
    assert_eq!(meter.spent().calls, 0);
}

#[tokio::test]
async fn a_reply_that_outlives_its_time_is_cut_and_counted() {
    let ticks = Arc::new(Mutex::new(0_u64));
    let clock: Clock = {
        let ticks = Arc::clone(&ticks);
        Arc::new(move || {
            let mut ticks = ticks.lock();
            *ticks += 1;
            Duration::from_secs(*ticks)
        })
    };
    // Start at 1 s; the call is admitted at 2 s, its rest of time read at 3 s; pieces arrive at 4, 5, 6 s.
    let meter = Meter::start(Budget { max_seconds: Some(4.0), ..Budget::unlimited() }, clock);
    let generator =
        meter.wrap(Arc::new(ScriptedGenerator::new("m").reply("draft", "one two three four")));
    let cut = generator.generate(&request(1, 100), &|_| {}).await.expect("a partial reply");
    assert_eq!((cut.text.as_str(), cut.finish), ("one two ", FinishReason::Length));
    assert_eq!(cut.usage, TokenUsage { prompt: 1, completion: 2 });
    assert_eq!(meter.exceeded(), Some(BudgetExceeded::Seconds { limit: 4.0 }));
    assert_eq!(reply(&generator, 1).await, Err(BudgetExceeded::Seconds { limit: 4.0 }));
    assert_eq!(meter.spent().calls, 1);
}
