//! Pages of PDFs drawn for people, with the words of quotations marked.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use quick_xml::Reader;
use quick_xml::events::Event;
use scholar_core::place::places_within;
use scholar_core::text::passages::{PassageRules, cut};
use scholar_core::text::sentences::sentences;
use scholar_core::{NoticeKind, PageBox};
use scholar_formats::FormatErrorKind;
use scholar_formats::document::{
    DocumentFormat, PageDrawing, PageMark, ReadLimits, draw_page, find_quotation, read,
};
use scholar_testing::pdf::{pdf, pdf_of};

use crate::samples;

fn drawn(bytes: &[u8], page: u32) -> PageDrawing {
    draw_page(bytes, page, ReadLimits::default()).expect("a page to look at")
}

fn found(bytes: &[u8], quotation: &str) -> Vec<PageMark> {
    find_quotation(bytes, quotation, &[], ReadLimits::default()).expect("a page to search")
}

/// How often each element occurs, which is to say that the whole is well-formed.
fn elements(svg: &str, name: &str) -> usize {
    let mut reader = Reader::from_str(svg);
    let mut count = 0;
    loop {
        match reader.read_event().expect("well-formed") {
            Event::Start(start) | Event::Empty(start) => {
                assert_ne!(start.name().as_ref(), "script");
                count += usize::from(start.name().as_ref() == name);
            }
            Event::Eof => return count,
            _ => {}
        }
    }
}

/// Where letters are placed, from the attribute `transform` of each use of one.
fn letters(svg: &str) -> Vec<(f64, f64)> {
    let places = svg.split(r#"transform="matrix("#).skip(1).filter_map(|rest| {
        let numbers: Vec<f64> =
            rest.split(')').next()?.split(' ').filter_map(|number| number.parse().ok()).collect();
        let [.., x, y] = numbers[..] else { return None };
        Some((x, y))
    });
    places.collect()
}

fn is_in(bbox: PageBox, (x, y): (f64, f64)) -> bool {
    (f64::from(bbox.left) - 1.0..=f64::from(bbox.right)).contains(&x)
        && (f64::from(bbox.top)..=f64::from(bbox.bottom)).contains(&y)
}

/// `bytes` with another dictionary of its pages.
fn with_page(bytes: &[u8], entries: &str) -> Vec<u8> {
    const BOX: &str = "/MediaBox [0 0 612 792]";
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    assert!(text.contains(BOX));
    // The table of offsets is wrong then, and built anew by whoever opens the file.
    text.replace(BOX, entries).chars().map(|c| u8::try_from(c).expect("a byte")).collect()
}

#[test]
fn a_page_is_drawn_with_the_words_of_a_quotation_marked() {
    let bytes = samples::two_columns();
    let page = drawn(&bytes, 1);
    assert_eq!((page.page, page.pages, page.width, page.height), (1, 2, 612.0, 792.0));
    assert_eq!(page.notices, []);
    let marks = found(&bytes, "much can be translated into other things by many people");
    let [PageMark { page: 1, boxes }] = &marks[..] else { panic!("{marks:?}") };
    assert_eq!(boxes.len(), 2, "two lines");
    let svg = page.svg(boxes);
    assert!(elements(&svg, "use") > 200, "letters");
    assert_eq!(svg.matches(r#"rx="1"/>"#).count(), 2);
    assert!(!svg.contains("translated") && !svg.contains("<text"), "letters are outlines");
    // The first line is marked from "much" on, the second to "people".
    let line: Vec<(f64, f64)> =
        letters(&svg).into_iter().filter(|(x, y)| (y - 117.0).abs() < 1.0 && *x < 300.0).collect();
    let marked = line.iter().filter(|letter| is_in(boxes[0], **letter)).count();
    assert_eq!((line.len(), marked), (33, 15), "{boxes:?}");
    assert!(!page.svg(&[]).contains("marks"));
}

#[test]
fn a_quotation_over_two_pages_is_marked_on_both() {
    let quotation = "Results are good and fill this line well. They go on upon the second page.";
    let marks = found(&samples::two_columns(), quotation);
    assert_eq!(marks.iter().map(|mark| mark.page).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(found(&samples::two_columns(), "words that stand on none of the pages"), []);
}

#[test]
fn marks_lie_on_their_letters_on_rotated_and_cropped_pages() {
    // The text runs upward and the page is turned to the right: people see it upright.
    let stream =
        b"BT /F1 10 Tf 0 1 -1 0 300 100 Tm (Some words that are read upright) Tj ET".to_vec();
    let turned = pdf_of(&[("", stream.clone())], "");
    let turned = with_page(&turned, "/MediaBox [0 0 612 792] /Rotate 90");
    let page = drawn(&turned, 1);
    assert_eq!((page.width, page.height), (792.0, 612.0));
    let marks = found(&turned, "words that are read");
    let boxes = &marks[0].boxes;
    let marked = letters(&page.svg(&[])).into_iter().filter(|at| is_in(boxes[0], *at)).count();
    assert_eq!((boxes.len(), marked), (1, "wordsthatareread".len()), "{boxes:?}");

    let plain = pdf(&[vec![(200, 500, 10, "Some words in a part of a page")]]);
    let whole = found(&plain, "words in a part");
    let cropped = with_page(&plain, "/MediaBox [0 0 612 792] /CropBox [150 400 450 600]");
    let page = drawn(&cropped, 1);
    assert_eq!((page.width, page.height), (300.0, 200.0));
    let marks = found(&cropped, "words in a part");
    let (before, after) = (whole[0].boxes[0], marks[0].boxes[0]);
    assert_eq!(after.left, before.left - 150, "from the part's left");
    assert!(after.bottom < 200, "within the part");
    let marked = letters(&page.svg(&[])).into_iter().filter(|at| is_in(after, *at)).count();
    assert_eq!(marked, "wordsinapart".len());
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(data).expect("a vector takes all");
    encoder.finish().expect("a vector takes all")
}

/// An image that a page draws as `/Fm`: its dictionary, and as much of its data as there is.
fn image(entries: &str, data: &[u8]) -> String {
    let data: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    format!(
        "<< /Type /XObject /Subtype /Image {entries} /Length {} >>\nstream\n{data}>\nendstream",
        data.len() + 1
    )
}

fn page_with(image: &str) -> Vec<u8> {
    pdf_of(&[("", b"q 400 0 0 300 100 200 cm /Fm Do Q".to_vec())], image)
}

#[test]
fn a_scanned_page_is_shown_and_says_that_it_has_no_words() {
    let scan = image(
        "/Width 4 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /ASCIIHexDecode",
        &[0, 255, 0, 255, 255, 0, 255, 0],
    );
    let bytes = page_with(&scan);
    let page = drawn(&bytes, 1);
    let svg = page.svg(&[]);
    assert_eq!((elements(&svg, "image"), page.notices.len()), (1, 0));
    assert!(svg.contains("data:image/png;base64,iVBOR"));
    let error =
        find_quotation(&bytes, "any words", &[], ReadLimits::default()).expect_err("a scan");
    assert_eq!(error.kind, FormatErrorKind::NoText);
    assert!(error.to_string().contains("scanned"), "{error}");
    assert!(error.hint.is_some_and(|hint| hint.contains("ocrmypdf")));
}

#[test]
fn a_mask_is_drawn_in_its_colour_and_an_image_smaller_than_it_is() {
    let mask = image("/Width 8 /Height 2 /ImageMask true /Filter /ASCIIHexDecode", &[0x0f, 0xf0]);
    let svg = drawn(&page_with(&mask), 1).svg(&[]);
    assert_eq!(elements(&svg, "image"), 1);
    let (width, height) = (4_000, 3_000);
    let packed = zlib(&vec![128; width * height]);
    let large = image(
        &format!(
            "/Width {width} /Height {height} /ColorSpace /DeviceGray /BitsPerComponent 8 \
             /Filter [/ASCIIHexDecode /FlateDecode]"
        ),
        &packed,
    );
    let svg = drawn(&page_with(&large), 1).svg(&[]);
    // 400 by 300 points are shown with two pixels a point.
    assert!(svg.contains(r#"<image width="800" height="600""#), "{}", &svg[..400]);
}

#[test]
fn images_that_become_too_large_are_grey_and_told() {
    let vast = "/Width 60000 /Height 60000 /ColorSpace /DeviceGray /BitsPerComponent 8";
    let mut jpx = vec![0xff, 0x4f, 0xff, 0x51, 0, 47, 0, 0];
    jpx.extend([0, 1, 0, 0].repeat(2));
    jpx.extend([0; 40]);
    let small = "/Width 10 /Height 10 /ColorSpace /DeviceGray /BitsPerComponent 8";
    let bomb = zlib(&zlib(&vec![0; 4 << 20]));
    for (entries, data) in [
        (format!("{vast} /Filter /DCTDecode"), b"\xff\xd8\xff".to_vec()),
        (format!("{vast} /Filter /ASCIIHexDecode"), vec![0]),
        (format!("{small} /Filter /JPXDecode"), jpx.clone()),
        (format!("{small} /Filter /JPXDecode /SMask 4 0 R"), jpx),
        (format!("{small} /Filter /JBIG2Decode"), vec![0; 40]),
        (
            format!("{small} /Filter /CCITTFaxDecode /DecodeParms << /K -1 /Columns 9000000 >>"),
            vec![0; 40],
        ),
        (format!("{small} /Filter [/ASCIIHexDecode /FlateDecode /FlateDecode]"), bomb),
    ] {
        let bytes = page_with(&image(&entries, &data));
        let page = drawn(&bytes, 1);
        let told: Vec<&str> = page.notices.iter().map(|one| one.message.as_str()).collect();
        assert!(told.iter().any(|one| one.contains("grey areas")), "{entries}: {told:?}");
        assert_eq!(elements(&page.svg(&[]), "image"), 0, "{entries}");
    }
}

#[test]
fn broken_files_and_pages_that_are_not_there_are_errors() {
    let of =
        |bytes: &[u8], page| draw_page(bytes, page, ReadLimits::default()).expect_err("broken");
    let bytes = samples::two_columns();
    for page in [0, 3, u32::MAX] {
        let error = of(&bytes, page);
        assert_eq!(error.kind, FormatErrorKind::Unsupported);
        assert!(error.to_string().contains("the file has 2"), "{error}");
    }
    assert_eq!(of(b"%PDF-1.4 nothing", 1).kind, FormatErrorKind::Malformed);
    assert!(of(include_bytes!("../data/locked.pdf"), 1).to_string().contains("password"));
    let half = &bytes[..bytes.len() / 2];
    // What is left of it may be a page or none.
    if let Ok(page) = draw_page(half, 1, ReadLimits::default()) {
        elements(&page.svg(&[]), "svg");
    }
    let damaged = drawn(include_bytes!("../data/broken_page.pdf"), 2);
    assert_eq!(damaged.notices[0].kind, NoticeKind::Skipped, "{:?}", damaged.notices);
    let late = ReadLimits { time: Duration::ZERO, ..ReadLimits::default() };
    for error in [
        draw_page(&bytes, 1, late).expect_err("no time"),
        find_quotation(&bytes, "words", &[], late).expect_err("no time"),
        draw_page(&bytes, 1, ReadLimits { bytes: 10, ..ReadLimits::default() }).expect_err("long"),
    ] {
        assert_eq!(error.kind, FormatErrorKind::TooLarge, "{error}");
    }
}

#[test]
fn a_page_that_draws_too_much_is_shown_in_part() {
    let limits = ReadLimits { drawings: 50, ..ReadLimits::default() };
    let page = draw_page(&samples::two_columns(), 1, limits).expect("a part of the page");
    assert_eq!(page.notices[0].kind, NoticeKind::Truncated);
    let svg = page.svg(&[]);
    assert!((1..=50).contains(&elements(&svg, "use")));
    // A form that draws itself ends.
    let form = "<< /Subtype /Form /BBox [0 0 612 792] /Resources << /XObject << /Fm 4 0 R >> >> /Length 14 >>\n\
                stream\n/Fm Do /Fm Do \nendstream";
    elements(&drawn(&pdf_of(&[("", b"/Fm Do".to_vec())], form), 1).svg(&[]), "svg");
}

#[test]
fn quotations_of_real_papers_are_found_where_their_passages_stand() {
    let Some(folder) = scholar_testing::data("fulltext/pdf") else { return };
    let mut paths: Vec<_> = fs_err::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "pdf"))
        .collect();
    paths.sort();
    let (mut asked, mut marked, mut on_its_page, mut lines) = (0, 0, 0, 0);
    for path in paths.iter().step_by(4) {
        let bytes = fs_err::read(path).expect("a file");
        let Ok(document) = read(DocumentFormat::Pdf, &bytes, ReadLimits::default()) else {
            continue;
        };
        let page = drawn(&bytes, 1);
        assert!(elements(&page.svg(&[]), "svg") == 1, "{}", path.display());
        let passages = cut(&document.paper, PassageRules::sections());
        let prose = passages.iter().filter(|passage| passage.kind.is_prose());
        for passage in prose.step_by(3) {
            let Some(sentence) =
                sentences(&passage.text).into_iter().max_by_key(ExactSizeIterator::len)
            else {
                continue;
            };
            let quotation = &passage.text[sentence.clone()];
            let start = passage.text[..sentence.start].chars().count();
            let places = places_within(&passage.places, start, start + quotation.chars().count());
            if places.is_empty() {
                continue;
            }
            asked += 1;
            let marks = find_quotation(&bytes, quotation, &places, ReadLimits::default());
            let marks = marks.expect("a page to search");
            marked += usize::from(!marks.is_empty());
            on_its_page += usize::from(marks.iter().map(|mark| mark.page).eq(
                places.iter().map(|place| place.page).fold(
                    Vec::new(),
                    |mut pages: Vec<u32>, page| {
                        if pages.last() != Some(&page) {
                            pages.push(page);
                        }
                        pages
                    },
                ),
            ));
            lines += marks.iter().map(|mark| mark.boxes.len()).sum::<usize>();
        }
    }
    assert!(asked > 40, "{asked}");
    assert!(marked * 100 >= asked * 97, "{marked} of {asked} are found");
    assert!(on_its_page * 100 >= asked * 95, "{on_its_page} of {asked} on their pages");
    assert!(lines > asked, "{lines} lines of {asked}");
}
