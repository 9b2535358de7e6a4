//! Lines are from the papers named beside them (CC BY 4.0 unless noted).

use super::*;

fn kinds(text: &str) -> Vec<(PassageKind, &str)> {
    blocks("Results", text)
        .into_iter()
        .map(|block| (block.kind, text[block.range].trim()))
        .collect()
}

#[test]
fn rows_of_tables_are_told_from_prose_with_numbers() {
    for table in [
        // acl:C10-1070, table 3.
        "R1 R20 P1 P20 F1 F20 MAP Cosine 9.8 28.1 20.7 59.4 13.3 38.15 0.232 Dice 9.4 28.9 19.8 61.2 12.75 39.26 0.286",
        // acl:W12-3144.
        "System Dev Test Baseline 17.06 15.57 + POSLM 17.27 15.63 + Bilingual LM 17.40 15.78 + Cluster LM 17.77 16.06",
        // acl:W11-0301: the end of the table runs into the sentence after it.
        "BASIC 85.6 70.6 79.5 58.6 +POS 87.6 76.4 82.3 66.3 +TOKEN-POS 87.5 75.2 82.2 65.3 Table 3 reveals this.",
        "58,000 Baseline 53.7% 34.1% 30.2% 14.1%",
    ] {
        assert_eq!(sentence_kind(table), Some(PassageKind::Table), "{table}");
    }
    for prose in [
        // PMC1201146.
        "There was a significantly greater improvement in score with topical diclofenac compared to vehicle control (Table 2) for pain (-5.2 vs. -3.3; p = 0.003), physical function (-13.4 vs. -6.9; p = 0.001) and stiffness (-1.5 vs. -0.7; p = 0.002).",
        "Mean (SD) duration of treatment in the topical diclofenac group was 38.2 (9.9) days versus 34.4 (12.5) days in the vehicle control group (p = 0.013).",
        "The scores were 12.1, 13.4, 15.8, 17.2, 18.8, 19.9, 20.1 and 21.4, respectively.",
        "We used 5, 10, 20, 50 and 100 examples per class, with 3 seeds and 2 learning rates each.",
        // PMC5571493.
        "The mean capillary glycemia during 4 h of infusion were 0.83 ± 0.05, 0.92 ± 0.07, 0.74 ± 0.05 and 0.82 ± 0.05 g/l on normal saline, dextrose 5%, normal saline.",
        // PMC5116460.
        "High resolution images were acquired with the following parameters: TR = 2150 ms, TEs = 1.74/3.6/5.46/7.32 ms, TI = 1260 ms, flip angle = 7 degrees, field of view = 256 mm.",
        // PMC2818614.
        "At the end of the study serum 25(OH)D levels were 140.9 ± 34.7 nmol/L, 99.7 ± 20.3 nmol/L, and 57.9 ± 20.4 nmol/L in the DD, DP and PP groups respectively.",
        // PMC3984795, shortened.
        "Lactobacillus, coliforms, E. coli, and bacteroides were 6.3 × 106 ± 0.121, 5.8 × 108 ± 0.167, 5.1 × 102 ± 0.148, and 4.5 × 106 ± 0.196, respectively.",
        "In 2018, 14 of 30 patients (46.7%) and in 2019, 12 of 28 patients (42.9%) were readmitted.",
    ] {
        assert_eq!(sentence_kind(prose), None, "{prose}");
    }
}

#[test]
fn captions_interrupt_and_announcements_do_not() {
    for caption in [
        "Figure 4: Robust dynamic tax policies in a spatiotemporal economy.",
        "Fig. 1. Flow of the participants through the trial.",
        // From a row of peS2o: the caption stands within a sentence.
        "High-income agents learn to avoid taxes by moving labor and thus income between tax Figure 3: Quantitative results in a one-step economy.",
    ] {
        assert_eq!(sentence_kind(caption), Some(PassageKind::Caption), "{caption}");
    }
    for prose in [
        "The flow of our final system is shown in Figure 2: Input names are tagged first.",
        "Figure 3a-b shows that the AI Economist and the Saez tax produce consistent schedules.",
        "As Table 2 shows, accuracy fell.",
    ] {
        assert_eq!(sentence_kind(prose), None, "{prose}");
    }
}

#[test]
fn entries_of_reference_lists_have_two_marks() {
    for entry in [
        "In Proceedings of the 23rd International Conference on Computational Linguistics, pages 89–97.",
        "N Engl J Med 2010;363:1687-97. doi: 10.1056/NEJMoa1006221",
    ] {
        assert_eq!(sentence_kind(entry), Some(PassageKind::References), "{entry}");
    }
    for prose in [
        "The data are described in arXiv:1909.00161 and were released in 2019.",
        "The ratio was 3 (2): 1 in both arms.",
    ] {
        assert_eq!(sentence_kind(prose), None, "{prose}");
    }
}

#[test]
fn what_publishers_print_is_not_the_authors_prose() {
    for added in [
        "The pre-publication history for this paper can be accessed here: http://www.biomedcentral.com/1471-2253/10/15/prepub",
        "E-mail: sonja.niessen@gmx.de; ney@cs.rwth-aachen.de.",
        "When it does vary, it typically Downloaded from https://academic.oup.com/jae/article by guest on 19 April 2021 does so for the whole population.",
        "©International Monetary Fund.",
        "Department of Epidemiology, School of Public Health, University of Tehran, Tehran, Iran.",
    ] {
        assert_eq!(sentence_kind(added), Some(PassageKind::Boilerplate), "{added}");
    }
    for prose in [
        "The enteric properties of the Eudragit© L30D-55 coating have been shown to be maintained after 6 months.",
        "There is always a 1:1 correspondence between historical and modern sentences.",
        "Patients were recruited at the Department of Surgery, the University Hospital, and two centres, all in Oslo.",
        // PMC5655345.
        "The study was approved by the Uganda National Council for Science and Technology, Makerere University School of Medicine Research and Ethics Committee, Kampala, Uganda.",
        // PMC5457252, shortened.
        "Single Bond 2 (3M ESPE, St. Paul, MN, USA. Lot: N463807); 0.5 wt % aqueous solution (School of Stomatology, Wuhan University, Wuhan, China); ninhydrin solution (Institute of Technology, Beijing, China).",
        "We sent an email to every participant.",
    ] {
        assert_eq!(sentence_kind(prose), None, "{prose}");
    }
}

#[test]
fn a_table_glued_to_a_paragraph_becomes_a_block_of_its_own() {
    let text = "No significant differences were found between the participants in the intervention and control groups at baseline.Table 1Baseline characteristics of participants in the trial (n = 258)CharacteristicsTotal n (%)Intervention n (%)Control n (%)Female123 (47.7)61 (47.3)62 (48.1)Married200 (77.5)99 (76.7)101 (78.3)Employed150 (58.1)77 (59.7)73 (56.6) and so on for twelve more words that belong to what is a table here. The groups were alike in every respect that was measured before the trial began.";
    let found = kinds(text);
    let of: Vec<PassageKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(of, [PassageKind::Body, PassageKind::Table, PassageKind::Body]);
    assert!(found[0].1.ends_with("at baseline.") && found[1].1.starts_with("Table 1Baseline"));
    assert!(found[2].1.starts_with("The groups were alike"));
}

#[test]
fn blocks_cover_the_text_and_short_ones_stay_in_the_prose() {
    let text = " The policies were learned. Figure 4: Robust policies. They were evaluated on another economy. ";
    assert_eq!(
        blocks("", text),
        [Block { range: 0..text.len(), kind: PassageKind::Body }],
        "three words of a caption are not found alone"
    );
    assert_eq!(blocks("", ""), []);
    assert_eq!(blocks("Abstract", "One sentence.")[0].kind, PassageKind::Abstract);
    assert_eq!(blocks("References", "Smith J. A title. 2010.")[0].kind, PassageKind::References);
}

#[test]
fn a_sentence_that_a_table_ran_into_is_prose_again() {
    // acl:W11-2139 and acl:P12-1110, shortened.
    let text = "Condition BLEU 1 human 24.7 1 human + ES-EN 25.0 1 human + FR-EN 24.0 1 human + ES-EN + FR-EN 24.2 While the effect is somewhat smaller than others report, the simple technique was found to improve the quality of all the translations.";
    let at = signs::prose_behind_table(text).expect("a table and a sentence");
    assert!(text[at..].starts_with("While the effect"), "{}", &text[at..]);
    let found = kinds(text);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[0].0, found[1].0), (PassageKind::Table, PassageKind::Body));
    for other in [
        // Prose that a table interrupts goes on behind it without a capital.
        "Sentences 58073 4648 3454 1699 147 1968 2173 26.5 42.0 28.6 38.2 23.8 and the swap segment size ranging from 0 to 10, and evaluated the translations with the metric.",
        "In 2018, 14 of 30 patients (46.7%) and in 2019, 12 of 28 patients (42.9%) were readmitted. The others were not.",
        "We used 5 10 20 50 and 100 examples.",
        "",
    ] {
        assert_eq!(signs::prose_behind_table(other), None, "{other}");
    }
}

#[test]
fn captions_go_on_with_panels_and_scale_bars() {
    // PLOS, CC BY 4.0, shortened.
    let text = "The cells were counted after two days in culture, as others have done before in these lines. Fig 3. Expression of the receptor in neurons of the cortex. (A) Western blot of the lysates from three animals in each of the groups. (B, C) Quantification of the bands. Scale bar, 10 µm. Error bars represent the standard deviation. The receptor was found in all the neurons that we looked at, and in no other cell of the cortex.";
    let found = kinds(text);
    let of: Vec<PassageKind> = found.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(of, [PassageKind::Body, PassageKind::Caption, PassageKind::Body], "{found:?}");
    assert!(found[1].1.starts_with("Fig 3.") && found[1].1.ends_with("standard deviation."));
    assert_eq!(sentence_kind("Scale bar, 10 µm."), None, "only behind a caption");
    assert_eq!(kinds("A. Smith said so. Error bars are of use.").len(), 1);
}

#[test]
fn reference_lists_without_a_heading_are_found() {
    // PLOS, CC BY 4.0.
    let text = "We thank nobody. Emerson SB (1985) Skull shape in frogs - correlations with diet. Herpetologica 41: 177–188. Dean C, Lawless JF (1989) Tests for detecting overdispersion in Poisson regression models. J Am Stat Assoc 84: 467–472. Nowacki M, Meyer E (2005) Nowa1p and Nowa2p: novel putative RNA binding proteins involved in trans-nuclear crosstalk in Paramecium tetraurelia. Curr Biol 15: 1616–1628.";
    let found = kinds(text);
    assert_eq!(found.last().map(|(kind, _)| *kind), Some(PassageKind::References), "{found:?}");
    assert!(found.last().is_some_and(|(_, list)| list.starts_with("Herpetologica")));
    for entry in [
        "Curr Biol 15: 1616–1628.",
        "PLoS ONE 5: e1234. doi: 10.1371/journal.pone.0001234",
        "BMC Dev Biol. 2006;6:36. 16872490",
        "Nature 1998; 393:440–2.",
    ] {
        assert_eq!(sentence_kind(entry), Some(PassageKind::References), "{entry}");
    }
    for prose in [
        "The ratio was 3: 1 in both arms.",
        "Ages were given as median 41: 17 of them were men.",
        "Solutions of 1:10–1:20 were used.",
        "They were seen in May 2006; 3:1 was the ratio.",
    ] {
        assert_eq!(sentence_kind(prose), None, "{prose}");
    }
}

#[test]
fn licences_and_declarations_are_boilerplate() {
    for added in [
        "This is an open-access article distributed under the terms of the Creative Commons Attribution License.",
        "Conceived and designed the experiments: HYC.",
        "The authors have declared that no competing interests exist.",
        "These authors contributed equally to this work.",
    ] {
        assert_eq!(sentence_kind(added), Some(PassageKind::Boilerplate), "{added}");
    }
    assert_eq!(sentence_kind("Both interests compete for the same water."), None);
    assert_eq!(sentence_kind("All three genes contributed equally to the phenotype."), None);
}
