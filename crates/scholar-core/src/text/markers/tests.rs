use proptest::prelude::*;

use super::*;

fn numbers(text: &str) -> Vec<Vec<usize>> {
    citation_groups(text).into_iter().map(|group| group.numbers).collect()
}

#[test]
fn groups_are_read_whole() {
    assert_eq!(
        numbers("a [1][2, 3] [4,5] [6-8] [x] [07] [1–3] [1; 2]"),
        [vec![1], vec![2, 3], vec![4, 5], vec![6, 7, 8], vec![7], vec![1, 2, 3], vec![1, 2]]
    );
    assert_eq!(numbers("[1 ,2] [ 3]"), [vec![1, 2], vec![3]]);
    for none in ["[]", "[a]", "[3-1]", "[1-900]", "[123456]", "[1,]", "[-1]", "[1.5]", "[1", "1]"] {
        assert!(numbers(none).is_empty(), "{none}");
    }
    assert_eq!(citation_groups("é [[4]]")[0].range, 4..7);
}

#[test]
fn foreign_markers_go_and_indices_stay() {
    let check = |text: &str, expect: &str| assert_eq!(strip_foreign_markers(text), expect);
    check("As in [1], x [2, 3] y [a] z|w a |b arr[0] [12-14].", "As in, x y [a] z|w a |b arr[0].");
    check("shown in mice[12]. Then [3] found", "shown in mice. Then found");
    check("x[1] and my_list[2] lie in [0, 1]", "x[1] and my_list[2] lie in [0, 1]");
    check("(95% CI [1, 3]) in [4]", "(95% CI [1, 3]) in");
    check("[1] Start", "Start");
}

#[test]
fn citations_go_and_lines_stay() {
    let check = |text: &str, expect: &str| assert_eq!(strip_citations(text), expect);
    check("A b [1] . C [2,3], d [4][5].\n\nE [a].", "A b. C, d.\n\nE [a].");
    check("x [1-3] y [1; 2]", "x y");
    check("no marker , kept", "no marker , kept");
    check("One.\n[0] Two", "One.\nTwo");
}

#[test]
fn author_year_citations_go() {
    let check = |text: &str, expect: &str| assert_eq!(strip_author_year(text), expect);
    check("Known (Smith et al., 2020; Ng, 2019a), and (see Lee 2001).", "Known, and.");
    check("rules (e.g. (Sekine, 2005), (Ng, 2008)), but", "rules (e.g.,), but");
    check("Found (n = 2020) in Smith (2020) (p. 3)", "Found (n = 2020) in Smith (2020) (p. 3)");
}

#[test]
fn the_answer_is_between_the_markers() {
    let check = |reply: &str, text: &str, problems: &[MarkerProblem]| {
        assert_eq!(
            between_markers(reply),
            MarkedReply { text: text.to_owned(), problems: problems.to_vec() },
            "{reply}"
        );
    };
    check("pre [Response_Start]A[Response_End] post", "A", &[]);
    check("A[Response_End]B", "A", &[MarkerProblem::MissingStart]);
    check("[Response_Start]A", "[Response_Start]A", &[MarkerProblem::MissingEnd]);
    check("A", "A", &[MarkerProblem::MissingStart, MarkerProblem::MissingEnd]);
    check(
        "x[Response_Start]A[Response_Start]B[Response_End]C[Response_Start]D[Response_End]",
        "B",
        &[MarkerProblem::Several],
    );
    assert_eq!(remove_markers("[Response_Start]A"), "A");
}

#[test]
fn only_a_closing_reference_section_is_cut() {
    let check =
        |text: &str, expect: &str| assert_eq!(cut_reference_section(text), expect, "{text}");
    check("A [1].\n\n### References\n[1] x", "A [1].");
    check("A.\n**References:**\n1. x", "A.");
    check("A.\nReferences: [1] Smith", "A.");
    check("A.\n5. Bibliography\nx", "A.");
    check("The references: see above.", "The references: see above.");
    check("A.\nReferences to prior work abound.", "A.\nReferences to prior work abound.");
    check("# References\nx\n# Conclusion\ny", "# References\nx\n# Conclusion\ny");
}

proptest! {
    #[test]
    fn rendered_citations_parse_back(numbers in proptest::collection::vec(0_usize..1000, 0..8)) {
        let text = format!("Claim {}.", render_citations(&numbers));
        let parsed: Vec<usize> = citation_groups(&text).into_iter().flat_map(|g| g.numbers).collect();
        prop_assert_eq!(parsed, numbers);
    }

    #[test]
    fn any_text_is_accepted(text in "(\\((See|Ng)? ?|, 2020[ab)]|[\\[\\]()0-9a-é ,;\\-–\n#.]){0,60}") {
        for group in citation_groups(&text) {
            prop_assert!(text[group.range].ends_with(']'));
        }
        prop_assert!(citation_groups(&strip_citations(&text)).len() <= citation_groups(&text).len());
        let _ = (strip_author_year(&text), strip_foreign_markers(&text), cut_reference_section(&text), between_markers(&text));
    }
}

#[test]
fn a_text_of_brackets_is_read_in_one_pass() {
    assert_eq!(citation_groups(&"[".repeat(2_000_000)), []);
    assert_eq!(citation_groups("[[1] [2[3]").len(), 2);
}
