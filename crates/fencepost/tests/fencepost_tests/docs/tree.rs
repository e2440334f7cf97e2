//! The files of the repository, and copies of the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

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

/// A copy of the repository in which command lines run. It can be restored, which takes much less time
/// than another copy.
pub(crate) struct Scratch {
    pub(crate) folder: PathBuf,
    /// The files that are not in the repository, with their contents.
    own: BTreeMap<PathBuf, Vec<u8>>,
    /// The length and the time of modification of every file.
    stamps: BTreeMap<PathBuf, Stamp>,
}

type Stamp = (u64, SystemTime);

impl Scratch {
    /// Copies the repository to `folder`. Then `prepare` adds files to the folder.
    pub(crate) fn new(folder: PathBuf, prepare: impl FnOnce(&Path)) -> Scratch {
        copy(&folder);
        prepare(&folder);
        let stamps = stamps(&folder);
        let root = root();
        let own = stamps.keys().filter(|file| !root.join(file).exists() || !is_same(&root, &folder, file));
        let own = own.map(|file| (file.clone(), fs::read(folder.join(file)).unwrap())).collect();
        Scratch { folder, own, stamps }
    }

    /// Removes all new files and folders, and writes all changed and removed files again.
    pub(crate) fn restore(&mut self) {
        let found = stamps(&self.folder);
        for file in found.keys().filter(|file| !self.stamps.contains_key(*file)) {
            fs::remove_file(self.folder.join(file)).unwrap();
        }
        remove_empty_folders(&self.folder);
        let root = root();
        for (file, stamp) in &mut self.stamps {
            if found.get(file) == Some(stamp) {
                continue;
            }
            let to = self.folder.join(file);
            match self.own.get(file) {
                Some(bytes) => {
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::write(&to, bytes).unwrap();
                }
                None => copy_file(&root.join(file), &to),
            }
            *stamp = stamp_of(&to);
        }
    }
}

fn stamp_of(path: &Path) -> Stamp {
    let metadata = fs::symlink_metadata(path).unwrap();
    (metadata.len(), metadata.modified().unwrap())
}

fn is_same(root: &Path, folder: &Path, file: &Path) -> bool {
    fs::read(root.join(file)).unwrap() == fs::read(folder.join(file)).unwrap()
}

/// The stamps of all files below a folder. The paths are relative to the folder.
fn stamps(root: &Path) -> BTreeMap<PathBuf, Stamp> {
    let mut stamps = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(path),
                false => drop(stamps.insert(path, stamp_of(&entry.path()))),
            }
        }
    }
    stamps
}

fn remove_empty_folders(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            remove_empty_folders(&entry.path());
            // This fails if the folder is not empty.
            fs::remove_dir(entry.path()).ok();
        }
    }
}

#[test]
fn a_restored_copy_is_as_at_first() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs/restored");
    let mut scratch = Scratch::new(folder.clone(), |folder| fs::write(folder.join("own"), "1").unwrap());
    let texts = || -> BTreeMap<PathBuf, Vec<u8>> {
        stamps(&folder).into_keys().map(|file| (file.clone(), fs::read(folder.join(file)).unwrap())).collect()
    };
    let first = texts();
    fs::write(folder.join("own"), "2").unwrap();
    fs::write(folder.join("README.md"), "changed").unwrap();
    fs::remove_file(folder.join("Cargo.toml")).unwrap();
    fs::create_dir_all(folder.join("new/folder")).unwrap();
    fs::write(folder.join("new/folder/file"), "new").unwrap();
    assert_ne!(texts(), first);
    scratch.restore();
    assert_eq!(texts(), first);
    assert!(!folder.join("new").exists());
    fs::remove_dir_all(folder).unwrap();
}
