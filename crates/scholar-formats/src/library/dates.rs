//! Dates as lists write them.

use jiff::civil::Date;

/// A year, and the day where it is stated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct When {
    pub(crate) year: Option<i16>,
    pub(crate) day: Option<Date>,
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A year of parts, a day where month and day are stated too.
pub(crate) fn of_parts(year: i64, month: Option<i64>, day: Option<i64>) -> When {
    let year = i16::try_from(year).ok().filter(|year| (1000..=2200).contains(year));
    let small = |n: i64| i8::try_from(n).ok();
    let date = year.and_then(|year| Date::new(year, small(month?)?, small(day?)?).ok());
    When { year, day: date }
}

/// The number of a month given as number or name.
pub(crate) fn month(text: &str) -> Option<i64> {
    let text = text.trim().to_lowercase();
    if let Ok(number) = text.parse::<i64>() {
        return (1..=12).contains(&number).then_some(number);
    }
    let at = MONTHS.iter().position(|name| text.starts_with(name))?;
    i64::try_from(at + 1).ok()
}

/// `2020-05-03`, `2020/05/03/`, `2020-05`, `3 May 2020`, `May 3, 2020`, `c2020`, Zotero's `2020-05-03 May 3, 2020`.
/// The order of day and month in `05/03/2020` is not known, so that only its year is taken.
pub(crate) fn parse(text: &str) -> When {
    // A date is short; what stands far behind it is not one.
    let text: String = text.chars().take(80).collect();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = |word: &str| word.parse::<i64>().ok().filter(|_| word.len() <= 2);
    let Some((at, year)) = words.iter().enumerate().find_map(|(at, word)| Some((at, year(word)?)))
    else {
        return When::default();
    };
    if at == 0 {
        let numeric = |index: usize| words.get(index).and_then(|word| number(word));
        let named = words.get(1).and_then(|word| month_name(word));
        return of_parts(year, numeric(1).or(named), numeric(2));
    }
    let before = &words[..at];
    let name = before.iter().find_map(|word| month_name(word));
    let day = before.iter().find_map(|word| number(word.trim_end_matches(char::is_alphabetic)));
    of_parts(year, name, day.filter(|_| name.is_some() && before.len() == 2))
}

fn month_name(word: &str) -> Option<i64> {
    word.starts_with(char::is_alphabetic).then(|| month(word)).flatten()
}

/// Four digits, alone or behind one or two letters (`c2020`), that can be a year of publication.
fn year(word: &str) -> Option<i64> {
    let digits = word.trim_start_matches(char::is_alphabetic);
    let lead = word.len() - digits.len();
    let (digits, rest) = digits.split_at_checked(4)?;
    (lead <= 2 && !rest.starts_with(|c: char| c.is_ascii_digit()))
        .then(|| digits.parse::<i64>().ok())
        .flatten()
        .filter(|year| (1000..=2200).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_in_their_usual_forms() {
        for (text, expect) in [
            ("2020-05-03", "2020 2020-05-03"),
            ("2020/05/03/print", "2020 2020-05-03"),
            ("2020-05-03 May 3, 2020", "2020 2020-05-03"),
            ("2020-05-00 May 2020", "2020 -"),
            ("2020-05", "2020 -"),
            ("2020", "2020 -"),
            ("c2020.", "2020 -"),
            ("2019/2020", "2019 -"),
            ("May 3, 2020", "2020 2020-05-03"),
            ("3rd May 2020", "2020 2020-05-03"),
            ("2020 May 3", "2020 2020-05-03"),
            ("05/03/2020", "2020 -"),
            ("Spring 1999", "1999 -"),
            ("2020-13-40", "2020 -"),
            ("2020a", "2020 -"),
            ("in press", "- -"),
            ("20200503", "- -"),
            ("", "- -"),
        ] {
            let When { year, day } = parse(text);
            let shown = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            let found = format!(
                "{} {}",
                shown(year.map(|y| y.to_string())),
                shown(day.map(|d| d.to_string()))
            );
            assert_eq!(found, expect, "{text}");
        }
    }
}
