//! Which sentences of a paper may stand in a digest, by their form alone.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};
use scholar_core::text::blocks::sentence_kind;

use super::config::SentenceRules;
use super::pattern::{pattern, patterns};
use super::question::{Aspect, Reading};

/// Why a sentence is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reject {
    /// Too few or too many words.
    Length,
    /// Begins or ends inside a sentence.
    Fragment,
    /// A question.
    Question,
    /// Caption, table row, formula.
    Display,
    /// Says what the paper will say or wants.
    Announcement,
    /// Contributions, funding, ethics, registration, availability, copyright.
    Boilerplate,
    /// An entry of a reference list.
    Reference,
    /// Its subject stands in another sentence.
    Anaphora,
}

/// The first reason against `sentence`, a trimmed piece of a source's text.
pub(crate) fn reject(sentence: &str, rules: &SentenceRules, reading: &Reading) -> Option<Reject> {
    let n_words = sentence.split_whitespace().count();
    if is_display(sentence) || sentence_kind(sentence).is_some() {
        return Some(Reject::Display);
    }
    if n_words < rules.min_words || n_words > rules.max_words {
        return Some(Reject::Length);
    }
    if sentence.trim_end_matches(['"', '”', '’', ')']).ends_with('?') {
        return Some(Reject::Question);
    }
    if !begins_sentence(sentence) || !ends_sentence(sentence) {
        return Some(Reject::Fragment);
    }
    if is_reference(sentence) {
        return Some(Reject::Reference);
    }
    if is_boilerplate(sentence, reading.wants(Aspect::Data)) {
        return Some(Reject::Boilerplate);
    }
    if is_announcement(sentence) {
        return Some(Reject::Announcement);
    }
    is_anaphoric(sentence).then_some(Reject::Anaphora)
}

/// An upper-case letter, a digit, or a name like `mRNA`, behind opening quotes and brackets.
pub(crate) fn begins_sentence(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches(['"', '“', '‘', '(', '[', '\'']);
    let first = bare.split_whitespace().next().unwrap_or("");
    let mixed = || first.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit());
    first
        .chars()
        .next()
        .is_some_and(|c| c.is_uppercase() || c.is_numeric() || (c.is_alphabetic() && mixed()))
}

/// A full stop or exclamation mark, before closing quotes, brackets and citation numbers.
pub(crate) fn ends_sentence(sentence: &str) -> bool {
    static END: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r#"[.!][”"’')\]]*(?:\s*\[[\d ,;–-]+\])*(?:\d{1,3}(?:[,–-]\d{1,3})*)?$"#)
    });
    let cut = [" e.g.", " i.e.", " vs.", " et al.", " Fig.", " cf.", " approx."];
    END.is_match(sentence) && !cut.iter().any(|end| sentence.ends_with(end))
}

fn is_display(sentence: &str) -> bool {
    static CAPTION: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:fig(?:ure|\.)|table|tab\.|supplementary|supplemental|appendix|algorithm|scheme|box|panel|additional file|eq(?:uation|\.))\s*[\dsivx]|^\(?[a-e]\)\s|\b(?:table|figure|fig\.) \d+\w? (?:shows|presents|lists|summari[sz]es|illustrates|depicts|displays|gives|reports|provides|compares|contains)\b|\b(?:shown|presented|listed|summari[sz]ed|depicted|displayed|described|given|reported|illustrated|found) in (?:the )?(?:supplementary )?(?:table|figure|fig\.|appendix)",
        )
    });
    if CAPTION.is_match(sentence) {
        return true;
    }
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let share = |of: &dyn Fn(&str) -> bool| {
        let n = words.iter().filter(|word| of(word)).count();
        n as f32 / words.len().max(1) as f32
    };
    let alphabetic = share(&|word| word.chars().filter(|c| c.is_alphabetic()).count() >= 2);
    let signs = sentence.chars().filter(|c| "=∑∫∂∈|{}\\^_".contains(*c)).count();
    alphabetic < 0.55 || signs > 4 || is_garbled(&words)
}

/// Words run together or torn apart when the text was taken from a page.
fn is_garbled(words: &[&str]) -> bool {
    static GLUED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"^[a-z]{3,}[A-Z][a-z]{2}|[a-z]{2}\.[A-Z][a-z]|[a-z]{3},[A-Za-z]{2}|[a-z]{3}\([A-Za-z]{3}",
        )
    });
    words.iter().filter(|word| GLUED.is_match(word)).count() >= 2
        || words.iter().any(|word| word.len() > 30 && word.bytes().all(|b| b.is_ascii_lowercase()))
}

fn is_reference(sentence: &str) -> bool {
    static YEARS: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(?:19|20)\d\d[a-z]?\s*[);]"));
    static ENTRY: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            r"(?i)\bdoi:|\bpp\.\s*\d|\bvol\.\s*\d|\bISBN\b",
            r"^[A-Z][\w'-]+,? [A-Z]{1,3}(?:,|\.|\s+et al)",
            r"\d{4};\d+",
        ])
    });
    YEARS.find_iter(sentence).count() >= 4 || ENTRY.is_match(sentence)
}

fn is_boilerplate(sentence: &str, wants_data: bool) -> bool {
    static ALWAYS: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            r"(?i)\b(?:manuscript|authors? (?:read|approved|contributed|declare|wrote|would|are grateful|thank)|conceived (?:of )?the|(?:competing|conflicts? of|financial) interests?|acknowledg(?:e|ement)s?)\b",
            r"(?i)\b(?:funded by|supported by (?:a |the )?(?:grants?|national|fund)|grant (?:no|number)|informed consent|ethics committee|institutional review board|ethical approval|declaration of helsinki|approved by the)\b",
            r"(?i)\b(?:clinicaltrials\.gov|ISRCTN\d|NCT\d{5}|trial registration|registered (?:at|with|in|as)|copyright|licen[cs]ed under|all rights reserved|warning: this paper)\b",
            r"(?i)^(?:keywords?|abbreviations?|correspondence|received|accepted|citation|editor)\b\s*:",
        ])
    });
    static AVAILABILITY: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            r"(?i)https?:|www\.|github",
            r"(?i)\b(?:publicly|freely|openly|made|be|are|is) available\b",
            r"(?i)\bwe (?:also |will |publicly )*(?:release|open-?source|make)\b.*\b(?:code|data|dataset|models?|available)\b",
            r"(?i)\b(?:code|data|dataset)s?\b.*\b(?:released|open-?sourced)\b",
        ])
    });
    ALWAYS.is_match(sentence)
        || (AVAILABILITY.is_match(sentence)
            && (!wants_data || sentence.split_whitespace().count() < 14))
}

fn is_announcement(sentence: &str) -> bool {
    static ROADMAP: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            r"(?i)\b(?:in|of) (?:this|the (?:next|following|present)) (?:section|chapter)\b|\b(?:rest|remainder) of (?:this|the) (?:paper|article|work)\b|\bis (?:organi[sz]ed|structured) as follows\b",
            r"(?i)\b(?:this|the (?:present|current)|our) (?:paper|article|work|study|review|survey|research|thesis|tutorial|chapter|trial|investigation|report|overview|project|demo|talk)(?: also| thus| first| therefore| systematically)* (?:explores?|describes?|discuss(?:es)?|presents?|outlines?|overviews?|reports? (?:on|the)|examines?|examined|investigates?|investigated|aims?|aimed|seeks?|sought|focus(?:es|ed)?|addresse?s?|considers?|studies|analy[sz]es|evaluates?|evaluated|assesses|assessed|compares|compared|provides? (?:an? )?(?:overview|comprehensive|systematic)|reviews?|surveys?|tackles?|asks?|looks|was (?:designed|conducted|undertaken|performed|carried)|is (?:an?|the) (?:attempt|overview|effort))\b",
            r"(?i)\b(?:aims?|purposes?|objectives?|goals?) (?:of|was|is|were)\b.*\b(?:this|the|our|was|is)\b.*\bto\b",
            r"(?i)\bwe (?:also |then |first |next |further |thus |therefore |here |systematically |empirically |finally |will |briefly )*(?:aim(?:ed)?|investigate[sd]?|explored?|examined?|stud(?:y|ied)|sought|seek|wish(?:ed)?|want(?:ed)?|ask(?:ed)?|discuss(?:ed)?|describe[sd]?|outline[sd]?|hypothesi[sz]e[sd]?|test(?:ed)? (?:the hypothesis|whether)|review(?:ed)?|survey(?:ed)?|analy[sz]e[sd]?|evaluate[sd]?|assess(?:ed)?|conduct(?:ed)?|perform(?:ed)?|address(?:ed)?|consider(?:ed)?|raise|focus(?:ed)?|summari[sz]e[sd]?|conclude with|report(?:ed)? (?:on|experiments)|compare[sd]?)\b",
            r"(?i)^(?:to (?:determine|investigate|evaluate|assess|compare|examine|explore|study|test|describe|identify|analy[sz]e) )",
            r"(?i)^in this (?:paper|work|article|study|review|survey|tutorial|chapter|talk|shared task)\b.*\bwe (?:\w+ly )?(?:aim|investigate|explore|examine|study|discuss|describe|review|survey|analy[sz]e|evaluate|address|consider|focus|summari[sz]e|conduct|perform|report|compare|attempt|try|seek|ask|present (?:an? )?(?:overview|survey|review|study|analysis|systematic|comprehensive))\b",
            r"(?i)^(?:here|first|second|third|finally|lastly|next|then), we (?:\w+ly )?(?:discuss|describe|present|review|outline|conclude|analy[sz]e|evaluate|examine|investigate|identify|collect|select|construct|measure|utili[sz]e)\b",
            r"(?i)\b(?:future|further) (?:work|research|studies|trials?|investigations?)\b|\bwe hope\b",
        ])
    });
    // What was found may follow in the same sentence: `we compared A and B and found that …`.
    static FINDING: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:find|found|show(?:s|ed|ing)?|shown|observed?|reveal(?:s|ed|ing)?|demonstrat(?:es?|ed|ing)|conclude[sd]? that|indicat(?:es?|ed|ing)|confirm(?:s|ed|ing)?|suggest(?:s|ed|ing)?|outperform\w*|achiev\w+|discover(?:ed)?|highlight(?:s|ed|ing)?)\b",
        )
    });
    ROADMAP.is_match(sentence) && !FINDING.is_match(sentence)
}

/// Whether the sentence leans on one before it.
pub(crate) fn is_anaphoric(sentence: &str) -> bool {
    static OPENER: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:however|moreover|furthermore|in addition|additionally|thus|therefore|consequently|hence|as a result|but|and|so|yet|nevertheless|nonetheless|besides|also|finally|indeed|overall|interestingly|notably|importantly|surprisingly|similarly|likewise|accordingly|instead|specifically|in particular|in fact|then|again|still|meanwhile|lastly|second(?:ly)?|third(?:ly)?|first(?:ly)?|further|together|taken together|in sum|in general|in this (?:way|case|context|regard|setting)|at the same time)\b,?\s+",
        )
    });
    static POINTS_BACK: LazyLock<RegexSet> = LazyLock::new(|| {
        patterns(&[
            r"(?i)^(?:in contrast|conversely|by contrast|on the (?:other hand|contrary)|for (?:example|instance)|to (?:this|that) end|to (?:do|achieve|address|solve|tackle|mitigate|overcome|bridge|fill|alleviate|remedy|resolve|combat|remove|fix) (?:so|this|that|these|those|it|them|such)\b|unlike (?:these|this|those)|in doing so|by doing so|as such|based on (?:this|these|that)|because of (?:this|these)|due to (?:this|these)|despite (?:this|these|that|its|their|such)|with (?:this|these|such)|from (?:this|these)|after (?:this|that)|under (?:this|these)|among (?:these|them|those)|of (?:these|them|those)|in (?:these|those|such|both cases)|for (?:this|these|those|both|such)|given (?:this|these|that)|through (?:this|these)|using (?:this|these)|while (?:this|these|it|they)|although (?:this|these|it|they)|when (?:this|these|it|they)|if (?:this|these|it|they|so|not)|since (?:this|these|it|they)|as (?:this|these|it|they)|one (?:of (?:these|them)|such|reason|explanation|possible)|another|the (?:former|latter|same|above|other|others|reason|second|third|first one|remaining|rest|following|resulting))\b",
            r"(?i)^(?:it|its|they|their|them|he|she|his|her|here|therein|thereby|such|both|all three|neither|none|either|each|others?|some of (?:these|them|the)|most of (?:these|them|the)|many of (?:these|them|the)|all of (?:these|them|the))\b",
            r"(?i)^(?:this|these|those|that)\b",
            // Inside the sentence, but still outside of it: `detects these references`, `when judging, it …`.
            r"(?i)^(?:[\w’'-]+ ){1,8}these \w+|^(?:when|while|if|after|by|in|with|for|on|at|during) [^,]{1,50}, (?:it|they|its|their)\b|\btheir (?:method|approach|model|framework|system|work|results?|findings?)\b",
            r"(?i)\bsuch (?:an? \w+|errors?|issues?|problems?|cases|biases|limitations?|challenges|methods|models|approaches|systems|information|tasks|techniques|attacks|effects?)\b",
            r"(?i)\b(?:groups?|arms?|cohorts?|conditions?|phases?|experiments?|studies|study|models?|systems?|variants?|methods?|patients?) (?-i:[A-H]|[1-9]|I{1,3}|IV)\b",
            r"(?i)\b(?:the (?:two|three|four|five|six|first|second|third|former|latter|above|aforementioned) (?:groups?|methods?|models?|arms?|approaches|treatments?|conditions?|one|ones|cases|interventions?|drugs|methods|strategies|types|systems|studies))\b",
        ])
    });
    // `This study shows that …` names itself; `These results suggest …` needs the results.
    static SELF_NAMED: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^(?:this|the present|the current) (?:\w+ ){0,2}?(?:study|paper|work|trial|article|survey|review|research|meta-analysis|analysis|thesis)\b",
        )
    });
    let bare = OPENER.replace(sentence, "");
    let there_is = bare.to_lowercase();
    let expletive =
        ["it is ", "it was ", "it has been ", "it remains ", "it can be ", "it may be "];
    if expletive.iter().any(|start| there_is.starts_with(start))
        && there_is.split_whitespace().take(9).any(|word| word == "that" || word == "to")
    {
        return false;
    }
    !SELF_NAMED.is_match(&bare) && POINTS_BACK.is_match(&bare)
}

#[cfg(test)]
mod tests;
