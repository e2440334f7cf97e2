//! The command line of `guards`, without a build of the mutants.

use std::path::Path;
use std::process::{Command, Output};

fn guards(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut command = Command::new(env!("CARGO_BIN_EXE_guards"));
    command.args(arguments).current_dir(root).output().expect("it runs")
}

fn listed(arguments: &[&str]) -> Vec<String> {
    let output = guards(&[&["--list"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn the_classes_and_a_sample_of_other_mutants_are_listed() {
    let classes = listed(&["--classes"]);
    let declared = include_str!("../../classes.txt").lines().filter(|line| line.contains(" # "));
    assert_eq!(classes.len(), declared.count());
    let sampled = listed(&["--classes", "--sample", "5", "--only", "crates/zoo/src/parts"]);
    assert_eq!(sampled.len(), classes.len() + 5);
    assert!(classes.iter().all(|line| sampled.contains(line)), "{sampled:?}");
    let others = sampled.iter().filter(|line| !classes.contains(line));
    assert!(others.into_iter().all(|line| line.contains("crates/zoo/src/parts/")), "{sampled:?}");
}

#[test]
fn wrong_input_ends_with_code_2_before_the_build() {
    for (arguments, message) in [
        (&["--only", "crates/zoo/src/no-such-folder"][..], "guards: no mutant is in the files of --only"),
        (&["--protocol", "no-such-protocol"], "invalid value 'no-such-protocol'"),
        (&["--record", "Cargo.toml"], "guards: Cargo.toml"),
    ] {
        let output = guards(arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(message), "{arguments:?}: {errors}");
    }
}
