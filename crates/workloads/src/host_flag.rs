//! Message passing between the host and a running kernel at system scope.

use kernel::prelude::*;

use crate::data::mix;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static HOST_FLAG: Workload = Workload {
    name: "host-flag",
    summary: "the host and a running kernel exchange messages behind flags at system scope",
    origin: "ours",
    room: Room::Synchronization,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("words", "70"), ("rounds", "3")], small: &[], paper: &[("rounds", "200")] },
    settings: &[
        Setting::count("words", 64, 1, 4096, "number of words of a message"),
        Setting::count("rounds", 4, 1, 1 << 16, "number of messages in each direction"),
    ],
    make: |settings, seed| Ok(host_flag(settings, seed)),
};

/// The element of `flags` in which the host puts its requests. The next constant, `REPLY`, is the
/// element in which the kernel puts its replies. The two elements lie in different lines.
const REQUEST: u64 = 0;
const REPLY: u64 = 64;

#[derive(Clone, Copy)]
struct Channel {
    question: Array<u32>,
    reply: Array<u32>,
    flags: Array<u32>,
}

async fn serve(w: Wave, d: Channel, rounds: u32) {
    for round in 1..=rounds {
        while w.atomic_load(d.flags, REQUEST, acquire(Level::System)).await != round {}
        let mut base = 0;
        while base < d.question.len() {
            let part = w.below(base, d.question.len());
            let words = part.load(d.question, Unit(base)).await;
            part.store(d.reply, Unit(base), words * 3 + round).await;
            base += u64::from(w.lanes());
        }
        w.atomic_store(d.flags, REPLY, round, release(Level::System)).await;
    }
}

fn question(seed: u64, round: u32, i: u64) -> u32 {
    mix(mix(round ^ seed as u32) ^ i as u32)
}

fn host_flag(settings: &Settings, seed: u64) -> Instance {
    let (words, rounds) = (settings.count("words"), settings.count("rounds") as u32);
    let program = Program::new("host-flag", move |host| async move {
        let d = Channel {
            question: host.alloc("question", words),
            reply: host.alloc("reply", words),
            flags: host.alloc("flags", 2 * REPLY),
        };
        let uses = [d.question.read(), d.reply.write(), d.flags.read_write()];
        let kernel = Kernel::new("serve", move |w| serve(w, d, rounds)).uses(uses);
        let served = host.launch(kernel, Grid::new(1, 1));
        let mut replies = Vec::new();
        for round in 1..=rounds {
            for i in 0..words {
                host.store(d.question, i, question(seed, round, i)).await;
            }
            host.atomic_store(d.flags, REQUEST, round, Order::Release).await;
            while host.atomic_load(d.flags, REPLY, Order::Acquire).await != round {}
            for i in 0..words {
                replies.push(host.load(d.reply, i).await);
            }
        }
        served.await;
        Answer::new().with("replies", &replies)
    });
    Instance::new(program, move |answer| {
        let reply = |round, i| question(seed, round, i).wrapping_mul(3).wrapping_add(round);
        let all = (1..=rounds).flat_map(|round| (0..words).map(move |i| reply(round, i)));
        answer.expect("replies", &all.collect::<Vec<_>>())
    })
}
