//! Computes a digest of the code that the results of runs depend on: the source files that take
//! part in a run, and the versions of all dependencies. A stored result is reused as long as this
//! digest is the same.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The folders and files of which the digest is computed: the code that takes part in a run, and
/// the versions of all dependencies. The paths are relative to this crate.
const PARTS: [&str; 13] = [
    "../proto/src",
    "../drive/src",
    "../zoo/src",
    "../kernel/src",
    "../workloads/src",
    "../sim/src",
    "src/experiment.rs",
    "src/input.rs",
    "src/run.rs",
    "src/scenario.rs",
    "src/systems/change.rs",
    "src/systems/read.rs",
    "../../Cargo.lock",
];

fn main() {
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo:rerun-if-changed={part}");
        collect(Path::new(part), &mut files);
    }
    files.sort();
    let mut digest = Sha256::new();
    for path in files {
        let text = fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        digest.update(path.to_string_lossy().as_bytes());
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(&text);
    }
    let name: String = digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    println!("cargo:rustc-env=FENCEPOST_CODE={name}");
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if path.is_file() {
        files.push(path.to_owned());
        return;
    }
    let entries =
        fs::read_dir(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
    for entry in entries {
        let entry = entry.unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        collect(&entry.path(), files);
    }
}
