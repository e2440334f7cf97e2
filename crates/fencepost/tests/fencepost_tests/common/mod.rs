//! Helpers that several tests share.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Makes an empty folder with this name among the temporary files of tests. Returns its path.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a command of Fencepost. Returns the exit code, the standard output and the standard error.
pub(crate) fn fencepost(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = std::iter::once("fencepost").chain(args.iter().copied()).map(OsString::from);
    let code = fencepost::run(all, &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// Runs a command, and checks that it succeeds and prints no error. Returns its output.
pub(crate) fn succeed(args: &[&str]) -> String {
    let (code, out, err) = fencepost(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

/// Runs a command, and checks that it succeeds. Returns its output as JSON.
pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&succeed(args)).unwrap()
}

/// Runs a command, and checks that it refuses bad input. Returns the error message.
pub(crate) fn refused(args: &[&str]) -> String {
    let (code, out, err) = fencepost(args);
    assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
    assert!(err.ends_with('\n'), "{err}");
    err.trim_end().to_owned()
}
