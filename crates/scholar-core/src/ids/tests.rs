use super::*;

#[test]
fn identifiers_round_trip_and_normalise() {
    let check = |text: &str, expect: &str| {
        let id: PaperId = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(id.to_string(), expect);
        assert_eq!(expect.parse::<PaperId>().expect("display parses"), id);
    };
    check("DOI:https://doi.org/10.1000/ABC", "doi:10.1000/abc");
    check("arXiv:2411.14199v3", "arxiv:2411.14199");
    check("arxiv:hep-th/9901001", "arxiv:hep-th/9901001");
    check("arxiv:2411.14199.pdf", "arxiv:2411.14199");
    check("pmcid:PMC1079844", "pmcid:PMC1079844");
    check("CorpusId:42", "corpusid:42");
    check("acl:2020.acl-main.1", "acl:2020.acl-main.1");
    for bad in ["", "42", "pmid:x", "arxiv:1", "doi:11.1", "pmid:+1", "acl:"] {
        assert!(bad.parse::<PaperId>().is_err(), "{bad}");
    }
}

#[test]
fn dois_lose_what_surrounds_them_and_nothing_else() {
    for (text, expect) in [
        ("https://doi.org/10.1038%2FS41586-020-2649-2", "10.1038/s41586-020-2649-2"),
        ("10.1038%2Fnature12373", "10.1038/nature12373"),
        ("doi: 10.1038/nature12373.", "10.1038/nature12373"),
        ("doi.org/10.1038/nature12373),", "10.1038/nature12373"),
        ("(10.1016/S0140-6736(96)91345-8)", "10.1016/s0140-6736(96)91345-8"),
        ("10.1016/S0140-6736(96)91345-8", "10.1016/s0140-6736(96)91345-8"),
        (
            "10.1002/(SICI)1097-4571(199806)49:8<693::AID-ASI4>3.0.CO;2-O",
            "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
        ),
        (
            "http://dx.doi.org/10.1002/(SICI)1097-4571(199806)49:8%3C693::AID-ASI4%3E3.0.CO;2-O",
            "10.1002/(sici)1097-4571(199806)49:8<693::aid-asi4>3.0.co;2-o",
        ),
        ("10.1175//2572.1", "10.1175//2572.1"),
        ("10.1000/a%2Fb", "10.1000/a%2fb"),
    ] {
        assert_eq!(PaperId::doi(text), Ok(PaperId::Doi(expect.to_owned())), "{text}");
    }
    for bad in ["10.1038/", "10.x/y", "10./y", "10.1038/a b", "https://doi.org/10.1%zz/x", "10.1/."]
    {
        assert!(PaperId::doi(bad).is_err(), "{bad}");
    }
}

#[test]
fn versions_are_read_and_left_out() {
    let versioned =
        |text: &str| PaperId::arxiv_with_version(text).map(|(id, v)| (id.to_string(), v));
    assert_eq!(versioned("2411.14199v12.pdf"), Ok(("arxiv:2411.14199".to_owned(), Some(12))));
    assert_eq!(versioned("math.GT/0309136v1"), Ok(("arxiv:math/0309136".to_owned(), Some(1))));
    assert_eq!(versioned("quant-ph/0201082"), Ok(("arxiv:quant-ph/0201082".to_owned(), None)));
    for bad in
        ["2411.141990", "v1", "abc", "math/030913", "2411.14199v99999999999", "a.b.c/0309136"]
    {
        assert!(versioned(bad).is_err(), "{bad}");
    }
    assert_eq!(PaperId::pmcid("pmc1079844.2"), Ok(PaperId::Pmcid(1_079_844)));
    for bad in ["PMC", "PMC1.x", "PMC-1", "1079844a", "PMC99999999999999999999"] {
        assert!(PaperId::pmcid(bad).is_err(), "{bad}");
    }
}

#[test]
fn registries_inside_registries_have_twins() {
    let twin = |text: &str| {
        let id: PaperId = text.parse().expect("an identifier");
        id.twin().map(|id| id.to_string())
    };
    assert_eq!(twin("doi:10.48550/arXiv.2304.05376").as_deref(), Some("arxiv:2304.05376"));
    assert_eq!(twin("arxiv:2304.05376").as_deref(), Some("doi:10.48550/arxiv.2304.05376"));
    assert_eq!(twin("doi:10.18653/v1/P19-1001").as_deref(), Some("acl:P19-1001"));
    assert_eq!(twin("doi:10.18653/v1/2020.acl-main.1").as_deref(), Some("acl:2020.acl-main.1"));
    assert_eq!(twin("doi:10.1038/nature12373"), None);
    assert_eq!(twin("pmid:1"), None);
}

#[test]
fn passage_identifiers_survive_a_hash_in_a_doi() {
    let id: PassageId = "doi:10.1/a#b#12".parse().expect("valid");
    assert_eq!(id.ordinal, 12);
    assert_eq!(id.to_string(), "doi:10.1/a#b#12");
}
