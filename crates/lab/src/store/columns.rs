//! A result as the one row of a Parquet file.
//!
//! Counters, energies and settings are columns, so that any reader of Parquet
//! puts the files of a folder together by the names of columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use parquet::basic::{LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::paper::Task;
use crate::results::{KernelSpan, Measured};

const COUNTER: &str = "counters.";
const ENERGY: &str = "energy_pj.";

enum Cell {
    Text(String),
    Count(u64),
    Flag(bool),
    Real(f64),
}

fn cells(task: &Task, measured: &Measured) -> Result<Vec<(String, Cell)>, serde_json::Error> {
    let experiment = &task.experiment;
    let mut cells = vec![
        ("task".to_owned(), Cell::Text(task.text.clone())),
        ("system".to_owned(), Cell::Text(experiment.system.name.clone())),
        ("protocol".to_owned(), Cell::Text(experiment.scenario.protocol.to_owned())),
        ("policy".to_owned(), Cell::Text(experiment.policy())),
        ("workload".to_owned(), Cell::Text(experiment.workload.name.to_owned())),
        ("graph".to_owned(), Cell::Text(task.graph.name.clone())),
        ("scale".to_owned(), Cell::Text(task.graph.scale.map_or("1".to_owned(), |scale| scale.to_string()))),
        ("seed".to_owned(), Cell::Count(experiment.seed)),
        ("cycles".to_owned(), Cell::Count(measured.cycles)),
        ("answer_ok".to_owned(), Cell::Flag(measured.answer_ok)),
        ("error".to_owned(), Cell::Text(measured.error.clone().unwrap_or_default())),
        ("kernels".to_owned(), Cell::Text(serde_json::to_string(&measured.kernels)?)),
    ];
    cells.extend(experiment.settings().map(|(name, value)| (format!("settings.{name}"), Cell::Text(value))));
    cells.extend(measured.counters.iter().map(|(name, n)| (format!("{COUNTER}{name}"), Cell::Count(*n))));
    cells.extend(measured.energy_pj.iter().map(|(part, pj)| (format!("{ENERGY}{part}"), Cell::Real(*pj))));
    Ok(cells)
}

fn column(name: &str, cell: &Cell) -> Result<Type, ParquetError> {
    let (physical, logical) = match cell {
        Cell::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Cell::Count(_) => (Physical::INT64, Some(LogicalType::integer(64, false))),
        Cell::Flag(_) => (Physical::BOOLEAN, None),
        Cell::Real(_) => (Physical::DOUBLE, None),
    };
    let builder = Type::primitive_type_builder(name, physical);
    builder.with_repetition(Repetition::REQUIRED).with_logical_type(logical).build()
}

/// The bytes of a file; the same for the same result.
pub(super) fn write(task: &Task, measured: &Measured) -> Result<Vec<u8>, String> {
    let cells = cells(task, measured).map_err(|error| error.to_string())?;
    write_cells(&cells).map_err(|error| error.to_string())
}

fn write_cells(cells: &[(String, Cell)]) -> Result<Vec<u8>, ParquetError> {
    let columns = cells.iter().map(|(name, cell)| column(name, cell).map(Arc::new));
    let schema = Type::group_type_builder("run").with_fields(columns.collect::<Result<_, _>>()?).build()?;
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, Arc::new(schema), Arc::new(properties))?;
    let mut rows = writer.next_row_group()?;
    for (_, cell) in cells {
        let Some(mut column) = rows.next_column()? else { break };
        match cell {
            Cell::Text(text) => {
                let value = ByteArray::from(text.as_str());
                column.typed::<ByteArrayType>().write_batch(&[value], None, None)?
            }
            // The column is declared unsigned: the same 64 bits.
            Cell::Count(count) => {
                column.typed::<Int64Type>().write_batch(&[count.cast_signed()], None, None)?
            }
            Cell::Flag(flag) => column.typed::<BoolType>().write_batch(&[*flag], None, None)?,
            Cell::Real(real) => column.typed::<DoubleType>().write_batch(&[*real], None, None)?,
        };
        column.close()?;
    }
    rows.close()?;
    writer.close()?;
    Ok(bytes)
}

/// The result in a file, if it is that of the task.
pub(super) fn read(bytes: Vec<u8>, task: &str) -> Result<Measured, String> {
    let readable = |error: ParquetError| error.to_string();
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(readable)?;
    let mut rows = reader.get_row_iter(None).map_err(readable)?;
    let row = rows.next().ok_or("it has no row")?.map_err(readable)?;
    let cells: BTreeMap<&str, &Field> =
        row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
    let text = |name: &str| match cells.get(name) {
        Some(Field::Str(text)) => Ok(text.as_str()),
        _ => Err(format!("it has no text `{name}`")),
    };
    if text("task")? != task {
        return Err("it is of another task".to_owned());
    }
    let mut measured = Measured {
        answer_ok: cells.get("answer_ok") == Some(&&Field::Bool(true)),
        error: Some(text("error")?.to_owned()).filter(|error| !error.is_empty()),
        kernels: serde_json::from_str::<Vec<KernelSpan>>(text("kernels")?).map_err(|e| e.to_string())?,
        ..Measured::default()
    };
    match cells.get("cycles") {
        Some(Field::ULong(cycles)) => measured.cycles = *cycles,
        _ => return Err("it has no number `cycles`".to_owned()),
    }
    for (name, field) in cells {
        match (name.strip_prefix(COUNTER), name.strip_prefix(ENERGY), field) {
            (Some(name), _, Field::ULong(count)) => {
                measured.counters.insert(name.to_owned(), *count);
            }
            (_, Some(part), Field::Double(picojoules)) => {
                measured.energy_pj.insert(part.to_owned(), *picojoules);
            }
            _ => {}
        }
    }
    Ok(measured)
}
