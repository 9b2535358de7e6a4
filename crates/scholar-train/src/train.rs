//! The loop that is the same for every task.
//!
//! Steps:
//! 1. Rows are read, the model folder is opened, and the last checkpoint of the output folder, if there is one, is taken
//!    up: the training goes on bit for bit as if it had not stopped.
//! 2. A step is `accumulate` forward and backward passes over `batch` rows each, in an order drawn anew for each epoch;
//!    a rest too small for a batch is left out. The gradient is clipped, `AdamW` follows it at the rate of the schedule.
//! 3. Every so many steps held-out rows are measured, and the exam is sat if there is one. The best weights so far are the model folder `best`; after
//!    `patience` measurements without a better one the training ends.
//! 4. A loss that is not a number ends it at once, before it reaches the weights.
//!
//! The output folder holds `best`, `checkpoint.safetensors`, the curves and `settings.toml`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use scholar_core::SplitMix64;
use scholar_core::text::hex;
use sha2::{Digest as _, Sha256};

use crate::arithmetic::Buffer;
use crate::checkpoint::{self, State};
use crate::curves::{Curves, StepRow};
use crate::error::TrainError;
use crate::exam::{Exam, Learner};
use crate::files;
use crate::lesson::{self, Evaluation, Lesson, Measure, Moment, Rejected};
use crate::model::Model;
use crate::optimiser::{self, Moments, Rule};
use crate::output;
use crate::settings::Settings;

/// What a training tells while it runs.
#[derive(Debug)]
pub enum Event<'a> {
    /// Everything was read.
    Began {
        /// Rows, groups or windows to learn from.
        rows: usize,
        /// Those to measure on.
        held_out: usize,
        /// Of those to learn from, how many a teacher was wanted for and has not scored.
        untaught: usize,
        /// Rows that were left out.
        rejected: &'a [Rejected],
        /// The step a checkpoint goes on from, 0 without one.
        from: usize,
        /// What computes, in words.
        device: String,
    },
    /// A step was done.
    Step(Progress),
    /// Held-out rows were measured.
    Evaluated {
        /// After this many steps.
        step: usize,
        /// Name and value of each measure; the first is the one that is optimised.
        values: &'a [Measure],
        /// Whether nothing before was better.
        best: bool,
    },
}

/// How far a training is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Progress {
    /// Steps done.
    pub step: usize,
    /// Steps in all.
    pub steps: usize,
    /// Loss of the last one.
    pub loss: f64,
    /// Tokens learnt from per second, in this process.
    pub tokens_per_second: f64,
    /// Seconds left at this speed.
    pub seconds_left: f64,
}

/// Whether a training goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It does.
    Continue,
    /// It saves a checkpoint and ends.
    Stop,
}

/// How a training ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Steps done.
    pub steps: usize,
    /// Why it ended.
    pub ended: Ended,
    /// Measures before the first step.
    pub first: Vec<Measure>,
    /// Step and score of the best weights.
    pub best: Option<(usize, f64)>,
    /// The model folder with the best weights.
    pub model: PathBuf,
}

/// Why a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All steps are done.
    Finished,
    /// Held-out rows got no better.
    Early,
    /// It was asked to.
    Stopped,
}

struct Training<'a> {
    settings: &'a Settings,
    out: &'a Path,
    model: Model,
    lesson: Box<dyn Lesson>,
    moments: Moments,
    /// The weights it began from, where some of them are kept.
    anchor: Option<Buffer>,
    rule: Rule,
    state: State,
    curves: Curves,
    first: Vec<Measure>,
    exam: Option<&'a mut (dyn Exam + 'a)>,
    order: Vec<usize>,
    began: Instant,
    tokens_before: u64,
    /// The step this process began with.
    from: usize,
}

/// Trains as `settings` say into folder `out`, or goes on with what is there. `exam` holds the collections that `settings`
/// name.
///
/// # Errors
/// When rows, model or settings cannot be used, the disk is full, or the loss stops being a number. What was saved before
/// stays whole, and the same call goes on from it.
pub fn train<'a>(
    settings: &'a Settings,
    out: &'a Path,
    exam: Option<&'a mut (dyn Exam + 'a)>,
    observe: &mut dyn FnMut(&Event<'_>) -> Control,
) -> Result<Report, TrainError> {
    settings.check()?;
    if exam.is_none() && !settings.collections.is_empty() {
        let problem = "whoever calls for the training brings no exam that holds them";
        return Err(TrainError::setting("collections", problem));
    }
    let mut training = Training::open(settings, out, exam)?;
    let (rows, held_out) = training.lesson.counts();
    let began = Event::Began {
        rows,
        held_out,
        untaught: training.lesson.untaught(),
        rejected: training.lesson.rejected(),
        from: training.state.step,
        device: training.model.device.describe(),
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
        exam: Option<&'a mut (dyn Exam + 'a)>,
    ) -> Result<Self, TrainError> {
        fs_err::create_dir_all(out).map_err(|e| TrainError::write(out, e))?;
        output::recover(&out.join("best"))?;
        let mut model = Model::open(settings)?;
        let anchor =
            (settings.anchor > 0.0).then(|| model.device.duplicate(&model.parameters.values));
        let mut lesson = lesson::open(settings, &mut model)?;
        let mut moments = Moments::new(&*model.device, model.parameters.values.len());
        let fresh = State::new(settings, &model.parameters.shape, digest(settings)?);
        let path = out.join("checkpoint.safetensors");
        let found = checkpoint::load(&path, &fresh, &mut model, &mut moments, &mut *lesson)?;
        let state = found.unwrap_or(fresh);
        files::replace(&out.join("settings.toml"), settings.to_toml()?.as_bytes())?;
        let per_step = settings.batch * settings.accumulate;
        let per_epoch = lesson.items() / settings.batch;
        let possible = (per_epoch * settings.epochs).div_ceil(settings.accumulate);
        let steps = match settings.max_steps {
            0 => possible,
            most => most.min(possible),
        };
        if per_epoch == 0 || steps == 0 {
            let what = format!("{} rows are fewer than one step's {per_step}", lesson.items());
            return Err(TrainError::Useless { what });
        }
        let rule = Rule {
            learning_rate: settings.learning_rate,
            beta1: settings.beta1,
            beta2: settings.beta2,
            epsilon: settings.epsilon,
            weight_decay: settings.weight_decay,
            clip: settings.clip,
            warmup: settings.warmup.min(steps / 2),
            steps,
        };
        let curves = Curves::open(out, state.step)?;
        let (tokens_before, from) = (model.tokens, state.step);
        let mut training = Self {
            settings,
            out,
            model,
            lesson,
            moments,
            anchor,
            rule,
            state,
            curves,
            first: Vec::new(),
            exam,
            order: Vec::new(),
            began: Instant::now(),
            tokens_before,
            from,
        };
        training.order = order(settings.seed, training.state.epoch, training.lesson.items());
        Ok(training)
    }

    fn run(&mut self, observe: &mut dyn FnMut(&Event<'_>) -> Control) -> Result<Ended, TrainError> {
        if self.state.step == 0 {
            let evaluation = self.evaluate()?;
            self.first.clone_from(&evaluation.values);
            // The random head of a fresh classifier is no result worth keeping.
            self.curves.evaluation(0, &evaluation);
            observe(&Event::Evaluated { step: 0, values: &evaluation.values, best: false });
        }
        while self.state.step < self.rule.steps {
            let loss = self.step()?;
            let step = self.state.step;
            let seconds = self.began.elapsed().as_secs_f64();
            let tokens = (self.model.tokens - self.tokens_before) as f64;
            let done = step - self.from;
            let progress = Progress {
                step,
                steps: self.rule.steps,
                loss,
                tokens_per_second: tokens / seconds,
                seconds_left: seconds / done.max(1) as f64 * (self.rule.steps - step) as f64,
            };
            let control = observe(&Event::Step(progress));
            let last = step == self.rule.steps;
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

    /// One step of the optimiser; returns its loss.
    fn step(&mut self) -> Result<f64, TrainError> {
        let Self { settings, model, lesson, .. } = self;
        let mut loss = 0.0;
        model.clear();
        for part in 0..settings.accumulate {
            if self.state.position + settings.batch > self.order.len() {
                self.state.epoch += 1;
                self.state.position = 0;
                self.order = order(settings.seed, self.state.epoch, self.order.len());
            }
            let items = &self.order[self.state.position..self.state.position + settings.batch];
            let at = Moment {
                seed: settings.seed,
                epoch: self.state.epoch as u64,
                pass: (self.state.step * settings.accumulate + part) as u64,
            };
            loss += lesson.learn(model, items, at)? / settings.accumulate as f64;
            self.state.position += settings.batch;
        }
        let share = settings.accumulate as f64;
        let Model { threads, device, parameters, gradient, freeze, .. } = model;
        let device = &**device;
        let length =
            threads.run(|| optimiser::length(device, parameters, *freeze, gradient))? / share;
        if !loss.is_finite() || !length.is_finite() {
            return Err(TrainError::NotFinite { step: self.state.step + 1, kept: self.kept() });
        }
        let rule = (&self.rule, self.state.step);
        let moments = &mut self.moments;
        threads.run(|| {
            optimiser::step(device, parameters, rule, *freeze, (gradient, length, share), moments);
        });
        let learning_rate = self.rule.rate(self.state.step);
        self.state.step += 1;
        self.state.tokens = self.model.tokens;
        self.curves.step(StepRow {
            step: self.state.step,
            epoch: self.state.epoch,
            tokens: self.state.tokens,
            loss,
            learning_rate,
            gradient: length,
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
        let mut evaluation = self.lesson.evaluate(&mut self.model)?;
        if let Some(exam) = &mut self.exam {
            let measures = exam.sit(&mut Learner::new(&mut self.model))?;
            // What the model is for decides which weights are best.
            if let Some((_, first)) = measures.first() {
                evaluation.score = *first;
            }
            evaluation.values.splice(0..0, measures);
        }
        Ok(evaluation)
    }

    /// Measures, keeps the best weights, and says whether that was the end.
    fn measure(
        &mut self,
        observe: &mut dyn FnMut(&Event<'_>) -> Control,
    ) -> Result<Option<Ended>, TrainError> {
        let learnt = self.pull_back();
        let evaluation = self.evaluate()?;
        let step = self.state.step;
        let best = self.state.best.is_none_or(|(score, _)| evaluation.score > score);
        if best {
            let dir = self.out.join("best");
            let weights = self.model.device.read(&self.model.parameters.values)?;
            let model = (&self.model.parameters, &weights[..]);
            output::save(&dir, model, self.settings, step, &evaluation)?;
            self.state.best = Some((evaluation.score, step));
            self.state.misses = 0;
        } else {
            self.state.misses += 1;
        }
        if let Some(learnt) = learnt {
            self.model.parameters.values = learnt;
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

    /// Puts weights between those learnt and those it began from in their place, and returns the former; `None` where
    /// the learnt ones are kept as they are.
    fn pull_back(&mut self) -> Option<Buffer> {
        let anchor = self.anchor.as_ref()?;
        let Model { threads, device, parameters, .. } = &mut self.model;
        let learnt = device.duplicate(&parameters.values);
        let keep = 1.0 - self.settings.anchor;
        threads.run(|| device.blend(&mut parameters.values, anchor, keep));
        Some(learnt)
    }

    fn save(&mut self) -> Result<(), TrainError> {
        let mut state = self.state.clone();
        state.seconds += self.began.elapsed().as_secs_f64();
        let path = self.out.join("checkpoint.safetensors");
        checkpoint::save(&path, &state, &self.model, &self.moments, &*self.lesson)?;
        self.curves.save()
    }
}

/// The order of the rows in an epoch.
fn order(seed: u64, epoch: usize, items: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items).collect();
    SplitMix64::stream(seed ^ 0x0e70_c4a1, epoch as u64).shuffle(&mut order);
    order
}

/// Of all rows, so that a training is not continued on others.
fn digest(settings: &Settings) -> Result<String, TrainError> {
    let mut hash = Sha256::new();
    for path in settings.rows.iter().chain(&settings.held_out) {
        let mut file = fs_err::File::open(path).map_err(|e| TrainError::read(path, e))?;
        std::io::copy(&mut file, &mut hash).map_err(|e| TrainError::read(path, e))?;
    }
    Ok(hex(&hash.finalize()))
}
