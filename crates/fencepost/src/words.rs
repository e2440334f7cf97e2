//! Numbers as text, with their nouns and units.

pub(crate) use proto::words::{grouped, plural};

/// A number with its noun: "1 run", "2,000 runs".
pub(crate) fn counted(count: usize, noun: &str) -> String {
    format!("{} {}", grouped(count as u64), plural(count as u64, noun))
}

/// The text of a number of bytes, in the unit that leaves one to three digits before the point.
pub(crate) fn bytes(count: u64) -> String {
    scaled(count as f64, 1024.0, &["B", "KiB", "MiB", "GiB", "TiB"])
}

/// The text of an energy, in the unit that leaves one to three digits before the point.
pub(crate) fn energy(picojoules: f64) -> String {
    scaled(picojoules, 1000.0, &["pJ", "nJ", "µJ", "mJ", "J"])
}

fn scaled(mut amount: f64, step: f64, units: &[&str]) -> String {
    let mut unit = 0;
    while amount >= step && unit + 1 < units.len() {
        amount /= step;
        unit += 1;
    }
    let decimals = if unit == 0 && amount.fract() == 0.0 { 0 } else { 1 };
    format!("{amount:.decimals$} {}", units[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_scaled() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1536), "1.5 KiB");
        assert_eq!(energy(2_500_000.0), "2.5 µJ");
        assert_eq!(energy(0.5), "0.5 pJ");
    }
}
