//! Reads TOML tables. Every key and every value keeps its place in the file, so that errors can
//! name the place.

use core::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, printable};
use crate::source::Source;
use crate::systems::text_of;
use workloads::nearest::nearest;

/// The place of a key or a value: a range of bytes of the file.
pub(super) type Span = Range<usize>;

/// An entry of a table: a key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    pub(super) key: Spanned<String>,
    pub(super) value: &'a Spanned<DeValue<'a>>,
}

impl Entry<'_> {
    /// The place of the value in the file.
    pub(super) fn span(&self) -> Span {
        self.value.span()
    }
}

/// The entries of a table that are not read yet. A reader takes the entries that it knows. An entry
/// that is left at the end is an error.
#[derive(Debug)]
pub(super) struct Keys<'a> {
    pub(super) source: &'a Source,
    entries: Vec<Entry<'a>>,
    /// The keys that the reader knows, in the order in which it takes them.
    expected: Vec<&'static str>,
    span: Span,
}

impl<'a> Keys<'a> {
    /// Starts to read a table: no entry is taken yet. `span` is the place of the table in the file.
    pub(super) fn of(source: &'a Source, table: &'a DeTable<'a>, span: Span) -> Keys<'a> {
        Keys { source, entries: entries(table), expected: Vec::new(), span }
    }

    /// Takes the entry with this key. `None` if the table has no such entry.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Entry<'a>> {
        self.expected.push(key);
        let at = self.entries.iter().position(|entry| entry.key.get_ref() == key)?;
        Some(self.entries.remove(at))
    }

    /// Takes the entry with this key. Returns an error if the table has no such entry.
    pub(super) fn need(&mut self, key: &'static str) -> Result<Entry<'a>, Error> {
        if let Some(entry) = self.take(key) {
            return Ok(entry);
        }
        // Whether an entry has a misspelled form of the key. Keys of one letter are left out,
        // because all of them are similar to each other.
        let is_near = |entry: &&Entry<'_>| key.len() > 1 && nearest(entry.key.get_ref(), &[key]).is_some();
        Err(match self.entries.iter().find(is_near) {
            Some(entry) => {
                let wrong = printable(entry.key.get_ref());
                self.source.error(entry.key.span(), format!("unknown key `{wrong}`, did you mean `{key}`?"))
            }
            None => self.source.error(self.span.clone(), format!("missing key `{key}`")),
        })
    }

    /// Ends the reading of the table. Returns an error if an entry is left, because the reader does
    /// not know its key.
    pub(super) fn end(self) -> Result<(), Error> {
        let Some(entry) = self.entries.first() else { return Ok(()) };
        let wrong = printable(entry.key.get_ref());
        let message = match nearest(entry.key.get_ref(), &self.expected) {
            Some(near) => format!("unknown key `{wrong}`, did you mean `{near}`?"),
            None => format!("unknown key `{wrong}`, expected one of {}", self.expected.join(", ")),
        };
        Err(self.source.error(entry.key.span(), message))
    }
}

/// The entries of a table, in the order of the file.
pub(super) fn entries<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let entry = |(key, value): (&Spanned<_>, &'a Spanned<DeValue<'a>>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        Entry { key: Spanned::new(key.span(), name.clone().into_owned()), value }
    };
    let mut entries: Vec<Entry<'a>> = table.iter().map(entry).collect();
    entries.sort_by_key(|entry| entry.key.span().start);
    entries
}

/// Completes an error message about a value of a range. If the message says that the value should
/// be a whole number, adds which key of the range (such as `step`) makes the values real numbers.
pub(super) fn with_real_part(source: &Source, span: &Span, message: String) -> String {
    let part = || {
        if !message.contains("whole number") {
            return None;
        }
        let text = source.text.get(span.clone()).filter(|text| text.starts_with('{'))?;
        let table: toml::Table = toml::from_str(&format!("range = {text}")).ok()?;
        let range = table.get("range")?.as_table()?;
        let part = |key: &&str| range.get(*key).is_some_and(toml::Value::is_float);
        let key = ["factor", "step", "from", "to"].into_iter().find(part)?;
        let value = text_of(range.get(key)?);
        Some(format!("; `{key} = {value}` makes the values of the range real numbers"))
    };
    let part = part().unwrap_or_default();
    message + &part
}

/// The error for a value that is not what was expected.
pub(super) fn wrong(source: &Source, value: &Spanned<DeValue<'_>>, expected: &str) -> Error {
    source.error(value.span(), format!("found {}, expected {expected}", found(source, value)))
}

fn found(source: &Source, value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::Table(_) => "a table".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        _ => format!("`{}`", printable(source.text.get(value.span()).unwrap_or_default().trim())),
    }
}

/// Reads a value that must be a text, and returns the text.
pub(super) fn text(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Spanned<String>, Error> {
    match value.get_ref() {
        DeValue::String(text) => Ok(Spanned::new(value.span(), text.clone().into_owned())),
        _ => Err(wrong(source, value, "a text in quotes")),
    }
}

/// Reads a text, or a list with at least one text. Returns the texts.
pub(super) fn texts(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<Vec<Spanned<String>>, Error> {
    let all = match value.get_ref() {
        DeValue::Array(all) if all.is_empty() => return Err(empty(source, value.span())),
        DeValue::Array(all) => all.iter().map(|one| text(source, one)).collect::<Result<Vec<_>, _>>()?,
        _ => vec![text(source, value).map_err(|_| wrong(source, value, "a list of texts in quotes"))?],
    };
    for (at, name) in all.iter().enumerate() {
        if all[..at].iter().any(|other| other.get_ref() == name.get_ref()) {
            let name = Spanned::new(name.span(), printable(name.get_ref()));
            return Err(source.error(name.span(), format!("`{}` is named twice", name.get_ref())));
        }
    }
    Ok(all)
}

pub(super) fn empty(source: &Source, span: Span) -> Error {
    source.error(span, "found an empty list, expected at least one value")
}

/// Reads a value that must be a table, and returns the table.
pub(super) fn table<'a>(source: &Source, value: &'a Spanned<DeValue<'a>>) -> Result<&'a DeTable<'a>, Error> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        _ => Err(wrong(source, value, "a table")),
    }
}

/// Reads a list of tables such as `[[chart]]`. Returns the tables, each with its place in the file.
pub(super) fn tables<'a>(
    source: &Source,
    value: &'a Spanned<DeValue<'a>>,
    header: &str,
) -> Result<Vec<(&'a DeTable<'a>, Span)>, Error> {
    let refuse = |value| wrong(source, value, &format!("tables that begin with `[[{header}]]`"));
    let DeValue::Array(all) = value.get_ref() else { return Err(refuse(value)) };
    all.iter()
        .map(|one| match one.get_ref() {
            DeValue::Table(table) => Ok((table, one.span())),
            _ => Err(refuse(one)),
        })
        .collect()
}

/// Converts a value with places in the file to a TOML value without places.
pub(super) fn plain(source: &Source, value: &Spanned<DeValue<'_>>) -> Result<toml::Value, Error> {
    let out_of_range = || wrong(source, value, "a number within the range of 64 bits");
    Ok(match value.get_ref() {
        DeValue::String(text) => toml::Value::String(text.clone().into_owned()),
        DeValue::Integer(number) => {
            let digits = number.as_str().replace('_', "");
            let number = i64::from_str_radix(&digits, number.radix()).map_err(|_| out_of_range())?;
            toml::Value::Integer(number)
        }
        DeValue::Float(number) => {
            toml::Value::Float(number.as_str().replace('_', "").parse().map_err(|_| out_of_range())?)
        }
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(_) => return Err(wrong(source, value, "a number, a name or a table")),
        DeValue::Array(all) => {
            toml::Value::Array(all.iter().map(|one| plain(source, one)).collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => {
            let one = |entry: Entry<'_>| Ok((entry.key.into_inner(), plain(source, entry.value)?));
            toml::Value::Table(entries(table).into_iter().map(one).collect::<Result<_, Error>>()?)
        }
    })
}
