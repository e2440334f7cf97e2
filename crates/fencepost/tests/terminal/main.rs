//! Tests of every command on a terminal: a command shows its progress, ends, and leaves the
//! terminal unchanged.
//!
//! These tests are a binary of their own, because they look at the screen at certain times. So no
//! long test, such as that of the guides, runs beside them.
#![cfg(unix)]

#[path = "../fencepost_tests/common/mod.rs"]
#[allow(dead_code, reason = "the other tests use the other helpers")]
mod common;
mod pty;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use common::scratch;
use pty::{EndState, Session, Setup, USUAL};

const CTRL_C: u8 = 3;
const WIDTHS: [u16; 3] = [40, 80, 200];

/// Short commands, which cover every subcommand, with their exit codes. They run in a folder that
/// [`home`] makes.
const COMMANDS: &[(&str, i32)] = &[
    ("", 2),
    ("--help", 0),
    ("rnu", 2),
    ("list systems", 0),
    ("list protocols", 0),
    ("list scenarios", 0),
    ("list workloads", 0),
    ("list models", 0),
    ("list papers", 0),
    ("run -s hlrc-8cu -p vi -w vec-add --set n=4k", 0),
    ("run -s hlrc-8cu -p vi -w spin-forever --patience 9000", 1),
    ("run -s nowhere -p vi -w vec-add", 2),
    ("compare -s hlrc-8cu --scenarios vi,no-l1 -w reduce --set n=4k", 0),
    ("why vi no-l1 -s hlrc-8cu -w reduce --set n=4k --html why.html", 0),
    ("reproduce hlrc --figure table6 --scale 1/1024 --seeds 1 --set sweeps=1", 0),
    ("report results/hlrc", 0),
    ("sweep study.toml --dry-run", 0),
    ("sweep study.toml", 0),
    ("litmus litmus/c11/SB.litmus --model tso", 0),
    ("litmus litmus/hrf --model hrf-indirect --json", 0),
    ("verify vi --litmus litmus/hrf --operations 0", 0),
    ("verify hlrc --litmus hlrc.litmus --operations 0 --charts charts", 1),
    ("verify --replay charts/hlrc-1.trace", 1),
    ("stress vi --episodes 64", 0),
    ("race -s hrf-8cu -w race-missing-fence", 1),
    ("graph info USA-road-d.BAY --scale 1/64", 0),
    ("workload info vec-add --size tiny", 0),
    ("completions bash", 0),
    ("man", 0),
    ("man --dir man1", 0),
];

/// Makes a folder with the files that the commands read. Returns its path.
fn home(name: &str) -> PathBuf {
    let folder = scratch(name);
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::copy(tree.join("litmus/findings/hlrc.litmus"), folder.join("hlrc.litmus")).unwrap();
    fs::write(folder.join("study.toml"), STUDY).unwrap();
    fs::write(folder.join("long.toml"), STUDY.replace("4k", "4m")).unwrap();
    std::os::unix::fs::symlink(tree.join("litmus"), folder.join("litmus")).unwrap();
    folder
}

/// A study of four runs.
const STUDY: &str = "systems = 'hlrc-8cu'\nscenarios = ['vi', 'no-l1']\nworkloads = 'vec-add'\n\
    [machine]\n'l1.bytes' = ['4k', '8k']\n[set]\nn = '4k'\n[[chart]]\nx = 'l1.bytes'\ny = 'cycles'\n";

fn words(command: &str) -> Vec<&str> {
    command.split_whitespace().collect()
}

fn run_all(name: &str, setup: &Setup<'_>, check: impl Fn(&EndState)) {
    let folder = home(name);
    for (command, code) in COMMANDS {
        let left = Session::start(&words(command), &folder, setup).end();
        assert_eq!(left.code, Some(*code), "{command}:\n{}", left.screen.contents());
        left.assert_clean();
        check(&left);
    }
}

#[test]
fn every_command_is_tested_here() {
    let (mut out, mut err) = (Vec::new(), Vec::new());
    fencepost::run(["fencepost", "--help"].map(OsString::from), &mut out, &mut err);
    let help = String::from_utf8(out).unwrap();
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names: Vec<&str> = names.filter(|name| *name != "help").collect();
    assert!(names.len() > 10, "{help}");
    for name in names {
        assert!(COMMANDS.iter().any(|(command, _)| words(command).first() == Some(&name)), "{name}");
    }
}

#[test]
fn every_command_ends_on_terminals_of_40_80_and_200_columns() {
    std::thread::scope(|scope| {
        for columns in WIDTHS {
            let setup = Setup { columns, ..USUAL };
            scope.spawn(move || run_all(&format!("columns-{columns}"), &setup, |_| {}));
        }
    });
}

/// Short commands that print tables.
const TABLES: &[&str] = &[
    "list workloads",
    "list workloads uts",
    "list papers hlrc",
    "run -s hlrc-8cu -p vi -w reduce --set n=4k --every 1000 --counter l1.hits",
    "compare -s hlrc-8cu --scenarios vi,no-l1 -w histogram,reduce --set n=4k",
    "compare -s hlrc-8cu --scenarios vi,no-l1 -w histogram,reduce --set n=4k --seeds 2",
    "why vi no-l1 -s hlrc-8cu -w reduce --set n=4k",
];

#[test]
fn no_row_of_a_table_is_wider_than_a_usual_terminal() {
    let folder = home("tables");
    for command in TABLES {
        for columns in [80, 200] {
            let left = Session::start(&words(command), &folder, &Setup { columns, ..USUAL }).end();
            let text = left.screen.contents();
            assert_eq!(left.code, Some(0), "{command}:\n{text}");
            let rows = text.lines().count() as u16;
            let wrapped = (0..rows).filter(|row| left.screen.row_wrapped(*row)).count();
            assert_eq!(wrapped, 0, "{columns} columns, {command}:\n{text}");
            // Bars exist on a narrow terminal and have their full length on a wide one.
            let longest = text.split_whitespace().map(|word| word.matches('█').count()).max();
            let is_long = columns == 200 && command.starts_with("compare");
            assert!(command.starts_with("list") || longest >= Some(if is_long { 24 } else { 3 }), "{text}");
        }
    }
}

#[test]
fn a_terminal_that_cannot_draw_over_a_line_gets_no_control_codes() {
    let plain = |left: &EndState| {
        assert!(!left.bytes.contains(&0x1b), "{}: {:?}", left.words, String::from_utf8_lossy(&left.bytes));
    };
    std::thread::scope(|scope| {
        for (name, value) in [("TERM", "dumb"), ("CI", "true")] {
            let variables = [(name, value)];
            scope.spawn(move || {
                run_all(&format!("with-{name}"), &Setup { variables: &variables, ..USUAL }, plain);
            });
        }
    });
}

#[test]
fn no_color_is_respected() {
    let no_color = |left: &EndState| {
        let text = String::from_utf8_lossy(&left.bytes);
        let codes = text.split('\u{1b}').skip(1);
        assert!(codes.clone().all(|code| code.starts_with("[J")), "{}: {text:?}", left.words);
    };
    run_all("no-color", &Setup { variables: &[("NO_COLOR", "1")], ..USUAL }, no_color);
}

#[test]
fn a_redirected_stream_contains_no_progress_line() {
    std::thread::scope(|scope| {
        for stream in [1, 2] {
            scope.spawn(move || {
                let folder = scratch(&format!("to-file-{stream}"));
                let path = folder.join("output");
                let setup = Setup { redirected: Some((stream, &path)), ..USUAL };
                run_all(&format!("redirected-{stream}"), &setup, |left| {
                    let text = fs::read(&path).unwrap();
                    assert!(!text.contains(&0x1b) && !text.contains(&b'\r'), "{}", left.words);
                    let on_terminal = !left.screen.contents().trim().is_empty();
                    // Results go to standard output, errors to standard error.
                    let has_results = left.code == Some(0);
                    if has_results && left.words != "man --dir man1" {
                        assert_eq!((stream == 1, stream == 2), (!text.is_empty(), on_terminal));
                    }
                });
            });
        }
    });
}

/// Long commands, each with a part of the text of its progress line.
const LONG: &[(&str, &str)] = &[
    ("run -s hlrc-8cu -p vi -w vec-add --set n=4m", "vec-add on hlrc-8cu: cycle"),
    ("compare -s hlrc-8cu --scenarios vi,no-l1 -w vec-add --set n=4m", "0 of 2 runs: cycle"),
    ("why vi no-l1 -s hlrc-8cu -w vec-add --set n=4m", "0 of 2 runs: cycle"),
    ("race -s hlrc-8cu -w vec-add --set n=4m --seeds 9", "0 of 9 runs"),
    ("reproduce hlrc --figure fig4 --scale 1/16 --jobs 1", "cycle"),
    ("sweep long.toml --jobs 1 --json", "0 of 4 runs: cycle"),
    ("litmus long.litmus --model rmo", "0 of 1 tests under rmo"),
    ("verify vi --operations 0 --mutants --jobs 1", " of "),
    ("stress vi --episodes 100000000", "of 100,000,000 episodes of vi"),
];

/// A litmus test whose search takes longer than a minute.
fn long_test() -> String {
    let threads = 5;
    let mut text = String::from("C long\n{}\n");
    for thread in 0..threads {
        text.push_str(&format!("P{thread}(atomic_int* x, atomic_int* y) {{\n"));
        for at in 0..4 {
            text.push_str(&format!(
                "  atomic_store_explicit(x, {}, memory_order_relaxed);\n",
                thread * 9 + at
            ));
            text.push_str(&format!("  int r{at} = atomic_load_explicit(y, memory_order_relaxed);\n"));
            text.push_str(&format!(
                "  atomic_store_explicit(y, {}, memory_order_relaxed);\n",
                thread * 9 + at
            ));
        }
        text.push_str("}\n");
    }
    text + "exists (0:r0=1 /\\ 1:r0=2 /\\ 2:r3=1)\n"
}

#[test]
fn a_long_command_shows_one_progress_line_and_ctrl_c_removes_it() {
    std::thread::scope(|scope| {
        for columns in WIDTHS {
            scope.spawn(move || {
                let folder = home(&format!("long-{columns}"));
                fs::write(folder.join("long.litmus"), long_test()).unwrap();
                for (command, progress) in LONG {
                    let setup = Setup { columns, ..USUAL };
                    let mut session = Session::start(&words(command), &folder, &setup);
                    session.wait_for("[0:0");
                    session.wait_for(&progress[..progress.len().min(16)]);
                    let screen = session.screen();
                    let text = screen.contents();
                    assert_eq!(text.trim_end().lines().count(), 1, "{columns}, {command}:\n{text}");
                    assert!(!screen.row_wrapped(0), "{columns}, {command}:\n{text}");
                    assert!(!screen.hide_cursor());
                    session.press(CTRL_C);
                    let left = session.end();
                    left.assert_clean();
                    assert!(matches!(left.code, Some(1 | 130)), "{command}: {:?}", left.code);
                }
            });
        }
    });
}

/// Pseudorandom numbers, the same in every run.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

#[test]
fn ctrl_c_at_any_moment_ends_every_command_and_leaves_the_terminal_clean() {
    let commands: Vec<&str> = COMMANDS
        .iter()
        .map(|(command, _)| *command)
        .chain(LONG.iter().map(|(command, _)| *command))
        .collect();
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let commands = &commands;
            scope.spawn(move || {
                let folder = home(&format!("interrupted-{seed}"));
                fs::write(folder.join("long.litmus"), long_test()).unwrap();
                let mut draws = Draws(seed);
                for command in commands {
                    let session = Session::start(&words(command), &folder, &USUAL);
                    std::thread::sleep(Duration::from_millis(draws.below(250)));
                    session.press(CTRL_C);
                    let left = session.end();
                    // Before the handler is installed, the system ends the process
                    // without an exit code.
                    assert!(matches!(left.code, None | Some(0 | 1 | 2 | 130)), "{command}: {:?}", left.code);
                    let text = left.screen.contents();
                    // The terminal may echo the key after the last line of a command.
                    if left.code.is_some() && !text.ends_with("^C") {
                        left.assert_clean();
                    }
                    assert!(!text.contains("panicked"), "{command}:\n{text}");
                    let unfinished = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
                    let unfinished: Vec<_> =
                        unfinished.filter(|name| name.to_string_lossy().ends_with(".unfinished")).collect();
                    assert!(unfinished.is_empty(), "{command}: {unfinished:?}");
                }
            });
        }
    });
}

#[test]
fn an_interrupted_reproduction_or_sweep_prints_how_to_continue() {
    let folder = home("resume");
    for (command, kept) in [
        ("reproduce hlrc --figure fig4 --scale 1/16 --jobs 1", "results/hlrc"),
        ("sweep long.toml --jobs 1", "results/long"),
    ] {
        let mut session = Session::start(&words(command), &folder, &USUAL);
        session.wait_for("cycle");
        session.press(CTRL_C);
        let left = session.end();
        let text = left.screen.contents();
        let text = text.lines().collect::<Vec<_>>().join("\n");
        assert_eq!(left.code, Some(130), "{text}");
        assert!(text.contains("fencepost: interrupted: ") && text.contains(kept), "{text}");
        assert!(text.contains("the same command continues with the remaining runs"), "{text}");
        left.assert_clean();
    }
}

/// A writer that accepts no text. Its first write panics after half a second, when a progress line
/// is shown.
struct FailingWriter;

impl io::Write for FailingWriter {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        std::thread::sleep(Duration::from_millis(500));
        panic!("a fault of the program")
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
#[ignore = "it panics: the test below runs it on a terminal"]
fn panics_below_its_progress_line() {
    fencepost::output::handle_panics();
    let command = ["fencepost", "litmus", "long.litmus", "long.litmus", "--model", "rmo", "--timeout", "0.3"];
    fencepost::run(command.map(OsString::from), &mut FailingWriter, &mut io::stderr());
}

#[test]
fn a_panic_takes_the_progress_line_away_before_it_is_reported() {
    let folder = scratch("panic");
    fs::write(folder.join("long.litmus"), long_test()).unwrap();
    let (program, output) = (std::env::current_exe().unwrap(), folder.join("output"));
    let setup = Setup { redirected: Some((1, &output)), ..USUAL };
    let args = ["panics_below_its_progress_line", "--exact", "--ignored", "--nocapture"];
    let left = Session::of(&program, &args, &folder, &setup).end();
    let text = String::from_utf8_lossy(&left.bytes).into_owned();
    let (before, after) = text.split_once("a fault of the program").expect("it is reported");
    assert!(before.contains("[0:0"), "no line was there: {text:?}");
    let report = before.rsplit_once("\x1b[J").expect("the line is taken away").1;
    assert!(!report.contains("[0:0") && !after.contains("[0:0"), "{text:?}");
    assert_eq!(left.code, Some(101));
    left.assert_clean();
}

#[test]
fn json_of_several_litmus_tests_is_whole_on_a_terminal() {
    let folder = scratch("json-on-terminal");
    // A test that asks for no value has one state.
    let text = long_test();
    let (code, _) = text.split_once("exists").unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.join(format!("{name}.litmus")), format!("{code}exists (true)\n")).unwrap();
    }
    let command = words("litmus . --model rmo --json --timeout 0.3 --jobs 1");
    let left = Session::start(&command, &folder, &Setup { columns: 200, ..USUAL }).end();
    let text = left.screen.contents();
    // Error messages follow.
    let found = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>().next();
    let count = found.and_then(Result::ok).and_then(|found| found.as_array().map(Vec::len));
    assert_eq!(count, Some(3), "{text}");
    assert_eq!(left.code, Some(1));
}
