//! Counts what a generator uses and refuses what the budget does not allow.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::channel::oneshot;
use futures::future::{Either, pending, select};
use parking_lot::Mutex;
use scholar_core::{
    FinishReason, Generation, GenerationRequest, Generator, GeneratorInfo, Message, OnText,
    PortError, PortErrorKind, TokenUsage,
};

use super::{Budget, BudgetExceeded, RESERVED_PURPOSE};
use crate::clock::{Alarm, Clock};
use crate::outcome::Spent;

/// Shortest reply worth asking for, in tokens: a smaller rest of the budget refuses the call. Ours.
const SHORTEST_REPLY: u64 = 16;

/// Timers are coarser than clocks: the alarm must not ring before the clock says that the time is up.
const ALARM_SLACK: Duration = Duration::from_millis(5);

/// The account of one run. Several generators may share it through [`Meter::wrap`].
///
/// Enforcement: a call whose prompt does not fit is refused; a reply limit is lowered to what remains, so that the
/// token limit holds for sure and the cost limit as far as prices are right; a reply that arrives after the time limit is cut where it
/// stands and comes back with [`FinishReason::Length`].
pub struct Meter {
    budget: Budget,
    clock: Clock,
    alarm: Option<Alarm>,
    began: Duration,
    shared: Arc<Shared>,
}

/// What meters of one account have in common.
struct Shared {
    account: Mutex<Account>,
    /// Generators wrapped so far, so that none is counted twice.
    wrapped: Mutex<Vec<Weak<Metered>>>,
}

#[derive(Debug, Clone, Copy)]
struct Account {
    calls: u64,
    usage: TokenUsage,
    usd: Option<f64>,
    exceeded: Option<BudgetExceeded>,
}

impl Meter {
    /// A meter of nothing spent so far; seconds count from now.
    pub fn start(budget: Budget, clock: Clock) -> Arc<Self> {
        Self::start_with(budget, clock, None)
    }

    /// As [`Meter::start`]; `alarm` ends a call in which nothing arrives any more when the time is up.
    pub fn start_with(budget: Budget, clock: Clock, alarm: Option<Alarm>) -> Arc<Self> {
        let began = clock();
        let account =
            Account { calls: 0, usage: TokenUsage::default(), usd: Some(0.0), exceeded: None };
        let shared = Shared { account: Mutex::new(account), wrapped: Mutex::default() };
        Arc::new(Self { budget, clock, alarm, began, shared: Arc::new(shared) })
    }

    /// A meter of the same account and limits that reads another clock, from now on.
    pub fn read_by(&self, clock: Clock) -> Arc<Self> {
        let began = clock();
        let (budget, alarm) = (self.budget, self.alarm.clone());
        Arc::new(Self { budget, clock, alarm, began, shared: Arc::clone(&self.shared) })
    }

    /// `generator`, counted and limited; one that a meter of this account has wrapped already is wrapped once.
    pub fn wrap(self: &Arc<Self>, generator: Arc<dyn Generator>) -> Arc<dyn Generator> {
        let generator = self.bare(&generator);
        let metered = Arc::new(Metered { meter: Arc::clone(self), generator });
        self.shared.wrapped.lock().push(Arc::downgrade(&metered));
        metered
    }

    /// What `generator` was before a meter of this account wrapped it.
    pub(crate) fn bare(&self, generator: &Arc<dyn Generator>) -> Arc<dyn Generator> {
        let address = Arc::as_ptr(generator).cast::<()>();
        let wrapped = self.shared.wrapped.lock();
        let known = wrapped.iter().filter_map(Weak::upgrade);
        let known = known.into_iter().find(|m| Arc::as_ptr(m).cast::<()>() == address);
        known.map_or_else(|| Arc::clone(generator), |metered| Arc::clone(&metered.generator))
    }

    /// What was used so far.
    pub fn spent(&self) -> Spent {
        let Account { calls, usage, usd, exceeded: _ } = *self.shared.account.lock();
        Spent { calls, usage, usd, seconds: self.seconds() }
    }

    /// The limit met first, if one was.
    pub fn exceeded(&self) -> Option<BudgetExceeded> {
        self.shared.account.lock().exceeded
    }

    fn seconds(&self) -> f64 {
        (self.clock)().saturating_sub(self.began).as_secs_f64()
    }

    /// Whether the time is up. Reads the clock only if time is limited, so that recordings stay small.
    fn time_is_up(&self) -> Option<BudgetExceeded> {
        let limit = self.budget.max_seconds?;
        (self.seconds() >= limit).then_some(BudgetExceeded::Seconds { limit })
    }

    /// Ready when the time is up, never without limit or alarm. Reads the clock with or without alarm: a replay, which
    /// has none, then meets the same readings.
    async fn time_limit(&self) {
        let Some(limit) = self.budget.max_seconds else { return pending().await };
        let left = (limit - self.seconds()).max(0.0);
        match (&self.alarm, Duration::try_from_secs_f64(left)) {
            (Some(alarm), Ok(left)) => alarm(left + ALARM_SLACK).await,
            _ => pending().await,
        }
    }

    /// The most completion tokens a call with `prompt` tokens may use, and the limit that sets them.
    fn allowed(
        &self,
        prompt: u64,
        purpose: &str,
        info: &GeneratorInfo,
    ) -> Result<(u64, Option<BudgetExceeded>), BudgetExceeded> {
        if let Some(exceeded) = self.time_is_up() {
            return Err(exceeded);
        }
        let Budget { max_cost, max_tokens, max_seconds: _, max_calls, reserved_calls } =
            self.budget;
        let reserved = if purpose.ends_with(RESERVED_PURPOSE) { 0 } else { reserved_calls };
        let account = *self.shared.account.lock();
        if let Some(limit) = max_calls.filter(|limit| account.calls + reserved >= *limit) {
            return Err(BudgetExceeded::Calls { limit });
        }
        let mut allowed = (u64::MAX, None);
        if let Some(limit) = max_tokens {
            let exceeded = BudgetExceeded::Tokens { limit };
            let rest = limit.saturating_sub(account.usage.total()).saturating_sub(prompt);
            allowed = (rest, Some(exceeded));
        }
        if let Some(limit) = max_cost {
            let exceeded = BudgetExceeded::Cost { limit };
            let rest = match (info.usd_per_million, account.usd) {
                (Some(price), Some(usd)) => affordable(limit - usd, prompt, price),
                _ => return Err(BudgetExceeded::UnknownPrice { limit }),
            };
            if rest < allowed.0 {
                allowed = (rest, Some(exceeded));
            }
        }
        match allowed {
            (rest, Some(exceeded)) if rest < SHORTEST_REPLY => Err(exceeded),
            allowed => Ok(allowed),
        }
    }

    fn refuse(&self, exceeded: BudgetExceeded) -> PortError {
        self.shared.account.lock().exceeded.get_or_insert(exceeded);
        PortError::new(PortErrorKind::Rejected, exceeded.to_string())
            .with_source(exceeded)
            .with_hint("raise the budget and run again")
    }

    fn add(&self, usage: TokenUsage, info: &GeneratorInfo) {
        let mut account = self.shared.account.lock();
        account.usage += usage;
        account.usd = account.usd.zip(cost(usage, info)).map(|(before, new)| before + new);
    }
}

/// US dollars for `usage` of this model; `None` when its price is unknown.
pub(crate) fn cost(usage: TokenUsage, info: &GeneratorInfo) -> Option<f64> {
    let (prompt, completion) = info.usd_per_million?;
    Some((count(usage.prompt) * prompt + count(usage.completion) * completion) / 1e6)
}

#[expect(clippy::cast_precision_loss, reason = "token counts stay far below 2^53")]
fn count(tokens: u64) -> f64 {
    tokens as f64
}

/// Completion tokens that `usd` still pays after `prompt` tokens.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the value is clamped to at least 0; a float too large for u64 saturates"
)]
fn affordable(usd: f64, prompt: u64, price: (f64, f64)) -> u64 {
    let rest = usd - count(prompt) * price.0 / 1e6;
    if rest <= 0.0 && (price.0 > 0.0 || price.1 > 0.0) {
        0
    } else if price.1 <= 0.0 {
        u64::MAX
    } else {
        (rest * 1e6 / price.1).max(0.0) as u64
    }
}

struct Metered {
    meter: Arc<Meter>,
    generator: Arc<dyn Generator>,
}

impl Metered {
    fn prompt_tokens(&self, messages: &[Message]) -> u64 {
        messages.iter().map(|message| self.tokens(&message.content)).sum()
    }

    fn tokens(&self, text: &str) -> u64 {
        u64::try_from(self.generator.count_tokens(text)).unwrap_or(u64::MAX)
    }

    /// Admits a call and returns the reply tokens it may use.
    fn admit(
        &self,
        messages: &[Message],
        purpose: &str,
    ) -> Result<(u64, Option<BudgetExceeded>), PortError> {
        let budget = self.meter.budget;
        let counted = budget.max_tokens.is_some() || budget.max_cost.is_some();
        let prompt = if counted { self.prompt_tokens(messages) } else { 0 };
        let allowed = self.meter.allowed(prompt, purpose, self.generator.info());
        let allowed = allowed.map_err(|exceeded| self.meter.refuse(exceeded))?;
        self.meter.shared.account.lock().calls += 1;
        Ok(allowed)
    }
}

#[async_trait]
impl Generator for Metered {
    fn info(&self) -> &GeneratorInfo {
        self.generator.info()
    }

    fn count_tokens(&self, text: &str) -> usize {
        self.generator.count_tokens(text)
    }

    async fn generate(
        &self,
        request: &GenerationRequest,
        on_text: &OnText<'_>,
    ) -> Result<Generation, PortError> {
        let (allowed, limit) = self.admit(&request.messages, &request.purpose)?;
        let mut request = request.clone();
        let allowed = usize::try_from(allowed).unwrap_or(usize::MAX);
        let lowered = allowed < request.sampling.max_tokens;
        request.sampling.max_tokens = request.sampling.max_tokens.min(allowed);

        let partial = Mutex::new(String::new());
        let (cut, was_cut) = oneshot::channel::<()>();
        let cut = Mutex::new(Some(cut));
        let late = AtomicBool::new(false);
        let listen = |piece: &str| {
            if late.load(Ordering::Relaxed) {
                return;
            }
            partial.lock().push_str(piece);
            on_text(piece);
            if self.meter.time_is_up().is_some() {
                late.store(true, Ordering::Relaxed);
                if let Some(cut) = cut.lock().take() {
                    // The receiver lives as long as the call: nothing is lost if it is gone.
                    let _ = cut.send(());
                }
            }
        };
        let outcome = {
            let call = self.generator.generate(&request, &listen);
            let ended = select(was_cut, Box::pin(self.meter.time_limit()));
            match select(ended, call).await {
                Either::Left(_) => None,
                Either::Right((reply, _)) => Some(reply),
            }
        };
        // A call that fell silent, or failed, when its time was up ends like one that was too long.
        let whole = matches!(outcome, Some(Ok(_)));
        if !whole && !late.load(Ordering::Relaxed) && self.meter.time_is_up().is_some() {
            late.store(true, Ordering::Relaxed);
        }
        if late.load(Ordering::Relaxed) {
            let text = partial.into_inner();
            let usage = TokenUsage {
                prompt: self.prompt_tokens(&request.messages),
                completion: self.tokens(&text),
            };
            self.meter.add(usage, self.info());
            if let Some(exceeded) = self.meter.time_is_up() {
                if text.trim().is_empty() {
                    return Err(self.meter.refuse(exceeded));
                }
                self.meter.shared.account.lock().exceeded.get_or_insert(exceeded);
            }
            let model = self.info().model.clone();
            let finish = FinishReason::Length;
            return Ok(Generation { text, finish, usage, usage_estimated: true, model });
        }
        let reply = match outcome {
            Some(reply) => reply?,
            None => return Err(PortError::new(PortErrorKind::Unavailable, "the call was cut")),
        };
        self.meter.add(reply.usage, self.info());
        if let Some(exceeded) = limit
            && lowered
            && reply.finish == FinishReason::Length
        {
            self.meter.shared.account.lock().exceeded.get_or_insert(exceeded);
        }
        Ok(reply)
    }

    async fn choose(
        &self,
        purpose: &str,
        messages: &[Message],
        choices: &[&str],
    ) -> Result<Vec<f32>, PortError> {
        self.admit(messages, purpose)?;
        let values = self.generator.choose(purpose, messages, choices).await?;
        let usage = TokenUsage { prompt: self.prompt_tokens(messages), completion: 1 };
        self.meter.add(usage, self.info());
        Ok(values)
    }
}

#[cfg(test)]
mod tests;
