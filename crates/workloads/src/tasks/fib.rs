//! Fibonacci numbers by recursion: each call is a task, which waits for the tasks that it makes.
//!
//! A task `fib` either returns its number, or makes a frame and two child tasks. A frame is a place
//! in memory where each of the two children stores its number. The child that stores the second
//! number makes the task `add`, which returns the sum. A child may run on any wavefront, so frames
//! are synchronized at device scope, whatever the policy for scopes. The policy applies only to the
//! queues.

use kernel::Use;
use kernel::prelude::*;

use super::run::{Plan, SETTINGS as RUN, TaskProgram, check_work};
use super::worker::Worker;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static FIB: Workload = Workload {
    name: "fib",
    summary: "computes a Fibonacci number by recursion: tasks wait for two others",
    origin: "HRF paper (ASPLOS 2014), section 7 (task runtime); program: ours",
    room: Room::Tasks,
    purpose: Purpose::Benchmark,
    sizes: Sizes {
        tiny: &[("n", "11"), ("work-groups", "2"), ("waves", "2")],
        small: &[],
        paper: &[("n", "24")],
    },
    settings: &[
        Setting::count("n", 16, 0, 30, "the index of the Fibonacci number"),
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
    make: |settings, _| fib(settings),
};

/// The number that stands for the frame of a task without a frame. The result of such a task is the
/// answer.
const NO_FRAME: u32 = u32::MAX;

const FIB_TASK: usize = 0;
const ADD: usize = 1;

/// The number of words in a frame: the numbers of both children, the frame that waits for the sum,
/// and the number of finished children.
const FRAME: u32 = 4;

#[derive(Clone, Copy, Debug)]
struct Fib {
    frames: Array<u32>,
    /// The number of frames that have been taken so far.
    used: Array<u32>,
    answer: Array<u32>,
}

impl Fib {
    /// Stores the result of each lane's task in the lane's frame. `side` says at which of the two
    /// places: that of the first or of the second child. If both results of a frame are now stored,
    /// makes the task `add` for this frame. A lane without a frame stores its result as the answer.
    async fn leave(
        &self,
        w: &Wave,
        number: Lanes<u32>,
        frame: Lanes<u32>,
        side: Lanes<u32>,
        worker: &mut Worker<3>,
    ) {
        let last = frame.eq(NO_FRAME);
        w.when(last).store(self.answer, Lanes::splat(0), number);
        let w = w.unless(last);
        w.store(self.frames, frame * FRAME + side, number);
        let before =
            w.fetch_add(self.frames, frame * FRAME + 3, Lanes::splat(1), acq_rel(Level::Device)).await;
        worker.spawn(&w.when(before.eq(1)), ADD, [frame, frame, frame]).await;
    }
}

impl TaskProgram<3> for Fib {
    const NAME: &'static str = "fib";
    const FUNCTIONS: &'static [&'static str] = &["fib", "add"];

    fn uses(&self) -> Vec<Use> {
        vec![self.frames.read_write(), self.used.read_write(), self.answer.write()]
    }

    async fn run(&self, w: &Wave, function: usize, task: [Lanes<u32>; 3], worker: &mut Worker<3>) {
        if function == ADD {
            let frame = task[0];
            let part = |word: u32| w.load(self.frames, frame * FRAME + word);
            let (one, other, waiting) = (part(0), part(1), part(2));
            let (sum, waiting) = (one.await + other.await, waiting.await);
            // The lowest bit says which of the two children of the frame this task is.
            let outer = Lanes::select(waiting.eq(NO_FRAME), NO_FRAME, waiting >> 1);
            self.leave(w, sum, outer, waiting & 1, worker).await;
            return;
        }
        let [n, frame, side] = task;
        let small = n.lt(2);
        self.leave(&w.when(small), n, frame, side, worker).await;
        let w = w.unless(small);
        if !w.any() {
            return;
        }
        let first = w.leader().fetch_add(self.used, 0, w.mask().count(), relaxed(Level::Device)).await;
        let own = w.rank() + first;
        let waiting = Lanes::select(frame.eq(NO_FRAME), NO_FRAME, (frame << 1) | side);
        w.store(self.frames, own * FRAME + 2, waiting);
        worker.spawn(&w, FIB_TASK, [n - 1, own, Lanes::splat(0)]).await;
        worker.spawn(&w, FIB_TASK, [n - 2, own, Lanes::splat(1)]).await;
    }
}

/// The Fibonacci number `n`, and the number of calls that have children, both computed on the host.
fn reference(n: u64) -> (u32, u64) {
    let (mut this, mut next) = ((0u32, 0u64), (1, 0));
    for _ in 0..n {
        (this, next) = (next, (this.0 + next.0, this.1 + next.1 + 1));
    }
    this
}

fn fib(settings: &Settings) -> Result<Instance, BadSetting> {
    let (n, plan) = (settings.count("n"), Plan::of(settings)?);
    let (number, splits) = reference(n);
    let program = Program::new("fib", move |host| async move {
        let fib = Fib {
            frames: host.alloc("frames", splits.max(1) * u64::from(FRAME)),
            used: host.alloc("frames-used", 1),
            answer: host.alloc("number", 1),
        };
        let done = plan.run(&host, fib, &[(FIB_TASK, [n as u32, NO_FRAME, 0])]).await;
        let number = host.read(fib.answer).await;
        done.into_answer(Answer::new().with("number", &number))
    });
    Ok(Instance::new(program, move |answer| {
        answer.expect("number", &[number])?;
        // A call that has children is two tasks, `fib` and `add`. With each such call, the number
        // of calls without children grows by one.
        check_work(3 * splits + 1, answer)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_computes_the_numbers_and_counts_the_calls_that_split() {
        fn calls(n: u64) -> u64 {
            if n < 2 { 0 } else { 1 + calls(n - 1) + calls(n - 2) }
        }
        for (n, want) in (0..).zip([0, 1, 1, 2, 3, 5, 8, 13, 21, 34]) {
            assert_eq!(reference(n), (want, calls(n)), "{n}");
        }
    }
}
