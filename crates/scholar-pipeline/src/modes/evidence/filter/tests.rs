use super::*;
use crate::modes::evidence::config::EvidenceConfig;
use crate::modes::evidence::terms::Abbreviations;

fn check(sentence: &str, expect: Option<Reject>) {
    let reading = Reading::of("Does exercise help?", &Abbreviations::default());
    let rules = EvidenceConfig::digest().sentences;
    assert_eq!(reject(sentence, &rules, &reading), expect, "{sentence}");
}

#[test]
fn findings_pass() {
    for sentence in [
        "We find that retrieval augmentation reduces hallucination by 40% on open-domain questions.",
        "This study demonstrates that oat β-glucan lowers serum LDL cholesterol in adults.",
        "However, retrieval-augmented models still generate statements that the passages contradict.",
        "p53 mutations were associated with a worse outcome in patients over 60 years.",
        "We compared beam search with sampling and found that sampling hallucinates more often.",
        "There was no significant difference in pain between acupuncture and sham acupuncture [12].",
        "It is well known that neural models degrade when training data are scarce.",
        "We propose a retriever that is trained on synthetic questions in the target domain.",
    ] {
        check(sentence, None);
    }
}

#[test]
fn everything_else_is_left_out() {
    let left_out = [
        ("Exercise helps.", Reject::Length),
        (
            "of the patients in the exercise group improved after twelve weeks of training.",
            Reject::Fragment,
        ),
        ("The patients in the exercise group improved after twelve weeks of", Reject::Fragment),
        (
            "Do patients with severe disease benefit from a supervised exercise programme?",
            Reject::Question,
        ),
        (
            "Figure 3 Walking distance of both groups before and after the programme.",
            Reject::Display,
        ),
        ("Table 2 shows the results of all models on the five test sets.", Reject::Display),
        ("Age 45 (12) 47 (11) 0.31 BMI 27.1 (3) 26.9 (4) 0.62 Male 22 (51).", Reject::Display),
        (
            "This paper explores the use of language models for clinical notes in hospitals.",
            Reject::Announcement,
        ),
        (
            "In this section we describe the datasets that we used for training.",
            Reject::Announcement,
        ),
        (
            "The aim of this study was to evaluate the effect of singing on breathing.",
            Reject::Announcement,
        ),
        (
            "We investigate whether pre-trained models can be adapted to new languages quickly.",
            Reject::Announcement,
        ),
        (
            "All authors read and approved the final version of the manuscript before submission.",
            Reject::Boilerplate,
        ),
        (
            "The trial was registered at ClinicalTrials.gov before the first patient was enrolled.",
            Reject::Boilerplate,
        ),
        (
            "Our code and data are publicly available at https://example.org/repository/code for everyone.",
            Reject::Boilerplate,
        ),
        (
            "Smith JA, Jones B: Exercise in the elderly, a review of trials and cohorts.",
            Reject::Reference,
        ),
        (
            "These results suggest that exercise improves the quality of life of patients.",
            Reject::Anaphora,
        ),
        (
            "However, they also make more errors on questions about rare entities in text.",
            Reject::Anaphora,
        ),
        (
            "It improves accuracy by three points on all of the test sets we tried.",
            Reject::Anaphora,
        ),
        (
            "To address this issue, we propose a contrastive objective for sentence encoders.",
            Reject::Anaphora,
        ),
        (
            "Pain decreased significantly more in group B than in the control group.",
            Reject::Anaphora,
        ),
    ];
    for (sentence, reason) in left_out {
        check(sentence, Some(reason));
    }
}
