//! Where a text stands on the printed page.

use serde::{Deserialize, Serialize};

/// A rectangle on a page in points (1/72 inch), rounded, measured from the page's top left corner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PageBox {
    /// Left edge, from the page's left.
    pub left: u16,
    /// Upper edge, from the page's top.
    pub top: u16,
    /// Right edge, from the page's left.
    pub right: u16,
    /// Lower edge, from the page's top.
    pub bottom: u16,
}

/// From character `start` of a text on, up to the next place, the text stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// First character (Unicode scalar value) of the text that stands here.
    pub start: usize,
    /// Page of the document, from 1.
    pub page: u32,
    /// The line or block on the page, where the format tells.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub bbox: Option<PageBox>,
}

/// The places that characters `start..end` of a text stand at, each with its start inside that range, counted from
/// `start`. `places` are in order of their starts.
pub fn places_within(places: &[Place], start: usize, end: usize) -> Vec<Place> {
    let before = places.partition_point(|place| place.start <= start);
    places[before.saturating_sub(1)..]
        .iter()
        .take_while(|place| place.start < end)
        .map(|place| Place { start: place.start.saturating_sub(start), ..*place })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_takes_the_place_it_begins_in() {
        let at = |start, page| Place { start, page, bbox: None };
        let places = [at(0, 3), at(10, 4), at(20, 5)];
        assert_eq!(places_within(&places, 12, 25), [at(0, 4), at(8, 5)]);
        assert_eq!(places_within(&places, 10, 20), [at(0, 4)]);
        assert_eq!(places_within(&places, 0, 5), [at(0, 3)]);
        assert_eq!(
            places_within(&[at(5, 1)], 0, 8),
            [at(5, 1)],
            "nothing is known of the beginning"
        );
        assert_eq!(places_within(&[], 0, 8), []);
    }
}
