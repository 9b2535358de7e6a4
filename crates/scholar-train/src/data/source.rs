//! The collections that training data is made of, with their licences and files.

mod licence;
mod papers;
mod records;
mod trials;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub(super) use licence::{ACL_BEFORE_2016, is_cc_by_acl, keep_commercial};
pub use papers::{PaperText, read_papers};
pub(super) use records::{
    BioAsqRow, CitedRow, ClaimRow, PromptRow, PubMedQaRow, ReferencePaperRow, SnippetRow,
    SummaryRow,
};
pub(super) use trials::Trials;

use super::error::DataError;

/// Name of a collection that training data is made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceName {
    /// SciFact's training claims with the abstracts they cite, and the abstracts no evaluation claim cites.
    Scifact,
    /// Citation-integrity training claims with the cited passages.
    Citint,
    /// CL-SciSumm: citing sentences and the sentences they refer to.
    Clscisumm,
    /// `BioASQ`: questions, snippets, ideal answers.
    Bioasq,
    /// PubMedQA: titles that ask, abstracts and their conclusions.
    Pubmedqa,
    /// Evidence Inference v2: interventions, comparators, outcomes and the sentences that decide.
    Evinf,
    /// Full texts of trials: titles, abstracts, sections, citing sentences.
    Pmc,
    /// OpenAlex works: titles, abstracts and who cites whom.
    Openalex,
    /// ACL Anthology: titles and abstracts.
    Acl,
    /// arXiv: titles and abstracts.
    Arxiv,
    /// The papers that come with the program.
    Starter,
}

impl SourceName {
    /// All, in the order in which they are read.
    pub const ALL: [Self; 11] = [
        Self::Scifact,
        Self::Citint,
        Self::Clscisumm,
        Self::Bioasq,
        Self::Pubmedqa,
        Self::Evinf,
        Self::Pmc,
        Self::Openalex,
        Self::Acl,
        Self::Arxiv,
        Self::Starter,
    ];

    /// As it is written on the command line and in rows.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scifact => "scifact",
            Self::Citint => "citint",
            Self::Clscisumm => "clscisumm",
            Self::Bioasq => "bioasq",
            Self::Pubmedqa => "pubmedqa",
            Self::Evinf => "evinf",
            Self::Pmc => "pmc",
            Self::Openalex => "openalex",
            Self::Acl => "acl",
            Self::Arxiv => "arxiv",
            Self::Starter => "starter",
        }
    }

    /// The source of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.name() == name)
    }

    /// Under which licence its texts may be used.
    pub fn licence(self) -> &'static str {
        match self {
            Self::Scifact => "claims CC BY 4.0, abstracts ODC-BY 1.0",
            Self::Citint | Self::Pubmedqa => "MIT",
            Self::Evinf => "annotations MIT, articles CC BY or CC0",
            Self::Clscisumm => "CC BY 4.0, papers too (from 2016 on)",
            Self::Bioasq => "CC BY 2.5",
            Self::Pmc => "CC BY or CC0, as each article says",
            Self::Openalex | Self::Arxiv => "CC0 1.0",
            Self::Acl => "CC BY 4.0 (papers from 2016 on)",
            Self::Starter => "CC BY or CC0, as each paper says",
        }
    }

    /// Where it is published.
    pub fn home(self) -> &'static str {
        match self {
            Self::Scifact => "https://github.com/allenai/scifact",
            Self::Citint => "https://github.com/ScienceNLP-Lab/Citation-Integrity",
            Self::Clscisumm => "https://github.com/WING-NUS/scisumm-corpus",
            Self::Bioasq => "http://bioasq.org",
            Self::Pubmedqa => "https://github.com/pubmedqa/pubmedqa",
            Self::Evinf => "https://evidence-inference.ebm-nlp.com",
            Self::Pmc => "https://www.ncbi.nlm.nih.gov/pmc/tools/openftlist",
            Self::Openalex => "https://openalex.org",
            Self::Acl => "https://aclanthology.org",
            Self::Arxiv => "https://arxiv.org",
            Self::Starter => "starter/NOTICE of this program",
        }
    }

    /// Its files below a data folder; compressed ones may stand for them.
    pub fn files(self) -> &'static [&'static str] {
        match self {
            Self::Scifact => {
                &["claims/claimcheck_scifact_train.jsonl", "retrieval/scifact_test300/corpus.jsonl"]
            }
            Self::Citint => &["claims/claimcheck_citint_train.jsonl", "claims/citint_corpus.jsonl"],
            Self::Clscisumm => &[
                "attribution/attribution_clscisumm_gold.jsonl",
                "attribution/attribution_clscisumm_reference_papers.jsonl",
            ],
            Self::Bioasq => &["qa/qa_bioasq.jsonl"],
            Self::Pubmedqa => &["qa/qa_pubmedqa_dev500.jsonl"],
            Self::Evinf => {
                &["attribution/evidence_inference_v2.jsonl", "fulltext/pmc_rct_ccby.jsonl"]
            }
            Self::Pmc => &["fulltext/pmc_rct_ccby.jsonl"],
            Self::Openalex => &["papers/openalex_works.jsonl"],
            Self::Acl => &["papers/acl_anthology.jsonl"],
            Self::Arxiv => &["papers/arxiv_sample.jsonl"],
            Self::Starter => &["starter/papers.jsonl"],
        }
    }
}

/// A collection with its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Which collection it is.
    pub name: SourceName,
    /// Its files, in the order of [`SourceName::files`].
    pub files: Vec<PathBuf>,
}

impl Source {
    /// The files of `name` below `root`.
    ///
    /// # Errors
    /// [`DataError::Source`] naming the file that is missing.
    pub fn below(root: &Path, name: SourceName) -> Result<Self, DataError> {
        let mut files = Vec::new();
        for file in name.files() {
            let path = root.join(file);
            let packed = root.join(format!("{file}.gz"));
            if !path.is_file() && !packed.is_file() {
                return Err(DataError::Source {
                    name: name.name().to_owned(),
                    problem: format!("{} is missing", path.display()),
                });
            }
            files.push(path);
        }
        Ok(Self { name, files })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_files_must_be_there() {
        for source in SourceName::ALL {
            assert_eq!(SourceName::named(source.name()), Some(source));
            assert!(!source.files().is_empty() && !source.licence().is_empty());
        }
        let folder = tempfile::tempdir().expect("temp dir");
        let error = Source::below(folder.path(), SourceName::Bioasq).expect_err("missing");
        assert!(error.to_string().contains("qa_bioasq.jsonl"), "{error}");
        fs_err::create_dir(folder.path().join("qa")).expect("created");
        fs_err::write(folder.path().join("qa/qa_bioasq.jsonl.gz"), b"").expect("written");
        assert!(Source::below(folder.path(), SourceName::Bioasq).is_ok());
    }
}
