//! Files, folders, libraries and links that were not meant to be read.

use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::Value;

use crate::program::{Program, STORE, text};

/// A row of this project's own format.
fn row(number: u32, words: &str) -> String {
    format!(
        "{{\"meta\": {{\"id\": \"pmid:{number}\", \"title\": \"Title {number}\"}}, \"sections\": [{{\"heading\": \"Abstract\", \"text\": \"{words} {number}.\"}}]}}\n"
    )
}

/// Writes a file in the home folder and returns its path.
fn write(program: &Program, name: &str, bytes: impl AsRef<[u8]>) -> String {
    let path = program.path(name);
    fs_err::create_dir_all(path.parent().expect("in a folder")).expect("made");
    fs_err::write(&path, bytes).expect("written");
    path.to_string_lossy().into_owned()
}

fn papers(program: &Program) -> u64 {
    let info = program.json(0, &["datastore", "info", STORE]);
    info["info"]["papers"].as_u64().expect("a number")
}

/// Adds `what`, which must end with `code` and say all of `says`.
fn add(program: &Program, what: &[&str], code: i32, says: &[&str]) -> String {
    let args = [&["papers", "add", "--no-lookup"], what].concat();
    let (got, _, stderr) = text(&program.run(&args));
    assert_eq!(got, code, "{what:?}\n{stderr}");
    for words in says {
        assert!(stderr.contains(words), "{what:?}: {words:?} is missing in\n{stderr}");
    }
    stderr
}

#[cfg(unix)]
#[test]
fn a_folder_with_links_circles_pipes_and_devices_gives_its_own_papers() {
    use std::os::unix::fs::symlink;
    let program = Program::with_papers();
    let text = "Sleep spindles were counted in forty nights.\n\nThey come in the second stage.";
    write(&program, "inbox/own.txt", text);
    write(&program, "inbox/rows.jsonl", row(9_900_001, "Text of a row"));
    let secret = write(&program, "secret.txt", "A text that nobody meant to be read.");
    let inbox = program.path("inbox");
    symlink("/dev/zero", inbox.join("zero.pdf")).expect("linked");
    symlink(&secret, inbox.join("secret.txt")).expect("linked");
    symlink(".", inbox.join("again")).expect("linked");
    let pipe = inbox.join("pipe.pdf");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
    let _socket = std::os::unix::net::UnixListener::bind(inbox.join("socket.pdf")).expect("bound");
    let inbox = inbox.to_string_lossy().into_owned();
    let says = [
        "2 links lead out of the folder",
        "zero.pdf",
        "--follow-links",
        "1 links lead in a circle",
        "2 entries are not regular files",
        "pipe.pdf (a named pipe)",
    ];
    add(&program, &[&inbox], 0, &says);
    assert_eq!(papers(&program), 42, "its own text and row");
    // Who means it says so; a device is still no paper.
    let says = ["zero.pdf (a device)"];
    add(&program, &[&inbox, "--follow-links"], 0, &says);
    assert_eq!(papers(&program), 43, "and the text that a link leads to");
    // Named themselves.
    for (name, kind) in
        [("zero.pdf", "a device"), ("pipe.pdf", "a named pipe"), ("socket.pdf", "a socket")]
    {
        let path = format!("{inbox}/{name}");
        add(&program, &[&path], 1, &[name, kind, "not a file"]);
    }
    program.fails(
        1,
        &["datastore", "build", "x", "/dev/zero"],
        &["/dev/zero", "a device", "hint:"],
    );
    program.fails(1, &["datastore", "build", "x", &inbox], &["a folder", "hint:"]);
    program.fails(1, &["--config", "/dev/zero", "runs", "list"], &["a device"]);
}

#[cfg(unix)]
#[test]
fn rows_through_a_pipe_that_is_named_are_read() {
    let program = Program::with_papers();
    let pipe = program.path("rows");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("runs").success());
    let child = program.start(&["papers", "add", &pipe.to_string_lossy()]);
    let mut writer = fs_err::OpenOptions::new().write(true).open(&pipe).expect("opened");
    writer.write_all(row(9_900_001, "Text through a pipe").as_bytes()).expect("written");
    drop(writer);
    let (code, _, stderr) = text(&child.wait_with_output().expect("ends"));
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(papers(&program), 41);
}

#[test]
fn files_that_a_library_names_stay_in_its_folders() {
    let program = Program::with_papers();
    let secret = write(&program, "secret.txt", "The words xyzzyplugh are nobody's business.");
    write(&program, "lists/a.txt", "Attached words about plovercove and sleep.");
    let attached = write(&program, "elsewhere/b.txt", "Attached words about quuxville and memory.");
    let folder = program.path("elsewhere").to_string_lossy().into_owned();
    let entry = |number: u32, file: &str| {
        format!(
            "@article{{k{number}, title = {{A paper of number {number}}}, year = {{2020}}, file = {{:{file}:text/plain}}}}\n"
        )
    };
    let bib =
        [entry(1, &secret), entry(2, "../secret.txt"), entry(3, "a.txt"), entry(4, &attached)];
    let bib = write(&program, "lists/list.bib", bib.concat());
    let ris = format!("TY  - JOUR\nTI  - A paper of a RIS list\nL1  - file://{secret}\nER  - \n");
    let ris = write(&program, "lists/list.ris", ris);
    let told = add(&program, &[&bib, &ris], 0, &["is outside the folders", "--attachments DIR"]);
    assert_eq!(told.matches("it is outside").count(), 4, "{told}");
    assert_eq!(papers(&program), 45, "metadata are taken all the same");
    let has = |word: &str| all_text(&program).contains(word);
    assert!(has("plovercove") && !has("xyzzyplugh") && !has("quuxville"));
    add(&program, &[&bib, "--attachments", &folder], 0, &["is outside the folders"]);
    assert!(has("quuxville") && !has("xyzzyplugh"));
}

/// The text of all papers.
fn all_text(program: &Program) -> String {
    let listed = program.json(0, &["papers", "list", "--limit", "100"]);
    let ids = listed["papers"].as_array().expect("a list").iter().map(|paper| &paper["id"]);
    let local = ids.filter_map(Value::as_str).filter(|id| id.starts_with("local:"));
    local.map(|id| program.json(0, &["papers", "show", id]).to_string()).collect()
}

#[test]
fn marks_and_notes_before_rows_are_blemishes() {
    let program = Program::with_papers();
    let marked = format!("\u{feff}{}", row(9_900_001, "Text behind a mark"));
    let utf16: Vec<u8> = format!("\u{feff}{}", row(9_900_002, "Text in UTF-16"))
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let noted = format!("// made by hand\n\nnot a row\n{}", row(9_900_003, "Text behind notes"));
    let files = [
        write(&program, "marked.jsonl", marked),
        write(&program, "utf16.jsonl", utf16),
        write(&program, "noted.jsonl", noted),
    ];
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let says = ["byte order mark", "UTF-16LE", "2 lines were not papers", "line 3: expected"];
    add(&program, &files, 0, &says);
    assert_eq!(papers(&program), 43);
    let rejects =
        fs_err::read_to_string(program.data("datastores").join(format!("{STORE}.rejects.jsonl")));
    let rejects = rejects.expect("written");
    assert!(rejects.contains("made by hand") && rejects.contains("not a row"), "{rejects}");
    let other = write(&program, "other.jsonl", "{\"name\": \"x\"}\n".repeat(30));
    let says = ["cannot tell the format", "first 20 lines", "\"name\"", "hint:"];
    program.fails(1, &["papers", "add", &other], &says);
}

#[test]
fn one_broken_file_of_rows_costs_itself_alone() {
    let program = Program::with_papers();
    let broken = write(&program, "inbox/a.jsonl", "no row at all\n".repeat(3));
    let cut = write(&program, "inbox/b.jsonl.gz", b"\x1f\x8bbroken gzip");
    let good = write(&program, "inbox/c.jsonl", row(9_900_001, "Text of a good row"));
    let late = write(&program, "inbox/d.txt", "Sleep spindles were counted in forty nights.");
    let report = program.json(4, &["datastore", "build", STORE, &broken, &good, &cut]);
    let failed = report["failed"].as_array().expect("a list");
    assert_eq!((failed.len(), report["files"].as_array().expect("a list").len()), (2, 1));
    assert!(failed[0]["message"].as_str().is_some_and(|message| message.contains("a.jsonl")));
    assert_eq!(papers(&program), 41);
    let says = ["a.jsonl", "b.jsonl.gz", "2 of 3 inputs were not read"];
    add(&program, &[&broken, &good, &cut, &late], 4, &says);
    assert_eq!(papers(&program), 42, "the document after them is read as well");
    // Nothing but broken files is a failure.
    add(&program, &[&broken], 1, &["a.jsonl", "hint:"]);
}

#[test]
fn a_paper_beyond_a_limit_is_cut_with_the_limits_name() {
    let program = Program::with_papers();
    let mut article = "<article><front><article-meta><title-group><article-title>Many sections of one paper</article-title></title-group></article-meta></front><body>".to_owned();
    for number in 0..200_000 {
        write!(article, "<sec><title>S{number}</title><p>w{number}</p></sec>").expect("in memory");
    }
    let article = write(&program, "many.xml", article + "</body></article>");
    let says = ["first 4 of 200000 sections", "--limit sections=N"];
    add(&program, &[&article, "--limit", "sections=4"], 0, &says);
    assert_eq!(papers(&program), 41);
    add(&program, &[&article, "--limit", "file-bytes=1000"], 1, &["1000 bytes", "file-bytes"]);
    let (code, _, stderr) =
        text(&program.run(&["papers", "add", &article, "--limit", "sektions=4"]));
    assert!(
        code == 2 && stderr.contains("sektions") && stderr.contains("unpack-ratio"),
        "{stderr}"
    );
    // The config file sets the same.
    let config = program.path(".config/openscholar/config.toml");
    let usual = fs_err::read_to_string(&config).expect("there");
    fs_err::write(&config, format!("{usual}[limits]\nfile_bytes = 1000\n")).expect("written");
    add(&program, &[&article], 1, &["1000 bytes", "file-bytes"]);
}

#[test]
fn rows_that_unpack_to_a_thousand_times_their_size_are_refused_early() {
    let program = Program::with_papers();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..150 {
        packed.write_all(&b"\n".repeat(1 << 20)).expect("in memory");
    }
    let packed = write(&program, "bomb.jsonl.gz", packed.finish().expect("in memory"));
    let says = ["more than 200 times its size", "--limit unpack-ratio=N"];
    program.fails(1, &["papers", "add", &packed], &says);
}

/// A PDF of one page whose form draws a form twice, which draws a form twice, `depth` levels deep.
fn forms_in_forms(depth: usize) -> Vec<u8> {
    let stream = |entries: &str, data: &str| {
        format!("<< {entries} /Length {} >>\nstream\n{data}\nendstream", data.len())
    };
    let words = "BT /A 12 Tf 72 700 Td (Words of a paper that draws too much) Tj ET /F Do /F Do";
    let mut objects = vec![
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /XObject << /F 6 0 R >> /Font << /A 5 0 R >> >> >>".to_owned(),
        stream("", words),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    for level in 0..depth {
        let next = objects.len() + 2;
        let (resources, data) = match level + 1 < depth {
            true => (format!("/Resources << /XObject << /F {next} 0 R >> >>"), "/F Do /F Do"),
            false => (String::new(), "q Q"),
        };
        let entries = format!("/Type /XObject /Subtype /Form /BBox [0 0 612 792] {resources}");
        objects.push(stream(&entries, data));
    }
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        write!(pdf, "{} 0 obj\n{object}\nendobj\n", at + 1).expect("in memory");
    }
    let (start, size) = (pdf.len(), objects.len() + 1);
    write!(pdf, "xref\n0 {size}\n0000000000 65535 f \n").expect("in memory");
    for place in places {
        writeln!(pdf, "{place:010} 00000 n ").expect("in memory");
    }
    write!(pdf, "trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF")
        .expect("in memory");
    pdf.into_bytes()
}

#[test]
fn a_pdf_of_forms_in_forms_is_read_as_far_as_the_limit() {
    let program = Program::with_papers();
    let path = write(&program, "forms.pdf", forms_in_forms(40));
    let says = ["forms were read in part", "--limit drawings=N"];
    add(&program, &[&path, "--limit", "drawings=20000"], 0, &says);
    assert_eq!(papers(&program), 41);
}

#[test]
fn a_folder_with_files_of_every_broken_kind_gives_the_good_one() {
    let program = Program::with_papers();
    let good = "Sleep spindles were counted in forty nights.";
    let files: [(&str, &[u8]); 8] = [
        ("a.pdf", b"%PDF-1.4 nothing"),
        ("b.xml", b"<article><front>"),
        ("c.bib", b"\0\0\0"),
        ("d.ris", b"\xff\xfe"),
        ("e.json", b"[[[[[["),
        ("f.sqlite", b"SQLite format 3\0 and then nothing"),
        ("g.html", b"<html>"),
        ("h.txt", good.as_bytes()),
    ];
    for (name, bytes) in files {
        write(&program, &format!("inbox/{name}"), bytes);
    }
    let inbox = program.path("inbox");
    let report = program.json(4, &["papers", "add", "--no-lookup", &inbox.to_string_lossy()]);
    assert_eq!(
        (report["added"].as_u64(), report["failed"].as_u64()),
        (Some(1), Some(7)),
        "{report:#}"
    );
    for (name, _) in &files[..7] {
        assert!(report["notices"].to_string().contains(name), "{name} is not told: {report:#}");
    }
}

#[cfg(unix)]
#[test]
fn run_folders_are_read_from_their_own_files() {
    use std::os::unix::fs::symlink;
    let program = Program::with_papers();
    program.succeeds(&["ask", "How are hallucinations in neural machine translation detected?"]);
    let listed = program.json(0, &["runs", "list"]);
    let run = listed["runs"][0]["id"].as_str().expect("an id").to_owned();
    let folder = program.data("runs").join(&run);
    let outside = program.path("outside.json");
    let answer = folder.join("answer.json");
    fs_err::copy(&answer, &outside).expect("copied");
    let readers: [&[&str]; 5] = [
        &["runs", "show", &run, "--json"],
        &["runs", "verify", &run],
        &["runs", "replay", &run],
        &["runs", "export", &run, "--style", "apa"],
        &["runs", "diff", &run, &run],
    ];
    let refuses = |says: &str, readers: &[&[&str]], name: &str| {
        for reader in readers {
            program.fails(1, reader, &[name, says, "hint:"]);
        }
    };
    let replaced = |path: &std::path::Path, target: &std::path::Path| {
        fs_err::remove_file(path).expect("removed");
        symlink(target, path).expect("linked");
    };
    replaced(&answer, std::path::Path::new("/dev/zero"));
    refuses("is a link, not a file", &readers, "answer.json");
    replaced(&answer, &outside);
    refuses("is a link, not a file", &readers, "answer.json");
    fs_err::remove_file(&answer).expect("removed");
    assert!(std::process::Command::new("mkfifo").arg(&answer).status().expect("runs").success());
    refuses("is a named pipe, not a file", &readers, "answer.json");
    fs_err::remove_file(&answer).expect("removed");
    fs_err::copy(&outside, &answer).expect("copied");
    program.succeeds(&["runs", "verify", &run]);
    // What is too large is told with the limit, and nobody waits for what the other files are.
    let large = fs_err::File::create(&answer).expect("created");
    large.set_len(200_000_001).expect("a file of nothing");
    refuses("200000000 bytes", &readers, "answer.json");
    fs_err::copy(&outside, &answer).expect("copied");
    let journal = folder.join("journal.jsonl");
    replaced(&journal, std::path::Path::new("/dev/zero"));
    refuses("is a link, not a file", &readers[1..3], "journal.jsonl");
    replaced(&folder.join("events.jsonl"), std::path::Path::new("/dev/zero"));
    refuses("is a link, not a file", &[&["runs", "explain", &run]], "events.jsonl");
    replaced(&folder.join("run.json"), std::path::Path::new("/dev/zero"));
    refuses("is a link, not a file", &[&["ask", "--resume", &run]], "run.json");
    let (code, _, stderr) = text(&program.run(&["runs", "list"]));
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn words_without_end_are_stored_and_encoded_in_part() {
    let program = Program::with_papers();
    let endless = "a".repeat(3_000_000);
    let rows: String = (0..3).map(|number| row(9_900_001 + number, &endless)).collect();
    let rows = write(&program, "endless.jsonl", rows);
    add(&program, &[&rows], 0, &["3 passages", "3 cut at the encoder's token limit"]);
    assert_eq!(papers(&program), 43);
    let shown = program.json(0, &["papers", "show", "pmid:9900001"]);
    assert!(shown.to_string().contains(&endless), "the text stays whole");
}
