//! Rules of the repository that the compiler and clippy cannot state: directions between crates, lengths of files,
//! documents that name what exists, and words that must not appear.
//!
//! The patterns are built from pieces, so that this file does not contain what it looks for.
#![expect(clippy::panic, reason = "helpers of tests fail as tests do")]

mod imports;
mod profiles;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};
use scholar_core::graph::LinkDirection;
use scholar_core::{Contribution, DecidedBy, ExpansionDecision, NodeState, Relevance};

use crate::imports::Imports;

/// Longest a source file may be without a line `tidy: long because …` among its first ten.
const MOST_LINES: usize = 800;
/// Longest ARCHITECTURE.md may be.
const MOST_LINES_ARCHITECTURE: usize = 300;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the repository root exists")
}

/// Every file of the repository as (path from the root with slashes, path), sorted, without build output.
fn files() -> Vec<(String, PathBuf)> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder).expect("a folder of the repository is readable") {
            let path = entry.expect("an entry of the repository is readable").path();
            let name =
                path.file_name().and_then(|n| n.to_str()).expect("names are UTF-8").to_owned();
            if path.is_dir() {
                let hidden = name.starts_with('.') && name != ".ci";
                if !hidden && name != "target" && name != "__pycache__" {
                    folders.push(path);
                }
            } else {
                let relative = path.strip_prefix(&root).expect("walked from the root");
                found.push((relative.to_string_lossy().replace('\\', "/"), path));
            }
        }
    }
    found.sort();
    found
}

/// Files of text whose words we choose (not Cargo.lock, not data), with their text.
fn own_texts() -> Vec<(String, String)> {
    let ours = |name: &str| {
        let suffix = Path::new(name).extension().and_then(|e| e.to_str()).unwrap_or_default();
        ["rs", "toml", "md", "py", "txt", "sh", "yml", "yaml", "html", "js", "css", "tsv"]
            .contains(&suffix)
            || [".ci/run", "start", "NOTICE", "starter/NOTICE", ".gitignore"].contains(&name)
    };
    files()
        .into_iter()
        .filter(|(name, _)| ours(name))
        .map(|(name, path)| {
            let text = fs_err::read_to_string(&path)
                .unwrap_or_else(|e| panic!("{name} is UTF-8 text: {e}"));
            (name, text)
        })
        .collect()
}

fn read(name: &str) -> String {
    fs_err::read_to_string(root().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The names between backticks in `text`.
fn code_spans(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// The rows of the table under the header line that starts with `header`, as cells.
fn table<'a>(text: &'a str, header: &str) -> Vec<Vec<&'a str>> {
    let rows: Vec<Vec<&str>> = text
        .lines()
        .skip_while(|line| !line.starts_with(header))
        .skip(2)
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert!(!rows.is_empty(), "no table starts with {header:?}");
    rows
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata reads the workspace")
}

#[test]
fn crates_depend_in_the_directions_of_the_map() {
    let architecture = read("ARCHITECTURE.md");
    let mut allowed: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for row in table(&architecture, "| crate | may depend on |") {
        let [names, targets] = row[..] else { panic!("two columns in {row:?}") };
        for name in code_spans(names) {
            allowed.insert(name, code_spans(targets).into_iter().collect());
        }
    }
    let metadata = metadata();
    let members: BTreeSet<&str> = metadata.packages.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(
        allowed.keys().copied().collect::<BTreeSet<_>>(),
        members,
        "the table names every crate once"
    );
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            // The program has test code behind a feature only, which nobody gets who does not ask for it.
            let asked_for = package.name == "openscholar"
                && dependency.optional
                && !package.features.contains_key("default");
            let testing = name == "scholar-testing"
                && (dependency.kind == DependencyKind::Development || asked_for);
            if members.contains(name) && !testing && !allowed[package.name.as_str()].contains(name)
            {
                wrong.push(format!("{} depends on {name}", package.name));
            }
        }
    }
    assert!(wrong.is_empty(), "against the table in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

#[test]
fn heavy_dependencies_stay_in_their_crates() {
    let architecture = read("ARCHITECTURE.md");
    let metadata = metadata();
    let mut wrong = Vec::new();
    for row in table(&architecture, "| dependency | only in |") {
        let [dependencies, homes] = row[..] else { panic!("two columns in {row:?}") };
        let homes = code_spans(homes);
        for heavy in code_spans(dependencies) {
            let users = metadata.packages.iter().filter(|package| {
                package
                    .dependencies
                    .iter()
                    .any(|d| d.name == heavy && d.kind == DependencyKind::Normal)
            });
            for package in users.filter(|package| !homes.contains(&package.name.as_str())) {
                wrong.push(format!("{} depends on {heavy}", package.name));
            }
        }
    }
    assert!(wrong.is_empty(), "against the table in ARCHITECTURE.md:\n{}", wrong.join("\n"));
}

/// The source files of one crate by their paths from its `src/`.
fn sources(texts: &[(String, String)], krate: &str) -> Vec<(String, String)> {
    let under = format!("crates/{krate}/src/");
    let inside = |(name, text): &(String, String)| {
        let file = name.strip_prefix(&under)?;
        let is_test = file.ends_with("/tests.rs") || file.contains("/tests/");
        (file.ends_with(".rs") && !is_test).then(|| (file.to_owned(), text.clone()))
    };
    texts.iter().filter_map(inside).collect()
}

/// A circle is a group of source files of one crate that name each other's items in a loop: by `use` or by a path in
/// the code, in either case followed through re-exports to the file that defines the item.
///
/// A file and its own submodules (`foo.rs` and `foo/`) are one module: what a submodule takes from a file that
/// encloses it is not counted, and a plain re-export is no use. So `foo.rs` and `foo/part.rs` are no circle, while
/// `foo/part.rs`, `bar.rs` and `foo.rs` are one, and so are `foo/part.rs` and `foo/other.rs`.
#[test]
fn files_of_different_modules_do_not_import_each_other_in_a_circle() {
    let texts = own_texts();
    let mut wrong = Vec::new();
    for package in &metadata().packages {
        let krate = package.name.as_str();
        let imports = Imports::read(&sources(&texts, krate));
        let circles = imports.circles();
        if !circles.is_empty() {
            let told = circles.iter().map(|circle| imports.among(circle).join("\n"));
            wrong.push(format!("{krate}:\n{}", told.collect::<Vec<_>>().join("\n\n")));
        }
    }
    assert!(wrong.is_empty(), "circles of imports:\n{}", wrong.join("\n"));
}

/// Wiring opens what commands use; it knows none of them.
#[test]
fn wiring_does_not_know_the_commands() {
    let imports = Imports::read(&sources(&own_texts(), "openscholar"));
    assert!(!imports.between("commands", "wiring").is_empty(), "commands use wiring");
    let wrong = imports.between("wiring", "commands");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn circles_are_found_through_paths_and_exports() {
    let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    let circles = |files: &[(String, String)]| Imports::read(files).circles();
    let lib = file("lib.rs", "mod a; mod b; pub use a::Kept;");
    let kept = file("a.rs", "mod inner;\npub use inner::Kept;\npub fn made() {}");
    let inner = file("a/inner.rs", "use super::made;\npub struct Kept; // crate::b::Used");
    let b = |text: &str| file("b.rs", text);
    // Through the export to the file that defines the item.
    let files = [lib.clone(), kept.clone(), inner, b("use crate::Kept;\npub struct Used;")];
    assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    let loops = file("a/inner.rs", "pub struct Kept;\nfn f() { crate::b::used() }");
    let files = [lib.clone(), kept.clone(), loops, b("use crate::{Kept as K};\npub fn used() {}")];
    assert_eq!(circles(&files), [["a/inner.rs", "b.rs"]]);
    // Inline tests are no part of it.
    let tested = file("a/inner.rs", "pub struct Kept;\nmod tests { use crate::b::used; }");
    let files = [lib, kept, tested, b("use crate::a::{self, Kept};\nfn used() { a::made() }")];
    assert_eq!(circles(&files), Vec::<Vec<String>>::new());
}

#[test]
fn files_fit_on_a_few_screens() {
    let mut wrong = Vec::new();
    for (name, text) in own_texts() {
        let long = text.lines().count() > MOST_LINES;
        let code = name.ends_with(".rs") || name.ends_with(".py");
        if code && long && !text.lines().take(10).any(|line| line.contains("tidy: long because ")) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "over {MOST_LINES} lines and not exempt: {wrong:?}");
    let n_lines = read("ARCHITECTURE.md").lines().count();
    assert!(n_lines <= MOST_LINES_ARCHITECTURE, "ARCHITECTURE.md has {n_lines} lines");
}

#[test]
fn tests_wait_with_a_limit() {
    let mut forever = Vec::new();
    for (name, text) in own_texts() {
        let is_test =
            name.ends_with(".rs") && (name.contains("/tests/") || name.ends_with("tests.rs"));
        let waits = text.lines().enumerate().filter(|(_, line)| {
            let line = line.trim();
            line.starts_with("while ") && line.ends_with("{}") && !line.contains(".next")
        });
        forever.extend(waits.filter(|_| is_test).map(|(at, _)| format!("{name}:{}", at + 1)));
    }
    assert_eq!(forever, [""; 0], "a fault hangs these tests: wait with `scholar_testing::until`");
}

#[test]
fn modules_are_files_beside_their_folder() {
    let old = ["mod", ".rs"].concat();
    let wrong: Vec<String> = files()
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| name.ends_with(&format!("/{old}")))
        .collect();
    assert!(wrong.is_empty(), "use foo.rs + foo/ instead: {wrong:?}");
}

/// Everything that looks like `needle` in our own texts and is not the tail of a longer path.
fn sightings(needle: &str) -> Vec<String> {
    let mut seen = Vec::new();
    for (name, text) in own_texts() {
        for (at, line) in text.lines().enumerate() {
            let alone = line.match_indices(needle).any(|(start, _)| {
                let before = line[..start].chars().next_back();
                !before.is_some_and(|c| c.is_ascii_alphanumeric() || "._-}".contains(c))
            });
            if alone {
                seen.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    seen
}

#[test]
fn no_path_of_one_machine_and_no_registry_is_named() {
    let pieces: [&[&str]; 11] = [
        &["/wo", "rk/"],
        &["/ro", "ot/"],
        &["/ho", "me/"],
        &["/Us", "ers/"],
        &["/tmp/", "models"],
        &["/tmp/", "wheels"],
        &["cra", "tes.io"],
        &["py", "pi.org"],
        &["pythonho", "sted.org"],
        &["npm", "js.org"],
        &["proxy.go", "lang.org"],
    ];
    let wrong: Vec<String> = pieces.iter().flat_map(|parts| sightings(&parts.concat())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_binary_reads_environment_and_clock() {
    let anywhere = [
        "env::var",
        "env::home_dir",
        "env::current_dir",
        "SystemTime::now",
        "Timestamp::now",
        "Zoned::now",
    ];
    let mut wrong = Vec::new();
    for (name, text) in own_texts() {
        let Some(rest) = name.strip_prefix("crates/") else { continue };
        let (krate, inside) = rest.split_once('/').expect("files lie in crates");
        // The one door of tests to real weights is named in CONTRIBUTING.md.
        let exempt = krate == "openscholar" || rest == "scholar-testing/src/material.rs";
        if exempt || !inside.starts_with("src/") || !name.ends_with(".rs") {
            continue;
        }
        let pure = krate == "scholar-core" || krate == "scholar-pipeline";
        for (at, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let bad = anywhere.iter().any(|call| code.contains(call))
                || (pure && code.contains("Instant::now"));
            if bad {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "pass the value in instead:\n{}", wrong.join("\n"));
}

/// What reads tantivy's files is kept in `Guarded`, which fails in tests when it is used outside `guard::reading`; and
/// files are opened through one directory, which checks them. Both are for nothing where somebody goes around them.
#[test]
fn tantivy_is_opened_and_read_through_one_door() {
    let opened = ["MmapDirectory::open", "SegmentReader::open", "Index::open"];
    let kept = ["Searcher,", "IndexReader,"];
    let doors = [
        "store/directory.rs",
        "store/verify/files.rs",
        "store.rs",
        "writer/committed.rs",
        "repair/segment.rs",
    ];
    let mut wrong = Vec::new();
    for (name, text) in own_texts() {
        let Some(inside) = name.strip_prefix("crates/scholar-datastore/src/") else { continue };
        for (at, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            let opens = opened.iter().any(|call| code.contains(call)) && !doors.contains(&inside);
            let field = code.trim_start().trim_start_matches("pub(crate) ");
            let keeps = kept.iter().any(|reader| {
                field.strip_suffix(reader).is_some_and(|name| name.ends_with(": "))
                    && code.starts_with("    ")
                    && !code.starts_with("     ")
            });
            if opens || keeps {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "go through Guarded and CheckedDirectory:\n{}", wrong.join("\n"));
}

/// Names of all functions of the workspace's Rust files.
fn functions(texts: &[(String, String)]) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    for (_, text) in texts.iter().filter(|(name, _)| name.ends_with(".rs")) {
        for (at, _) in text.match_indices("fn ") {
            let rest = &text[at + 3..];
            let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
            names.insert(&rest[..end]);
        }
    }
    names
}

/// In every table of the map, whatever its columns: code spans with a slash are paths (`path::item` names the file),
/// and code spans of the last column without one are tests.
#[test]
fn the_paper_map_names_what_exists() {
    let texts = own_texts();
    let functions = functions(&texts);
    let map = read("docs/paper-map.md");
    let mut wrong = Vec::new();
    let (mut n_paths, mut n_tests) = (0, 0);
    for (at, line) in map.lines().enumerate().filter(|(_, line)| line.starts_with('|')) {
        let last = line.trim_end_matches('|').rsplit('|').next().unwrap_or_default();
        let (paths, _): (Vec<&str>, Vec<&str>) =
            code_spans(line).into_iter().partition(|s| s.contains('/'));
        for path in paths {
            n_paths += 1;
            let file = path.split("::").next().unwrap_or(path);
            if !root().join(file).exists() && !root().join("crates").join(file).exists() {
                wrong.push(format!("line {}: no file {file}", at + 1));
            }
        }
        for test in code_spans(last) {
            let name = test.rsplit("::").next().unwrap_or(test);
            if test.contains('/') && !test.contains("::") {
                continue;
            }
            n_tests += 1;
            if !functions.contains(name) {
                wrong.push(format!("line {}: no test {test}", at + 1));
            }
        }
    }
    assert!(n_paths > 0 && n_tests > 0, "docs/paper-map.md names modules and tests");
    assert!(wrong.is_empty(), "docs/paper-map.md:\n{}", wrong.join("\n"));
}

#[test]
fn documents_link_to_files_that_exist() {
    let mut wrong = Vec::new();
    for (name, text) in own_texts().into_iter().filter(|(name, _)| name.ends_with(".md")) {
        let folder = root().join(&name).parent().expect("a file has a folder").to_owned();
        for (at, _) in text.match_indices("](") {
            let target = text[at + 2..].split([')', ' ', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                wrong.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "links to nothing:\n{}", wrong.join("\n"));
}

/// The answer modes of the registry, no more and no fewer, as JSON names them.
#[test]
fn the_formats_name_every_answer_mode() {
    let formats = read("docs/data-formats.md");
    let row = formats.lines().find(|line| line.starts_with("| `mode` |")).expect("a row");
    let named: Vec<&str> = code_spans(row).into_iter().skip(1).collect();
    let modes = scholar_pipeline::modes::MODES.iter();
    let registered: Vec<String> = modes.map(|mode| mode.name.replace('-', "_")).collect();
    assert_eq!(named, registered, "docs/data-formats.md");
}

/// Every field of an answer's outline and tree, and every value that a field can only have, as JSON names them.
#[test]
fn the_formats_name_every_field_of_outline_and_tree() {
    let formats = read("docs/data-formats.md");
    let (_, section) = formats.split_once("\n### Outline and tree\n").expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let documented: BTreeSet<&str> = section.lines().flat_map(code_spans).collect();
    let answer = scholar_testing::exploration::sample();
    let json = serde_json::json!({"outline": answer.outline, "tree": answer.tree});
    let mut fields = BTreeSet::new();
    fields_of(&json, &mut fields);
    let undocumented: Vec<&String> = fields
        .iter()
        .filter(|field| {
            let forms = [(*field).clone(), format!("{field}[]")];
            let in_json = format!("{{\"{field}\": ");
            !forms.iter().any(|form| documented.contains(form.as_str()))
                && !documented.iter().any(|span| span.starts_with(&in_json))
        })
        .collect();
    assert!(undocumented.is_empty(), "docs/data-formats.md does not name {undocumented:?}");
    let first_cells = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| line.split('|').nth(1))
        .flat_map(code_spans);
    let gone: Vec<&str> =
        first_cells.filter(|name| !fields.contains(name.trim_end_matches("[]"))).collect();
    assert!(gone.is_empty(), "docs/data-formats.md names {gone:?}, which no answer has");
    let values = [
        serde_json::json!([
            NodeState::Answered,
            NodeState::NoEvidence,
            NodeState::Failed,
            NodeState::Skipped
        ]),
        serde_json::json!([ExpansionDecision::Sufficient, ExpansionDecision::Expanded]),
        serde_json::json!([DecidedBy::Model, DecidedBy::Rule, DecidedBy::Fallback]),
        serde_json::json!([LinkDirection::References, LinkDirection::Citations]),
        serde_json::json!(Contribution::ALL),
        serde_json::json!([Relevance::Low, Relevance::Medium, Relevance::High]),
        serde_json::json!(["initial", "snippet", "link"]),
    ];
    for value in values.iter().flat_map(|values| values.as_array().expect("a list")) {
        let value = value.as_str().expect("a string");
        assert!(documented.contains(value), "docs/data-formats.md does not name the value {value}");
    }
}

/// Names of all fields of `json`, at any depth.
fn fields_of(json: &serde_json::Value, fields: &mut BTreeSet<String>) {
    match json {
        serde_json::Value::Object(object) => {
            for (name, value) in object {
                fields.insert(name.clone());
                fields_of(value, fields);
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| fields_of(item, fields)),
        _ => {}
    }
}

/// Whether a file is a prompt, as against what registers them.
fn is_prompt(name: &str) -> bool {
    name.contains("/prompts/") && name.ends_with(".txt")
}

#[test]
fn prompts_say_where_they_come_from() {
    let prompts: Vec<_> = own_texts().into_iter().filter(|(name, _)| is_prompt(name)).collect();
    assert!(!prompts.is_empty(), "the pipeline's prompts are files");
    let mut wrong = Vec::new();
    for (name, text) in prompts {
        let head: String = text.lines().take(12).collect::<Vec<_>>().join("\n").to_lowercase();
        for part in ["source:", "variables:", "parser:"] {
            if !head.contains(part) {
                wrong.push(format!("{name}: no line {part:?} in its header"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_readme_has_exactly_two_commands_and_the_checks_run_them() {
    let readme = read("README.md");
    let commands: Vec<&str> = readme
        .split("```sh\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap_or_default().lines())
        .filter(|line| !line.trim().is_empty())
        .collect();
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert!(commands[0].starts_with("./start "), "{commands:?}");
    let checks = read(".ci/run");
    assert!(
        checks.contains(commands[1]),
        ".ci/run calls the README's test command {:?}",
        commands[1]
    );
}

/// Lines of the program and its libraries, without tests, examples and comments, as (file, number, code).
fn lines_that_ship(texts: &[(String, String)]) -> Vec<(&str, usize, &str)> {
    let is_test = |name: &str| {
        // Tests of recordings and the note that tests are skipped print for those who run tests.
        let odd =
            ["scholar-clients/src/semantic_scholar/recorded.rs", "scholar-testing/src/material.rs"];
        name.ends_with("/tests.rs")
            || name.contains("/tests/")
            || odd.iter().any(|file| name.ends_with(file))
    };
    let ships =
        |name: &str| name.starts_with("crates/") && name.contains("/src/") && name.ends_with(".rs");
    let mut lines = Vec::new();
    for (name, text) in texts.iter().filter(|(name, _)| ships(name) && !is_test(name)) {
        let code = text.lines().enumerate().take_while(|(_, line)| *line != "mod tests {");
        lines.extend(
            code.filter(|(_, line)| !line.trim_start().starts_with("//"))
                .map(|(at, line)| (name.as_str(), at + 1, line)),
        );
    }
    lines
}

/// Where `needles` stand in what ships, apart from the files that are the door for them.
fn around(needles: &[&str], doors: &[&str]) -> Vec<String> {
    let texts = own_texts();
    for door in doors {
        assert!(texts.iter().any(|(name, _)| name == door), "{door} is a file");
    }
    lines_that_ship(&texts)
        .into_iter()
        .filter(|(name, _, line)| {
            !doors.contains(name) && needles.iter().any(|needle| line.contains(needle))
        })
        .map(|(name, at, line)| format!("{name}:{at}: {}", line.trim()))
        .collect()
}

/// Text of strangers reaches a terminal through the printer alone, which obeys nothing of it; bars and tables have a
/// door of their own with the same filter.
#[test]
fn nothing_is_printed_around_the_printer() {
    let printer = "crates/openscholar/src/printer.rs";
    let found = around(
        &["print!(", "println!(", "dbg!(", "stdout()", "stderr()", "io::stdout", "io::stderr"],
        &[printer],
    );
    assert!(found.is_empty(), "go through the printer:\n{}", found.join("\n"));
    // Panics over damaged files are told as errors; all others go on to the printer's hook.
    let guard = "crates/scholar-datastore/src/store/guard.rs";
    let found = around(&["set_hook("], &[printer, guard]);
    assert!(found.is_empty(), "go through the printer:\n{}", found.join("\n"));
    let found = around(
        &["\\u{1b}", "\\x1b", "\\u{001b}", "\\u{9b}"],
        &[
            "crates/openscholar/src/printer/styled.rs",
            "crates/scholar-testing/src/hostile/strings.rs",
        ],
    );
    assert!(found.is_empty(), "escape sequences are the printer's styles:\n{}", found.join("\n"));
    let found = around(&["indicatif"], &["crates/openscholar/src/progress.rs"]);
    assert!(found.is_empty(), "bars are of progress.rs:\n{}", found.join("\n"));
    let found = around(&["comfy_table"], &["crates/openscholar/src/output/table.rs"]);
    assert!(found.is_empty(), "tables are of output/table.rs:\n{}", found.join("\n"));
}

/// One escaper of HTML and XML.
#[test]
fn one_function_escapes_html() {
    let found = around(&["\"&lt;\""], &["crates/scholar-core/src/text/untrusted.rs"]);
    assert!(
        found.is_empty(),
        "use scholar_core::text::untrusted::escape_html:\n{}",
        found.join("\n")
    );
}
