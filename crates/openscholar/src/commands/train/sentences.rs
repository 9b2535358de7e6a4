//! `openscholar train sentences`: heads over an encoder's vectors.

use std::process::ExitCode;

use scholar_core::Encoder as _;
use scholar_train::data::read_rows;
use scholar_train::data::sentences::SentenceRow;
use scholar_train::sentences::{
    Encoded, KnownVectors, SentenceData, SentenceSettings, train_sentences, write_folder,
};

use crate::app::App;
use crate::args::TrainSentencesArgs;
use crate::config::DEFAULT_ENCODER;
use crate::error::{CommandError, Context as _};
use crate::progress;
use crate::wiring::models;

/// Vectors of the rows, kept in the output folder.
const VECTORS: &str = "vectors.bin";

/// Folder of the model in the output folder.
const MODEL: &str = "model";

pub(super) fn run(args: &TrainSentencesArgs, app: &App) -> Result<ExitCode, CommandError> {
    let settings = match &args.settings {
        Some(path) => SentenceSettings::read(path)?,
        None => SentenceSettings::paper(),
    };
    let read = |path| -> Result<Vec<SentenceRow>, CommandError> {
        let rows = read_rows(path, args.bad_rows, SentenceRow::check)?;
        let left_out = rows.bad.iter().map(|bad| (path, bad.line, bad.problem.as_str()));
        super::say_left_out(left_out, app);
        Ok(rows.values().collect())
    };
    let (train, dev) = (read(&args.rows)?, read(&args.held_out)?);
    let name = args.encoder.as_deref().or(app.config.encoder.as_deref());
    let name = name.unwrap_or(DEFAULT_ENCODER);
    let encoder = app.block_on(models::encoder(app, name, models::Reading::WHOLE))??;
    fs_err::create_dir_all(&args.out).user(|| "cannot create the output folder".to_owned())?;
    let all = || train.iter().chain(&dev);
    let path = args.out.join(VECTORS);
    let mut known = KnownVectors::read(&path, encoder.as_ref())?;
    let before = known.len();
    let bar = progress::counted(&app.printer, "texts", Some(0)).with_message("encoding");
    let encoded = Encoded::encode(all(), encoder.as_ref(), &mut known, &mut |done, total| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    })?;
    bar.finish_and_clear();
    if known.len() > before {
        known.write(&path, encoder.as_ref())?;
    }
    app.printer.say(&format!(
        "{} rows, {} held out, {} texts encoded by {}",
        train.len(),
        dev.len(),
        encoded.len(),
        encoder.info().name
    ));
    let data = SentenceData { train: &train, dev: &dev, encoded: &encoded };
    let heads = train_sentences(&settings, data, encoder.as_ref(), &mut |epoch| {
        let best = if epoch.best { ", the best so far" } else { "" };
        app.printer.say(&format!(
            "{} {}: loss {:.4}, on development rows {:.4}{best}",
            epoch.head, epoch.epoch, epoch.loss, epoch.dev_loss
        ));
    })?;
    let folder = args.out.join(MODEL);
    write_folder(&heads, &folder)?;
    app.printer.out(&folder.display().to_string())?;
    Ok(ExitCode::SUCCESS)
}
