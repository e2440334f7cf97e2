//! Numbers as people read them, and round steps for an axis.

/// A number with about three digits that count, grouped if it is large.
pub(super) fn short(value: f64) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    let size = value.abs();
    let decimals = match size {
        0.0 => 0,
        _ if size >= 100.0 => 0,
        _ if size >= 10.0 => 1,
        _ if size >= 0.1 => 2,
        _ if size >= 0.0005 => 4,
        _ => return format!("{value:.1e}"),
    };
    let text = format!("{value:.decimals$}");
    let text = match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text,
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", text.as_str()),
    };
    match digits.contains('.') || digits.len() < 5 {
        true => format!("{sign}{digits}"),
        false => format!("{sign}{}", grouped(digits)),
    }
}

/// The same, with as many more digits as it takes to tell the number from those
/// that it is compared with.
pub(super) fn apart(value: f64, thresholds: &[f64]) -> String {
    let text = short(value);
    let is_like = |text: &str, other: f64| other != value && short(other) == text;
    if !value.is_finite() || !thresholds.iter().any(|&other| is_like(&text, other)) {
        return text;
    }
    let written = |value: f64, decimals: usize| format!("{value:.decimals$}").replace('-', "\u{2212}");
    let tells = |decimals: &usize| {
        let text = written(value, *decimals);
        thresholds.iter().all(|&other| other == value || written(other, *decimals) != text)
    };
    // Two numbers that differ do so within 17 digits.
    let decimals = (3..17).find(tells).unwrap_or(17);
    written(value, decimals)
}

/// A count, in groups of three digits.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A difference of counts, with its sign.
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

/// The ends of an axis that holds both values, and its step: one, two or five
/// times a power of ten.
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
    fn numbers_are_short_and_keep_what_counts() {
        let cases = [
            (0.0, "0"),
            (1.0, "1"),
            (1.287, "1.29"),
            (0.04512, "0.0451"),
            (24.04, "24"),
            (-3.5, "\u{2212}3.5"),
        ];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1_234_567.0), "1,234,567");
        assert_eq!(short(0.000_001), "1.0e-6");
        assert_eq!(short(f64::NAN), "-");
        assert_eq!(
            (count(1000).as_str(), change(-1000).as_str(), change(7).as_str()),
            ("1,000", "\u{2212}1,000", "+7")
        );
    }

    #[test]
    fn a_number_near_a_threshold_does_not_look_like_it() {
        assert_eq!(apart(1.003, &[1.0, 1.03]), "1.003");
        assert_eq!(apart(0.9996, &[0.0, 1.0]), "0.9996");
        assert_eq!(apart(1.0298, &[1.0, 1.03, 1.1]), "1.0298");
        assert_eq!(apart(-1.003, &[-1.0]), "\u{2212}1.003");
        // Equal, or far enough away: as short as others.
        assert_eq!(apart(1.0, &[0.0, 1.0]), short(1.0));
        assert_eq!(apart(1.287, &[0.0, 1.0]), "1.29");
        assert_eq!(apart(f64::NAN, &[1.0]), "-");
    }

    #[test]
    fn an_axis_holds_its_values_in_round_steps() {
        assert_eq!(ticks(0.0, 1.29), (0.0, 1.5, 0.5));
        assert_eq!(ticks(0.0, 1.0), (0.0, 1.0, 0.2));
        let (low, high, step) = ticks(-3.0, 97.0);
        assert_eq!((low, high, step), (-20.0, 100.0, 20.0));
    }
}
