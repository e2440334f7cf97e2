//! Finds the tests of a command: files, folders, and tables of expectations.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use litmus::suite::{Question, expectations, is_test_file};

use crate::Failure;
use crate::args::LitmusArguments;

/// The maximum size of a test or a model, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// The maximum size of a table of expectations or results, in bytes.
const TABLE_BYTES_MAX: u64 = 1 << 26;

/// A test to check.
#[derive(Debug)]
pub(super) struct Test {
    /// The path of the test, as the user gave it.
    pub(super) path: PathBuf,
    /// The answers that the tables of expectations give for the test.
    pub(super) expected: Expected,
    /// The reason why the test cannot be read. `None` if the test can be read, or if this is not
    /// known yet.
    pub(super) trouble: Option<String>,
    /// The text of a test from standard input. `None` for a test in a file.
    pub(super) text: Option<String>,
}

/// The answers that the tables of expectations give for a test. A field is `None` if no table gives
/// this answer.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Expected {
    pub(super) verdict: Option<bool>,
    pub(super) race_free: Option<bool>,
}

/// The tests to check, and the numbers of tests that are left out.
#[derive(Debug, Default)]
pub(super) struct Tests {
    pub(super) list: Vec<Test>,
    /// The number of tests in the given folders that are left out because no table of expectations
    /// names them.
    pub(super) in_no_table: usize,
    /// The number of tests that a table of expectations names, but that are left out because they
    /// are in none of the given folders.
    pub(super) outside: usize,
}

/// Reads a file with a test or a model. The file may have at most 1 MiB.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    text_of(read_bytes(path, TEXT_BYTES_MAX)?, &path.display().to_string())
}

/// Converts bytes to text. Bytes that are not UTF-8 are read as Latin-1, which the comments of some
/// older files use. Fails if a control character shows that the file is binary.
fn text_of(bytes: Vec<u8>, shown: &str) -> Result<String, String> {
    let is_text = |byte: &u8| !byte.is_ascii_control() || byte.is_ascii_whitespace();
    if core::str::from_utf8(&bytes).is_err() && bytes.iter().all(is_text) {
        return Ok(bytes.into_iter().map(char::from).collect());
    }
    utf8(bytes, shown)
}

/// Reads a file with a table of expectations or results.
pub(crate) fn read_table(path: &Path) -> Result<String, String> {
    utf8(read_bytes(path, TABLE_BYTES_MAX)?, &path.display().to_string())
}

fn read_bytes(path: &Path, bytes_max: u64) -> Result<Vec<u8>, String> {
    let shown = path.display().to_string();
    let file = fs::File::open(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    read_input(file, &shown, bytes_max)
}

fn read_input(from: impl Read, shown: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    let refuse = |reason: String| format!("cannot read {shown}: {reason}");
    let mut bytes = Vec::new();
    from.take(bytes_max + 1).read_to_end(&mut bytes).map_err(|error| refuse(error.to_string()))?;
    if bytes.len() as u64 > bytes_max {
        return Err(refuse(format!("the input is larger than {} MiB", bytes_max >> 20)));
    }
    Ok(bytes)
}

fn utf8(bytes: Vec<u8>, shown: &str) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = String::from_utf8_lossy(&error.as_bytes()[..at]);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().map_or(0, |rest| rest.chars().count()) + 1;
        let byte = error.as_bytes()[at];
        format!("{shown}:{line}:{column}: found the byte {byte:#04x}, expected text in UTF-8")
    })
}

/// The maximum nesting depth of lists (`@FILE`) that name further lists.
const LISTS_DEEP_MAX: usize = 8;
/// The maximum number of paths in all lists together.
const LISTED_MAX: usize = 1_000_000;

/// The paths on the command line. Each list (`@FILE`) is replaced by the paths that it names.
fn listed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    let mut open: Vec<(PathBuf, usize)> = paths.iter().rev().map(|path| (path.clone(), 0)).collect();
    while let Some((path, depth)) = open.pop() {
        let text = path.to_string_lossy();
        let Some(list) = text.strip_prefix('@').filter(|_| !path.exists()).map(PathBuf::from) else {
            all.push(path);
            continue;
        };
        if depth >= LISTS_DEEP_MAX || all.len() + open.len() > LISTED_MAX {
            let sentence = format!(
                "{}: lists are nested more than {LISTS_DEEP_MAX} deep, or name more than {LISTED_MAX} tests",
                list.display()
            );
            return Err(Failure::BadInput(sentence));
        }
        let folder = list.parent().unwrap_or(Path::new("")).to_owned();
        let names = read_table(&list).map_err(Failure::BadInput)?;
        let names = names.lines().map(str::trim).filter(|name| !name.is_empty() && !name.starts_with('#'));
        for name in names.rev() {
            let path = match name.strip_prefix('@') {
                Some(list) => PathBuf::from(format!("@{}", folder.join(list).display())),
                None => folder.join(name),
            };
            open.push((path, depth + 1));
        }
    }
    Ok(all)
}

/// The tests that the command line names, in the order of the command line. The tests of a folder
/// are sorted by name.
pub(super) fn tests(arguments: &LitmusArguments) -> Result<Tests, Failure> {
    let mut tables = Table::default();
    for (path, question) in
        [(&arguments.expect, Question::Verdict), (&arguments.expect_race_free, Question::RaceFree)]
    {
        if let Some(path) = path {
            tables.add(path, question).map_err(Failure::BadInput)?;
        }
    }
    let mut tests = Tests::default();
    if arguments.paths.is_empty() {
        tests.list = tables.missing;
        tests.list.extend(tables.rows.into_values().map(|row| Test {
            path: row.path,
            expected: row.expected,
            trouble: None,
            text: None,
        }));
        if tests.list.is_empty() {
            return Err(Failure::BadInput(String::from("the table names no test")));
        }
        return Ok(tests);
    }
    let has_table = arguments.expect.is_some() || arguments.expect_race_free.is_some();
    let mut met = BTreeSet::new();
    for path in &listed(&arguments.paths)? {
        if path == Path::new("-") {
            let text = read_input(std::io::stdin().lock(), "standard input", TEXT_BYTES_MAX);
            let expected = Expected::default();
            let text = text.and_then(|bytes| text_of(bytes, "-")).map_err(Failure::BadInput)?;
            tests.list.push(Test { path: path.clone(), expected, trouble: None, text: Some(text) });
            continue;
        }
        let is_folder = fs::metadata(path).is_ok_and(|there| there.is_dir());
        let found = if is_folder { in_folder(path)? } else { vec![(path.clone(), None)] };
        for (path, trouble) in found {
            let key = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
            let row = tables.by_file.get(&key).and_then(|number| tables.rows.get(number));
            if has_table && is_folder && row.is_none() && trouble.is_none() {
                tests.in_no_table += 1;
                continue;
            }
            met.insert(key);
            tests.list.push(Test {
                path,
                expected: row.map_or(Expected::default(), |r| r.expected),
                trouble,
                text: None,
            });
        }
    }
    tests.outside = tables.by_file.keys().filter(|key| !met.contains(*key)).count();
    if has_table && tests.outside == tables.by_file.len() && !tables.by_file.is_empty() {
        let places: Vec<String> = arguments.paths.iter().map(|path| path.display().to_string()).collect();
        let places = places.join(", ");
        return Err(Failure::BadInput(format!("the table of expectations names no test in {places}")));
    }
    tests.list.append(&mut tables.missing);
    Ok(tests)
}

/// If the path is a folder, all `*.litmus` files in and below it. Otherwise the path itself.
pub(crate) fn in_or_below(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !fs::metadata(path).is_ok_and(|there| there.is_dir()) {
        return Ok(vec![path.to_owned()]);
    }
    let of = |(path, trouble): FolderEntry| trouble.map_or(Ok(path), |why| Err(Failure::BadInput(why)));
    in_folder(path)?.into_iter().map(of).collect()
}

/// The path of a test in a folder and `None`, or the path of a folder that cannot be read and the
/// reason.
type FolderEntry = (PathBuf, Option<String>);

/// Finds the tests in and below a folder. Does not follow links to folders.
fn in_folder(folder: &Path) -> Result<Vec<FolderEntry>, Failure> {
    let mut found: Vec<FolderEntry> = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let entries = match entries {
            Ok(entries) => entries,
            Err(error) => {
                let trouble = format!("cannot read the folder {}: {error}", folder.display());
                found.push((folder, Some(trouble)));
                continue;
            }
        };
        for entry in entries {
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.push(path);
            } else if is_test_file(&entry.file_name().to_string_lossy())
                && !fs::metadata(&path).is_ok_and(|there| there.is_dir())
            {
                found.push((path, None));
            }
        }
    }
    if found.is_empty() {
        let folder = folder.display();
        return Err(Failure::BadInput(format!("there is no *.litmus file in or below {folder}")));
    }
    found.sort();
    Ok(found)
}

/// The contents of all tables of expectations.
#[derive(Debug, Default)]
struct Table {
    /// One row for each test file that the tables name. The key is the position of the file in the
    /// order in which the tables first name the files.
    rows: BTreeMap<usize, Row>,
    by_file: BTreeMap<PathBuf, usize>,
    /// The tests that a table names, but whose files cannot be found.
    missing: Vec<Test>,
}

#[derive(Debug)]
struct Row {
    path: PathBuf,
    expected: Expected,
}

impl Table {
    fn add(&mut self, table: &Path, question: Question) -> Result<(), String> {
        let text = read_table(table)?;
        let shown = table.display().to_string();
        let folder = table.parent().unwrap_or(Path::new(""));
        for line in expectations(&text).map_err(|error| error.in_file(&shown).to_string())? {
            let path = folder.join(&line.file);
            let place = format!("{shown}:{}:1", line.line);
            let key = match fs::canonicalize(&path) {
                Ok(key) => key,
                Err(error) => {
                    let trouble = Some(format!("{place}: cannot read {}: {error}", path.display()));
                    self.missing.push(Test { path, expected: Expected::default(), trouble, text: None });
                    continue;
                }
            };
            let next = self.rows.len();
            let number = *self.by_file.entry(key).or_insert(next);
            let row = self.rows.entry(number).or_insert_with(|| Row { path, expected: Expected::default() });
            let answer = match question {
                Question::Verdict => &mut row.expected.verdict,
                Question::RaceFree => &mut row.expected.race_free,
            };
            if answer.replace(line.expected).is_some_and(|before| before != line.expected) {
                return Err(format!(
                    "{place}: an earlier line expects the opposite answer for {}",
                    line.file
                ));
            }
        }
        Ok(())
    }
}
