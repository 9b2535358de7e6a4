//! Every prompt of the crate. One line here and one file under `prompts/review` make one.

use scholar_pipeline::prompts::Prompt;

macro_rules! prompts {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: Prompt =
                Prompt::new($name, include_str!(concat!("../prompts/", $name, ".txt")));
        )*

        /// Every prompt, in the order of the files' names.
        pub const PROMPTS: &[Prompt] = &[$($constant),*];
    };
}

prompts! {
    /// Points about the plan itself.
    APPRAISAL = "review/appraisal";
    /// Queries for one claimed contribution, one a line.
    CLAIM_QUERIES = "review/claim_queries";
    /// Papers beside the idea, along its dimensions.
    COMPARE = "review/compare";
    /// Dimensions with statements and queries.
    DIMENSIONS = "review/dimensions";
    /// Support, contradictions and advice for one method.
    METHOD_REVIEW = "review/method_review";
    /// The methods of an idea with queries.
    METHODS = "review/methods";
    /// A query for one method.
    QUERY = "review/query";
    /// How near papers are to the idea.
    RELEVANCE = "review/relevance";
    /// A reply that was to be JSON, again.
    REPAIR = "review/repair";
    /// What papers did and found, with respect to one method.
    SUMMARY = "review/summary";
    /// Strengths, weaknesses and suggestions by dimension.
    SYNTHESIS = "review/synthesis";
    /// The summary above the reviews of methods.
    TLDR = "review/tldr";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_exactly_the_variables_used() {
        let problems: Vec<String> = PROMPTS.iter().filter_map(Prompt::problem).collect();
        assert!(problems.is_empty(), "{problems:#?}");
    }

    #[test]
    fn every_file_is_registered_once() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("prompts/review");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.extension().is_some_and(|end| end == "txt"))
            .map(|path| format!("review/{}", path.file_stem().expect("a name").to_string_lossy()))
            .collect();
        files.sort_unstable();
        let mut registered: Vec<&str> = PROMPTS.iter().map(|prompt| prompt.name).collect();
        registered.sort_unstable();
        assert_eq!(files, registered);
    }
}
