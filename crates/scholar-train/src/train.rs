//! The training loop, the same for every task.
//!
//! Steps:
//! 1. Rows are read and the pretrained model is opened; if the output folder has a checkpoint, the training resumes from it,
//!    bit for bit as if it had not stopped.
//! 2. A step is `gradient_accumulation_steps` forward and backward passes over `batch_size` rows each, in an order shuffled
//!    anew for each epoch; an incomplete last batch is dropped. The gradient is clipped to `max_grad_norm`, and `AdamW`
//!    follows it at the scheduled learning rate.
//! 3. Every `evaluate_every` steps the model is evaluated on held-out rows, and by the [`Evaluator`] if there is one. The best
//!    weights so far are the model folder `best`; after `patience` evaluations without improvement the training ends.
//! 4. A loss or gradient norm that is not finite ends it at once, before it reaches the weights.
//!
//! The output folder holds `best`, `checkpoint.safetensors`, the curves and `settings.toml`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use scholar_core::SplitMix64;
use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

use crate::backend::Buffer;
use crate::checkpoint::{self, State};
use crate::curves::{Curves, StepRow};
use crate::error::TrainError;
use crate::evaluator::{EvalModel, Evaluator};
use crate::files;
use crate::model::Model;
use crate::optimiser::{Accumulated, AdamW, AdamWConfig, grad_norm};
use crate::output::{self, SavedModel};
use crate::settings::Settings;
use crate::task::{self, Evaluation, Measure, Rejected, StepContext, TaskData, TrainingTask};

/// Progress of a training.
#[derive(Debug)]
pub enum Event<'a> {
    /// Data and model are open.
    Began {
        /// Training rows, groups or windows.
        rows: usize,
        /// Held-out rows, groups or windows.
        held_out: usize,
        /// Training rows without teacher scores, where a teacher is wanted.
        unscored: usize,
        /// Rows left out as unusable, each with file, line and reason.
        rejected: &'a [Rejected],
        /// Step of the checkpoint it resumes from, 0 without one.
        from: usize,
        /// Device and precision, for people.
        device: String,
    },
    /// An optimizer step was taken.
    Step(Progress),
    /// The model was evaluated.
    Evaluated {
        /// Steps taken so far.
        step: usize,
        /// Metrics; the first selects the best weights.
        values: &'a [Measure],
        /// Whether this is the best evaluation so far.
        best: bool,
    },
}

/// Progress within a training.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Optimizer steps taken so far, those before a resumption included.
    pub step: usize,
    /// Optimizer steps that the settings ask for.
    pub steps: usize,
    /// Training loss of the last step, a mean over its rows.
    pub loss: f64,
    /// Training tokens per second, in this process.
    pub tokens_per_second: f64,
    /// Estimated seconds to the last step, at the pace so far.
    pub seconds_left: f64,
}

/// Reply to an [`Event`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// Go on with the next step.
    Continue,
    /// Save a checkpoint and end.
    Stop,
}

/// How a training ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Optimizer steps taken, those before a resumption included.
    pub steps: usize,
    /// Whether all steps were taken, and if not, why.
    pub ended: Ended,
    /// Metrics before the first step; empty if the training was resumed.
    pub first: Vec<Measure>,
    /// Step and score of the best evaluation.
    pub best: Option<(usize, f64)>,
    /// The model folder with the best weights.
    pub model: PathBuf,
}

/// Why a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All steps were taken.
    Finished,
    /// Early stopping: `patience` evaluations without improvement.
    Early,
    /// The observer replied [`Control::Stop`].
    Stopped,
}

struct Training<'a> {
    settings: &'a Settings,
    out: &'a Path,
    model: Model,
    task: Box<dyn TrainingTask>,
    /// The initial weights, where the saved ones are interpolated with them.
    initial: Option<Buffer>,
    optimiser: AdamW,
    state: State,
    curves: Curves,
    first: Vec<Measure>,
    evaluator: Option<&'a mut (dyn Evaluator + 'a)>,
    order: Vec<usize>,
    began: Instant,
    tokens_before: u64,
    /// The step this process began with.
    from: usize,
}

/// Trains as `settings` say into folder `out`, or resumes what is there. `evaluator` evaluates the collections that `settings`
/// name.
///
/// # Errors
/// When rows, model or settings cannot be used, the disk is full, or the loss is not finite. What was saved before stays
/// whole, and the same call resumes from it.
pub fn train<'a>(
    settings: &'a Settings,
    out: &'a Path,
    evaluator: Option<&'a mut (dyn Evaluator + 'a)>,
    observe: &mut dyn FnMut(&Event<'_>) -> Control,
) -> Result<Report, TrainError> {
    settings.check()?;
    if evaluator.is_none() && !settings.collections.is_empty() {
        let problem = "they need an evaluator, and the caller passed none";
        return Err(TrainError::setting("collections", problem));
    }
    let mut training = Training::open(settings, out, evaluator)?;
    let TaskData { training: rows, held_out, rejected } = training.task.data();
    let began = Event::Began {
        rows,
        held_out,
        unscored: training.task.unscored(),
        rejected,
        from: training.state.step,
        device: training.model.backend.describe(),
    };
    let ended = match observe(&began) {
        Control::Stop => Ended::Stopped,
        Control::Continue => training.run(observe)?,
    };
    training.save()?;
    Ok(Report {
        steps: training.state.step,
        ended,
        first: training.first,
        best: training.state.best.map(|(score, step)| (step, score)),
        model: out.join("best"),
    })
}

impl<'a> Training<'a> {
    fn open(
        settings: &'a Settings,
        out: &'a Path,
        evaluator: Option<&'a mut (dyn Evaluator + 'a)>,
    ) -> Result<Self, TrainError> {
        fs_err::create_dir_all(out).map_err(|e| TrainError::write(out, e))?;
        output::recover(&out.join("best"))?;
        let mut model = Model::open(settings)?;
        let initial = (settings.weight_interpolation > 0.0)
            .then(|| model.backend.duplicate(&model.parameters.values));
        let mut task = task::open(settings, &mut model)?;
        let config = optimiser_config(settings, task.data().training)?;
        let mut optimiser = AdamW::new(config, &*model.backend, model.parameters.values.len());
        let fresh = State::new(settings, &model.parameters.shape, digest(settings)?);
        let path = out.join("checkpoint.safetensors");
        let found =
            checkpoint::load(&path, &fresh, &mut model, &mut optimiser.moments, &mut *task)?;
        let state = found.unwrap_or(fresh);
        files::replace(&out.join("settings.toml"), settings.to_toml()?.as_bytes())?;
        let curves = Curves::open(out, state.step)?;
        let (tokens_before, from) = (model.tokens, state.step);
        let mut training = Self {
            settings,
            out,
            model,
            task,
            initial,
            optimiser,
            state,
            curves,
            first: Vec::new(),
            evaluator,
            order: Vec::new(),
            began: Instant::now(),
            tokens_before,
            from,
        };
        let items = training.task.data().training;
        training.order = order(settings.seed, training.state.epoch, items);
        Ok(training)
    }

    fn run(&mut self, observe: &mut dyn FnMut(&Event<'_>) -> Control) -> Result<Ended, TrainError> {
        if self.state.step == 0 {
            let evaluation = self.evaluate()?;
            self.first.clone_from(&evaluation.values);
            // Not saved as best: the head of a fresh classifier is random.
            self.curves.evaluation(0, &evaluation);
            observe(&Event::Evaluated { step: 0, values: &evaluation.values, best: false });
        }
        while self.state.step < self.optimiser.config.total_steps {
            let loss = self.step()?;
            let step = self.state.step;
            let seconds = self.began.elapsed().as_secs_f64();
            let tokens = (self.model.tokens - self.tokens_before) as f64;
            let done = step - self.from;
            let progress = Progress {
                step,
                steps: self.optimiser.config.total_steps,
                loss,
                tokens_per_second: tokens / seconds,
                seconds_left: seconds / done.max(1) as f64
                    * (self.optimiser.config.total_steps - step) as f64,
            };
            let control = observe(&Event::Step(progress));
            let last = step == self.optimiser.config.total_steps;
            if (last || step.is_multiple_of(self.settings.evaluate_every))
                && let Some(ended) = self.measure(observe)?
            {
                return Ok(ended);
            }
            if control == Control::Stop {
                return Ok(Ended::Stopped);
            }
            if step.is_multiple_of(self.settings.checkpoint_every) && !last {
                self.save()?;
            }
        }
        Ok(Ended::Finished)
    }

    /// One optimizer step; returns its training loss.
    fn step(&mut self) -> Result<f64, TrainError> {
        let Self { settings, model, task, .. } = self;
        let mut loss = 0.0;
        model.clear();
        for part in 0..settings.gradient_accumulation_steps {
            if self.state.position + settings.batch_size > self.order.len() {
                self.state.epoch += 1;
                self.state.position = 0;
                self.order = order(settings.seed, self.state.epoch, self.order.len());
            }
            let items = &self.order[self.state.position..self.state.position + settings.batch_size];
            let context = StepContext {
                seed: settings.seed,
                epoch: self.state.epoch as u64,
                pass: (self.state.step * settings.gradient_accumulation_steps + part) as u64,
            };
            loss += task.training_step(model, items, context)?;
            self.state.position += settings.batch_size;
        }
        let passes = settings.gradient_accumulation_steps;
        loss /= passes as f64;
        let Model { threads, backend, parameters, gradient, freeze, .. } = model;
        let backend = &**backend;
        let norm = threads.run(|| grad_norm(backend, parameters, *freeze, gradient))?;
        let grad_norm = norm / passes as f64;
        if !loss.is_finite() || !grad_norm.is_finite() {
            return Err(TrainError::NotFinite { step: self.state.step + 1, kept: self.kept() });
        }
        let accumulated = Accumulated { sum: gradient, passes, grad_norm };
        let (optimiser, step) = (&mut self.optimiser, self.state.step);
        threads.run(|| optimiser.step(backend, parameters, *freeze, accumulated, step));
        let learning_rate = self.optimiser.config.rate(step);
        self.state.step += 1;
        self.state.tokens = self.model.tokens;
        self.curves.step(StepRow {
            step: self.state.step,
            epoch: self.state.epoch,
            tokens: self.state.tokens,
            loss,
            learning_rate,
            grad_norm,
            seconds: self.state.seconds + self.began.elapsed().as_secs_f64(),
        });
        Ok(loss)
    }

    fn kept(&self) -> String {
        let path = self.out.join("checkpoint.safetensors");
        if path.is_file() {
            format!("the last good checkpoint is {}", path.display())
        } else {
            "there is no checkpoint yet".to_owned()
        }
    }

    fn evaluate(&mut self) -> Result<Evaluation, TrainError> {
        let mut evaluation = self.task.evaluate(&mut self.model)?;
        if let Some(evaluator) = &mut self.evaluator {
            let measures = evaluator.evaluate(&mut EvalModel::new(&mut self.model))?;
            // What the model is for selects the best weights.
            if let Some((_, first)) = measures.first() {
                evaluation.score = *first;
            }
            evaluation.values.splice(0..0, measures);
        }
        Ok(evaluation)
    }

    /// Evaluates, saves the best weights, and says whether the training ends.
    fn measure(
        &mut self,
        observe: &mut dyn FnMut(&Event<'_>) -> Control,
    ) -> Result<Option<Ended>, TrainError> {
        let fine_tuned = self.interpolate();
        let evaluation = self.evaluate()?;
        let step = self.state.step;
        let best = self.state.best.is_none_or(|(score, _)| evaluation.score > score);
        if best {
            let dir = self.out.join("best");
            let weights = self.model.backend.read(&self.model.parameters.values)?;
            let model = SavedModel { parameters: &self.model.parameters, weights: &weights };
            output::save(&dir, model, self.settings, step, &evaluation)?;
            self.state.best = Some((evaluation.score, step));
            self.state.misses = 0;
        } else {
            self.state.misses += 1;
        }
        if let Some(fine_tuned) = fine_tuned {
            self.model.parameters.values = fine_tuned;
        }
        self.curves.evaluation(step, &evaluation);
        self.curves.save()?;
        let stop = observe(&Event::Evaluated { step, values: &evaluation.values, best });
        let patience = self.settings.patience;
        if patience > 0 && self.state.misses >= patience {
            return Ok(Some(Ended::Early));
        }
        Ok((stop == Control::Stop).then_some(Ended::Stopped))
    }

    /// Interpolates the weights with the initial ones and returns the fine-tuned ones; `None` where the settings ask for
    /// no interpolation.
    fn interpolate(&mut self) -> Option<Buffer> {
        let initial = self.initial.as_ref()?;
        let Model { threads, backend, parameters, .. } = &mut self.model;
        let fine_tuned = backend.duplicate(&parameters.values);
        let keep = 1.0 - self.settings.weight_interpolation;
        threads.run(|| backend.blend(&mut parameters.values, initial, keep));
        Some(fine_tuned)
    }

    fn save(&mut self) -> Result<(), TrainError> {
        let mut state = self.state.clone();
        state.seconds += self.began.elapsed().as_secs_f64();
        let path = self.out.join("checkpoint.safetensors");
        checkpoint::save(&path, &state, &self.model, &self.optimiser.moments, &*self.task)?;
        self.curves.save()
    }
}

/// `AdamW` as `settings` say, over the steps that `items` rows make.
///
/// # Errors
/// When they make none.
fn optimiser_config(settings: &Settings, items: usize) -> Result<AdamWConfig, TrainError> {
    let per_step = settings.batch_size * settings.gradient_accumulation_steps;
    let per_epoch = items / settings.batch_size;
    let possible = (per_epoch * settings.epochs).div_ceil(settings.gradient_accumulation_steps);
    let steps = match settings.max_steps {
        0 => possible,
        most => most.min(possible),
    };
    if per_epoch == 0 || steps == 0 {
        let what = format!("{items} rows are fewer than the {per_step} of one step");
        return Err(TrainError::Useless { what });
    }
    Ok(AdamWConfig {
        learning_rate: settings.learning_rate,
        beta1: settings.beta1,
        beta2: settings.beta2,
        epsilon: settings.epsilon,
        weight_decay: settings.weight_decay,
        max_grad_norm: settings.max_grad_norm,
        warmup_steps: settings.warmup_steps.min(steps / 2),
        total_steps: steps,
    })
}

/// Order of the rows in an epoch, shuffled by seed and epoch.
fn order(seed: u64, epoch: usize, items: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items).collect();
    SplitMix64::stream(seed ^ 0x0e70_c4a1, epoch as u64).shuffle(&mut order);
    order
}

/// SHA-256 of all rows, so that a training is not resumed on others.
fn digest(settings: &Settings) -> Result<String, TrainError> {
    let mut hash = Sha256::new();
    for path in settings.rows.iter().chain(&settings.held_out) {
        let mut file = fs_err::File::open(path).map_err(|e| TrainError::read(path, e))?;
        std::io::copy(&mut file, &mut hash).map_err(|e| TrainError::read(path, e))?;
    }
    Ok(hex(&hash.finalize()))
}
