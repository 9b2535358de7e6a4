use super::*;

fn plain(markdown: &str) -> String {
    html(markdown, &|_| None)
}

#[test]
fn structure_becomes_elements() {
    let got = plain(
        "# One\n\nText *a* **b** `c<d`\n\n- x\n- y\n\n3. z\n\n> q\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n```rs\nlet a = b < c;\nnext\n```\n",
    );
    for piece in [
        "<h3>One</h3>",
        "<p>Text <em>a</em> <strong>b</strong> <code>c&lt;d</code></p>",
        "<ul><li>x</li>\n<li>y</li>\n</ul>",
        "<ol start=\"3\"><li>z</li>\n</ol>",
        "<th scope=\"col\" class=\"right\">b</th></tr></thead><tbody>",
        "<td>1</td><td class=\"right\">2</td></tr>\n</tbody></table></div>",
        "<pre><code>let a = b &lt; c;\nnext\n</code></pre>",
    ] {
        assert!(got.contains(piece), "{piece}\nis missing in\n{got}");
    }
}

#[test]
fn nothing_of_a_strangers_html_comes_out() {
    for (markdown, words) in [
        ("a <script>alert(1)</script> b", "a"),
        ("<script>alert(1)</script>\n\nafter", "after"),
        ("<img src=x onerror=alert(1)>", ""),
        ("<div onclick=\"x()\">kept</div>", "kept"),
        ("[click](javascript:alert(1))", "click"),
        ("[click](data:text/html,x)", "click"),
        ("![tracker](https://example.org/t.png)", "tracker"),
        ("<style>body{display:none}</style>\n\nafter", "after"),
        ("<a href=\"https://example.org\" onmouseover=\"x()\">kept</a>", "kept"),
        ("<svg/onload=alert(1)>", ""),
        ("x \" onload=\"y", "onload="),
    ] {
        let got = plain(markdown);
        assert!(got.contains(words), "{markdown}: {got}");
        for bad in [
            "<script",
            "<img",
            "<div o",
            "javascript:",
            "data:",
            "<style",
            "<svg",
            " onmouse",
            "\" on",
        ] {
            assert!(!got.contains(bad), "{markdown}: {got}");
        }
    }
}

#[test]
fn only_elements_of_ours_come_out_of_anything() {
    let ours = [
        "p",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "pre",
        "code",
        "ol",
        "ul",
        "li",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "em",
        "strong",
        "del",
        "a",
        "br",
        "hr",
        "span",
    ];
    proptest::proptest!(|(source in r#"([<>\[\]()*_`"'&!=/#|\-\n0-9a-z :]|<script>|<a href=|\]\(http://|<!--|-->){0,60}"#)| {
        let got = plain(&source);
        for (at, _) in got.match_indices('<') {
            let name = got[at + 1..].trim_start_matches('/');
            let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
            proptest::prop_assert!(ours.contains(&&name[..end]), "{source:?}: {got}");
        }
    });
}

#[test]
fn headings_leave_no_level_out() {
    let got = plain("## A\n\n#### B\n\n##### C\n\n### D\n\n# E\n");
    let levels = ["<h3>A", "<h4>B", "<h5>C", "<h4>D", "<h3>E"];
    let places: Vec<_> = levels.map(|level| got.find(level).expect(level)).into();
    assert!(places.is_sorted(), "{got}");
}

#[test]
fn what_only_looks_like_a_tag_stays() {
    assert_eq!(plain("if a<b and c>d, or <unk>"), "<p>if a&lt;b and c&gt;d, or &lt;unk&gt;</p>\n");
    assert_eq!(plain("a <span style=\"color:blue\">[1]</span> b"), "<p>a [1] b</p>\n");
    assert_eq!(plain("costs $5_a$ and $x*y*z$"), "<p>costs $5_a$ and $x*y*z$</p>\n");
}

#[test]
fn citations_lead_to_references_and_unknown_numbers_stay_text() {
    let got = html("Seen [1, 2] and [7], `[1]`.", &|n| (n < 5).then(|| format!("#a-{n}")));
    assert_eq!(
        got,
        "<p>Seen <span class=\"cites\">[<a class=\"cite\" href=\"#a-1\" aria-label=\"Reference 1\">1</a>, \
         <a class=\"cite\" href=\"#a-2\" aria-label=\"Reference 2\">2</a>]</span> and [7], <code>[1]</code>.</p>\n"
    );
}

#[test]
fn deep_nesting_is_cut_and_closed() {
    let got = plain(&format!("{}x", "> ".repeat(5_000)));
    let opened = got.matches("<blockquote>").count();
    assert!(opened <= DEEPEST && opened == got.matches("</blockquote>").count());
    assert!(got.contains('x'));
}
