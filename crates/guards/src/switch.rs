//! The switch: functions by which the rewritten code selects a mutant at run time.
//!
//! The rewritten copy of the crates has a copy of this file in `proto`, as the module `guard`. Each
//! rewritten expression asks the switch whether it takes its original value or the value of a
//! mutant. One mutant is selected for the whole process. The original crates contain no call of
//! this module.
//!
//! **Recording.** If [`RECORD`] is selected, every expression keeps its original value, and the
//! switch notes each mutant that would have given another value. If the switch notes nothing for a
//! mutant during a run, the run would be the same with this mutant.
//!
//! **Fuel.** Fuel is a limit on the length of a run. Every call of the switch uses up one unit of
//! fuel. If no fuel is left, the switch assumes that the mutant never ends: the thread panics.

use core::ops::Not;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

/// The number that selects no mutant, so that all code behaves as the original code.
pub const NONE: u32 = 0;
/// The number that selects the recording mode, which notes the mutants that would change a value.
pub const RECORD: u32 = u32::MAX;
/// The largest number of a mutant.
pub const NUMBER_MAX: u32 = 64 * WORDS as u32 - 1;

const WORDS: usize = 256;

static SELECTED: AtomicU32 = AtomicU32::new(NONE);
static FUEL: AtomicU64 = AtomicU64::new(u64::MAX);
static IS_EMPTY: AtomicBool = AtomicBool::new(false);
static SEEN: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];

/// Selects a mutant by its number, or one of the modes [`NONE`] and [`RECORD`]. Sets the fuel (the
/// number of calls of the switch that are allowed) to `fuel`.
pub fn select(number: u32, fuel: u64) {
    SELECTED.store(number, Relaxed);
    FUEL.store(fuel, Relaxed);
    IS_EMPTY.store(false, Relaxed);
}

/// Whether all fuel (the allowed number of calls of the switch) has been used up since the last
/// call of [`select`].
#[must_use]
pub fn is_endless() -> bool {
    IS_EMPTY.load(Relaxed)
}

/// The fuel that is left: the number of calls of the switch that are still allowed.
#[must_use]
pub fn fuel() -> u64 {
    FUEL.load(Relaxed)
}

/// The numbers of the mutants that the recording mode noted since the last call of this function:
/// those that would have changed a value.
#[must_use]
pub fn seen() -> Vec<u32> {
    let words = SEEN.iter().enumerate();
    let all = words.flat_map(|(at, word)| {
        let bits = word.swap(0, Relaxed);
        (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| 64 * at as u32 + bit)
    });
    all.collect()
}

fn note(number: u32) {
    if let Some(word) = SEEN.get(number as usize / 64) {
        word.fetch_or(1 << (number % 64), Relaxed);
    }
}

#[cold]
fn end() -> ! {
    // While the panic unwinds, destructors may call the switch, so it needs fuel.
    FUEL.store(u64::MAX, Relaxed);
    IS_EMPTY.store(true, Relaxed);
    panic!("a step does not end")
}

/// Uses up one unit of fuel. Every loop of the rewritten code calls this function in each
/// iteration, so that an endless loop runs out of fuel.
#[inline]
pub fn burn() {
    // Only one thread at a time runs controllers, so this update is safe without an atomic
    // subtraction.
    match FUEL.load(Relaxed).checked_sub(1) {
        Some(rest) => FUEL.store(rest, Relaxed),
        None => end(),
    }
}

/// Whether the mutant `number` is selected. In recording mode, the function returns false, and
/// notes this mutant as one that changes a value.
#[inline]
pub fn is(number: u32) -> bool {
    burn();
    match SELECTED.load(Relaxed) {
        RECORD => {
            note(number);
            false
        }
        selected => selected == number,
    }
}

/// Returns `original`, unless a mutant of this expression is selected. The mutant with the number
/// `first + i` returns `others[i]`.
#[inline]
pub fn choose<T: Copy + PartialEq, const N: usize>(first: u32, original: T, others: [T; N]) -> T {
    burn();
    match SELECTED.load(Relaxed) {
        NONE => original,
        RECORD => {
            let differing = (first..).zip(others).filter(|(_, other)| *other != original);
            differing.for_each(|(number, _)| note(number));
            original
        }
        selected => others.get(selected.wrapping_sub(first) as usize).copied().unwrap_or(original),
    }
}

/// Returns `condition`, unless a mutant of this condition is selected. The mutant with the number
/// `first` returns true, and the mutant `first + 1` returns false.
#[inline]
pub fn when(first: u32, condition: bool) -> bool {
    choose(first, condition, [true, false])
}

/// Returns `value`. The mutant with the number `first` returns the negation of `value`.
#[inline]
pub fn negated(first: u32, value: bool) -> bool {
    choose(first, value, [!value])
}

/// Returns `!value`. The mutant with the number `first` leaves out the negation and returns
/// `value`.
#[inline]
pub fn not<T: Not<Output = T> + Copy + PartialEq>(first: u32, value: T) -> T {
    choose(first, !value, [value])
}

/// A type that occurs as a part of a key, such as a tuple that is looked up in a map.
pub trait KeyPart: Copy + PartialEq {
    /// Returns a substitute for this part of a key. Keys that differ in this part alone are equal
    /// after the substitution.
    #[must_use]
    fn any(self) -> Self;
}

/// Returns `value`, one part of a key. The mutant with the number `first` returns a substitute that
/// is the same for all keys, so that this part has no effect in the key.
#[inline]
pub fn part<T: KeyPart>(first: u32, value: T) -> T {
    choose(first, value, [value.any()])
}

/// Whether `left && right` evaluates its right operand. Three mutants replace this expression: the
/// mutant `first` by `left || right`, the mutant `first + 1` by `right`, and the mutant `first + 2`
/// by `left`. With each of them, if the right operand is not evaluated, the value of the expression
/// is `left`.
#[inline]
pub fn and_goes_on(first: u32, left: bool) -> bool {
    goes_on(first, left, !left)
}

/// Whether `left || right` evaluates its right operand. Three mutants replace this expression: the
/// mutant `first` by `left && right`, the mutant `first + 1` by `right`, and the mutant `first + 2`
/// by `left`.
#[inline]
pub fn or_goes_on(first: u32, left: bool) -> bool {
    goes_on(first, !left, left)
}

#[inline]
fn goes_on(first: u32, original: bool, other: bool) -> bool {
    burn();
    match SELECTED.load(Relaxed) {
        NONE => original,
        RECORD => {
            // The right operand is not evaluated, so its value is unknown. With these mutants, the
            // result of the operator may differ.
            if !original {
                note(first);
                note(first + 1);
            }
            original
        }
        selected => match selected.wrapping_sub(first) {
            0 => other,
            1 => true,
            2 => false,
            _ => original,
        },
    }
}

/// Returns `right`, the right operand of `&&` or `||`, after it was evaluated. If `right` equals
/// `decisive`, the result of the operator differs from its left operand. Then the recording mode
/// notes the mutants `first` and `first + 2`, because their result is the left operand.
#[inline]
pub fn joins(first: u32, right: bool, decisive: bool) -> bool {
    if SELECTED.load(Relaxed) == RECORD && right == decisive {
        note(first);
        note(first + 2);
    }
    right
}

#[cfg(test)]
mod tests {
    use super::*;

    impl KeyPart for u8 {
        fn any(self) -> u8 {
            0
        }
    }

    /// This is a single test, because the whole process shares one switch.
    #[test]
    fn each_number_selects_one_variant_and_recording_notes_those_that_differ() {
        let and = |left: bool, right: bool| {
            if and_goes_on(10, left) { joins(10, right, false) } else { left }
        };
        let or = |left: bool, right: bool| {
            if or_goes_on(20, left) { joins(20, right, true) } else { left }
        };
        for (left, right) in [(false, false), (false, true), (true, false), (true, true)] {
            let expected =
                [(0, left && right), (10, left || right), (11, right), (12, left), (13, left && right)];
            for (number, value) in expected {
                select(number, u64::MAX);
                assert_eq!(and(left, right), value, "{number}: {left} && {right}");
            }
            select(RECORD, u64::MAX);
            let _ = (seen(), and(left, right));
            let noted = seen();
            for (number, value) in &expected[1..4] {
                let is_noted = noted.contains(number);
                assert!(is_noted || *value == (left && right), "{number}: {left} && {right}");
                // A variant may be noted without a difference only if the right operand is not
                // evaluated.
                assert!(!is_noted || !left || *value != (left && right), "{number}: {left} && {right}");
            }
            for (number, value) in [(0, left || right), (20, left && right), (21, right), (22, left)] {
                select(number, u64::MAX);
                assert_eq!(or(left, right), value, "{number}: {left} || {right}");
            }
        }
        select(2, u64::MAX);
        assert_eq!(choose(1, 7, [8, 9]), 9);
        assert_eq!((when(1, false), when(2, true), negated(2, true), not(2, 5u8)), (false, true, false, 5));
        assert_eq!((part(2, 7), part(3, 7)), (0, 7));
        assert!(is(2) && !is(3));
        select(RECORD, 100);
        assert_eq!(choose(5, 7, [7, 9]), 7);
        assert!(!is(200) && !when(30, false));
        assert_eq!(seen(), [6, 30, 200]);
        assert_eq!((seen(), fuel()), (vec![], 97));
        select(NONE, 2);
        let burnt = std::panic::catch_unwind(|| (0..3).for_each(|_| burn()));
        assert!(burnt.is_err() && is_endless());
        select(NONE, u64::MAX);
        assert!(!is_endless());
    }
}
