//! Writes the file of recorded verification results, such as `docs/results/verification.toml`.

use std::io::Write as _;
use std::path::Path;

use lab::verify::{Guards, Record, Records};

use crate::Failure;
use crate::output::WholeFile;
use crate::suite::files;

/// The records in a file. No records if the file does not exist.
pub(crate) fn read(path: &Path) -> Result<Records, Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Records::default()),
        Ok(found) if !found.is_file() => Err(bad(String::from("the path is not a file"))),
        _ => Records::read(&files::read_table(path).map_err(Failure::BadInput)?).map_err(bad),
    }
}

/// Adds records to a file, which is created if it does not exist. A new record replaces the record
/// of the same protocol. The records of other protocols remain. Also writes the page of the records,
/// a file of the same name with the extension `md`.
pub(crate) fn write(path: &Path, entered: &[Record]) -> Result<(), Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let mut records = read(path)?;
    let page = path.with_extension("md");
    let (Some(name), true) = (path.file_name(), page != path) else {
        return Err(bad(String::from("the name of a page, expected the name of a TOML file")));
    };
    entered.iter().for_each(|record| records.enter(record.clone()));
    let guards = Guards::recorded().map_err(Failure::BadInput)?;
    write_whole(path, &records.to_toml().map_err(bad)?)?;
    write_whole(&page, &records.page(&name.to_string_lossy(), &guards))
}

fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = WholeFile::create(path).map_err(Failure::BadInput)?;
    file.write_all(text.as_bytes())
        .map_err(|error| Failure::BadInput(format!("{}: cannot write this file: {error}", path.display())))?;
    file.commit().map_err(Failure::BadInput)
}
