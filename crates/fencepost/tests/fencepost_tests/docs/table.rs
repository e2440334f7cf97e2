//! Tables of exceptions: command lines of the pages that the tests do not run as written, or that
//! end with exit code 1.

/// Command lines that the tests do not run as written. Each has the command line that runs instead,
/// and the reason. If the page shows an output, it is compared with the output of the replacement.
pub(crate) const INSTEAD: &[(&str, &str, &str)] = &[
    ("cargo test --workspace", "grep -q 'cargo test --workspace' .ci/run", "these are the tests"),
    ("cargo test -p zoo", "test -f crates/zoo/Cargo.toml", "a part of these tests"),
    (
        "cargo fmt --all && rustfmt crates/zoo/src/*/mod.rs",
        "grep -q 'cargo fmt --all --check' .ci/run && grep -q 'rustfmt --check crates/zoo/src/[*]/mod.rs' .ci/run",
        "a step of the checks",
    ),
    (
        "cargo clippy --workspace --all-targets -- -D warnings",
        "grep -q 'cargo clippy --workspace --all-targets --locked -- -D warnings' .ci/run",
        "a step of the checks",
    ),
    (
        "cargo doc --workspace --no-deps",
        "grep -q 'cargo doc --workspace --no-deps' .ci/run",
        "a step of the checks",
    ),
    ("cargo bench", "grep -q 'cargo bench --locked' .ci/run", "a step of the checks"),
    (
        "cargo bench -- race",
        "grep -q '\"race\"' crates/fencepost/benches/speed/main.rs",
        "builds for minutes",
    ),
    (
        "cargo bench -- launch",
        "grep -q '\"launch\"' crates/fencepost/benches/speed/main.rs",
        "builds for minutes",
    ),
    (
        "cargo bench -- stress",
        "grep -q '\"stress\"' crates/fencepost/benches/speed/main.rs",
        "builds for minutes",
    ),
    (
        "cargo run --release -p guards -- --protocol vi",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    (
        "cargo run --release -p guards -- --sample 100 --seed 1",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    (
        "cargo run --release -p guards -- --only crates/zoo/src/vi/bank.rs:95",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    ("cargo run --release -p guards -- --list", "test -f crates/guards/src/main.rs", "builds for minutes"),
    ("cargo run --release -p guards -- --classes", "test -f crates/guards/src/main.rs", "builds for minutes"),
    (
        "cargo run --release -p guards -- --classes --sample 16",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    (
        "cargo run --release -p guards -- --record docs/results/guards.toml",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    ("cargo run --release -p guards", "test -f crates/guards/src/main.rs", "builds for minutes"),
    (
        "cargo run --release -p guards -- --only FILE:LINE",
        "test -f crates/guards/src/main.rs",
        "builds for minutes",
    ),
    ("cargo bench -- --bless", "test -f benches/baseline.toml", "writes into the repository"),
    (
        "cargo run --release -p litmus --example hrf_search 3 5 2",
        "test -f crates/litmus/examples/hrf_search.rs",
        "searches for hours",
    ),
    ("cargo +nightly fuzz run system_toml", "test -f fuzz/fuzz_targets/system_toml.rs", "has no end"),
    ("cargo install cargo-fuzz", "true", "fetches a tool"),
    ("FENCEPOST_BLESS=1 cargo test", "true", "writes into the repository"),
    ("cargo install --path crates/fencepost", "test -f crates/fencepost/Cargo.toml", "builds for minutes"),
    (
        "fencepost verify vi",
        "fencepost verify vi --litmus litmus/caches/told-where.litmus --operations 0",
        "an hour",
    ),
    (
        "fencepost verify vi --operations 5",
        "fencepost verify vi --operations 1 --timeout 1 || test $? = 1",
        "many hours; what was covered in a second is said",
    ),
    (
        "fencepost verify vi --sample 2000",
        "fencepost verify vi --litmus litmus/caches/told-where.litmus --operations 0 --sample 20",
        "an hour",
    ),
    (
        "fencepost verify vi --no-symmetry",
        "fencepost verify vi --no-symmetry --litmus litmus/caches/told-where.litmus --operations 0",
        "hours",
    ),
    (
        "fencepost verify vi --unordered",
        "fencepost verify vi --unordered --litmus litmus/caches/written-then-loaded.litmus --operations 0 \
         || test $? = 1",
        "hours; the protocol needs FIFO channels",
    ),
    (
        "fencepost verify vi --kernels 2",
        "fencepost verify vi --kernels 2 --litmus litmus/caches/told-where.litmus --operations 0",
        "hours",
    ),
    (
        "fencepost verify vi --preemptions 1",
        "fencepost verify vi --preemptions 1 --litmus litmus/caches/told-where.litmus --operations 0",
        "hours",
    ),
    (
        "fencepost verify vi --hosts 2",
        "fencepost verify vi --hosts 2 --litmus litmus/caches/told-where.litmus --operations 0",
        "hours",
    ),
    (
        "fencepost verify vi --mutants",
        "fencepost verify vi --litmus litmus/caches/told-where.litmus --operations 0 --mutants || test $? = 1",
        "hours; one test leaves mutants alive",
    ),
    (
        "fencepost verify vi --mutants=InvDirty",
        "fencepost verify vi --litmus litmus/caches/told-where.litmus --operations 0 --mutants=InvDirty",
        "minutes",
    ),
    (
        "fencepost verify --all --mutants --record docs/results/verification.toml",
        "fencepost verify --all --litmus litmus/caches/told-where.litmus --operations 0 --record docs/results/verification.toml",
        "a day",
    ),
    (
        "fencepost verify hlrc --charts charts",
        "fencepost verify hlrc --charts charts --litmus litmus/findings/hlrc.litmus --operations 0",
        "an hour",
    ),
    (
        "fencepost sweep experiments/example/l1-size.toml",
        "fencepost sweep experiments/example/l1-size.toml --dry-run",
        "half a minute",
    ),
    (
        "fencepost sweep my-study.toml --on slurm",
        "fencepost sweep experiments/example/l1-size.toml --dry-run",
        "it needs a cluster; the tests of slurm have one",
    ),
    (
        "fencepost sweep my-study.toml --on slurm --jobs 4 --chunks 100 -- --partition=long --time=2:00:00 --mem=8G",
        "fencepost sweep experiments/example/l1-size.toml --dry-run",
        "it needs a cluster; the tests of slurm have one",
    ),
    ("fencepost stress vi", "fencepost stress vi --episodes 200", "10 s"),
    (
        "fencepost stress --all --episodes 100000 --timeout 600",
        "fencepost stress --all --episodes 50 --timeout 600",
        "10 minutes",
    ),
    ("fencepost stress vi --episodes 20000", "fencepost stress vi --episodes 200", "20 s"),
    (
        "fencepost reproduce hlrc --scale 1/16 --seeds 1",
        "fencepost reproduce hlrc --figure table6 --scale 1/1024 --seeds 1",
        "minutes",
    ),
    (
        "fencepost reproduce hlrc",
        "fencepost reproduce hlrc --figure table6 --scale 1/1024 --seeds 1",
        "hours",
    ),
    (
        "fencepost reproduce hlrc --graphs graphs",
        "mkdir graphs && fencepost reproduce hlrc --figure table6 --scale 1/1024 --seeds 1 --graphs graphs",
        "hours",
    ),
    (
        "fencepost reproduce hlrc --figure fig4 --seeds 3",
        "fencepost reproduce hlrc --figure table6 --scale 1/1024 --seeds 1",
        "an hour",
    ),
    ("fencepost reproduce hrf", "fencepost reproduce hrf --figure litmus", "minutes"),
    ("fencepost reproduce stc", "fencepost reproduce stc --figure storage --seeds 1", "a quarter of an hour"),
    (
        "fencepost reproduce stc --figure fig8 --seeds 1",
        "fencepost reproduce stc --figure storage --seeds 1",
        "minutes",
    ),
    (
        "fencepost reproduce hrf --record docs/results/hrf.json",
        "fencepost reproduce hrf --figure litmus --record docs/results/hrf.json",
        "minutes",
    ),
    (
        "fencepost reproduce hlrc --seeds 1 --set sweeps=5 --record docs/results/hlrc.json",
        "fencepost reproduce hlrc --figure table6 --scale 1/1024 --seeds 1 --set sweeps=5 \
         --record docs/results/hlrc.json",
        "hours",
    ),
    (
        "fencepost reproduce stc --seeds 1 --record docs/results/stc.json",
        "fencepost reproduce stc --figure storage --seeds 1 --record docs/results/stc.json",
        "half an hour",
    ),
    ("fencepost reproduce mttop", "fencepost reproduce mttop --figure fig31 --seeds 1", "minutes"),
    (
        "fencepost reproduce mttop --figure fig34",
        "fencepost reproduce mttop --figure fig31 --seeds 1",
        "minutes",
    ),
    (
        "fencepost reproduce quick-release",
        "fencepost reproduce quick-release --figure storage --seeds 1",
        "minutes",
    ),
    (
        "fencepost reproduce quick-release --figure fig45",
        "fencepost reproduce quick-release --figure storage --seeds 1",
        "minutes",
    ),
    (
        "fencepost reproduce quick-release --record docs/results/quick-release.json",
        "fencepost reproduce quick-release --figure storage --seeds 1 --record docs/results/quick-release.json",
        "minutes",
    ),
    (
        "fencepost reproduce mttop --record docs/results/mttop.json",
        "fencepost reproduce mttop --figure fig31 --seeds 1 --record docs/results/mttop.json",
        "minutes",
    ),
    ("fencepost reproduce hrf --figure fig10", "fencepost reproduce hrf --figure litmus", "a minute"),
    (
        "fencepost race --system hlrc-8cu --scenario steal-only --workload sssp --advise",
        "fencepost race --system hlrc-8cu --scenario steal-only --workload sssp --advise \
         --set vertices=300 --set edges=900",
        "a minute",
    ),
    (
        "fencepost run --system hlrc-128cu --scenario steal-only --workload sssp --set sweeps=20",
        "fencepost run --system hlrc-128cu --scenario steal-only --workload sssp --set sweeps=2 \
         --set vertices=3000 --set edges=9000",
        "half a minute",
    ),
    (
        "fencepost run --system titan-v --protocol vi --workload vec-add",
        "fencepost run --system titan-v --protocol vi --workload vec-add --set n=10_000",
        "3 s",
    ),
];

/// Command lines that end with exit code 1, because they show a protocol that breaks its claim, a run
/// without progress, or a race.
pub(crate) const FOUND: &[&str] = &[
    "fencepost verify hlrc --litmus litmus/findings/hlrc.litmus --operations 0",
    "fencepost verify gpu-vi --unordered --litmus litmus/caches/written-then-loaded.litmus --operations 0",
    "fencepost verify hlrc --charts charts",
    "fencepost verify --replay charts/hlrc-1.trace",
    "fencepost verify --replay docs/findings/hlrc.trace",
    "fencepost verify --replay docs/findings/hlrc.trace --system hlrc-8cu",
    "fencepost verify --replay docs/findings/stc-nv.trace",
    "fencepost compare --system stc-8cu --patience 20000 --scenarios stc-es,stc-ab,stc-ab-repaired --workload vec-add --set n=49152",
    "fencepost compare --system stc-8cu --patience 20000 --scenarios stc-es,stc-mb,stc-mb-repaired --workload vec-copy --set n=32768",
    "fencepost race --system hrf-8cu --workload race-block-barrier",
    "fencepost race --system hrf-8cu --workload race-missing-fence",
    "fencepost race --system hrf-8cu --policy work-group --workload lock-counter --seeds 3",
    "fencepost stress vi-targeted --model hrf-indirect",
    "fencepost stress --all --episodes 100000 --timeout 600",
];

/// Command lines of which a page gives only a part. The tests do not run them, but check that the
/// subcommand and the options exist.
pub(crate) const NAMED: &[&str] = &["fencepost verify --replay", "cargo fmt"];
