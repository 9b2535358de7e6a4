use super::*;

#[test]
fn whatever_can_be_followed_is_taken_out() {
    let check = |text: &str, expected: &str, n: usize| {
        let (found, removed) = without_links(text);
        assert_eq!((single_spaced(&found).as_str(), removed), (expected, n), "{text}");
    };
    check(
        "It works [(Smith, 2020)](https://evil.example/x) [E1].",
        "It works (Smith, 2020) [E1].",
        1,
    );
    check("See https://a.example/b, and www.c.org.", "See , and .", 2);
    check("Justhttps://x.example/ it.", "it.", 1);
    check("As doi:10.1/x says.", "As says.", 1);
    check("Gains of 3 points [E2].", "Gains of 3 points [E2].", 0);
    check("Known [12] and [3, 4].", "Known and.", 0);
}

#[test]
fn keys_are_read_in_the_forms_that_models_write() {
    let check = |text: &str, keys: &[&str], words: &str| {
        let (found, rest) = keys_of(text);
        assert_eq!((found, rest.as_str()), (keys.iter().map(|&k| k.to_owned()).collect(), words));
    };
    check("A helps [E1].", &["E1"], "A helps.");
    check("A helps [E1, E2; 4] B (E7).", &["E1", "E2", "E4", "E7"], "A helps B.");
    check("Follows [S3][S3 and S4].", &["S3", "S4"], "Follows.");
    check("Gene [EGFR] and (E. coli).", &[], "Gene [EGFR] and (E. coli).");
    assert_eq!(
        with_own_keys(sentence_texts("A helps. [E1] B harms. [E2, E3]")),
        ["A helps. [E1]", "B harms. [E2, E3]"]
    );
}

#[test]
fn code_tells_what_a_sentence_is() {
    use AnswerRole::{Finding, Gap, Synthesis};
    let check = |text: &str, cites: bool, advice, expected| {
        let cited = if cites { vec![EvidenceNumber(0)] } else { Vec::new() };
        assert_eq!(role(text, &cited, advice), expected, "{text}");
    };
    check("Adapters match full training on nine data sets.", true, false, Finding);
    check("Prior work shows that adapters match full training.", false, false, Finding);
    check("Smith et al. use adapters.", false, false, Finding);
    check("The choice of adapters is therefore sensible for this plan.", false, false, Synthesis);
    check("No study compared adapters with prompts on this task.", false, false, Gap);
    check("None of the compared papers unites both steps in one model.", false, false, Gap);
    check("Report the variance over five seeds.", false, true, Synthesis);
}

#[test]
fn what_points_at_a_sentence_that_is_gone_goes_with_it() {
    use AnswerRole::{Finding, Synthesis};
    let sentence = |part, role, text: &str, stays| Sentence {
        part,
        role,
        draft: DraftSentence::written(text),
        proven: None,
        follows: Vec::new(),
        stays,
    };
    let check = |before: Option<(usize, bool)>, text: &str, expected: bool| {
        let before = before.map(|(part, stays)| sentence(part, Finding, "A was found.", stays));
        let mut all: Vec<Sentence> = before.into_iter().collect();
        all.push(sentence(1, Synthesis, text, true));
        drop_dangling(&mut all);
        assert_eq!(all.last().map(|one| one.stays), Some(expected), "{text}");
    };
    check(Some((1, true)), "This supports the central step.", true);
    check(Some((1, false)), "This supports the central step.", false);
    check(Some((0, true)), "These limit it.", false);
    check(None, "Such a test is feasible.", false);
    check(Some((1, false)), "This plan is feasible.", true);
    check(Some((1, false)), "The central step is feasible.", true);
    // What pointed at a judgement that went goes too.
    let mut all = vec![
        sentence(0, Finding, "A was found.", false),
        sentence(0, Synthesis, "This supports it.", true),
        sentence(0, Synthesis, "That agrees with the plan.", true),
        sentence(0, Finding, "This was found of B.", true),
    ];
    drop_dangling(&mut all);
    assert_eq!(all.iter().map(|one| one.stays).collect::<Vec<_>>(), [false, false, false, true]);
}

proptest::proptest! {
    #[test]
    fn no_address_survives(head in "[a-z (\\[]{0,10}", path in "[a-z0-9/._()-]{0,20}", tail in "[a-z \\])(]{0,10}") {
        let text = format!("{head}https://x.example/{path}{tail} [w](http://y.example/{path})");
        let (found, _) = without_links(&text);
        proptest::prop_assert!(!found.contains("://"), "{}", found);
    }
}

#[test]
fn what_tells_of_papers_is_told_from_what_is_said_of_a_plan() {
    let plan = "We build on (Smith, 2020) and on Jones et al.";
    for text in [
        "Lewis et al. trained both parts together.",
        "The retriever is an old one (Karpukhin and Oguz, 2020).",
        "Prior work shows that the gain vanishes with scale.",
        "Existing retrieval methods already solve this.",
        "Several recent studies have found the opposite.",
        "The literature suggests a smaller effect.",
        "It has already been shown that this fails.",
        "The effect is well known.",
        "This was proposed in earlier work.",
        "State-of-the-art models already reach this score.",
    ] {
        assert!(tells_of_literature(text, plan), "{text}");
    }
    for text in [
        "The plan does not compare with existing methods.",
        "It is unclear why existing methods fail here.",
        "No comparison with prior work is planned, so the gain cannot be attributed.",
        "The metric that is reported does not measure deception.",
        "The user study is small, and no variance is reported.",
        "The data set (AIME 2024) may be in the training data.",
        "The plan cites (Smith, 2020) as its only motivation.",
        "The plan builds on Jones et al. without a reason.",
        "Add BM25 and a fine-tuned retriever as baselines.",
        "The simulations proposed in the research plan take too long.",
        "The novelty over previous work is not spelled out.",
    ] {
        assert!(!tells_of_literature(text, plan), "{text}");
    }
}
