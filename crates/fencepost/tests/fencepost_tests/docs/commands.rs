//! Every command line of every page runs, and prints the output that the page shows.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

use super::page::{CommandGroup, Page};
use super::printed::{blessed, fits};
use super::shell::Shell;
use super::table::{FOUND, INSTEAD, NAMED};
use super::tree::Scratch;
use super::{guides, tree};

pub(crate) const FENCEPOST: &str = env!("CARGO_BIN_EXE_fencepost");

/// A memory model in the cat language. It stands for a model that the reader writes.
const OWN_MODEL: &str = "\
\"own\"
include \"cos.cat\"
acyclic po | rf | co | fr as sc
";

/// A graph of three vertices in the Matrix Market format. It stands for a graph of the reader.
const GRAPH: &str = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 5\n2 3 1\n3 1 2\n";

#[test]
fn every_command_of_the_pages_prints_their_output() {
    let pages = Page::all().into_iter();
    let pages: Vec<Page> = pages
        .filter(|page| !guides::NAMES.contains(&&*page.name) && !page.command_groups().is_empty())
        .collect();
    assert!(pages.len() > 8, "{} pages", pages.len());
    let (waiting, complaints) = (Mutex::new(pages.iter()), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for number in 0..thread::available_parallelism().map_or(1, usize::from) {
            let (waiting, complaints) = (&waiting, &complaints);
            scope.spawn(move || {
                let mut scratch = scratch(number);
                loop {
                    let Some(page) = waiting.lock().unwrap().next() else { break };
                    // The lock is taken only after the page, so that pages run at the same time.
                    let found = follow(page, &shell_for(page, &mut scratch));
                    complaints.lock().unwrap().extend(found);
                }
            });
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// A copy of the repository with this number. It also contains files that stand for the reader's own
/// files.
fn scratch(number: usize) -> Scratch {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("docs").join(number.to_string());
    Scratch::new(folder, |folder| {
        fs::create_dir_all(folder.join(".ci")).unwrap();
        tree::copy_file(&tree::root().join(".ci/run"), &folder.join(".ci/run"));
        fs::write(folder.join("my-graph.mtx"), GRAPH).unwrap();
        fs::write(folder.join("own.cat"), OWN_MODEL).unwrap();
        fs::write(folder.join("places.csv"), "30.5, 90.25\n-8, 140\n29, 91\n").unwrap();
        fs::write(folder.join("a.csv"), "1,2,3\n4,5,6\n").unwrap();
        fs::write(folder.join("b.csv"), "1 2\n3 4\n5 6\n").unwrap();
        fs::write(folder.join("own.bell"), "let own = po & loc\n").unwrap();
        fs::write(folder.join("own.def"), "smp_mb() { __fence{mb}; }\n").unwrap();
        fs::write(folder.join("names"), "litmus/c11/SB.litmus\nlitmus/c11/MP.litmus\n").unwrap();
        fs::copy(folder.join("systems/hlrc-8cu.toml"), folder.join("my-gpu.toml")).unwrap();
        assert_eq!(Shell::new(folder).run("gzip my-graph.mtx", Path::new(FENCEPOST)).code, 0);
    })
}

/// A shell in the copy of the repository, which is restored first.
fn shell_for(page: &Page, scratch: &mut Scratch) -> Shell {
    scratch.restore();
    if page.name == "docs/studies.md" {
        let study = &page.fences[0];
        assert_eq!(study.language, "toml", "the first block of {} is the reader's study", page.name);
        fs::write(scratch.folder.join("my-study.toml"), &study.text).unwrap();
    }
    Shell::new(&scratch.folder)
}

/// Runs all command lines of a page. Returns a complaint for each step that fails, or whose output is
/// not as the page shows.
fn follow(page: &Page, shell: &Shell) -> Vec<String> {
    // From last to first, so that a blessed block does not move the others.
    let mut results: Vec<_> =
        page.command_groups().iter().map(|group| (group.output, run(page, group, shell))).collect();
    results.reverse();
    let mut complaints = Vec::new();
    for (output, result) in results {
        let printed = match result {
            Ok(printed) => printed,
            Err(complaint) => {
                complaints.push(complaint);
                continue;
            }
        };
        complaints.extend(output.and_then(|fence| compare(page, fence, &printed)));
    }
    complaints
}

/// Runs the command lines of a group. Returns their output, or a complaint if a command line fails.
fn run(page: &Page, group: &CommandGroup, shell: &Shell) -> Result<String, String> {
    let mut printed = String::new();
    for command in &group.commands {
        let place = format!("{}:{}: {}", page.name, command.line, command.text);
        let text = match command.text.split_once("cargo run --release --bin fencepost -- ") {
            Some(("", arguments)) => format!("fencepost {arguments}"),
            _ => command.text.clone(),
        };
        if NAMED.contains(&&*text) {
            named(&text).map_err(|why| format!("{place}\n{why}"))?;
            continue;
        }
        understood(&text).map_err(|why| format!("{place}\n{why}"))?;
        let instead = INSTEAD.iter().find(|(of, ..)| *of == text).map(|(_, instead, _)| *instead);
        if instead.is_none() && text.contains("cargo ") {
            return Err(format!("{place}\nnobody says how to run it: see table.rs"));
        }
        let expected = i32::from(FOUND.contains(&&*text));
        let found = shell.run(instead.unwrap_or(&text), Path::new(FENCEPOST));
        if found.code != expected {
            return Err(format!("{place}\nexit code {}, not {expected}:\n{}", found.code, found.text));
        }
        printed.push_str(&found.text);
    }
    Ok(printed)
}

/// Checks that `fencepost` accepts the whole command line, without running it.
fn understood(text: &str) -> Result<(), String> {
    let Some(arguments) = text.strip_prefix("fencepost ") else { return Ok(()) };
    let words = arguments.split(' ').take_while(|word| *word != ">").map(OsString::from);
    let words = [OsString::from("fencepost")].into_iter().chain(words);
    let mut err = Vec::new();
    match fencepost::refuses(words, &mut Vec::new(), &mut err) {
        None => Ok(()),
        Some(_) => Err(String::from_utf8_lossy(&err).into_owned()),
    }
}

/// If the command line begins with `fencepost`, checks that its subcommand and its options exist.
fn named(text: &str) -> Result<(), String> {
    if !text.starts_with("fencepost ") {
        return Ok(());
    }
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let words: Vec<&str> = text.split(' ').collect();
    let code = fencepost::run(["fencepost", words[1], "--help"].map(OsString::from), &mut out, &mut err);
    let help = String::from_utf8(out).unwrap();
    match words[2..].iter().find(|word| !help.contains(**word)) {
        None if code == 0 => Ok(()),
        _ => Err(String::from("there is no such command")),
    }
}

/// Compares the output `printed` with the block `fence` of the page. If they differ, returns a
/// complaint or, under `FENCEPOST_BLESS`, writes the output into the page.
pub(crate) fn compare(page: &Page, fence: usize, printed: &str) -> Option<String> {
    let shown = &page.fences[fence];
    if fits(&shown.text, printed) {
        return None;
    }
    let place = format!("{}:{}", page.name, shown.line);
    if env::var_os("FENCEPOST_BLESS").is_none() {
        return Some(format!(
            "{place}: FENCEPOST_BLESS=1 cargo test --test fencepost_tests docs accepts what is printed; shown:\n{}\nprinted:\n{printed}",
            shown.text
        ));
    }
    match blessed(&shown.text, printed) {
        Some(text) => page.replace(fence, &text),
        None => return Some(format!("{place}: mend by hand what is shown of\n{printed}")),
    }
    None
}

/// The tables of exceptions list command lines that the tests do not run as written, or that end
/// with exit code 1. Each of these command lines is in a page.
#[test]
fn every_listed_exception_is_in_a_page() {
    let mut all = BTreeSet::new();
    for page in Page::all() {
        all.extend(
            page.command_groups().into_iter().flat_map(|group| group.commands).map(|command| command.text),
        );
    }
    let known = INSTEAD.iter().map(|(command, ..)| command).chain(FOUND).chain(NAMED);
    for command in known {
        assert!(all.contains(*command), "no page has the command line {command}");
    }
    assert!(INSTEAD.iter().all(|(.., why)| !why.is_empty()));
}
