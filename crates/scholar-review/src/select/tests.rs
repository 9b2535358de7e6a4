use std::sync::Arc;

use scholar_core::{CharSpan, Explanation, PaperId, PaperMeta, Passage, PassageId, RetrievalScore};

use super::*;

fn hit(ordinal: u32, section: &str) -> Retrieved {
    let paper = PaperMeta::new(PaperId::Pmid(1), "t");
    let passage = Passage {
        id: PassageId { paper: paper.id.clone(), ordinal },
        title: paper.title.clone(),
        section: section.to_owned(),
        kind: PassageKind::Body,
        text: "words".to_owned(),
        span: CharSpan::new(0, 5),
        places: Vec::new(),
    };
    let score = RetrievalScore::new(0.0).expect("finite");
    Retrieved {
        passage,
        paper: Arc::new(paper),
        score,
        explanation: Explanation::new(0.0, "x"),
        found_by: Vec::new(),
    }
}

#[test]
fn every_term_marks_its_section() {
    for (terms, expected) in [(METHOD, Part::Method), (RESULT, Part::Result)] {
        for term in terms {
            assert_eq!(part_of(&format!("4.1 Our {term}")), Some(expected), "{term}");
        }
    }
    // 56 of the source, two of them in British spelling too.
    assert_eq!(METHOD.len() + RESULT.len(), 58);
}

#[test]
fn short_terms_are_whole_words() {
    for heading in
        ["Database", "Multitasking", "Effectiveness", "Ecosystems of concepts", "Introduction"]
    {
        assert_eq!(part_of(heading), None, "{heading}");
    }
    assert_eq!(part_of("Tasks"), Some(Part::Method));
    assert_eq!(part_of("Experimental Results"), Some(Part::Result));
    assert!(is_numbered("3.2 Method") && is_numbered("IV. Results") && is_numbered("2 Data"));
    assert!(
        !is_numbered("Methods") && !is_numbered("") && !is_numbered("3D reconstruction of cells")
    );
}

#[test]
fn numbered_sections_then_matching_ones_then_the_body() {
    let headings = |headings: &[&str]| -> Vec<Retrieved> {
        (0..).zip(headings).map(|(at, heading)| hit(at, heading)).collect()
    };
    let unnumbered = headings(&["Introduction", "Materials and Methods", "Results", "References"]);
    assert_eq!(chosen(&unnumbered, 9, false), [1, 2]);
    assert_eq!(chosen(&unnumbered, 9, true), [0_usize; 0], "as released: nothing of it is read");
    let numbered = headings(&["1 Introduction", "2 Method", "Data", "3 Results"]);
    assert_eq!(chosen(&numbered, 9, false), [1, 3]);
    let plain = headings(&["Introduction", "Fieldwork in Norway", "Acknowledgements", ""]);
    assert_eq!(chosen(&plain, 9, false), [1, 3]);
    let long = headings(&["Methods", "Methods", "Methods", "Results", "Results", "Results"]);
    assert_eq!(chosen(&long, 4, false), [0, 1, 3, 4], "half of each");
    assert_eq!(chosen(&long[..4], 3, false), [0, 1, 3]);
}
