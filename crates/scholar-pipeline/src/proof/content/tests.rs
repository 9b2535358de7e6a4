use super::*;

fn words(sentence: &str, source: &str) -> Vec<(ContentCheck, String)> {
    let missing = missing(sentence, &SourceText::of(&[source]));
    missing.into_iter().map(|one| (one.check, one.words)).collect()
}

fn passes(sentence: &str, source: &str) {
    assert_eq!(words(sentence, source), [], "{sentence}");
}

fn misses(sentence: &str, source: &str, check: ContentCheck) {
    let found = words(sentence, source);
    assert!(found.iter().any(|(one, _)| *one == check), "{sentence} {found:?}");
}

const TRIAL: &str = "We randomised 3,562 Chinese smokers with chronic obstructive pulmonary disease. After 24 months \
    46.4% of the behavioural group and 23.2% of controls abstained. IL-6 fell by 12.3% in mice given metformin. \
    Counselling increased abstinence compared with usual care.";

#[test]
fn names_are_found_in_every_spelling() {
    passes("Among smokers with COPD in China, counseling increased abstinence.", TRIAL);
    passes("In murine models, interleukin-6 fell with metformin.", TRIAL);
    passes("IL6 fell in mice.", TRIAL);
    misses("Counselling increased abstinence in smokers with HIV.", TRIAL, ContentCheck::Entity);
    misses("IL-8 fell in mice.", TRIAL, ContentCheck::Entity);
    misses("IL-6 fell in rats given metformin.", TRIAL, ContentCheck::Entity);
    misses("IL-6 fell in mice given carboplatin.", TRIAL, ContentCheck::Entity);
    passes("GPT4 beats LLMs.", "GPT-4 beats other large language models.");
}

#[test]
fn numbers_are_rounded_and_calculated() {
    passes("After two years, 46% abstained, twice as many as among controls.", TRIAL);
    passes("Abstinence doubled, a difference of 23 points.", TRIAL);
    passes("About 3,500 smokers took part.", TRIAL);
    passes("A third of them left.", "Of the patients, 33.1% left.");
    passes(
        "0.35 and 35% are one share of 12 of 40, which is 30%.",
        "The share was 0.35; 12 of 40 left.",
    );
    misses("After 36 months, 46.4% abstained.", TRIAL, ContentCheck::Number);
    misses("After 24 weeks, 46.4% abstained.", TRIAL, ContentCheck::Number);
    misses("The share tripled.", TRIAL, ContentCheck::Number);
}

#[test]
fn directions_are_those_of_the_same_things() {
    misses(
        "Counselling reduced abstinence compared with usual care.",
        TRIAL,
        ContentCheck::Direction,
    );
    passes("Counselling raised abstinence compared with usual care.", TRIAL);
    let null = "Vitamin D supplementation did not reduce tumour growth in adults.";
    misses(
        "Vitamin D supplementation reduced tumour growth in adults.",
        null,
        ContentCheck::Direction,
    );
    passes("Vitamin D supplementation did not reduce tumour growth in adults.", null);
}

#[test]
fn scope_is_not_widened() {
    let found = "Coffee intake was associated with longer survival in one cohort.";
    misses("Coffee intake causes longer survival.", found, ContentCheck::Scope);
    misses(
        "Coffee intake is universally associated with longer survival.",
        found,
        ContentCheck::Scope,
    );
    misses(
        "Coffee intake was associated with longer survival in children.",
        found,
        ContentCheck::Scope,
    );
    passes("Coffee intake was associated with longer survival.", found);
}

/// Readers found such a sentence fully supported that an earlier judge called contradicted.
#[test]
fn a_sentence_about_a_doubled_rate_is_not_disputed() {
    let sentence =
        "The report's conclusion that the cessation rate was doubled agrees with its figures.";
    assert!(opposite(sentence, &SourceText::of(&[TRIAL])).is_empty());
    passes(sentence, TRIAL);
}
