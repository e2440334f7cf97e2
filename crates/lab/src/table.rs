//! Writes tables to files, as CSV or Parquet.

use std::ffi::OsStr;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::error::{Error, printable};

/// The format of a table file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Text with one line for each row. The first line has the names of the
    /// columns.
    Csv,
    /// A Parquet file, in which columns have types. Programs read it.
    Parquet,
}

impl Format {
    /// The format of a file, found from the extension of the file's name.
    ///
    /// # Errors
    /// If no format has this extension.
    pub fn of(path: &Path) -> Result<Format, Error> {
        let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        match ending.to_ascii_lowercase().as_str() {
            "csv" => Ok(Format::Csv),
            "parquet" => Ok(Format::Parquet),
            _ => Err(Error::Impossible(format!(
                "cannot tell how to write `{}`: expected a name that ends in .csv or .parquet",
                printable(&path.to_string_lossy())
            ))),
        }
    }
}

/// A column with its values, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The values of the column, one for each row.
    pub values: Values,
}

/// The values of a column. All of them have the same type.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Texts.
    Text(Vec<String>),
    /// Whole numbers, zero or greater.
    Count(Vec<u64>),
    /// The values true and false.
    Flag(Vec<bool>),
    /// Real numbers.
    Real(Vec<f64>),
    /// Texts, some of which may be missing.
    SparseText(Vec<Option<String>>),
    /// Whole numbers, zero or greater, some of which may be missing.
    SparseCount(Vec<Option<u64>>),
    /// Real numbers, some of which may be missing.
    SparseReal(Vec<Option<f64>>),
}

impl Column {
    /// A column of texts.
    pub fn text(name: impl Into<String>, values: Vec<String>) -> Column {
        Column { name: name.into(), values: Values::Text(values) }
    }

    /// A column of counts.
    pub fn count(name: impl Into<String>, values: Vec<u64>) -> Column {
        Column { name: name.into(), values: Values::Count(values) }
    }

    fn len(&self) -> usize {
        match &self.values {
            Values::Text(values) => values.len(),
            Values::Count(values) => values.len(),
            Values::Flag(values) => values.len(),
            Values::Real(values) => values.len(),
            Values::SparseText(values) => values.len(),
            Values::SparseCount(values) => values.len(),
            Values::SparseReal(values) => values.len(),
        }
    }

    fn cell(&self, row: usize) -> String {
        match &self.values {
            Values::Text(values) => quoted(&values[row]),
            Values::Count(values) => values[row].to_string(),
            Values::Flag(values) => values[row].to_string(),
            Values::Real(values) => values[row].to_string(),
            Values::SparseText(values) => values[row].as_deref().map(quoted).unwrap_or_default(),
            Values::SparseCount(values) => values[row].map(|value| value.to_string()).unwrap_or_default(),
            Values::SparseReal(values) => values[row].map(|value| value.to_string()).unwrap_or_default(),
        }
    }
}

/// The text as a field of a CSV file. It has quotes if CSV requires them for this text.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

/// Writes a table. All columns must have the same length.
///
/// # Errors
/// If the writer fails. The error is a description in words.
pub fn write<W: Write + Send>(format: Format, columns: &[Column], out: W) -> Result<(), String> {
    match format {
        Format::Csv => write_csv(columns, out).map_err(|error| error.to_string()),
        Format::Parquet => write_parquet(columns, out).map_err(|error| match error {
            // For example, the disk is full. The text has the words of the operating system.
            ParquetError::External(error) => error.to_string(),
            error => error.to_string(),
        }),
    }
}

fn write_csv<W: Write>(columns: &[Column], mut out: W) -> std::io::Result<()> {
    let names: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for row in 0..columns.first().map_or(0, Column::len) {
        let cells: Vec<String> = columns.iter().map(|column| column.cell(row)).collect();
        writeln!(out, "{}", cells.join(","))?;
    }
    out.flush()
}

/// The maximum number of rows in one row group of a Parquet file.
const GROUP_ROWS: usize = 1 << 18;

/// Writes a Parquet file. Equal tables give equal bytes.
pub(crate) fn write_parquet<W: Write + Send>(columns: &[Column], out: W) -> Result<(), ParquetError> {
    let fields = columns.iter().map(|column| field(column).map(Arc::new));
    let schema = Type::group_type_builder("run").with_fields(fields.collect::<Result<_, _>>()?).build()?;
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut writer = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties))?;
    let rows = columns.first().map_or(0, Column::len);
    for from in (0..rows.max(1)).step_by(GROUP_ROWS) {
        let mut group = writer.next_row_group()?;
        for column in columns {
            write_column(&mut group, column, from, rows.min(from + GROUP_ROWS))?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn field(column: &Column) -> Result<Type, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Text(_) | Values::SparseText(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Count(_) | Values::SparseCount(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Values::Flag(_) => (Physical::BOOLEAN, None),
        Values::Real(_) | Values::SparseReal(_) => (Physical::DOUBLE, None),
    };
    let repetition = match column.values {
        Values::SparseText(_) | Values::SparseCount(_) | Values::SparseReal(_) => Repetition::OPTIONAL,
        _ => Repetition::REQUIRED,
    };
    let builder = Type::primitive_type_builder(&column.name, physical);
    builder.with_repetition(repetition).with_logical_type(logical).build()
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    from: usize,
    until: usize,
) -> Result<(), ParquetError> {
    let Some(mut writer) = group.next_column()? else { return Ok(()) };
    match &column.values {
        Values::Text(values) => {
            let texts: Vec<ByteArray> =
                values[from..until].iter().map(|text| ByteArray::from(text.as_str())).collect();
            writer.typed::<ByteArrayType>().write_batch(&texts, None, None)?
        }
        // The column is declared as unsigned, but the writer accepts only signed numbers, so it
        // receives the same 64 bits as signed numbers.
        Values::Count(values) => {
            let bits: Vec<i64> = values[from..until].iter().map(|count| count.cast_signed()).collect();
            writer.typed::<Int64Type>().write_batch(&bits, None, None)?
        }
        Values::Flag(values) => writer.typed::<BoolType>().write_batch(&values[from..until], None, None)?,
        Values::Real(values) => writer.typed::<DoubleType>().write_batch(&values[from..until], None, None)?,
        Values::SparseText(values) => {
            let (levels, texts) = sparse(&values[from..until], |text| ByteArray::from(text.as_str()));
            writer.typed::<ByteArrayType>().write_batch(&texts, Some(&levels), None)?
        }
        Values::SparseCount(values) => {
            let (levels, bits) = sparse(&values[from..until], |count| count.cast_signed());
            writer.typed::<Int64Type>().write_batch(&bits, Some(&levels), None)?
        }
        Values::SparseReal(values) => {
            let (levels, reals) = sparse(&values[from..until], |real| *real);
            writer.typed::<DoubleType>().write_batch(&reals, Some(&levels), None)?
        }
    };
    writer.close()
}

/// The definition levels of a column with missing values, and the values that are present. A
/// definition level is Parquet's mark of a row: 1 if the value is present, 0 if it is missing.
fn sparse<T, U>(values: &[Option<T>], convert: impl Fn(&T) -> U) -> (Vec<i16>, Vec<U>) {
    let levels = values.iter().map(|value| i16::from(value.is_some())).collect();
    (levels, values.iter().flatten().map(convert).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;

    fn columns() -> Vec<Column> {
        vec![
            Column::text("name", vec!["a \"b\", c".to_owned(), "plain".to_owned()]),
            Column::count("n", vec![u64::MAX, 2]),
            Column { name: "pj".to_owned(), values: Values::Real(vec![0.5, 3.0]) },
            Column { name: "ok".to_owned(), values: Values::Flag(vec![true, false]) },
        ]
    }

    #[test]
    fn a_csv_file_quotes_special_characters() {
        let mut out = Vec::new();
        write(Format::Csv, &columns(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert_eq!(text, "name,n,pj,ok\n\"a \"\"b\"\", c\",18446744073709551615,0.5,true\nplain,2,3,false\n");
    }

    #[test]
    fn a_parquet_file_has_every_row_with_its_types() {
        let mut out = Vec::new();
        write(Format::Parquet, &columns(), &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 2);
        let fields: Vec<&Field> = rows[0].get_column_iter().map(|(_, field)| field).collect();
        let expected = [
            Field::Str("a \"b\", c".to_owned()),
            Field::ULong(u64::MAX),
            Field::Double(0.5),
            Field::Bool(true),
        ];
        assert_eq!(fields, expected.iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_missing_value_is_null_in_parquet_and_empty_in_csv() {
        let columns = [
            Column { name: "t".to_owned(), values: Values::SparseText(vec![None, Some("a,b".to_owned())]) },
            Column { name: "n".to_owned(), values: Values::SparseCount(vec![Some(7), None]) },
            Column { name: "r".to_owned(), values: Values::SparseReal(vec![None, Some(0.5)]) },
        ];
        let mut csv = Vec::new();
        write(Format::Csv, &columns, &mut csv).unwrap();
        assert_eq!(String::from_utf8(csv).unwrap(), "t,n,r\n,7,\n\"a,b\",,0.5\n");
        let mut out = Vec::new();
        write(Format::Parquet, &columns, &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        let rows = reader.get_row_iter(None).unwrap().map(Result::unwrap);
        let fields: Vec<Field> = rows
            .flat_map(|row| row.get_column_iter().map(|(_, field)| field.clone()).collect::<Vec<_>>())
            .collect();
        let text = Field::Str("a,b".to_owned());
        let expected = [Field::Null, Field::ULong(7), Field::Null, text, Field::Null, Field::Double(0.5)];
        assert_eq!(fields, expected);
    }

    #[test]
    fn a_parquet_file_of_several_groups_has_every_row_in_its_place() {
        let rows = GROUP_ROWS as u64 + 3;
        let mut out = Vec::new();
        write(Format::Parquet, &[Column::count("n", (0..rows).collect())], &mut out).unwrap();
        let reader = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
        assert_eq!(reader.metadata().num_row_groups(), 2);
        let found = reader.get_row_iter(None).unwrap();
        let found = found.map(|row| row.unwrap().get_column_iter().next().unwrap().1.clone());
        assert!(found.eq((0..rows).map(Field::ULong)));
    }

    #[test]
    fn a_table_without_rows_can_be_written() {
        let none = [Column::count("n", Vec::new())];
        for format in [Format::Csv, Format::Parquet] {
            let mut out = Vec::new();
            write(format, &none, &mut out).unwrap();
            assert!(!out.is_empty());
        }
    }

    #[test]
    fn the_extension_selects_the_format_and_others_are_refused() {
        assert_eq!(Format::of(Path::new("a/b.CSV")).unwrap(), Format::Csv);
        assert_eq!(Format::of(Path::new("b.parquet")).unwrap(), Format::Parquet);
        for name in ["b", "b.json", "csv", "b.csv.gz"] {
            let error = Format::of(Path::new(name)).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(".parquet"), "{error}");
        }
    }
}
