//! Prompts as files, `prompts/**/*.txt`, compiled in, and the registry of those of this crate.
//!
//! A file begins with a header of `#` lines (source, variables, parser) and goes on in sections: `@@system`, `@@user`
//! and `@@demonstration`. User sections and, where asked for, demonstrations are joined by line breaks into one turn;
//! `{{name}}` is replaced in one pass, so that no value can smuggle in another. The hash of a file stands in the
//! trace beside every call it made.

use scholar_core::Message;
use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

mod registry;

pub use registry::*;

/// A file under `prompts/`, with the name it is registered under.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// Path below `prompts/`, without extension: `ask/draft`.
    pub name: &'static str,
    /// The whole file.
    file: &'static str,
}

/// What the header of a prompt file states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Where the prompt comes from.
    pub source: &'static str,
    /// What is filled in, names separated by commas.
    pub variables: &'static str,
    /// What reads the reply.
    pub parser: &'static str,
}

impl Prompt {
    /// A prompt of this name; `file` is the file's text. [`Prompt::problem`] checks it.
    pub const fn new(name: &'static str, file: &'static str) -> Self {
        Self { name, file }
    }

    /// The file's header; `None` where one of its three lines is missing.
    pub fn header(&self) -> Option<Header> {
        let line = |start| self.file.lines().find_map(|line| line.strip_prefix(start));
        Some(Header {
            source: line("# Source: ")?,
            variables: line("# Variables: ")?,
            parser: line("# Parser: ")?,
        })
    }

    /// What is wrong with the file: no whole header, no user section, or variables other than those its header states. Tests
    /// of every crate with prompts ask this of each.
    pub fn problem(&self) -> Option<String> {
        let Some(header) = self.header() else {
            return Some(format!("{}: no source, variables or parser in the header", self.name));
        };
        let mut stated: Vec<&str> = header.variables.split(", ").collect();
        stated.sort_unstable();
        let mut used = self.variables();
        used.sort_unstable();
        if used != stated {
            return Some(format!("{}: uses {used:?} and states {stated:?}", self.name));
        }
        let asks = self.sections().iter().any(|(section, _)| *section == "user");
        (!asks).then(|| format!("{}: no @@user section", self.name))
    }

    /// `name@` and the first 16 hexadecimal digits of the file's SHA-256, as it stands in traces.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.file.as_bytes());
        format!("{}@{}", self.name, hex(&digest[..8]))
    }

    /// The conversation with `values` filled in. Line breaks in the file are kept, the last of a section is not.
    ///
    /// # Panics
    /// When a variable has no value. Values that the file has no variable for are ignored: drafts of all tasks are given the
    /// same.
    pub fn render(&self, demonstrate: bool, values: &[(&str, &str)]) -> Vec<Message> {
        assert!(
            self.variables().iter().all(|name| values.iter().any(|(known, _)| known == name)),
            "{}: a variable has no value",
            self.name
        );
        let mut system = String::new();
        let mut user: Vec<String> = Vec::new();
        for (section, text) in self.sections() {
            match section {
                "system" => system = fill(&text, values),
                "demonstration" if !demonstrate => {}
                _ => user.push(fill(&text, values)),
            }
        }
        let system = (!system.is_empty()).then(|| Message::system(system));
        system.into_iter().chain([Message::user(user.join("\n"))]).collect()
    }

    /// Names between `{{` and `}}`, in order of first use.
    pub fn variables(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for (_, text) in self.sections() {
            for piece in text.split("{{").skip(1) {
                if let Some((name, _)) = piece.split_once("}}")
                    && !names.iter().any(|known| known == name)
                {
                    names.push(name.to_owned());
                }
            }
        }
        names
    }

    fn sections(&self) -> Vec<(&'static str, String)> {
        let mut sections: Vec<(&'static str, Vec<&str>)> = Vec::new();
        for line in self.file.lines() {
            if let Some(name) = line.strip_prefix("@@") {
                sections.push((name.trim(), Vec::new()));
            } else if let Some((_, lines)) = sections.last_mut() {
                lines.push(line);
            }
        }
        sections.into_iter().map(|(name, lines)| (name, lines.join("\n"))).collect()
    }
}

fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        out.push_str(before);
        let filled = after.split_once("}}").and_then(|(name, after)| {
            let value = values.iter().find(|(known, _)| *known == name)?.1;
            Some((value, after))
        });
        match filled {
            Some((value, after)) => {
                out.push_str(value);
                rest = after;
            }
            None => {
                out.push_str("{{");
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use scholar_core::Role;

    use super::*;

    #[test]
    fn headers_name_exactly_the_variables_used() {
        let problems: Vec<String> = PROMPTS.iter().filter_map(Prompt::problem).collect();
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn a_prompt_with_a_wrong_header_is_told() {
        let check = |file: &'static str, expected: &str| {
            let problem = Prompt::new("x", file).problem().expect("a problem");
            assert!(problem.contains(expected), "{problem}");
        };
        check("# Source: ours.\n# Variables: a\n@@user\n{{a}}", "no source");
        check("# Source: ours.\n# Variables: a\n# Parser: p\n@@user\n{{b}}", "uses [\"b\"]");
        check("# Source: ours.\n# Variables: a\n# Parser: p\n@@system\n{{a}}", "@@user");
    }

    #[test]
    #[should_panic(expected = "ask/draft: a variable has no value")]
    fn a_variable_without_a_value_is_a_bug() {
        DRAFT.render(false, &[("question", "Why?")]);
    }

    /// Every file of the folder is registered, under its own name.
    #[test]
    fn every_file_is_registered_once() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts");
        let mut files = Vec::new();
        for part in ["ask", "evidence", "proof", "scirag", "screen", "tabulate"] {
            for entry in std::fs::read_dir(folder.join(part)).expect("a folder") {
                let path = entry.expect("an entry").path();
                let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
                files.push(format!("{part}/{stem}"));
            }
        }
        files.sort_unstable();
        let mut registered: Vec<&str> = PROMPTS.iter().map(|prompt| prompt.name).collect();
        registered.sort_unstable();
        assert_eq!(files, registered);
    }

    #[test]
    fn values_are_filled_in_one_pass_and_demonstrations_on_demand() {
        let values = [("references", "[0] {{question}}\n"), ("question", "Why?")];
        let zero_shot = CLAIM_FULL.render(false, &values);
        assert_eq!(zero_shot.len(), 2);
        assert_eq!((zero_shot[0].role, zero_shot[1].role), (Role::System, Role::User));
        let text = &zero_shot[1].content;
        assert!(text.ends_with("References:\n[0] {{question}}\n\nClaim: Why?"), "{text}");
        assert!(!text.contains("bedtime"));
        assert!(CLAIM_FULL.render(true, &values)[1].content.contains("bedtime"));
        assert_eq!(fill("a {{x}} {{y", &[("x", "1")]), "a 1 {{y");
    }

    #[test]
    fn fingerprints_tell_files_apart() {
        let draft = DRAFT.fingerprint();
        assert!(draft.starts_with("ask/draft@") && draft.len() == "ask/draft@".len() + 16);
        assert_ne!(draft.rsplit_once('@'), FEEDBACK.fingerprint().rsplit_once('@'));
    }
}
