//! Seeded faults that nobody can notice: each is argued in a sentence.

/// A file for each protocol: the name of a fault, ` # `, and the reason.
const ARGUED: &[(&str, &str)] = &[("vi", include_str!("../equivalent/vi.txt"))];

/// Why nobody can notice this fault in that protocol, if that is so.
pub(crate) fn reason(protocol: &str, mutant: &str) -> Option<&'static str> {
    let (_, text) = ARGUED.iter().find(|(name, _)| *name == protocol)?;
    let lines = text.lines().filter_map(|line| line.split_once(" # "));
    lines.into_iter().find(|(name, _)| *name == mutant).map(|(_, reason)| reason)
}
