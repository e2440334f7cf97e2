//! The n-queens problem as tasks. A task places a queen on each free square of its row. For each of
//! these placements, it makes a task for the next row.
//!
//! The words of a task are its row and three masks of the attacked squares in this row: by column,
//! and along each of the two diagonals.

use kernel::prelude::*;

use super::run::{Plan, SETTINGS as RUN, TaskProgram, check_work};
use super::worker::Worker;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static QUEENS: Workload = Workload {
    name: "queens",
    summary: "counts the placements of n queens: one task per partial placement",
    origin: "HRF paper (ASPLOS 2014), section 7 (task runtime); program: ours",
    room: Room::Tasks,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("queens", "5"), ("work-groups", "2"), ("waves", "2")],
        small: &[],
        paper: &[("queens", "11")],
    },
    settings: &[
        Setting::count("queens", 8, 1, 16, "number of queens, of rows and of columns of the board"),
        RUN[0],
        RUN[1],
        RUN[2],
        RUN[3],
        RUN[4],
        RUN[5],
        RUN[6],
        RUN[7],
        RUN[8],
        RUN[9],
    ],
    make: |settings, _| queens(settings),
};

#[derive(Clone, Copy, Debug)]
struct Queens {
    queens: u32,
}

impl TaskProgram<4> for Queens {
    const NAME: &'static str = "queens";
    const FUNCTIONS: &'static [&'static str] = &["place"];

    async fn run(&self, w: &Wave, _: usize, task: [Lanes<u32>; 4], worker: &mut Worker<4>) {
        let [columns, left, right, row] = task;
        let solved = w.when(row.eq(self.queens)).mask();
        worker.tally(0, u64::from(solved.count()));
        let w = w.unless(solved);
        for column in 0..self.queens {
            let square = 1 << column;
            let free = ((columns | left | right) & square).eq(0);
            let taken = [columns | square, (left | square) << 1, (right | square) >> 1, row + 1];
            worker.spawn(&w.when(free), 0, taken).await;
        }
    }
}

/// The number of complete placements and the number of partial placements, computed on the host.
fn reference(queens: u32, [columns, left, right]: [u32; 3], row: u32) -> (u64, u64) {
    if row == queens {
        return (1, 1);
    }
    let free = (0..queens).map(|column| 1 << column).filter(|square| (columns | left | right) & square == 0);
    let below = |square| [columns | square, (left | square) << 1, (right | square) >> 1];
    let all = free.map(|square| reference(queens, below(square), row + 1));
    all.fold((0, 1), |sum, (solved, placed)| (sum.0 + solved, sum.1 + placed))
}

fn queens(settings: &Settings) -> Result<Instance, BadSetting> {
    let (queens, plan) = (settings.count("queens") as u32, Plan::of(settings)?);
    let program = Program::new("queens", move |host| async move {
        let done = plan.run(&host, Queens { queens }, &[(0, [0; 4])]).await;
        let solutions = done.tallies.first().copied().unwrap_or(0);
        done.into_answer(Answer::new().with("solutions", &[solutions]))
    });
    Ok(Instance::new(program, move |answer| {
        let (solutions, tasks) = reference(queens, [0; 3], 0);
        answer.expect("solutions", &[solutions])?;
        check_work(tasks, answer)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_counts_the_known_solutions() {
        let known = [1, 0, 0, 2, 10, 4, 40, 92, 352, 724];
        for (queens, want) in (1..).zip(known) {
            assert_eq!(reference(queens, [0; 3], 0).0, want, "{queens}");
        }
    }
}
