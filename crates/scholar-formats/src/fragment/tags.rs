//! Raw HTML inside Markdown, as words.

/// Elements whose tags are dropped; of any other the tag stays as text, since answers hold `a<b` and `<unk>`.
const ELEMENTS: [&str; 72] = [
    "a",
    "abbr",
    "article",
    "audio",
    "b",
    "base",
    "blockquote",
    "body",
    "br",
    "button",
    "canvas",
    "center",
    "cite",
    "code",
    "col",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "embed",
    "figure",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "li",
    "link",
    "main",
    "mark",
    "math",
    "meta",
    "object",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "script",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "textarea",
    "th",
    "tr",
    "u",
    "ul",
];

/// Elements whose contents are no words.
const SILENT: [&str; 2] = ["script", "style"];

/// Appends `html` to `out` without comments and without the tags of known elements.
pub(super) fn words(html: &str, out: &mut String) {
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some((name, length)) = tag(rest) else {
            out.push('<');
            rest = &rest[1..];
            continue;
        };
        let closing = rest.starts_with("</");
        rest = &rest[length..];
        if SILENT.contains(&name.as_str()) && !closing {
            rest = after_closing(rest, &name);
        } else if ["br", "p", "li", "tr", "div", "td"].contains(&name.as_str()) {
            out.push('\n');
        }
    }
    out.push_str(rest);
}

/// The name in lower case and the length of the known tag that `text` begins with.
fn tag(text: &str) -> Option<(String, usize)> {
    let inside = text.strip_prefix("</").or_else(|| text.strip_prefix('<'))?;
    let length = inside.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inside.len());
    let name = inside[..length].to_ascii_lowercase();
    let end = text.find('>')?;
    let attributes =
        text[..end].get(text.len() - inside.len() + length..)?.trim_matches(['/', ' ']);
    // `<b and c>` compares; attributes of real tags have values.
    let plain = attributes.is_empty() || attributes.contains('=') || text.starts_with("</");
    (ELEMENTS.contains(&name.as_str()) && plain).then_some((name, end + 1))
}

fn after_closing<'a>(text: &'a str, name: &str) -> &'a str {
    let lower = text.to_ascii_lowercase();
    lower.find(&format!("</{name}")).map_or("", |at| {
        let rest = &text[at..];
        rest.find('>').map_or("", |end| &rest[end + 1..])
    })
}
