//! Parsers for the values of arguments. Each error names the expected value.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

/// Returns a parser that accepts whole numbers from `first` to `last`.
pub(super) fn whole<N: TryFrom<u64>>(
    first: u64,
    last: u64,
) -> impl Fn(&str) -> Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| (first..=last).contains(number));
        let number = number.and_then(|number: u64| N::try_from(number).ok());
        number.ok_or_else(|| format!("expected a whole number from {first} to {last}"))
    }
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let number: Option<f64> = text.strip_suffix('s').unwrap_or(text).parse().ok();
    let time = number.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.ok_or_else(|| String::from("expected a number of seconds, for example 10 or 0.5"))
}

pub(super) fn message(text: &str) -> Result<(String, u64), String> {
    let (name, nth) = text.split_once(':').unwrap_or((text, "1"));
    match nth.parse() {
        Ok(nth @ 1..) if !name.is_empty() => Ok((name.to_owned(), nth)),
        _ => Err(String::from("expected MESSAGE or MESSAGE:N with N from 1, for example Data:3")),
    }
}

pub(super) fn json_file(text: &str) -> Result<PathBuf, String> {
    let file = Some(PathBuf::from(text)).filter(|file| file.extension().is_some_and(|end| end == "json"));
    file.ok_or_else(|| String::from("expected a file name that ends in .json, for example record.json"))
}

pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.trim().to_owned())),
        _ => Err(String::from("expected KEY=VALUE, for example bins=64")),
    }
}

pub(super) fn parameter(text: &str) -> Result<(String, String), String> {
    let pair = text.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
    match pair.filter(|(key, value)| !key.is_empty() && !value.is_empty()) {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(String::from("expected KEY=VALUE, for example l1.bytes=32k")),
    }
}

/// The maximum value of `--jobs`. Each job is a thread.
const JOBS_MAX: usize = 1024;

/// Parses the number of chiplets for `stress`. The compute units of the stressed machine are
/// divided evenly among the chiplets, so the number must be 1, 2, 4 or 8.
pub(super) fn stressed_chiplets(text: &str) -> Result<u16, String> {
    let number = text.parse().ok().filter(|chiplets| [1, 2, 4, 8].contains(chiplets));
    number.ok_or_else(|| String::from("expected 1, 2, 4 or 8"))
}

pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    let number = text.parse().ok().filter(|jobs: &NonZeroUsize| jobs.get() <= JOBS_MAX);
    number.ok_or_else(|| format!("expected a whole number from 1 to {JOBS_MAX}"))
}

/// The minimum value of `--memory`, in bytes. With less memory every search fails.
const MEMORY_MIN: u64 = 1 << 10;

pub(super) fn memory(text: &str) -> Result<u64, String> {
    let refuse = || String::from("expected a number of bytes, at least 1K, such as 512M or 8G");
    let (digits, shift) = match text.trim_end_matches(['i', 'B']).to_ascii_uppercase() {
        t if t.ends_with('K') => (t.trim_end_matches('K').to_owned(), 10),
        t if t.ends_with('M') => (t.trim_end_matches('M').to_owned(), 20),
        t if t.ends_with('G') => (t.trim_end_matches('G').to_owned(), 30),
        t => (t, 0),
    };
    let number: u64 = digits.parse().map_err(|_| refuse())?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes >= MEMORY_MIN).ok_or_else(refuse)
}
