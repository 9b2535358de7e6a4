//! Formulas as text in one line.

use super::tree::{Child, Element};

/// Presentation `MathML` in one line: `x_i^2`, `a/(b+c)`. Annotations are left out.
pub(crate) fn linear(math: Element<'_>) -> String {
    let mut out = String::new();
    write(math, &mut out);
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn write(element: Element<'_>, out: &mut String) {
    let joints: &[&str] = match element.name() {
        "annotation" | "annotation-xml" => return,
        "msub" | "munder" => &["_"],
        "msup" | "mover" => &["^"],
        "msubsup" | "munderover" => &["_", "^"],
        "mfrac" => &["/"],
        "mtext" | "mtd" | "mtr" => {
            out.push(' ');
            tokens(element, out);
            out.push(' ');
            return;
        }
        _ => {
            tokens(element, out);
            return;
        }
    };
    for (at, part) in element.elements().enumerate() {
        if at > 0 {
            out.push_str(joints.get(at - 1).unwrap_or(&" "));
        }
        let mut inner = String::new();
        write(part, &mut inner);
        let inner = inner.trim();
        if inner.chars().count() > 1
            && part.is_any(&["mrow", "mfrac", "msub", "msup", "mstyle", "mfenced"])
        {
            out.push('(');
            out.push_str(inner);
            out.push(')');
        } else {
            out.push_str(inner);
        }
    }
}

fn tokens(element: Element<'_>, out: &mut String) {
    for child in element.children() {
        match child {
            Child::Element(inner) => write(inner, out),
            Child::Text(text) if element.name() == "mtext" => out.push_str(text),
            Child::Text(text) => out.push_str(text.trim()),
        }
    }
}

/// TeX as PMC wraps it in a whole document: what stands inside, without the dollar signs.
pub(crate) fn tex_body(tex: &str) -> String {
    let body = tex.split_once("\\begin{document}").map_or(tex, |(_, rest)| rest);
    let body = body.split_once("\\end{document}").map_or(body, |(body, _)| body);
    let body = body.trim().trim_matches('$');
    body.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::super::xml;
    use super::*;
    use crate::deadline::Bounds;

    #[test]
    fn formulas_become_one_line() {
        let source =
            b"<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>=</mo><mfrac><mi>a</mi>
            <mrow><mi>b</mi><mo>+</mo><mi>c</mi></mrow></mfrac><annotation>x</annotation></math>";
        let xml = xml::read(source, "JATS", &Bounds::default()).expect("well-formed");
        assert_eq!(linear(xml.tree.root()), "x_i^2=a/(b+c)");
        let tex = "\\documentclass{minimal} \\begin{document} $$ a\n b $$ \\end{document}";
        assert_eq!(tex_body(tex), "a b");
    }
}
