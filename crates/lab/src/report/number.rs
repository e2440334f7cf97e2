//! Formats numbers for readers, and computes round steps for the ticks of an axis.

/// The text of a number with about three significant digits. Trailing zeros are kept. A large
/// number has commas between groups of three digits.
pub(super) fn short(value: f64) -> String {
    together(&[value]).pop().unwrap_or_default()
}

/// The texts of numbers that are shown side by side. All texts have the same number of decimals.
pub(super) fn together(values: &[f64]) -> Vec<String> {
    apart(values, &[])
}

fn together_decimals(values: &[f64]) -> usize {
    values.iter().filter(|value| **value != 0.0).map(|value| decimals(*value)).max().unwrap_or(0)
}

/// The texts of numbers that are shown side by side. All texts have the same number of decimals.
/// This number is large enough that the text of a value differs from the text of every threshold
/// that the value does not equal.
pub(super) fn apart(values: &[f64], thresholds: &[f64]) -> Vec<String> {
    let least = together_decimals(values);
    let decimals = values.iter().map(|value| apart_decimals(*value, thresholds, least)).max();
    values.iter().map(|value| fixed(*value, decimals.unwrap_or(least))).collect()
}

/// The smallest number of decimals, at least `least`, with which the text of `value` differs from
/// the text of each threshold that `value` does not equal. It is at most 17, because two different
/// numbers differ within 17 digits.
fn apart_decimals(value: f64, thresholds: &[f64], least: usize) -> usize {
    let differs = |decimals: &usize| {
        let text = fixed(value, *decimals);
        thresholds.iter().all(|&other| other == value || fixed(other, *decimals) != text)
    };
    (least..17).find(differs).unwrap_or(17)
}

/// The texts of a mean and of the two ends of its confidence interval. If the interval is narrow,
/// decimals are added (up to four), so that its ends look different. Then decimals are added until
/// the text of each number differs from the text of every threshold that the number does not equal.
pub(super) fn mean_and_ends(mean: f64, low: f64, high: f64, thresholds: &[f64]) -> [String; 3] {
    let mut decimals = together_decimals(&[mean, low, high]);
    while decimals > 0 && decimals < 4 && high - low < 2.0 * 10f64.powi(-(decimals as i32)) {
        decimals += 1;
    }
    let of = |value| apart_decimals(value, thresholds, decimals);
    let decimals = of(mean).max(of(low)).max(of(high));
    [mean, low, high].map(|value| fixed(value, decimals))
}

/// The number of decimals in the shortest text that exactly denotes the number.
fn written(value: f64) -> usize {
    value.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len())
}

/// The text of a number from a published table. It has the same decimals as in the claims file,
/// without trailing zeros.
pub(super) fn as_written(value: f64) -> String {
    fixed(value, written(value))
}

/// The texts of published ratios or counts. All texts have the same number of decimals: as many as
/// the value with the most decimals needs, and at least two unless all values are whole.
pub(super) fn as_published(values: &[f64]) -> Vec<String> {
    let most = values.iter().map(|value| written(*value)).max().unwrap_or(0);
    let decimals = if most == 0 { 0 } else { most.max(2) };
    values.iter().map(|value| fixed(*value, decimals)).collect()
}

/// The number of decimals for about three significant digits. A value that differs from 1 but would
/// appear as 1.00 gets an additional decimal.
fn decimals(value: f64) -> usize {
    let size = value.abs();
    match size {
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size != 1.0 && (size - 1.0).abs() < 0.005 => 3,
        _ if size >= 0.1 => 2,
        _ if size >= 0.0005 => 4,
        _ => 7,
    }
}

/// The text of a number with this many decimals.
fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value != 0.0 && value.abs() < 0.0005 && decimals >= 7 {
        return format!("{value:.1e}");
    }
    let decimals = if value == 0.0 { decimals.min(2) } else { decimals };
    let text = format!("{value:.decimals$}");
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) if digits.bytes().any(|digit| digit.is_ascii_digit() && digit != b'0') => {
            ("\u{2212}", digits)
        }
        Some(digits) => ("", digits),
        None => ("", text.as_str()),
    };
    let (whole, decimals) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    format!("{sign}{}{decimals}", grouped(whole))
}

/// The text of a value on an axis. It has as many decimals as the step of the axis.
pub(super) fn tick(value: f64, step: f64) -> String {
    let decimals = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    fixed(value, decimals)
}

/// The text of a count, with commas between groups of three digits.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// The text of a difference between two counts, with its sign.
pub(super) fn change(value: i64) -> String {
    let sign = match value {
        0 => "",
        1.. => "+",
        _ => "\u{2212}",
    };
    format!("{sign}{}", grouped(&value.unsigned_abs().to_string()))
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The two ends of an axis that contains `low` and `high`, and the step between the ticks of the
/// axis. The step is one, two or five times a power of ten.
pub(super) fn ticks(low: f64, high: f64) -> (f64, f64, f64) {
    let rough = (high - low).max(f64::MIN_POSITIVE) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0, 10.0].into_iter().find(|times| times * power >= rough * 0.999);
    let step = times.unwrap_or(10.0) * power;
    ((low / step).floor() * step, (high / step).ceil() * step, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_or_the_distance_from_one() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.00"),
            (0.9, "0.90"),
            (1.003, "1.003"),
            (0.998, "0.998"),
            (1.287, "1.29"),
            (0.04512, "0.0451"),
            (24.04, "24.0"),
            (-3.5, "\u{2212}3.50"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((short(1_234_567.0).as_str(), short(5279.0).as_str()), ("1,234,567", "5,279"));
        assert_eq!(together(&[1234.5, 12.25]), ["1,234.5", "12.2"]);
        assert_eq!(short(0.000_001), "1.0e-6");
        assert_eq!(short(f64::NAN), "-");
        assert_eq!(
            (count(1000).as_str(), change(-1000).as_str(), change(7).as_str()),
            ("1,000", "\u{2212}1,000", "+7")
        );
    }

    #[test]
    fn numbers_side_by_side_have_the_same_decimals() {
        assert_eq!(together(&[1.003, 0.9, 1.1]), ["1.003", "0.900", "1.100"]);
        assert_eq!(together(&[9.95, 10.2]), ["9.95", "10.20"]);
        assert_eq!(mean_and_ends(0.9912, 0.9908, 0.9916, &[]), ["0.9912", "0.9908", "0.9916"]);
        assert_eq!(mean_and_ends(1.25, 1.125, 1.375, &[]), ["1.25", "1.12", "1.38"]);
        assert_eq!(as_published(&[1.03, 1.1]), ["1.03", "1.10"]);
        assert_eq!(
            [as_published(&[0.9]), as_published(&[127.0]), as_published(&[24576.0])],
            [["0.90"], ["127"], ["24,576"]]
        );
        assert_eq!([as_written(95.7), as_written(76.0), as_written(0.67)], ["95.7", "76", "0.67"]);
        let axis: Vec<String> = [0.0, 0.5, 1.0].iter().map(|value| tick(*value, 0.5)).collect();
        assert_eq!(axis, ["0.0", "0.5", "1.0"]);
        assert_eq!([tick(20.0, 20.0), tick(50_000.0, 10_000.0), tick(0.25, 0.05)], ["20", "50,000", "0.25"]);
    }

    #[test]
    fn a_number_near_a_threshold_stays_distinguishable() {
        let one = |value: f64, thresholds: &[f64]| apart(&[value], thresholds).remove(0);
        assert_eq!(one(1.003, &[1.0, 1.03]), "1.003");
        assert_eq!(one(0.9996, &[0.0, 1.0]), "0.9996");
        assert_eq!(one(1.0298, &[1.0, 1.03, 1.1]), "1.0298");
        assert_eq!(one(-1.003, &[-1.0]), "\u{2212}1.003");
        // A number that equals a threshold, or is far from it, is as short as without thresholds.
        assert_eq!(one(1.0, &[0.0, 1.0]), short(1.0));
        assert_eq!(one(1.287, &[0.0, 1.0]), "1.29");
        assert_eq!(one(f64::NAN, &[1.0]), "-");
    }

    #[test]
    fn an_axis_holds_its_values_in_round_steps() {
        assert_eq!(ticks(0.0, 1.29), (0.0, 1.5, 0.5));
        assert_eq!(ticks(0.0, 1.0), (0.0, 1.0, 0.2));
        let (low, high, step) = ticks(-3.0, 97.0);
        assert_eq!((low, high, step), (-20.0, 100.0, 20.0));
    }
}
