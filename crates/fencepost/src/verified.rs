//! The table of results that stands in `docs/verification.md`.

use std::io::Write as _;
use std::path::Path;

use explore::results::{self, Line};

use crate::Failure;
use crate::output::WholeFile;
use crate::suite::files;

const BEGIN: &str = "<!-- results: begin -->\n";
const END: &str = "<!-- results: end -->";

/// Writes the results between the marks of a file, or a new file with nothing
/// else. Those of other protocols stay.
pub(crate) fn write(path: &Path, results: &[Line]) -> Result<(), Failure> {
    let bad = |what: String| Failure::BadInput(format!("{}: {what}", path.display()));
    let old = match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => format!("{BEGIN}{END}\n"),
        Ok(found) if !found.is_file() => return Err(bad(String::from("it is not a file"))),
        _ => files::read_table(path).map_err(Failure::BadInput)?,
    };
    let (before, rest) =
        old.split_once(BEGIN).ok_or_else(|| bad(format!("it has no line `{}`", BEGIN.trim())))?;
    let (section, after) =
        rest.split_once(END).ok_or_else(|| bad(format!("it has no line `{}`", END.trim())))?;
    let text = format!("{before}{BEGIN}\n{}\n{END}{after}", results::merged(section, results));
    let mut file = WholeFile::create(path).map_err(Failure::BadInput)?;
    file.write_all(text.as_bytes()).map_err(|error| bad(format!("cannot write it: {error}")))?;
    file.commit().map_err(Failure::BadInput)
}
