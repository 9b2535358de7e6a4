//! Opens plain, gzip and zstd files, told apart by their first bytes.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::error::Error;

const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
const BUFFER_BYTES: usize = 1 << 18;

/// The uncompressed content of `path`.
pub(crate) fn open(path: &Path) -> Result<Box<dyn BufRead + Send>, Error> {
    let file = fs_err::File::open(path).map_err(Error::io("open", path))?;
    let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
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
