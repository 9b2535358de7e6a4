//! Opens files of rows, plain, gzip or zstd, in UTF-8 or UTF-16, told apart by their first bytes.

use std::io::{self, BufRead, BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;
use scholar_core::{Limit, ReadLimits};

use super::utf16::Utf16;
use crate::error::Error;
use crate::files;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const UTF16_LE_MARK: &[u8] = b"\xff\xfe";
const UTF16_BE_MARK: &[u8] = b"\xfe\xff";
const BUFFER_BYTES: usize = 1 << 18;

/// What is unpacked before it is compared with what it was unpacked from: a small file may be all blanks.
const UNPACKED_FREELY: u64 = 64 << 20;

/// A file that counts what is read of it.
pub(crate) struct Counted {
    file: fs_err::File,
    /// For progress over all files.
    bytes: Option<Arc<AtomicU64>>,
    /// Of this file alone.
    own: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        for count in self.bytes.iter().chain([&self.own]) {
            count.fetch_add(read as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens `path` as it is, compressed or not: a regular file, or a pipe that is named.
pub(crate) fn counted(path: &Path, bytes: Option<&Arc<AtomicU64>>) -> Result<Counted, Error> {
    let file = files::open_stream(path)?;
    Ok(Counted { file, bytes: bytes.cloned(), own: Arc::default() })
}

/// With the buffer that long lines want.
pub(crate) fn buffered(file: Counted) -> BufReader<Counted> {
    BufReader::with_capacity(BUFFER_BYTES, file)
}

/// Whether `path` can only be read from its beginning: compressed, or in an encoding that is read as another.
pub(crate) fn is_sequential(path: &Path) -> Result<bool, Error> {
    let mut file = buffered(counted(path, None)?);
    let head = file.fill_buf().map_err(Error::io("read", path))?;
    let marks = [&GZIP_MAGIC[..], &ZSTD_MAGIC, UTF16_LE_MARK, UTF16_BE_MARK];
    Ok(marks.iter().any(|mark| head.starts_with(mark)))
}

/// Whether `path` is compressed.
pub(crate) fn is_compressed(path: &Path) -> Result<bool, Error> {
    let mut file = buffered(counted(path, None)?);
    let head = file.fill_buf().map_err(Error::io("read", path))?;
    Ok(head.starts_with(&GZIP_MAGIC) || head.starts_with(&ZSTD_MAGIC))
}

type Source = Box<dyn BufRead + Send>;

/// The uncompressed content of a file; UTF-16 is read as UTF-8.
pub(crate) struct Content {
    pub(crate) source: Source,
    /// What it is written in, where that is not UTF-8.
    pub(crate) encoding: Option<&'static str>,
}

/// The uncompressed content of `path`. `bytes` counts what is read from disk.
pub(crate) fn open(
    path: &Path,
    bytes: Option<&Arc<AtomicU64>>,
    limits: &ReadLimits,
) -> Result<Content, Error> {
    let file = counted(path, bytes)?;
    let packed = file.own.clone();
    let mut file = buffered(file);
    // Names lie (`.json` that is gzip), first bytes do not.
    let head = file.fill_buf().map_err(Error::io("read", path))?;
    let unpacked = |source: Box<dyn Read + Send>| -> Source {
        let unpacking = Unpacking { source, packed, unpacked: 0, ratio: limits.unpack_ratio };
        Box::new(BufReader::with_capacity(BUFFER_BYTES, unpacking))
    };
    let source: Source = if head.starts_with(&GZIP_MAGIC) {
        unpacked(Box::new(MultiGzDecoder::new(file)))
    } else if head.starts_with(&ZSTD_MAGIC) {
        unpacked(Box::new(ZstdFrames::new(file)))
    } else {
        Box::new(file)
    };
    Ok(in_utf8(source))
}

/// Reads UTF-16 as UTF-8. What cannot be read fails where the lines are read.
fn in_utf8(mut source: Source) -> Content {
    // Pipes and decoders give as little as they like at a time.
    let mut head = Vec::new();
    while head.len() < UTF16_LE_MARK.len() {
        let mut byte = [0];
        match source.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            Ok(_) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let source: Source = Box::new(Cursor::new(head).chain(Broken(Some(error))));
                return Content { source, encoding: None };
            }
        }
    }
    let is_big_endian = head == UTF16_BE_MARK;
    if is_big_endian || head == UTF16_LE_MARK {
        let utf8 = Utf16::new(source, is_big_endian);
        let encoding = if is_big_endian { "UTF-16BE" } else { "UTF-16LE" };
        let source: Source = Box::new(BufReader::with_capacity(BUFFER_BYTES, utf8));
        return Content { source, encoding: Some(encoding) };
    }
    Content { source: Box::new(Cursor::new(head).chain(source)), encoding: None }
}

/// Fails with what was met before.
struct Broken(Option<io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

impl BufRead for Broken {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.0.take().map_or(Ok(&[]), Err)
    }

    fn consume(&mut self, _: usize) {}
}

/// A file that goes on beyond a limit.
#[derive(Debug, thiserror::Error)]
#[error("{what} ({limit})")]
pub(crate) struct Beyond {
    pub(crate) what: String,
    pub(crate) limit: Limit,
}

/// Why reading ended in line `line` of `path`.
pub(crate) fn broken_off(path: &Path, line: u64, source: &io::Error) -> Error {
    let path = path.to_owned();
    match source.get_ref().and_then(|inner| inner.downcast_ref::<Beyond>()) {
        Some(beyond) => {
            Error::TooMuch { path, line, what: beyond.to_string(), limit: beyond.limit }
        }
        None => {
            let what = format!("the file ends early or is damaged ({source})");
            Error::Ingest { path, line, what }
        }
    }
}

/// Stops where a file unpacks to much more than itself, while it is unpacked.
struct Unpacking {
    source: Box<dyn Read + Send>,
    packed: Arc<AtomicU64>,
    unpacked: u64,
    ratio: usize,
}

impl Read for Unpacking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.unpacked += read as u64;
        let most = self.packed.load(Ordering::Relaxed).saturating_mul(self.ratio as u64);
        if self.unpacked > most.max(UNPACKED_FREELY) {
            let what = format!("the file unpacks to more than {} times its size", self.ratio);
            return Err(io::Error::other(Beyond { what, limit: Limit::UnpackRatio }));
        }
        Ok(read)
    }
}

/// All frames of a zstd stream: parallel compressors write many.
struct ZstdFrames<R: BufRead> {
    state: Option<Frames<R>>,
}

enum Frames<R: BufRead> {
    Between(R),
    Inside(Box<StreamingDecoder<R, ruzstd::decoding::FrameDecoder>>),
}

impl<R: BufRead> ZstdFrames<R> {
    fn new(source: R) -> Self {
        Self { state: Some(Frames::Between(source)) }
    }
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match self.state.take() {
                None => return Ok(0),
                Some(Frames::Between(mut source)) => {
                    if source.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(source).map_err(io::Error::other)?;
                    self.state = Some(Frames::Inside(Box::new(decoder)));
                }
                Some(Frames::Inside(mut decoder)) => match decoder.read(buffer)? {
                    0 => self.state = Some(Frames::Between(decoder.into_inner())),
                    n => {
                        self.state = Some(Frames::Inside(decoder));
                        return Ok(n);
                    }
                },
            }
        }
    }
}
