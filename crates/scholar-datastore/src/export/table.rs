//! One Parquet file, written in groups of rows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::Type;
use tempfile::NamedTempFile;

use super::ExportedFile;
use crate::error::Error;

/// Bytes of one group of rows in memory, about.
const GROUP_BYTES: usize = 32 << 20;

/// A value of one column.
pub(super) enum Cell {
    Null,
    Text(ByteArray),
    Int32(i32),
    Int64(i64),
    Texts(Vec<String>),
    Floats(Vec<f32>),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(ByteArray::from(text.into().into_bytes()))
    }

    fn bytes(&self) -> usize {
        match self {
            Self::Null => 1,
            Self::Text(text) => text.len() + 8,
            Self::Int32(_) | Self::Int64(_) => 8,
            Self::Texts(texts) => texts.iter().map(|text| text.len() + 8).sum(),
            Self::Floats(floats) => floats.len() * 4,
        }
    }
}

/// A file in the making; dropped unfinished it leaves nothing.
pub(super) struct Table {
    path: PathBuf,
    file: NamedTempFile,
    writer: SerializedFileWriter<fs_err::File>,
    types: Vec<Arc<Type>>,
    columns: Vec<Vec<Cell>>,
    buffered: usize,
    rows: u64,
}

impl Table {
    pub(super) fn create(folder: &Path, name: &str, schema: &str) -> Result<Self, Error> {
        let path = folder.join(format!("{name}.parquet"));
        let file = NamedTempFile::new_in(folder).map_err(Error::io("create a file in", folder))?;
        let out = fs_err::OpenOptions::new()
            .write(true)
            .open(file.path())
            .map_err(Error::io("write", &path))?;
        let schema = Arc::new(parse_message_type(schema).map_err(failed(&path))?);
        let types = schema.get_fields().to_vec();
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer =
            SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed(&path))?;
        let columns = types.iter().map(|_| Vec::new()).collect();
        Ok(Self { path, file, writer, types, columns, buffered: 0, rows: 0 })
    }

    /// Adds a row; `cells` are in the order of the columns.
    pub(super) fn row<const N: usize>(&mut self, cells: [Cell; N]) -> Result<(), Error> {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            self.buffered += cell.bytes();
            column.push(cell);
        }
        self.rows += 1;
        if self.buffered >= GROUP_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let Self { path, writer, types, columns, buffered, .. } = self;
        if *buffered == 0 {
            return Ok(());
        }
        let write = || -> Result<(), ParquetError> {
            let mut group = writer.next_row_group()?;
            for (column, kind) in columns.iter_mut().zip(types) {
                let mut out = group
                    .next_column()?
                    .ok_or_else(|| ParquetError::General("too few columns".to_owned()))?;
                write_column(out.untyped(), std::mem::take(column), kind.is_optional())?;
                out.close()?;
            }
            group.close().map(|_| ())
        };
        write().map_err(failed(path))?;
        *buffered = 0;
        Ok(())
    }

    /// Completes the file, durable under its name.
    pub(super) fn finish(mut self) -> Result<ExportedFile, Error> {
        self.flush()?;
        let Self { path, file, writer, rows, .. } = self;
        writer.close().map_err(failed(&path))?;
        file.as_file().sync_all().map_err(Error::io("write", &path))?;
        file.persist(&path).map_err(|error| Error::io("write", &path)(error.error))?;
        Ok(ExportedFile { path, rows })
    }
}

/// Writes one column of a group. A list has a level of its own: present is 1, the first of its elements repeats 0.
fn write_column(
    writer: &mut ColumnWriter<'_>,
    cells: Vec<Cell>,
    optional: bool,
) -> Result<(), ParquetError> {
    let (mut texts, mut floats, mut words, mut longs) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut present, mut repeated): (Vec<i16>, Vec<i16>) = (Vec::new(), Vec::new());
    let mut listed = false;
    for cell in cells {
        let mut list = |length: usize| {
            listed = true;
            present.extend(std::iter::repeat_n(i16::from(length > 0), length.max(1)));
            repeated.push(0);
            repeated.extend(std::iter::repeat_n(1, length.saturating_sub(1)));
        };
        match cell {
            Cell::Texts(values) => {
                list(values.len());
                texts.extend(values.into_iter().map(|text| ByteArray::from(text.into_bytes())));
                continue;
            }
            Cell::Floats(values) => {
                list(values.len());
                floats.extend(values);
                continue;
            }
            Cell::Null => {
                present.push(0);
                continue;
            }
            Cell::Text(text) => texts.push(text),
            Cell::Int32(word) => words.push(word),
            Cell::Int64(long) => longs.push(long),
        }
        present.push(1);
    }
    let levels = (optional || listed).then_some(present.as_slice());
    let repeats = listed.then_some(repeated.as_slice());
    match writer {
        ColumnWriter::ByteArrayColumnWriter(out) => out.write_batch(&texts, levels, repeats),
        ColumnWriter::FloatColumnWriter(out) => out.write_batch(&floats, levels, repeats),
        ColumnWriter::Int32ColumnWriter(out) => out.write_batch(&words, levels, repeats),
        ColumnWriter::Int64ColumnWriter(out) => out.write_batch(&longs, levels, repeats),
        _ => Err(ParquetError::General("a column of another type".to_owned())),
    }
    .map(|_| ())
}

fn failed(path: &Path) -> impl FnOnce(ParquetError) -> Error {
    let path = path.to_owned();
    move |error| Error::Io { doing: "write", path, source: std::io::Error::other(error) }
}
