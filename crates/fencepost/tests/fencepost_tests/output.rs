//! Tests of result files: a file is either complete or absent.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use fencepost::output::WholeFile;

use crate::common::scratch;

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_file_appears_only_when_it_is_complete() {
    let folder = scratch("whole");
    let path = folder.join("result");
    fs::write(&path, "old").unwrap();
    let mut file = WholeFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(entries(&folder), 1);
}

#[test]
fn an_abandoned_file_is_removed() {
    let folder = scratch("abandoned");
    let mut file = WholeFile::create(&folder.join("result")).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(entries(&folder), 1);
    drop(file);
    assert_eq!(entries(&folder), 0);
}

#[test]
fn an_unwritable_file_is_refused_by_name() {
    let folder = scratch("refused");
    let refused = |path: &Path| WholeFile::create(path).unwrap_err();
    assert!(refused(&folder).contains("is a folder"));
    assert!(refused(&folder.join("no/such/folder")).contains("no/such/folder"));
    #[cfg(unix)]
    assert!(refused(Path::new("/dev/null")).contains("not a regular file"));
    assert!(refused(Path::new("/")).starts_with("cannot write /"));
    assert_eq!(entries(&folder), 0);
}
