//! Message passing between two work-groups.

use kernel::prelude::*;
use proto::words::counted;

use crate::data::mix;
use crate::instance::{Instance, Purpose, Room, Sizes, Workload};
use crate::policy::{CUS, SCOPE, level, placement, require_room};
use crate::settings::{BadSetting, Setting, Settings};

pub(crate) static MESSAGE_PASSING: Workload = Workload {
    name: "message-passing",
    summary: "one work-group writes messages and sets a scoped flag after each; another reads each message and sets a flag in return",
    origin: "ours",
    room: Room::Synchronization,
    purpose: Purpose::Benchmark,
    sizes: Sizes { tiny: &[("words", "100"), ("rounds", "5")], small: &[], paper: &[("rounds", "1000")] },
    settings: &[
        Setting::count("words", 256, 1, 1 << 20, "number of words of a message"),
        Setting::count("rounds", 10, 1, 1 << 16, "number of messages"),
        SCOPE,
        CUS,
    ],
    make: message_passing,
};

/// The content of word `i` in the message with the number `round`.
fn word(round: u32, i: u32) -> u32 {
    mix(round << 20 ^ i)
}

#[derive(Clone, Copy)]
struct Channel {
    message: Array<u32>,
    /// Counters: element 0 counts the messages sent, and element 64 the messages received.
    flags: Array<u32>,
    received: Array<u32>,
    level: Level,
}

/// The element of `flags` that counts the messages received. It lies in a different line than the
/// element `SENT`.
const RECEIVED: u64 = 64;
const SENT: u64 = 0;

async fn send(w: &Wave, c: Channel, round: u32) {
    let mut base = 0;
    while base < c.message.len() {
        let part = w.below(base, c.message.len());
        let words = Lanes::from_fn(|lane| word(round, base as u32 + lane as u32));
        part.store(c.message, Unit(base), words).await;
        base += u64::from(w.lanes());
    }
    w.atomic_store(c.flags, SENT, round + 1, release(c.level)).await;
    while w.atomic_load(c.flags, RECEIVED, acquire(c.level)).await != round + 1 {}
}

async fn receive(w: &Wave, c: Channel, round: u32) {
    while w.atomic_load(c.flags, SENT, acquire(c.level)).await != round + 1 {}
    let mut base = 0;
    while base < c.message.len() {
        let part = w.below(base, c.message.len());
        let words = part.load(c.message, Unit(base)).await;
        part.store(c.received, Unit(u64::from(round) * c.message.len() + base), words).await;
        base += u64::from(w.lanes());
    }
    w.atomic_store(c.flags, RECEIVED, round + 1, release(c.level)).await;
}

async fn talk(w: Wave, c: Channel, rounds: u32) {
    for round in 0..rounds {
        if w.work_group() == 0 {
            send(&w, c, round).await;
        } else {
            receive(&w, c, round).await;
        }
    }
}

fn message_passing(settings: &Settings, _seed: u64) -> Result<Instance, BadSetting> {
    let (words, rounds) = (settings.count("words"), settings.count("rounds"));
    if words * rounds > 1 << 28 {
        return Err(settings.conflict(format!(
            "{} in {} exceed 268435456 words",
            counted(words, "word"),
            counted(rounds, "round")
        )));
    }
    let (level, placement) = (level(settings), placement(settings));
    let program = Program::new("message-passing", move |host| async move {
        let c = Channel {
            message: host.alloc("message", words),
            flags: host.alloc("flags", 2 * RECEIVED),
            received: host.alloc("received", words * rounds),
            level,
        };
        let grid = Grid::new(2, 1).placed(placement);
        require_room(&host, &grid).await;
        let uses = [c.message.read_write(), c.flags.read_write(), c.received.write()];
        host.launch(Kernel::new("talk", move |w| talk(w, c, rounds as u32)).uses(uses), grid).await;
        Answer::new().with_array("received", &host, c.received).await
    });
    Ok(Instance::new(program, move |answer| {
        let round = |round| (0..words as u32).map(move |i| word(round, i));
        let received: Vec<u32> = (0..rounds as u32).flat_map(round).collect();
        answer.expect("received", &received)
    }))
}
