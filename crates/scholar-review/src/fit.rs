//! Prompts that are not longer than a model reads well.

/// What stands where a text was cut.
const CUT: &str = " […]";

/// `blocks` with the longest ones cut so that all together have at most `room` characters, and how many were cut.
///
/// Every block keeps its beginning, where its key and title are: all get the same room, and what short ones leave goes to the long
/// ones. Cuts fall between words. A block of which nothing is left but the sign of a cut is still there.
pub(crate) fn fitted(blocks: Vec<String>, room: usize) -> (Vec<String>, usize) {
    let mut lengths: Vec<usize> = blocks.iter().map(|block| block.chars().count()).collect();
    if lengths.iter().sum::<usize>() <= room {
        return (blocks, 0);
    }
    lengths.sort_unstable();
    let (mut left, mut most) = (room, 0);
    for (at, length) in lengths.iter().enumerate() {
        most = left / (lengths.len() - at);
        if *length > most {
            break;
        }
        left -= length;
    }
    let mut n = 0;
    let cut = |block: String| {
        if block.chars().count() <= most {
            return block;
        }
        n += 1;
        shortened(&block, most)
    };
    (blocks.into_iter().map(cut).collect(), n)
}

/// The beginning of `text` up to the end of a word, with the sign that it was cut, in at most `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let room = most.saturating_sub(CUT.chars().count());
    let end = text.char_indices().nth(room).map_or(text.len(), |(at, _)| at);
    let kept = &text[..end];
    let kept = kept.rfind(char::is_whitespace).map_or(kept, |at| &kept[..at]);
    format!("{}{CUT}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_blocks_are_cut_and_short_ones_stay() {
        let blocks = || vec!["[E1] short".to_owned(), format!("[E2] {}", "word ".repeat(40))];
        let (all, n) = fitted(blocks(), 1_000);
        assert_eq!((all, n), (blocks(), 0));
        let (cut, n) = fitted(blocks(), 60);
        assert_eq!((cut[0].as_str(), n), ("[E1] short", 1));
        assert!(cut[1].starts_with("[E2] word") && cut[1].ends_with("word […]"), "{}", cut[1]);
        assert!(cut.iter().map(|one| one.chars().count()).sum::<usize>() <= 60);
    }

    proptest::proptest! {
        #[test]
        fn what_fits_is_whole_and_nothing_is_longer_than_its_room(
            blocks in proptest::collection::vec("[a-zα ]{0,80}", 1..8), room in 40_usize..400,
        ) {
            let whole: usize = blocks.iter().map(|one| one.chars().count()).sum();
            let (cut, n) = fitted(blocks.clone(), room);
            proptest::prop_assert_eq!(cut.len(), blocks.len());
            let after: usize = cut.iter().map(|one| one.chars().count()).sum();
            if whole <= room {
                proptest::prop_assert_eq!((&cut, n), (&blocks, 0));
            } else {
                proptest::prop_assert!(n > 0 && after <= room, "{} > {}", after, room);
            }
        }
    }
}
