use scholar_core::SentenceRole;
use scholar_testing::FakeEncoder;

use super::*;
use crate::data::sentences::LabelledSentence;

/// Rows in which what answers shares words with the question, and roles have their own words.
fn rows(from: usize, to: usize) -> Vec<SentenceRow> {
    let topics = ["tea", "milk", "rice", "wheat", "salt", "wine", "corn", "oats", "beans"];
    (from..to)
        .map(|n| {
            let (topic, other) = (topics[n % topics.len()], topics[(n + 3) % topics.len()]);
            let sentence = |text: String, answers: bool, role| LabelledSentence {
                text,
                section: String::new(),
                apart: false,
                answers: Some(answers),
                role: Some(role),
            };
            SentenceRow {
                question: format!("Does {topic} lengthen sleep of group {n}?"),
                paper: format!("p{n}"),
                title: format!("On food {n}"),
                in_abstract: true,
                whole: true,
                sentences: vec![
                    sentence(
                        format!("Sleep and {other} are known since long {n}."),
                        false,
                        SentenceRole::Background,
                    ),
                    sentence(
                        format!("We aimed to compare {other} in adults {n}."),
                        false,
                        SentenceRole::Purpose,
                    ),
                    sentence(
                        format!("Trial: {topic} lengthened sleep by {n} hours."),
                        true,
                        SentenceRole::Result,
                    ),
                ],
                source: "made up".to_owned(),
            }
        })
        .collect()
}

fn train(settings: &SentenceSettings) -> (SentenceHeads, Vec<SentenceMeasures>) {
    let (train, dev, test) = (rows(0, 60), rows(60, 80), rows(80, 100));
    let encoder = FakeEncoder::new(16);
    let all = || train.iter().chain(&dev).chain(&test);
    let encoded = Encoded::encode(all(), &encoder, &mut KnownVectors::default(), &mut |_, _| {})
        .expect("encoded");
    let data = SentenceData { train: &train, dev: &dev, encoded: &encoded };
    let heads = train_sentences(settings, data, &encoder, &mut |_| {}).expect("trained");
    let measures = measure(&heads, &test, &encoded, false).expect("measured");
    (heads, measures)
}

fn settings() -> SentenceSettings {
    SentenceSettings {
        epochs: 12,
        batch_size: 16,
        learning_rate: 5e-3,
        ..SentenceSettings::paper()
    }
}

#[test]
fn heads_learn_are_reproducible_and_survive_being_written() {
    let settings = settings();
    let (heads, measures) = train(&settings);
    let answers = &measures[0].answers[0];
    assert!(answers.precision_at_1 > 0.9 && answers.auroc.expect("both") > 0.9, "{answers:?}");
    assert!(measures[0].roles.as_ref().expect("labelled").accuracy > 0.9);
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    write_folder(&heads, &one).expect("written");
    write_folder(&train(&settings).0, &two).expect("written");
    let bytes = |dir: &Path| fs_err::read(dir.join("model.safetensors")).expect("read");
    assert_eq!(bytes(&one), bytes(&two), "the same bytes");
    let opened = SentenceHeads::open(&one).expect("opens");
    assert_eq!(opened.config(), heads.config());
    assert_eq!(opened.role_head(), heads.role_head());
}

#[test]
fn vectors_are_kept_for_the_same_encoder_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("vectors.bin");
    let encoder = FakeEncoder::new(8);
    let rows = rows(0, 5);
    let mut known = KnownVectors::read(&path, &encoder).expect("absent");
    assert!(known.is_empty());
    let encoded = Encoded::encode(&rows, &encoder, &mut known, &mut |_, _| {}).expect("encoded");
    known.write(&path, &encoder).expect("written");
    let mut read = KnownVectors::read(&path, &encoder).expect("read");
    assert_eq!((&read, read.len()), (&known, encoded.len()));
    let again = Encoded::encode(&rows, &encoder, &mut read, &mut |_, _| {}).expect("known");
    assert_eq!(again, encoded);
    let other = FakeEncoder::new(16);
    assert!(KnownVectors::read(&path, &other).expect("of another encoder").is_empty());
}

#[test]
fn settings_are_read_over_the_preset_and_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("train.toml");
    fs_err::write(&path, "epochs = 3\nanswer_blocks = [\"product\"]\n").expect("written");
    let settings = SentenceSettings::read(&path).expect("sound");
    assert_eq!((settings.epochs, settings.seed), (3, SentenceSettings::paper().seed));
    for (text, word) in
        [("epoch = 3", "epoch"), ("epochs = 0", "epochs"), ("dropout = 1.0", "dropout")]
    {
        fs_err::write(&path, text).expect("written");
        let error = SentenceSettings::read(&path).expect_err(text).to_string();
        assert!(error.contains(word), "{error}");
    }
}
