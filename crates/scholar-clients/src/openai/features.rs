//! What a server may refuse, and what is done without it.

use scholar_core::{Notice, NoticeKind};

/// An optional part of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    /// `response_format` in its present form; one step down the ladder.
    ResponseFormat,
    /// Token counts in streams.
    StreamUsage,
    /// Streaming itself.
    Stream,
    /// `max_tokens` under its old name.
    MaxTokens,
    /// A fixed seed.
    Seed,
    /// A temperature other than the model's own.
    Temperature,
    /// Nucleus sampling.
    TopP,
    /// Stop strings by the server.
    Stop,
}

/// How JSON is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum JsonMode {
    /// In words only.
    Words,
    /// In words, and the server guarantees some JSON object.
    Object,
    /// The server enforces the schema.
    Schema,
}

/// What is still believed to be offered. Things are dropped, never taken back, so negotiation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of one protocol")]
pub(super) struct Features {
    pub(super) json: JsonMode,
    pub(super) stream_usage: bool,
    pub(super) stream: bool,
    pub(super) old_max_tokens: bool,
    pub(super) seed: bool,
    pub(super) temperature: bool,
    pub(super) top_p: bool,
    pub(super) stop: bool,
}

impl Features {
    /// Everything.
    pub(super) fn all() -> Self {
        Self {
            json: JsonMode::Schema,
            stream_usage: true,
            stream: true,
            old_max_tokens: true,
            seed: true,
            temperature: true,
            top_p: true,
            stop: true,
        }
    }

    /// Drops `feature` as it was in `used`, the features of the refused request. `None` when a request beside this one
    /// has dropped it already.
    pub(super) fn drop_feature(&mut self, feature: Feature, used: Self) -> Option<Notice> {
        let before = *self;
        let message = match feature {
            Feature::ResponseFormat => {
                let lower = match used.json {
                    JsonMode::Schema => JsonMode::Object,
                    JsonMode::Object | JsonMode::Words => JsonMode::Words,
                };
                self.json = self.json.min(lower);
                match lower {
                    JsonMode::Object => {
                        "the server takes no JSON schema: any JSON object is asked for and checked here"
                    }
                    _ => {
                        "the server cannot guarantee JSON: it is asked for in words and checked here"
                    }
                }
            }
            Feature::StreamUsage => {
                self.stream_usage = false;
                "the server counts no tokens while streaming: they are estimated"
            }
            Feature::Stream => {
                self.stream = false;
                "the server does not stream: replies come in one piece"
            }
            Feature::MaxTokens => {
                self.old_max_tokens = false;
                "the server wants max_completion_tokens instead of max_tokens"
            }
            Feature::Seed => {
                self.seed = false;
                "the server takes no seed: replies are not reproducible"
            }
            Feature::Temperature => {
                self.temperature = false;
                "the server takes no temperature: the model's own is used"
            }
            Feature::TopP => {
                self.top_p = false;
                "the server takes no top_p: the model's own is used"
            }
            Feature::Stop => {
                self.stop = false;
                "the server takes no stop strings: replies are cut here"
            }
        };
        (*self != before).then(|| Notice::new(NoticeKind::Weak, message))
    }

    /// The optional part of a request with these features that a refusal with `message` is about.
    pub(super) fn blamed(self, message: &str, json_wanted: bool) -> Option<Feature> {
        let message = message.to_lowercase();
        let about = |words: &[&str]| words.iter().any(|word| message.contains(word));
        // Nothing left out makes a prompt shorter.
        if about(&[
            "context length",
            "context_length",
            "context window",
            "too long",
            "too many tokens",
        ]) {
            return None;
        }
        let json = json_wanted && self.json > JsonMode::Words;
        let candidates = [
            (
                Feature::StreamUsage,
                self.stream && self.stream_usage,
                &["stream_options", "include_usage"][..],
            ),
            (Feature::MaxTokens, self.old_max_tokens, &["max_completion_tokens"][..]),
            (
                Feature::ResponseFormat,
                json,
                &["response_format", "json_schema", "json_object", "schema", "grammar"][..],
            ),
            (Feature::Seed, self.seed, &["seed"][..]),
            (Feature::Temperature, self.temperature, &["temperature"][..]),
            (Feature::TopP, self.top_p, &["top_p"][..]),
            (
                Feature::Stop,
                self.stop,
                &["`stop`", "'stop'", "\"stop\"", "stop sequence", ": stop"][..],
            ),
            (Feature::Stream, self.stream, &["stream"][..]),
        ];
        let named = candidates.iter().find(|(_, offered, words)| *offered && about(words));
        // A refusal that names nothing while a format was asked for is most often about the format.
        named.map(|(feature, _, _)| *feature).or_else(|| json.then_some(Feature::ResponseFormat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_blamed_on_what_it_names() {
        let all = Features::all();
        let check = |message: &str, json: bool, expect: Option<Feature>| {
            assert_eq!(all.blamed(message, json), expect, "{message}");
        };
        check("Unknown field: stream_options", false, Some(Feature::StreamUsage));
        check("response_format is not supported", true, Some(Feature::ResponseFormat));
        check(
            "Use 'max_completion_tokens' instead of 'max_tokens'",
            false,
            Some(Feature::MaxTokens),
        );
        check("Unsupported value: 'temperature'", false, Some(Feature::Temperature));
        check("bad request", true, Some(Feature::ResponseFormat));
        check("bad request", false, None);
        check("maximum context length exceeded, response_format", true, None);
    }

    #[test]
    fn json_goes_down_the_ladder_once_per_refused_form() {
        let mut features = Features::all();
        let schema = features;
        assert!(features.drop_feature(Feature::ResponseFormat, schema).is_some());
        assert_eq!(features.json, JsonMode::Object);
        assert!(
            features.drop_feature(Feature::ResponseFormat, schema).is_none(),
            "asked in parallel"
        );
        let object = features;
        assert!(features.drop_feature(Feature::ResponseFormat, object).is_some());
        assert_eq!(features.json, JsonMode::Words);
    }
}
