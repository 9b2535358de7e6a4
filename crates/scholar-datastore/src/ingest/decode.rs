//! Opens plain, gzip and zstd files, told apart by their first bytes.

use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::error::Error;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BUFFER_BYTES: usize = 1 << 18;

/// A file that counts what is read of it.
pub(crate) struct Counted {
    file: fs_err::File,
    bytes: Option<Arc<AtomicU64>>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        if let Some(bytes) = &self.bytes {
            bytes.fetch_add(read as u64, Ordering::Relaxed);
        }
        Ok(read)
    }
}

impl Seek for Counted {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// Opens `path` as it is, compressed or not.
pub(crate) fn counted(path: &Path, bytes: Option<&Arc<AtomicU64>>) -> Result<Counted, Error> {
    let file = fs_err::File::open(path).map_err(Error::io("open", path))?;
    Ok(Counted { file, bytes: bytes.cloned() })
}

/// With the buffer that long lines want.
pub(crate) fn buffered(file: Counted) -> BufReader<Counted> {
    BufReader::with_capacity(BUFFER_BYTES, file)
}

/// Whether `path` can only be read from its beginning.
pub(crate) fn is_compressed(path: &Path) -> Result<bool, Error> {
    let mut file = buffered(counted(path, None)?);
    let head = file.fill_buf().map_err(Error::io("read", path))?;
    Ok(head.starts_with(&GZIP_MAGIC) || head.starts_with(&ZSTD_MAGIC))
}

/// The uncompressed content of `path`. `bytes` counts what is read from disk.
pub(crate) fn open(
    path: &Path,
    bytes: Option<&Arc<AtomicU64>>,
) -> Result<Box<dyn BufRead + Send>, Error> {
    let mut file = buffered(counted(path, bytes)?);
    // Names lie (`.json` that is gzip), first bytes do not.
    let head = file.fill_buf().map_err(Error::io("read", path))?;
    if head.starts_with(&GZIP_MAGIC) {
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, MultiGzDecoder::new(file))))
    } else if head.starts_with(&ZSTD_MAGIC) {
        Ok(Box::new(BufReader::with_capacity(BUFFER_BYTES, ZstdFrames::new(file))))
    } else {
        Ok(Box::new(file))
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
