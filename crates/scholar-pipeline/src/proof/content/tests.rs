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

#[test]
fn a_direction_is_weighed_by_how_much_else_is_the_same() {
    let found = "We show that retrieval improves the accuracy of question answering. Latency decreased. Costs were \
        higher in mice.";
    misses("Retrieval worsens the accuracy of question answering.", found, ContentCheck::Direction);
    passes("Retrieval improves the accuracy of question answering.", found);
    passes("Latency decreased in question answering.", found);
    // What may be and what was asked oppose nothing.
    passes(
        "Retrieval did not improve the accuracy of question answering.",
        "Retrieval could improve the accuracy of question answering. We asked whether retrieval improves it.",
    );
    passes(
        "The system is not only faster, it achieves higher accuracy.",
        "It achieves higher accuracy.",
    );
}

#[test]
fn a_widening_must_be_said_of_the_same_things() {
    let found = "All patients gave consent. Coffee intake was associated with longer survival in some cohorts. \
        Caffeine may shorten sleep in older adults after evening coffee.";
    let widened = [
        "Coffee intake was always associated with longer survival.",
        "Coffee intake was associated with longer survival in all cases and without exception.",
        "Longer survival is caused by coffee intake.",
        "Coffee intake was associated with longer survival in all cohorts.",
        "These data prove conclusively that coffee intake was associated with longer survival.",
        "Caffeine after evening coffee shortens sleep in older adults.",
    ];
    for sentence in widened {
        misses(sentence, found, ContentCheck::Scope);
    }
    passes("Coffee intake was associated with longer survival in some cohorts.", found);
    passes("Coffee intake was not always associated with longer survival.", found);
    passes("Larger cohorts are needed to prove that coffee intake lengthens survival.", found);
}

#[test]
fn names_are_forgiven_a_letter_but_no_digit() {
    let source = "Kymriah is produced by Novrtis (June 10, 2016). Viral RNA was detected in H. longicornis given \
        CMB305; B.1.617.2 and the CYP2C19*2 allele were common.";
    passes("Kymriah, produced by Novartis in June 2016, was licensed on 10 June.", source);
    passes("Viral RNA was detected in Haemaphysalis longicornis.", source);
    passes("The CYP2C19*2 allele and the variant B.1.617.2 were common.", source);
    misses("Ticks were given CMB205.", source, ContentCheck::Entity);
    misses("Viral RNA was detected in Haemaphysalis punctata.", source, ContentCheck::Entity);
}

/// Of "Supporting smoking cessation in chronic obstructive pulmonary disease with behavioral intervention: a randomized
/// controlled trial", BMC Family Practice 2013, doi 10.1186/1471-2296-14-91; CC BY 2.0.
const COPD_TRIAL: &str = "Continuous smoking abstinence rates from month 24 to 30 were significantly higher in \
    participants receiving behavioral intervention than in those receiving usual care (46.4% vs 3.4%, p < 0.001). \
    Continuous abstinence rates from months 24 to 36 (45.8% vs 4.0%) and months 24 to 48 (44.3% vs 5.1%) were also \
    higher in participants receiving behavioral intervention than in those control group. Conclusions: Behavioral \
    intervention doubled the smoking cessation rate in patients with COPD and was complied well by the general \
    practitioners. in patients with COPD compared with control group (5.7%) after four years. Among 3562 smokers, 26.8% \
    did not complete the follow-up visit, i.e. 46 subjects had moved away from the region, 39 declined to participate in \
    the follow-up visit for miscellaneous reasons, 20 did not complete exhaled carbon monoxide (CO) level test, 23 were \
    incomplete data, and 827 died (intervention: 370 vs control: 457; χ2 = 28.76, P < 0.001). The total number of lost in \
    behavioral intervention and control group were 437 and 518, respectively. Significant difference in lost rates was \
    observed between behavioral intervention and control group (χ2 = 13.94, P < 0.001).";

/// Large language models found these sentences of answers fully supported, which an earlier judge called contradicted and
/// partly supported.
#[test]
fn supported_sentences_that_a_judge_doubted_pass() {
    for sentence in [
        "The report is not fully consistent, however, as its discussion gives 5.7% for the control group after four \
         years, and its conclusion that the cessation rate was doubled understates the figures.",
        "The claim of low loss needs qualification, since 26.8% of participants did not complete the follow-up, mostly \
         because of death, and losses differed significantly between the groups.",
    ] {
        passes(sentence, COPD_TRIAL);
        assert!(opposite(sentence, &SourceText::of(&[COPD_TRIAL])).is_empty());
    }
}
