//! Executes every step of the guides in a copy of the repository.
//!
//! Both guides share one copy, so that this copy is compiled only once. The tests copy those of
//! their own build results that stay valid.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::commands::{FENCEPOST, compare};
use super::page::{Fence, Page};
use super::shell::Shell;
use super::table::NAMED;
use super::tree;

pub(crate) const NAMES: [&str; 2] = ["docs/add-a-protocol.md", "docs/add-a-workload.md"];

/// The crates that a guide changes, and the crates that depend on them. All of these are
/// recompiled.
const CHANGED: [&str; 5] = ["zoo", "workloads", "subjects", "lab", "fencepost"];

/// Crates that are compiled without optimization, because this is faster and their code runs only
/// for a short time. The code of a protocol that runs for long is generated in `subjects`.
const UNOPTIMIZED: [&str; 3] = ["zoo", "lab", "fencepost"];

/// The protocols that the command lines of the guides run, each with its type in `zoo`.
const RUN: [(&str, &str); 3] = [("vi", "vi::Vi"), ("no-l1", "no_l1::NoL1"), ("once", "once::Once")];

/// The tests that the command lines of the guides run: a crate and the modules of its tests.
const TESTED: [(&str, &[&str]); 2] = [("zoo", &["conformance", "once"]), ("workloads", &["answers"])];

#[test]
fn every_guide_works_as_written() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guides");
    fs::remove_dir_all(&folder).ok();
    let (copy, target) = (folder.join("clone"), folder.join("target"));
    tree::copy(&copy);
    let profile = Profile::of_these_tests();
    take_over(profile.built_in(), &target.join(profile.folder()));
    let pages: Vec<Page> = NAMES.into_iter().map(Page::read).collect();
    for page in &pages {
        write_files(page, &copy);
    }
    keep_few(&copy);
    keep_tested(&copy);
    let protocol = copy.join("crates/zoo/src/once");
    let files = tree::files(&protocol).into_iter();
    let lines: usize =
        files.map(|file| fs::read_to_string(protocol.join(file)).unwrap().lines().count()).sum();
    assert!(lines < 200, "{}: the protocol has {lines} lines of Rust; fewer than 200 are expected", NAMES[0]);
    let cargo = Cargo { copy: &copy, target: &target, profile: &profile };
    let tests = TESTED.map(|(krate, _)| format!("{krate}_tests"));
    let tests = tests.iter().flat_map(|name| ["--test", name]);
    cargo.run(["build", "--bin", "fencepost"].into_iter().chain(tests));
    let shell = Shell::new(&copy);
    let fencepost = target.join(profile.folder()).join("fencepost");
    for page in &pages {
        let mut complaints: Vec<String> = Vec::new();
        for group in page.command_groups() {
            let mut printed = String::new();
            for command in &group.commands {
                printed.push_str(&follow(&command.text, &cargo, &shell, &fencepost));
            }
            complaints.extend(group.output.and_then(|fence| compare(page, fence, &printed)));
        }
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }
}

/// Runs a command line of a guide, and checks that it succeeds. Returns its output.
fn follow(command: &str, cargo: &Cargo<'_>, shell: &Shell, fencepost: &Path) -> String {
    if NAMED.contains(&command) {
        return String::new();
    }
    let known = ["cargo test ", "FENCEPOST_BLESS=1 cargo test "];
    if let Some(begin) = known.iter().find(|begin| command.starts_with(**begin)) {
        let words = command[begin.len()..].split(' ');
        return cargo.test(words, begin.contains("BLESS"));
    }
    if command.starts_with("rustfmt ") && shell.run("rustfmt --version", fencepost).code != 0 {
        return String::new(); // Not every toolchain has it.
    }
    let text = match command.split_once("cargo run --release --bin fencepost -- ") {
        Some(("", arguments)) => format!("fencepost {arguments}"),
        _ if command.starts_with("fencepost ") || command.starts_with("rustfmt ") => command.to_owned(),
        _ => panic!("nobody says how to run `{command}`"),
    };
    let printed = shell.run(&text, fencepost);
    assert_eq!(printed.code, 0, "{command}\n{}", printed.text);
    printed.text
}

/// Writes each block of a guide into the file that the text above the block names.
fn write_files(page: &Page, copy: &Path) {
    let mut file: Option<&str> = None;
    for fence in &page.fences {
        file = fence.file.as_deref().or(file);
        let place = || format!("{}:{}", page.name, fence.line);
        let path = || copy.join(file.unwrap_or_else(|| panic!("{}: no file is named", place())));
        match &*fence.language {
            "sh" | "text" => {}
            "diff" => change(fence, &path()),
            "rust" | "markdown" => {
                let path = path();
                let old = fs::read_to_string(&path).map(|old| old + "\n").unwrap_or_default();
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, old + &fence.text).unwrap();
            }
            other => panic!("{}: nobody says what to do with a block in `{other}`", place()),
        }
    }
}

/// Changes the copy so that the explorer and the simulator know only the protocols of [`RUN`], because
/// most of the compilation is their code for each protocol.
fn keep_few(copy: &Path) {
    for (file, visitor) in [("explored", "Explored"), ("timed", "Timed")] {
        let path = copy.join("crates/subjects/src").join(file).with_extension("rs");
        let text = fs::read_to_string(&path).unwrap();
        let all = format!("zoo::with(name, {visitor})");
        assert_eq!(text.matches(&all).count(), 1, "{} does not have once: {all}", path.display());
        let arms = RUN.map(|(name, of)| format!("{name:?} => Some({visitor}.visit::<zoo::{of}>()), "));
        let few = format!("use zoo::Visit as _;\n    match name {{ {}_ => None }}", arms.concat());
        fs::write(&path, text.replace(&all, &few)).unwrap();
    }
}

/// Changes the copy so that the tests have only the modules of [`TESTED`]. To compile the others would
/// take longer than all other steps of the guides.
fn keep_tested(copy: &Path) {
    for (krate, modules) in TESTED {
        let path = copy.join(format!("crates/{krate}/tests/{krate}_tests/main.rs"));
        let text = fs::read_to_string(&path).unwrap();
        let module = |line: &str| Some(line.strip_prefix("mod ")?.trim_end_matches(';').to_owned());
        let is_kept = |line: &&str| module(line).is_none_or(|name| modules.contains(&&*name));
        let kept: Vec<&str> = text.lines().filter(is_kept).collect();
        assert_eq!(kept.iter().filter(|line| module(line).is_some()).count(), modules.len(), "{kept:?}");
        fs::write(&path, kept.join("\n") + "\n").unwrap();
    }
}

/// Applies a block in the format of `diff` to a file. Its lines begin with a space, `+` or `-`.
fn change(fence: &Fence, path: &Path) {
    let side = |other: char| -> String {
        let lines = fence.text.split_inclusive('\n').filter(|line| !line.starts_with(other));
        lines.map(|line| &line[1..]).collect()
    };
    let (old, new) = (side('+'), side('-'));
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(text.matches(&old).count(), 1, "{} does not have once:\n{old}", path.display());
    fs::write(path, text.replace(&old, &new)).unwrap();
}

/// The cargo profile with which these tests were built, given by the folder of its build results.
struct Profile(PathBuf);

impl Profile {
    fn of_these_tests() -> Profile {
        Profile(Path::new(FENCEPOST).parent().unwrap().to_owned())
    }

    fn built_in(&self) -> &Path {
        &self.0
    }

    fn folder(&self) -> &OsStr {
        self.0.file_name().unwrap()
    }

    fn name(&self) -> &str {
        match self.folder().to_str() {
            Some("debug") | None => "dev",
            Some(name) => name,
        }
    }
}

/// Copies the build results that stay valid. Cargo rebuilds every result that it does not find or
/// that it considers out of date.
fn take_over(from: &Path, to: &Path) {
    for part in [".fingerprint", "build", "deps"] {
        let is_changed = |name: &str| {
            let name = name.strip_prefix("lib").unwrap_or(name);
            let name = name.split('.').next().unwrap_or(name);
            name.rsplit_once('-').is_some_and(|(name, _)| CHANGED.contains(&name))
        };
        let Ok(entries) = fs::read_dir(from.join(part)) else { continue };
        for entry in entries.map(Result::unwrap) {
            let name = entry.file_name();
            if name.to_str().is_none_or(is_changed) {
                continue;
            }
            let to = to.join(part).join(&name);
            if entry.file_type().unwrap().is_dir() {
                for file in tree::files(&entry.path()) {
                    tree::copy_file(&entry.path().join(&file), &to.join(&file));
                }
                continue;
            }
            match entry.path().extension().and_then(OsStr::to_str) {
                Some("d") => tree::copy_file(&entry.path(), &to),
                // Compilers replace these files and do not modify them, so a
                // link is enough.
                Some("rlib" | "rmeta" | "so" | "dylib" | "dll") => {
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    fs::hard_link(entry.path(), &to).unwrap_or_else(|_| tree::copy_file(&entry.path(), &to));
                }
                _ => {}
            }
        }
    }
}

struct Cargo<'a> {
    copy: &'a Path,
    target: &'a Path,
    profile: &'a Profile,
}

impl Cargo<'_> {
    /// Runs `cargo test` with the arguments `words`. If `bless` is true, the tests write their
    /// output into the pages.
    fn test<'w>(&self, words: impl Iterator<Item = &'w str>, bless: bool) -> String {
        let mut command = self.command(["test"].into_iter().chain(words));
        if bless {
            command.env("FENCEPOST_BLESS", "1");
        }
        output(command)
    }

    fn run<'w>(&self, words: impl Iterator<Item = &'w str>) {
        output(self.command(words));
    }

    fn command<'w>(&self, mut words: impl Iterator<Item = &'w str>) -> Command {
        let mut command = Command::new(env!("CARGO"));
        // With the features of the whole workspace, the results of these tests stay valid.
        command.args(words.next()).args(["--workspace", "--offline", "--locked"]);
        command.args(["--profile", self.profile.name()]);
        for krate in UNOPTIMIZED {
            let name = self.profile.name();
            command.arg("--config").arg(format!("profile.{name}.package.{krate}.opt-level=0"));
        }
        command.args(words).current_dir(self.copy).env("CARGO_TARGET_DIR", self.target);
        command.env_remove("FENCEPOST_BLESS");
        command
    }
}

fn output(mut command: Command) -> String {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{out}\n{err}");
    assert!(!err.contains("warning: "), "{command:?}\n{err}");
    out
}
