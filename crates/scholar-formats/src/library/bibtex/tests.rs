use super::*;
use crate::library::LibraryEntry;

fn library(text: &str) -> Library {
    read(&Decoded { text: text.to_owned(), assumed: None })
}

fn one(text: &str) -> LibraryEntry {
    let library = library(text);
    assert_eq!(library.notices, [], "{text}");
    assert_eq!(library.entries.len(), 1, "{text}");
    library.entries.into_iter().next().expect("one entry")
}

#[test]
fn an_entry_with_everything() {
    let entry = one(r#"
@string{ acl = "Proceedings of " # {ACL} }
@Inproceedings(vaswani17,
  title = {Attention Is {All} You Need: the {\"u}ber-model},
  author = "Vaswani, Ashish and Noam {Shazeer} and {Google Brain} and Ludwig van Beethoven and others",
  booktitle = acl # " 2017", year = 2017, month = jun, day = 12,
  doi = {https://doi.org/10.1000/ABC},
  eprint = {1706.03762v5}, archivePrefix = {arXiv},
  pmid = {12}, pmcid = {PMC34},
  url = {https://aclanthology.org/2020.acl-main.1/},
  keywords = {a, b; c},
  abstract = {We  propose.},
  file = {:a.pdf:PDF},
)"#);
    let meta = &entry.paper.meta;
    assert_eq!(meta.title, "Attention Is All You Need: the über-model");
    assert_eq!(
        meta.authors,
        ["Ashish Vaswani", "Noam Shazeer", "Google\u{a0}Brain", "Ludwig van Beethoven"]
    );
    assert_eq!(meta.id.to_string(), "doi:10.1000/abc");
    let others: Vec<String> = meta.external_ids.iter().map(ToString::to_string).collect();
    assert_eq!(others, ["arxiv:1706.03762", "pmid:12", "pmcid:PMC34", "acl:2020.acl-main.1"]);
    assert_eq!(meta.venue.as_deref(), Some("Proceedings of ACL 2017"));
    assert_eq!(meta.published.map(|day| day.to_string()).as_deref(), Some("2017-06-12"));
    assert_eq!(entry.paper.abstract_text(), Some("We propose."));
    assert_eq!(entry.tags, ["a", "b", "c"]);
    assert_eq!(entry.attachments.len(), 1);
    assert_eq!(entry.entry_key.as_deref(), Some("vaswani17"));
    assert_eq!(entry.odd, ["its list of authors is not complete"]);
}

#[test]
fn preprints_as_search_engines_write_them() {
    for text in [
        "@article{a, title={T}, journal={arXiv preprint arXiv:1706.03762}, year={2017}}",
        "@article{a, title={T}, journal={CoRR}, volume={abs/1706.03762}, year={2017}}",
        "@misc{a, title={T}, eprint={1706.03762}, primaryClass={cs.CL}}",
        "@misc{a, title={T}, doi={10.48550/arXiv.1706.03762}}",
        "@misc{a, title={T}, url={https://arxiv.org/pdf/1706.03762v2}}",
    ] {
        assert_eq!(one(text).paper.meta.id.to_string(), "arxiv:1706.03762", "{text}");
    }
}

#[test]
fn crossref_lends_what_is_missing() {
    let found = library(
        "@inproceedings{a, title={A}, crossref={P}}\n@proceedings{p, title={Proc. of X}, year=1999}",
    );
    let meta = &found.entries[0].paper.meta;
    assert_eq!((meta.venue.as_deref(), meta.year), (Some("Proc. of X"), Some(1999)));
    let alone = one("@inproceedings{a, title={A}, crossref={P}}");
    assert_eq!(alone.odd, ["its crossref \"P\" is not in this file"]);
}

#[test]
fn a_broken_entry_costs_only_itself() {
    let text = "@article{a, title={One}}\n@article{b, title={Two, year={2000}\n\n  @article{c, title={Three}}\n\
                @article{d title={Four}}\n@article{e, title = \"x } y\"}\n@article{f,title={Six}";
    let found = library(text);
    let titles: Vec<&str> =
        found.entries.iter().map(|entry| entry.paper.meta.title.as_str()).collect();
    assert_eq!(titles, ["One", "Three", "Six"]);
    assert_eq!(found.skipped, 3);
    let notices: Vec<&str> = found.notices.iter().map(|notice| notice.message.as_str()).collect();
    assert_eq!(notices[0], "line 2 (b) was skipped: the field \"title\" is not closed");
    assert!(notices[1].starts_with("line 5"), "{notices:?}");
    assert!(notices[2].contains("closes a brace it did not open"), "{notices:?}");
    assert_eq!(found.entries[2].odd, ["the entry is not closed"]);
}

#[test]
fn entries_of_one_paper_are_joined() {
    let found = library(
        "@article{a, title={T}, doi={10.1/x}, keywords={p}}\n@misc{b, title={T}, doi={10.1/X}, year=2001, keywords={q}}",
    );
    assert_eq!(found.entries.len(), 1);
    assert_eq!(found.entries[0].tags, ["p", "q"]);
    assert_eq!(found.entries[0].paper.meta.year, Some(2001));
    assert!(found.notices[0].message.contains("the two were joined"));
}

#[test]
fn comments_and_addresses_are_no_entries() {
    let found = library(
        "% me@x.org\n@comment{jabref-meta: {a}}\n@preamble{\"x\"}\n@comment free text\n@misc{a, % why\n title={T}}",
    );
    assert_eq!((found.entries.len(), found.notices.len()), (1, 0));
}

#[test]
fn macros_cannot_grow_without_bound() {
    let mut text = format!("@string{{a0 = {{{}}}}}\n", "x".repeat(1000));
    for n in 0..40 {
        text.push_str(&["@string{a", &(n + 1).to_string(), " = "].concat());
        text.push_str(&[&format!("a{n}"), " # ", &format!("a{n}"), "}\n"].concat());
    }
    text += "@misc{k, title = a40 # a39}";
    let found = library(&text);
    assert!(found.notices.iter().any(|notice| notice.message.contains("bytes")));
}

#[test]
fn unclosed_braces_take_linear_time() {
    let found = library(&"@a{x, t={".repeat(200_000));
    assert_eq!((found.entries.len(), found.skipped), (0, 1));
    let found = library(&"@a{x,\nt={\n".repeat(100_000));
    assert_eq!(found.skipped, 100_000);
    assert_eq!(found.notices.len(), 51);
}
