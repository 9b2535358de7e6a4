//! The data card: what rows were made of, under which licences, by which command, and what was left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use scholar_core::text::hex;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::DataError;
use super::evaluation::Evaluation;
use super::rows::{write_file, write_rows};
use super::source::Source;
use super::split::{Settings, Splits};

/// Version of the card's JSON.
pub const SCHEMA: &str = "openscholar.data-card/1";

/// A source as the card names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceCard {
    /// Name of the collection.
    pub name: String,
    /// Licence of its texts, as an SPDX expression where there is one.
    pub licence: String,
    /// Where it is published.
    pub home: String,
    /// Its files without their folder, with SHA-256 digests of their bytes.
    pub files: BTreeMap<String, String>,
}

/// What rows were made of.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DataCard {
    /// Schema of the card: [`SCHEMA`].
    pub schema: &'static str,
    /// What the rows train: `reranker`, `attributor` or `encoder`.
    pub trains: String,
    /// The command that made them.
    pub command: String,
    /// The program that made them, with version and commit.
    pub program: String,
    /// Seed of every random choice: sampling, splitting, shuffling.
    pub seed: u64,
    /// How negatives were found and labels given, in words.
    pub method: String,
    /// What they were made of.
    pub sources: Vec<SourceCard>,
    /// Evaluation queries nothing may repeat, and the sets they come from.
    pub evaluation_queries: usize,
    /// Names of the evaluation sets.
    pub evaluation_sets: Vec<String>,
    /// Rows by source and kind, both splits together.
    pub kept: BTreeMap<String, BTreeMap<String, usize>>,
    /// Rows left out by source and rule.
    pub removed: BTreeMap<String, BTreeMap<String, usize>>,
    /// File name to rows and SHA-256 digest.
    pub files: BTreeMap<String, (usize, String)>,
}

/// What the card says beyond what can be counted.
#[derive(Debug, Clone, Copy)]
pub struct Account<'a> {
    /// `reranker`, `attributor` or `encoder`.
    pub trains: &'a str,
    /// The command, without paths of a machine.
    pub command: &'a str,
    /// Version and commit of the program.
    pub program: &'a str,
    /// How labels came to be.
    pub method: &'a str,
}

/// Writes `train.jsonl`, `dev.jsonl`, `rejects.jsonl`, `card.json` and `card.md` into `folder`.
///
/// # Errors
/// When a file cannot be written, or a source not be read again for its digest.
pub fn write_all<T: Serialize>(
    folder: &Path,
    made: &Splits<T>,
    sources: &[Source],
    evaluation: &Evaluation,
    settings: &Settings,
    account: Account<'_>,
) -> Result<DataCard, DataError> {
    fs_err::create_dir_all(folder).map_err(|source| DataError::write(folder, source))?;
    let mut files = BTreeMap::new();
    for (name, rows) in [("train.jsonl", &made.train), ("dev.jsonl", &made.dev)] {
        let path = folder.join(name);
        write_rows(&path, rows)?;
        files.insert(name.to_owned(), (rows.len(), digest(&path)?));
    }
    write_rows(&folder.join("rejects.jsonl"), made.ledger.rejects())?;
    let sources = sources.iter().map(source_card).collect::<Result<Vec<_>, _>>()?;
    let card = DataCard {
        schema: SCHEMA,
        trains: account.trains.to_owned(),
        command: account.command.to_owned(),
        program: account.program.to_owned(),
        seed: settings.seed,
        method: account.method.to_owned(),
        sources,
        evaluation_queries: evaluation.len(),
        evaluation_sets: evaluation.files().iter().map(|path| name_of(path)).collect(),
        kept: made.ledger.kept().clone(),
        removed: made.ledger.removed().clone(),
        files,
    };
    let path = folder.join("card.json");
    let json = serde_json::to_string_pretty(&card)
        .map_err(|error| DataError::write(&path, error.into()))?;
    write_file(&path, format!("{json}\n").as_bytes())?;
    write_file(&folder.join("card.md"), card.markdown().as_bytes())?;
    Ok(card)
}

fn source_card(source: &Source) -> Result<SourceCard, DataError> {
    let mut files = BTreeMap::new();
    for path in &source.files {
        let packed = path.with_extension("jsonl.gz");
        let path = if path.is_file() { path } else { &packed };
        files.insert(name_of(path), digest(path)?);
    }
    Ok(SourceCard {
        name: source.name.name().to_owned(),
        licence: source.name.licence().to_owned(),
        home: source.name.home().to_owned(),
        files,
    })
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn digest(path: &Path) -> Result<String, DataError> {
    let mut file = fs_err::File::open(path).map_err(|source| DataError::read(path, source))?;
    let mut hasher = Sha256::new();
    std::io::copy(&mut file, &mut hasher).map_err(|source| DataError::read(path, source))?;
    Ok(hex(&hasher.finalize()))
}

impl DataCard {
    /// The card for people.
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "# Training data of the {}\n\nCommand: `{}`\n\nProgram: {}. Seed: {}.\n\n{}\n\n## Sources\n\n\
             | source | rows | licence | published at |\n|---|---|---|---|\n",
            self.trains, self.command, self.program, self.seed, self.method
        );
        for source in &self.sources {
            let rows: usize =
                self.kept.get(&source.name).into_iter().flat_map(BTreeMap::values).sum();
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "| {} | {rows} | {} | {} |",
                source.name, source.licence, source.home
            );
        }
        text.push_str("\n## Rows by kind\n\n| source | kind | rows |\n|---|---|---|\n");
        table(&mut text, &self.kept);
        text.push_str("\n## Left out\n\n| source | rule | rows |\n|---|---|---|\n");
        table(&mut text, &self.removed);
        let _ = write!(
            text,
            "\n## Evaluation\n\n{}\n\n## Files\n\n| file | rows | SHA-256 |\n|---|---|---|\n",
            self.decontaminated()
        );
        for (name, (rows, digest)) in &self.files {
            let _ = writeln!(text, "| {name} | {rows} | {digest} |");
        }
        text
    }

    fn decontaminated(&self) -> String {
        if self.evaluation_sets.is_empty() {
            return "The rows were not decontaminated against any evaluation set.".to_owned();
        }
        format!(
            "No row repeats any of the {} queries of {}.",
            self.evaluation_queries,
            self.evaluation_sets.join(", ")
        )
    }
}

fn table(text: &mut String, counts: &BTreeMap<String, BTreeMap<String, usize>>) {
    for (source, kinds) in counts {
        for (kind, count) in kinds {
            let _ = writeln!(text, "| {source} | {kind} | {count} |");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::ledger::Ledger;
    use crate::data::rows::TextRow;
    use crate::data::source::SourceName;

    #[test]
    fn the_card_says_what_was_used_and_left_out() {
        let folder = tempfile::tempdir().expect("temp dir");
        let input = folder.path().join("arxiv_sample.jsonl");
        fs_err::write(&input, "{}\n").expect("written");
        let mut ledger = Ledger::default();
        ledger.keep("arxiv", "text");
        ledger.reject("arxiv", "too short", "x");
        let row = TextRow { id: "a".to_owned(), text: "t".to_owned(), source: None };
        let made = Splits { train: vec![row], dev: Vec::new(), ledger };
        let sources = [Source { name: SourceName::Arxiv, files: vec![input] }];
        let account = Account {
            trains: "encoder",
            command: "openscholar train data encoder",
            program: "openscholar 0",
            method: "As they are.",
        };
        let out = folder.path().join("out");
        let settings = Settings::paper();
        let card = write_all(&out, &made, &sources, &Evaluation::default(), &settings, account)
            .expect("written");
        let (rows, digest) = &card.files["train.jsonl"];
        let expected = Sha256::digest(b"{\"id\":\"a\",\"text\":\"t\"}\n");
        let expected = hex(&expected);
        assert_eq!((*rows, digest), (1, &expected));
        let markdown = fs_err::read_to_string(out.join("card.md")).expect("read");
        assert!(markdown.contains("| arxiv | 1 | CC0 1.0 |") && markdown.contains("too short"));
        let json: serde_json::Value =
            serde_json::from_slice(&fs_err::read(out.join("card.json")).expect("read"))
                .expect("JSON");
        assert_eq!(json["schema"], SCHEMA);
        assert_eq!(json["removed"]["arxiv"]["too short"], 1);
        assert!(out.join("rejects.jsonl").is_file());
    }
}
