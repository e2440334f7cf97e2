//! Single dimension programs. Each tests what no combination of values of the covering array tests.
//!
//! In some of these programs only the end of a kernel orders the accesses, also with a step of the
//! host between two kernels. In others, two compute units release at system scope at once, or a
//! wavefront loads while another one acquires from the host. In others, a compute unit acquires from
//! the host and writes a line that another compute unit fetches. One program fills all ways of a cache
//! with many ways, and another acquires while it holds lines in all of them. In others, a request
//! loads a word that its compute unit has written and another one. The other programs test requests
//! of many words, words of each width, values that need all bytes of a word, a dirty byte beside a
//! stale byte, and remote operations.

use proto::{Agent, Width};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;
use crate::programs::draft::{CU0, CU1, Draft, HOST, INITIAL};

/// The single programs, except for [`large_program`]. `has_remote` says whether some claim has remote operations.
pub(super) fn programs(has_remote: bool) -> Vec<Draft> {
    let on_every_machine =
        [("wide", in_wide_words()), ("many-updates", of_many_updates()), ("many-words", of_many_words())];
    let on_every_machine = on_every_machine.map(|(name, (text, placement))| draft(name, text, placement));
    let remote = [("remote-by-two", remote_by_two()), ("remote-from-fourth", remote_from_the_fourth())];
    let remote = remote.map(|(name, (text, placement))| draft(name, text, placement));
    let in_ways = [
        ("ways", in_many_ways()),
        ("ways-acquired", acquired_in_many_ways()),
        ("behind-parked", behind_a_parked_write()),
    ];
    let in_ways = in_ways.map(|(name, (text, placement, shape))| Draft {
        machine: Some((shape, 0)),
        ..draft(name, text, placement)
    });
    let all = between_kernels().chain(around_a_host_step()).chain(on_every_machine).chain(in_ways);
    let all = all
        .chain(by_two_releases())
        .chain(between_invalidations())
        .chain(partly_written())
        .chain(around_a_useless_fill())
        .chain(remote.into_iter().filter(|_| has_remote));
    let (text, placement) = beside_a_dirty_byte();
    all.chain([draft("beside-dirty", text, placement)]).collect()
}

/// The single program with the most states.
pub(super) fn large_program() -> Draft {
    let (text, placement) = in_each_width();
    draft("each-width", text, placement)
}

/// A program that runs on every machine of a verification.
fn draft(name: &str, text: String, placement: Placement) -> Draft {
    Draft { name: name.to_owned(), text, placement, machine: None }
}

/// The number of lines that [`in_many_ways`] writes: one more than the ways of its caches.
const MANY: usize = 10;

/// A program for caches with nine ways. It fills all ways and needs one way more.
fn in_many_ways() -> (String, Placement, Shape) {
    let words: Vec<String> = (0..MANY).map(|word| format!("x{word}")).collect();
    let all = |of: &dyn Fn(&String) -> String| words.iter().map(of).collect::<Vec<_>>();
    let initial = all(&|word| format!("[{word}] = {INITIAL};\n")).concat();
    let parameters = all(&|word| format!("global int* {word}")).join(", ");
    // Each store needs the value of the load before it, so no two of them overlap.
    let (mut code, mut value) = (Vec::new(), String::from("2"));
    for word in &words {
        code.push(format!("*{word} = {value};\n  int r{word} = *{word};"));
        value = format!("r{word}");
    }
    let code = code.join("\n  ");
    let seen = all(&|word| format!("0:r{word}=2 /\\ {word}=2")).join(" /\\ ");
    let text = format!(
        "OPENCL many-ways\n\n{{\n{initial}}}\n\nP0 ({parameters}) {{\n  {code}\n}}\n\n\
         scopeTree (device (work_group P0))\n\nforall ({seen})\n"
    );
    let ways = MANY as u32 - 1;
    let placement = Placement::new(vec![Agent::Cu(0)], (0..MANY as u8).collect());
    (text, placement, Shape { banks: 1, sets: (1, 1), ways: (ways, ways) })
}

/// A program for caches with nine ways, in which a thread acquires while its cache holds lines in
/// all ways. The thread then loads a new value of a word in the last of these lines.
fn acquired_in_many_ways() -> (String, Placement, Shape) {
    let ways = MANY - 1;
    let words: Vec<String> = (0..ways).map(|word| format!("s{word}")).collect();
    let parameters = words.iter().map(|word| format!("global int* {word}, ")).collect::<String>();
    let parameters = format!("{parameters}global int* x, global atomic_int* f");
    let loads = words.iter().map(|word| format!("int r{word} = *{word};\n  ")).collect::<String>();
    let text = format!(
        "OPENCL ways-acquired

{{ }}

P0 ({parameters}) {{
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}}

P1 ({parameters}) {{
  {loads}await(f == 1, memory_order_acquire, memory_scope_device);
  int rx = *x;
}}

scopeTree (device (work_group P0) (work_group P1))

forall (1:rx=1 /\\ x=1)
"
    );
    let last = ways as u8 - 1;
    let lines = (0..=last).chain([last, last + 1]).collect();
    let ways = ways as u32;
    (text, Placement::new(vec![CU1, CU0], lines), Shape { banks: 1, sets: (1, 1), ways: (ways, ways) })
}

/// A program for banks with one way, in which a load at system scope passes the bank and needs no
/// way. The written bytes of the same word may be parked in front of it, because they wait for the
/// way, into which the bank fetches another line.
fn behind_a_parked_write() -> (String, Placement, Shape) {
    let parameters = "global atomic_int* x, global int* y";
    let text = format!(
        "OPENCL behind-parked

{{ }}

P0 ({parameters}) {{
  *x = 1;
  int r0 = atomic_load_explicit(x, memory_order_relaxed, memory_scope_all_svm_devices);
}}

P1 ({parameters}) {{
  int r0 = *y;
}}

scopeTree (device (work_group P0) (work_group P1))

forall (0:r0=1 /\\ 1:r0=0 /\\ x=1)
"
    );
    (text, Placement::new(vec![CU0, CU1], vec![0, 1]), Shape { banks: 1, sets: (1, 1), ways: (1, 1) })
}

/// A program that changes words of eight bytes at the scopes of a work-group and of the device. Its
/// values differ in the last four bytes of a word and are equal in the first four, or the reverse.
fn in_wide_words() -> (String, Placement) {
    let changes = |(name, scope): (&str, &str)| {
        let how = format!("memory_order_relaxed, memory_scope_{scope}");
        format!(
            "  int e{name} = 1;
  int s{name} = atomic_compare_exchange_strong_explicit({name}, &e{name}, 5, memory_order_relaxed, {how});
  int d{name} = 4294967297;
  int t{name} = atomic_compare_exchange_strong_explicit({name}, &d{name}, 12884901889, memory_order_relaxed, {how});
  int a{name} = atomic_fetch_add_explicit({name}, 4294967295, {how});
  int m{name} = atomic_fetch_max_explicit({name}, 1, {how});
  int r{name} = atomic_load_explicit({name}, {how});
"
        )
    };
    let seen = |name: &str| {
        format!(
            "0:s{name}=0 /\\ 0:e{name}=4294967297 /\\ 0:t{name}=1 /\\ 0:a{name}=12884901889 /\\ \
             0:m{name}=17179869184 /\\ 0:r{name}=17179869184 /\\ {name}=17179869184"
        )
    };
    let code = [("x", "work_group"), ("y", "device")].map(changes).concat();
    let text = format!(
        "OPENCL wide-words\n\n{{\n[x] = 4294967297;\n[y] = 4294967297;\n}}\n\n\
         P0 (global atomic_int* x, global atomic_int* y) {{\n{code}}}\n\n\
         scopeTree (device (work_group P0))\n\nforall ({} /\\ {})\n",
        seen("x"),
        seen("y")
    );
    let placement =
        Placement { widths: vec![Width::W8; 2], ..Placement::new(vec![Agent::Cu(0)], vec![0, 1]) };
    (text, placement)
}

/// A program that updates a word of each width and reads it at once. The read is issued while the
/// update is under way, and must wait for the update.
fn in_each_width() -> (String, Placement) {
    let words = ["x", "y", "z", "w"];
    let all = |of: &dyn Fn(&str) -> String, between: &str| words.map(of).join(between);
    let how = "memory_order_relaxed, memory_scope_work_group";
    let code = all(
        &|word| {
            format!(
                "  int a{word} = atomic_fetch_add_explicit({word}, 1, {how});\n  \
                 int r{word} = atomic_load_explicit({word}, {how});\n"
            )
        },
        "",
    );
    let text = format!(
        "OPENCL each-width\n\n{{\n{}}}\n\nP0 ({}) {{\n{code}}}\n\n\
         scopeTree (device (work_group P0))\n\nforall ({})\n",
        all(&|word| format!("[{word}] = {INITIAL};\n"), ""),
        all(&|word| format!("global atomic_int* {word}"), ", "),
        all(&|word| format!("0:a{word}={INITIAL} /\\ 0:r{word}=2 /\\ {word}=2"), " /\\ ")
    );
    let placement =
        Placement { widths: Width::ALL.to_vec(), ..Placement::new(vec![Agent::Cu(0)], vec![0, 1, 2, 3]) };
    (text, placement)
}

/// The number of words that a request of [`of_many_updates`] or [`of_many_words`] accesses.
const LANES_MAX: usize = 9;

/// A program whose read-modify-writes change nine words with one request: at the scopes of a
/// work-group and of the device, and by compare-and-swaps some of which fail. The old and the new
/// value of each word are checked.
fn of_many_updates() -> (String, Placement) {
    let lines = [("x", "work_group"), ("y", "device"), ("z", "device")];
    let words = |line: &str| (0..LANES_MAX).map(|at| format!("{line}{at}")).collect::<Vec<_>>();
    // The compare-and-swaps expect the value 1. Every third word has another value.
    let initial = |line: &str, at: usize| if line == "z" && at % 3 == 1 { 4 } else { 1 };
    let updated = |line: &str, at: usize| match (line, initial(line, at)) {
        ("z", 1) => 3,
        ("z", old) => old,
        (_, old) => old + at + 1,
    };
    let (mut code, mut init, mut seen) = (String::new(), String::new(), Vec::new());
    for (line, scope) in lines {
        let how = format!("memory_order_relaxed, memory_scope_{scope}");
        let names = words(line);
        init.extend(
            names.iter().enumerate().map(|(at, word)| format!("[{word}] = {};\n", initial(line, at))),
        );
        if line == "z" {
            code.extend(names.iter().map(|word| format!("  int e{word} = 1;\n")));
        }
        code.extend(names.iter().enumerate().map(|(at, word)| match line {
            "z" => format!(
                "  int s{word} = atomic_compare_exchange_strong_explicit({word}, &e{word}, 3, \
                 memory_order_relaxed, {how});\n"
            ),
            _ => format!("  int a{word} = atomic_fetch_add_explicit({word}, {}, {how});\n", at + 1),
        }));
        for (at, word) in names.iter().enumerate() {
            let (old, new) = (initial(line, at), updated(line, at));
            seen.push(match line {
                "z" => format!("0:s{word}={} /\\ 0:e{word}={old} /\\ {word}={new}", u8::from(old == 1)),
                _ => format!("0:a{word}={old} /\\ {word}={new}"),
            });
        }
    }
    let all: Vec<String> = lines.iter().flat_map(|(line, _)| words(line)).collect();
    let parameters =
        all.iter().map(|word| format!("global atomic_int* {word}")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "OPENCL many-updates\n\n{{\n{init}}}\n\nP0 ({parameters}) {{\n{code}}}\n\n\
         scopeTree (device (work_group P0))\n\nforall ({})\n",
        seen.join(" /\\ ")
    );
    let lines = (0..3).flat_map(|line| [line; LANES_MAX]).collect();
    let widths = [Width::W4, Width::W2, Width::W8].into_iter().flat_map(|width| [width; LANES_MAX]).collect();
    (text, Placement { widths, lanes: true, ..Placement::new(vec![CU0], lines) })
}

/// A program whose requests access nine words of one byte. The receiver already has the line, and
/// has written the byte between two of these words.
fn of_many_words() -> (String, Placement) {
    let words: Vec<String> = (0..LANES_MAX).map(|at| format!("x{at}")).collect();
    let all = |of: &dyn Fn(&String) -> String| words.iter().map(of).collect::<String>();
    let parameters = all(&|word| format!("global int* {word}, "));
    let parameters = format!("global int* o, {parameters}global atomic_int* f");
    let text = format!(
        "OPENCL many-words

{{ }}

P0 ({parameters}) {{
{}  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}}

P1 ({parameters}) {{
  *o = 7;
  await(f == 1, memory_order_acquire, memory_scope_device);
{}}}

scopeTree (device (work_group P0) (work_group P1))

forall ({}o=7)
",
        all(&|word| format!("  *{word} = 2;\n")),
        all(&|word| format!("  int r{word} = *{word};\n")),
        all(&|word| format!("1:r{word}=2 /\\ {word}=2 /\\ "))
    );
    // In the line, the word `o` comes first.
    let (mut lines, mut widths) = (vec![0; LANES_MAX + 1], vec![Width::W1; LANES_MAX + 1]);
    lines.push(1);
    widths.push(Width::W4);
    (text, Placement { widths, lanes: true, ..Placement::new(vec![CU1, CU0], lines) })
}

/// A program in which a thread writes one byte and then must read a new value of the adjacent byte.
/// Its cache holds the first byte dirty, so the acquire must invalidate exactly the clean bytes of
/// the line.
fn beside_a_dirty_byte() -> (String, Placement) {
    let parameters = "global int* x, global int* y, global atomic_int* g, global atomic_int* f";
    let (release, acquire) =
        ("1, memory_order_release, memory_scope_device", "memory_order_acquire, memory_scope_device");
    let text = format!(
        "OPENCL beside-dirty

{{ }}

P0 ({parameters}) {{
  int r0 = *y;
  atomic_store_explicit(g, {release});
  *x = 1;
  await(f == 1, {acquire});
  int r1 = *y;
}}

P1 ({parameters}) {{
  await(g == 1, {acquire});
  *y = 1;
  atomic_store_explicit(f, {release});
}}

scopeTree (device (work_group P0) (work_group P1))

forall (0:r0=0 /\\ 0:r1=1 /\\ x=1 /\\ y=1)
"
    );
    let widths = vec![Width::W1, Width::W1, Width::W4, Width::W4];
    let agents = vec![Agent::Cu(0), Agent::Cu(1)];
    (text, Placement { widths, ..Placement::new(agents, vec![0, 0, 1, 2]) })
}

/// A program in which a remote acquire must reach the fourth compute unit, where another thread
/// releases at work-group scope.
fn remote_from_the_fourth() -> (String, Placement) {
    let parameters = "global int* x, global atomic_int* f";
    let text = format!(
        "OPENCL remote-from-fourth

{{ }}

P0 ({parameters}) {{
  *x = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_work_group);
}}

P1 ({parameters}) {{
  await_remote(f == 1, memory_order_acquire, memory_scope_device);
  int r0 = *x;
}}

scopeTree (device (work_group P0) (work_group P1))

forall (1:r0=1 /\\ x=1)
"
    );
    (text, Placement::new(vec![Agent::Cu(3), Agent::Cu(0)], vec![0, 1]))
}

/// A program in which two compute units update a word by remote operations at once, while a third
/// thread updates the word at work-group scope.
fn remote_by_two() -> (String, Placement) {
    let add = |suffix: &str, scope: &str| {
        format!("atomic_fetch_add_explicit{suffix}(f, 1, memory_order_relaxed, memory_scope_{scope});")
    };
    let text = format!(
        "OPENCL remote-by-two

{{ }}

P0 (global atomic_int* f) {{
  {}
}}

P1 (global atomic_int* f) {{
  {1}
}}

P2 (global atomic_int* f) {{
  {1}
}}

scopeTree (device (work_group P0) (work_group P1) (work_group P2))

forall (f=3)
",
        add("", "work_group"),
        add("_remote", "device")
    );
    let agents = vec![CU0, CU1, Agent::Cu(2)];
    (text, Placement { widths: vec![Width::W2], ..Placement::new(agents, vec![0]) })
}

/// The programs in which only the end of a kernel orders the accesses to the data: a thread of the
/// first kernel writes, and then a thread of the second kernel or the host reads. No thread
/// releases, so the end of the first kernel must wait for the write. Each program runs on every
/// machine.
fn between_kernels() -> impl Iterator<Item = Draft> {
    let readers = [("unit", Agent::Cu(0)), ("other-unit", Agent::Cu(1)), ("host", Agent::Host(0))];
    let writes = [
        ("stored", "int", "*x = 2;", "int rx = *x;"),
        (
            "added",
            "atomic_int",
            "atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);",
            "int rx = atomic_load_explicit(x, memory_order_relaxed, REACH);",
        ),
    ];
    let pairs = writes.into_iter().flat_map(move |write| readers.map(|reader| (write, reader)));
    pairs.map(|((how, kind, write, read), (who, reader))| {
        let is_host = matches!(reader, Agent::Host(_));
        let reach = if is_host { "memory_scope_all_svm_devices" } else { "memory_scope_device" };
        let (read, group) = (read.replace("REACH", reach), if is_host { "" } else { " (work_group P1)" });
        let text = format!(
            "OPENCL {how}-before-{who}\n\n{{\n[x] = {INITIAL};\n}}\n\nP0 (global {kind}* x) {{\n  {write}\n}}\n\n\
             P1 (global {kind}* x) {{\n  {read}\n}}\n\nscopeTree (device (work_group P0){group})\n\n\
             forall (1:rx=2 /\\ x=2)\n"
        );
        let placement =
            Placement { stages: vec![0, 1], ..Placement::new(vec![Agent::Cu(0), reader], vec![0]) };
        draft(&format!("{how}-before-{who}"), text, placement)
    })
}

/// The ways in which a thread writes a word: the name of the way, the type of the word, and the
/// statements that change the word `NAME` from 1 to 2 at the scope `SCOPE`.
const WRITES: [(&str, &str, &str); 3] = [
    ("stored", "int", "*NAME = 2;"),
    ("added", "atomic_int", "atomic_fetch_add_explicit(NAME, 1, memory_order_relaxed, SCOPE);"),
    (
        "swapped",
        "atomic_int",
        "int e = 1;\n  atomic_compare_exchange_strong_explicit(NAME, &e, 2, memory_order_relaxed, \
         memory_order_relaxed, SCOPE);",
    ),
];

/// The scope of the threads of one device, and the scope that includes the host.
const SCOPES: [&str; 2] = ["memory_scope_device", "memory_scope_all_svm_devices"];

/// The programs in which the host runs between two kernels: a kernel writes a word, the host reads
/// this word and writes another one, and a second kernel reads both. The second kernel runs where
/// the first one has loaded the word that the host writes. Each program runs on every machine.
fn around_a_host_step() -> impl Iterator<Item = Draft> {
    let [device, system] = SCOPES;
    WRITES.into_iter().map(move |(how, kind, write)| {
        let write = |name: &str, scope: &str| write.replace("NAME", name).replace("SCOPE", scope);
        let read = |name: &str, scope: &str| match kind {
            "int" => format!("int r{name} = *{name};"),
            _ => format!("int r{name} = atomic_load_explicit({name}, memory_order_relaxed, {scope});"),
        };
        let parameters = format!("global {kind}* x, global {kind}* y");
        let text = format!(
            "OPENCL {how}-around-host-step\n\n{{\n[x] = 1;\n[y] = 1;\n}}\n\n\
             P0 ({parameters}) {{\n  {}\n  {}\n}}\n\nP1 ({parameters}) {{\n  {}\n  {}\n}}\n\n\
             P2 ({parameters}) {{\n  {}\n  {}\n}}\n\nscopeTree (device (work_group P0) (work_group P2))\n\n\
             forall (0:ry=1 /\\ 1:rx=2 /\\ 2:rx=2 /\\ 2:ry=2)\n",
            read("y", device),
            write("x", device),
            read("x", system),
            write("y", system),
            read("x", device),
            read("y", device)
        );
        let placement =
            Placement { stages: vec![0, 1, 2], ..Placement::new(vec![CU0, HOST, CU0], vec![0, 1]) };
        draft(&format!("{how}-around-host-step"), text, placement)
    })
}

/// The programs in which two compute units release at system scope at once, by a read-modify-write.
/// The host acquires from one of them. The data of both is in one bank of two, so that one release
/// reaches the bank while the bank performs the other. A shipped test,
/// `caches/host-reads-second-release.litmus`, does the same with stores.
fn by_two_releases() -> impl Iterator<Item = Draft> {
    let [_, system] = SCOPES;
    WRITES.into_iter().skip(1).map(move |(how, _, write)| {
        let write = write.replacen("memory_order_relaxed", "memory_order_release", 1);
        let release = |name: &str| write.replace("NAME", name).replace("SCOPE", system);
        let parameters = "global int* x, global int* y, global atomic_int* f, global atomic_int* g";
        let text = format!(
            "OPENCL {how}-by-two-releases\n\n{{\n[f] = 1;\n[x] = 0;\n[g] = 1;\n[y] = 0;\n}}\n\n\
             P0 ({parameters}) {{\n  *x = 1;\n  {}\n}}\n\nP1 ({parameters}) {{\n  *y = 1;\n  {}\n}}\n\n\
             P2 ({parameters}) {{\n  await(f == 2, memory_order_acquire, {system});\n  int r0 = *x;\n}}\n\n\
             scopeTree (device (work_group P0) (work_group P1))\n\nforall (2:r0=1)\n",
            release("f"),
            release("g")
        );
        let placement = Placement::new(vec![CU0, CU1, HOST], vec![0, 1, 2, 3]);
        draft(&format!("{how}-by-two-releases"), text, placement)
    })
}

/// The programs in which a wavefront loads a line that the host has written, while another wavefront
/// of its compute unit acquires at system scope. An acquire that invalidates the L1s before the banks
/// then leaves an old copy in the L1. It waits between the two only if the machine has another
/// compute unit, which has no thread here.
fn between_invalidations() -> impl Iterator<Item = Draft> {
    let [_, system] = SCOPES;
    let fence = "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, ORDER, SCOPE);";
    let acquires = [
        ("exchanged", "int r1 = atomic_exchange_explicit(f, 2, ORDER, SCOPE);"),
        ("added", "atomic_fetch_add_explicit(f, 1, ORDER, SCOPE);"),
        ("fenced", fence),
    ];
    let orders = [("acquire", "memory_order_acquire"), ("acq-rel", "memory_order_acq_rel")];
    let told = move |order: &str| format!("await(f == 1, {order}, {system});");
    let pairs = acquires.into_iter().flat_map(move |acquire| orders.map(|order| (acquire, order)));
    let with_more = pairs.map(move |((how, acquire), (name, order))| {
        let acquire = acquire.replace("ORDER", order).replace("SCOPE", system);
        (format!("{how}-{name}"), format!("{}\n  {acquire}", told("memory_order_relaxed")))
    });
    let all = [(String::from("loaded-acquire"), told("memory_order_acquire"))].into_iter().chain(with_more);
    all.map(move |(name, acquire)| {
        let text = format!(
            "OPENCL {name}-between\n\n{{ }}\n\n\
             P0 (global atomic_int* f, global int* x, global int* z) {{\n  *x = 1;\n  \
             atomic_store_explicit(f, 1, memory_order_release, {system});\n}}\n\n\
             P1 (global atomic_int* f, global int* x, global int* z) {{\n  int r0 = *z;\n  {acquire}\n  \
             int r2 = *x;\n}}\n\n\
             P2 (global int* z) {{\n  int r0 = *z;\n}}\n\n\
             scopeTree (device (work_group P1 P2))\n\nforall (1:r2=1)\n"
        );
        draft(&format!("{name}-between"), text, Placement::new(vec![HOST, CU1, CU1], vec![0, 1, 1]))
    })
}

/// The programs in which one request loads a word that the thread has just stored and another word of
/// the line: of a line that is not in the cache, of a line that is, and of a line that another
/// wavefront fetches while a third one does the same with a third word. The other word is not zero,
/// because missing bytes are zero.
fn partly_written() -> impl Iterator<Item = Draft> {
    let parameters = "global int* x, global int* y, global int* z";
    let code = |word: &str| format!("  *{word} = 1;\n  int r0 = *{word};\n  int r1 = *z;\n");
    let loads = "  int r2 = *z;\n";
    let all = [
        ("part", vec![code("x")], "0:r0=1 /\\ 0:r1=2"),
        ("part-of-copy", vec![[loads, &*code("x")].concat()], "0:r0=1 /\\ 0:r1=2"),
        (
            "part-of-fetched",
            vec![loads.to_owned(), code("x"), code("y")],
            "1:r0=1 /\\ 1:r1=2 /\\ 2:r0=1 /\\ 2:r1=2",
        ),
    ];
    all.into_iter().map(move |(name, threads, seen)| {
        let groups = (0..threads.len()).map(|thread| format!(" P{thread}")).collect::<String>();
        let code = threads.iter().enumerate();
        let code = code.map(|(thread, code)| format!("P{thread} ({parameters}) {{\n{code}}}\n\n"));
        let text = format!(
            "OPENCL {name}\n\n{{\n[z] = 2;\n}}\n\n{}scopeTree (device (work_group{groups}))\n\nforall ({seen})\n",
            code.collect::<String>()
        );
        let placement = Placement::new(vec![CU0; threads.len()], vec![0, 0, 0]);
        draft(name, text, placement.in_lanes())
    })
}

/// The programs in which a compute unit fetches a line while the host writes it, and the acquire of
/// another compute unit makes the fill useless at the bank. The acquiring compute unit also stores a
/// word of the line, mostly after its acquire. The fill must not make old bytes valid. All words
/// except the flags are in line 0, which is in the first band of a protocol with epochs.
fn around_a_useless_fill() -> impl Iterator<Item = Draft> {
    let [_, system] = SCOPES;
    let fence = |order: &str| {
        format!("atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_{order}, {system});\n  ")
    };
    let load = format!("int r1 = atomic_load_explicit(y, memory_order_relaxed, {system});\n  ");
    let (read, seen) = ("int r0 = *x;", "1:r0=1");
    let tell = format!("atomic_store_explicit(g, 1, memory_order_release, {system});");
    let told = format!("  await(g == 1, memory_order_acquire, {system});\n  int r0 = *w;\n");
    let (acquire, write) = (format!("await(f == 1, memory_order_acquire, {system});\n  "), "*w = 1;\n  ");
    let first = format!("{acquire}{write}");
    let all = [
        ("acquired", format!("{write}{acquire}{read}"), "", seen),
        ("written", format!("{first}{read}"), "", seen),
        ("written-acquired", format!("{first}{}{read}", fence("acquire")), "", seen),
        ("written-flushed", format!("{first}{}{read}", fence("release")), "", seen),
        ("written-passed", format!("{first}{load}{read}"), "", seen),
        ("written-told", format!("{first}{tell}"), &*told, "0:r0=1"),
    ];
    let flags = "global atomic_int* f, global atomic_int* g, global atomic_int* y";
    let parameters = format!("global int* x, global int* z, global int* w, {flags}");
    let drafts = all.map(|(name, of_device, of_host, seen)| {
        let text = format!(
            "OPENCL useless-fill-{name}\n\n{{ }}\n\n\
             P0 ({parameters}) {{\n  *x = 1;\n  \
             atomic_store_explicit(f, 1, memory_order_release, {system});\n{of_host}}}\n\n\
             P1 ({parameters}) {{\n  {of_device}\n}}\n\n\
             P2 ({parameters}) {{\n  int r0 = *z;\n}}\n\n\
             scopeTree (device (work_group P1) (work_group P2))\n\nforall ({seen})\n"
        );
        let placement = Placement::new(vec![HOST, CU0, CU1], vec![0, 0, 0, 1, 2, 0]);
        draft(&format!("useless-fill-{name}"), text, placement)
    });
    drafts.into_iter()
}
