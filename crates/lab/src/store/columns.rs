//! Converts the result of a task to a Parquet file with one row, and reads such files.
//!
//! Each counter, each energy and each setting is a column of its own. So any reader of Parquet can
//! combine the files of a folder by the names of their columns.

use std::collections::BTreeMap;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;

use crate::results::{KernelSpan, Measured};
use crate::table::{Column, Values, write_parquet};
use crate::task::Task;

const COUNTER: &str = "counters.";
const ENERGY: &str = "energy_pj.";

fn cells(task: &Task, measured: &Measured) -> Result<Vec<Column>, serde_json::Error> {
    let (experiment, input) = (&task.experiment, task.input.as_ref());
    let text = |name: &str, value: String| Column::text(name, vec![value]);
    let mut cells = vec![
        text("task", task.text.clone()),
        text("system", experiment.system.name.clone()),
        text("protocol", experiment.scenario.protocol.to_owned()),
        text("policy", experiment.policy()),
        text("workload", experiment.workload.name.to_owned()),
        text("graph", input.map(|input| input.name.clone()).unwrap_or_default()),
        text("scale", input.and_then(|input| input.scale).map_or("1".to_owned(), |scale| scale.to_string())),
        Column::count("seed", vec![experiment.seed]),
        Column::count("cycles", vec![measured.cycles]),
        Column { name: "answer_ok".to_owned(), values: Values::Flag(vec![measured.answer_ok]) },
        text("error", measured.error.clone().unwrap_or_default()),
        text("kernels", serde_json::to_string(&measured.kernels)?),
    ];
    let changes = experiment.machine.0.iter();
    cells.extend(changes.map(|change| text(&format!("machine.{}", change.key), change.value_text())));
    cells.extend(task.settings().map(|(name, value)| text(&format!("settings.{name}"), value)));
    cells.extend(
        measured.counters.iter().map(|(name, n)| Column::count(format!("{COUNTER}{name}"), vec![*n])),
    );
    let energy = |(part, pj): (&String, &f64)| Column {
        name: format!("{ENERGY}{part}"),
        values: Values::Real(vec![*pj]),
    };
    cells.extend(measured.energy_pj.iter().map(energy));
    Ok(cells)
}

/// The bytes of the Parquet file for a result. Equal results give equal bytes.
pub(super) fn write(task: &Task, measured: &Measured) -> Result<Vec<u8>, String> {
    let cells = cells(task, measured).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    write_parquet(&cells, &mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Reads a result from the bytes of a Parquet file.
///
/// # Errors
/// If the bytes are not a file with a result, or if the result belongs to another task than `task`.
/// The error is a sentence.
pub(super) fn read(bytes: Vec<u8>, task: &str) -> Result<Measured, String> {
    let readable = |error: ParquetError| error.to_string();
    let reader = SerializedFileReader::new(bytes::Bytes::from(bytes)).map_err(readable)?;
    let mut rows = reader.get_row_iter(None).map_err(readable)?;
    let row = rows.next().ok_or("the file has no row")?.map_err(readable)?;
    let cells: BTreeMap<&str, &Field> =
        row.get_column_iter().map(|(name, field)| (name.as_str(), field)).collect();
    let text = |name: &str| match cells.get(name) {
        Some(Field::Str(text)) => Ok(text.as_str()),
        _ => Err(format!("the file has no text in the column `{name}`")),
    };
    if text("task")? != task {
        return Err("the file belongs to another task".to_owned());
    }
    let mut measured = Measured {
        answer_ok: cells.get("answer_ok") == Some(&&Field::Bool(true)),
        error: Some(text("error")?.to_owned()).filter(|error| !error.is_empty()),
        kernels: serde_json::from_str::<Vec<KernelSpan>>(text("kernels")?).map_err(|e| e.to_string())?,
        ..Measured::default()
    };
    match cells.get("cycles") {
        Some(Field::ULong(cycles)) => measured.cycles = *cycles,
        _ => return Err("the file has no number in the column `cycles`".to_owned()),
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
