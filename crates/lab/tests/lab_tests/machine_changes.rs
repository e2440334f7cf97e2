//! Tests changes of the cache levels that a machine file lists by name.

use std::fs;
use std::path::Path;

use lab::Error;
use lab::systems::{Change, Systems};

const LEVEL: &str =
    "[[level]]\nname = \"l3\"\nper = \"machine\"\nlatency_cycles = 9\nbytes = 65536\nways = 8\n";

#[test]
fn a_level_is_changed_by_its_name() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("level-changes");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("with-l3.toml");
    fs::write(&path, include_str!("../../../../systems/hlrc-8cu.toml").to_owned() + LEVEL).unwrap();
    let load = |key: &str, text: &str| {
        let systems = Systems::with_folder("no such folder");
        let changed = systems.load_changed(path.to_str().unwrap(), &[Change::parse(key, text)]);
        changed.map_err(|error| Error::from(error).to_string())
    };
    assert_eq!(load("level.l3.ways", "4").unwrap().levels[0].ways, 4);
    let bytes = load("level.l3.bytes", "3").unwrap_err();
    assert!(bytes.starts_with("`level.0.bytes`: 3 bytes in each `l3`"), "{bytes}");
    let unknown = load("level.l4.ways", "4").unwrap_err();
    assert!(unknown.contains("no level `l4` under `level`; it has l3"), "{unknown}");
    let wrong = load("level.l3.wais", "4").unwrap_err();
    assert!(wrong.contains("did you mean `level.l3.ways`?"), "{wrong}");
}

#[test]
fn an_error_in_the_machine_file_names_its_place_in_that_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("broken-base");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("broken.toml");
    fs::write(&path, "name = 3").unwrap();
    let systems = Systems::with_folder("no such folder");
    let error = systems.load_changed(path.to_str().unwrap(), &[Change::parse("l1.ways", "8")]).unwrap_err();
    assert!(Error::from(error).to_string().contains("broken.toml:1:8: "));
}
