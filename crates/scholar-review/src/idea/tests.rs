use super::*;

const PLAN_TEXT: &str = "# Research Plan: Adapters for Retrieval\n\n## Problem\nWe do not know whether \
adapters help retrieval in new domains.\n\n## Method\nWe train one adapter for each domain, and compare it.\n";

#[test]
fn headings_make_parts_and_the_first_names_the_idea() {
    let idea = Idea::read(PLAN_TEXT).expect("an idea");
    assert_eq!(idea.title.as_deref(), Some("Adapters for Retrieval"));
    assert_eq!(idea.title_key().as_deref(), Some("adapters for retrieval"));
    let headings: Vec<&str> = idea.sections.iter().map(|part| part.heading.as_str()).collect();
    assert_eq!(headings, ["Problem", "Method"]);
    assert!(idea.sections[1].text.starts_with("We train one adapter"));
    let untitled = Idea::read(&PLAN_TEXT.replace(": Adapters for Retrieval", "")).expect("an idea");
    assert_eq!((untitled.title.as_deref(), untitled.title_key()), (None, None));
    assert!(untitled.name().starts_with("We do not know"), "{}", untitled.name());
}

#[test]
fn text_without_headings_is_one_part() {
    let text =
        "We will measure how well small models judge citations, and compare them with people.";
    let idea = Idea::read(text).expect("an idea");
    assert_eq!(idea.sections, [IdeaSection { heading: String::new(), text: text.to_owned() }]);
}

#[test]
fn what_is_no_idea_is_named() {
    let error = |text: &str| Idea::read(text).expect_err("no idea");
    assert_eq!(error(" \n"), IdeaError::Empty);
    assert_eq!(error("…!?"), IdeaError::TooShort { words: 0 });
    assert!(matches!(error("Adapters for retrieval."), IdeaError::TooShort { words: 3 }));
    assert!(matches!(error(&"word ".repeat(20_000)), IdeaError::TooLong { chars: 99_999, .. }));
    assert_eq!(error("%PDF-1.7\u{0}\u{1}"), IdeaError::Binary { code: 0 });
    let german = "Wir untersuchen, ob kleine Sprachmodelle Belege ebenso gut prüfen können wie große \
Modelle, und vergleichen beide mit Urteilen von Fachleuten aus vier Gebieten der Forschung.";
    assert!(matches!(error(german), IdeaError::NotEnglish { .. }), "{:?}", error(german));
    let chinese = "我们研究小型语言模型是否能够像大型模型一样检验引用。";
    assert!(matches!(error(chinese), IdeaError::NotEnglish { .. }));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(#{0,3} ?[a-zA-Z é:#\n]{0,30}){0,8}") {
        if let Ok(idea) = Idea::read(&text) {
            proptest::prop_assert!(!idea.name().is_empty());
        }
    }
}
