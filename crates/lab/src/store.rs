//! Stores results on disk, one Parquet file for each task.
//!
//! The name of a file has two parts. The first part is the name of the task, which is a digest of
//! everything that determines the result. The second part is a digest of the file's bytes, so a
//! damaged or incomplete file is detected before its content is used. A file is written under a
//! temporary name and renamed when it is complete. Only one process at a time may use the folder of
//! a store.
//!
//! Workers on other computers write such files into folders of their own ([`crate::cluster`]). The
//! process that uses the store then moves these files into it ([`Store::adopt`]).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::digest::{self, ID_LETTERS};
use crate::error::Error;
use crate::results::Measured;
use crate::task::Task;

pub use crate::digest::TaskId;

mod columns;

/// The number of letters of the digest in a file's name.
const DIGEST_LETTERS: usize = 16;
const ENDING: &str = ".parquet";
/// The extension of a file that is still being written.
const UNFINISHED: &str = ".unfinished";
/// The name of a file that marks the reports as old. It exists while the reports beside the store
/// may be older than the results in the store.
const AHEAD: &str = ".ahead";

/// A folder of stored results.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    files: Mutex<BTreeMap<TaskId, Vec<PathBuf>>>,
    /// The lock file of the folder. While the store is open it is locked, which keeps other
    /// processes out of the folder.
    _lock: File,
}

/// The outcome of a search for the stored result of a task.
#[derive(Debug)]
pub enum Stored {
    /// The store has this result of the task.
    Result(Box<Measured>),
    /// The store has no result of the task.
    Nothing,
    /// The store has a file for the task, but the file cannot be read or is damaged, for example
    /// because its bytes have changed. The text has the path of the file and the reason.
    Damaged(String),
}

/// A store of results: a runner of tasks loads results from the store and writes new results into
/// it.
pub trait ResultStore: Sync {
    /// Loads the result of a task.
    fn load(&self, task: &Task) -> Stored;

    /// The runner calls this function before it runs a task.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn begin(&self, task: &Task) -> Result<(), Error>;

    /// Stores the result of a task. `is_misfit` is true if the run failed because its settings do
    /// not fit the input or the machine.
    ///
    /// # Errors
    /// If the store cannot be written.
    fn save(&self, task: &Task, measured: &Measured, is_misfit: bool) -> Result<(), Error>;
}

impl Store {
    /// Opens the store in a folder, which it creates if necessary. Removes unfinished files that a
    /// killed process has left.
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

    /// Marks the reports beside the store as older than the results in the store.
    /// [`reports_written`](Store::reports_written) removes the mark. The mark remains if the
    /// process is killed.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn begin(&self) -> Result<(), Error> {
        let mark = self.folder.join(AHEAD);
        File::create(&mark).map(drop).map_err(|error| unwritable(&mark, &error))
    }

    /// Removes the mark that [`begin`](Store::begin) makes: the reports are now up to date.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn reports_written(&self) -> Result<(), Error> {
        let mark = self.folder.join(AHEAD);
        fs::remove_file(&mark).map_err(|error| unwritable(&mark, &error))
    }

    /// Whether the reports beside the store in `folder` may be older than the results in the store.
    #[must_use]
    pub fn is_ahead_of_reports(folder: &Path) -> bool {
        folder.join(AHEAD).exists()
    }

    /// The stored result of a task.
    #[must_use]
    pub fn load(&self, task: &Task) -> Stored {
        let paths = self.files.lock().unwrap_or_else(PoisonError::into_inner).get(&task.id).cloned();
        load(&paths.unwrap_or_default(), task)
    }

    /// Writes the result of a task, and removes damaged files of the same task.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, task: &Task, measured: &Measured) -> Result<(), Error> {
        let path = write_result(&self.folder, task, measured)?;
        self.replace(task.id.clone(), path)
    }

    /// Moves a result file from another folder into the store. Returns the name of the result's
    /// task. Returns `None` if the name of the file is not the name of a result file, or if the
    /// digest in the name does not match the bytes of the file.
    ///
    /// # Errors
    /// If the file cannot be moved.
    pub fn adopt(&self, from: &Path) -> Result<Option<TaskId>, Error> {
        let Some(name) = from.file_name().and_then(|name| name.to_str()) else { return Ok(None) };
        let Some((id, digest)) = parts(name) else { return Ok(None) };
        let refuse = |error: io::Error| unwritable(&self.folder, &error);
        let bytes = match fs::read(from) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(refuse(error)),
        };
        if digest::of(&bytes)[..DIGEST_LETTERS] != *digest {
            return Ok(None);
        }
        // The two folders may be on different file systems, where a rename fails. The file is then
        // copied.
        if fs::rename(from, self.folder.join(name)).is_err() {
            put(&self.folder, name, &bytes).map_err(refuse)?;
            fs::remove_file(from).map_err(refuse)?;
        }
        let id = TaskId(id.to_owned());
        self.replace(id.clone(), self.folder.join(name))?;
        Ok(Some(id))
    }

    /// Makes `path` the only result file of a task, and removes the other files of this task.
    fn replace(&self, id: TaskId, path: PathBuf) -> Result<(), Error> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for old in files.insert(id, vec![path.clone()]).unwrap_or_default() {
            if old != path {
                fs::remove_file(&old).map_err(|error| unwritable(&old, &error))?;
            }
        }
        Ok(())
    }
}

impl ResultStore for Store {
    fn load(&self, task: &Task) -> Stored {
        self.load(task)
    }

    fn begin(&self, _task: &Task) -> Result<(), Error> {
        Ok(())
    }

    /// Stores the result, unless the settings of the run do not fit the input or the machine
    /// (`is_misfit`). The result of such a run is not stored, because every call checks the
    /// settings again.
    fn save(&self, task: &Task, measured: &Measured, is_misfit: bool) -> Result<(), Error> {
        if is_misfit { Ok(()) } else { self.save(task, measured) }
    }
}

/// The result files in a folder, each with the name of its task. The function only reads the
/// folder. The list is empty if the folder does not exist.
pub(crate) fn results_in(folder: &Path) -> Vec<(TaskId, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<(TaskId, PathBuf)> = entries
        .filter_map(|entry| {
            let name = entry.file_name();
            let (id, _) = parts(name.to_str()?)?;
            Some((TaskId(id.to_owned()), entry.path()))
        })
        .collect();
    found.sort();
    found
}

/// Loads the result of a task from the first file of `paths` that can be read and is not damaged.
pub(crate) fn load(paths: &[PathBuf], task: &Task) -> Stored {
    let mut damaged = None;
    for path in paths {
        match read(path, task) {
            Ok(measured) => return Stored::Result(Box::new(measured)),
            Err(why) => {
                let name = whole(path);
                damaged.get_or_insert(format!("{name} {why}"));
            }
        }
    }
    damaged.map_or(Stored::Nothing, Stored::Damaged)
}

/// Writes the result of a task into a folder. No other process may write into the folder. Returns
/// the path of the file.
pub(crate) fn write_result(folder: &Path, task: &Task, measured: &Measured) -> Result<PathBuf, Error> {
    let bytes = columns::write(task, measured).map_err(|error| unwritable(folder, &error))?;
    let digest = &digest::of(&bytes)[..DIGEST_LETTERS];
    let name = format!("{}.{digest}{ENDING}", task.id.0);
    let path = folder.join(&name);
    put(folder, &name, &bytes).map_err(|error| unwritable(&path, &error))?;
    Ok(path)
}

/// Writes a file under a temporary name and then renames it to `name`.
pub(crate) fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    let unfinished = folder.join(format!(".{name}{UNFINISHED}"));
    let write = || -> io::Result<()> {
        let mut file = File::create(&unfinished)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        fs::rename(&unfinished, folder.join(name))
    };
    // If the write failed, the temporary file is removed.
    write().inspect_err(|_| drop(fs::remove_file(&unfinished)))
}

pub(crate) fn unwritable(path: &Path, reason: &dyn core::fmt::Display) -> Error {
    Error::Unwritable { path: whole(path).into(), reason: reason.to_string() }
}

/// A path as text, with control characters replaced. A long path is not shortened.
fn whole(path: &Path) -> String {
    path.to_string_lossy()
        .chars()
        .map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c })
        .collect()
}

/// Splits the name of a result file into the name of the task and the digest. `None` if the name is
/// not the name of a result file.
fn parts(name: &str) -> Option<(&str, &str)> {
    let (id, digest) = name.strip_suffix(ENDING)?.split_once('.')?;
    (id.len() == ID_LETTERS && digest.len() == DIGEST_LETTERS).then_some((id, digest))
}

/// Reads the result of a task from a file. The error is a phrase that completes a sentence after
/// the path of the file, such as `cannot be read`.
fn read(path: &Path, task: &Task) -> Result<Measured, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let found = &digest::of(&bytes)[..DIGEST_LETTERS];
    if parts(name).is_none_or(|(_, digest)| digest != found) {
        let count = bytes.len();
        return Err(format!("is damaged: the {count} bytes of the file do not match the digest in its name"));
    }
    columns::read(bytes, &task.text).map_err(|why| format!("is damaged: {why}"))
}
