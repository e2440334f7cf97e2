//! The synchronization between two sections (lists of accesses of one wavefront each): a flag, the
//! operations that set it, and the operations that wait for it.

use super::draws::Draws;
use super::layout::{DATA, FLAGS, REMOTE_RELEASES};
use super::rules::Rules;
use super::step::{Kind, WaveStep};
use proto::{Level, Order};

/// An order between two sections (lists of accesses of one wavefront each), made by a flag that the
/// earlier section sets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub(super) from: usize,
    pub(super) flag: usize,
    /// The scope of the acquire before the later section (list of accesses of one wavefront), and
    /// whether the acquire is remote (`remote`).
    level: Level,
    remote: bool,
}

/// The scopes of the first flags of a wavefront. The flag [`FOR_DEVICE`] may have a narrower scope.
const LEVELS: [Level; 3] = [Level::WorkGroup, Level::Device, Level::System];
/// The number of a wavefront's flag for the device.
pub(super) const FOR_DEVICE: usize = 1;

/// The edge that orders section `from` (a list of accesses of one wavefront) before a later
/// section. `at` holds the work-groups of the two sections; `None` stands for the host.
pub(super) fn edge(from: usize, at: (Option<usize>, Option<usize>), style: u64, rules: Rules) -> Edge {
    let draw = Draws::new(style).below(8);
    let of = |flag: usize| Edge { from, flag, level: LEVELS[flag], remote: false };
    let (is_near, is_of_host) = (at.0 == at.1, at.0.is_none() || at.1.is_none());
    match draw {
        _ if is_of_host => of(2),
        0 => of(2),
        1 | 2 => of(FOR_DEVICE),
        _ if is_near || rules.hints => of(0),
        3..6 if rules.remote => Edge { level: Level::Device, remote: true, ..of(0) },
        6.. if rules.remote => Edge { from, flag: REMOTE_RELEASES, level: Level::WorkGroup, remote: false },
        _ => of(FOR_DEVICE),
    }
}

/// The number of the word that holds the flag `flag` of a wavefront.
pub(super) fn flag_of(wave: usize, flag: usize) -> usize {
    DATA + wave * FLAGS + flag
}

/// Appends to `thread` the acquire for an edge: an order between two sections (lists of accesses of
/// one wavefront each). The earlier section is one of the wavefront `wave`, whose flag for the
/// device has the scope `wide`.
pub(super) fn acquire(
    edge: &Edge,
    (wave, wide): (usize, Level),
    style: u64,
    rules: Rules,
    thread: &mut Vec<WaveStep>,
) {
    let &Edge { from, flag, level, remote } = edge;
    let level = if flag == FOR_DEVICE { wide } else { level };
    let value = from as u32 + 1;
    let step = WaveStep::of_flag(Kind::Await, flag_of(wave, flag), value, Order::Acquire, level);
    let step = WaveStep { remote, ..step };
    let is_remote = remote || flag == REMOTE_RELEASES;
    match (style >> 8) % 8 {
        0 => thread.push(WaveStep { order: Order::SeqCst, ..step }),
        // A remote release is acquired at work-group scope. An addition at that scope changes the
        // flag only in the cache of the adding wavefront, so no addition waits for such a flag.
        1 if flag != REMOTE_RELEASES => {
            thread.push(WaveStep { kind: Kind::AwaitAdding, order: Order::AcqRel, ..step });
        }
        2 if rules.fences && !is_remote => {
            thread.push(WaveStep { order: Order::Relaxed, ..step });
            thread.push(WaveStep { kind: Kind::Fence, ..step });
        }
        _ => thread.push(step),
    }
}

/// Appends to `thread` the release of a flag at the end of section `index` (a list of accesses of
/// the wavefront `wave`, whose flag for the device has the scope `wide`). Before the release, the
/// flag has the value `old`.
pub(super) fn release(
    flag: usize,
    (index, wave, wide): (usize, usize, Level),
    old: u32,
    style: u64,
    rules: Rules,
    thread: &mut Vec<WaveStep>,
) {
    let remote = flag == REMOTE_RELEASES;
    let level = match flag {
        FOR_DEVICE => wide,
        REMOTE_RELEASES => Level::Device,
        _ => LEVELS[flag],
    };
    let value = index as u32 + 1;
    let step = WaveStep::of_flag(Kind::Set, flag_of(wave, flag), value, Order::Release, level);
    let step = WaveStep { remote, ..step };
    match (style >> 16) % 8 {
        0 => thread.push(WaveStep { order: Order::SeqCst, ..step }),
        1 => thread.push(WaveStep { kind: Kind::Swap, order: Order::AcqRel, ..step }),
        2 if rules.fences && !remote => {
            thread.push(WaveStep { kind: Kind::Fence, ..step });
            thread.push(WaveStep { order: Order::Relaxed, ..step });
        }
        3 => thread.push(WaveStep { kind: Kind::SetIf(old), order: Order::AcqRel, ..step }),
        _ => thread.push(step),
    }
}
