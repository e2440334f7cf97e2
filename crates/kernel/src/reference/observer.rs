//! Observers of a run of the functional executor.

use proto::KernelId;

use crate::launch::Launch;
use crate::op::Posted;
use crate::wave::Coords;
use crate::work::Work;

/// The wavefront that issues an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The number of the kernel that the wavefront runs.
    pub kernel: KernelId,
    /// The coordinates of the wavefront.
    pub at: Coords,
}

/// An observer of a functional run. It does not affect the run.
pub trait Observer {
    /// The host launches a kernel.
    fn launch(&mut self, _launch: &Launch) {}
    /// An operation is about to be performed. `issue` names the wavefront that issues it, or is
    /// `None` for the host.
    fn issue(&mut self, _issue: Option<Issue>, _op: &Posted) {}
    /// A wavefront has done the arithmetic `work` since its last operation. It now waits or ends.
    fn tail(&mut self, _issue: Issue, _work: &Work) {}
}

/// The observer that ignores all events.
impl Observer for () {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Action;
    use crate::prelude::*;
    use crate::reference::{Options, run_observed};

    #[derive(Default)]
    struct Seen {
        launches: Vec<String>,
        loads: Vec<(u32, u32)>,
        of_host: usize,
        adds: u32,
    }

    impl Observer for Seen {
        fn launch(&mut self, launch: &Launch) {
            self.launches.push(launch.name.clone());
        }

        fn issue(&mut self, issue: Option<Issue>, op: &Posted) {
            self.adds += op.work.of(Class::Int);
            match issue {
                None => self.of_host += 1,
                Some(issue) if op.action == Action::Load => {
                    self.loads.push((issue.at.work_group, op.exec.count()));
                }
                Some(_) => {}
            }
        }

        fn tail(&mut self, _issue: Issue, work: &Work) {
            self.adds += work.of(Class::Int);
        }
    }

    #[test]
    fn an_observer_sees_launches_operations_and_all_arithmetic() {
        let program = Program::new("p", |host| async move {
            let a = host.alloc::<u32>("a", 100);
            host.write(a, &[1; 100]).await;
            let body = move |w: Wave| async move {
                let at = w.first_item();
                let w = w.below(at, a.len());
                let value = w.load(a, Unit(at)).await + 1;
                w.store(a, Unit(at), value).await;
                let _ = value + value;
            };
            host.launch(Kernel::new("k", body), Grid::new(2, 1)).await;
            Answer::new().with_array("a", &host, a).await
        });
        let mut seen = Seen::default();
        let outcome =
            run_observed(program, &Options::default(), &mut seen).map_err(|error| error.to_string());
        assert_eq!(outcome.map(|outcome| outcome.work.of(Class::Int)), Ok(4));
        assert_eq!((seen.launches, seen.loads), (vec!["k".to_owned()], vec![(0, 64), (1, 36)]));
        // The host's three operations: the write, the launch and the read.
        assert_eq!((seen.of_host, seen.adds), (3, 4));
    }
}
