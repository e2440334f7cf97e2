//! Every dependency has a licence and a source that `deny.toml` allows, and uses no package that
//! `deny.toml` bans. `cargo deny` checks more, but takes longer to install than the other checks.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toml::Table;

/// The registry of crates.io, as `cargo metadata` names it.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The strings of an array in a table of `deny.toml`.
fn strings<'a>(table: &'a Table, key: &str) -> Vec<&'a str> {
    let items = table.get(key).and_then(toml::Value::as_array).into_iter().flatten();
    items.filter_map(toml::Value::as_str).collect()
}

/// Whether the allowed licences satisfy an SPDX expression. `AND` binds more tightly than `OR`.
fn satisfies(expression: &str, allowed: &[&str]) -> bool {
    // Some old manifests separate alternatives by a slash.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (is_met, read) = alternatives(&words, allowed);
    is_met && read == words.len()
}

/// Reads terms that `OR` separates. Returns whether one is met, and the number of words read.
fn alternatives(words: &[&str], allowed: &[&str]) -> (bool, usize) {
    let (mut is_met, mut at) = conjunction(words, allowed);
    while words.get(at) == Some(&"OR") {
        let (also, read) = conjunction(&words[at + 1..], allowed);
        (is_met, at) = (is_met || also, at + 1 + read);
    }
    (is_met, at)
}

/// Reads terms that `AND` separates. Returns whether all are met, and the number of words read.
fn conjunction(words: &[&str], allowed: &[&str]) -> (bool, usize) {
    let (mut is_met, mut at) = term(words, allowed);
    while words.get(at) == Some(&"AND") {
        let (also, read) = term(&words[at + 1..], allowed);
        (is_met, at) = (is_met && also, at + 1 + read);
    }
    (is_met, at)
}

/// Reads one licence, perhaps with an exception, or an expression in parentheses.
fn term(words: &[&str], allowed: &[&str]) -> (bool, usize) {
    match words {
        ["(", rest @ ..] => {
            let (is_met, read) = alternatives(rest, allowed);
            (is_met && rest.get(read) == Some(&")"), read + 2)
        }
        [licence, "WITH", exception, ..] => (allowed.contains(&&*format!("{licence} WITH {exception}")), 3),
        [licence, ..] => (allowed.contains(licence), 1),
        // One word more than there is, so that the expression is not read as a whole.
        [] => (false, 1),
    }
}

/// A sentence for each package whose licence or source `deny.toml` does not allow, or that uses a
/// package that `deny.toml` bans.
fn refused(packages: &[Value], deny: &Table) -> Vec<String> {
    let bans = deny["bans"]["deny"].as_array().expect("deny.toml lists banned packages");
    let licenses = deny["licenses"].as_table().expect("deny.toml has a table of licenses");
    let allowed = strings(licenses, "allow");
    let exceptions = licenses.get("exceptions").and_then(toml::Value::as_array);
    let mut found = Vec::new();
    for package in packages {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        let (name, license, source) = (text("name"), text("license"), package["source"].as_str());
        // A package without a source is a crate of this workspace.
        let Some(source) = source else { continue };
        let own = exceptions.into_iter().flatten().filter_map(toml::Value::as_table);
        let own = own.filter(|table| table["crate"].as_str() == Some(name)).flat_map(|t| strings(t, "allow"));
        let allowed: Vec<_> = allowed.iter().copied().chain(own).collect();
        if !satisfies(license, &allowed) {
            found.push(format!("{name} has the licence `{license}`, which deny.toml does not allow"));
        }
        if source != CRATES_IO {
            found.push(format!("{name} comes from {source}, crates.io is expected"));
        }
        for ban in bans.iter().filter_map(toml::Value::as_table) {
            let uses = package["dependencies"].as_array().into_iter().flatten();
            let uses = uses.filter(|of| of["optional"] != true && of["kind"].is_null());
            let is_used = uses.into_iter().any(|of| of["name"].as_str() == ban["crate"].as_str());
            if is_used && !strings(ban, "wrappers").contains(&name) {
                found.push(format!("{name} uses {}, which deny.toml bans", ban["crate"]));
            }
        }
    }
    found
}

fn deny() -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml");
    std::fs::read_to_string(path).expect("deny.toml is readable").parse().expect("deny.toml is TOML")
}

#[test]
fn every_dependency_has_an_allowed_licence_and_source() {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--offline", "--locked", "--format-version", "1"]);
    let output = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo runs");
    if !output.status.success() {
        let note = "skipped: not all dependencies are downloaded, run `cargo fetch --locked`";
        std::io::Write::write_all(&mut std::io::stdout(), format!("\n{note}\n").as_bytes()).ok();
        return;
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let packages = metadata["packages"].as_array().expect("cargo lists packages");
    assert!(packages.len() > 100, "{} packages", packages.len());
    assert_eq!(refused(packages, &deny()), [""; 0]);
}

#[test]
fn a_dependency_with_another_licence_or_source_is_refused() {
    let package = |name: &str, license: &str, source: &str| serde_json::json!({ "name": name, "license": license, "source": source });
    let deny = deny();
    let count = |license: &str| refused(&[package("any", license, CRATES_IO)], &deny).len();
    for good in ["MIT", "MIT/GPL-3.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0", "ISC AND MIT"] {
        assert_eq!(count(good), 0, "{good}");
    }
    for bad in
        ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT", "MIT)", "MIT WITH no-exception", "CC0-1.0", "MIT OR"]
    {
        assert_eq!(count(bad), 1, "{bad}");
    }
    assert_eq!(refused(&[package("tiny-keccak", "CC0-1.0", CRATES_IO)], &deny), [""; 0]);
    assert_eq!(refused(&[package("any", "MIT", "git+https://example.org/any")], &deny).len(), 1);
    let mut user = package("any", "MIT", CRATES_IO);
    user["dependencies"] = serde_json::json!([{ "name": "ahash", "optional": false, "kind": null }]);
    assert_eq!(refused(core::slice::from_ref(&user), &deny), ["any uses \"ahash\", which deny.toml bans"]);
    user["name"] = "parquet".into();
    assert_eq!(refused(&[user], &deny), [""; 0]);
}
