//! The sentence classifier, recorded and served.

use std::sync::Arc;

use scholar_core::text::hex;
use scholar_core::{
    EmbeddedText, PortError, SentenceClassifier, SentenceClassifierInfo, SentenceInContext,
    SentenceScores,
};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::recorder::{Pending, Recorded};
use super::replayer::{Served, unavailable};
use super::{Port, key_of};

/// The key of a call hashes all that the classifier sees, its request shows the texts.
struct Request {
    full: Value,
    shown: Value,
}

fn request(question: EmbeddedText<'_>, sentences: &[SentenceInContext<'_>]) -> Request {
    let mut digest = Sha256::new();
    let mut add = |vector: Option<&[f32]>| {
        let vector = vector.unwrap_or_default();
        digest.update((vector.len() as u64).to_le_bytes());
        vector.iter().for_each(|value| digest.update(value.to_le_bytes()));
    };
    add(Some(question.vector));
    let mut places = Vec::with_capacity(sentences.len());
    for one in sentences {
        let SentenceInContext { sentence, before, after, title, kind, section, nth, of } = *one;
        add(Some(sentence.vector));
        add(before);
        add(after);
        add(title.map(|title| title.vector));
        places.push(json!([title.map(|title| title.text), kind, section, nth, of]));
    }
    let texts: Vec<&str> = sentences.iter().map(|one| one.sentence.text).collect();
    let shown = json!({ "question": question.text, "sentences": texts });
    let full = json!([&shown, places, hex(&digest.finalize())]);
    Request { full, shown }
}

impl SentenceClassifier for Recorded<Arc<dyn SentenceClassifier>> {
    fn info(&self) -> &SentenceClassifierInfo {
        self.port.info()
    }

    fn classify(
        &self,
        question: EmbeddedText<'_>,
        sentences: &[SentenceInContext<'_>],
    ) -> Result<Vec<SentenceScores>, PortError> {
        let result = self.port.classify(question, sentences);
        let Request { full, shown } = request(question, sentences);
        let key = key_of(Port::Classify, &full);
        let call =
            Pending { port: Port::Classify, key, purpose: None, request: shown, began: None };
        self.book.call(call, &result);
        result
    }
}

impl SentenceClassifier for Served {
    fn info(&self) -> &SentenceClassifierInfo {
        let info = &self.0.info.sentence_classifier;
        info.as_ref().expect("only made when the journal names a sentence classifier")
    }

    fn classify(
        &self,
        question: EmbeddedText<'_>,
        sentences: &[SentenceInContext<'_>],
    ) -> Result<Vec<SentenceScores>, PortError> {
        match self.0.result(Port::Classify, &request(question, sentences).full) {
            Some(result) => result,
            None => {
                let live = self.0.live()?.sentence_classifier.clone();
                live.ok_or_else(|| unavailable("the sentence classifier"))?
                    .classify(question, sentences)
            }
        }
    }
}
