//! A whole run: the schema, the tree, the records, the trials, and their report. A run can be ended
//! at any time; the next run of the same sources continues it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use sha2::{Digest, Sha256};

use crate::argued;
use crate::records;
use crate::report::{Counts, Report};
use crate::schema::{Mutant, Schema};
use crate::tree::Tree;
use crate::trials::{self, Budget, Fate, Kills, Subject, Trial};

/// The protocols of a run, in the order in which they are tried: those whose claims hold.
pub const PROTOCOLS: [&str; 8] =
    ["vi", "no-l1", "rsp-repaired", "denovo-b", "hlrc-repaired", "vi-targeted", "rsp", "denovo-rprio"];

/// The mutants of the classes of faults that every verification must detect: the names, each with
/// the class in words.
pub fn classes() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("../classes.txt").lines().filter_map(|line| line.split_once(" # "))
}

/// The number of mutants after which the cases are ranked again.
const ROUND: usize = 64;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The folder of the rewritten tree and of all results.
    pub folder: PathBuf,
    /// The protocols.
    pub protocols: Vec<String>,
    /// The number of mutants in a sample, and its seed. `None` stands for all mutants.
    pub sample: Option<(usize, u64)>,
    /// Restricts the choice to mutants of these files. Each entry has the start of a path and,
    /// optionally, a line. An empty list allows all files.
    pub only: Vec<(String, Option<usize>)>,
    /// Only mutants with these names, if there are any.
    pub names: Vec<String>,
    /// The number of trials at once.
    pub jobs: usize,
    /// The fraction of the cases that is used: one in this number.
    pub share_of: usize,
    /// The bounds of the trials of one mutant with one protocol.
    pub budget: Budget,
}

impl Options {
    /// The mutants that are chosen, in the order of their numbers.
    #[must_use]
    pub fn choose<'a>(&self, schema: &'a Schema) -> Vec<&'a Mutant> {
        let is_chosen = |mutant: &&Mutant| {
            let path = format!("crates/{}", mutant.file);
            let fits = |(file, line): &(String, Option<usize>)| {
                (path.starts_with(file) || mutant.file.starts_with(file))
                    && line.is_none_or(|line| line == mutant.line)
            };
            (self.only.is_empty() || self.only.iter().any(fits))
                && (self.names.is_empty() || self.names.contains(&mutant.name))
        };
        let mut all: Vec<&Mutant> = schema.mutants.iter().filter(is_chosen).collect();
        if let Some((count, seed)) = self.sample {
            // The choice depends on the seed and the names alone.
            all.sort_by_cached_key(|mutant| Sha256::digest(format!("{seed} {}", mutant.name)).to_vec());
            all.truncate(count);
            all.sort_by_key(|mutant| mutant.number);
        }
        all
    }
}

/// The results on disk: one line of JSON for each finished mutant.
struct Results {
    file: Mutex<File>,
}

impl Results {
    fn open(path: &Path) -> Result<(Results, BTreeMap<String, Trial>), String> {
        let error = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).unwrap_or_default();
        // A run that was killed may leave half a line.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let trials = whole.lines().filter_map(|line| serde_json::from_str::<Trial>(line).ok());
        let trials = trials.map(|trial| (trial.mutant.clone(), trial)).collect();
        if whole.len() < text.len() {
            fs::write(path, whole).map_err(error)?;
        }
        let file = File::options().create(true).append(true).open(path).map_err(error)?;
        Ok((Results { file: Mutex::new(file) }, trials))
    }

    fn add(&self, trial: &Trial) -> Result<(), String> {
        let line = serde_json::to_string(trial).map_err(|error| error.to_string())? + "\n";
        let mut file = self.file.lock().map_err(|_| String::from("a worker panicked"))?;
        file.write_all(line.as_bytes())
            .and_then(|()| file.flush())
            .map_err(|error| format!("results: {error}"))
    }
}

/// The date and the commit of the last change of the sources, or the empty text without git.
fn version(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let sources = ["crates/proto/src", "crates/zoo/src"];
    let last = git(&[&["log", "-1", "--format=%cs %h", "--"], &sources[..]].concat()).unwrap_or_default();
    match git(&[&["status", "--porcelain", "--"], &sources[..]].concat()) {
        Some(changes) if !changes.is_empty() => format!("{last} with changes"),
        _ => last,
    }
}

/// Carries out a run.
///
/// # Errors
/// If the tree cannot be built, or a child or a file fails.
pub fn run(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<Report, String> {
    let folder = &options.folder;
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let schema = Schema::of(&options.root)?;
    let arguments = argued::all(&options.root)?;
    say(&format!("{} mutants; checking the rewritten tree", schema.mutants.len()));
    let tree = Tree::build(&options.root, folder, &schema, say)?;
    let chosen: Vec<&Mutant> =
        options.choose(&schema).into_iter().filter(|mutant| !tree.dropped.contains(&mutant.number)).collect();
    let subjects = subjects(options, &tree, &schema.digest, say)?;
    let budget = options.budget;
    let name = format!(
        "results-{}-{}-{}-{}-{}.jsonl",
        schema.digest,
        options.share_of,
        budget.states_max,
        budget.cases_max,
        options.protocols.join("+")
    );
    let (results, mut trials) = Results::open(&folder.join(name))?;
    let done = AtomicUsize::new(0);
    for round in chosen.chunks(ROUND) {
        let kills = kills(trials.values());
        let left: Vec<&&Mutant> = round.iter().filter(|mutant| !trials.contains_key(&mutant.name)).collect();
        done.fetch_add(round.len() - left.len(), Ordering::Relaxed);
        let next = AtomicUsize::new(0);
        let work = || {
            let mut own = Vec::new();
            while let Some(mutant) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let trial =
                    trials::fate(&tree.trial, &subjects, (mutant.number, &mutant.name), &kills, budget)?;
                results.add(&trial)?;
                let count = done.fetch_add(1, Ordering::Relaxed) + 1;
                if trial.fate != Fate::Killed && trial.fate != Fate::Unreached {
                    say(&format!(
                        "{:?}: crates/{}:{}: {}",
                        trial.fate, mutant.file, mutant.line, mutant.name
                    ));
                }
                if count.is_multiple_of(ROUND) {
                    say(&format!("{count} of {} mutants", chosen.len()));
                }
                own.push(trial);
            }
            Ok::<_, String>(own)
        };
        let finished: Result<Vec<Vec<Trial>>, String> = std::thread::scope(|scope| {
            let handles: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
            let all = handles.into_iter().map(|handle| handle.join());
            all.map(|all| all.unwrap_or_else(|_| Err(String::from("a worker panicked")))).collect()
        });
        trials.extend(finished?.into_iter().flatten().map(|trial| (trial.mutant.clone(), trial)));
    }
    let unseeded = schema.unseeded(&tree.dropped).into_iter();
    let mut report = Report {
        digest: schema.digest.clone(),
        tree: version(&options.root),
        protocols: options.protocols.clone(),
        chosen: chosen.len(),
        finished: 0,
        counts: Counts::default(),
        surviving: Vec::new(),
        crashing: Vec::new(),
        misargued: Vec::new(),
        unseeded: unseeded.map(|(reason, count)| (reason.to_owned(), count)).collect(),
        files: BTreeMap::new(),
    };
    report.add(&chosen, &trials, &arguments);
    Ok(report)
}

fn subjects(
    options: &Options,
    tree: &Tree,
    digest: &str,
    say: &(dyn Fn(&str) + Sync),
) -> Result<Vec<Subject>, String> {
    let mut subjects = Vec::new();
    for protocol in &options.protocols {
        say(&format!("{protocol}: recording which cases reach which mutants"));
        let cases = records::of(tree, &options.folder, digest, protocol, (options.jobs, options.share_of))?;
        let states: u64 = cases.iter().map(|case| case.states).sum();
        say(&format!("{protocol}: {} cases, {states} states", cases.len()));
        subjects.push(Subject { protocol: protocol.clone(), cases });
    }
    Ok(subjects)
}

fn kills<'a>(trials: impl Iterator<Item = &'a Trial>) -> Kills {
    let mut kills = Kills::new();
    for trial in trials.filter(|trial| trial.fate == Fate::Killed) {
        *kills.entry((trial.protocol.clone(), trial.case.clone())).or_default() += 1;
    }
    kills
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(sample: Option<(usize, u64)>, only: &[(&str, Option<usize>)], names: Vec<String>) -> Options {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        Options {
            folder: root.join("target/guards"),
            root,
            protocols: Vec::new(),
            sample,
            only: only.iter().map(|(file, line)| ((*file).to_owned(), *line)).collect(),
            names,
            jobs: 1,
            share_of: 1,
            budget: Budget { states_max: 1, cases_max: 1 },
        }
    }

    #[test]
    fn a_sample_depends_on_its_seed_alone() {
        let all = options(None, &[], Vec::new());
        let schema = Schema::of(&all.root).expect("the sources parse");
        assert_eq!(all.choose(&schema).len(), schema.mutants.len());
        let numbers = |seed| {
            let options = options(Some((20, seed)), &[], Vec::new());
            options.choose(&schema).iter().map(|mutant| mutant.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1).len(), 20);
        assert_eq!(numbers(1), numbers(1));
        assert_ne!(numbers(1), numbers(2));
        let of_vi = options(None, &[("crates/zoo/src/vi/", None)], Vec::new());
        let of_vi = of_vi.choose(&schema);
        assert!(of_vi.len() > 50 && of_vi.iter().all(|mutant| mutant.file.starts_with("zoo/src/vi/")));
    }

    #[test]
    fn each_class_has_its_mutant() {
        let names: Vec<String> = classes().map(|(name, _)| name.to_owned()).collect();
        let options = options(None, &[], names.clone());
        let schema = Schema::of(&options.root).expect("the sources parse");
        let mut chosen: Vec<&String> = options.choose(&schema).iter().map(|mutant| &mutant.name).collect();
        let mut expected: Vec<&String> = names.iter().collect();
        chosen.sort();
        expected.sort();
        assert_eq!(chosen, expected);
    }

    #[test]
    fn results_survive_an_end_in_the_middle_of_a_line() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
        fs::create_dir_all(&folder).expect("it is made");
        let path = folder.join(format!("guards-results-{}.jsonl", std::process::id()));
        let trial = |name: &str| Trial {
            mutant: name.to_owned(),
            fate: Fate::Killed,
            protocol: String::from("vi"),
            case: String::from("d0.0.0"),
            why: String::from("an outcome"),
            cases: 1,
        };
        let line = serde_json::to_string(&trial("a")).expect("JSON");
        fs::write(&path, format!("{line}\n{{\"mutant\":\"b")).expect("it is written");
        let (results, trials) = Results::open(&path).expect("it is read");
        assert_eq!(trials.into_values().collect::<Vec<_>>(), [trial("a")]);
        results.add(&trial("c")).expect("it is written");
        let (_, trials) = Results::open(&path).expect("it is read");
        assert_eq!(trials.keys().collect::<Vec<_>>(), ["a", "c"]);
        fs::remove_file(&path).expect("it is removed");
    }
}
