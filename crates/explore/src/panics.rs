//! Panics of controllers, which the explorer and the random tester report as faults of the protocol.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static ARE_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic of this thread is caught and reported as a fault of a protocol. A panic hook should
/// ignore such a panic.
#[must_use]
pub fn are_caught() -> bool {
    ARE_CAUGHT.get()
}

/// Calls `run`, which executes code of a protocol. If this code panics, the error is a sentence with
/// the message of the panic. The values that `run` changes may then be in any state.
pub(crate) fn caught<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    let before = ARE_CAUGHT.replace(true);
    let ended = catch_unwind(AssertUnwindSafe(run));
    ARE_CAUGHT.set(before);
    ended.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        format!("a controller panics: {}", text.unwrap_or("no message"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_caught_panic_gives_its_message() {
        assert!(!are_caught());
        assert_eq!(caught(are_caught), Ok(true));
        let why = caught(|| caught(|| panic!("{} broke", 7)).map_err(|why| (why, are_caught())));
        assert_eq!(why, Ok(Err::<(), _>((String::from("a controller panics: 7 broke"), true))));
        assert!(!are_caught());
    }
}
