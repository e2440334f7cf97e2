//! Helpers that several tests share.

#![allow(dead_code, reason = "each test binary needs some of it")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// An empty folder with this name.
pub(crate) fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs a command. Returns the exit code and the text of both outputs.
pub(crate) fn fencepost(args: &[&str]) -> (u8, String, String) {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let all = std::iter::once("fencepost").chain(args.iter().copied()).map(OsString::from);
    let code = fencepost::run(all, &mut out, &mut err);
    (code, String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
}

/// The output of a command that succeeds.
pub(crate) fn succeed(args: &[&str]) -> String {
    let (code, out, err) = fencepost(args);
    assert_eq!((code, err.as_str()), (0, ""), "{args:?}");
    out
}

/// The output of a command that succeeds, as JSON.
pub(crate) fn json(args: &[&str]) -> Value {
    serde_json::from_str(&succeed(args)).unwrap()
}

/// The message that refuses bad input.
pub(crate) fn refused(args: &[&str]) -> String {
    let (code, out, err) = fencepost(args);
    assert_eq!((code, out.as_str()), (2, ""), "{args:?}: {err}");
    assert!(err.ends_with('\n'), "{err}");
    err.trim_end().to_owned()
}
