//! Writes a dense segment as a stream: rows first, header and name last.

use std::io::{BufWriter, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use half::f16;
use scholar_core::EncoderInfo;
use sha2::{Digest as _, Sha256};

use super::file::{HEADER_BYTES, Header, fingerprint_digest};
use crate::descriptor::sync_folder;
use crate::error::Error;
use crate::manifest::SegmentEntry;

/// Ending of a segment that is not finished; swept when a writer opens.
pub(crate) const PARTIAL_ENDING: &str = "partial";

/// A dense segment in the making. Dropped unfinished, it leaves only a partial file that the next writer removes.
pub(crate) struct SegmentWriter {
    folder: PathBuf,
    name: String,
    partial: PathBuf,
    out: BufWriter<fs_err::File>,
    header: Header,
    digest: Sha256,
    row: Vec<u8>,
    /// One bit per ordinal once one of them has no row.
    present: Option<Vec<u64>>,
}

impl SegmentWriter {
    pub(crate) fn create(
        folder: &Path,
        number: u64,
        first: u64,
        encoder: &EncoderInfo,
    ) -> Result<Self, Error> {
        let name = format!("dense-{number:06}.vec");
        let partial = folder.join(format!("{name}.{PARTIAL_ENDING}"));
        let dim = u32::try_from(encoder.dim).map_err(|_| Error::Vectors {
            paper: encoder.name.clone(),
            what: format!("dimension {} is out of range", encoder.dim),
        })?;
        let file = fs_err::File::create(&partial).map_err(Error::io("create", &partial))?;
        let mut out = BufWriter::with_capacity(1 << 20, file);
        out.write_all(&[0; HEADER_BYTES]).map_err(Error::io("write", &partial))?;
        let header = Header {
            dim,
            similarity: encoder.similarity,
            first,
            count: 0,
            rows: 0,
            fingerprint: fingerprint_digest(encoder),
            data: [0; 32],
        };
        Ok(Self {
            folder: folder.to_owned(),
            name,
            partial,
            out,
            header,
            digest: Sha256::new(),
            row: Vec::new(),
            present: None,
        })
    }

    /// Appends a vector and returns its ordinal. Values were checked by [`check_row`].
    pub(crate) fn push(&mut self, vector: &[f32]) -> Result<u64, Error> {
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        row.extend(vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
        let pushed = self.push_row(&row);
        self.row = row;
        pushed
    }

    /// Appends a row as another segment stores it and returns its ordinal.
    pub(crate) fn push_row(&mut self, row: &[u8]) -> Result<u64, Error> {
        self.digest.update(row);
        self.out.write_all(row).map_err(Error::io("write", &self.partial))?;
        Ok(self.next(true))
    }

    /// Leaves out the row of the next ordinal, which was removed.
    pub(crate) fn skip(&mut self) {
        if self.present.is_none() {
            let full = self.header.count;
            let words = (0..full.div_ceil(64)).map(|word| match full - word * 64 {
                left @ 0..64 => (1 << left) - 1,
                _ => u64::MAX,
            });
            self.present = Some(words.collect());
        }
        self.next(false);
    }

    fn next(&mut self, has_row: bool) -> u64 {
        let place = self.header.count;
        if let Some(words) = &mut self.present {
            if place.is_multiple_of(64) {
                words.push(0);
            }
            if let Some(word) = words.last_mut() {
                *word |= u64::from(has_row) << (place % 64);
            }
        }
        self.header.count += 1;
        self.header.rows += u64::from(has_row);
        self.header.first + place
    }

    /// Completes the file, durable under its final name.
    pub(crate) fn finish(self) -> Result<SegmentEntry, Error> {
        let Self { folder, name, partial, mut out, mut header, mut digest, row: _, present } = self;
        let bits: Vec<u8> = present.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
        digest.update(&bits);
        header.data = digest.finalize().into();
        let write = |out: &mut BufWriter<fs_err::File>| {
            out.write_all(&bits)?;
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&header.to_bytes())?;
            out.flush()?;
            out.get_ref().sync_all()
        };
        write(&mut out).map_err(Error::io("write", &partial))?;
        fs_err::rename(&partial, folder.join(&name)).map_err(Error::io("rename", &partial))?;
        sync_folder(&folder)?;
        Ok(SegmentEntry { file: name, first: header.first, count: header.count, index: None })
    }
}

/// Refuses a vector that cannot be stored: wrong length, not finite, or too large for f16.
pub(crate) fn check_row(paper: &str, vector: &[f32], dim: usize) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::Vectors { paper: paper.to_owned(), what });
    if vector.len() != dim {
        return refuse(format!("length {} where {dim} is needed", vector.len()));
    }
    match vector.iter().find(|value| !f16::from_f32(**value).is_finite()) {
        Some(value) => refuse(format!("{value} does not fit in a 16-bit float")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::Similarity;

    use super::super::DenseSegment;
    use super::*;
    use crate::store::checks::Checks;

    fn encoder() -> EncoderInfo {
        EncoderInfo {
            name: "test".to_owned(),
            fingerprint: "f1".to_owned(),
            dim: 3,
            max_tokens: 8,
            similarity: Similarity::Dot,
            preparation: scholar_core::TextPreparation::NONE,
        }
    }

    #[test]
    fn rows_come_back_and_damage_is_noticed() {
        let folder = tempfile::tempdir().expect("temp dir");
        let mut writer = SegmentWriter::create(folder.path(), 7, 100, &encoder()).expect("created");
        assert_eq!(writer.push(&[1.0, -2.0, 0.5]).expect("written"), 100);
        assert_eq!(writer.push(&[0.0, 0.25, 4.0]).expect("written"), 101);
        let entry = writer.finish().expect("finished");
        let segment =
            DenseSegment::open(folder.path(), &entry, &encoder(), &Checks::none()).expect("opens");
        segment.verify().expect("intact");
        assert_eq!(segment.row(99), None);
        assert_eq!(segment.row(102), None);
        let values: Vec<f32> = segment
            .row(101)
            .expect("second row")
            .chunks_exact(2)
            .map(|b| f16::from_le_bytes([b[0], b[1]]).to_f32())
            .collect();
        assert_eq!(values, [0.0, 0.25, 4.0]);
        drop(segment);

        let path = folder.path().join(&entry.file);
        let bytes = fs_err::read(&path).expect("read");
        let mut other = encoder();
        other.fingerprint = "f2".to_owned();
        assert!(matches!(
            DenseSegment::open(folder.path(), &entry, &other, &Checks::none()),
            Err(Error::Corrupt { .. })
        ));
        for cut in [0, 50, HEADER_BYTES, bytes.len() - 1] {
            fs_err::write(&path, &bytes[..cut]).expect("written");
            assert!(matches!(
                DenseSegment::open(folder.path(), &entry, &encoder(), &Checks::none()),
                Err(Error::Corrupt { .. } | Error::Io { .. })
            ));
        }
        let mut flipped = bytes.clone();
        flipped[HEADER_BYTES + 3] ^= 1;
        fs_err::write(&path, &flipped).expect("written");
        let segment = DenseSegment::open(folder.path(), &entry, &encoder(), &Checks::none())
            .expect("header fits");
        assert!(segment.verify().is_err());
        let mut header = bytes;
        header[33] ^= 1;
        fs_err::write(&path, &header).expect("written");
        assert!(DenseSegment::open(folder.path(), &entry, &encoder(), &Checks::none()).is_err());
    }

    #[test]
    fn removed_rows_leave_holes() {
        let folder = tempfile::tempdir().expect("temp dir");
        for gap in [0_u64, 1, 63, 64, 65, 130] {
            let mut writer =
                SegmentWriter::create(folder.path(), gap, 1_000, &encoder()).expect("created");
            for ordinal in 0..200_u16 {
                if u64::from(ordinal) == gap || ordinal == 199 {
                    writer.skip();
                } else {
                    writer.push(&[f32::from(ordinal), 0.0, 1.0]).expect("written");
                }
            }
            let entry = writer.finish().expect("finished");
            assert_eq!(entry.count, 200);
            let segment = DenseSegment::open(folder.path(), &entry, &encoder(), &Checks::none())
                .expect("opens");
            segment.verify().expect("intact");
            assert_eq!(
                (segment.rows(), segment.row(1_000 + gap), segment.row(1_199)),
                (198, None, None)
            );
            for ordinal in (0..199_u16).filter(|ordinal| u64::from(*ordinal) != gap) {
                let row = segment.row(1_000 + u64::from(ordinal)).expect("stored");
                assert_eq!(row[..2], f16::from_f32(f32::from(ordinal)).to_le_bytes());
            }
            let back: Vec<Option<u64>> = (0..198).map(|row| segment.ordinal(row)).collect();
            assert!(back.is_sorted() && back.iter().all(Option::is_some), "{back:?}");
            assert_eq!(segment.ordinal(198), None);
        }
    }

    #[test]
    fn unusable_vectors_are_refused() {
        assert!(check_row("p", &[1.0, 2.0], 2).is_ok());
        for bad in [&[1.0][..], &[f32::NAN, 0.0], &[f32::INFINITY, 0.0], &[1e9, 0.0]] {
            assert!(check_row("p", bad, 2).is_err(), "{bad:?}");
        }
    }
}
