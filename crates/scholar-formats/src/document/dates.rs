//! Dates as documents state them.

use jiff::civil::Date;

/// A date as documents state it: month and day may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct StatedDate {
    pub(crate) year: i16,
    pub(crate) month: Option<i8>,
    pub(crate) day: Option<i8>,
}

impl StatedDate {
    /// Reads `2021`, `2021-09`, `2021-09-13` and longer ISO forms.
    pub(crate) fn iso(text: &str) -> Option<Self> {
        let mut parts = text.trim().splitn(3, '-');
        let year = year(parts.next()?)?;
        let month = parts.next().and_then(month);
        let day = parts.next().and_then(|rest| rest.get(..2)).and_then(day);
        Some(Self { year, month, day: month.and(day) })
    }

    /// The day, if month and day are stated and the calendar has it.
    pub(crate) fn day(self) -> Option<Date> {
        Date::new(self.year, self.month?, self.day?).ok()
    }
}

/// The latest year that a margin is believed to state. Whoever knows the time knows better, and refuses years that are to come.
pub(crate) const LATEST_YEAR: i16 = 2099;

/// A year of four digits that a paper can have.
pub(crate) fn year(text: &str) -> Option<i16> {
    let digits: String = text.trim().chars().take_while(char::is_ascii_digit).collect();
    if digits.len() != 4 {
        return None;
    }
    digits.parse().ok().filter(|year| (1500..=2200).contains(year))
}

/// A month by number or English name.
pub(crate) fn month(text: &str) -> Option<i8> {
    let text = text.trim();
    if let Ok(number) = text.parse::<i8>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let names =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let head = text.get(..3)?.to_ascii_lowercase();
    names.iter().position(|name| **name == head).and_then(|at| i8::try_from(at + 1).ok())
}

/// A day of the month.
pub(crate) fn day(text: &str) -> Option<i8> {
    text.trim().parse().ok().filter(|day| (1..=31).contains(day))
}
