use scholar_core::Answer;
use scholar_testing::{exploration, hostile};

use super::*;

fn written(answer: &Answer) -> String {
    page(Exploration::of(answer).expect("an exploration"), "openscholar, no model")
}

#[test]
fn all_texts_are_there_in_full_with_links() {
    let answer = exploration::sample();
    let html = written(&answer);
    for node in &answer.tree.as_ref().expect("a tree").nodes {
        for one in &node.evidence {
            let reasons = one.rationale.iter().chain(&one.discarded);
            for text in reasons.chain([&one.title]) {
                assert!(html.contains(&escape_html(text)), "{text}");
            }
        }
        let texts = node.answer.iter().chain(&node.gaps).chain(&node.reason);
        texts.for_each(|text| assert!(html.contains(&escape_html(text)), "{text}"));
    }
    assert!(html.contains("<a href=\"https://example.org/papers/7\""));
    assert!(html.contains("[5]E -&gt; Q") && html.contains("3 chains pruned"));
}

#[test]
fn it_can_be_read_without_seeing_it() {
    let html = written(&exploration::sample());
    for part in
        ["<html lang=\"en\">", "<header>", "<main>", "<nav aria-label=", "<footer>", "<title>"]
    {
        assert!(html.contains(part), "{part}");
    }
    assert_eq!(html.matches("<h1").count(), 1);
    assert_eq!(html.matches("<details").count(), html.matches("</details>").count());
    for id in ["outline", "drawing", "tree", "references"] {
        assert_eq!(html.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
        assert!(
            html.contains(&format!("aria-labelledby=\"{id}\""))
                && html.contains(&format!("href=\"#{id}\""))
        );
    }
}

#[test]
fn nodes_stand_inside_their_parents() {
    let html = written(&exploration::sample());
    let (_, tree) = html.split_once("id=\"tree\"").expect("a tree");
    let mut depth = 0;
    let mut seen = Vec::new();
    for line in tree.lines() {
        if line.starts_with("<summary>") && line.contains("class=\"state\"") {
            let id = line.trim_start_matches("<summary>").split(' ').next().expect("an id");
            seen.push((id.to_owned(), depth));
        }
        depth += line.matches("<details").count();
        depth -= line.matches("</details>").count();
    }
    let seen: Vec<(&str, usize)> = seen.iter().map(|(id, depth)| (id.as_str(), *depth)).collect();
    let expected = [("0", 1), ("1", 2), ("1.1", 3), ("1.2", 3), ("2", 2), ("2.1", 3), ("3", 2)];
    assert_eq!(seen, expected);
}

#[test]
fn nothing_in_it_is_obeyed_or_loaded() {
    let script = "</title></style><script>alert(1)</script><img src=x onerror=alert(1)>".to_owned();
    let strings = hostile::STRINGS.iter().map(|string| (string.name, string.text()));
    for (name, text) in strings.chain([("script", script)]) {
        let mut answer = exploration::hostile(&text);
        answer.references[0].url = Some(format!("javascript:alert(1)//{text}"));
        answer.references[0].doi = None;
        let html = written(&answer);
        let found: Vec<char> = hostile::obeyed(&html).into_iter().filter(|c| *c != '\n').collect();
        assert!(found.is_empty(), "{name}: {found:?}");
        for forbidden in
            ["<script", "<img", "<link", "<iframe", "src=\"", "javascript:alert(1)//\"", "@import"]
        {
            assert!(!html.contains(forbidden), "{name}: {forbidden}");
        }
        for address in html.split("href=\"").skip(1) {
            let ok = ["#", "https://", "http://"].iter().any(|start| address.starts_with(start));
            assert!(ok, "{name}: {}", &address[..address.len().min(40)]);
        }
    }
}

/// The page's rules must not reach into the drawing.
#[test]
fn the_styles_of_page_and_drawing_share_no_class() {
    let classes = |css: &'static str| -> std::collections::BTreeSet<&'static str> {
        let selectors =
            css.lines().filter_map(|line| line.split_once('{')).map(|(before, _)| before);
        let words = selectors.flat_map(|one| one.split([' ', ',', '>', ':']));
        words.filter(|word| word.starts_with('.')).collect()
    };
    let drawing = classes(include_str!("../svg/style.css"));
    assert!(drawing.contains(".soft"));
    let shared: Vec<_> = classes(CSS).intersection(&drawing).copied().collect();
    assert!(shared.is_empty(), "{shared:?}");
}
