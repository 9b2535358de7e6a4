//! Which cells of a title page are names of authors, and in which order.
//!
//! 1. Between the title and the text ([`region`]), the first cell that is a list of names sets the type of names.
//! 2. Other cells are names too if they read as names and are set in that type. Where addresses are set in the same type,
//!    they must follow an address, a gap or other names as well.
//! 3. Names are read row by row, or column by column where each column has an address of its own below.

use super::super::hyphens::join_line;
use super::cells::{Cell, Row};
use super::lines::MARK;
use super::person;

/// Authors as the page lists them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Authors {
    /// In order.
    pub(super) names: Vec<String>,
    /// Whether names are set apart from addresses by their type, or addresses of mail repeat them.
    pub(super) clear: bool,
}

/// Most authors: no list fits more on a page.
const MOST: usize = 600;

/// Most bytes of text that are read as names, those of the lines of one list again with every line it goes on in. A list
/// of 600 authors in 60 lines takes a fifth of them.
const MOST_BYTES: usize = 1 << 20;

/// Lines this many times their type's size apart do not belong together.
const APART: f64 = 2.1;

/// The cells between the title, whose last line stands at `title`, and the text of the paper.
pub(super) fn region(rows: &[Row], title: f64) -> Vec<&Cell> {
    let below: Vec<&Cell> = rows.iter().flatten().filter(|cell| cell.y > title + 1.0).collect();
    let end = below
        .iter()
        .find(|cell| opens_text(&cell.plain()) || is_prose(cell, &below))
        .map_or(f64::MAX, |cell| cell.y - cell.size * 0.5);
    below.into_iter().filter(|cell| cell.y < end).collect()
}

/// Whether a line begins the abstract, or what comes after it.
fn opens_text(text: &str) -> bool {
    let letters: String =
        text.chars().filter(|c| !c.is_whitespace()).take(14).collect::<String>().to_lowercase();
    let numbered = letters.trim_start_matches(|c: char| c.is_ascii_digit() || ".i".contains(c));
    [
        "abstract",
        "summary",
        "keywords",
        "indexterms",
        "r\u{e9}sum\u{e9}",
        "zusammenfassung",
        "resumen",
        "categoriesand",
    ]
    .iter()
    .any(|word| letters.starts_with(word))
        || letters.contains("introduction")
        || numbered.starts_with("introduction")
        || letters.starts_with("ntroduction")
}

/// Whether a cell is a line of running text: mostly small words, with another such line below it.
fn is_prose(cell: &Cell, below: &[&Cell]) -> bool {
    small_words(&cell.text, 5)
        && below.iter().any(|next| {
            let step = next.y - cell.y;
            step > cell.size * 0.5
                && step < cell.size * 1.9
                && next.shares_column(cell)
                && small_words(&next.text, 4)
        })
}

fn small_words(text: &str, least: usize) -> bool {
    let words: Vec<&str> =
        text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).collect();
    let small = words.iter().filter(|word| word.starts_with(char::is_lowercase)).count();
    words.len() >= least && small * 2 > words.len() && !person::is_email(text)
}

/// A run of cells that are one list of names.
#[derive(Debug, Clone)]
struct Found<'a> {
    names: Vec<String>,
    /// The cells it stands in, top to bottom.
    cells: Vec<&'a Cell>,
}

/// Which cell of a region is the first list of names.
pub(super) fn first(region: &[&Cell]) -> Option<usize> {
    let mut bytes_left = MOST_BYTES;
    region.iter().position(|cell| !list(region, cell, &mut bytes_left).names.is_empty())
}

/// The authors that stand in `region`, top to bottom and left to right; `None` where no cell is a list of names.
pub(super) fn find(region: &[&Cell]) -> Option<Authors> {
    let first = first(region)?;
    let kind = region[first];
    let addresses = || {
        let is_address = |text: &str| person::is_email(text) || person::is_institution(text);
        region
            .iter()
            .filter(move |cell| is_address(&cell.text) && person::names(&cell.text).is_none())
    };
    let apart = addresses().any(|cell| !cell.same_type(kind))
        && !addresses().any(|cell| cell.same_type(kind));
    let mut bytes_left = MOST_BYTES;
    let mut found: Vec<Found<'_>> = Vec::new();
    for cell in &region[first..] {
        let taken =
            found.iter().any(|one| one.cells.iter().any(|other| std::ptr::eq(*other, *cell)));
        if taken || !cell.same_type(kind) || found.len() >= MOST {
            continue;
        }
        let one = list(region, cell, &mut bytes_left);
        // Beside names in small letters, words in capitals alone are acronyms of institutions.
        let acronyms = one.names.iter().all(|name| person::is_in_capitals(name))
            && found
                .iter()
                .any(|other| !other.names.iter().all(|name| person::is_in_capitals(name)));
        if !one.names.is_empty() && !acronyms && (apart || follows(cell, region, &found)) {
            found.push(one);
        }
    }
    let found = in_order(found, region);
    let names: Vec<String> = found.into_iter().flat_map(|one| one.names).take(MOST).collect();
    let mails: String = region
        .iter()
        .filter(|cell| person::is_email(&cell.text))
        .map(|cell| person::key(&cell.text))
        .collect();
    // Addresses are made of family or given names; a short one occurs in any of them.
    let in_mails = |key: String| key.chars().count() >= 3 && mails.contains(&key);
    let mailed = names
        .iter()
        .filter(|name| in_mails(person::family_key(name)) || in_mails(person::given_key(name)))
        .count();
    let clear = apart || (mailed * 2 >= names.len() && mailed > 0);
    let names = person::in_their_case(names);
    (!names.is_empty()).then_some(Authors { names, clear })
}

/// The list of names that begins in a cell; it goes on in the cell below while it ends within a name or after a comma.
/// Nothing is found when `bytes_left` have been read.
fn list<'a>(region: &[&'a Cell], cell: &'a Cell, bytes_left: &mut usize) -> Found<'a> {
    const MOST_LINES: usize = 60;
    let mut cells = vec![cell];
    let mut text = cell.text.clone();
    for _ in 0..MOST_LINES {
        let Some(left) = bytes_left.checked_sub(text.len()) else { break };
        *bytes_left = left;
        let last = cells[cells.len() - 1];
        let whole = person::names(&text);
        let next = next_line(region, last).filter(|next| next.same_type(cell));
        match (whole, next) {
            // A list parted by commas that ends without one ends within a name, if both halves are not whole ones.
            (Some(names), Some(next)) => {
                let parted = text.contains(',') && !ends_open(&text) && !ends_marked(&text);
                let both = joined(&text, &next.text);
                let goes_on = person::names(&both).is_some_and(|all| {
                    (parted && broken(&names, &all)) || ends_open(&text) || begins_open(&next.text)
                });
                if !goes_on {
                    return Found { names, cells };
                }
                text = both;
                cells.push(next);
            }
            (Some(names), None) => return Found { names, cells },
            (None, Some(next))
                if text.contains(',') || ends_open(&text) || next.text.contains(',') =>
            {
                let (names, _) = person::leading_names(&text);
                if names.is_empty() {
                    break;
                }
                text = joined(&text, &next.text);
                cells.push(next);
            }
            (None, _) => break,
        }
    }
    // Names with their address behind them on the same line.
    let (names, _) = person::leading_names(&cell.text);
    let rest =
        names.last().and_then(|last| cell.text.rsplit_once(last.as_str())).map(|(_, rest)| rest);
    let addressed = rest.is_some_and(|rest| person::is_institution(rest) || person::is_email(rest));
    Found { names: if addressed { names } else { Vec::new() }, cells: vec![cell] }
}

fn joined(text: &str, next: &str) -> String {
    let mut text = text.to_owned();
    join_line(&mut text, next);
    text
}

/// Whether a list that was joined with its next line has a name that neither line has alone, of few words.
fn broken(names: &[String], joined: &[String]) -> bool {
    let Some(at) = names.len().checked_sub(1) else { return false };
    let Some(name) = joined.get(at) else { return false };
    name != &names[at] && name.split(' ').count() <= 3
}

fn ends_open(text: &str) -> bool {
    let bare = text.trim_end_matches(|c: char| c == MARK || c.is_whitespace());
    let lower = bare.to_lowercase();
    bare.ends_with([',', '&', ';']) || lower.ends_with(" and") || lower == "and"
}

fn ends_marked(text: &str) -> bool {
    text.trim_end().ends_with(|c: char| {
        c == MARK || c.is_ascii_digit() || "*\u{2217}\u{2020}\u{2021}".contains(c)
    })
}

fn begins_open(text: &str) -> bool {
    let lower = text.trim_start().to_lowercase();
    lower.starts_with("and ") || lower.starts_with("& ")
}

/// The cell right below another.
fn next_line<'a>(region: &[&'a Cell], cell: &Cell) -> Option<&'a Cell> {
    let below = region.iter().filter(|next| {
        let step = next.y - cell.y;
        step > cell.size * 0.5 && step < cell.size * APART && next.shares_column(cell)
    });
    below.copied().min_by(|a, b| a.y.total_cmp(&b.y).then(a.left.total_cmp(&b.left)))
}

/// Whether names may stand in a cell that is set as addresses are: beside or right below other names, or below the end of
/// an address.
fn follows(cell: &Cell, region: &[&Cell], found: &[Found<'_>]) -> bool {
    let Some(last) = found.last() else { return true };
    let beside = found
        .iter()
        .flat_map(|one| &one.cells)
        .any(|other| (other.y - cell.y).abs() < cell.size * 0.5);
    let above = region
        .iter()
        .filter(|other| other.y < cell.y - cell.size * 0.5 && other.shares_column(cell))
        .max_by(|a, b| a.y.total_cmp(&b.y));
    let Some(above) = above else { return beside };
    let after_names = last
        .cells
        .iter()
        .chain(found.iter().flat_map(|one| &one.cells))
        .any(|one| std::ptr::eq(*one, *above))
        && cell.y - above.y < cell.size * APART;
    let after_mail = person::is_email(&above.text);
    let after_gap = cell.y - above.y > cell.size * 1.6 && !person::is_connector(&above.text);
    beside || after_names || after_mail || after_gap
}

/// Row by row, or column by column where two columns have lines of names right below each other and addresses that keep to
/// their columns.
fn in_order<'a>(found: Vec<Found<'a>>, region: &[&'a Cell]) -> Vec<Found<'a>> {
    let mut columns: Vec<(f64, f64, Vec<usize>)> = Vec::new();
    for (at, one) in found.iter().enumerate() {
        let cell = one.cells[0];
        match columns.iter_mut().find(|(left, right, _)| cell.left < *right && *left < cell.right) {
            Some((left, right, members)) => {
                (*left, *right) = (left.min(cell.left), right.max(cell.right));
                members.push(at);
            }
            None => columns.push((cell.left, cell.right, vec![at])),
        }
    }
    let last = |members: &[usize]| members.last().and_then(|at| found[*at].cells.last().copied());
    let stacked = columns.iter().any(|(_, _, members)| {
        members.windows(2).any(|pair| {
            let (above, below) = (found[pair[0]].cells[0], found[pair[1]].cells[0]);
            below.y - above.y < above.size * APART
        })
    });
    let keeps = columns.iter().all(|(left, right, members)| {
        let Some(last) = last(members) else { return false };
        let address = next_line(region, last);
        address.is_none_or(|address| {
            columns.iter().filter(|(l, r, _)| (l, r) != (left, right)).all(|(l, r, _)| {
                // Reaches over most of another column.
                address.right.min(*r) - address.left.max(*l) < (r - l) * 0.5
            })
        })
    });
    let separate = columns
        .iter()
        .any(|(_, _, members)| last(members).and_then(|cell| next_line(region, cell)).is_some());
    if columns.len() < 2 || !stacked || !keeps || !separate {
        return found;
    }
    columns.sort_by(|(a, ..), (b, ..)| a.total_cmp(b));
    let order: Vec<usize> = columns.into_iter().flat_map(|(_, _, members)| members).collect();
    let mut slots: Vec<Option<Found<'a>>> = found.into_iter().map(Some).collect();
    order.into_iter().filter_map(|at| slots.get_mut(at).and_then(Option::take)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells as text, place, size and font.
    fn page(cells: &[(&str, f64, f64, f64, u64)]) -> Vec<Row> {
        let mut rows: Vec<Row> = Vec::new();
        for &(text, x, y, size, font) in cells {
            let cell = Cell::of(text, (x, y), size, font);
            match rows.last_mut().filter(|row| (row[0].y - y).abs() < 1.0) {
                Some(row) => row.push(cell),
                None => rows.push(vec![cell]),
            }
        }
        rows
    }

    fn found(cells: &[(&str, f64, f64, f64, u64)]) -> Vec<String> {
        find(&region(&page(cells), 0.0)).map(|authors| authors.names).unwrap_or_default()
    }

    #[test]
    fn names_stand_above_their_addresses() {
        let names = found(&[
            ("Wolfgang Seeker and Jonas Kuhn", 218.0, 134.0, 12.0, 1),
            ("Institute for Natural Language Processing", 206.0, 148.0, 12.0, 2),
            ("Marina Rey", 252.0, 161.0, 12.0, 2),
            ("{seeker,jonas}@x.de", 182.0, 175.0, 12.0, 3),
            ("Abstract", 163.0, 259.0, 12.0, 1),
            ("Ada Ng", 163.0, 270.0, 12.0, 1),
        ]);
        assert_eq!(names, ["Wolfgang Seeker", "Jonas Kuhn"]);
    }

    #[test]
    fn a_grid_of_authors_is_read_row_by_row() {
        let names = found(&[
            ("Lei Zhang", 160.0, 158.0, 12.0, 1),
            ("Bing Liu", 350.0, 158.0, 12.0, 1),
            ("University of Illinois", 120.0, 172.0, 12.0, 2),
            ("University of Illinois", 320.0, 172.0, 12.0, 2),
            ("lzhang@uic.edu", 130.0, 186.0, 12.0, 2),
            ("liub@uic.edu", 330.0, 186.0, 12.0, 2),
            ("Suk Hwan Lim", 150.0, 234.0, 12.0, 1),
            ("Eamonn O\u{2019}Brien", 340.0, 234.0, 12.0, 1),
            ("Hewlett-Packard Labs", 130.0, 248.0, 12.0, 2),
            ("Hewlett-Packard Labs", 330.0, 248.0, 12.0, 2),
        ]);
        assert_eq!(names, ["Lei Zhang", "Bing Liu", "Suk Hwan Lim", "Eamonn O\u{2019}Brien"]);
    }

    #[test]
    fn stacks_of_names_with_their_own_addresses_are_read_column_by_column() {
        let names = found(&[
            ("Ada Ng", 150.0, 106.0, 12.0, 1),
            ("Cy Wu", 350.0, 106.0, 12.0, 1),
            ("Bo Li", 150.0, 120.0, 12.0, 1),
            ("Di Xu", 350.0, 120.0, 12.0, 1),
            ("University of X", 130.0, 134.0, 12.0, 1),
            ("University of Y", 330.0, 134.0, 12.0, 1),
        ]);
        assert_eq!(names, ["Ada Ng", "Bo Li", "Cy Wu", "Di Xu"]);
        let names = found(&[
            ("Ada Ng", 150.0, 106.0, 12.0, 1),
            ("Cy Wu", 350.0, 106.0, 12.0, 1),
            ("Bo Li", 150.0, 120.0, 12.0, 1),
            ("Di Xu", 350.0, 120.0, 12.0, 1),
            ("Institute of what is in the middle of it", 140.0, 134.0, 12.0, 2),
        ]);
        assert_eq!(names, ["Ada Ng", "Cy Wu", "Bo Li", "Di Xu"]);
    }

    #[test]
    fn a_list_goes_on_in_the_next_line() {
        let names = found(&[
            ("Ada Ng, Bo Li, Alexander", 110.0, 109.0, 12.0, 1),
            ("Fraser, Cy Wu and", 126.0, 123.0, 12.0, 1),
            ("Di Xu", 126.0, 137.0, 12.0, 1),
            ("University of X", 150.0, 151.0, 12.0, 1),
        ]);
        assert_eq!(names, ["Ada Ng", "Bo Li", "Alexander Fraser", "Cy Wu", "Di Xu"]);
    }

    #[test]
    fn cities_in_the_type_of_names_are_none() {
        let names = found(&[
            ("Olivier Ferret", 271.0, 137.0, 12.0, 1),
            ("CEA LIST, LIC2M", 259.0, 151.0, 12.0, 1),
            ("SOME PLACE", 217.0, 158.0, 12.0, 1),
            ("Fontenay Roses", 217.0, 165.0, 12.0, 1),
            ("ferreto@cea.fr", 241.0, 179.0, 12.0, 1),
            ("Ada Ng", 271.0, 200.0, 12.0, 1),
            ("Some Company", 259.0, 214.0, 12.0, 1),
        ]);
        assert_eq!(names, ["Olivier Ferret", "Ada Ng"]);
    }

    #[test]
    fn running_text_ends_the_region() {
        let names = found(&[
            ("Yuval Marton\u{2217}", 54.0, 137.0, 12.0, 1),
            ("Nuance Communications", 54.0, 150.0, 10.0, 1),
            ("Owen Rambow\u{2020}", 54.0, 176.0, 12.0, 1),
            ("We explore what the features of words are good for in", 54.0, 296.0, 10.0, 1),
            ("parsing, and find that they are good for nothing at all", 54.0, 308.0, 10.0, 1),
            ("Ada Ng", 54.0, 340.0, 12.0, 1),
        ]);
        assert_eq!(names, ["Yuval Marton", "Owen Rambow"]);
    }
}
