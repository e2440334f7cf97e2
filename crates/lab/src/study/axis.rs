//! Parses the parameters in the file of a study, with their values. The file gives a parameter a
//! single value, a list of values, or a range.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::read::{Entry, Keys, Span, empty, entries, plain, wrong};
use crate::error::{Error, printable};
use crate::source::Source;
use crate::systems::{TABLES, suffixed, text_of};

/// The maximum number of values of one parameter.
const VALUES_MAX: usize = 10_000;

/// A value of a parameter, with the place of the value in the study's file.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) value: toml::Value,
    pub(super) span: Span,
}

/// A parameter of a study, with all values that the study gives it.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// The name of the parameter, such as `l1.bytes` or `n`.
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) values: Vec<Listed>,
}

/// The parameters in a table of a study's file. The name of a parameter in a nested table is a
/// path: `l1.bytes = 1` and `"l1.bytes" = 1` mean the same.
pub(super) fn paths(source: &Source, table: &DeTable<'_>, above: &str) -> Result<Vec<Axis>, Error> {
    let mut axes: Vec<Axis> = Vec::new();
    for entry in entries(table) {
        let name = match above {
            "" => entry.key.get_ref().clone(),
            above => format!("{above}.{}", entry.key.get_ref()),
        };
        match entry.value.get_ref() {
            DeValue::Table(inner) if TABLES.contains(&name.as_str()) && is_constant(inner) => {
                axes.push(axis(source, &entry, name)?);
            }
            DeValue::Table(inner) if !is_range(inner) => axes.extend(paths(source, inner, &name)?),
            _ => axes.push(axis(source, &entry, name)?),
        }
    }
    for (at, axis) in axes.iter().enumerate() {
        if axes[..at].iter().any(|other| other.name == axis.name) {
            let name = printable(&axis.name);
            return Err(source.error(axis.span.clone(), format!("`{name}` is given twice")));
        }
    }
    Ok(axes)
}

/// Returns true if neither the table nor a table in it contains a list or a range of values.
fn is_constant(table: &DeTable<'_>) -> bool {
    table.values().all(|value| match value.get_ref() {
        DeValue::Array(_) => false,
        DeValue::Table(inner) => !is_range(inner) && is_constant(inner),
        _ => true,
    })
}

/// Returns true if the table describes a range of values: it has a key `from`, `to`, `step` or
/// `factor`.
pub(super) fn is_range(table: &DeTable<'_>) -> bool {
    ["from", "to", "step", "factor"].iter().any(|key| table.get(*key).is_some())
}

/// Reads the values of the parameter `name` from an entry of a table in the file.
pub(super) fn axis(source: &Source, entry: &Entry<'_>, name: String) -> Result<Axis, Error> {
    let span = entry.key.span();
    let values = match entry.value.get_ref() {
        DeValue::Array(all) if all.is_empty() => return Err(empty(source, entry.span())),
        DeValue::Array(all) => all.iter().map(|one| listed(source, one)).collect::<Result<Vec<_>, _>>()?,
        DeValue::Table(range) if is_range(range) => {
            let keys = Keys::of(source, range, entry.span());
            let values = self::range(keys, entry.span())?.into_iter();
            values.map(|value| Listed { value, span: entry.span() }).collect()
        }
        _ => vec![listed(source, entry.value)?],
    };
    if values.len() > VALUES_MAX {
        let message = format!("{} values, expected at most {VALUES_MAX}", values.len());
        return Err(source.error(entry.span(), message));
    }
    let mut seen = BTreeSet::new();
    for one in &values {
        let text = text_of(&one.value);
        if seen.contains(&text) {
            let message = format!("the value `{}` is listed twice", printable(&text));
            return Err(source.error(one.span.clone(), message));
        }
        seen.insert(text);
    }
    Ok(Axis { name, span, values })
}

fn listed(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Listed, Error> {
    if let DeValue::Array(_) = value.get_ref() {
        return Err(wrong(source, value, "a number, a name or a table"));
    }
    Ok(Listed { value: number_or_name(plain(source, value)?), span: value.span() })
}

/// Converts a text such as `64k` to the number that it means. Leaves every other value as it is.
fn number_or_name(value: toml::Value) -> toml::Value {
    match &value {
        toml::Value::String(text) => suffixed(text.trim()).unwrap_or(value),
        _ => value,
    }
}

/// The values of a range. The range begins with the value of `from`. Each further value is the
/// previous value plus the value of `step`, or times the value of `factor`. No value exceeds the
/// value of `to`.
fn range(mut keys: Keys<'_>, span: Span) -> Result<Vec<toml::Value>, Error> {
    let source = keys.source;
    let (from, to) = (keys.need("from")?, keys.need("to")?);
    let (step, factor) = (keys.take("step"), keys.take("factor"));
    keys.end()?;
    let (by, is_step) = match (step, factor) {
        (Some(step), None) => (step, true),
        (None, Some(factor)) => (factor, false),
        _ => return Err(source.error(span, "a range needs either `step` or `factor`")),
    };
    let number = |entry: &Entry<'_>| match number_or_name(plain(source, entry.value)?) {
        number @ (toml::Value::Integer(_) | toml::Value::Float(_)) => Ok(number),
        _ => Err(wrong(source, entry.value, "a number")),
    };
    let [first, last, increment] = [number(&from)?, number(&to)?, number(&by)?];
    let refuse = |entry: &Entry<'_>, expected: &str| Err(wrong(source, entry.value, expected));
    let too_many = || source.error(span.clone(), format!("more than {VALUES_MAX} values in one range"));
    if let [toml::Value::Integer(first), toml::Value::Integer(last), toml::Value::Integer(by_number)] =
        [&first, &last, &increment]
    {
        let (first, last, by_number) = (*first, *last, *by_number);
        match is_step {
            true if by_number < 1 => return refuse(&by, "a step above zero"),
            false if by_number < 2 => return refuse(&by, "a factor above one"),
            false if first < 1 => {
                return refuse(&from, "a number above zero, because the range has a factor");
            }
            _ if last < first => return refuse(&to, &format!("a number that is at least `from`, {first}")),
            _ => {}
        }
        let next = |value: &i64| match is_step {
            true => value.checked_add(by_number),
            false => value.checked_mul(by_number),
        };
        let values = core::iter::successors(Some(first), next).take_while(|value| *value <= last);
        let values: Vec<toml::Value> = values.take(VALUES_MAX + 1).map(toml::Value::Integer).collect();
        return if values.len() > VALUES_MAX { Err(too_many()) } else { Ok(values) };
    }
    let real = |value: &toml::Value| match value {
        toml::Value::Integer(number) => *number as f64,
        toml::Value::Float(number) => *number,
        _ => f64::NAN,
    };
    let [first, last, increment] = [real(&first), real(&last), real(&increment)];
    match is_step {
        true if !(increment.is_finite() && increment > 0.0) => return refuse(&by, "a step above zero"),
        false if !(increment.is_finite() && increment > 1.0) => return refuse(&by, "a factor above one"),
        _ if !first.is_finite() => return refuse(&from, "a finite number"),
        _ if !last.is_finite() => return refuse(&to, "a finite number"),
        false if first <= 0.0 => return refuse(&from, "a number above zero, because the range has a factor"),
        _ if last < first => return refuse(&to, &format!("a number that is at least `from`, {first}")),
        _ => {}
    }
    // Each value is computed from the first value, so that rounding errors do not add up. The
    // tolerance keeps the last value in the range if rounding puts it slightly above the end.
    let value = |at: usize| match is_step {
        true => first + increment * at as f64,
        false => first * increment.powi(at as i32),
    };
    let tolerance = last.abs().max(first.abs()) * 1e-9;
    let values = (0..=VALUES_MAX).map(value).take_while(|value| *value <= last + tolerance);
    let values: Vec<toml::Value> = values.map(|value| toml::Value::Float(value.min(last))).collect();
    if values.len() > VALUES_MAX { Err(too_many()) } else { Ok(values) }
}

/// All combinations of the values of some parameters. `sizes` has the number of values of each
/// parameter. A combination is a list with the index of one value for each parameter. In the order
/// of the combinations, the last index changes fastest.
pub(super) fn combinations(sizes: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        all = all
            .iter()
            .flat_map(|start: &Vec<usize>| {
                (0..size).map(move |at| {
                    let mut combination = start.clone();
                    combination.push(at);
                    combination
                })
            })
            .collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of the parameter `v` in a study file with the line `v = TEXT`, where TEXT is
    /// `text`. On failure, the text of the error.
    fn values(text: &str) -> Result<Vec<String>, String> {
        let source = Source { path: "s.toml".into(), text: format!("v = {text}") };
        let document = DeTable::parse(&source.text).unwrap();
        let axes = paths(&source, document.get_ref(), "").map_err(|error| error.to_string())?;
        Ok(axes[0].values.iter().map(|listed| text_of(&listed.value)).collect())
    }

    #[test]
    fn a_parameter_has_a_value_a_list_or_a_range() {
        let are = |text: &str, expected: &[&str]| {
            assert_eq!(
                values(text).as_deref(),
                Ok(&expected.iter().map(|v| (*v).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            )
        };
        are("7", &["7"]);
        are("'through'", &["through"]);
        are("[8, '16k', 0x20, 1_000]", &["8", "16384", "32", "1000"]);
        are("{ from = 1, to = 10, step = 4 }", &["1", "5", "9"]);
        are("{ from = 2, to = 32, factor = 4 }", &["2", "8", "32"]);
        are("{ from = '1k', to = '4k', factor = 2 }", &["1024", "2048", "4096"]);
        are("{ from = 0.1, to = 0.3, step = 0.1 }", &["0.1", "0.2", "0.3"]);
        are("{ from = 5, to = 5, step = 1 }", &["5"]);
        are(
            "{ from = 1, to = 9223372036854775807, factor = 9223372036854775807 }",
            &["1", "9223372036854775807"],
        );
    }

    #[test]
    fn a_range_that_has_no_end_or_no_values_is_refused_with_its_place() {
        let error = |text: &str, expected: &str| {
            let found = values(text).unwrap_err();
            assert!(found.starts_with("s.toml:1:") && found.contains(expected), "{text}: {found}");
        };
        error("[]", "s.toml:1:5: found an empty list");
        error("[1, 1]", "s.toml:1:9: the value `1` is listed twice");
        error("[[1]]", "found a list, expected a number");
        error("{ from = 1, to = 4 }", "either `step` or `factor`");
        error("{ from = 1, to = 4, step = 1, factor = 2 }", "either `step` or `factor`");
        error("{ from = 1, step = 4 }", "missing key `to`");
        error("{ from = 1, to = 4, stop = 1 }", "unknown key `stop`, did you mean `step`?");
        error("{ from = 1, to = 4, step = 0 }", "s.toml:1:32: found `0`, expected a step above zero");
        error("{ from = 1, to = 4, factor = 1 }", "a factor above one");
        error("{ from = 0, to = 4, factor = 2 }", "because the range has a factor");
        error("{ from = 4, to = 1, step = 1 }", "expected a number that is at least `from`, 4");
        error("{ from = 1.5, to = inf, step = 1 }", "s.toml:1:24: found `inf`, expected a finite number");
        error("{ from = 1.5, to = nan, step = 1 }", "found `nan`, expected a finite number");
        error("{ from = 1.5, to = 1.25, step = 1 }", "expected a number that is at least `from`, 1.5");
        error("{ from = 1, to = 4.0, step = nan }", "a step above zero");
        error("{ from = 'a', to = 4, step = 1 }", "found `'a'`, expected a number");
        error("{ from = 1, to = 1000000, step = 1 }", "more than 10000 values");
        error("{ from = 0.0, to = 1e9, step = 1.0 }", "more than 10000 values");
        error("99999999999999999999", "within the range of 64 bits");
        error("1979-05-27", "expected a number, a name or a table");
    }

    #[test]
    fn combinations_vary_the_last_parameter_fastest() {
        assert_eq!(combinations(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(combinations(&[]), [[0; 0]]);
    }
}
