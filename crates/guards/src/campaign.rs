//! Carries out a whole run: numbers the mutants, writes a copy of the crates that contains all
//! mutants (the tree), records the cases (programs to try), tries each mutant on them, and makes
//! the report. A run can be interrupted at any time. The next run of the same sources continues it.

use std::collections::{BTreeMap, BTreeSet};
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
use crate::tree::{Places, Tree};
use crate::trials::{self, Budget, Kills, MutantStatus, Subject, Trial};
use crate::worker::Worker;

/// The protocols of a run, in the order in which they are used. The protocols that cost the least
/// time come first. The list has at least one protocol of each folder of `zoo` that offers
/// protocols by name. Some protocols have claims that do not hold. If a program refutes a claim of
/// the protocol without a seeded fault, the program is not used to test mutants.
pub const PROTOCOLS: [&str; 30] = [
    "vi",
    "no-l1",
    "vi-targeted",
    "rsp-repaired",
    "hlrc-repaired",
    "denovo-b",
    "rsp",
    "hlrc",
    "hlrc-noprio",
    "denovo-rprio",
    "gpu-vi",
    "tc-strong",
    "tc-weak-repaired",
    "rcc",
    "rcc-repaired",
    "rcc-repaired-short",
    "rcc-repaired-long",
    "g-tsc-repaired",
    "stc-mb-repaired",
    "stc-ab-repaired",
    "stc-nv-repaired",
    "stc-lacks-room",
    "stc-es",
    "moesi",
    "wt",
    "apu-no-l1",
    "quick-release-repaired",
    "quick-release-groups",
    "quick-release-split",
    "quick-release",
];

/// The mutants that every verification must detect. Each entry has the name of the mutant and a
/// description of the class of faults that it represents.
pub fn classes() -> impl Iterator<Item = (&'static str, &'static str)> {
    include_str!("../classes.txt").lines().filter_map(|line| line.split_once(" # "))
}

/// After this number of mutants has been tried, the order of the cases (programs to try) is
/// computed again.
const ROUND: usize = 64;

/// The options of a run, which tries mutants on programs.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The folder for the rewritten copy of the crates, its build and all results.
    pub folder: PathBuf,
    /// The names of the protocols whose cases (programs on a machine) are run.
    pub protocols: Vec<String>,
    /// The number of mutants in a sample, and its seed. `None` stands for all mutants.
    pub sample: Option<(usize, u64)>,
    /// Restricts the choice to mutants of these files. Each entry has the start of a path and,
    /// optionally, a line. An empty list allows all files.
    pub only: Vec<(String, Option<usize>)>,
    /// Restricts the choice to mutants with these names. An empty list allows all names.
    pub names: Vec<String>,
    /// The number of trials (runs of a mutant on a case) that run at the same time.
    pub jobs: usize,
    /// Whether all mutants that earlier runs did not kill are tried again.
    pub is_again: bool,
    /// The limits for all trials of one mutant with one protocol.
    pub budget: Budget,
}

impl Options {
    /// The mutants of `schema` that these options choose, in the order of their numbers: the mutants
    /// with the names, and the sample of the mutants in the files. If there are names, but no
    /// sample, they are the mutants with the names in the files.
    #[must_use]
    pub fn choose<'a>(&self, schema: &'a Schema) -> Vec<&'a Mutant> {
        let is_in_files = |mutant: &Mutant| {
            let fits = |(file, line): &(String, Option<usize>)| {
                Path::new(&mutant.file).starts_with(file.strip_prefix("crates/").unwrap_or(file))
                    && line.is_none_or(|line| line == mutant.line)
            };
            self.only.is_empty() || self.only.iter().any(fits)
        };
        let is_named = |mutant: &Mutant| self.names.contains(&mutant.name);
        let Some((count, seed)) = self.sample else {
            let is_chosen = |m: &&Mutant| is_in_files(m) && (self.names.is_empty() || is_named(m));
            return schema.mutants.iter().filter(is_chosen).collect();
        };
        // The sample depends only on the seed and on the names of the mutants.
        let others = schema.mutants.iter().filter(|m| is_in_files(m) && !is_named(m));
        let mut all: Vec<&Mutant> = others.collect();
        all.sort_by_cached_key(|mutant| Sha256::digest(format!("{seed} {}", mutant.name)).to_vec());
        all.truncate(count);
        all.extend(schema.mutants.iter().filter(|mutant| is_named(mutant)));
        all.sort_by_key(|mutant| mutant.number);
        all
    }

    /// Whether the rewritten crates contain the chosen mutants only. So a short run builds fast.
    fn seeds_chosen_only(&self) -> bool {
        self.sample.is_some() || !self.names.is_empty()
    }
}

/// The file with the results of one protocol: one line of JSON for each finished mutant.
struct Results {
    file: Mutex<File>,
}

impl Results {
    /// Opens the file of results. Also returns the results of earlier runs for which `is_kept` is
    /// true, by the name of the mutant. All other results are removed from the file.
    fn open(
        path: &Path,
        is_kept: impl Fn(&Trial) -> bool,
    ) -> Result<(Results, BTreeMap<String, Trial>), String> {
        let error = |error: std::io::Error| format!("{}: {error}", path.display());
        let text = fs::read_to_string(path).unwrap_or_default();
        // A run that was killed may leave an incomplete last line.
        let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
        let mut kept = String::new();
        let mut trials = BTreeMap::new();
        for line in whole.lines() {
            let trial = serde_json::from_str::<Trial>(line).ok().filter(&is_kept);
            if let Some(trial) = trial {
                kept += line;
                kept.push('\n');
                trials.insert(trial.mutant.clone(), trial);
            }
        }
        if kept.len() < text.len() {
            fs::write(path, kept).map_err(error)?;
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

/// The date and the commit of the last change of the sources that are mutated. The text also says
/// if there are changes without a commit. Empty if `root` is not in a git repository.
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

/// Tries the chosen mutants on the cases (programs to try) of the protocols, and reports which
/// mutants are killed. The function `say` receives messages about the progress.
///
/// # Errors
/// If the rewritten copy of the crates cannot be built, if a child process fails, or if a file
/// cannot be read or written.
pub fn run(options: &Options, say: &(dyn Fn(&str) + Sync)) -> Result<Report, String> {
    let (schema, version) = (Schema::of(&options.root)?, version(&options.root));
    let arguments = argued::all(&options.root)?;
    let chosen = options.choose(&schema);
    let left_out = match options.seeds_chosen_only() {
        true => schema.outside(&chosen),
        false => BTreeSet::new(),
    };
    let seeded = schema.mutants.len() - left_out.len();
    // The results of a run say which mutants each case reaches, so each set of mutants has its own
    // results.
    let folder = &match left_out.is_empty() {
        true => options.folder.clone(),
        false => options.folder.join(format!("chosen-{}", digest_of(&chosen))),
    };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    say(&format!("{seeded} mutants; checking the rewritten tree"));
    let protocols: Vec<&str> = options.protocols.iter().map(String::as_str).collect();
    let places = Places { root: &options.root, folder, build: &options.folder.join("build") };
    let tree = Tree::build(&places, &schema, left_out, &protocols, say)?;
    let chosen: Vec<&Mutant> =
        chosen.into_iter().filter(|mutant| !tree.dropped.contains(&mutant.number)).collect();
    let argued_of = |mutant: &Mutant| arguments.iter().any(|argument| argument.is_about(&mutant.name));
    let is_argued: Vec<bool> = chosen.iter().map(|mutant| argued_of(mutant)).collect();
    let mut trials: BTreeMap<String, Trial> = BTreeMap::new();
    for protocol in &options.protocols {
        let left = chosen.iter().zip(&is_argued).filter_map(|(&mutant, &is_argued)| {
            let status = trials.get(&mutant.name).map(|trial| trial.status);
            let is_unlikely = is_argued || status.is_some_and(|status| status != MutantStatus::Unreached);
            (status != Some(MutantStatus::Killed)).then_some(Chosen { mutant, is_unlikely })
        });
        let left: Vec<Chosen<'_>> = left.collect();
        if left.is_empty() {
            break;
        }
        let campaign = Campaign { options, folder, tree: &tree, digest: &schema.digest, say };
        for trial in campaign.of(protocol, &left)? {
            let is_better = trials.get(&trial.mutant).is_none_or(|known| trial.status > known.status);
            if is_better {
                trials.insert(trial.mutant.clone(), trial);
            }
        }
    }
    let unseeded = schema.unseeded(&tree.dropped).into_iter();
    let mut report = Report {
        digest: schema.digest.clone(),
        tree: version,
        only: named(&options.only),
        protocols: options.protocols.clone(),
        chosen: chosen.len(),
        states_max: options.budget.states_max,
        case_states_max: options.budget.case_states_max,
        cases_max: options.budget.cases_max,
        finished: 0,
        counts: Counts::default(),
        surviving: Vec::new(),
        crashing: Vec::new(),
        misargued: Vec::new(),
        idle: Vec::new(),
        unseeded: unseeded.map(|(reason, count)| (reason.to_owned(), count)).collect(),
        killers: BTreeMap::new(),
        killed_with: BTreeMap::new(),
        files: BTreeMap::new(),
        places: BTreeMap::new(),
        kills: BTreeSet::new(),
    };
    report.add(&chosen, &trials, &arguments);
    Ok(report)
}

/// A digest of the names of these mutants.
fn digest_of(mutants: &[&Mutant]) -> String {
    let mut digest = Sha256::new();
    mutants.iter().for_each(|mutant| digest.update(format!("{}\n", mutant.name)));
    digest.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// The texts of restrictions to files, folders or lines of files, in order and without duplicates.
fn named(only: &[(String, Option<usize>)]) -> Vec<String> {
    let text = |(file, line): &(String, Option<usize>)| {
        let path = Path::new(file.strip_prefix("crates/").unwrap_or(file)).components().collect::<PathBuf>();
        let path = format!("crates/{}", path.display());
        line.map_or_else(|| path.clone(), |line| format!("{path}:{line}"))
    };
    only.iter().map(text).collect::<BTreeSet<String>>().into_iter().collect()
}

/// A mutant that this run tries.
#[derive(Clone, Copy)]
struct Chosen<'a> {
    mutant: &'a Mutant,
    /// Whether a kill is unlikely: the mutant is argued to be equivalent to the protocol, or no
    /// case of an earlier protocol has killed it.
    is_unlikely: bool,
}

/// The inputs of a run that are the same for all its protocols.
struct Campaign<'a> {
    options: &'a Options,
    /// The folder of the results.
    folder: &'a Path,
    tree: &'a Tree,
    digest: &'a str,
    say: &'a (dyn Fn(&str) + Sync),
}

impl Campaign<'_> {
    fn results(&self, protocol: &str) -> PathBuf {
        self.folder.join(format!("results-{}-{protocol}.jsonl", self.digest))
    }

    /// Tries these mutants on the cases (programs on a machine) of one protocol. Returns the
    /// results in the order of `mutants`. Trials of earlier runs are not repeated.
    fn of(&self, protocol: &str, mutants: &[Chosen<'_>]) -> Result<Vec<Trial>, String> {
        let Campaign { options, folder, tree, digest, say } = *self;
        say(&format!("{protocol}: recording which cases reach which mutants"));
        let how = (options.jobs, options.budget.share_of, options.budget.case_states_max);
        let cases = records::of(tree, folder, digest, protocol, how, options.is_again)?;
        let states: u64 = cases.iter().map(|case| case.states).sum();
        say(&format!("{protocol}: {} cases, {states} states; {} mutants", cases.len(), mutants.len()));
        let subject = Subject { protocol: protocol.to_owned(), cases };
        let is_kept = |trial: &Trial| !options.is_again || trial.status == MutantStatus::Killed;
        let (results, mut known) = Results::open(&self.results(protocol), is_kept)?;
        let mut workers: Vec<Worker<'_>> =
            (0..options.jobs.max(1)).map(|_| Worker::new(&tree.trial, protocol)).collect();
        let mut kills = Kills::default();
        for (at, round) in mutants.chunks(ROUND).enumerate() {
            let budget_of = |chosen: &Chosen<'_>| match chosen.is_unlikely {
                true => options.budget.of_unlikely(),
                false => options.budget,
            };
            let is_known = |chosen: &&Chosen<'_>| {
                known.get(&chosen.mutant.name).is_some_and(|trial| trial.covers(budget_of(chosen)))
            };
            let left: Vec<&Chosen<'_>> = round.iter().filter(|chosen| !is_known(chosen)).collect();
            let next = AtomicUsize::new(0);
            let work = |worker: &mut Worker<'_>| {
                let mut own = Vec::new();
                while let Some(chosen) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mutant = chosen.mutant;
                    let named = (mutant.number, mutant.name.as_str());
                    let trial = trials::try_mutant(worker, &subject, named, &kills, budget_of(chosen))?;
                    results.add(&trial)?;
                    if trial.status != MutantStatus::Killed && trial.status != MutantStatus::Unreached {
                        let Mutant { file, line, name, .. } = mutant;
                        say(&format!("{:?}: crates/{file}:{line}: {name}", trial.status));
                    }
                    own.push(trial);
                }
                Ok::<_, String>(own)
            };
            let finished: Result<Vec<Vec<Trial>>, String> = std::thread::scope(|scope| {
                let work = &work;
                let handles: Vec<_> =
                    workers.iter_mut().map(|worker| scope.spawn(move || work(worker))).collect();
                let all = handles.into_iter().map(|handle| handle.join());
                all.map(|all| all.unwrap_or_else(|_| Err(String::from("a worker panicked")))).collect()
            });
            let finished = finished?.into_iter().flatten();
            known.extend(finished.map(|trial| (trial.mutant.clone(), trial)));
            let of_round = round.iter().filter_map(|chosen| known.get(&chosen.mutant.name));
            of_round.filter(|trial| trial.status == MutantStatus::Killed).for_each(|trial| kills.add(trial));
            if !left.is_empty() {
                say(&format!("{protocol}: {} of {} mutants", at * ROUND + round.len(), mutants.len()));
            }
        }
        Ok(mutants.iter().filter_map(|chosen| known.remove(&chosen.mutant.name)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::type_of;

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
            is_again: false,
            budget: Budget { states_max: 1, case_states_max: 1, cases_max: 1, share_of: 1 },
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
        let named =
            options(Some((20, 1)), &[("crates/zoo/src/vi/", None)], vec![schema.mutants[0].name.clone()]);
        let chosen = named.choose(&schema);
        assert_eq!(chosen.len(), 21, "the named mutant and 20 others");
        assert!(!schema.mutants[0].file.starts_with("zoo/src/vi/") && chosen[0].number == 1);
        let outside = schema.outside(&chosen);
        assert!(chosen.iter().all(|mutant| !outside.contains(&mutant.number)));
        assert!(outside.len() > schema.mutants.len() - 200);
        let of_vi = options(None, &[("crates/zoo/src/vi/", None)], Vec::new());
        let of_vi = of_vi.choose(&schema);
        assert!(of_vi.len() > 50 && of_vi.iter().all(|mutant| mutant.file.starts_with("zoo/src/vi/")));
    }

    /// The folders of `zoo` with shared code, which offer no protocol by name.
    const WITHOUT_PROTOCOLS: [&str; 2] = ["parts", "registration"];

    #[test]
    fn each_folder_with_mutants_has_a_protocol() {
        for name in PROTOCOLS {
            assert!(type_of(name).is_some(), "{name}");
        }
        let schema = Schema::of(&options(None, &[], Vec::new()).root).expect("the sources parse");
        for mutant in &schema.mutants {
            let below = mutant.file.strip_prefix("zoo/src/").and_then(|below| below.split_once('/'));
            let Some((folder, _)) = below.filter(|(folder, _)| !WITHOUT_PROTOCOLS.contains(folder)) else {
                continue;
            };
            let start = if folder == "lease" { "rcc" } else { folder };
            let is_there = PROTOCOLS.iter().any(|name| name.replace('-', "_").starts_with(start));
            assert!(is_there, "no protocol of the list runs the mutants of {}", mutant.file);
        }
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
            status: MutantStatus::Killed,
            protocol: String::from("vi"),
            case: String::from("d0.0.0"),
            why: String::from("an outcome"),
            cases: 1,
            budget: Budget { states_max: 1, case_states_max: 1, cases_max: 1, share_of: 1 },
        };
        let line = serde_json::to_string(&trial("a")).expect("JSON");
        fs::write(&path, format!("{line}\n{{\"mutant\":\"b")).expect("it is written");
        let (results, trials) = Results::open(&path, |_| true).expect("it is read");
        assert_eq!(trials.into_values().collect::<Vec<_>>(), [trial("a")]);
        results.add(&trial("c")).expect("it is written");
        let (_, trials) = Results::open(&path, |_| true).expect("it is read");
        assert_eq!(trials.keys().collect::<Vec<_>>(), ["a", "c"]);
        let (_, trials) = Results::open(&path, |trial| trial.mutant == "c").expect("it is read");
        assert_eq!(trials.keys().collect::<Vec<_>>(), ["c"]);
        let (_, trials) = Results::open(&path, |_| true).expect("it is read");
        assert_eq!(trials.keys().collect::<Vec<_>>(), ["c"]);
        fs::remove_file(&path).expect("it is removed");
    }
}
