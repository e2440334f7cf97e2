//! Runs a command on its own terminal (a pseudoterminal), and reads the resulting screen.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use pty_process::blocking::Pty;
use rustix::termios::{Termios, tcgetattr};

/// The time between two looks at the screen or at the process.
const LOOK: Duration = Duration::from_millis(5);
/// The number of looks after which a command counts as hanging. So many looks take at least two
/// minutes.
const LOOKS_MAX: usize = 24_000;
/// The number of rows of the screen. It is so large that no text scrolls off the screen.
const ROWS: u16 = 3000;

/// The properties of a terminal, and the redirection of an output of the command.
#[derive(Clone, Copy)]
pub(crate) struct Setup<'a> {
    pub(crate) columns: u16,
    pub(crate) variables: &'a [(&'a str, &'a str)],
    /// The stream that is redirected (1 is standard output, 2 is standard error), and the file to
    /// which it is redirected.
    pub(crate) redirected: Option<(u8, &'a Path)>,
}

/// A terminal of 80 columns, without further environment variables and without redirection.
pub(crate) const USUAL: Setup<'static> = Setup { columns: 80, variables: &[], redirected: None };

/// A running command on its terminal.
pub(crate) struct Session {
    words: String,
    child: Child,
    pty: Arc<Pty>,
    before: Termios,
    bytes: Arc<Mutex<Vec<u8>>>,
    reader: JoinHandle<()>,
    columns: u16,
}

/// The state of a command and of its terminal after the end of the command.
pub(crate) struct EndState {
    pub(crate) words: String,
    pub(crate) code: Option<i32>,
    pub(crate) screen: vt100::Screen,
    pub(crate) bytes: Vec<u8>,
    /// Whether the modes of the terminal are the same as before the command.
    pub(crate) same_modes: bool,
}

impl Session {
    /// Starts a command of Fencepost on a new terminal.
    pub(crate) fn start(args: &[&str], folder: &Path, setup: &Setup<'_>) -> Session {
        Session::of(Path::new(env!("CARGO_BIN_EXE_fencepost")), args, folder, setup)
    }

    /// Starts a command of any program on a new terminal.
    pub(crate) fn of(program: &Path, args: &[&str], folder: &Path, setup: &Setup<'_>) -> Session {
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(24, setup.columns)).unwrap();
        let before = tcgetattr(&pty).unwrap();
        let mut inner = Command::new(program);
        inner.args(args).current_dir(folder);
        for variable in ["CI", "NO_COLOR", "COLUMNS"] {
            inner.env_remove(variable);
        }
        inner.env("TERM", "xterm-256color").envs(setup.variables.iter().copied());
        let mut command = pty_process::blocking::Command::from(inner);
        if let Some((stream, path)) = setup.redirected {
            let file = Stdio::from(std::fs::File::create(path).unwrap());
            command = if stream == 1 { command.stdout(file) } else { command.stderr(file) };
        }
        let child = command.spawn(pts).unwrap();
        let (pty, bytes) = (Arc::new(pty), Arc::<Mutex<Vec<u8>>>::default());
        let (from, to) = (Arc::clone(&pty), Arc::clone(&bytes));
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            // On Linux, the end is an error, because the other side is closed.
            while let Ok(count @ 1..) = (&*from).read(&mut chunk) {
                to.lock().unwrap().extend_from_slice(&chunk[..count]);
            }
        });
        Session { words: args.join(" "), child, pty, before, bytes, reader, columns: setup.columns }
    }

    /// The current screen.
    pub(crate) fn screen(&self) -> vt100::Screen {
        screen(&self.bytes.lock().unwrap(), self.columns)
    }

    /// Waits until the text is on the screen.
    pub(crate) fn wait_for(&mut self, text: &str) {
        for _ in 0..LOOKS_MAX {
            if self.screen().contents().contains(text) {
                return;
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("{}: {status} without `{text}`:\n{}", self.words, self.screen().contents());
            }
            std::thread::sleep(LOOK);
        }
        self.hang();
    }

    /// Types a key on the terminal.
    pub(crate) fn press(&self, key: u8) {
        (&*self.pty).write_all(&[key]).unwrap();
    }

    /// Waits for the end of the command. Returns the state after it.
    pub(crate) fn end(mut self) -> EndState {
        let mut looks = 0;
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            looks += 1;
            if looks > LOOKS_MAX {
                self.hang();
            }
            std::thread::sleep(LOOK);
        };
        self.reader.join().unwrap();
        let bytes = std::mem::take(&mut *self.bytes.lock().unwrap());
        let after = tcgetattr(&*self.pty).unwrap();
        let modes = |modes: &Termios| (modes.input_modes, modes.output_modes, modes.local_modes);
        EndState {
            words: self.words,
            code: status.code(),
            screen: screen(&bytes, self.columns),
            bytes,
            same_modes: modes(&self.before) == modes(&after),
        }
    }

    fn hang(&mut self) -> ! {
        self.child.kill().ok();
        panic!("{} hangs:\n{}", self.words, self.screen().contents());
    }
}

fn screen(bytes: &[u8], columns: u16) -> vt100::Screen {
    let [rows, columns] = [ROWS, columns].map(|size| size.try_into().unwrap());
    let mut parser = vt100::Parser::new(rows, columns, 0);
    parser.process(bytes);
    parser.screen().clone()
}

impl EndState {
    /// Asserts that the terminal is in order: the modes are unchanged, the cursor is
    /// visible and at the start of a line, and no part of a progress line remains.
    pub(crate) fn assert_clean(&self) {
        let EndState { words, screen, .. } = self;
        let text = screen.contents();
        assert!(self.same_modes, "{words}: the modes of the terminal changed");
        assert!(!screen.hide_cursor() && !screen.alternate_screen(), "{words}: {text}");
        assert_eq!(screen.cursor_position().1, 0, "{words}: the cursor is inside a line:\n{text}");
        let is_progress = |line: &str| line.contains("[0:0") || line.contains("[0:1");
        assert!(!text.lines().any(is_progress), "{words}: a rest of the progress line:\n{text}");
    }
}
