//! The files of the repository, and copies of the repository.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

/// The files of a repository, as paths relative to its root. Hidden files, build results and the
/// results of reproductions are left out.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            let kind = entry.file_type().unwrap();
            let is_reproduced = path == Path::new("results");
            if name.to_string_lossy().starts_with('.') || name == "target" || is_reproduced {
                continue;
            }
            match kind.is_dir() {
                true if !entry.path().join("CACHEDIR.TAG").exists() => folders.push(path),
                true => {}
                false if kind.is_file() => files.push(path),
                false => {}
            }
        }
    }
    files
}

/// Copies the repository to the folder `to`. The files keep their times of modification, so that
/// build results stay valid.
pub(crate) fn copy(to: &Path) {
    let root = root();
    fs::remove_dir_all(to).ok();
    for file in files(&root) {
        copy_file(&root.join(&file), &to.join(&file));
    }
}

pub(crate) fn copy_file(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
    let modified = fs::metadata(from).unwrap().modified().unwrap();
    fs::File::options().write(true).open(to).unwrap().set_modified(modified).unwrap();
}
