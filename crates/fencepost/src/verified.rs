//! The table of results that stands in `docs/verification.md`.

use std::io::Write as _;
use std::path::Path;

use explore::results::Line;
use lab::verify::with_results;

use crate::Failure;
use crate::output::WholeFile;
use crate::suite::files;

/// Writes the results between the marks of a file, or a new file with nothing
/// else. Those of other protocols stay.
pub(crate) fn write(path: &Path, results: &[Line]) -> Result<(), Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let old = match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Ok(found) if !found.is_file() => return Err(bad(String::from("it is not a file"))),
        _ => Some(files::read_table(path).map_err(Failure::BadInput)?),
    };
    let text = with_results(old.as_deref(), results).map_err(bad)?;
    let mut file = WholeFile::create(path).map_err(Failure::BadInput)?;
    file.write_all(text.as_bytes()).map_err(|error| bad(format!("cannot write it: {error}")))?;
    file.commit().map_err(Failure::BadInput)
}
