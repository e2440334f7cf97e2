//! The README and the pages on litmus tests keep their word.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(name: &str) -> String {
    fs::read_to_string(root().join(name)).unwrap()
}

fn readme() -> String {
    page("README.md")
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

/// Commands that check litmus tests take no time, so they are run. They succeed;
/// what is not as expected is not in our pages.
#[test]
fn every_litmus_command_of_the_pages_works() {
    let mut count = 0;
    for name in ["README.md", "docs/litmus.md", "docs/hrf.md"] {
        for words in commands(&page(name)).into_iter().filter(|words| words[1] == "litmus") {
            let mut words = words;
            // Drawings go where tests may write.
            if let Some(at) = words.iter().position(|word| word == "--dot") {
                words[at + 1] = Path::new(env!("CARGO_TARGET_TMPDIR")).join("drawn.dot").into();
            }
            let output = Command::new(env!("CARGO_BIN_EXE_fencepost"))
                .args(&words[1..])
                .current_dir(root())
                .output()
                .unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), &*err), (Some(0), ""), "{name}: {words:?}");
            assert!(!output.stdout.is_empty(), "{name}: {words:?}");
            count += 1;
        }
    }
    assert!(count >= 8, "only {count} commands");
}

#[test]
fn every_command_of_the_pages_is_understood() {
    for name in ["docs/litmus.md", "docs/hrf.md"] {
        for words in commands(&page(name)) {
            let mut err = Vec::new();
            let refused = fencepost::refuses(words.clone(), &mut Vec::new(), &mut err);
            assert_eq!(refused, None, "{name}: {words:?}: {}", String::from_utf8_lossy(&err));
        }
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
