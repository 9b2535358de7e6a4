//! Zotero's `SQLite` database, of Zotero 4 and later.
//!
//! A running Zotero is not disturbed: the file is opened read-only and as immutable, so that no lock is asked for. A
//! transaction under way (a journal or write-ahead log beside the file) would make that inconsistent; then a copy is
//! read, which `SQLite` brings to its last complete state.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags, Row};

use super::item::{self, Creator};
use super::json::path;
use crate::error::{FormatError, FormatErrorKind};
use crate::library::{Attachment, AttachmentPlace, Collector, Library};

const FORMAT: &str = "Zotero database";

/// Longest text of one value in bytes.
const VALUE_BYTES: usize = 4 << 20;

/// Longest value `SQLite` may make or read, in bytes.
const LONGEST: i32 = 64 << 20;

/// Most rows of one query: fifteen fields of 300,000 items.
const ROWS: usize = 5_000_000;

/// Steps of `SQLite`'s machine between two looks at the work done, and looks before giving up: several times what a
/// library of 100,000 items needs.
const STEPS: i32 = 1_000_000;
const LOOKS: u32 = 300;

/// Reads `zotero.sqlite`: every library but feeds, without what lies in the bin.
///
/// Items are in the order in which they were added. Paths of attachments are as the database states them, those of stored files `storage/KEY/name`: whoever reads
/// them decides which folders they may lie in.
///
/// # Errors
/// When the file is no Zotero database, is damaged, or cannot be opened.
pub fn read_database(path: &Path) -> Result<Library, FormatError> {
    let copy = copy_if_busy(path)?;
    let (open, immutable) = match &copy {
        Some(folder) => (folder.path().join("zotero.sqlite"), false),
        None => (path.to_owned(), true),
    };
    let connection = connect(&open, immutable)?;
    DatabaseReader { connection: &connection }.read()
}

fn broken(error: &rusqlite::Error) -> FormatError {
    use rusqlite::ErrorCode;
    let (kind, hint) = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => (
            FormatErrorKind::Malformed,
            "let Zotero check the database, or use a backup (zotero.sqlite.bak)",
        ),
        Some(ErrorCode::OperationInterrupted) => {
            (FormatErrorKind::TooLarge, "let Zotero check the database")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::CannotOpen) => {
            (FormatErrorKind::Unsupported, "close Zotero, or copy its folder and read the copy")
        }
        _ => (FormatErrorKind::Malformed, "name the file zotero.sqlite in Zotero's data folder"),
    };
    FormatError::new(kind, FORMAT, error.to_string()).with_hint(hint)
}

fn file_error(path: &Path, error: &std::io::Error) -> FormatError {
    let message = format!("cannot be read: {error}");
    FormatError::new(FormatErrorKind::Unsupported, FORMAT, message)
        .at(path.display().to_string())
        .with_hint("name the file zotero.sqlite in Zotero's data folder")
}

/// Copies the database and what lies beside it when a transaction is under way.
fn copy_if_busy(path: &Path) -> Result<Option<tempfile::TempDir>, FormatError> {
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    let busy: Vec<&str> = ["-journal", "-wal"]
        .into_iter()
        .filter(|ending| {
            // A link or a device beside it is none of SQLite's.
            fs_err::symlink_metadata(beside(ending))
                .is_ok_and(|file| file.is_file() && file.len() > 0)
        })
        .collect();
    if busy.is_empty() {
        return Ok(None);
    }
    let failed = |error: std::io::Error| file_error(path, &error);
    let folder = tempfile::tempdir().map_err(failed)?;
    // The log first: with an older log a newer database is whole, and not the other way round.
    for ending in busy {
        let target = folder.path().join(format!("zotero.sqlite{ending}"));
        fs_err::copy(beside(ending), target).map_err(failed)?;
    }
    fs_err::copy(path, folder.path().join("zotero.sqlite")).map_err(failed)?;
    Ok(Some(folder))
}

fn connect(path: &Path, immutable: bool) -> Result<Connection, FormatError> {
    fs_err::metadata(path).map_err(|error| file_error(path, &error))?;
    let mut connection = if immutable {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        Connection::open_with_flags(immutable_uri(path)?, flags)
    } else {
        Connection::open(path)
    }
    .map_err(|error| broken(&error))?;
    // The file may come from anywhere: nothing it defines is run, and work in it ends.
    connection
        .execute_batch(
            "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;",
        )
        .map_err(|error| broken(&error))?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, LONGEST).map_err(|error| broken(&error))?;
    let looks = AtomicU32::new(0);
    connection
        .progress_handler(STEPS, Some(move || looks.fetch_add(1, Ordering::Relaxed) > LOOKS))
        .map_err(|error| broken(&error))?;
    Ok(connection)
}

/// `file:…?immutable=1` with everything but letters, digits and slashes escaped.
fn immutable_uri(path: &Path) -> Result<String, FormatError> {
    let absolute = std::path::absolute(path).map_err(|error| file_error(path, &error))?;
    let Some(text) = absolute.to_str() else {
        let message = "its path is not Unicode";
        return Err(FormatError::new(FormatErrorKind::Unsupported, FORMAT, message)
            .at(path.display().to_string())
            .with_hint("move the folder to a path of Unicode characters"));
    };
    let text = text.replace('\\', "/");
    let lead = if text.starts_with('/') { "file://" } else { "file:///" };
    let escaped: String = text
        .bytes()
        .map(|byte| match byte {
            b'/' | b':' | b'.' | b'-' | b'_' => char::from(byte).to_string(),
            _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect();
    Ok(format!("{lead}{escaped}?immutable=1"))
}

struct DatabaseReader<'a> {
    connection: &'a Connection,
}

/// Values that several rows hold, by item.
type ByItem<T> = BTreeMap<i64, Vec<T>>;

impl DatabaseReader<'_> {
    fn read(&self) -> Result<Library, FormatError> {
        for table in ["items", "itemTypes", "fields", "itemData", "itemDataValues"] {
            if self.columns(table)?.is_empty() {
                let message = format!("it has no table {table:?}");
                return Err(FormatError::new(FormatErrorKind::Unsupported, FORMAT, message)
                    .with_hint("name the file zotero.sqlite in Zotero's data folder"));
            }
        }
        let mut collector = Collector::default();
        let (mut files, loose) = self.attachments()?;
        loose.into_iter().for_each(|file| collector.loose(file));
        let (mut fields, mut creators) = (self.fields()?, self.creators()?);
        let (mut collections, mut tags) = (self.collections()?, self.tags()?);
        let retracted = self.retracted()?;
        for (id, key, kind) in self.items()? {
            if item::is_part(&kind) {
                continue;
            }
            let own = fields.remove(&id).unwrap_or_default().into_iter().collect();
            let creators = creators.remove(&id).unwrap_or_default();
            let mut record = item::record(&key, &own, &creators);
            record.collections = collections.remove(&id).unwrap_or_default();
            record.tags = tags.remove(&id).unwrap_or_default();
            record.attachments = files.remove(&id).unwrap_or_default();
            record.retracted |= retracted.contains(&id);
            collector.take(record, &format!("item {key}"));
        }
        Ok(collector.finish())
    }

    fn columns(&self, table: &str) -> Result<Vec<String>, FormatError> {
        // A view in the place of a table is not Zotero's, and could compute anything.
        self.rows(
            &format!(
                "SELECT name FROM pragma_table_info('{table}') WHERE EXISTS \
                 (SELECT 1 FROM sqlite_schema s WHERE s.name = '{table}' AND s.type = 'table')"
            ),
            |row| row.get(0),
        )
    }

    fn has(&self, table: &str, column: &str) -> Result<bool, FormatError> {
        Ok(self.columns(table)?.iter().any(|name| name == column))
    }

    fn rows<T>(
        &self,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, FormatError> {
        let failed = |error: rusqlite::Error| broken(&error);
        let mut statement = self.connection.prepare(sql).map_err(failed)?;
        let rows = statement.query_map([], |row| read(row)).map_err(failed)?;
        let found: Vec<T> = rows.take(ROWS + 1).collect::<rusqlite::Result<_>>().map_err(failed)?;
        if found.len() > ROWS {
            let message = format!("it holds more than {ROWS} values of one kind");
            return Err(FormatError::new(FormatErrorKind::TooLarge, FORMAT, message));
        }
        Ok(found)
    }

    fn by_item<T>(
        &self,
        sql: &str,
        read: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<ByItem<T>, FormatError> {
        let mut found: ByItem<T> = BTreeMap::new();
        for (id, value) in self.rows(sql, |row| Ok((row.get::<_, i64>(0)?, read(row)?)))? {
            found.entry(id).or_default().push(value);
        }
        Ok(found)
    }

    /// Number, key and type of every item outside of bin and feeds.
    fn items(&self) -> Result<Vec<(i64, String, String)>, FormatError> {
        let feeds = if self.has("libraries", "type")? && self.has("items", "libraryID")? {
            "AND i.libraryID NOT IN (SELECT libraryID FROM libraries WHERE type = 'feed')"
        } else {
            ""
        };
        let bin = self.outside_of_bin("i.itemID")?;
        self.rows(
            &format!(
                "SELECT i.itemID, i.key, t.typeName FROM items i JOIN itemTypes t USING (itemTypeID) \
                 WHERE 1 {bin} {feeds} ORDER BY i.itemID"
            ),
            |row| Ok((row.get(0)?, text(row, 1)?, text(row, 2)?)),
        )
    }

    fn outside_of_bin(&self, column: &str) -> Result<String, FormatError> {
        Ok(match self.columns("deletedItems")?.is_empty() {
            true => String::new(),
            false => format!("AND {column} NOT IN (SELECT itemID FROM deletedItems)"),
        })
    }

    fn fields(&self) -> Result<ByItem<(String, String)>, FormatError> {
        // Fields that people define themselves stand beside the built-in ones.
        let fields = match self.columns("fieldsCombined")?.is_empty() {
            true => "fields",
            false => "fieldsCombined",
        };
        self.by_item(
            &format!(
                "SELECT d.itemID, f.fieldName, v.value FROM itemData d \
                 JOIN {fields} f USING (fieldID) JOIN itemDataValues v USING (valueID) \
                 ORDER BY d.itemID, d.fieldID"
            ),
            |row| Ok((text(row, 1)?, text(row, 2)?)),
        )
    }

    fn creators(&self) -> Result<ByItem<Creator>, FormatError> {
        if self.columns("itemCreators")?.is_empty() {
            return Ok(BTreeMap::new());
        }
        // Zotero 4 keeps names in a table of their own.
        let names = match self.has("creators", "lastName")? {
            true => "creators n USING (creatorID)",
            false => "creators c USING (creatorID) JOIN creatorData n USING (creatorDataID)",
        };
        self.by_item(
            &format!(
                "SELECT ic.itemID, t.creatorType, n.firstName, n.lastName, n.fieldMode \
                 FROM itemCreators ic JOIN {names} JOIN creatorTypes t USING (creatorTypeID) \
                 ORDER BY ic.itemID, ic.orderIndex"
            ),
            |row| {
                Ok(Creator {
                    role: text(row, 1)?,
                    given: text(row, 2)?,
                    family: text(row, 3)?,
                    whole: row.get::<_, Option<i64>>(4)? == Some(1),
                })
            },
        )
    }

    /// Paths of the collections of each item; those of group libraries begin with the group's name.
    fn collections(&self) -> Result<ByItem<String>, FormatError> {
        if self.columns("collections")?.is_empty() || self.columns("collectionItems")?.is_empty() {
            return Ok(BTreeMap::new());
        }
        let groups: BTreeMap<i64, String> = match self.has("groups", "libraryID")? {
            true => self
                .rows("SELECT libraryID, name FROM groups", |row| Ok((row.get(0)?, text(row, 1)?)))?
                .into_iter()
                .collect(),
            false => BTreeMap::new(),
        };
        let deleted: Vec<i64> = match self.columns("deletedCollections")?.is_empty() {
            true => Vec::new(),
            false => self.rows("SELECT collectionID FROM deletedCollections", |row| row.get(0))?,
        };
        let mut named: BTreeMap<i64, (String, Option<i64>)> = BTreeMap::new();
        let mut libraries: BTreeMap<i64, Option<i64>> = BTreeMap::new();
        let sql =
            "SELECT collectionID, collectionName, parentCollectionID, libraryID FROM collections";
        for (id, name, parent, library) in
            self.rows(sql, |row| Ok((row.get(0)?, text(row, 1)?, row.get(2)?, row.get(3)?)))?
        {
            named.insert(id, (name, parent));
            libraries.insert(id, library);
        }
        let full = |id: &i64| {
            let path = path(&named, id);
            let group =
                libraries.get(id).copied().flatten().and_then(|library| groups.get(&library));
            group.map_or(path.clone(), |group| format!("{group}/{path}"))
        };
        let sql = "SELECT itemID, collectionID FROM collectionItems ORDER BY itemID, collectionID";
        let members: ByItem<i64> = self.by_item(sql, |row| row.get(1))?;
        Ok(members
            .into_iter()
            .map(|(item, ids)| {
                let kept = ids.iter().filter(|id| !deleted.contains(id) && named.contains_key(id));
                (item, kept.map(full).collect())
            })
            .collect())
    }

    fn tags(&self) -> Result<ByItem<String>, FormatError> {
        if self.columns("itemTags")?.is_empty() || self.columns("tags")?.is_empty() {
            return Ok(BTreeMap::new());
        }
        let sql = "SELECT it.itemID, t.name FROM itemTags it JOIN tags t USING (tagID) \
                   ORDER BY it.itemID, t.name";
        self.by_item(sql, |row| text(row, 1))
    }

    /// Items that Zotero found in the Retraction Watch data.
    fn retracted(&self) -> Result<Vec<i64>, FormatError> {
        match self.columns("retractedItems")?.is_empty() {
            true => Ok(Vec::new()),
            false => self.rows("SELECT itemID FROM retractedItems", |row| row.get(0)),
        }
    }

    /// Files by their item, and those that belong to none.
    fn attachments(&self) -> Result<(ByItem<Attachment>, Vec<Attachment>), FormatError> {
        if self.columns("itemAttachments")?.is_empty() {
            return Ok((BTreeMap::new(), Vec::new()));
        }
        let pick = |new: bool, name: &'static str, old: &'static str| if new { name } else { old };
        let parent =
            pick(self.has("itemAttachments", "parentItemID")?, "parentItemID", "sourceItemID");
        let mime = pick(self.has("itemAttachments", "contentType")?, "contentType", "mimeType");
        let bin = self.outside_of_bin("a.itemID")?;
        let sql = format!(
            "SELECT a.{parent}, a.{mime}, a.path, i.key FROM itemAttachments a \
             JOIN items i ON i.itemID = a.itemID WHERE a.path IS NOT NULL {bin} ORDER BY a.itemID"
        );
        let rows = self.rows(&sql, |row| {
            Ok((row.get::<_, Option<i64>>(0)?, text(row, 1)?, text(row, 2)?, text(row, 3)?))
        })?;
        let (mut files, mut loose) = (ByItem::new(), Vec::new());
        for (parent, mime, path, key) in rows {
            let Some(file) = Self::attachment(&path, &key, &mime) else { continue };
            match parent {
                Some(parent) => files.entry(parent).or_default().push(file),
                None => loose.push(file),
            }
        }
        Ok((files, loose))
    }

    /// `storage:name` lies in the folder of the attachment's key below `storage`; `attachments:` begins at a folder that only Zotero's
    /// preferences name, so that it stays relative; the rest are paths.
    fn attachment(path: &str, key: &str, mime: &str) -> Option<Attachment> {
        let Some(name) = path.strip_prefix("storage:") else {
            return Attachment::at(path.strip_prefix("attachments:").unwrap_or(path), Some(mime));
        };
        // A name is one component: nothing outside of the folder is meant.
        let safe = !name.is_empty() && !name.contains(['/', '\\']) && name != "..";
        let known = key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (safe && known).then(|| {
            let mut file = Attachment::at(name, Some(mime))?;
            file.place = AttachmentPlace::Path(Path::new("storage").join(key).join(name));
            Some(file)
        })?
    }
}

/// A column as text, whatever it holds; nothing for what is too long.
fn text(row: &Row<'_>, index: usize) -> rusqlite::Result<String> {
    use rusqlite::types::ValueRef;
    Ok(match row.get_ref(index)? {
        ValueRef::Null => String::new(),
        ValueRef::Integer(number) => number.to_string(),
        ValueRef::Real(number) => number.to_string(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) if bytes.len() > VALUE_BYTES => String::new(),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            String::from_utf8_lossy(bytes).into_owned()
        }
    })
}
