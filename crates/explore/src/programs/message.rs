//! Message programs: one thread releases a word and another thread acquires it, by every kind of
//! operation and at every scope.
//!
//! Small programs rarely exercise all parts of a plan (the steps by which a protocol performs an
//! operation): a stale line that an acquire must invalidate, dirty bytes that a release must flush,
//! and a third thread that fetches or writes the line meanwhile. Message programs contain all of
//! these, for each kind of synchronizing operation.

use crate::programs::test::Test;

/// A scope in OpenCL's terms, and the suffix of the names of functions with this scope.
#[derive(Clone, Copy)]
struct Reach {
    scope: &'static str,
    suffix: &'static str,
}

const WORK_GROUP: Reach = Reach { scope: "memory_scope_work_group", suffix: "" };
const DEVICE: Reach = Reach { scope: "memory_scope_device", suffix: "" };
const SYSTEM: Reach = Reach { scope: "memory_scope_all_svm_devices", suffix: "" };
const REMOTE: Reach = Reach { suffix: "_remote", ..DEVICE };
const REMOTE_SYSTEM: Reach = Reach { suffix: "_remote", ..SYSTEM };

/// The scopes of the sender and the receiver, and which of the two is on the host.
#[derive(Clone, Copy)]
struct Sides {
    name: &'static str,
    reaches: [Reach; 2],
    host: Option<usize>,
}

const fn sides(name: &'static str, first: Reach, second: Reach) -> Sides {
    Sides { name, reaches: [first, second], host: None }
}

const SIDES: [Sides; 4] = [
    sides("device", DEVICE, DEVICE),
    sides("system", SYSTEM, SYSTEM),
    Sides { host: Some(0), ..sides("from-host", SYSTEM, SYSTEM) },
    Sides { host: Some(1), ..sides("to-host", SYSTEM, SYSTEM) },
];

/// The sides (scopes of sender and receiver) with two different scopes. Only models that ignore
/// scopes cover programs with these sides.
const MIXED_SIDES: [Sides; 2] =
    [sides("device-to-system", DEVICE, SYSTEM), sides("system-to-device", SYSTEM, DEVICE)];

const REMOTE_SIDES: [Sides; 7] = [
    sides("to-remote", WORK_GROUP, REMOTE),
    sides("from-remote", REMOTE, WORK_GROUP),
    sides("remote", REMOTE, REMOTE),
    sides("to-remote-system", WORK_GROUP, REMOTE_SYSTEM),
    sides("from-remote-system", REMOTE_SYSTEM, WORK_GROUP),
    Sides { host: Some(0), ..sides("from-host-to-remote", SYSTEM, REMOTE_SYSTEM) },
    Sides { host: Some(1), ..sides("from-remote-to-host", REMOTE_SYSTEM, SYSTEM) },
];

impl Sides {
    /// Whether the sender or the receiver uses remote operations.
    fn is_remote(&self) -> bool {
        self.reaches.iter().any(|reach| !reach.suffix.is_empty())
    }

    /// The scope at which the sender and the receiver can synchronize without a remote operation.
    fn bare(&self) -> Reach {
        let is_wide = self.reaches.iter().any(|reach| reach.scope == SYSTEM.scope);
        if is_wide { SYSTEM } else { DEVICE }
    }
}

/// The kind of a synchronizing operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SyncKind {
    /// A load that waits, or a store.
    Access,
    /// An exchange whose old value is used.
    Exchange,
    /// An update whose old value is not used.
    Update,
    /// A fence next to a relaxed access.
    Fence,
    /// A fence next to a relaxed access of another scope. The scope of the access includes the
    /// sender and the receiver, and the access is not remote.
    FenceAlone,
}

impl SyncKind {
    const fn name(self) -> &'static str {
        match self {
            SyncKind::Access => "access",
            SyncKind::Exchange => "exchange",
            SyncKind::Update => "update",
            SyncKind::Fence => "fence",
            SyncKind::FenceAlone => "fence-alone",
        }
    }
}

/// The ways to release, each with its memory order. The first way is combined with every way to
/// acquire.
const RELEASES: [(SyncKind, &str); 11] = [
    (SyncKind::Access, "release"),
    (SyncKind::Access, "seq_cst"),
    (SyncKind::Exchange, "release"),
    (SyncKind::Exchange, "acq_rel"),
    (SyncKind::Exchange, "seq_cst"),
    (SyncKind::Update, "release"),
    (SyncKind::Update, "acq_rel"),
    (SyncKind::Update, "seq_cst"),
    (SyncKind::Fence, "release"),
    (SyncKind::Fence, "acq_rel"),
    (SyncKind::Fence, "seq_cst"),
];

/// The ways to acquire, each with its memory order. The first way is combined with every way to
/// release.
const ACQUIRES: [(SyncKind, &str); 11] = [
    (SyncKind::Access, "acquire"),
    (SyncKind::Access, "seq_cst"),
    (SyncKind::Exchange, "acquire"),
    (SyncKind::Exchange, "acq_rel"),
    (SyncKind::Exchange, "seq_cst"),
    (SyncKind::Update, "acquire"),
    (SyncKind::Update, "acq_rel"),
    (SyncKind::Update, "seq_cst"),
    (SyncKind::Fence, "acquire"),
    (SyncKind::Fence, "acq_rel"),
    (SyncKind::Fence, "seq_cst"),
];

/// The memory orders of the release fence and the acquire fence in programs of
/// [`SyncKind::FenceAlone`], whose fences stand next to relaxed accesses of another scope. In these
/// programs, the two fences have different scopes, or one of the fences is remote.
const FENCES_ALONE: [(&str, &str); 5] = [
    ("release", "acquire"),
    ("acq_rel", "acquire"),
    ("seq_cst", "acquire"),
    ("release", "acq_rel"),
    ("release", "seq_cst"),
];

/// The ways to set the flag without a release.
const SIGNALS: [(SyncKind, &str); 5] = [
    (SyncKind::Access, "relaxed"),
    (SyncKind::Exchange, "relaxed"),
    (SyncKind::Exchange, "acquire"),
    (SyncKind::Update, "relaxed"),
    (SyncKind::Update, "acquire"),
];

/// The third thread of a message program, if it has one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ThirdThread {
    Nobody,
    /// The third thread runs on the compute unit of the receiver. It loads a word that shares a
    /// line with the data or the flag.
    Reader,
    /// The third thread runs on the compute unit of the receiver. It stores a word that shares a
    /// line with the data or the flag.
    Writer,
    /// The third thread runs on the compute unit of the sender. It loads a word that shares a line
    /// with the data or the flag. The sender reads the flag again after it has set the flag.
    ReaderThere,
}

impl ThirdThread {
    const ALL: [(ThirdThread, &'static str); 4] = [
        (ThirdThread::Nobody, ""),
        (ThirdThread::Reader, "+reader"),
        (ThirdThread::Writer, "+writer"),
        (ThirdThread::ReaderThere, "+reader-there"),
    ];
}

/// The text of an operation that sets the flag. If a fence stands next to a relaxed access of
/// another scope (`FenceAlone`), `bare` is the scope of this access.
fn set_flag((by, order): (SyncKind, &str), reach: Reach, bare: Reach) -> String {
    let Reach { scope, suffix } = reach;
    let how = format!("memory_order_{order}, {scope}");
    match by {
        SyncKind::Access => format!("atomic_store_explicit{suffix}(f, 1, {how});"),
        SyncKind::Exchange => format!("int old = atomic_exchange_explicit{suffix}(f, 1, {how});"),
        SyncKind::Update => format!("atomic_fetch_add_explicit{suffix}(f, 1, {how});"),
        SyncKind::Fence => {
            format!("{}\n  {}", fence(order, reach), set_flag((SyncKind::Access, "relaxed"), reach, bare))
        }
        SyncKind::FenceAlone => {
            format!("{}\n  {}", fence(order, reach), set_flag((SyncKind::Access, "relaxed"), bare, bare))
        }
    }
}

/// The text of an operation that waits for the flag or tests it, and then continues with `then`. If
/// a fence stands next to a relaxed access of another scope (`FenceAlone`), `bare` is the scope of
/// this access.
fn await_flag((by, order): (SyncKind, &str), reach: Reach, bare: Reach, then: &str) -> String {
    let Reach { scope, suffix } = reach;
    let how = format!("memory_order_{order}, {scope}");
    match by {
        SyncKind::Access => format!("await{suffix}(f == 1, {how});\n  {then}"),
        SyncKind::Exchange => format!(
            "int old = atomic_exchange_explicit{suffix}(f, 2, {how});\n  if (old == 1) {{\n    {then}\n  }}"
        ),
        // The old value is not used, and the sum shows whether the flag was set.
        SyncKind::Update => format!(
            "atomic_fetch_add_explicit{suffix}(f, 1, {how});\n  \
             int sum = atomic_load_explicit{suffix}(f, memory_order_relaxed, {scope});\n  \
             if (sum == 2) {{\n    {then}\n  }}"
        ),
        SyncKind::Fence | SyncKind::FenceAlone => {
            let then = format!("{}\n  {then}", fence(order, reach));
            let reach = if by == SyncKind::Fence { reach } else { bare };
            await_flag((SyncKind::Access, "relaxed"), reach, bare, &then)
        }
    }
}

fn fence(order: &str, Reach { scope, suffix }: Reach) -> String {
    format!("atomic_work_item_fence{suffix}(CLK_GLOBAL_MEM_FENCE, memory_order_{order}, {scope});")
}

/// The words of a program in declaration order: the flag, the data, the word that a third thread
/// loads, and the word that a third thread stores.
const WORDS: &str = "{ f = 0; x = 0; z = 0; w = 0; }";
/// The lines of the words, for each of two layouts. The words of the third thread share a line with
/// the data, or with the flag.
const LINES: [(&str, [u8; 4]); 2] = [("beside-data", [0, 1, 1, 1]), ("beside-flag", [1, 0, 1, 1])];

/// The text of a message program. The sender writes the data only if the program has a release.
fn text(
    name: &str,
    sides: &Sides,
    release: (SyncKind, &str),
    acquire: (SyncKind, &str),
    beside: ThirdThread,
) -> String {
    let has_data = !SIGNALS.contains(&release);
    let [there, here] = sides.reaches;
    let data = if has_data { "*x = 1;\n  " } else { "" };
    let again = match beside {
        ThirdThread::ReaderThere => {
            // If the sender's operation is remote and the receiver only reads the flag, the sender
            // reads the flag again at work-group scope: it reads from its own cache.
            let is_remote = !there.suffix.is_empty();
            let Reach { scope, suffix } = match (release.0, acquire.0) {
                (SyncKind::FenceAlone, _) => sides.bare(),
                (_, SyncKind::Access | SyncKind::Fence) if is_remote => WORK_GROUP,
                _ => there,
            };
            format!("\n  int again = atomic_load_explicit{suffix}(f, memory_order_relaxed, {scope});")
        }
        _ => String::new(),
    };
    let then = if has_data { "int got = *x;" } else { "int got = 1;" };
    let sender = format!("{data}{}{again}", set_flag(release, there, sides.bare()));
    let receiver = format!("int seen = *z;\n  {}", await_flag(acquire, here, sides.bare(), then));
    let words = "(global atomic_int* f, global int* x, global int* z, global int* w)";
    let (there_too, other) = match beside {
        ThirdThread::Nobody => (None, ""),
        ThirdThread::Reader => (Some(1), "int seen = *z;"),
        ThirdThread::Writer => (Some(1), "*w = 1;"),
        ThirdThread::ReaderThere => (Some(0), "int seen = *z;"),
    };
    let mut text = format!("OPENCL {name}\n\n{WORDS}\n");
    let codes = [sender.as_str(), receiver.as_str()].into_iter().chain(there_too.map(|_| other));
    for (thread, code) in codes.enumerate() {
        text += &format!("\nP{thread} {words} {{\n  {code}\n}}\n");
    }
    let group = |thread: usize| match there_too == Some(thread) {
        _ if sides.host == Some(thread) => String::new(),
        true => format!(" (work_group P{thread} P2)"),
        false => format!(" (work_group P{thread})"),
    };
    let old = if release.0 == SyncKind::Exchange { " /\\ 0:old=0" } else { "" };
    let condition = format!("exists (1:got=1{old} /\\ f=1 /\\ x=1 /\\ w=1)");
    text + &format!("\nscopeTree (device{}{})\n\n{condition}\n", group(0), group(1))
}

/// The number of the first group of message programs. A group is a set of programs that are made in
/// the same way. The groups of enumerated programs have smaller numbers.
const FIRST_GROUP: usize = 1 << 16;

/// A group of message programs with the same sides (scopes of sender and receiver) and the same
/// third thread.
#[derive(Clone, Copy)]
pub(crate) struct Group {
    number: usize,
    sides: Sides,
    beside: ThirdThread,
    others: &'static str,
}

/// The groups of message programs. Some groups are only for claims with remote operations
/// (`has_remote`), or only for claims that ignore scopes (`is_unscoped`).
pub(crate) fn groups(has_remote: bool, is_unscoped: bool) -> impl Iterator<Item = Group> + Send {
    let mixed = MIXED_SIDES.into_iter().filter(move |_| is_unscoped);
    let remote = REMOTE_SIDES.into_iter().filter(move |_| has_remote);
    let sides = SIDES.into_iter().chain(mixed).chain(remote);
    let all = sides.flat_map(|sides| ThirdThread::ALL.map(|(beside, others)| (sides, beside, others)));
    let is_possible = |(sides, beside, _): &(Sides, ThirdThread, _)| match beside {
        ThirdThread::ReaderThere => sides.host != Some(0),
        ThirdThread::Reader | ThirdThread::Writer => sides.host != Some(1),
        ThirdThread::Nobody => true,
    };
    let numbered = all.filter(is_possible).zip(FIRST_GROUP..);
    numbered.map(|((sides, beside, others), number)| Group { number, sides, beside, others })
}

impl Group {
    /// The programs of the group, as tests.
    pub(crate) fn tests(&self) -> Vec<Test> {
        let Group { number, sides, beside, others } = self;
        let mut all = Vec::new();
        let pairs = RELEASES.iter().map(|release| (*release, ACQUIRES[0]));
        let pairs = pairs.chain(ACQUIRES.iter().skip(1).map(|acquire| (RELEASES[0], *acquire)));
        let pairs = pairs.chain(SIGNALS.iter().map(|signal| (*signal, (SyncKind::Access, "relaxed"))));
        let alone = |(release, acquire): &(_, _)| {
            ((SyncKind::FenceAlone, *release), (SyncKind::FenceAlone, *acquire))
        };
        let pairs = pairs.chain(FENCES_ALONE.iter().filter(|_| sides.is_remote()).map(alone));
        for (release, acquire) in pairs {
            let way = |(by, order): (SyncKind, &str)| format!("{}-{order}", by.name());
            for (place, lines) in LINES {
                let name =
                    format!("message/{}/{}/{}{others}/{place}", sides.name, way(release), way(acquire));
                let text = text(&name, sides, release, acquire, *beside);
                // A unit test parses the texts of all message programs.
                let mut test = Test::read(&name, &text).expect("the text is a test");
                test.placements.truncate(1);
                if let Some(placement) = test.placements.first_mut() {
                    placement.lines = lines.to_vec();
                }
                test.group = *number;
                all.push(test);
            }
        }
        all
    }
}

/// All message programs, from all groups of similar programs.
pub(crate) fn all(has_remote: bool, is_unscoped: bool) -> Vec<Test> {
    groups(has_remote, is_unscoped).flat_map(|group| group.tests()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::claim::Claim;

    #[test]
    fn every_message_is_a_program() {
        for is_all in [false, true] {
            let more = if is_all { MIXED_SIDES.len() + REMOTE_SIDES.len() } else { 0 };
            let sides = SIDES.len() + more;
            // The host has no thread beside it.
            let groups = sides * ThirdThread::ALL.len() - if is_all { 6 } else { 3 };
            let pairs = RELEASES.len() + ACQUIRES.len() - 1 + SIGNALS.len();
            let remote = if is_all { REMOTE_SIDES.len() * ThirdThread::ALL.len() - 3 } else { 0 };
            let all = all(is_all, is_all);
            assert_eq!(all.len(), (groups * pairs + remote * FENCES_ALONE.len()) * LINES.len());
        }
    }

    #[test]
    fn messages_do_not_race_and_only_releases_synchronize() {
        let scoped = Claim::of("opencl-rsp").expect("a model");
        // The other programs differ only in scopes.
        for test in all(true, false).iter().step_by(5) {
            let promise = scoped.promise(&test.program(), &mut || false).expect("it is defined");
            assert!(promise.race_free, "{}", test.name);
            let synchronizes = SIGNALS
                .iter()
                .all(|(by, order)| !test.name.contains(&format!("/{}-{order}/access-relaxed", by.name())));
            assert_eq!(promise.is_synchronized(&test.placements[0]), synchronizes, "{}", test.name);
        }
    }
}
