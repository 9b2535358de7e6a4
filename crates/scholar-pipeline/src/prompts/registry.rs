//! Every prompt of the crate. One line here and one file make one.

use super::Prompt;

macro_rules! prompts {
    ($($(#[$doc:meta])* $constant:ident = $name:literal;)*) => {
        $(
            $(#[$doc])*
            pub const $constant: Prompt =
                Prompt::new($name, include_str!(concat!("../../prompts/", $name, ".txt")));
        )*

        /// Every prompt, in the order of the files' names: what the test of all prompts goes through.
        pub const PROMPTS: &[Prompt] = &[$($constant),*];
    };
}

prompts! {
    /// Yes or no over passages, one of which decides.
    BOOLEAN_QUESTION_FULL = "ask/boolean_question_full";
    /// Yes or no over the deciding passage.
    BOOLEAN_QUESTION_GOLD = "ask/boolean_question_gold";
    /// Yes or no without a passage.
    BOOLEAN_QUESTION_NO_CONTEXT = "ask/boolean_question_no_context";
    /// True or false over passages, one of which decides.
    CLAIM_FULL = "ask/claim_full";
    /// True or false over the deciding passage.
    CLAIM_GOLD = "ask/claim_gold";
    /// True or false without a passage.
    CLAIM_NO_CONTEXT = "ask/claim_no_context";
    /// A long answer of the model alone.
    CLOSED_BOOK = "ask/closed_book";
    /// A long answer over numbered passages.
    DRAFT = "ask/draft";
    /// A revision by one feedback item.
    EDIT = "ask/edit";
    /// A revision by one feedback item and new passages.
    EDIT_WITH_RETRIEVAL = "ask/edit_with_retrieval";
    /// What to improve in a draft.
    FEEDBACK = "ask/feedback";
    /// A follow-up question that stands alone.
    FOLLOW_UP = "ask/follow_up";
    /// Search queries from a question.
    KEYWORDS = "ask/keywords";
    /// Citations for one statement.
    POSTHOC = "ask/posthoc";
    /// Sentences of the passages, copied word for word.
    QUOTES = "ask/quotes";
    /// The same of a model that can be held to the passages' sentences.
    QUOTES_CHOICE = "ask/quotes_choice";
    /// The outline that quotations are used in.
    QUOTES_OUTLINE = "ask/quotes_outline";
    /// The same of a model that can be held to the outline's form.
    QUOTES_OUTLINE_HELD = "ask/quotes_outline_held";
    /// A short answer, parts by facet, every sentence marked with its role.
    REPORT = "ask/report";
    /// What becomes of sentences that did not pass.
    REPORT_REPAIR = "ask/report_repair";
    /// A revision of such an answer by all feedback at once.
    REPORT_REVISE = "ask/report_revise";
    /// An answer from the paragraphs of one paper.
    SINGLE_PAPER = "ask/single_paper";
    /// A related-work section.
    SUMMARIZATION = "ask/summarization";
    /// The findings of a digest worth joining.
    DIGEST_SYNTHESIS = "evidence/synthesis";
    /// Verdicts on several sentences as JSON, for strong models.
    JUDGE_SECTION = "proof/judge_section";
    /// One of four verdicts as JSON, for strong models.
    JUDGE_VERDICT = "proof/judge_verdict";
    /// Yes or no, for small models.
    JUDGE_YES_NO = "proof/judge_yes_no";
    /// The final answer of a tree of retrievals, as a report.
    SCIRAG_AGGREGATE = "scirag/aggregate";
    /// The final answer of a tree of retrievals, as prose.
    SCIRAG_AGGREGATE_PROSE = "scirag/aggregate_prose";
    /// Which chains of contributions carry an answer.
    SCIRAG_ANALYSE = "scirag/analyse";
    /// An inner node's answer with what its children found.
    SCIRAG_BRANCH = "scirag/branch";
    /// One sentence from a long answer.
    SCIRAG_COMPRESS = "scirag/compress";
    /// Roles, relations and a selection in one reply, as JSON.
    SCIRAG_CONTRIBUTIONS = "scirag/contributions";
    /// Whether the hits of a search are enough.
    SCIRAG_DECIDE = "scirag/decide";
    /// A first answer in prose.
    SCIRAG_DRAFT_PROSE = "scirag/draft_prose";
    /// A revision by feedback.
    SCIRAG_EDIT = "scirag/edit";
    /// What to improve in a merged answer.
    SCIRAG_FEEDBACK = "scirag/feedback";
    /// What a node's answer lacks.
    SCIRAG_GAPS_NODE = "scirag/gaps_node";
    /// Queries for what a node's answer lacks.
    SCIRAG_GAPS_NODE_ONE_STAGE = "scirag/gaps_node_one_stage";
    /// Queries for what an answer lacks, in one call.
    SCIRAG_GAPS_ONE_STAGE = "scirag/gaps_one_stage";
    /// Queries for a list of what is missing.
    SCIRAG_GAPS_QUERIES = "scirag/gaps_queries";
    /// Requirements of an outline that an answer does not meet.
    SCIRAG_GAPS_UNMET = "scirag/gaps_unmet";
    /// The answer of a node.
    SCIRAG_NODE_ANSWER = "scirag/node_answer";
    /// The plan of an answer.
    SCIRAG_OUTLINE = "scirag/outline";
    /// Relations between contributions, as JSON.
    SCIRAG_RELATE = "scirag/relate";
    /// A reply that was to be JSON, again.
    SCIRAG_REPAIR_JSON = "scirag/repair_json";
    /// Which papers an answer should use, as JSON.
    SCIRAG_SELECT = "scirag/select";
    /// Roles of parts of papers, as JSON.
    SCIRAG_TAG = "scirag/tag";
    /// Whether a paper meets the criteria of a review, as JSON.
    SCREEN_CRITERIA = "screen/criteria";
    /// Words of one paper for the columns of a table, as JSON.
    TABLE_CELLS = "tabulate/cells";
}
