//! Who is next: questions wait in a line of each caller, and the lines take turns.
//!
//! A caller with a hundred questions waits behind nobody else's hundredth: the next question is one of the caller with the
//! fewest under way, among those the one who was served longest ago.

use std::collections::{BTreeMap, VecDeque};

/// How many may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaitingLimits {
    /// Of all callers together.
    pub all: usize,
    /// Of one caller.
    pub each: usize,
}

/// No more may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Of all.
    Full,
    /// Of this caller.
    TooMany,
}

/// The lines.
#[derive(Debug)]
pub(crate) struct FairQueue<T> {
    limits: WaitingLimits,
    lines: BTreeMap<String, Line<T>>,
    turn: u64,
}

#[derive(Debug)]
struct Line<T> {
    waiting: VecDeque<T>,
    under_way: usize,
    /// The turn in which it was served last.
    served: u64,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self { waiting: VecDeque::new(), under_way: 0, served: 0 }
    }
}

impl<T> FairQueue<T> {
    pub(crate) fn new(limits: WaitingLimits) -> Self {
        Self { limits, lines: BTreeMap::new(), turn: 0 }
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.lines.values().map(|line| line.waiting.len()).sum()
    }

    /// Whether one more of `caller` may wait.
    pub(crate) fn check(&self, caller: &str) -> Result<(), Refused> {
        let own = self.lines.get(caller).map_or(0, |line| line.waiting.len());
        if own >= self.limits.each {
            Err(Refused::TooMany)
        } else if self.len() >= self.limits.all {
            Err(Refused::Full)
        } else {
            Ok(())
        }
    }

    /// Puts one more at the end of its caller's line, whatever the limits: what was accepted before a restart is kept.
    pub(crate) fn push(&mut self, caller: &str, item: T) {
        self.lines.entry(caller.to_owned()).or_default().waiting.push_back(item);
    }

    /// The next one, and from now on under way: of those callers who have none under way, or of whom `may_have_several`.
    pub(crate) fn pop(&mut self, may_have_several: impl Fn(&str) -> bool) -> Option<T> {
        let next = self
            .lines
            .iter_mut()
            .filter(|(caller, line)| {
                !line.waiting.is_empty() && (line.under_way == 0 || may_have_several(caller))
            })
            .min_by_key(|(_, line)| (line.under_way, line.served))?;
        let line = next.1;
        self.turn += 1;
        line.served = self.turn;
        line.under_way += 1;
        line.waiting.pop_front()
    }

    /// One of `caller` is over.
    pub(crate) fn finished(&mut self, caller: &str) {
        if let Some(line) = self.lines.get_mut(caller) {
            line.under_way = line.under_way.saturating_sub(1);
            if line.under_way == 0 && line.waiting.is_empty() {
                self.lines.remove(caller);
            }
        }
    }

    /// Takes out the first that `is_it`.
    pub(crate) fn remove(&mut self, is_it: impl Fn(&T) -> bool) -> Option<T> {
        self.lines.values_mut().find_map(|line| {
            let at = line.waiting.iter().position(&is_it)?;
            line.waiting.remove(at)
        })
    }

    /// How many are served before the one that `is_it`, if callers stay as they are; `None` when it does not wait.
    pub(crate) fn ahead_of(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        let (place, line) = self.lines.values().find_map(|line| {
            let at = line.waiting.iter().position(&is_it)?;
            Some((at, line))
        })?;
        let rank = place + line.under_way;
        let before = |other: &Line<T>| {
            // Of each line those come first that have a lower rank, or the same and were served longer ago.
            let is_earlier = other.served < line.served;
            let upto = (rank + usize::from(is_earlier)).saturating_sub(other.under_way);
            other.waiting.len().min(upto)
        };
        let others = self.lines.values().filter(|other| !std::ptr::eq(*other, line));
        Some(place + others.map(before).sum::<usize>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue() -> FairQueue<&'static str> {
        FairQueue::new(WaitingLimits { all: 6, each: 4 })
    }

    #[test]
    fn callers_take_turns_however_much_one_of_them_asks() {
        let mut queue = queue();
        let pop = |queue: &mut FairQueue<_>| queue.pop(|_| true);
        for item in ["a1", "a2", "a3"] {
            queue.push("ann", item);
        }
        assert_eq!(pop(&mut queue), Some("a1"));
        queue.push("ben", "b1");
        queue.push("cem", "c1");
        assert_eq!(queue.ahead_of(|item| *item == "b1"), Some(0));
        assert_eq!(queue.ahead_of(|item| *item == "a2"), Some(2));
        assert_eq!(queue.ahead_of(|item| *item == "a9"), None);
        // Ann has one under way, the others none.
        let three = [(); 3].map(|()| pop(&mut queue));
        assert_eq!(three, [Some("b1"), Some("c1"), Some("a2")]);
        queue.finished("ben");
        queue.push("ben", "b2");
        let three = [(); 3].map(|()| pop(&mut queue));
        assert_eq!(three, [Some("b2"), Some("a3"), None]);
    }

    #[test]
    fn a_caller_who_may_have_one_under_way_waits_for_its_end() {
        let mut queue = queue();
        for (caller, item) in [("ann", "a1"), ("ann", "a2"), ("ben", "b1"), ("ben", "b2")] {
            queue.push(caller, item);
        }
        let is_ben = |caller: &str| caller == "ben";
        let four = [(); 4].map(|()| queue.pop(is_ben));
        assert_eq!(four, [Some("a1"), Some("b1"), Some("b2"), None]);
        queue.finished("ann");
        assert_eq!(queue.pop(is_ben), Some("a2"));
    }

    #[test]
    fn what_is_too_much_is_refused_and_what_is_given_up_makes_room() {
        let mut queue = queue();
        for _ in 0..4 {
            assert_eq!(queue.check("ann"), Ok(()));
            queue.push("ann", "a");
        }
        assert_eq!(queue.check("ann"), Err(Refused::TooMany));
        queue.push("ben", "b");
        queue.push("cem", "c");
        assert_eq!((queue.check("dee"), queue.len()), (Err(Refused::Full), 6));
        assert_eq!(queue.remove(|item| *item == "b"), Some("b"));
        assert_eq!(queue.remove(|item| *item == "b"), None);
        assert_eq!(queue.check("dee"), Ok(()));
        while queue.pop(|_| true).is_some() {}
        for caller in ["ann", "ann", "ann", "ann", "cem"] {
            queue.finished(caller);
        }
        queue.finished("nobody");
        assert_eq!(queue.len(), 0);
    }
}
