//! Computes two digests: of the code that the results of runs depend on, and of the code that the
//! results of verifications depend on. Each covers the source files that take part, and the versions
//! of all dependencies. A stored result is reused as long as its digest is the same.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// The code that takes part in a run, and the versions of all dependencies. The paths are relative to
/// this crate.
const OF_RUNS: [&str; 13] = [
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

/// The code that takes part in a verification, its tests, and the versions of all dependencies. The
/// paths are relative to this crate. The arguments for equivalent mutants (`equivalent*.txt`) are left
/// out, because a record gets the arguments when it is read.
const OF_VERIFICATIONS: [&str; 10] = [
    "../proto/src",
    "../drive/src",
    "../zoo/src",
    "../litmus/src",
    "../litmus/models",
    "../../litmus",
    "../explore/src",
    "../subjects/src",
    "src/verify/mod.rs",
    "../../Cargo.lock",
];

/// The parts of the explorer on which no verification depends: the random tester, and the search for
/// a number of compute units that stands for all numbers.
const NOT_OF_VERIFICATIONS: [&str; 2] = ["../explore/src/stress", "../explore/src/cutoff"];

fn main() {
    println!("cargo:rustc-env=FENCEPOST_CODE={}", digest(&OF_RUNS));
    println!("cargo:rustc-env=FENCEPOST_VERIFIER={}", digest(&OF_VERIFICATIONS));
}

/// The first letters of the digest of these folders and files, in hexadecimal.
fn digest(parts: &[&str]) -> String {
    let mut files = Vec::new();
    for part in parts {
        println!("cargo:rerun-if-changed={part}");
        collect(Path::new(part), &mut files);
    }
    files.sort();
    let mut digest = Sha256::new();
    let is_argument =
        |path: &&PathBuf| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("equivalent"));
    for path in files.iter().filter(|path| !is_argument(path)) {
        let text = fs::read(path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        digest.update(path.to_string_lossy().as_bytes());
        digest.update((text.len() as u64).to_le_bytes());
        digest.update(&text);
    }
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if NOT_OF_VERIFICATIONS.iter().any(|part| path == Path::new(part)) {
        return;
    }
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
