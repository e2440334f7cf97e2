//! Any arguments are understood or refused with a reason and the exit code
//! of bad input.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let arguments = std::iter::once("fencepost").chain(text.split('\n')).map(Into::into);
    let mut reason = Vec::new();
    match fencepost::refuses(arguments, &mut Vec::new(), &mut reason) {
        None | Some(fencepost::SUCCESS) => {}
        Some(code) => assert!(code == fencepost::BAD_INPUT && !reason.is_empty()),
    }
});
