//! Writes JSON, and files that are either complete or absent.
//!
//! A file is written under another name next to its destination, and renamed when it is complete.
//! An error, a panic or Ctrl-C leaves the destination unchanged and removes the unfinished file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Duration;

use lab::runner;
use serde::Serialize;
use terminal_size::{Width, terminal_size_of};

use crate::words::counted;
use crate::{Failure, live};

/// The paths of the unfinished files of this process.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The exit code of the process if a signal ends it.
const INTERRUPT_CODE: i32 = 130;
/// The exit code of the process if it panics.
const PANIC_CODE: i32 = 101;

/// Whether the running command stops by itself when a request to stop (Ctrl-C or a signal) arrives.
static LISTENING: AtomicBool = AtomicBool::new(false);
/// Whether a request to stop (Ctrl-C or a signal) has arrived.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// The time that a command has to stop by itself after a request to stop. When this time is over,
/// the process ends.
const GRACE: Duration = Duration::from_secs(5);

/// The maximum time that the ending process waits for a slow terminal to accept the last message.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Installs a handler for Ctrl-C and for termination requests. Some commands stop by themselves
/// after such a request, and keep their results so far. If they take too long, or a second request
/// arrives, the process ends. During any other command, the process ends at once: it removes
/// unfinished files and the progress line, and prints how the user can continue, if that is
/// possible.
pub fn handle_interrupts() {
    let handler = || {
        let is_first = LISTENING.load(Ordering::SeqCst) && !INTERRUPTED.swap(true, Ordering::SeqCst);
        let patience = thread::Builder::new();
        if is_first && patience.spawn(|| (thread::sleep(GRACE), end())).is_ok() {
            // This runs on its own thread, because a write to the terminal may block.
            thread::Builder::new().spawn(live::after_interrupt).ok();
            return;
        }
        end();
    };
    // If no handler can be installed, an interrupt ends the process in the default way.
    ctrlc::set_handler(handler).ok();
}

/// Installs a panic hook, which removes the progress line, reports the panic and ends the process.
/// Without the hook the process could hang, because other threads may wait for the panicking
/// thread.
pub fn handle_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // A command reports the panic of a controller as a fault of its protocol.
        if explore::panics::are_caught() {
            return;
        }
        live::close_at_panic();
        report(panic);
        if let Ok(mut unfinished) = UNFINISHED.try_lock() {
            remove(&mut unfinished);
        }
        std::process::exit(PANIC_CODE);
    }));
}

fn remove(unfinished: &mut Vec<PathBuf>) {
    for path in unfinished.drain(..) {
        fs::remove_file(path).ok();
    }
}

fn end() {
    remove(&mut UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner));
    // The message is written on another thread. If the terminal blocks, the process ends after a
    // limited time.
    let (said, wait) = mpsc::channel();
    let speak = move || {
        live::close();
        if let Some(words) = &*AT_INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) {
            writeln!(io::stderr(), "fencepost: {}", words()).ok();
        }
        said.send(()).ok();
    };
    if thread::Builder::new().spawn(speak).is_ok() {
        wait.recv_timeout(LAST_WORDS).ok();
    }
    std::process::exit(INTERRUPT_CODE);
}

/// The width of the terminal of standard output, in characters. 0 if it is unknown.
static COLUMNS: AtomicUsize = AtomicUsize::new(0);

/// Limits the width of tables to the width of the terminal, if standard output is a terminal.
pub fn fit_tables_to_terminal() {
    if let Some((Width(columns), _)) = terminal_size_of(io::stdout()) {
        COLUMNS.store(usize::from(columns), Ordering::Relaxed);
    }
}

/// The maximum width of tables, in characters. Only a table whose contents cannot be made narrower
/// exceeds it.
pub(crate) fn columns() -> usize {
    match COLUMNS.load(Ordering::Relaxed) {
        0 => usize::MAX,
        columns => columns,
    }
}

/// Removes the unfinished files that a killed process has left in a folder. The caller must ensure
/// that no other process writes into the folder.
pub(crate) fn remove_unfinished(folder: &Path) -> Result<(), String> {
    let refuse = |error: io::Error| format!("cannot write to {}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(refuse)? {
        let entry = entry.map_err(refuse)?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with('.') && name.ends_with(".unfinished") {
            fs::remove_file(entry.path()).map_err(refuse)?;
        }
    }
    Ok(())
}

/// A function that returns the last message of the process, for the case that a signal ends it.
type Message = Box<dyn Fn() -> String + Send>;
static AT_INTERRUPT: Mutex<Option<Message>> = Mutex::new(None);

/// As long as this value exists, its message is printed if a signal ends the process.
#[derive(Debug)]
pub(crate) struct AtInterrupt(());

impl AtInterrupt {
    pub(crate) fn say(words: impl Fn() -> String + Send + 'static) -> AtInterrupt {
        *AT_INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(words));
        AtInterrupt(())
    }

    /// Creates a message that says that the results of the completed runs are in `folder`.
    pub(crate) fn continues(state: Arc<Mutex<runner::Progress>>, folder: &Path) -> AtInterrupt {
        let folder = folder.to_owned();
        AtInterrupt::say(move || {
            let runner::Progress { done, tasks, .. } = *state.lock().unwrap_or_else(PoisonError::into_inner);
            let (runs, kept) = (counted(tasks, "run"), folder.display());
            format!(
                "interrupted: the results of {done} of {runs} are in {kept}; the same command continues with the \
                 remaining runs"
            )
        })
    }
}

impl Drop for AtInterrupt {
    fn drop(&mut self) {
        *AT_INTERRUPT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// As long as this value exists, Ctrl-C is only a request to stop, and does not end the process.
#[derive(Debug)]
pub(crate) struct Listening(());

impl Listening {
    pub(crate) fn start() -> Listening {
        LISTENING.store(true, Ordering::SeqCst);
        Listening(())
    }

    /// Returns true if a request to stop has arrived.
    pub(crate) fn interrupted(&self) -> bool {
        INTERRUPTED.load(Ordering::Relaxed)
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        LISTENING.store(false, Ordering::SeqCst);
    }
}

/// Writes reports as JSON. If the user named one protocol (`is_one`), writes its report, otherwise
/// an array of all reports.
pub(crate) fn write_reports(
    out: &mut dyn Write,
    is_one: bool,
    mut reports: Vec<serde_json::Value>,
) -> Result<(), Failure> {
    match (is_one, reports.pop()) {
        (true, Some(one)) => write_json(out, &one),
        (_, last) => {
            reports.extend(last);
            write_json(out, &reports)
        }
    }
}

/// Joins several failure messages to one message with a line for each. Each line except the first
/// gets the name of the program; the caller of the command adds it to the first line.
pub(crate) fn one_a_line(failures: &[String]) -> String {
    failures.join("\nfencepost: ")
}

/// Writes a value as indented JSON and a newline.
pub(crate) fn write_json<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> Result<(), Failure> {
    Ok(put_json(out, value)?)
}

fn put_json<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    writeln!(out)
}

/// A file that appears at its destination only when it is [committed](WholeFile::commit).
#[derive(Debug)]
pub struct WholeFile {
    destination: PathBuf,
    unfinished: PathBuf,
    file: Option<BufWriter<File>>,
}

impl WholeFile {
    /// Creates the unfinished file next to the destination.
    ///
    /// # Errors
    /// A sentence, if the destination cannot be written.
    pub fn create(destination: &Path) -> Result<WholeFile, String> {
        let refuse = |reason: String| format!("cannot write {}: {reason}", destination.display());
        let Some(name) = destination.file_name() else {
            return Err(refuse(String::from("the path has no file name")));
        };
        let destination = match fs::metadata(destination) {
            Ok(there) if there.is_dir() => return Err(refuse(String::from("the path is a folder"))),
            // A device or a pipe is refused, because the rename would replace it with a file.
            Ok(there) if !there.is_file() => {
                return Err(refuse(String::from("the path is not a regular file")));
            }
            Ok(there) if there.permissions().readonly() => {
                return Err(refuse(String::from("the file is write-protected")));
            }
            // If the destination is a link, the file that it points to is replaced, and not the
            // link.
            Ok(_) => fs::canonicalize(destination).map_err(|error| refuse(error.to_string()))?,
            Err(_) => destination.to_owned(),
        };
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = destination.with_file_name(hidden);
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        let file = File::create_new(&unfinished).map_err(|error| refuse(error.to_string()))?;
        listed.push(unfinished.clone());
        Ok(WholeFile { destination, unfinished, file: Some(BufWriter::with_capacity(1 << 16, file)) })
    }

    /// Fills the file and renames it to its destination.
    ///
    /// # Errors
    /// A sentence with the destination, if the file cannot be written.
    pub(crate) fn fill(mut self, fill: impl FnOnce(&mut WholeFile) -> io::Result<()>) -> Result<(), Failure> {
        let filled = fill(&mut self);
        filled
            .map_err(|error| format!("cannot write {}: {error}", self.destination.display()))
            .and_then(|()| self.commit())
            .map_err(Failure::BadInput)
    }

    /// Fills the file with a value as indented JSON and a newline, and renames it to its destination.
    ///
    /// # Errors
    /// The errors of [`fill`](WholeFile::fill).
    pub(crate) fn fill_json<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Failure> {
        self.fill(|file| put_json(file, value))
    }

    /// Renames the file to its destination.
    ///
    /// # Errors
    /// A sentence, if the last bytes of the file cannot be written, or the file cannot be renamed.
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
        // After a commit there is no unfinished file, and the removal has no effect.
        fs::remove_file(&self.unfinished).ok();
        let mut listed = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
        listed.retain(|path| *path != self.unfinished);
    }
}
