//! The table of results, in the text that it stands in.

use explore::results::{self, Line};

const BEGIN: &str = "<!-- results: begin -->\n";
const END: &str = "<!-- results: end -->";

/// A text with these results between its marks; without a text, one with nothing else.
/// Those of other protocols stay.
///
/// # Errors
/// Which mark the text does not have.
pub fn with_results(old: Option<&str>, results: &[Line]) -> Result<String, String> {
    let empty = format!("{BEGIN}{END}\n");
    let lacks = |mark: &str| format!("it has no line `{}`", mark.trim());
    let (before, rest) = old.unwrap_or(&empty).split_once(BEGIN).ok_or_else(|| lacks(BEGIN))?;
    let (section, after) = rest.split_once(END).ok_or_else(|| lacks(END))?;
    Ok(format!("{before}{BEGIN}\n{}\n{END}{after}", results::merged(section, results)))
}
