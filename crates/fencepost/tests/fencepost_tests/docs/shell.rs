//! Runs command lines as a reader does: in a shell in which `fencepost` is installed.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The result of a command line: the standard output and the standard error in one text, and the
/// exit code.
pub(crate) struct Printed {
    pub(crate) text: String,
    pub(crate) code: i32,
}

/// A shell that runs in a folder and has its own home folder, which is empty at first.
pub(crate) struct Shell {
    folder: PathBuf,
    home: PathBuf,
}

impl Shell {
    pub(crate) fn new(folder: &Path) -> Shell {
        let home = folder.with_extension("home");
        fs::remove_dir_all(&home).ok();
        fs::create_dir_all(&home).unwrap();
        Shell { folder: folder.to_owned(), home }
    }

    pub(crate) fn run(&self, command: &str, fencepost: &Path) -> Printed {
        let installed = fencepost.parent().unwrap().to_owned();
        let others = env::var_os("PATH").unwrap_or_default();
        // The toolchain's tools need nothing from the reader's home.
        let tools = Path::new(env!("CARGO")).parent().unwrap().to_owned();
        let path = [installed, tools].into_iter().chain(env::split_paths(&others));
        let path = env::join_paths(path).unwrap();
        let output = Command::new("sh")
            .args(["-c", &format!("{{ {command}\n}} 2>&1")])
            .current_dir(&self.folder)
            .env("PATH", path)
            .env("HOME", &self.home)
            .env_remove("FENCEPOST_BLESS")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        Printed { text, code: output.status.code().unwrap_or(-1) }
    }
}
