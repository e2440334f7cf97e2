//! Files that are whole or absent.
//!
//! A file is written beside its destination under another name and renamed
//! when it is complete. An error, a panic or Ctrl-C leaves the destination as
//! it was, and removes the unfinished file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The unfinished files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit code of a process that a signal ended.
const INTERRUPTED: i32 = 130;

/// Lets Ctrl-C and a termination request remove unfinished files first.
pub fn remove_unfinished_files_on_interrupt() {
    let handler = || {
        for path in UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            fs::remove_file(path).ok();
        }
        std::process::exit(INTERRUPTED);
    };
    // Without a handler the system ends the process as it always does.
    ctrlc::set_handler(handler).ok();
}

/// A file that comes to be when it is [committed](WholeFile::commit).
#[derive(Debug)]
pub struct WholeFile {
    destination: PathBuf,
    unfinished: PathBuf,
    file: Option<BufWriter<File>>,
}

impl WholeFile {
    /// Starts a file.
    ///
    /// # Errors
    /// A sentence, when the destination cannot be written.
    pub fn create(destination: &Path) -> Result<WholeFile, String> {
        let refuse = |reason: String| format!("cannot write {}: {reason}", destination.display());
        let Some(name) = destination.file_name() else {
            return Err(refuse(String::from("it has no file name")));
        };
        if destination.is_dir() {
            return Err(refuse(String::from("it is a folder")));
        }
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = destination.with_file_name(hidden);
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = File::create_new(&unfinished).map_err(|error| refuse(error.to_string()))?;
        listed.push(unfinished.clone());
        Ok(WholeFile {
            destination: destination.to_owned(),
            unfinished,
            file: Some(BufWriter::with_capacity(1 << 16, file)),
        })
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// A sentence, when the rest cannot be written.
    pub fn commit(mut self) -> Result<(), String> {
        let finish = |file: Option<BufWriter<File>>, from: &Path, to: &Path| -> io::Result<()> {
            let file = file.ok_or(io::ErrorKind::InvalidInput)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(from, to)
        };
        let file = self.file.take();
        finish(file, &self.unfinished, &self.destination)
            .map_err(|error| format!("cannot write {}: {error}", self.destination.display()))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().ok_or(io::ErrorKind::InvalidInput)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().ok_or(io::ErrorKind::InvalidInput)?.flush()
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        drop(self.file.take());
        // After a commit there is nothing left to remove.
        fs::remove_file(&self.unfinished).ok();
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.retain(|path| *path != self.unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scratch(name: &str) -> PathBuf {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/output-tests").join(name);
        fs::remove_dir_all(&folder).ok();
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn entries(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_appears_only_when_it_is_whole() {
        let folder = scratch("whole");
        let path = folder.join("result");
        fs::write(&path, "old").unwrap();
        let mut file = WholeFile::create(&path).unwrap();
        file.write_all(b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(entries(&folder), 1);
    }

    #[test]
    fn an_abandoned_file_leaves_nothing() {
        let folder = scratch("abandoned");
        let mut file = WholeFile::create(&folder.join("result")).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(entries(&folder), 1);
        drop(file);
        assert_eq!(entries(&folder), 0);
    }

    #[test]
    fn what_cannot_be_written_is_refused_by_name() {
        let folder = scratch("refused");
        let refused = |path: &Path| WholeFile::create(path).unwrap_err();
        assert!(refused(&folder).contains("is a folder"));
        assert!(refused(&folder.join("no/such/folder")).contains("no/such/folder"));
        assert!(refused(Path::new("/")).starts_with("cannot write /"));
        assert_eq!(entries(&folder), 0);
    }
}
