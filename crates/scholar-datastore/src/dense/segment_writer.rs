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
        })
    }

    /// Appends a vector and returns its ordinal. Values were checked by [`check_row`].
    pub(crate) fn push(&mut self, vector: &[f32]) -> Result<u64, Error> {
        self.row.clear();
        self.row.extend(vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()));
        self.digest.update(&self.row);
        self.out.write_all(&self.row).map_err(Error::io("write", &self.partial))?;
        let ordinal = self.header.first + self.header.count;
        self.header.count += 1;
        Ok(ordinal)
    }

    /// Completes the file, durable under its final name.
    pub(crate) fn finish(self) -> Result<SegmentEntry, Error> {
        let Self { folder, name, partial, mut out, mut header, digest, row: _ } = self;
        header.data = digest.finalize().into();
        let write = |out: &mut BufWriter<fs_err::File>| {
            out.seek(SeekFrom::Start(0))?;
            out.write_all(&header.to_bytes())?;
            out.flush()?;
            out.get_ref().sync_all()
        };
        write(&mut out).map_err(Error::io("write", &partial))?;
        fs_err::rename(&partial, folder.join(&name)).map_err(Error::io("rename", &partial))?;
        sync_folder(&folder)?;
        Ok(SegmentEntry { file: name, first: header.first, count: header.count })
    }
}

/// Refuses a vector that cannot be stored: wrong length, not finite, or too large for f16.
pub(crate) fn check_row(paper: &str, vector: &[f32], dim: usize) -> Result<(), Error> {
    let refuse = |what: String| Err(Error::Vectors { paper: paper.to_owned(), what });
    if vector.len() != dim {
        return refuse(format!("length {} where {dim} is needed", vector.len()));
    }
    match vector.iter().find(|value| !f16::from_f32(**value).is_finite()) {
        Some(value) => refuse(format!("{value} is no number that fits 16 bits")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use scholar_core::Similarity;

    use super::super::DenseSegment;
    use super::*;

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
        let segment = DenseSegment::open(folder.path(), &entry, &encoder()).expect("opens");
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
            DenseSegment::open(folder.path(), &entry, &other),
            Err(Error::Corrupt { .. })
        ));
        for cut in [0, 50, HEADER_BYTES, bytes.len() - 1] {
            fs_err::write(&path, &bytes[..cut]).expect("written");
            assert!(matches!(
                DenseSegment::open(folder.path(), &entry, &encoder()),
                Err(Error::Corrupt { .. } | Error::Io { .. })
            ));
        }
        let mut flipped = bytes.clone();
        flipped[HEADER_BYTES + 3] ^= 1;
        fs_err::write(&path, &flipped).expect("written");
        let segment = DenseSegment::open(folder.path(), &entry, &encoder()).expect("header fits");
        assert!(segment.verify().is_err());
        let mut header = bytes;
        header[33] ^= 1;
        fs_err::write(&path, &header).expect("written");
        assert!(DenseSegment::open(folder.path(), &entry, &encoder()).is_err());
    }

    #[test]
    fn unusable_vectors_are_refused() {
        assert!(check_row("p", &[1.0, 2.0], 2).is_ok());
        for bad in [&[1.0][..], &[f32::NAN, 0.0], &[f32::INFINITY, 0.0], &[1e9, 0.0]] {
            assert!(check_row("p", bad, 2).is_err(), "{bad:?}");
        }
    }
}
