//! One LaTeX file.
//!
//! The list of references is a `thebibliography` formatted by the chosen CSL style, so that the file compiles by
//! itself with any engine and needs no run of `BibTeX`; citations are `\cite` of natbib, so that they work, link and
//! can be added to. The same references stand in a `filecontents*` under the same keys: who goes on writing replaces
//! the list by `\bibliography`. Every sign outside of ASCII that has a command is written as one; other scripts are
//! printed by engines that have a font for them (`lualatex`, `xelatex`) and shown by their code points elsewhere.

use std::fmt::Write as _;

use scholar_core::Abstention;

use super::bibtex;
use super::item::Item;
use super::lead::Lead;
use super::outline::{Outline, OutlineTable, Sentence};
use super::style::{CitesBy, Link, Run};
use crate::latex::encode::text as latex;

/// Everything before the document; `\oschar` prints its second argument where the engine knows all of Unicode.
const PREAMBLE: &str = r"\documentclass[11pt]{article}
\usepackage[margin=2.5cm]{geometry}
\usepackage{iftex}
\ifpdftex
  \usepackage[T1]{fontenc}
  \usepackage[utf8]{inputenc}
  \usepackage{textcomp}
  \newcommand{\oschar}[2]{{\footnotesize\texttt{[#1]}}}
\else
  \usepackage{fontspec}
  \newcommand{\oschar}[2]{#2}
\fi
\usepackage{amssymb}
";

const PACKAGES: &str = r"\usepackage[hidelinks,unicode]{hyperref}
\usepackage{url}
\urlstyle{same}
\emergencystretch=3em
";

pub(super) fn write(outline: &Outline) -> String {
    let mut tex = String::new();
    if !outline.items.is_empty() {
        let _infallible = write!(
            tex,
            "\\begin{{filecontents*}}{{\\jobname-references.bib}}\n{}\\end{{filecontents*}}\n",
            bibtex::write_for_latex(&outline.items)
        );
    }
    tex.push_str(PREAMBLE);
    let options = match outline.cites_by {
        CitesBy::Number => "numbers,square,comma,sort&compress",
        CitesBy::Raised => "super,comma,sort&compress",
        CitesBy::Author => "authoryear,round,semicolon",
        CitesBy::Note => "authoryear,round,semicolon",
    };
    let _infallible = write!(tex, "\\usepackage[{options}]{{natbib}}\n{PACKAGES}");
    let _infallible = write!(
        tex,
        "\\title{{{}}}\n\\date{{}}\n\\begin{{document}}\n\\maketitle\n\n",
        latex(&outline.title)
    );
    if let Some(Abstention { heading, message }) = outline.abstention {
        let _infallible = write!(tex, "\\textbf{{{heading}}} {message}\n\n");
    }
    body(outline, &mut tex);
    references(outline, &mut tex);
    if !outline.notices.is_empty() {
        tex.push_str("\\section*{Notes}\n\\begin{itemize}\n");
        for notice in &outline.notices {
            let _infallible = writeln!(tex, "\\item {{}}{}", latex(notice));
        }
        tex.push_str("\\end{itemize}\n\n");
    }
    let _infallible = write!(
        tex,
        "\\bigskip\\noindent{{\\footnotesize {}}}\n\n\\end{{document}}\n",
        latex(&outline.generated_by)
    );
    tex
}

fn body(outline: &Outline, tex: &mut String) {
    for (at, part) in outline.parts.iter().enumerate() {
        tex.push_str(&table(outline, at));
        if let Some(heading) = &part.heading {
            let command = if part.below { "subsection" } else { "section" };
            let _infallible = write!(tex, "\\{command}*{{{}}}\n\n", latex(heading));
        }
        if let Some(about) = &part.about {
            let _infallible = write!(tex, "\\begin{{quote}}\n{}\n\\end{{quote}}\n\n", latex(about));
        }
        let mut listed = false;
        for paragraph in &part.paragraphs {
            if paragraph.bullet != listed {
                tex.push_str(if listed { "\\end{itemize}\n\n" } else { "\\begin{itemize}\n" });
                listed = paragraph.bullet;
            }
            if listed {
                tex.push_str("\\item {}");
            }
            if let Some(label) = &paragraph.label {
                let _infallible = write!(tex, "\\textbf{{{}:}} ", latex(label));
            }
            let sentences: Vec<String> =
                paragraph.sentences.iter().map(|one| sentence(one, outline)).collect();
            tex.push_str(&sentences.join("\n"));
            tex.push_str(if listed { "\n" } else { "\n\n" });
        }
        if listed {
            tex.push_str("\\end{itemize}\n\n");
        }
    }
    tex.push_str(&table(outline, outline.parts.len()));
    if let Some(legend) = outline.legend {
        let _infallible =
            write!(tex, "\\noindent{{\\footnotesize \\textdagger{{}} {}}}\n\n", latex(legend));
    }
}

/// The table, where it stands in front of part `at`; columns of equal width that wrap.
fn table(outline: &Outline, at: usize) -> String {
    let Some(table) = outline.table.as_ref().filter(|table| table.before == at) else {
        return String::new();
    };
    let width = 92 / (table.columns.len() + 1);
    let columns = format!("p{{0.{width:02}\\linewidth}}").repeat(table.columns.len() + 1);
    let heads: String =
        table.columns.iter().map(|head| format!(" & \\textbf{{{}}}", latex(head))).collect();
    let mut tex = format!(
        "\\begin{{center}}\\footnotesize\\raggedright\n\\begin{{tabular}}{{{columns}}}\n\\hline\n\\textbf{{{}}}{heads} \\\\\n\\hline\n",
        OutlineTable::PAPERS
    );
    for row in &table.rows {
        let cells: String = row.cells.iter().map(|cell| format!(" & {}", latex(cell))).collect();
        let _infallible = writeln!(
            tex,
            "{}~\\cite{{{}}}{cells} \\\\",
            latex(&row.paper),
            outline.keys[row.reference]
        );
    }
    tex + "\\hline\n\\end{tabular}\n\\end{center}\n\n"
}

fn sentence(sentence: &Sentence, outline: &Outline) -> String {
    let keys: Vec<&str> = sentence.cited.iter().map(|at| outline.keys[*at].as_str()).collect();
    let keys = keys.join(",");
    let (mut before, mut after) = (String::new(), String::new());
    match outline.cites_by {
        _ if keys.is_empty() => {}
        CitesBy::Note => {
            let _infallible = write!(after, "\\footnote{{{}}}", runs(&sentence.citation));
        }
        CitesBy::Raised => after = format!("\\cite{{{keys}}}"),
        CitesBy::Number => before = format!("~\\cite{{{keys}}}"),
        CitesBy::Author => before = format!(" \\citep{{{keys}}}"),
    }
    for quote in &sentence.quotes {
        let page = quote.page.map(|page| format!(", p.~{page}")).unwrap_or_default();
        let _infallible = write!(
            after,
            "\\footnote{{\\textquotedblleft{{}}{}\\textquotedblright{{}} --- \\emph{{{}}}{page}, \\citealp{{{}}}.}}",
            latex(&quote.text),
            latex(&outline.items[quote.reference].display_title()),
            outline.keys[quote.reference],
        );
    }
    let closing = latex(&sentence.closing);
    let mark = if sentence.marked { "\\textdagger{}" } else { "" };
    let lead = sentence.lead.as_ref().map_or_else(String::new, |Lead { emphasised, rest }| {
        format!("\\emph{{{}}}{}", latex(emphasised), latex(rest))
    });
    format!("{lead}{}{before}{closing}{mark}{after}", latex(&sentence.text))
}

fn references(outline: &Outline, tex: &mut String) {
    if outline.entries.is_empty() {
        return;
    }
    let _infallible = writeln!(tex, "\\begin{{thebibliography}}{{{}}}", outline.entries.len());
    for entry in &outline.entries {
        let item = &outline.items[entry.reference];
        let mut text = runs(&entry.text);
        // Where a style numbers in the text itself, LaTeX's own number is enough.
        if entry.label.is_empty() {
            text = text.trim().to_owned();
        }
        let _infallible = write!(
            tex,
            "\\bibitem[{{{}}}]{{{}}}\n{}\n\n",
            short_label(item),
            outline.keys[entry.reference],
            text.trim()
        );
    }
    tex.push_str("\\end{thebibliography}\n");
    tex.push_str("% \\bibliographystyle{plainnat}\\bibliography{\\jobname-references}\n\n");
}

/// What natbib cites by: `Lovelace et al.(1843)`.
fn short_label(item: &Item) -> String {
    let family = |at: usize| latex(&item.authors[at].family);
    let names = match item.authors.len() {
        0 => latex(&item.display_title().split(' ').take(4).collect::<Vec<_>>().join(" ")),
        1 => family(0),
        2 => format!("{} and {}", family(0), family(1)),
        _ => format!("{} et~al.", family(0)),
    };
    let year = item.year.map_or_else(|| "n.d.".to_owned(), |year| year.to_string());
    format!("{{{names}}}({year})")
}

fn runs(runs: &[Run]) -> String {
    runs.iter().map(run).collect()
}

fn run(run: &Run) -> String {
    // Within a note `%` and `#` would be obeyed before `\url` sees them; `\href` below takes them escaped.
    if let Some(Link::Url(url)) = &run.link
        && run.text == *url
        && !url.contains(['%', '#'])
        && let Some(url) = plain_address(url)
    {
        return format!("\\url{{{url}}}");
    }
    let mut text = latex(&run.text);
    let mut wrap = |command: &str| text = format!("\\{command}{{{text}}}");
    if run.look.italic {
        wrap("emph");
    }
    if run.look.bold {
        wrap("textbf");
    }
    if run.look.small_caps {
        wrap("textsc");
    }
    if run.look.underlined {
        wrap("underline");
    }
    match run.look.raised {
        Some(true) => wrap("textsuperscript"),
        Some(false) => wrap("textsubscript"),
        None => {}
    }
    match &run.link {
        Some(Link::Url(url)) => match plain_address(url) {
            Some(url) => {
                format!("\\href{{{}}}{{{text}}}", url.replace('#', "\\#").replace('%', "\\%"))
            }
            None => text,
        },
        _ => text,
    }
}

/// An address that LaTeX can take as it is.
fn plain_address(url: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_graphic() && !"{}\\^\"`<>|".contains(c);
    url.chars().all(plain).then_some(url)
}
