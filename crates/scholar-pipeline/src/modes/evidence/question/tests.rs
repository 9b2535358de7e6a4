//! Questions as they are read.

use super::super::terms::stem_set;
use super::*;

fn read(question: &str) -> Reading {
    Reading::of(question, &Abbreviations::default())
}

#[test]
fn generic_words_are_listed_in_order_and_weigh_little() {
    assert!(GENERIC.is_sorted());
    let reading = read("What methods reduce hallucination?");
    assert_eq!(reading.keys()[0].word, "hallucination");
    assert!(reading.terms.iter().any(|term| term.word == "methods" && term.generic));
    let share = reading.share(|term| f32::from(u8::from(term.stem == "hallucin")));
    assert!(share > 0.7);
}

#[test]
fn parts_are_what_the_question_names() {
    let headings = |question: &str| -> Vec<String> {
        read(question).parts.into_iter().map(|part| part.heading).collect()
    };
    assert_eq!(
        headings("How do knowledge distillation and pruning compare for compressing models?"),
        ["Knowledge distillation", "Pruning"]
    );
    assert_eq!(
        headings("Does cocoa or nut consumption reduce inflammation or mortality?"),
        ["Inflammation", "Mortality"]
    );
    assert_eq!(
        headings("What are the advantages and limitations of chain-of-thought prompting?"),
        ["Advantages", "Limitations"]
    );
    assert_eq!(
        headings("How is coreference resolution evaluated and what biases does it show?"),
        ["Coreference resolution evaluated", "Biases"]
    );
    assert_eq!(
        headings(
            "How can an amputee control a robotic arm with muscle signals, and what training helps?"
        ),
        ["Robotic arm with muscle signals", "Training"]
    );
    assert_eq!(
        headings("Does counselling improve breastfeeding, newborn survival or quality of life?"),
        ["Breastfeeding", "Newborn survival", "Quality of life"]
    );
    let joined = parts::alternatives("In adults, sleep or mood after yoga?");
    assert_eq!(joined, [[stem_set("sleep"), stem_set("mood")]], "adults are no alternative");
    assert!(headings("Is acupuncture effective for pain?").is_empty());
}

#[test]
fn no_paper_has_to_speak_of_more_than_one_of_each_alternative() {
    let question = "Do zinc, selenium or copper supplements prevent infections or anaemia?";
    let lacks = |said: &str| -> Vec<String> {
        let said: BTreeSet<String> = stems(said).into_iter().collect();
        let reading = read(question);
        let lacking = reading.topic.lacks(|term| term.is_in(&said));
        lacking.into_iter().map(|term| term.word.clone()).collect()
    };
    assert_eq!(lacks("Selenium and infections of the lung."), Vec::<String>::new());
    assert_eq!(lacks("Infections of the lung.").len(), 1, "one of the metals");
    let share = |said: &str| {
        let said: BTreeSet<String> = stems(said).into_iter().collect();
        read(question).share(|term| f32::from(u8::from(term.is_in(&said))))
    };
    assert!(share("Selenium prevents infections.") > share("Selenium and infections."));
    assert!(share("Selenium prevents infections.") > 0.99);
    assert!(share("Selenium prevents cancer.") < 0.8);
}

#[test]
fn the_topic_is_all_that_is_asked_about_and_one_of_its_parts() {
    let share = |question: &str, said: &str| {
        let said: BTreeSet<String> = stems(said).into_iter().collect();
        read(question).topic.share(|term| f32::from(u8::from(term.is_in(&said))))
    };
    let question = "Does pretraining on code help reasoning of language models?";
    assert!(share(question, "Pre-training on code improves logical reasoning.") > 0.99);
    assert!(share(question, "Pretraining techniques for code-switched languages.") < 0.75);
    assert!(share(question, "Language models are good models of language.") < 0.01);
    assert!(share(question, "Training on programming languages.") > 0.3, "other words for code");
    assert!(share(question, "Code-switched pretraining.") < 0.4, "another code");
    let vitamin = "Does vitamin D supplementation improve glycaemic control?";
    assert!(share(vitamin, "Vitamin D supplementation and bone density.") < 0.65);
    let question = "How do adapters and LoRA make fine-tuning parameter-efficient?";
    assert!(share(question, "LoRA is parameter-efficient fine-tuning.") > 0.99);
    assert!(share(question, "LoRA merges well.") < 0.7);
}

#[test]
fn questions_of_yes_or_no_about_an_effect_are_known() {
    let asks_effect = |question: &str| read(question).kind == Kind::Effect;
    assert!(asks_effect("Is acupuncture effective for pain?"));
    assert!(asks_effect("Does vitamin D improve glycaemic control?"));
    assert!(asks_effect("Vitamin D supplementation improves glycaemic control."), "a claim");
    assert!(!asks_effect("How does vitamin D improve glycaemic control?"));
    assert!(!asks_effect("Do language models memorize their training data?"));
}

#[test]
fn questions_about_harm_are_known() {
    assert!(read("What are the side effects of peginterferon in hepatitis C?").asks_harm);
    assert!(read("is metformin safe in pregnancy").asks_harm);
    assert!(!read("Does ginger reduce complications after surgery?").asks_harm);
    assert!(!read("What are the benefits and side effects, pros and cons, of statins?").asks_harm);
}
