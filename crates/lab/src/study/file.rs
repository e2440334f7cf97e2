//! The contents of a study's file. The names in the file are not yet looked up.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::axis::{Axis, axis, is_range, paths};
use super::read::{Entry, Keys, Span, empty, entries, plain, table, tables, text, texts, wrong};
use crate::error::{Error, printable};
use crate::source::Source;

/// The maximum number of seeds of a study.
const SEEDS_MAX: i64 = 1000;

/// The maximum number of definitions in a study's file. It is also the maximum number of charts.
const EXPRESSIONS_MAX: usize = 1000;

#[derive(Debug)]
pub(super) struct File {
    pub(super) title: String,
    pub(super) systems: Vec<Spanned<String>>,
    pub(super) scenarios: Vec<Spanned<String>>,
    pub(super) workloads: Vec<Spanned<String>>,
    pub(super) inputs: Vec<InputsFile>,
    pub(super) scale: Option<Spanned<String>>,
    pub(super) size: Option<Spanned<String>>,
    pub(super) seeds: Vec<u64>,
    pub(super) machine: Vec<Axis>,
    pub(super) settings: Vec<SettingFile>,
    pub(super) variants: Vec<VariantFile>,
    pub(super) definitions: Vec<Definition>,
    pub(super) charts: Vec<ChartFile>,
}

/// A defined name, and the text of its expression.
pub(super) type Definition = (Spanned<String>, Spanned<String>);

/// A list of inputs in a study's file. It applies to the workload `workload`, or to all workloads
/// if this field is `None`.
#[derive(Debug)]
pub(super) struct InputsFile {
    pub(super) workload: Option<Spanned<String>>,
    pub(super) names: Vec<Spanned<String>>,
}

/// The values that a study's file gives a setting. They apply to the workload `workload`. If this
/// field is `None`, they apply to all workloads that have the setting.
#[derive(Debug)]
pub(super) struct SettingFile {
    pub(super) workload: Option<Spanned<String>>,
    pub(super) axis: Axis,
}

/// A variant in a study's file: a name for a group of changes of the machine and settings of
/// workloads.
#[derive(Debug)]
pub(super) struct VariantFile {
    pub(super) name: Spanned<String>,
    pub(super) machine: Vec<Axis>,
    pub(super) settings: Vec<SettingFile>,
}

#[derive(Debug)]
pub(super) struct ChartFile {
    pub(super) title: Option<String>,
    pub(super) x: Spanned<String>,
    pub(super) y: Spanned<String>,
    pub(super) unit: Option<String>,
    pub(super) series: Option<Vec<Spanned<String>>>,
    pub(super) shape: Option<Spanned<String>>,
    pub(super) scale: Option<Spanned<String>>,
    pub(super) filter: Vec<Axis>,
    /// The place of the chart's description in the study's file.
    pub(super) span: Span,
}

impl File {
    /// Parses the file of a study.
    pub(super) fn parse(source: &Source) -> Result<File, Error> {
        let document = DeTable::parse(&source.text).map_err(|error| source.unreadable(&error))?;
        let mut keys = Keys::of(source, document.get_ref(), 0..0);
        let names = |entry: Entry<'_>| texts(source, entry.value);
        let file = File {
            title: match keys.take("title") {
                Some(title) => printable(text(source, title.value)?.get_ref()),
                None => title_of(source),
            },
            systems: names(keys.need("systems")?)?,
            scenarios: names(keys.need("scenarios")?)?,
            workloads: names(keys.need("workloads")?)?,
            inputs: keys.take("inputs").map_or(Ok(Vec::new()), |entry| inputs(source, &entry))?,
            scale: keys.take("scale").map(|entry| text(source, entry.value)).transpose()?,
            size: keys.take("size").map(|entry| text(source, entry.value)).transpose()?,
            seeds: keys.take("seeds").map_or(Ok(vec![0]), |entry| seeds(source, &entry))?,
            machine: keys.take("machine").map_or(Ok(Vec::new()), |entry| machine(source, &entry))?,
            settings: keys.take("set").map_or(Ok(Vec::new()), |entry| settings(source, &entry))?,
            variants: keys.take("variant").map_or(Ok(Vec::new()), |entry| variants(source, &entry))?,
            definitions: keys.take("define").map_or(Ok(Vec::new()), |entry| definitions(source, &entry))?,
            charts: keys.take("chart").map_or(Ok(Vec::new()), |entry| charts(source, &entry))?,
        };
        keys.end()?;
        Ok(file)
    }
}

/// The title of a study whose file gives no title: the name of the file, without its extension.
fn title_of(source: &Source) -> String {
    source.path.file_stem().map(|stem| printable(&stem.to_string_lossy())).unwrap_or_default()
}

fn inputs(source: &Source, entry: &Entry<'_>) -> Result<Vec<InputsFile>, Error> {
    let DeValue::Table(by_workload) = entry.value.get_ref() else {
        let names = texts(source, entry.value).map_err(|error| {
            either(source, entry, "a list of texts, or a table with a list for each workload", error)
        })?;
        return Ok(vec![InputsFile { workload: None, names }]);
    };
    let of =
        |entry: Entry<'_>| Ok(InputsFile { names: texts(source, entry.value)?, workload: Some(entry.key) });
    entries(by_workload).into_iter().map(of).collect()
}

/// The error for a value that should be a list or a table. If the value is a list, the result is
/// `error`, which describes the fault in the list. Otherwise the result is an error that says what
/// was expected.
fn either(source: &Source, entry: &Entry<'_>, expected: &str, error: Error) -> Error {
    if entry.value.get_ref().is_array() { error } else { wrong(source, entry.value, expected) }
}

fn seeds(source: &Source, entry: &Entry<'_>) -> Result<Vec<u64>, Error> {
    let whole = |value: &Spanned<DeValue<'_>>, first: i64, last: i64| match plain(source, value) {
        Ok(toml::Value::Integer(number)) if (first..=last).contains(&number) => Ok(number.unsigned_abs()),
        _ => Err(wrong(source, value, &format!("a whole number from {first} to {last}"))),
    };
    let DeValue::Array(listed) = entry.value.get_ref() else {
        return Ok((1..=whole(entry.value, 1, SEEDS_MAX)?).collect());
    };
    if listed.is_empty() {
        return Err(empty(source, entry.span()));
    }
    if listed.len() as i64 > SEEDS_MAX {
        return Err(
            source.error(entry.span(), format!("{} seeds, expected at most {SEEDS_MAX}", listed.len()))
        );
    }
    let mut seeds = Vec::new();
    for one in listed {
        let seed = whole(one, 0, i64::MAX)?;
        if seeds.contains(&seed) {
            return Err(source.error(one.span(), format!("seed {seed} is listed twice")));
        }
        seeds.push(seed);
    }
    Ok(seeds)
}

/// Reads an entry of a study's file. The entry gives values to machine parameters, each named by
/// its path. The entries `[machine]` and `where` have this form.
fn machine(source: &Source, entry: &Entry<'_>) -> Result<Vec<Axis>, Error> {
    paths(source, table(source, entry.value)?, "")
}

fn settings(source: &Source, entry: &Entry<'_>) -> Result<Vec<SettingFile>, Error> {
    let mut all = Vec::new();
    for entry in entries(table(source, entry.value)?) {
        match entry.value.get_ref() {
            DeValue::Table(of_one) if !is_range(of_one) => {
                for inner in entries(of_one) {
                    let axis = setting(source, &inner)?;
                    all.push(SettingFile { workload: Some(entry.key.clone()), axis });
                }
            }
            _ => all.push(SettingFile { workload: None, axis: setting(source, &entry)? }),
        }
    }
    Ok(all)
}

/// Reads the values of a setting. Each value must be a number or a name.
fn setting(source: &Source, entry: &Entry<'_>) -> Result<Axis, Error> {
    let axis = axis(source, entry, entry.key.get_ref().clone())?;
    match axis.values.iter().find(|listed| listed.value.is_table()) {
        Some(listed) => {
            Err(source.error(listed.span.clone(), "found a table, expected a number, a name or a range"))
        }
        None => Ok(axis),
    }
}

/// Checks that each parameter of a variant has only one value.
fn single<'a>(source: &Source, mut axes: impl Iterator<Item = &'a Axis>) -> Result<(), Error> {
    let Some(axis) = axes.find(|axis| axis.values.len() != 1) else { return Ok(()) };
    let message = format!("`{}` has several values, expected one in a variant", printable(&axis.name));
    Err(source.error(axis.span.clone(), message))
}

fn variants(source: &Source, entry: &Entry<'_>) -> Result<Vec<VariantFile>, Error> {
    let mut all: Vec<VariantFile> = Vec::new();
    for (table, span) in tables(source, entry.value, "variant")? {
        let mut keys = Keys::of(source, table, span);
        let variant = VariantFile {
            name: text(source, keys.need("name")?.value)?,
            machine: keys.take("machine").map_or(Ok(Vec::new()), |entry| machine(source, &entry))?,
            settings: keys.take("set").map_or(Ok(Vec::new()), |entry| settings(source, &entry))?,
        };
        keys.end()?;
        single(source, variant.machine.iter().chain(variant.settings.iter().map(|setting| &setting.axis)))?;
        let name = &variant.name;
        if name.get_ref().trim().is_empty() {
            return Err(source.error(name.span(), "found an empty name, expected a name of the variant"));
        }
        if all.iter().any(|other| other.name.get_ref() == name.get_ref()) {
            let message = format!("variant `{}` is named twice", printable(name.get_ref()));
            return Err(source.error(name.span(), message));
        }
        all.push(variant);
    }
    Ok(all)
}

fn definitions(source: &Source, entry: &Entry<'_>) -> Result<Vec<Definition>, Error> {
    let one = |entry: Entry<'_>| Ok((entry.key.clone(), text(source, entry.value)?));
    let all = entries(table(source, entry.value)?);
    at_most(source, entry, all.len(), "definitions")?;
    all.into_iter().map(one).collect()
}

/// Checks that `count`, the number of entries of one kind, is at most [`EXPRESSIONS_MAX`]. In the
/// error, `what` names the kind.
fn at_most(source: &Source, entry: &Entry<'_>, count: usize, what: &str) -> Result<(), Error> {
    if count <= EXPRESSIONS_MAX {
        return Ok(());
    }
    Err(source.error(entry.key.span(), format!("found {count} {what}, expected at most {EXPRESSIONS_MAX}")))
}

fn charts(source: &Source, entry: &Entry<'_>) -> Result<Vec<ChartFile>, Error> {
    let chart = |(inner, span): (&DeTable<'_>, Span)| {
        let mut keys = Keys::of(source, inner, span.clone());
        let optional = |entry: Option<Entry<'_>>| entry.map(|entry| text(source, entry.value)).transpose();
        let printed = |text: Option<Spanned<String>>| text.map(|text| printable(text.get_ref()));
        let chart = ChartFile {
            title: printed(optional(keys.take("title"))?),
            x: text(source, keys.need("x")?.value)?,
            y: text(source, keys.need("y")?.value)?,
            unit: printed(optional(keys.take("unit"))?),
            series: keys.take("series").map(|entry| texts(source, entry.value)).transpose()?,
            shape: optional(keys.take("shape"))?,
            scale: optional(keys.take("x_scale"))?,
            filter: match keys.take("where") {
                Some(entry) => machine(source, &entry)?,
                None => Vec::new(),
            },
            span,
        };
        keys.end()?;
        Ok(chart)
    };
    let all = tables(source, entry.value, "chart")?;
    at_most(source, entry, all.len(), "charts")?;
    all.into_iter().map(chart).collect()
}
