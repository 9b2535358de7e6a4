//! Lines are from abstracts of the ACL Anthology (CC BY 4.0), arXiv (CC0) and trials of PubMed Central (CC BY).

use super::*;
use crate::ids::PaperId;
use crate::paper::PaperMeta;
use crate::place::Place;

#[test]
fn words_that_ran_together_are_divided() {
    for (text, expect) in [
        (
            "We show how wecan not only reduce hallucinations",
            "We show how we can not only reduce hallucinations",
        ),
        (
            "responses, which are oftena consequence of",
            "responses, which are often a consequence of",
        ),
        (
            "to alleviate suchhallucinations by the parametersof a model",
            "to alleviate such hallucinations by the parameters of a model",
        ),
        ("performance ofthe model (andthe data)", "performance of the model (and the data)"),
        (
            "Thispaper describes textualand visual cues.",
            "This paper describes textual and visual cues.",
        ),
        (
            "the standard method of moments algorithmfromthe sociology literature",
            "the standard method of moments algorithm from the sociology literature",
        ),
        ("identifying eventswithin contexts", "identifying events within contexts"),
        (
            "models have emergedas tools containedin it",
            "models have emerged as tools contained in it",
        ),
        ("the size ofthemodel", "the size of the model"),
        ("ten ofthe ofthe ofthe ofthe", "ten of the of the of the of the"),
    ] {
        assert_eq!(with_lost_spaces(text), expect);
    }
}

#[test]
fn words_that_are_whole_stay_as_they_are() {
    for text in [
        "the medial canthus and the vastus lateralis, perforin and resistin, in vivo",
        "atypical anisotropic inhomogeneous asocial bias of toposes, skewon and instanton fields",
        "willpower, therefor, therefrom, withstanding, notwithstanding, somewhere",
        "Forman, Withers, Andrea, Thatcher, Toby and Isabella of Canton used ScanNet and wePresent",
        // Marks of footnotes.
        "Renal functiona VTE, patientsa (%), reporteda Threatened labour, admissiona 6 (22.2)",
        "state-ofthe-art, ofthe/inthe, ofthe1, xofthe_, www.ofthe.org",
        "microRNA interleukin aspartate transaminase phosphatidylinositol",
        "Les effets de ladite andouille sont forts",
        // Halves of words, and words of other languages.
        "the final perfor mance of Pro- totypical networks, informetric indices de nature intonative",
        // A term that the paper uses again and again.
        "tothesis is new; a tothesis is defined; each tothesis has a root",
    ] {
        assert_eq!(with_lost_spaces(text), text);
    }
}

#[test]
fn places_behind_a_new_space_move_with_their_text() {
    let text = "Größe ofthe model. Its sizeis wecan";
    let at = |word: &str| text.find(word).map(|byte| text[..byte].chars().count());
    let places = ["Größe", "ofthe", "the model", "model", "Its", "wecan"].map(|word| Place {
        start: at(word).unwrap_or(0),
        page: 1,
        bbox: None,
    });
    let mut paper = Paper {
        meta: PaperMeta::new(PaperId::Pmid(1), "Ofthe title stays"),
        sections: vec![Section { places: places.to_vec(), ..Section::new("wecan", text) }],
        references: Vec::new(),
        records: Vec::new(),
    };
    assert_eq!(repair_paper(&mut paper), 2);
    let section = &paper.sections[0];
    assert_eq!(section.text, "Größe of the model. Its sizeis we can");
    assert_eq!(section.heading, "wecan");
    let now: Vec<String> = section
        .places
        .iter()
        .map(|place| section.text.chars().skip(place.start).collect())
        .collect();
    let begins = ["Größe", "of the", "the model", "model", "Its", "we can"];
    assert!(now.iter().zip(begins).all(|(text, word)| text.starts_with(word)), "{now:?}");
}

#[test]
fn quotations_are_located_in_the_stored_text_and_on_the_page_of_the_original() {
    let original =
        "We show that wecan not answer. They are oftena consequence of reducing hallucinations.";
    let second = original.find("They").unwrap_or(0);
    let place = |start, page| Place { start, page, bbox: None };
    let places = vec![place(0, 1), place(second, 2)];
    let mut paper = Paper {
        meta: PaperMeta::new(PaperId::Pmid(1), "T"),
        sections: vec![Section { places, ..Section::new("", original) }],
        references: Vec::new(),
        records: Vec::new(),
    };
    repair_paper(&mut paper);
    let stored = &paper.sections[0];
    let quote = "They are often a consequence of reducing hallucinations.";
    let span = crate::text::locate(quote, &stored.text).expect("is there");
    assert_eq!(span.slice(&stored.text), Some(quote));
    let places = crate::place::places_within(&stored.places, span.start, span.end);
    assert_eq!(places, [place(0, 2)], "the page on which the original has it");
}

#[test]
fn the_lists_can_be_searched() {
    assert!(ORDINARY.is_sorted());
    assert_eq!(LEVELS.values().max(), Some(&MOST_FREQUENT));
    assert!(LEVELS.len() > 30_000 && level("the") > level("hallucinations"));
    for word in BEFORE.iter().chain(AFTER) {
        assert!(level(word).is_some_and(|level| level >= 9), "{word} is common");
    }
}

#[test]
fn every_found_word_is_a_slice_and_only_spaces_are_added() {
    let text = "ofthe, (wecan) “Thispaper” — inthe: basedon éofthe ofthé";
    for one in lost_spaces(text) {
        assert_eq!(&text[one.start..one.start + one.word.len()], one.word);
        assert_eq!(one.repaired().replace(' ', ""), one.word);
    }
    let bare = |text: &str| text.replace(' ', "");
    assert_eq!(bare(&with_lost_spaces(text)), bare(text));
}
