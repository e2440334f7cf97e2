//! The command `fencepost workload`, which prints those statistics of a program that are the same
//! under every protocol.

use std::io::Write;

use lab::experiment::{Experiment, Question};
use lab::info::{Info, NoInfo, Statistics, info};
use lab::systems::Systems;

use crate::Failure;
use crate::args::{WorkloadCommand, WorkloadInfoArguments};
use crate::output::write_json;
use crate::progress::Progress;
use crate::table::{Side, Table};
use crate::words::{bytes, grouped};

/// A protocol under which every workload is a valid experiment. The statistics do not depend on the
/// protocol.
const ANY_PROTOCOL: &str = "vi";

pub(crate) fn workload(command: &WorkloadCommand, out: &mut dyn Write) -> Result<(), Failure> {
    match command {
        WorkloadCommand::Info(arguments) => show_info(arguments, out),
    }
}

fn show_info(arguments: &WorkloadInfoArguments, out: &mut dyn Write) -> Result<(), Failure> {
    let question = Question {
        system: arguments.system.clone(),
        machine: arguments.machine.changes.clone(),
        scenario: ANY_PROTOCOL.to_owned(),
        workload: arguments.name.clone(),
        input: arguments.input.clone(),
        scale: arguments.scale.clone(),
        size: arguments.size.clone(),
        settings: arguments.parameters.clone(),
        ..Question::default()
    };
    let progress = Progress::of_one(&format!("running {}", arguments.name));
    let found = Experiment::new(&Systems::default(), &question)
        .map_err(NoInfo::from)
        .and_then(|experiment| info(&experiment));
    drop(progress);
    let found = found.map_err(|error| match error {
        NoInfo::Wrong(error) => Failure::from(error),
        NoInfo::Failed(why) => Failure::CheckFailed(why),
    })?;
    if arguments.json {
        return write_json(out, &found);
    }
    show(&found, out)
}

fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

fn show(found: &Info, out: &mut dyn Write) -> Result<(), Failure> {
    let settings: Vec<String> =
        found.settings.iter().map(|(name, value)| format!("{name}={value}")).collect();
    writeln!(out, "{} on the compute units of {}", found.workload, found.machine.after(&found.system))?;
    if !settings.is_empty() {
        writeln!(out, "{}", settings.join(" "))?;
    }
    writeln!(out)?;
    rows(&found.statistics).write(out)?;
    let kinds = &found.statistics.atomics_by_kind;
    if kinds.is_empty() {
        return Ok(());
    }
    let columns =
        [("atomics", Side::Left), ("order", Side::Left), ("scope", Side::Left), ("accesses", Side::Right)];
    let mut table = Table::new(&columns);
    for kind in kinds {
        let names = [kind.operation, kind.order, kind.scope].map(str::to_owned);
        table.row(names.into_iter().chain([grouped(kind.accesses)]));
    }
    writeln!(out)?;
    Ok(table.write(out)?)
}

fn rows(found: &Statistics) -> Table {
    let mut table = Table::new(&[("statistic", Side::Left), ("", Side::Right)]);
    let mut row = |name: &str, value: String| table.row([name.to_owned(), value]);
    row("kernels launched", grouped(found.kernels));
    row("work-groups", grouped(found.work_groups));
    row("wavefronts", grouped(found.wavefronts));
    row("loads", grouped(found.loads));
    row("stores", grouped(found.stores));
    row("loads per store", found.loads_per_store.map_or("-".to_owned(), |ratio| format!("{ratio:.2}")));
    row("atomics", grouped(found.atomics));
    row("atomics, share of lane accesses", percent(found.atomic_share));
    row(
        "read-modify-writes of device scope or wider, share of lane accesses",
        percent(found.device_atomic_share),
    );
    row("fences", grouped(found.fences));
    row("arrivals at barriers", grouped(found.barriers));
    row("accesses to local memory", grouped(found.lds_accesses));
    row("bytes accessed", bytes(found.global_bytes));
    row("lane operations", grouped(found.lane_operations));
    row("lane operations per byte", format!("{:.2}", found.operations_per_byte));
    row("line reads", grouped(found.line_reads));
    row("reuse within a kernel", percent(found.reuse_within));
    row("reuse across kernels", percent(found.reuse_across));
    row("reuse of lines that the compute unit itself wrote", percent(found.read_after_write));
    row("lines", grouped(found.lines));
    row("lines that a compute unit accesses, mean", format!("{:.1}", found.lines_per_cu_mean));
    row("lines that a compute unit accesses, maximum", grouped(found.lines_per_cu_max));
    row("lines shared by reads only", grouped(found.read_shared_lines));
    row("lines with true sharing (of a word)", grouped(found.true_shared_lines));
    row("lines with false sharing", grouped(found.false_shared_lines));
    row("imbalance", format!("{:.2}", found.imbalance));
    table
}
