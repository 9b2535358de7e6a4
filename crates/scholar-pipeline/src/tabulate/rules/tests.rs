//! What the rules find in sentences of each kind.

use super::super::column::Property;
use super::super::sheet::lines;
use super::super::sheet::tests::passage;
use super::*;

/// The best span for `property` in one section of one sentence.
fn best(property: Property, section: &str, text: &str) -> Option<String> {
    let passages = [passage(0, section, text)];
    let lines = lines(&passages);
    let mut found: Vec<Candidate> =
        lines.iter().enumerate().flat_map(|(at, line)| candidates(line, at, &[property])).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    found.first().map(|one| text[one.span.clone()].to_owned())
}

#[test]
fn trials_state_their_parts() {
    let check = |property, section, text, expected: Option<&str>| {
        assert_eq!(best(property, section, text).as_deref(), expected, "{property:?}: {text}");
    };
    let abstract_ = "Abstract";
    check(
        Property::SampleSize,
        abstract_,
        "We randomly assigned 340 older adults to vitamin D or placebo.",
        Some("340 older adults"),
    );
    check(
        Property::SampleSize,
        abstract_,
        "Thirty healthy volunteers attended two sessions.",
        Some("Thirty healthy volunteers"),
    );
    check(Property::SampleSize, "Methods", "A sample size of 200 patients was required.", None);
    check(
        Property::Comparator,
        abstract_,
        "Patients received aspirin or placebo.",
        Some("placebo"),
    );
    check(
        Property::Comparator,
        abstract_,
        "Massage was compared with usual care.",
        Some("usual care"),
    );
    check(
        Property::Intervention,
        abstract_,
        "The effect of oral zinc on diarrhoea was studied.",
        Some("oral zinc"),
    );
    check(
        Property::Intervention,
        abstract_,
        "Children were randomised to receive zinc sulphate or placebo.",
        Some("zinc sulphate"),
    );
    check(
        Property::Outcome,
        "Methods",
        "The primary outcome was the duration of diarrhoea.",
        Some("duration of diarrhoea"),
    );
    check(
        Property::FollowUp,
        abstract_,
        "Patients were followed up for 12 months.",
        Some("12 months"),
    );
    check(
        Property::Funding,
        "Acknowledgements",
        "This study was supported by the Wellcome Trust.",
        Some("Wellcome Trust"),
    );
    check(
        Property::Registration,
        abstract_,
        "Trial registration: NCT01234567.",
        Some("NCT01234567"),
    );
    check(
        Property::Design,
        abstract_,
        "A randomized, double-blind, placebo-controlled trial was done.",
        Some("randomized, double-blind, placebo-controlled trial"),
    );
    check(Property::Design, abstract_, "Larger randomised controlled trials are needed.", None);
}

#[test]
fn methods_and_data_sets_state_their_parts() {
    let check = |property, text, expected: Option<&str>| {
        assert_eq!(best(property, "Abstract", text).as_deref(), expected, "{property:?}: {text}");
    };
    check(
        Property::Method,
        "We propose a graph-based parser that reads trees.",
        Some("graph-based parser"),
    );
    check(Property::Metric, "It gains 2 BLEU points.", Some("BLEU"));
    check(
        Property::Baseline,
        "It outperforms a strong Transformer baseline on all tasks.",
        Some("strong Transformer baseline"),
    );
    check(Property::Size, "It has 12,500 annotated sentences.", Some("12,500 annotated sentences"));
    check(Property::Licence, "Released under CC BY-SA 4.0.", Some("CC BY-SA 4.0"));
    check(
        Property::Availability,
        "The corpus is available at https://example.org/corpus.",
        Some("https://example.org/corpus"),
    );
    check(Property::Limitation, "We went home.", None);
}
