//! Draws a progress line on the terminal of standard error.
//!
//! One thread draws the line. Every thread that changes the line holds the lock [`SHOWN`]. A thread
//! holds the lock of a standard stream only for one write. While it holds such a lock, it does not
//! wait for [`SHOWN`], so that the drawing thread and the main thread cannot deadlock.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use terminal_size::{Width, terminal_size_of};

use crate::bar::bar;

/// The time between two drawings of the progress line. The first drawing takes place after this
/// time, so a shorter command never shows the line.
const REDRAW: Duration = Duration::from_millis(100);

/// The width, in characters, that is assumed for a terminal whose width is unknown.
const USUAL_WIDTH: usize = 80;

/// The length of the bar at the beginning of the line, in characters.
const BAR_LETTERS: usize = 24;

/// The number of times that a panicking thread tries to take the lock of the progress line. `ASK`
/// is the pause between two attempts.
const ASKS_AT_PANIC: usize = 20;
const ASK: Duration = Duration::from_millis(10);

/// The state of the progress line. A thread that writes the line to the terminal holds this lock.
static SHOWN: Mutex<Line> = Mutex::new(Line::Absent);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Absent,
    Shown,
    /// The progress line is removed and never drawn again.
    Closed,
}

/// The contents of the progress line.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct LineContents {
    /// The share of the work that is done, from 0 to 1. `None` if it is unknown.
    pub(crate) share: Option<f64>,
    /// The text of the line. If it is too long for the terminal, its end is cut.
    pub(crate) text: String,
}

/// A progress line on the terminal. The line is shown while this value lives.
#[derive(Debug)]
pub(crate) struct Live(Option<(Sender<()>, JoinHandle<()>)>);

impl Live {
    /// Starts to show the contents that `words` returns, and updates them every tenth of a second.
    /// Shows nothing under continuous integration, or if standard error is not a terminal that can
    /// overwrite a line.
    pub(crate) fn start(words: impl Fn() -> LineContents + Send + 'static) -> Live {
        if !is_wanted() {
            return Live(None);
        }
        let (sender, receiver) = mpsc::channel();
        let work = move || {
            while receiver.recv_timeout(REDRAW) == Err(RecvTimeoutError::Timeout) {
                draw(&words());
            }
        };
        // If no thread can be started, the command runs without a progress line.
        Live(std::thread::Builder::new().spawn(work).ok().map(|thread| (sender, thread)))
    }

    /// Calls `write`, which writes to standard output. If standard output and the progress line are
    /// on a terminal, hides the line during the call.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        if self.0.is_none() || !io::stdout().is_terminal() {
            return write();
        }
        let mut shown = lock();
        erase(&mut shown);
        write()
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let Some((sender, thread)) = self.0.take() else { return };
        drop(sender);
        thread.join().ok();
        erase(&mut lock());
    }
}

/// Removes the progress line for good, at the end of the process. The function waits until another
/// thread has written its current result. It then takes the lock of standard output and never
/// releases it, so that no thread can write a further result. [`Live::aside`] takes the two locks
/// in the same order.
pub(crate) fn close() {
    let mut shown = lock();
    std::mem::forget(io::stdout().lock());
    clear_echo(&mut shown);
    *shown = Line::Closed;
}

/// Removes the progress line for good before a panic is reported. The panicking thread may itself
/// hold the lock of the line, so the function gives up after some attempts.
pub(crate) fn close_at_panic() {
    for _ in 0..ASKS_AT_PANIC {
        let mut shown = match SHOWN.try_lock() {
            Ok(shown) => shown,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                std::thread::sleep(ASK);
                continue;
            }
        };
        erase(&mut shown);
        *shown = Line::Closed;
        return;
    }
}

/// Clears the `^C` that the terminal shows after an interrupt, so that the next output begins on an
/// empty line.
pub(crate) fn after_interrupt() {
    clear_echo(&mut lock());
}

fn clear_echo(shown: &mut Line) {
    match *shown {
        Line::Shown => erase(shown),
        Line::Absent if io::stderr().is_terminal() => write("\n"),
        Line::Absent | Line::Closed => {}
    }
}

fn lock() -> MutexGuard<'static, Line> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the progress line and returns the cursor to its start, so that the next output overwrites
/// the line.
fn draw(words: &LineContents) {
    let mut shown = lock();
    if *shown == Line::Closed {
        return;
    }
    *shown = Line::Shown;
    let columns = match terminal_size_of(io::stderr()) {
        Some((Width(columns @ 1..), _)) => usize::from(columns),
        _ => USUAL_WIDTH,
    };
    write(&format!("\r{}\x1b[J\r", fit(words, columns)));
}

fn erase(shown: &mut Line) {
    if *shown == Line::Shown {
        *shown = Line::Absent;
        write("\r\x1b[J");
    }
}

fn write(text: &str) {
    // Errors are ignored here. If the terminal is gone, the writers of results report it.
    io::stderr().write_all(text.as_bytes()).ok();
}

fn is_wanted() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    io::stderr().is_terminal() && !is_dumb && !is_set("CI")
}

/// The text of the progress line for a terminal of this width. The last column stays empty, because
/// some terminals begin a new line after it.
fn fit(words: &LineContents, columns: usize) -> String {
    let room = columns.saturating_sub(1);
    let text: String = words.text.chars().filter(|letter| !letter.is_control()).collect();
    let width: usize = text.chars().map(columns_of).sum();
    if width > room {
        return cut(&text, room);
    }
    match words.share {
        Some(share) if BAR_LETTERS + 1 + width <= room => {
            format!("{:BAR_LETTERS$} {text}", bar(share, BAR_LETTERS))
        }
        _ => text,
    }
}

/// The beginning of a text that has at most `room` columns, with a mark that its end was cut.
fn cut(text: &str, room: usize) -> String {
    let mut left = room.saturating_sub(1);
    let fits = |letter: &char| {
        let rest = left.checked_sub(columns_of(*letter));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    let start: String = text.chars().take_while(fits).collect();
    if room == 0 { start } else { start + "…" }
}

/// The number of columns that this program reserves for a character: two from U+1100 on, except for
/// U+2000 to U+2E7F, and one for all other characters. No character needs more columns than this.
fn columns_of(letter: char) -> usize {
    const FIRST_WIDE: char = '\u{1100}';
    const BLOCKS: core::ops::RangeInclusive<char> = '\u{2000}'..='\u{2e7f}';
    if letter >= FIRST_WIDE && !BLOCKS.contains(&letter) { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(share: Option<f64>, text: &str) -> LineContents {
        LineContents { share, text: text.to_owned() }
    }

    #[test]
    fn a_line_is_always_narrower_than_the_terminal() {
        let texts = ["", "[0:05] 12 of 340 tests under vi", "日本語の機械 で vec-add", &"x".repeat(300)];
        for columns in 0..120 {
            for text in texts {
                let line = fit(&words(Some(0.5), text), columns);
                let width: usize = line.chars().map(columns_of).sum();
                assert!(width < columns.max(1), "{columns}: {line:?}");
            }
        }
    }

    #[test]
    fn a_narrow_line_drops_the_bar_first_and_says_that_it_is_cut() {
        let words = words(Some(0.5), "[0:05] 12 of 24 tests");
        let half = "█".repeat(12) + &" ".repeat(12);
        assert_eq!(fit(&words, 80), format!("{half} [0:05] 12 of 24 tests"));
        assert_eq!(fit(&words, 40), "[0:05] 12 of 24 tests");
        assert_eq!(fit(&words, 12), "[0:05] 12 …");
        assert_eq!(fit(&words, 1), "");
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        assert_eq!(fit(&words(None, "a\u{1b}[2J\nb"), 80), "a[2Jb");
    }
}
