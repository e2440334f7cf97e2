//! Stores results on disk: one Parquet file for each task.
//!
//! The name of a file has two parts. The first part is the name of the task, which is derived from
//! everything that determines the result. The second part is a digest of the file's bytes, so a
//! damaged or incomplete file is detected before its content is used. A file is written under a
//! temporary name and renamed when it is complete. Only one process at a time uses a folder.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::digest::{self, ID_LETTERS};
use crate::error::{Error, printable};
use crate::results::Measured;
use crate::task::Task;

pub use crate::digest::TaskId;

mod columns;

/// The letters of the digest in a file's name.
const DIGEST_LETTERS: usize = 16;
const ENDING: &str = ".parquet";
/// The extension of a file that is being written.
const UNFINISHED: &str = ".unfinished";

/// A folder of results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    files: Mutex<BTreeMap<TaskId, Vec<PathBuf>>>,
    /// A lock on this file, held while the store is open, keeps other processes out of the folder.
    _lock: File,
}

/// The stored result of a task.
#[derive(Debug)]
pub enum Stored {
    /// The stored result of the run.
    Result(Box<Measured>),
    /// The store holds no result of the run.
    Nothing,
    /// The file of the result is damaged, for example because its bytes have changed. The text has
    /// the path of the file and the reason.
    Damaged(String),
}

impl Store {
    /// Opens a folder and creates it if necessary. Removes the unfinished files
    /// of a killed process.
    ///
    /// # Errors
    /// If the folder cannot be written, or another process uses it.
    pub fn open(folder: &Path) -> Result<Store, Error> {
        let refuse = |error: &dyn core::fmt::Display| unwritable(folder, error);
        fs::create_dir_all(folder).map_err(|error| refuse(&error))?;
        let lock = File::create(folder.join(".lock")).map_err(|error| refuse(&error))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => refuse(&"another process is writing results into this folder"),
            fs::TryLockError::Error(error) => refuse(&error),
        })?;
        let mut files = BTreeMap::<TaskId, Vec<PathBuf>>::new();
        for entry in fs::read_dir(folder).map_err(|error| refuse(&error))? {
            let path = entry.map_err(|error| refuse(&error))?.path();
            let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
            if name.ends_with(UNFINISHED) {
                fs::remove_file(&path).map_err(|error| refuse(&error))?;
            } else if let Some((id, _)) = parts(name) {
                files.entry(TaskId(id.to_owned())).or_default().push(path);
            }
        }
        files.values_mut().for_each(|paths| paths.sort());
        Ok(Store { folder: folder.to_owned(), files: Mutex::new(files), _lock: lock })
    }

    /// The stored result of a task.
    #[must_use]
    pub fn load(&self, task: &Task) -> Stored {
        let paths = self.files.lock().unwrap_or_else(PoisonError::into_inner).get(&task.id).cloned();
        let mut damaged = None;
        for path in paths.unwrap_or_default() {
            match read(&path, task) {
                Ok(measured) => return Stored::Result(Box::new(measured)),
                Err(why) => {
                    let name = printable(&path.to_string_lossy());
                    damaged.get_or_insert(format!("{name} is damaged: {why}"));
                }
            }
        }
        damaged.map_or(Stored::Nothing, Stored::Damaged)
    }

    /// Writes the result of a task, and removes damaged files of the same task.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, task: &Task, measured: &Measured) -> Result<(), Error> {
        let refuse = |error: &dyn core::fmt::Display| unwritable(&self.folder, error);
        let bytes = columns::write(task, measured).map_err(|error| refuse(&error))?;
        let digest = &digest::of(&bytes)[..DIGEST_LETTERS];
        let name = format!("{}.{digest}{ENDING}", task.id.0);
        let unfinished = self.folder.join(format!(".{name}{UNFINISHED}"));
        let path = self.folder.join(name);
        let put = || -> io::Result<()> {
            let mut file = File::create(&unfinished)?;
            io::Write::write_all(&mut file, &bytes)?;
            file.sync_all()?;
            fs::rename(&unfinished, &path)
        };
        put().map_err(|error| refuse(&error))?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for old in files.insert(task.id.clone(), vec![path.clone()]).unwrap_or_default() {
            if old != path {
                fs::remove_file(&old).map_err(|error| refuse(&error))?;
            }
        }
        Ok(())
    }
}

fn unwritable(folder: &Path, reason: &dyn core::fmt::Display) -> Error {
    Error::Unwritable { path: printable(&folder.to_string_lossy()).into(), reason: reason.to_string() }
}

/// The task's name and the digest in a file's name.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (id, digest) = name.strip_suffix(ENDING)?.split_once('.')?;
    (id.len() == ID_LETTERS && digest.len() == DIGEST_LETTERS).then_some((id, digest))
}

fn read(path: &Path, task: &Task) -> Result<Measured, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let found = &digest::of(&bytes)[..DIGEST_LETTERS];
    if parts(name).is_none_or(|(_, digest)| digest != found) {
        return Err(format!("the {} bytes of the file do not match the digest in its name", bytes.len()));
    }
    columns::read(bytes, &task.text)
}
