//! Bars in text tables, made of block characters.

/// Block characters. The first one fills one eighth of a character cell, the last one fills the
/// whole cell.
const EIGHTHS: [char; 8] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'];

/// The bar for a share from zero to one. It has at most `width` characters and shows eighths of a
/// character. For a share above zero it is never empty.
pub(crate) fn bar(share: f64, width: usize) -> String {
    if !share.is_finite() || share <= 0.0 {
        return String::new();
    }
    let eighths = ((share.min(1.0) * width as f64 * 8.0).round() as usize).max(1);
    let mut bar = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        bar.push(EIGHTHS[eighths % 8 - 1]);
    }
    bar
}

/// Returns true if a table cell is a bar: its text has only block characters.
pub(crate) fn is_bar(cell: &str) -> bool {
    !cell.is_empty() && cell.chars().all(|letter| EIGHTHS.contains(&letter))
}

/// The length of a bar, in eighths of a character.
pub(crate) fn eighths_of(bar: &str) -> usize {
    bar.chars()
        .filter_map(|letter| EIGHTHS.iter().position(|part| *part == letter))
        .map(|part| part + 1)
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_grow_with_their_share_and_never_leave_their_room() {
        assert_eq!(bar(1.0, 4), "████");
        assert_eq!(bar(7.0, 4), "████");
        assert_eq!(bar(0.5, 4), "██");
        assert_eq!(bar(0.001, 4), "▏");
        assert_eq!(bar(0.0, 4) + &bar(f64::NAN, 4) + &bar(-1.0, 4), "");
    }
}
