//! The census of a verification counts what its runs explore, and nothing else.

use explore::verify::census::Dimension;
use explore::verify::{self, Census, Dimensions, Options, Test};
use explore::{Bounds, Placement};
use proto::{Width, WritePolicy};

const COMBINING: Bounds = Bounds::new(WritePolicy::Combining, WritePolicy::Combining);

/// A program in which the thread of a second work-group reads two words that the thread of the
/// first work-group writes.
const PASSED: &str = "OPENCL passed
{ }

P0@wg 0, dev 0 (global int* x, global int* y, global atomic_int* f) {
  *x = 1;
  *y = 1;
  atomic_store_explicit(f, 1, memory_order_release, memory_scope_device);
}

P1@wg 1, dev 0 (global int* x, global int* y, global atomic_int* f) {
  await(f == 1, memory_order_acquire, memory_scope_device);
  int r0 = *x;
  int r1 = *y;
}

forall (1:r0=1 /\\ 1:r1=1)
";

/// The census of [`PASSED`] on `vi`, in one placement: the first placement of the test after the
/// change `change`.
fn census(change: impl Fn(Placement) -> Placement) -> Census {
    let mut test = Test::read("passed", PASSED).expect("a test");
    test.placements = vec![change(test.placements[0].clone())];
    let subject = subjects::explored("vi").expect("a protocol");
    let options = Options::new(vec![COMBINING, COMBINING.tight()]);
    verify::verify(&subject, &[test], &options).expect("known models").census
}

/// The explored values of a dimension.
fn values(census: &Census, dimension: Dimension) -> Vec<(&str, u64)> {
    let of = census.shares.iter().filter(|share| share.dimension == dimension && share.runs > 0);
    of.map(|share| (share.value.as_str(), share.runs)).collect()
}

#[test]
fn each_value_counts_the_runs_that_have_it() {
    let plain = census(|placement| placement);
    assert_eq!(
        values(&plain, Dimension::Operations),
        [("plain load", 2), ("plain store", 2), ("atomic load", 2), ("atomic store", 2)]
    );
    assert_eq!(values(&plain, Dimension::Width), [("4 bytes", 2)]);
    assert_eq!(values(&plain, Dimension::Request), [("one word", 2)]);
    assert_eq!(values(&plain, Dimension::Line), [("one word", 2)]);
    assert_eq!(values(&plain, Dimension::Units), [("2", 2)]);
    assert_eq!(values(&plain, Dimension::Wavefronts), [("1", 2)]);
    assert_eq!(values(&plain, Dimension::Ways), [("1, 1", 1), ("2, 2", 1)]);
    let states: u64 = plain.shares.iter().filter(|s| s.dimension == Dimension::Ways).map(|s| s.states).sum();
    let chiplets = plain.shares.iter().find(|s| s.dimension == Dimension::Chiplets).expect("a value");
    assert_eq!((chiplets.runs, chiplets.states), (2, states));
}

#[test]
fn a_census_sees_the_words_of_a_request_and_of_a_line() {
    let in_lanes = |lines: [u8; 3], widths: [Width; 3]| {
        census(|placement| {
            Placement { lines: lines.to_vec(), widths: widths.to_vec(), ..placement }.in_lanes()
        })
    };
    let adjacent = in_lanes([0, 0, 1], [Width::W4; 3]);
    assert_eq!(values(&adjacent, Dimension::Request), [("one word", 2), ("adjacent words", 2)]);
    assert_eq!(values(&adjacent, Dimension::Line), [("one word", 2), ("several words", 2)]);
    // A word of eight bytes begins behind a hole of seven.
    let apart = in_lanes([0, 0, 1], [Width::W1, Width::W8, Width::W2]);
    assert_eq!(values(&apart, Dimension::Request), [("one word", 2), ("words with a hole between them", 2)]);
    assert_eq!(values(&apart, Dimension::Width), [("1 byte", 2), ("2 bytes", 2), ("8 bytes", 2)]);
    let alone = in_lanes([0, 1, 2], [Width::W4; 3]);
    assert_eq!(values(&alone, Dimension::Request), [("one word", 2)]);
}

#[test]
fn the_dimensions_list_values_without_runs() {
    let dimensions = Dimensions::of(&census(|placement| placement));
    let has = |all: &[String], what: &str| all.iter().any(|text| text == what);
    assert!(has(&dimensions.covered, "words of 4 bytes"), "{dimensions:?}");
    assert!(has(&dimensions.covered, "up to 2 compute units"), "{dimensions:?}");
    assert!(has(&dimensions.covered, "1 wavefront of a compute unit"), "{dimensions:?}");
    assert!(has(&dimensions.not_covered, "words of 1, 2 and 8 bytes"), "{dimensions:?}");
    assert!(has(&dimensions.not_covered, "requests of several words"), "{dimensions:?}");
}

#[test]
fn the_dimensions_name_the_limits_of_programs_and_machines() {
    let has = |all: &[String], what: &str| all.iter().any(|text| text == what);
    let plain = Dimensions::of(&census(|placement| placement));
    for what in [
        "up to 3 lines",
        "requests of 1 word",
        "store buffers of up to 2 lines",
        "up to 2 miss registers",
        "scopes: device",
    ] {
        assert!(has(&plain.covered, what), "{what}: {plain:?}");
    }
    for what in [
        "lines that share a tag (sectors)",
        "more than 3 lines",
        "requests of more than 1 word",
        "store buffers of more than 2 lines",
        "more than 2 miss registers",
        "read-modify-writes: exchange, add, subtract, and, or, xor, minimum, maximum",
        "scopes: work-item, wavefront, work-group, chiplet, system, named",
    ] {
        assert!(has(&plain.not_covered, what), "{what}: {plain:?}");
    }
    // Both data words are in one line, and one request accesses them.
    let adjacent =
        Dimensions::of(&census(|placement| Placement { lines: vec![0, 0, 1], ..placement }.in_lanes()));
    for what in ["up to 2 lines", "requests of up to 2 words"] {
        assert!(has(&adjacent.covered, what), "{what}: {adjacent:?}");
    }
    for what in ["more than 2 lines", "requests of more than 2 words"] {
        assert!(has(&adjacent.not_covered, what), "{what}: {adjacent:?}");
    }
}

/// Some dimensions (properties in which programs and machines differ). For any two of them, the
/// dimension programs cover all pairs of their values.
const PAIRED: [Dimension; 5] =
    [Dimension::Width, Dimension::Units, Dimension::Banks, Dimension::Kernels, Dimension::Channels];

/// Checks that the dimension programs, from which this census comes, cover all pairs of values.
pub(crate) fn all_pairs_are_covered(census: &Census) {
    let apart: Vec<_> =
        census.apart.iter().map(|&(one, other)| [one, other].map(|at| &census.shares[at])).collect();
    let is_paired = |pair: &&[&verify::census::Share; 2]| pair.iter().all(|s| PAIRED.contains(&s.dimension));
    let missing: Vec<_> = apart.iter().filter(is_paired).collect();
    assert!(missing.is_empty(), "{missing:?}");
    for (dimension, count) in [(Dimension::Width, 4), (Dimension::Units, 4), (Dimension::Banks, 3)] {
        assert_eq!(values(census, dimension).len(), count, "{dimension:?}");
    }
}
