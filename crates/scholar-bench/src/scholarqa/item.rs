//! One question of a task with what is known about its answer.

use jiff::civil::Date;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::prediction::Context;
use super::task::BenchTask;

/// What people say the answer is.
#[derive(Debug, Clone, PartialEq)]
pub enum Gold {
    /// Nothing: the task has questions alone.
    None,
    /// One of the task's labels.
    Label(String),
    /// A reference answer in prose.
    Text(String),
    /// Ingredients that an answer should have, as upstream writes them (`metric_config.config`).
    Rubric(Value),
}

/// One question of a task, with its reference and its passages.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// Its name: the file's, else the task's and the number of the row from 0.
    pub id: String,
    /// Task that it belongs to.
    pub task: BenchTask,
    /// The question, claim or abstract.
    pub question: String,
    /// Label, reference answer or rubric that answers are compared with.
    pub gold: Gold,
    /// Passages that come with it: the deciding paragraph, the paper's paragraphs, or what the expert cited.
    pub contexts: Vec<Context>,
    /// Evidence must have been published strictly before this day.
    pub before: Option<Date>,
    /// Title of the paper that the item was made from and that may not be evidence.
    pub own_title: Option<String>,
    /// arXiv identifier of that paper.
    pub own_arxiv: Option<String>,
    /// Name of the annotator (Scholar-CS, Scholar-Multi).
    pub annotator: Option<String>,
    /// Whether it is one of those that two people annotated.
    pub doubly_annotated: bool,
    /// Field of science (Scholar-Multi).
    pub subject: Option<String>,
    /// The earlier item that asks the same ([`mark_duplicates`]): it is answered once.
    pub duplicate_of: Option<String>,
}

impl Item {
    /// An item with a question and nothing else.
    pub fn new(task: BenchTask, id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            task,
            question: question.into(),
            gold: Gold::None,
            contexts: Vec::new(),
            before: None,
            own_title: None,
            own_arxiv: None,
            annotator: None,
            doubly_annotated: false,
            subject: None,
            duplicate_of: None,
        }
    }
}

/// `limit` items drawn by `seed`, in file order; all without a limit.
///
/// Drawn are those with the smallest SHA-256 of seed and id, so that a larger limit keeps the smaller one's items.
pub fn sample(items: Vec<Item>, limit: Option<usize>, seed: u64) -> Vec<Item> {
    let Some(limit) = limit.filter(|limit| *limit < items.len()) else { return items };
    let mut order: Vec<(Vec<u8>, usize)> = items
        .iter()
        .enumerate()
        .map(|(nth, item)| {
            (Sha256::digest(format!("{seed}\n{}", item.id).as_bytes()).to_vec(), nth)
        })
        .collect();
    order.sort();
    let mut drawn = vec![false; items.len()];
    for (_, nth) in order.into_iter().take(limit) {
        drawn[nth] = true;
    }
    items.into_iter().zip(drawn).filter_map(|(item, drawn)| drawn.then_some(item)).collect()
}

/// Names the first of items that ask the same in the later ones, and counts those. With `given` their passages must be the
/// same too.
pub fn mark_duplicates(items: &mut [Item], given: bool) -> usize {
    let mut seen: std::collections::HashMap<[u8; 32], String> = std::collections::HashMap::new();
    let mut count = 0;
    for item in items {
        let mut digest = Sha256::new();
        digest.update(item.question.as_bytes());
        for context in item.contexts.iter().filter(|_| given) {
            digest.update([0]);
            digest.update(context.title.as_bytes());
            digest.update([1]);
            digest.update(context.text.as_bytes());
        }
        let key: [u8; 32] = digest.finalize().into();
        item.duplicate_of = seen.get(&key).cloned();
        match &item.duplicate_of {
            Some(_) => count += 1,
            None => {
                seen.insert(key, item.id.clone());
            }
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(n: usize) -> Vec<Item> {
        (0..n)
            .map(|nth| {
                Item::new(BenchTask::Bio, format!("bio_{nth}"), format!("question {}", nth % 50))
            })
            .collect()
    }

    #[test]
    fn a_sample_is_seeded_grows_and_keeps_order() {
        let ids = |limit, seed| -> Vec<String> {
            sample(items(100), Some(limit), seed).into_iter().map(|item| item.id).collect()
        };
        let ten = ids(10, 7);
        assert_eq!(ten.len(), 10);
        assert_eq!(ten, ids(10, 7));
        assert_ne!(ten, ids(10, 8));
        assert!(ten.iter().all(|id| ids(20, 7).contains(id)));
        let number = |id: &String| id[4..].parse::<usize>().expect("a number");
        assert!(ten.windows(2).all(|pair| number(&pair[0]) < number(&pair[1])));
        assert_eq!(sample(items(5), Some(9), 1).len(), 5);
    }

    #[test]
    fn a_repeated_question_points_at_the_first() {
        let mut all = items(100);
        assert_eq!(mark_duplicates(&mut all, false), 50);
        assert_eq!(all[50].duplicate_of.as_deref(), Some("bio_0"));
        assert_eq!(all[0].duplicate_of, None);
        let text = Context { text: "another".to_owned(), ..Context::default() };
        all[50].contexts.push(text);
        assert_eq!(mark_duplicates(&mut all, false), 50, "passages are looked for");
        assert_eq!(mark_duplicates(&mut all, true), 49, "passages are given");
        assert_eq!(all[50].duplicate_of, None);
    }
}
