//! Small documents of every format, made here.

use std::fmt::Write as _;

/// A JATS article with everything the reader knows.
pub(crate) const JATS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Publishing DTD v1.1 20151215//EN" "JATS-journalpublishing1.dtd">
<pmc-articleset><article xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:mml="http://www.w3.org/1998/Math/MathML" article-type="research-article">
<front><journal-meta><journal-title-group><journal-title>Journal of Things</journal-title></journal-title-group></journal-meta>
<article-meta>
<article-id pub-id-type="pmid">123</article-id><article-id pub-id-type="pmcid">PMC456.2</article-id><article-id pub-id-type="doi">10.1000/J.1</article-id>
<title-group><article-title>CO<sub>2</sub> and <italic>E. coli</italic><xref ref-type="fn" rid="f1">*</xref></article-title><subtitle>a study</subtitle></title-group>
<contrib-group><contrib contrib-type="author"><name><surname>Ng</surname><given-names>Ada</given-names></name></contrib>
<contrib contrib-type="author"><collab>The Group<contrib-group><contrib><name><surname>In</surname><given-names>Side</given-names></name></contrib></contrib-group></collab></contrib>
<contrib contrib-type="editor"><name><surname>Ed</surname><given-names>It</given-names></name></contrib></contrib-group>
<pub-date pub-type="collection"><year>2014</year></pub-date>
<pub-date pub-type="epub"><day>3</day><month>March</month><year>2013</year></pub-date>
<history><date date-type="received"><year>2012</year></date></history>
<permissions><license xlink:href="https://creativecommons.org/licenses/by/4.0/"><license-p>Free</license-p></license></permissions>
<related-article related-article-type="retraction-forward" xlink:href="10.1000/j.9"/>
<abstract><sec><title>Background</title><p>We ask.</p></sec><sec><title>Results:</title><p>We know.</p></sec></abstract>
<abstract abstract-type="toc"><p>Short.</p></abstract>
<abstract abstract-type="summary"><title>Author Summary</title><p>For all.</p></abstract>
</article-meta></front>
<body><p>Before.</p><sec><title>Methods</title><p>We used 10<sup>5</sup> cells<sup><xref ref-type="bibr" rid="b1">1</xref>,<xref ref-type="bibr" rid="b2">2</xref></sup>. More<fig id="g"><label>Fig. 1.</label><caption><title>Cells.</title><p>They grow [<xref ref-type="bibr" rid="b1">1</xref>].</p></caption></fig> text (see [<xref ref-type="bibr" rid="b1">1</xref>]) and Ng et al. (<xref ref-type="bibr" rid="b1">2010</xref>).</p>
<sec><title>Statistical analysis</title><p>With&nbsp;care: <inline-formula><alternatives><tex-math>$x$</tex-math><mml:math><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup></mml:math></alternatives></inline-formula>.</p>
<list><list-item><label>1.</label><p>one</p></list-item><list-item><p>two</p></list-item></list></sec><p>After.</p></sec>
<sec><title>Results</title><p>Good.<fn><p>A note.</p></fn></p><table-wrap><label>Table 1</label><caption><p>Numbers</p></caption><table><tr><td>9</td></tr></table></table-wrap></sec></body>
<back><ack><p>Thanks.</p></ack><app-group><app><title>Appendix A</title><p>More.</p></app></app-group>
<ref-list><ref id="b1"><label>1</label><element-citation><person-group><name><surname>Lo</surname><given-names>Kyle</given-names></name></person-group><article-title>First things</article-title><source>J</source><year>2010</year><pub-id pub-id-type="doi">10.1000/r.1</pub-id></element-citation></ref>
<ref id="b2"><mixed-citation><name><surname>Wu</surname> <given-names>Bo</given-names></name>. <article-title>Second.</article-title> <source>K</source> (<year>2011</year>) <ext-link xlink:href="https://doi.org/10.1000/r.2">link</ext-link></mixed-citation></ref></ref-list></back>
</article></pmc-articleset>"#;

/// TEI with coordinates.
pub(crate) const TEI: &str = r#"<?xml version="1.0"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt><title level="a">Of Things</title></titleStmt>
<publicationStmt><date when="2019-05-02"/></publicationStmt><sourceDesc><biblStruct><analytic><author><persName><forename type="first">Ada</forename><surname>Ng</surname></persName></author></analytic>
<monogr><title level="j">Journal</title></monogr><idno type="DOI">10.1000/T.1</idno><idno type="arXiv">arXiv:1905.01234v2[cs.CL]</idno></biblStruct></sourceDesc></fileDesc>
<profileDesc><abstract><div><p>We show.</p></div></abstract></profileDesc></teiHeader><text><body>
<div><head n="1">Methods</head></div><div><head n="1.1">People</head><p><s coords="2,10,20,100,10">First one <ref type="bibr">[1,</ref><ref type="bibr">2]</ref>.</s> <s coords="3,10,20,100,10;3,10,32,50,10">Second one.</s></p></div>
<figure type="table" coords="4,1,2,3,4"><head>Table 1</head><label>1</label><figDesc>Numbers.</figDesc></figure><note place="foot">A note.</note></body>
<back><div type="acknowledgement"><div><p>Thanks.</p></div></div><div type="references"><listBibl><biblStruct><analytic><title>First things</title><author><persName><forename>Kyle</forename><surname>Lo</surname></persName></author><idno type="DOI">10.1000/r.1</idno></analytic><monogr><title level="j">J</title><imprint><date when="2010"/></imprint></monogr></biblStruct></listBibl></div></back></text></TEI>"#;

/// A page as LaTeXML makes it.
pub(crate) const LATEXML: &str = r##"<!DOCTYPE html><html><head><title>x</title><base href="/html/2004.14974v2/"></head><body><article class="ltx_document">
<h1 class="ltx_title ltx_title_document">Fact or <em>Fiction</em></h1><div class="ltx_authors"><span class="ltx_personname">Ada Ng<math alttext="{}^{1}"></math>&nbsp;&nbsp;Kyle Lo<br>University of Somewhere</span></div>
<div class="ltx_abstract"><h6 class="ltx_title">Abstract</h6><p class="ltx_p">We ask.</p></div>
<section class="ltx_section"><h2 class="ltx_title"><span class="ltx_tag">1 </span>Methods</h2><div class="ltx_para"><p class="ltx_p">As in <cite class="ltx_cite">[<a href="#b">3</a>]</cite> we take <math alttext="x^{2}"><mi>x</mi></math>.<span class="ltx_note"><sup class="ltx_note_mark">1</sup><span class="ltx_note_content"><sup class="ltx_note_mark">1</sup>A note.</span></span> See <cite class="ltx_cite">Lo et al. (<a>2019</a>)</cite>.</p></div>
<section class="ltx_subsection"><h3 class="ltx_title"><span class="ltx_tag">1.1 </span>Data</h3><div class="ltx_para"><p class="ltx_p">Much.</p></div></section>
<figure class="ltx_figure"><img src=""><figcaption class="ltx_caption"><span class="ltx_tag">Figure 1: </span>A picture.</figcaption></figure></section>
<section class="ltx_bibliography"><ul><li class="ltx_bibitem"><span class="ltx_tag">Lo (2019)</span><span class="ltx_bibblock">Kyle Lo. 2019.</span><span class="ltx_bibblock">First things.</span><span class="ltx_bibblock">In <em>ACL</em>. <a href="https://doi.org/10.1000/r.1">doi</a></span></li></ul></section>
<section class="ltx_appendix"><h2 class="ltx_title"><span class="ltx_tag">Appendix A </span>Details</h2><div class="ltx_para"><p class="ltx_p">Many.</p></div></section></article></body></html>"##;

/// Markdown with front matter.
pub(crate) const MARKDOWN: &str = "---\ntitle: Of Things\nauthors: [Ada Ng, Kyle Lo]\ndate: 2020-01-02\n---\n\n# Methods\n\nWe *do* [@lo2019].\n\n\
    | a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```\ncode\n```\n\n# References\n\n1. Kyle Lo. 2019. First things. ACL.\n";

/// Plain text.
pub(crate) const TEXT: &str = "Of Things\n\nAbstract\n\nWe ask and ans-\nwer.\n\n1 Methods\n\nWe do.\n\nReferences\n\n[1] Kyle Lo. 2019. First things. ACL.\n";

/// A PDF of these pages, each a list of lines: x, y from the bottom, size, text.
pub(crate) fn pdf(pages: &[Vec<(u32, u32, u32, &str)>]) -> Vec<u8> {
    pdf_with(pages, "")
}

/// The same with an object as in [`pdf_of`].
pub(crate) fn pdf_with(pages: &[Vec<(u32, u32, u32, &str)>], form: &str) -> Vec<u8> {
    let streams = pages.iter().map(|page| {
        let mut stream = String::new();
        for (x, y, size, text) in page {
            writeln!(stream, "BT /F1 {size} Tf 1 0 0 1 {x} {y} Tm ({text}) Tj ET")
                .expect("a string takes all");
        }
        ("", stream.into_bytes())
    });
    pdf_of(&streams.collect::<Vec<_>>(), form)
}

/// A PDF of these pages, each the other entries of its stream's dictionary and the stream as packed; `form` is an object
/// that every page can draw as `/Fm`, and the file's metadata if it is a packet of XMP.
pub(crate) fn pdf_of(pages: &[(&str, Vec<u8>)], form: &str) -> Vec<u8> {
    let mut objects: Vec<Vec<u8>> =
        vec![b"<< /Type /Catalog /Pages 2 0 R /Metadata 4 0 R >>".to_vec()];
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 5 + at * 2)).collect();
    objects.push(
        format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()).into(),
    );
    objects.push(
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_vec(),
    );
    objects.push(if form.is_empty() { b"null".to_vec() } else { form.into() });
    for (at, (entries, stream)) in pages.iter().enumerate() {
        let content = 6 + at * 2;
        objects.push(
            format!(
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> \
                 /XObject << /Fm 4 0 R >> >> /Contents {content} 0 R >>"
            )
            .into(),
        );
        let head = format!("<< /Length {} {entries} >>\nstream\n", stream.len());
        objects.push([head.as_bytes(), stream, b"\nendstream"].concat());
    }
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut offsets = String::new();
    for (at, object) in objects.iter().enumerate() {
        writeln!(offsets, "{:010} 00000 n ", out.len()).expect("a string takes all");
        out.extend(format!("{} 0 obj\n", at + 1).bytes());
        out.extend(object);
        out.extend(b"\nendobj\n");
    }
    let (start, count) = (out.len(), objects.len() + 1);
    let end = format!(
        "xref\n0 {count}\n0000000000 65535 f \n{offsets}trailer\n<< /Size {count} /Root 1 0 R >>\n\
         startxref\n{start}\n%%EOF\n"
    );
    out.extend(end.bytes());
    out
}

/// A paper of two pages in two columns.
pub(crate) fn two_columns() -> Vec<u8> {
    let mut first = vec![
        (120, 740, 18, "A Study of Several Things"),
        (220, 715, 10, "Ada Ng and Kyle Lo"),
        (50, 690, 12, "Abstract"),
        (50, 675, 10, "This paper shows that much can be trans-"),
        (50, 663, 10, "lated into other things by many people."),
        (50, 640, 12, "1 Introduction"),
    ];
    let left = [
        "The first column has a good number of",
        "lines that people read before any of the",
        "lines that stand beside them, and so it",
        "goes on with words for a while until it",
        "comes to its end at the foot of the page",
        "with a last line of several words here.",
    ];
    let right = [
        "The second column goes on from there and",
        "has lines of its own that are read only",
        "when those of the first one are at their",
        "end, as everybody knows who reads papers",
        "with columns, and this is its last line.",
    ];
    for (at, text) in left.into_iter().enumerate() {
        first.push((50, 624 - 12 * u32::try_from(at).expect("few"), 10, text));
    }
    for (at, text) in right.into_iter().enumerate() {
        first.push((320, 690 - 12 * u32::try_from(at).expect("few"), 10, text));
    }
    first.push((320, 600, 12, "2 Results"));
    first.push((320, 585, 10, "Results are good and fill this line well."));
    first.push((300, 40, 10, "17"));
    let second = vec![
        (50, 700, 10, "They go on upon the second page."),
        (50, 670, 9, "Figure 1: A caption of one line."),
        (50, 640, 12, "References"),
        (50, 620, 10, "[1] Kyle Lo. 2019. First things of all. In ACL."),
        (50, 608, 10, "[2] Bo Wu. 2018. Second things of all. In"),
        (60, 596, 10, "EMNLP. doi:10.1000/r.2"),
        (300, 40, 10, "18"),
    ];
    pdf(&[first, second])
}
