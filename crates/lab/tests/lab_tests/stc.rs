//! Tests the evaluation of the STC paper, from its files to the statuses of its claims, with
//! synthetic results of runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kernel::Launch;
use kernel::reference::{Observer, Options, run_observed};
use lab::paper::{Paper, Plan, Request};
use lab::results::{Measured, Results, Row, RowKey, Scored, Status};
use lab::systems::Systems;

fn systems() -> Systems {
    Systems::with_folder("no such folder")
}

fn plan(figures: &[&str]) -> Plan {
    let figures = figures.iter().map(|figure| (*figure).to_owned()).collect();
    Plan::new(Paper::load("stc", None, &systems()).unwrap(), &Request { figures, ..Request::default() })
        .unwrap()
}

fn claim<'a>(results: &'a Results, id: &str) -> &'a Scored {
    results.claims.iter().find(|claim| claim.id == id).unwrap()
}

/// The counters of the simulator that the paper's experiment files use.
const COUNTERS: [&str; 8] = [
    "l1_load_accesses",
    "l1_load_hits",
    "l1_load_bypasses",
    "l1_writes_blocked_at_changes",
    "l1_writes_blocked_peak",
    "emu_epoch_changes",
    "emu_epoch_change_cycles",
    "noc_bytes_sent",
];

/// The results of the paper if each run had the cycles that the function gives, and every counter
/// were 100.
fn with(figures: &[&str], cycles: impl Fn(&RowKey) -> u64) -> Results {
    let plan = plan(figures);
    let row = |key: &RowKey| {
        let counters = BTreeMap::from(COUNTERS.map(|name| (name.to_owned(), 100)));
        let measured = Measured { cycles: cycles(key), answer_ok: true, counters, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    plan.evaluate(plan.runs().map(|(key, _)| row(key)).collect())
}

#[test]
fn equal_runs_reproduce_only_claims_of_no_change_and_of_the_machine() {
    let results = with(&[], |_| 1_000_000);
    let ids = |status: Status| -> Vec<&str> {
        let of_status = results.claims.iter().filter(|claim| claim.status == status);
        of_status.map(|claim| claim.id.as_str()).collect()
    };
    let reproduced = [
        // The published change is below half a percent, so the claim is that nothing changes.
        "stc.fig11.bandwidth",
        "stc.72.epoch-length",
        "stc.72.epochs",
        // The value is computed from the machine and the setting of the protocol.
        "stc.75.storage",
        "stc.72.queue",
        // The synthetic counts are in the published range.
        "stc.72.queue.max",
        "stc.72.queue.most",
        "stc.75.storage.tcs",
    ];
    // Recorded verifications decide this claim, and no run.
    let coherent = "stc.23.coherent";
    let of_runs: Vec<&str> = ids(Status::Reproduced).into_iter().filter(|id| *id != coherent).collect();
    assert_eq!(of_runs, reproduced);
    let not_run: Vec<&str> = ids(Status::NotRun).into_iter().filter(|id| *id != coherent).collect();
    assert_eq!(not_run, ["stc.33.deadlock-free", "stc.fig7"]);
}

#[test]
fn records_and_tests_decide_the_claims_about_all_schedules_without_any_run() {
    let plan = plan(&["schedules"]);
    assert_eq!(plan.runs().count(), 0);
    let results = plan.evaluate(Vec::new());
    assert!(results.figures.is_empty());
    let coherent = claim(&results, "stc.23.coherent");
    assert!(
        coherent.measure.starts_with("sc of stc-nv-repaired, ") || coherent.note.is_some(),
        "{coherent:?}"
    );
    assert_ne!(coherent.status, Status::Contradicted);
    for id in ["stc.33.deadlock-free", "stc.fig7"] {
        let Scored { status, note, .. } = claim(&results, id);
        assert_eq!(*status, Status::NotRun);
        let note = note.as_deref().unwrap_or_default();
        let test = note.strip_prefix("a test of the project checks the claim: `").unwrap();
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(test.trim_end_matches('`'));
        assert!(path.is_file(), "{}", path.display());
    }
}

/// The folder of a copy of the paper's files with one figure, which has this text.
fn with_figure(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("paper.toml"), include_str!("../../../../experiments/stc/paper.toml")).unwrap();
    fs::write(folder.join("own.toml"), text).unwrap();
    folder
}

#[test]
fn a_claim_of_records_names_known_claims_models_and_protocols() {
    let text = |claim: &str, model: &str, protocol: &str| {
        format!(
            "title = \"t\"\n[[verified]]\nclaim = \"{claim}\"\nmodel = \"{model}\"\n\
             protocols = [\"{protocol}\"]\n"
        )
    };
    let load = |name: &str, text: &str| Paper::load("stc", Some(&with_figure(name, text)), &systems());
    let status = |name: &str, protocol: &str| {
        let paper = load(name, &text("stc.23.coherent", "sc", protocol)).unwrap();
        let results = Plan::new(paper, &Request::default()).unwrap().evaluate(Vec::new());
        claim(&results, "stc.23.coherent").status
    };
    assert_eq!(status("verified-kept", "stc-nv-repaired"), Status::Reproduced);
    assert_eq!(status("verified-refuted", "stc-nv"), Status::Contradicted);
    let error = |name: &str, text: &str| load(name, text).map(|_| ()).unwrap_err().to_string();
    for (name, line, [claim, model, protocol]) in [
        ("verified-claim", 3, ["stc.23.coherrent", "sc", "stc-nv"]),
        ("verified-model", 4, ["stc.23.coherent", "scc", "stc-nv"]),
        ("verified-protocol", 5, ["stc.23.coherent", "sc", "stc-nw"]),
    ] {
        let error = error(name, &text(claim, model, protocol));
        assert!(error.contains(&format!("own.toml:{line}:")) && error.contains("did you mean"), "{error}");
    }
    let tested = "title = \"t\"\n[[tested]]\nclaim = \"stc.fig77\"\ntest = \"a\"\n";
    assert!(error("tested-claim", tested).contains("own.toml:3:"));
}

/// The value of a column of the figure `storage`, for a group of bars.
fn stored(results: &Results, group: &str, column: &str) -> f64 {
    let figure = results.figures.iter().find(|figure| figure.id == "storage").unwrap();
    let at = figure.parts.iter().position(|part| part == column).unwrap_or_else(|| panic!("{column}"));
    let group = figure.groups.iter().find(|known| known.label == group).unwrap();
    group.bars[0].values[at].unwrap().mean
}

#[test]
fn the_storage_has_the_accounting_of_the_paper_and_every_register() {
    let results = with(&["storage"], |_| 1_000_000);
    let of = |column: &str| stored(&results, "nn, base", column);
    assert_eq!(of("STC, as the paper counts"), 8192.0);
    assert_eq!(of("temporal coherence, as the paper counts"), 67584.0);
    // A grant: 16 epochs, and one of 21 start bits.
    let grant = 16 + 5;
    // Table 4: a counter of 4 bits and one of 8 bits, and 33 bits for each epoch. The unit also has a
    // grant, the next start bit, one of three phases, a number of compute units from 0 to 8, and a number
    // of moves of the start bit from 0 to 16.
    let unit = 4 + 8 + 16 * 33 + grant + 5 + 2 + 4 + 5;
    assert_eq!(of("of these, the epoch management unit"), f64::from(unit) / 8.0);
    // A queue of 256 addresses and bits, two grants, three bits for the change, the demanded epochs,
    // the conflict, 2,560 miss registers, and 16 sets.
    let cu = 256 * 33 + 2 * grant + 3 + 16 + 1 + 2560 + 16;
    assert_eq!(of("STC, every register"), f64::from(unit + 8 * cu) / 8.0);
    // Leases of 32 bits: 8,192 lines in each level, and 512 miss registers. Then twelve clocks, and 2
    // bits and the number of a compute unit for each line of the L2.
    let tcs = 32 * (8192 + 8192 + 512) + 32 * 12 + (2 + 3) * 8192;
    assert_eq!(of("temporal coherence, every register"), f64::from(tcs) / 8.0);
    // With 32 compute units, the unit has a longer counter.
    let [few, many] = ["nn, base", "nn, 32 CUs"]
        .map(|group| stored(&results, group, "of these, the epoch management unit"));
    assert_eq!(many - few, 2.0 / 8.0);
}

#[test]
fn the_storage_of_the_queue_follows_the_setting_of_the_protocol() {
    let (from, to) = ("stc-mb-repaired.blocked_stores", "stc-ab-repaired.blocked_stores");
    let folder = changed("stc-storage", from, to);
    let figure = include_str!("../../../../experiments/stc/storage.toml");
    let figure = figure.replace("\"16 CUs\"", "\"queue of 64\"");
    fs::write(folder.join("storage.toml"), figure).unwrap();
    let paper = Paper::load("stc", Some(&folder), &systems()).unwrap();
    let request = Request { figures: vec!["storage".to_owned()], ..Request::default() };
    let plan = Plan::new(paper, &request).unwrap();
    let row = |key: &RowKey| {
        let measured = Measured { answer_ok: true, ..Measured::default() };
        Row { key: key.clone(), system: String::new(), measured }
    };
    let results = plan.evaluate(plan.runs().map(|(key, _)| row(key)).collect());
    let status = |id: &str| {
        let variants = &claim(&results, id).variants;
        variants.iter().find(|on| on.variant == "queue of 64").unwrap_or_else(|| panic!("{id}")).status
    };
    // The variant changes the setting `blocked_stores`, and the other claim does not depend on it.
    assert_eq!(status("stc.75.storage"), Status::Contradicted);
    assert_eq!(status("stc.75.storage.tcs"), Status::Reproduced);
    assert_eq!(claim(&results, "stc.75.storage").measured.as_f64(), Some(8192.0));
}

#[test]
fn most_workloads_are_counted_by_the_occupancy_of_their_queues() {
    // 16 workloads with the mean 31.75, of which some have 32.
    let most = |full: &[&str]| {
        let plan = plan(&["queue"]);
        let row = |key: &RowKey| {
            let blocked = if full.contains(&key.input.as_str()) { 256 } else { 254 };
            let counters = [
                ("l1_writes_blocked_at_changes", blocked),
                ("emu_epoch_changes", 1),
                ("l1_writes_blocked_peak", 9),
            ];
            let counters = counters.map(|(name, count)| (name.to_owned(), count));
            let measured =
                Measured { answer_ok: true, counters: BTreeMap::from(counters), ..Measured::default() };
            Row { key: key.clone(), system: String::new(), measured }
        };
        let results = plan.evaluate(plan.runs().map(|(key, _)| row(key)).collect());
        let found = claim(&results, "stc.72.queue.most");
        (found.measured.as_f64().unwrap(), found.status)
    };
    assert_eq!(most(&["fft", "cache-reuse"]), (14.0, Status::Reproduced));
    assert_eq!(most(&["fft", "cache-reuse", "nn"]), (13.0, Status::Contradicted));
}

#[test]
fn a_run_is_shared_by_variants_that_set_other_protocols() {
    let plan = plan(&["leases"]);
    let leases = |scenario: &str| {
        let of = plan.runs().filter(|(key, _)| key.scenario == scenario && key.input == "nn");
        of.map(|(_, task)| task.id.clone()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(["baseline", "mb", "tcs"].map(leases), [1, 1, 4]);
}

#[test]
fn a_geometric_mean_is_over_its_inputs() {
    // Two of the five inputs are twice as fast.
    let fast = |input: &str| ["lulesh", "bc"].contains(&input);
    let results = with(&["fig8"], |key| match key.scenario == "mb" && fast(&key.input) {
        true => 500_000,
        false => 1_000_000,
    });
    let reuse = claim(&results, "stc.fig8.mb.reuse");
    let measured = reuse.measured.as_f64().unwrap();
    assert!((measured - 2_f64.powf(0.4)).abs() < 1e-9, "{measured}");
    // A group of its own shows the mean over the inputs that the paper names.
    let figure = results.figures.iter().find(|figure| figure.id == "fig8").unwrap();
    let named = figure.groups.iter().find(|group| group.label.starts_with("mean of the twelve")).unwrap();
    let mb = named.bars.iter().find(|bar| bar.scenario == "mb").unwrap();
    let shown = mb.values[0].unwrap().mean;
    assert!((shown - (10.0 + 2.0 * 0.5) / 12.0).abs() < 1e-9, "{shown}");
}

#[test]
fn a_spread_compares_means_over_the_inputs() {
    // Epochs of 450 cycles slow down half of the inputs, and speed up the other half.
    let slow = |input: &str| ["lulesh", "hpgmg", "snapc", "bc"].contains(&input);
    let spread = |factor: u64| {
        let results = with(&["sensitivity"], |key| match key.variant.as_str() {
            "epochs of 450" if slow(&key.input) => 1_000 + 4 * factor,
            "epochs of 50" if !slow(&key.input) => 1_000 - factor,
            "epochs of 450" => 1_000 - factor / 3 * 4,
            _ => 1_000,
        });
        let claim = claim(&results, "stc.72.epoch-length");
        (claim.measured.as_f64().unwrap(), claim.status)
    };
    // The four slow inputs and the twelve fast ones cancel out at 450 cycles. At 50 cycles, twelve
    // of the sixteen inputs take less time.
    let (measured, status) = spread(30);
    let expected = 1.0 / (1.0 - 0.75 * 0.030) - 1.0;
    assert!((measured - expected).abs() < 1e-9, "{measured}");
    assert_eq!(status, Status::Reproduced);
    assert_eq!(spread(60).1, Status::Contradicted);
}

#[test]
fn a_wrong_answer_counts_only_on_a_machine_that_ignores_acquires() {
    let plan = plan(&["fig1"]);
    let rows = |ended: bool| -> Vec<Row> {
        let row = |key: &RowKey| {
            let counters = ["l1_load_accesses", "l1_load_hits"].map(|name| (name.to_owned(), 10));
            let measured = Measured {
                cycles: 1,
                counters: if ended { BTreeMap::from(counters) } else { BTreeMap::new() },
                ..Measured::default()
            };
            Row { key: key.clone(), system: String::new(), measured }
        };
        plan.runs().map(|(key, _)| row(key)).collect()
    };
    let missing = |results: &Results| -> Vec<bool> {
        let groups = results.figures[0].groups.iter().filter(|group| group.label.starts_with("bc"));
        groups.map(|group| group.bars[0].missing.is_some()).collect()
    };
    let results = plan.evaluate(rows(true));
    assert_eq!(missing(&results), [true, false], "with acquires and without");
    assert!(results.failures().all(|failure| failure.contains(", base, ")));
    let hung = plan.evaluate(rows(false));
    assert_eq!(missing(&hung), [true, true]);
    assert!(hung.failures().any(|failure| failure.contains(", no acquire, ")));
}

#[test]
fn an_input_has_the_size_and_the_settings_of_its_file() {
    let plan = plan(&["fig8"]);
    let (_, task) = plan.runs().find(|(key, _)| key.input == "lulesh").unwrap();
    let steps = task.settings().find(|(name, _)| *name == "steps");
    assert_eq!(steps, Some(("steps", "130".to_owned())));
    assert_eq!(task.input, None);
    let described = with(&["fig8"], |_| 1).inputs;
    let lulesh = described.iter().find(|input| input.name == "lulesh").unwrap();
    assert_eq!((lulesh.source.as_str(), lulesh.graph.as_str()), ("generated", "size small, steps=130"));
}

/// An observer that counts the launches of a program.
struct Launches(usize);

impl Observer for Launches {
    fn launch(&mut self, _: &Launch) {
        self.0 += 1;
    }
}

#[test]
fn the_programs_make_as_many_launches_as_those_of_the_paper() {
    let plan = plan(&["fig8"]);
    // Sections 6 and 7.1. The program of snapc is one time step.
    for (input, published) in [("lulesh", 3380), ("snapc", 2992), ("cache-reuse", 10)] {
        let (_, task) = plan.runs().find(|(key, _)| key.input == input).unwrap();
        let mut launches = Launches(0);
        let program = task.experiment.instance().unwrap().program;
        run_observed(program, &Options::default(), &mut launches).map_err(|error| error.to_string()).unwrap();
        assert_eq!(launches.0, published, "{input}");
    }
}

/// Writes a folder with a copy of `paper.toml` in which `from` is replaced by `to`, and with the
/// file of one figure. Returns the path of the folder.
fn changed(name: &str, from: &str, to: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::remove_dir_all(&folder).ok();
    fs::create_dir_all(&folder).unwrap();
    let paper = include_str!("../../../../experiments/stc/paper.toml");
    assert!(paper.contains(from), "{from}");
    fs::write(folder.join("paper.toml"), paper.replacen(from, to, 1)).unwrap();
    fs::write(folder.join("fig1.toml"), include_str!("../../../../experiments/stc/fig1.toml")).unwrap();
    folder
}

#[test]
fn a_mistake_in_an_input_is_named_with_its_place() {
    for (name, from, to, what) in [
        ("stc-size", "size = \"small\"", "size = \"smal\"", "did you mean `small`?"),
        ("stc-setting", "steps = \"130\"", "stops = \"130\"", "`stops`"),
        ("stc-value", "steps = \"130\"", "steps = \"many\"", "`many`"),
        ("stc-none", "size = \"small\"\nsettings", "settings", "`settings` of an input need the key `size`"),
        (
            "stc-both",
            "workload = \"hpgmg\"",
            "workload = \"hpgmg\"\ngraph = \"c-68\"",
            "expected the key `size` alone for an input of `hpgmg`",
        ),
        (
            "stc-graph",
            "workload = \"bc\"\nsize = \"small\"",
            "workload = \"bc\"",
            "expected one of the keys `graph` and `size` for an input of `bc`",
        ),
        ("stc-mean", "name = \"baseline\"", "name = \"base-line\"", "unknown scenario"),
    ] {
        let error = Paper::load("stc", Some(&changed(name, from, to)), &systems()).unwrap_err().to_string();
        assert!(error.contains(what), "{name}: {error}");
        assert!(error.contains(".toml:"), "{name}: {error}");
    }
}

#[test]
fn a_spread_needs_two_values_and_no_other_key() {
    for (name, text, what) in [
        ("stc-spread-one", "spread = [\"cycles[baseline]\"]", "`spread` needs the kind"),
        (
            "stc-spread-value",
            "value = \"1\"\nspread = [\"1\", \"cycles[baseline]\"]",
            "without `value`, `holds` or `fold`",
        ),
        (
            "stc-spread-name",
            "spread = [\"1\", \"cycles[nowhere]\"]",
            "unknown scenario of this figure `nowhere`",
        ),
    ] {
        let folder = changed(name, "seeds = 1", "seeds = 2");
        let figure = include_str!("../../../../experiments/stc/fig1.toml");
        let measure = format!("{figure}\n[[measure]]\nclaim = \"stc.72.queue\"\n{text}\n");
        fs::write(folder.join("fig1.toml"), measure).unwrap();
        let error = Paper::load("stc", Some(&folder), &systems()).unwrap_err().to_string();
        assert!(error.contains(what), "{name}: {error}");
        assert!(error.contains("fig1.toml:"), "{name}: {error}");
    }
}
