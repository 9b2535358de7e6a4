//! Former names of verbs and options: accepted as hidden aliases, each with a notice that says the present one.

/// A verb or option that was renamed.
struct Former {
    /// Verbs before it; empty for a verb of the program itself.
    within: &'static str,
    /// A verb, or an option with its dashes.
    old: &'static str,
    new: &'static str,
}

const FORMER: &[Former] = &[
    Former { within: "train", old: "check", new: "decontaminate" },
    Former { within: "train", old: "teach", new: "score-teacher" },
    Former { within: "train", old: "weigh", new: "fit-weights" },
    Former { within: "train", old: "--beside", new: "--fuse" },
    Former { within: "papers", old: "citers", new: "cited-by" },
    Former { within: "papers", old: "neighbours", new: "graph" },
    Former { within: "papers", old: "--hops", new: "--depth" },
    Former { within: "datastore compact", old: "--lists", new: "--nlist" },
    Former { within: "bench index", old: "--made", new: "--synthetic" },
    Former { within: "bench index", old: "--only-made", new: "--only-synthetic" },
    Former { within: "bench search", old: "--made", new: "--synthetic" },
];

/// A line for each former name among the words of a command line.
pub(crate) fn notices(words: &[String]) -> Vec<String> {
    let used = |former: &&Former| {
        let Former { within, old, .. } = former;
        let verbs: Vec<&str> = within.split_whitespace().collect();
        let follows = |rest: &[String]| match old.strip_prefix("--") {
            None => rest.first().is_some_and(|word| word == old),
            Some(_) => rest.iter().any(|word| word.split('=').next() == Some(*old)),
        };
        (0..words.len()).any(|at| {
            let (before, rest) = (&words[at..], &words[(at + verbs.len()).min(words.len())..]);
            before.len() > verbs.len()
                && before.iter().zip(&verbs).all(|(a, b)| a == b)
                && follows(rest)
        })
    };
    let notice = |former: &Former| {
        let Former { old, new, .. } = former;
        format!("{old} is now called {new}; the old name still works")
    };
    FORMER.iter().filter(used).map(notice).collect()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;
    use crate::args::Args;

    fn said(line: &str) -> Vec<String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        notices(&words)
    }

    #[test]
    fn former_names_are_said_where_they_are_used() {
        let line = "openscholar --quiet train weigh DIR --beside=all-MiniLM-L6-v2";
        let expect = [
            "weigh is now called fit-weights; the old name still works",
            "--beside is now called --fuse; the old name still works",
        ];
        assert_eq!(said(line), expect);
        for line in ["openscholar train fit-weights DIR", "openscholar ask weigh", "openscholar"] {
            assert!(said(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn every_former_name_is_an_alias_and_hidden() {
        for Former { within, old, new } in FORMER {
            let mut command = Args::command();
            for verb in within.split_whitespace() {
                command = command.find_subcommand(verb).expect(verb).clone();
            }
            match old.strip_prefix("--") {
                None => {
                    let found = command.find_subcommand(old).expect(old);
                    assert_eq!(found.get_name(), *new);
                    assert!(!found.get_visible_aliases().any(|alias| alias == *old), "{old}");
                }
                Some(long) => {
                    let all = std::iter::once(&command).chain(command.get_subcommands());
                    let mut options = all.flat_map(clap::Command::get_arguments);
                    let is_it = |option: &&clap::Arg| option.get_long() == new.strip_prefix("--");
                    let found = options.find(is_it).expect(new);
                    assert!(
                        found.get_all_aliases().is_some_and(|all| all.contains(&long)),
                        "{old}"
                    );
                    assert!(found.get_visible_aliases().is_none_or(|all| !all.contains(&long)));
                }
            }
        }
    }
}
