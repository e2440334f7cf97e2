//! The README keeps its word.

use std::ffi::OsString;
use std::fs;
use std::path::Path;

fn readme() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap()
}

/// Every command line in the README that begins with `fencepost` or runs it.
fn commands(text: &str) -> Vec<Vec<OsString>> {
    let after = |line: &str| -> Option<String> {
        let line = line.trim();
        if let Some((_, rest)) = line.split_once("--bin fencepost -- ") {
            return Some(rest.to_owned());
        }
        line.strip_prefix("fencepost ").map(str::to_owned)
    };
    let quoted = text.split('`').filter_map(after);
    let lines = text.lines().filter(|line| !line.contains('`')).filter_map(after);
    let words = |line: String| -> Vec<OsString> {
        let line = line.split([' ']).take_while(|word| *word != ">").map(OsString::from);
        std::iter::once(OsString::from("fencepost")).chain(line).collect()
    };
    let mut all: Vec<Vec<OsString>> = quoted.chain(lines).map(words).collect();
    all.retain(|words| !words.iter().any(|word| word == "..."));
    all
}

#[test]
fn every_command_of_the_readme_is_understood() {
    let commands = commands(&readme());
    assert!(commands.len() >= 6, "{commands:?}");
    for words in commands {
        let mut err = Vec::new();
        let refused = fencepost::refuses(words.clone(), &mut Vec::new(), &mut err);
        assert_eq!(refused, None, "{words:?}: {}", String::from_utf8_lossy(&err));
    }
}

#[test]
fn every_link_of_the_readme_leads_to_a_file() {
    let text = readme();
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    for link in links.filter(|link| !link.starts_with("http")) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(link);
        assert!(path.exists(), "{link}");
    }
}
