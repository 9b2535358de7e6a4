//! Inserting citations into finished text.
//!
//! Lines (or sentences) are handled by index: a reply can only replace the piece it was asked about, and only if it
//! differs from it by nothing but citations that exist. Upstream's placeholders lose a paragraph when a line of
//! citations follows it (deviation D10).

use std::ops::Range;

use scholar_core::text::markers::{
    between_markers, citation_groups, remove_markers, render_citations, strip_citations,
};
use scholar_core::text::normalise::single_spaced;
use scholar_core::text::sentences::sentences;

use super::manuscript::Manuscript;
use super::reference_block;
use crate::config::PosthocMode;
use crate::evidence::EvidenceNumber;
use crate::frame::Frame;
use crate::prompts;

/// Shorter lines are left alone. Source: reference code, `src/open_scholar.py`.
const SHORTEST_LINE: usize = 10;

/// Post-hoc attribution, piece by piece.
pub(crate) async fn insert_citations(frame: &Frame<'_>, manuscript: &mut Manuscript) {
    let mode = frame.config.posthoc;
    if mode == PosthocMode::None {
        return;
    }
    manuscript.text = join_citation_lines(&manuscript.text);
    let call = frame.config.sampling.posthoc;
    let mut out = String::with_capacity(manuscript.text.len());
    let mut from = 0;
    for range in pieces(&manuscript.text, mode) {
        if frame.over_budget().is_some() {
            break;
        }
        let piece = &manuscript.text[range.clone()];
        let values = [("statement", piece)];
        let references =
            reference_block(frame, prompts::POSTHOC, &values, &manuscript.visible, call);
        let values = [("statement", piece), ("references", &references)];
        let cited = match frame.call("posthoc", prompts::POSTHOC, &values, call).await {
            Ok(reply) => {
                let exists =
                    |number| manuscript.visible.iter().any(|e| e.number == EvidenceNumber(number));
                checked(piece, &reply.text, exists)
            }
            Err(error) => {
                frame.skipped("citation insertion", &error);
                break;
            }
        };
        if let Some(cited) = cited {
            out.push_str(&manuscript.text[from..range.start]);
            out.push_str(&cited);
            from = range.end;
        }
    }
    out.push_str(&manuscript.text[from..]);
    manuscript.text = out;
}

/// `text` with every short line of citations moved to the end of the line before it.
fn join_citation_lines(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.split('\n') {
        let short = line.chars().count() < SHORTEST_LINE;
        match lines.last_mut() {
            Some(previous) if short && line.starts_with('[') && !previous.trim().is_empty() => {
                previous.push(' ');
                previous.push_str(line);
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

/// Byte ranges of the pieces of `text` that shall be sent to the model, in order.
fn pieces(text: &str, mode: PosthocMode) -> Vec<Range<usize>> {
    let lines = lines(text);
    match mode {
        PosthocMode::None => Vec::new(),
        PosthocMode::All => lines,
        PosthocMode::Uncited => lines
            .into_iter()
            .filter(|line| citation_groups(&text[line.clone()]).is_empty())
            .collect(),
        PosthocMode::Sentence => lines
            .into_iter()
            .flat_map(|line| {
                let inner = sentences(&text[line.clone()]);
                inner.into_iter().map(move |s| line.start + s.start..line.start + s.end)
            })
            .filter(|s| citation_groups(&text[s.clone()]).is_empty())
            .filter(|s| text[s.clone()].chars().count() >= SHORTEST_LINE)
            .collect(),
    }
}

/// Lines that can carry citations: long enough and no heading.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    for line in text.split('\n') {
        if line.chars().count() >= SHORTEST_LINE && !line.trim_start().starts_with('#') {
            ranges.push(at..at + line.len());
        }
        at += line.len() + 1;
    }
    ranges
}

/// The piece with the reply's citations, or `None` when the reply changes anything else, drops a citation or adds
/// none. Numbers that `exists` refuses are left out.
fn checked(piece: &str, reply: &str, exists: impl Fn(usize) -> bool) -> Option<String> {
    let reply = remove_markers(&between_markers(reply).text);
    if plain(&reply) != plain(piece) {
        return None;
    }
    let kept = without_unknown(&reply, exists);
    let (before, after) = (numbers(piece), numbers(&kept));
    let lost = before.iter().any(|number| !after.contains(number));
    (!lost && after.len() > before.len()).then_some(kept)
}

fn plain(text: &str) -> String {
    single_spaced(&strip_citations(text))
}

fn numbers(text: &str) -> Vec<usize> {
    citation_groups(text).into_iter().flat_map(|group| group.numbers).collect()
}

fn without_unknown(text: &str, exists: impl Fn(usize) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for group in citation_groups(text) {
        let known: Vec<usize> = group.numbers.iter().copied().filter(|n| exists(*n)).collect();
        out.push_str(&text[from..group.range.start]);
        out.push_str(&render_citations(&known));
        from = group.range.end;
        let blank_left = known.is_empty() && out.ends_with(' ');
        if blank_left && !text[from..].starts_with(|c: char| c == '[' || c.is_alphanumeric()) {
            out.pop();
        }
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_citations_joins_its_paragraph_and_nothing_is_lost() {
        let text = "A long paragraph without any citation here.\n[1]\nshort\n[2][3] long enough line with text";
        let joined = join_citation_lines(text);
        assert_eq!(
            joined,
            "A long paragraph without any citation here. [1]\nshort\n[2][3] long enough line with text"
        );
        assert_eq!(pieces(&joined, PosthocMode::Uncited), Vec::<Range<usize>>::new());
        assert_eq!(pieces(&joined, PosthocMode::All).len(), 2);
        assert_eq!(join_citation_lines("\n[1]"), "\n[1]", "nothing to join");
    }

    #[test]
    fn pieces_are_lines_or_sentences_by_mode() {
        let text = "## A heading of some length\nFirst sentence here. Second one is cited [0].\nUncited line is here.";
        let texts = |mode| pieces(text, mode).into_iter().map(|r| &text[r]).collect::<Vec<_>>();
        assert_eq!(texts(PosthocMode::Uncited), ["Uncited line is here."]);
        assert_eq!(texts(PosthocMode::Sentence), ["First sentence here.", "Uncited line is here."]);
        assert_eq!(texts(PosthocMode::All).len(), 2);
        assert!(texts(PosthocMode::None).is_empty());
    }

    #[test]
    fn a_reply_may_only_add_citations_that_exist() {
        let check = |piece: &str, reply: &str, expected: Option<&str>| {
            assert_eq!(checked(piece, reply, |n| n < 3).as_deref(), expected, "{reply}");
        };
        check(
            "It works. It is fast.",
            "[Response_Start]It works [1]. It is fast [2][0].[Response_End]",
            Some("It works [1]. It is fast [2][0]."),
        );
        check("It works.", "It  works [1].", Some("It  works [1]."));
        check("It works.", "It works well [1].", None);
        check("It works.", "It works [9].", None);
        check("It works.", "It works [9][1].", Some("It works [1]."));
        check("It works.", "It works.", None);
        check("It works. So.", "It works [9]. So [0].", Some("It works. So [0]."));
        check("It works [2].", "It works [1].", None);
        check("It works [2].", "It works [2][1].", Some("It works [2][1]."));
        check("It works.", "I cannot do that.", None);
    }

    proptest::proptest! {
        /// Whatever a model replies, an accepted piece differs from the asked one by citations that exist.
        #[test]
        fn accepted_pieces_keep_their_words(piece in "[A-Za-z .\\[\\]0-9]{0,60}", reply in "\\PC{0,80}", at in 0_usize..60) {
            let inserted: String = piece.chars().take(at).chain(" [1][88]".chars()).chain(piece.chars().skip(at)).collect();
            for reply in [reply.as_str(), inserted.as_str()] {
                if let Some(kept) = checked(&piece, reply, |n| n < 5) {
                    proptest::prop_assert_eq!(plain(&kept), plain(&piece));
                    proptest::prop_assert!(numbers(&kept).len() > numbers(&piece).len());
                }
            }
        }

        #[test]
        fn pieces_are_in_order_and_inside_the_text(text in "(\\PC{0,30}\n){0,5}") {
            let joined = join_citation_lines(&text);
            for mode in [PosthocMode::All, PosthocMode::Uncited, PosthocMode::Sentence] {
                let mut from = 0;
                for range in pieces(&joined, mode) {
                    proptest::prop_assert!(range.start >= from && joined.get(range.clone()).is_some());
                    from = range.end;
                }
            }
        }
    }
}
