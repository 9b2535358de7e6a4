use proptest::prelude::*;

use super::*;

fn check(quote: &str, source: &str, expect: Option<&str>) {
    let found =
        locate(quote, source).map(|span| span.slice(source).expect("span lies in the source"));
    assert_eq!(found, expect, "{quote:?} in {source:?}");
}

#[test]
fn printing_differences_are_bridged() {
    check("gain of 3.5 %", "We saw a gain of 3.5% here.", Some("gain of 3.5%"));
    check(
        "the international effort",
        "the inter-\nnational effort",
        Some("the inter-\nnational effort"),
    );
    check("state-of-the-art", "a state‐of‐the\u{ad}-art model", Some("state‐of‐the\u{ad}-art"));
    check("“efficient” café", "an \"eﬃcient\"  cafe\u{301} model", Some("eﬃcient\"  cafe\u{301}"));
    check("r = -0.5", "with r = −0.5 overall", Some("r = −0.5"));
    check("ΔΨ — the potential", "the ΔΨ–the potential", Some("ΔΨ–the potential"));
    check("\"… models fail ...\"", "Many models fail often.", Some("models fail"));
    check("Models fail.", "Many models fail, often.", Some("models fail"));
}

#[test]
fn markers_may_be_missing_on_either_side() {
    check("cells grow and die", "cells grow [12] and die [3-5].", Some("cells grow [12] and die"));
    check("cells grow [0, 2] and", "cells grow and die", None);
    check("cells grow [1, 2] and", "cells grow and die", Some("cells grow and"));
    check(
        "cells grow and",
        "cells grow (Smith et al., 2020; Ng, 2019) and",
        Some("cells grow (Smith et al., 2020; Ng, 2019) and"),
    );
    check("cells grow and", "cells grow (in mice, 2020) and", None);
}

#[test]
fn what_was_not_said_is_not_found() {
    check("r = 0.5", "with r = −0.5 overall", None);
    check("it is notable", "it is not able", None);
    check("art is", "the start is here", None);
    check("cafe", "the café", None);
    check("5 mg", "of 15 mg daily", None);
    check("the cat", "the black cat", None);
    check("arr[0] is", "arr[1] is", None);
    check("a…", "a b", None);
    check("", "text", None);
    check("models work", "models ... work", None);
}

#[test]
fn places_printed_differently_are_ambiguous() {
    check("the model", "The model and THE MODEL", None);
    check("the model", "The model and the model", Some("the model"));
    assert_eq!(locate("a model", "It is a model, a model."), Some(CharSpan::new(6, 13)));
    check("long-term use", "long–term use or long—term use", None);
}

/// Words that cannot be mistaken for one another once hyphens and spaces are changed.
fn source() -> impl Strategy<Value = Vec<String>> {
    proptest::collection::vec("[a-zéα]{4,9}", 6..30).prop_map(|words| {
        words.into_iter().enumerate().map(|(n, word)| format!("{word}{n}x")).collect()
    })
}

proptest! {
    #[test]
    fn a_mutated_slice_is_found_where_it_was(
        words in source(),
        cut in (0_usize..100, 1_usize..100),
        spaces in proptest::collection::vec(0_usize..5, 30),
        quote_side: bool,
    ) {
        let start = cut.0 % words.len();
        let end = (start + 1 + cut.1 % 8).min(words.len());
        let mutated = |words: &[String]| -> String {
            words.iter().enumerate().map(|(n, word)| {
                let gap = match spaces[n % spaces.len()] {
                    0 => "  ",
                    1 => "\n",
                    2 => " [3, 4] ",
                    3 => "\u{a0}",
                    _ => " ",
                };
                let (head, tail) = word.split_at(word.char_indices().nth(2).expect("four letters").0);
                let hyphen = if spaces[(n + 7) % spaces.len()] == 0 { "-\n" } else { "" };
                let gap = if n == 0 { "" } else { gap };
                format!("{gap}{head}{hyphen}{tail}")
            }).collect()
        };
        let plain = words.join(" ");
        if quote_side {
            let span = locate(&mutated(&words[start..end]), &plain);
            let expect = words[start..end].join(" ");
            prop_assert_eq!(span.and_then(|s| s.slice(&plain)), Some(expect.as_str()));
        } else {
            let whole = mutated(&words);
            let quote = words[start..end].join(" ");
            let span = locate(&quote, &whole);
            let found = span.and_then(|s| s.slice(&whole)).unwrap_or("");
            let back = crate::text::normalise::single_spaced(
                &crate::text::markers::strip_citations(found).replace("-\n", ""),
            );
            prop_assert_eq!(back, quote);
        }
    }

    #[test]
    fn unrelated_text_is_never_found(words in source(), other in "[b-y]{3,8} [b-y]{3,8} [b-y]{3,8}") {
        // Every word of the source ends in a number, so three plain words in a row cannot occur.
        prop_assert_eq!(locate(&other, &words.join(" ")), None);
    }

    #[test]
    fn any_text_is_accepted(quote in "\\PC{0,20}", source in "\\PC{0,40}") {
        if let Some(span) = locate(&quote, &source) {
            prop_assert!(span.slice(&source).is_some());
        }
    }
}
