//! Every crate depends only on crates of lower floors (layers), and follows the rules of the
//! workspace.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

/// The floor (layer) of each crate. A crate may depend only on crates of lower floors.
const FLOORS: [(&str, u8); 13] = [
    ("proto", 0),
    ("drive", 1),
    ("zoo", 2),
    ("kernel", 2),
    ("litmus", 2),
    ("sim", 3),
    ("explore", 3),
    ("workloads", 4),
    ("guards", 4),
    ("subjects", 4),
    ("lab", 5),
    ("fencepost", 6),
    ("fencepost-fuzz", 7),
];

/// The only dependencies that point up: the tests of `explore` and of `sim` look protocols up by
/// name. Their libraries do not.
const UPWARD: [(&str, &str, &str); 2] =
    [("explore", "dev-dependencies", "subjects"), ("sim", "dev-dependencies", "subjects")];

fn floor(name: &str) -> Option<u8> {
    FLOORS.iter().find(|(known, _)| *known == name).map(|(_, floor)| *floor)
}

/// A sentence for each dependency of a crate on a crate whose floor is not lower, except for
/// [`UPWARD`].
fn arrows_that_point_up(manifests: &BTreeMap<String, Table>) -> Vec<String> {
    let mut found = Vec::new();
    for (name, manifest) in manifests {
        let Some(from) = floor(name) else {
            found.push(format!("{name} has no floor"));
            continue;
        };
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(Value::Table(dependencies)) = manifest.get(section) else { continue };
            for dependency in dependencies.keys() {
                let is_allowed = UPWARD.contains(&(name.as_str(), section, dependency.as_str()));
                if let Some(to) = floor(dependency).filter(|to| *to >= from && !is_allowed) {
                    found.push(format!("{name} (floor {from}) depends on {dependency} (floor {to})"));
                }
            }
        }
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The manifest of each crate, by the name of the crate's folder.
fn manifests() -> BTreeMap<String, Table> {
    let folders = fs::read_dir(root().join("crates")).expect("there are crates");
    folders
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.join("Cargo.toml").exists())
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy().into_owned();
            (name, read(&path.join("Cargo.toml")))
        })
        .collect()
}

#[test]
fn no_dependency_points_up() {
    assert_eq!(arrows_that_point_up(&manifests()), [""; 0]);
}

#[test]
fn an_arrow_that_points_up_or_sideways_is_found() {
    let mut manifests = manifests();
    let manifest = "[dev-dependencies]\nlab.workspace = true\n[dependencies]\nzoo.workspace = true";
    manifests.insert("zoo".to_owned(), manifest.parse().unwrap());
    let manifest = "[dependencies]\nsubjects.workspace = true";
    manifests.insert("explore".to_owned(), manifest.parse().unwrap());
    manifests.insert("attic".to_owned(), Table::new());
    assert_eq!(
        arrows_that_point_up(&manifests),
        [
            "attic has no floor",
            "explore (floor 3) depends on subjects (floor 4)",
            "zoo (floor 2) depends on zoo (floor 2)",
            "zoo (floor 2) depends on lab (floor 5)"
        ]
    );
}

#[test]
fn every_crate_is_named_as_its_folder_and_keeps_the_lints_of_the_workspace() {
    for (folder, manifest) in manifests() {
        assert_eq!(manifest["package"]["name"].as_str(), Some(folder.as_str()));
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{folder}");
        assert!(manifest["package"].get("description").is_some(), "{folder} says what it is");
        // Cargo passes the option of `cargo bench -- --bless` to every target that it
        // benches, and the test runner of a library refuses it.
        let is_benched = manifest.get("lib").and_then(|lib| lib.get("bench")).and_then(Value::as_bool);
        assert_eq!(is_benched, Some(false), "{folder}: [lib] has no benchmarks");
    }
}

#[test]
fn every_crate_except_guards_is_a_default_member() {
    let workspace = read(&root().join("Cargo.toml"));
    let members = workspace["workspace"]["default-members"].as_array().expect("a list of members");
    let members: Vec<&str> = members.iter().filter_map(Value::as_str).collect();
    let crates = manifests().into_keys().filter(|name| name != "guards");
    assert_eq!(members, crates.map(|name| format!("crates/{name}")).collect::<Vec<_>>());
}

#[test]
fn every_version_of_a_dependency_is_written_once() {
    for (folder, manifest) in manifests() {
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(Value::Table(dependencies)) = manifest.get(section) else { continue };
            for (name, dependency) in dependencies {
                let shared = dependency.get("workspace").and_then(Value::as_bool);
                assert_eq!(shared, Some(true), "{folder}: {name} is declared in the workspace's manifest");
            }
        }
    }
}
