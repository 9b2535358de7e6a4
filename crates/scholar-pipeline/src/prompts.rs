//! Prompts as files: `prompts/**/*.txt`, compiled in.
//!
//! A file begins with a header of `#` lines (source, variables, parser) and goes on in sections: `@@system`, `@@user`
//! and `@@demonstration`. User sections and, where asked for, demonstrations are joined by line breaks into one turn;
//! `{{name}}` is replaced in one pass, so that no value can smuggle in another. The hash of a file stands in the
//! trace beside every call it made.

use scholar_core::Message;
use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

/// A prompt file.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// Path below `prompts/`, without extension: `ask/draft`.
    pub name: &'static str,
    /// The whole file.
    source: &'static str,
}

/// Every prompt file of the crate's `ask` algorithm, by name.
pub const ASK_PROMPTS: &[Prompt] = &[
    BOOLEAN_QUESTION_FULL,
    BOOLEAN_QUESTION_GOLD,
    BOOLEAN_QUESTION_NO_CONTEXT,
    CLAIM_FULL,
    CLAIM_GOLD,
    CLAIM_NO_CONTEXT,
    CLOSED_BOOK,
    DRAFT,
    EDIT,
    EDIT_WITH_RETRIEVAL,
    FEEDBACK,
    KEYWORDS,
    POSTHOC,
    SINGLE_PAPER,
    SUMMARIZATION,
];

macro_rules! prompts {
    ($($constant:ident = $name:literal;)*) => {
        $(pub(crate) const $constant: Prompt = Prompt {
            name: $name,
            source: include_str!(concat!("../prompts/", $name, ".txt")),
        };)*
    };
}

prompts! {
    BOOLEAN_QUESTION_FULL = "ask/boolean_question_full";
    BOOLEAN_QUESTION_GOLD = "ask/boolean_question_gold";
    BOOLEAN_QUESTION_NO_CONTEXT = "ask/boolean_question_no_context";
    CLAIM_FULL = "ask/claim_full";
    CLAIM_GOLD = "ask/claim_gold";
    CLAIM_NO_CONTEXT = "ask/claim_no_context";
    CLOSED_BOOK = "ask/closed_book";
    DRAFT = "ask/draft";
    EDIT = "ask/edit";
    EDIT_WITH_RETRIEVAL = "ask/edit_with_retrieval";
    FEEDBACK = "ask/feedback";
    KEYWORDS = "ask/keywords";
    POSTHOC = "ask/posthoc";
    SINGLE_PAPER = "ask/single_paper";
    SUMMARIZATION = "ask/summarization";
}

impl Prompt {
    /// A prompt of another module of this crate; `source` is the file's text.
    pub const fn new(name: &'static str, source: &'static str) -> Self {
        Self { name, source }
    }

    /// `name@` and the first 16 hexadecimal digits of the file's SHA-256, as it stands in traces.
    pub fn fingerprint(&self) -> String {
        let digest = Sha256::digest(self.source.as_bytes());
        format!("{}@{}", self.name, hex(&digest[..8]))
    }

    /// The conversation with `values` filled in. Line breaks in the file are kept, the last of a section is not.
    ///
    /// A variable without a value stays as it is written: tests hold files and callers together.
    pub fn render(&self, demonstrate: bool, values: &[(&str, &str)]) -> Vec<Message> {
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
        for line in self.source.lines() {
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
        for prompt in ASK_PROMPTS {
            let stated = prompt
                .source
                .lines()
                .find_map(|line| line.strip_prefix("# Variables: "))
                .unwrap_or_else(|| panic!("{}: no variables line", prompt.name));
            let mut stated: Vec<&str> = stated.split(", ").collect();
            stated.sort_unstable();
            let mut used = prompt.variables();
            used.sort();
            assert_eq!(used, stated, "{}", prompt.name);
            for part in ["# Source: ", "# Parser: ", "@@system\n", "@@user\n"] {
                assert!(prompt.source.contains(part), "{}: {part}", prompt.name);
            }
        }
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
