//! Any text is a sound machine or one line that says why not.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    match lab::systems::parse(Path::new("my.toml"), text) {
        Ok(system) => {
            assert!(system.problems().is_empty());
            assert_eq!(system.topology().check(), Ok(()));
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(sentence.starts_with("my.toml") && !sentence.chars().any(char::is_control));
        }
    }
});
