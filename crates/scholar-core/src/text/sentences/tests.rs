use proptest::prelude::*;

use super::*;

/// `|` marks the expected boundaries.
fn check(marked: &str) {
    let text = marked.replace('|', "");
    let expect: Vec<&str> = marked.split('|').map(str::trim).collect();
    assert_eq!(sentence_texts(&text), expect, "{text}");
}

#[test]
fn abbreviations_do_not_end_sentences() {
    check("Results by Smith et al. (2020) show gains.| See Fig. 3 for details.| It works [1][2].");
    check("We use e.g. BERT and i.e. models, cf. Sec. 2.| Then vs. others, approx. 5 min.");
    check(
        "The value is 3.5 mK.| J. Smith et al. found it.| U.S. policy changed.| Ph.D. students agreed.",
    );
    check("Proposed by Berger et al.| However, Dr. Och and Prof. Ney disagreed.");
    check("They lack vitamin D.| Patients in group B.| The rest improved in the U.S.| We agree.");
    check("By Eq. 3 and Eqs. (4)-(5), no. 7 holds.| The answer is no.| Others differ.");
    check("S. aureus and E. coli grew at 37 °C for 30 min.| Cells were washed.");
    check("It costs approx. $5 etc. in all.| Sec. 4 says why.");
}

#[test]
fn numbers_do_not_end_sentences_but_may_close_them() {
    check("It was significant (p < 0.05).| Ours was not, p = 0.3.| 12 patients left.");
    check("Accuracy rose by 3.2% in 2020.| The rest fell.");
    check("Version 2.0 of v1.5 works.");
}

#[test]
fn citations_after_the_stop_belong_to_the_sentence() {
    check("Parametric knowledge is stored. [0]| However, it is limited. [4]");
    check("It is stored.| [4] shows otherwise.| [1, 2] and [3] agree.");
    check("It is known. (Smith et al., 2020; Jones, 2019)| Others disagree.");
    check("It is known.| (Smith et al., 2020) show why.");
    check("This was found.12| However, mice differ.3,4| We agree.");
    check("It is stored [0].[1]| Next.");
}

#[test]
fn brackets_and_quotes_hold_sentences_together() {
    check("We did it (see Methods. They are long) well.| (Yes.)| Next one!");
    check("\"Is it true?\" he asked.| “Quoted.”| Next one!");
    check("It lies in [0, 1).| Half open (0, 1].| Done.");
    check("An open ( bracket is stray.| The next stands.");
    check("Wait... what?| No way!!| Ok.");
}

#[test]
fn glued_sentences_are_parted() {
    check("It ends here.|The next begins (2020).|A third has 95%.|Done.");
    check("Use Node.js or www.example.Com or end.start or the U.S.A. now.");
    check("This rose in 2019.|Others fell.");
}

#[test]
fn lower_case_names_begin_sentences() {
    check("Expression was lost.| p53 is a suppressor.| mRNA decayed.");
    check("It was studied vs. p53 in mice.");
}

#[test]
fn lines_end_sentences_where_they_must() {
    check("## Header|\nFirst line\ngoes on.|\n1. Item one [3].|\n2. Item two [4].");
    check("No stop|\n\nNew paragraph");
    check("Intro:|\n- bullet one|\n- bullet two");
    assert!(sentences(" \n ").is_empty());
}

#[test]
fn a_text_in_small_letters_has_sentences_too() {
    check(
        "the slipstream raises the lift of the wing, e.g. by a tenth .| at small angles the theory agrees with the \
         measurements of fig. 2 and of others .| it does not beyond them.",
    );
    check("the slipstream raises the lift. of what is not said");
}

proptest! {
    #[test]
    fn every_character_is_in_exactly_one_sentence(text in "[A-Za-z0-9é .!?()\\[\\]\",\n#-]{0,120}") {
        let mut end = 0;
        for range in sentences(&text) {
            prop_assert!(range.start >= end && range.start < range.end);
            prop_assert!(text[end..range.start].chars().all(is_space));
            prop_assert_eq!(text[range.clone()].trim_matches(is_space), &text[range.clone()]);
            end = range.end;
        }
        prop_assert!(text[end..].chars().all(is_space));
    }
}
