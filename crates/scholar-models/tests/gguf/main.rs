//! The embedded generator through its port, on tiny random models (`golden/make_tiny.py`).
#![expect(clippy::unwrap_used, reason = "a failure is the test's result")]

use std::path::{Path, PathBuf};
use std::task::{Context, Waker};

use futures::executor::block_on;
use futures::future::join_all;
use parking_lot::Mutex;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator as _, GeneratorStrength, Message,
    OutputShape, PortError, PortErrorKind, Sampling,
};
use scholar_models::gguf::{GgufGenerator, GgufOptions};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/gguf/golden").join(name)
}

fn qwen2() -> GgufGenerator {
    GgufGenerator::open(&golden("tiny-qwen2-q8.gguf"), GgufOptions::laptop()).unwrap()
}

fn request(prompt: &str, sampling: Sampling) -> GenerationRequest {
    GenerationRequest {
        purpose: "test".to_owned(),
        messages: vec![Message::user(prompt)],
        sampling,
        shape: OutputShape::Text,
    }
}

/// The pieces as they came, and the reply.
fn ask(
    generator: &GgufGenerator,
    request: &GenerationRequest,
) -> (Vec<String>, Result<Generation, PortError>) {
    let pieces = Mutex::new(Vec::new());
    let on_text = |text: &str| pieces.lock().push(text.to_owned());
    let reply = block_on(generator.generate(request, &on_text));
    (pieces.into_inner(), reply)
}

#[test]
fn a_reply_streams_its_own_text_and_counts_its_tokens() {
    let generator = qwen2();
    let (pieces, reply) = ask(&generator, &request("the thing", Sampling::greedy(20)));
    let reply = reply.unwrap();
    assert_eq!(pieces.concat(), reply.text);
    assert!(reply.usage.completion <= 20 && reply.usage.completion > 0);
    assert_eq!(reply.model, "tiny qwen2");
    // Template and content are tokenized together: three special tokens, then words.
    let words = "user\nthe thing".len() + "\n".len() + "assistant\n".len();
    assert!((reply.usage.prompt as usize) < words && reply.usage.prompt > 10);
    let again = ask(&generator, &request("the thing", Sampling::greedy(20))).1.unwrap();
    assert_eq!(again, reply);
    let info = generator.info();
    assert_eq!((info.context_tokens, info.local), (512, true));
    assert_eq!(info.strength, GeneratorStrength::Small);
}

#[test]
fn a_reply_ends_before_a_stop_string_and_at_the_token_limit() {
    let generator = qwen2();
    let free = ask(&generator, &request("stop here", Sampling::greedy(24))).1.unwrap();
    let cut = ask(&generator, &request("stop here", Sampling::greedy(3))).1.unwrap();
    assert_eq!((cut.finish, cut.usage.completion), (FinishReason::Length, 3));
    // A random model also writes bytes that are no text; the stop string is made of what is.
    let stop = free.text.chars().skip(3).find(char::is_ascii_graphic).unwrap().to_string();
    let sampling = Sampling { stop: vec![stop.clone()], ..Sampling::greedy(24) };
    let (pieces, stopped) = ask(&generator, &request("stop here", sampling));
    let stopped = stopped.unwrap();
    assert_eq!(stopped.finish, FinishReason::Stop);
    assert_eq!(stopped.text, free.text[..free.text.find(&stop).unwrap()]);
    assert_eq!(pieces.concat(), stopped.text);
}

#[test]
fn a_prompt_longer_than_the_context_is_refused_with_both_counts() {
    let (pieces, reply) = ask(&qwen2(), &request(&"the ".repeat(2000), Sampling::greedy(4)));
    let error = reply.unwrap_err();
    assert!(pieces.is_empty());
    assert_eq!(error.kind(), PortErrorKind::Rejected);
    assert!(error.to_string().contains("512"), "{error}");
    assert!(error.to_string().contains("20"), "{error}");
}

#[test]
fn a_schema_that_cannot_be_enforced_is_refused_with_the_reason() {
    let schema = serde_json::json!({ "type": "string", "not": { "type": "null" }, "x": 1, "$ref": "#/nowhere" });
    let shape = OutputShape::Json { name: "odd".to_owned(), schema };
    let request = GenerationRequest { shape, ..request("go", Sampling::greedy(8)) };
    let error = ask(&qwen2(), &request).1.unwrap_err();
    assert_eq!(error.kind(), PortErrorKind::Rejected);
    assert!(!std::error::Error::source(&error).unwrap().to_string().is_empty());
}

#[test]
fn choices_are_probabilities_and_a_common_name_changes_nothing() {
    let generator = qwen2();
    let messages = [Message::system("judge"), Message::user("is it so?")];
    let choose = |choices: &[&str]| block_on(generator.choose("judge", &messages, choices));
    let weights = choose(&["yes", "no", "[12]", "[13]"]).unwrap();
    let total: f32 = weights.iter().map(|weight| weight.exp()).sum();
    assert!((total - 1.0).abs() < 1e-4, "{weights:?}");
    let turned = choose(&["[13]", "[12]", "no", "yes"]).unwrap();
    for (a, b) in weights.iter().zip(turned.iter().rev()) {
        assert!((a - b).abs() < 2e-2, "{weights:?} {turned:?}");
    }
    for nothing in [&[][..], &[""]] {
        assert_eq!(choose(nothing).unwrap_err().kind(), PortErrorKind::Rejected);
    }
}

#[test]
fn a_dropped_call_stops_and_leaves_the_next_one_intact() {
    let generator = qwen2();
    let expected = ask(&generator, &request("after", Sampling::greedy(8))).1.unwrap();
    let long = request("before", Sampling::greedy(400));
    let on_text = |_: &str| ();
    let mut context = Context::from_waker(Waker::noop());
    let mut dropped: Vec<_> = (0..8).map(|_| generator.generate(&long, &on_text)).collect();
    for call in &mut dropped {
        assert!(call.as_mut().poll(&mut context).is_pending());
    }
    drop(dropped);
    assert_eq!(ask(&generator, &request("after", Sampling::greedy(8))).1.unwrap(), expected);
}

#[test]
fn a_full_queue_is_rate_limited_and_queued_calls_are_answered() {
    let options = GgufOptions { queue: 1, ..GgufOptions::laptop() };
    let generator = GgufGenerator::open(&golden("tiny-llama-f32.gguf"), options).unwrap();
    let request = request("many", Sampling::greedy(200));
    let on_text = |_: &str| ();
    let replies = block_on(join_all((0..64).map(|_| generator.generate(&request, &on_text))));
    let (answered, refused): (Vec<_>, Vec<_>) = replies.into_iter().partition(Result::is_ok);
    assert!(!answered.is_empty() && !refused.is_empty());
    for error in refused.into_iter().filter_map(Result::err) {
        assert!(matches!(error.kind(), PortErrorKind::RateLimited { .. }), "{error}");
    }
}
