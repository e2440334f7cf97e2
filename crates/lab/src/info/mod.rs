//! Statistics that characterise a program, and that do not depend on a protocol.
//!
//! The functional executor runs the program on the compute units of a machine, without time and
//! without caches. An observer counts the operations. So the statistics depend on the program, on
//! the shape of the machine, and on the placement of the program's work-groups on compute units.

mod lines;
mod observer;

use kernel::reference::{Options, RunError, run_observed};
use serde::Serialize;

use crate::error::Error;
use crate::experiment::Experiment;
use crate::run::is_misfit;
use crate::systems::Changes;

pub use observer::Statistics;

/// The statistics of one program, with the names (such as workload, machine and input) that select
/// the program. The field names are keys of the JSON output.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// The name of the workload.
    pub workload: &'static str,
    /// The workload's room: the name of its group of workloads of one kind, such as stencils.
    pub room: &'static str,
    /// The work (such as a paper or a benchmark suite) that describes the algorithm or uses the
    /// program.
    pub source: &'static str,
    /// The name of the machine.
    pub system: String,
    /// The changes of machine parameters that the user requested.
    #[serde(skip_serializing_if = "Changes::is_empty")]
    pub machine: Changes,
    /// The size of the workload. `None` if the user names no size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<&'static str>,
    /// The name of the workload's input. `None` if the user names no input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// The settings of the workload.
    pub settings: std::collections::BTreeMap<&'static str, String>,
    /// The statistics of the program.
    #[serde(flatten)]
    pub statistics: Statistics,
}

/// The reason why a program has no statistics.
#[derive(Debug)]
pub enum NoInfo {
    /// The user's input has an error.
    Wrong(Error),
    /// The program did not end with the right answer.
    Failed(String),
}

impl From<Error> for NoInfo {
    fn from(error: Error) -> NoInfo {
        NoInfo::Wrong(error)
    }
}

/// Runs the program of an experiment without time, and counts its operations.
///
/// # Errors
/// If the settings do not fit the machine, if the program does not end, or if its answer is wrong.
pub fn info(experiment: &Experiment) -> Result<Info, NoInfo> {
    let (program, check) = experiment.instance()?.into_parts();
    let options = Options { shape: sim::kernel_shape(&experiment.system), ..Options::default() };
    let mut observer = observer::Observer::new(&options.shape);
    let outcome = run_observed(program, &options, &mut observer).map_err(|error| match &error {
        RunError::Fault(fault) if is_misfit(&fault.kind) => {
            NoInfo::Wrong(Error::Impossible(error.to_string()))
        }
        _ => NoInfo::Failed(error.to_string()),
    })?;
    check(&outcome.answer).map_err(|wrong| NoInfo::Failed(wrong.to_string()))?;
    Ok(Info {
        workload: experiment.workload.name,
        room: experiment.workload.room.name(),
        source: experiment.workload.origin,
        system: experiment.system.name.clone(),
        machine: experiment.machine.clone(),
        size: experiment.size.map(workloads::Size::name),
        input: experiment.input_name(),
        settings: experiment.settings().collect(),
        statistics: observer.finish(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Question;
    use crate::systems::Systems;

    fn of(workload: &str, settings: &[(&str, &str)]) -> Statistics {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let question = Question {
            system: "hlrc-8cu".to_owned(),
            scenario: "vi".to_owned(),
            workload: workload.to_owned(),
            settings: settings.collect(),
            ..Question::default()
        };
        let experiment = Experiment::new(&Systems::with_folder("none"), &question).unwrap();
        assert_eq!(sim::kernel_shape(&experiment.system).line_bytes, 64);
        info(&experiment).unwrap().statistics
    }

    /// The program reads two arrays of 2,048 words and writes one such array. Each array has 128
    /// lines, and no line is read twice.
    #[test]
    fn vec_add_has_the_numbers_that_a_hand_computes() {
        let found = of("vec-add", &[("n", "2048")]);
        assert_eq!((found.kernels, found.loads, found.stores, found.atomics), (1, 4096, 2048, 0));
        assert_eq!(found.global_bytes, 3 * 2048 * 4);
        assert_eq!((found.line_reads, found.lines, found.loads_per_store), (256, 384, Some(2.0)));
        assert_eq!((found.reuse_within, found.reuse_across, found.read_after_write), (0.0, 0.0, 0.0));
        // Each of the eight compute units runs a work-group of 256 work-items, which accesses 16
        // lines of each of the three arrays.
        assert_eq!((found.lines_per_cu_mean, found.lines_per_cu_max), (48.0, 48));
        assert_eq!((found.read_shared_lines, found.true_shared_lines, found.false_shared_lines), (0, 0, 0));
        assert_eq!(found.imbalance, 1.0);
        // Each wavefront executes one branch and one addition, for 64 lanes or for 32.
        assert_eq!(found.lane_operations, 2 * 2048);
        assert!((found.operations_per_byte - 2.0 / 12.0).abs() < 1e-12);
    }

    /// Four kernels read the same 128 lines, and write half of these lines. The four work-groups of
    /// the first and the third kernel run on the compute units 0 to 3. Those of the second and the
    /// fourth kernel run on the compute units 4 to 7.
    #[test]
    fn cache_reuse_reuses_lines_only_across_kernels() {
        let found = of("cache-reuse", &[("n", "1024"), ("kernels", "4"), ("work-groups", "4")]);
        assert_eq!((found.kernels, found.loads, found.stores), (4, 8192, 4096));
        assert_eq!((found.line_reads, found.lines), (512, 128));
        // The third and the fourth kernel find the lines of the first array that the first and the
        // second kernel have read. In the meantime, other compute units have written the lines of
        // the second array.
        assert_eq!((found.reuse_within, found.reuse_across), (0.0, 0.25));
        assert_eq!((found.lines_per_cu_mean, found.lines_per_cu_max), (32.0, 32));
        // Only four of the eight compute units work.
        assert_eq!(found.imbalance, 2.0);
        let all = of("cache-reuse", &[("n", "2048"), ("kernels", "4"), ("work-groups", "8")]);
        assert_eq!((all.reuse_across, all.imbalance), (0.75, 1.0));
    }

    /// Each work-item of a histogram loads a word and adds one to a bin, at device scope.
    #[test]
    fn atomics_are_counted_by_order_and_scope() {
        let found = of("histogram", &[("n", "1024"), ("bins", "16")]);
        assert_eq!((found.loads, found.stores, found.atomics), (1024, 0, 1024));
        assert_eq!((found.atomic_share, found.device_atomic_share), (0.5, 0.5));
        let [kind] = &found.atomics_by_kind[..] else { panic!("{:?}", found.atomics_by_kind) };
        assert_eq!(
            (kind.operation, kind.order, kind.scope, kind.accesses),
            ("update", "relaxed", "device", 1024)
        );
        // All bins are in one line, and all work-groups update it.
        assert_eq!((found.true_shared_lines, found.false_shared_lines), (1, 0));
    }

    #[test]
    fn a_program_without_an_end_has_no_statistics() {
        let question = Question {
            system: "hlrc-8cu".to_owned(),
            scenario: "vi".to_owned(),
            workload: "barrier-skip".to_owned(),
            ..Question::default()
        };
        let experiment = Experiment::new(&Systems::with_folder("none"), &question).unwrap();
        let Err(NoInfo::Failed(why)) = info(&experiment) else { panic!("it ended") };
        assert!(why.contains("deadlocked"), "{why}");
    }
}
