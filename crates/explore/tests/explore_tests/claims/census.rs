//! The census of a verification counts what its runs explore, and nothing else.

use std::collections::BTreeSet;

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

/// Values of a dimension (property in which runs differ), as a census names them.
type Values = (Dimension, &'static [&'static str]);

/// The values that no dimension program has on `vi`, each with the reason.
const UNEXPLORED: [(Values, &str); 3] = [
    (
        (Dimension::Operations, &["barrier", "remote operation", "commutative operation"]),
        "enumerated programs have barriers, and shipped tests have commutative operations; no claim of \
         `vi` covers remote operations",
    ),
    (
        (Dimension::Core, &["sc-wb", "tso", "tso-forwarding", "rmo", "rmo-fifo", "rmo-forwarding"]),
        "no claim of `vi` names these cores",
    ),
    ((Dimension::Channels, &["any order"]), "only the option `--unordered` explores it"),
];

/// The pairs of values that no dimension program has together on `vi`: a value of a dimension, the
/// values of other dimensions, and the reason.
const APART: [((Dimension, &str), &[Values], &str); 8] = [
    (
        (Dimension::Ways, "9, 9"),
        &[
            (Dimension::Operations, &["read-modify-write", "compare-and-swap", "fence"]),
            (Dimension::Width, &["1 byte", "2 bytes", "8 bytes"]),
            (Dimension::Request, &["adjacent words", "words with a hole between them"]),
            (Dimension::Line, &["words that different compute units or hosts write"]),
            (Dimension::Units, &["3", "4"]),
            (Dimension::Wavefronts, &["2", "3"]),
            (Dimension::Hosts, &["1"]),
            (Dimension::Kernels, &["2", "3"]),
            (Dimension::Core, &["gpu"]),
            (Dimension::Policies, &["Through/Through", "ThroughInvalidate/ThroughInvalidate"]),
            (Dimension::Evictions, &["at any time"]),
            (Dimension::Sets, &["2, 2"]),
            (Dimension::Banks, &["2", "3"]),
        ],
        "a program must access ten lines to need each of nine ways, so two programs on one machine test \
         them",
    ),
    (
        (Dimension::Kernels, "3"),
        &[
            (Dimension::Operations, &["atomic store", "fence"]),
            (Dimension::Width, &["1 byte", "2 bytes", "8 bytes"]),
            (Dimension::Request, &["adjacent words", "words with a hole between them"]),
            (Dimension::Line, &["several words", "words that different compute units or hosts write"]),
            (Dimension::Units, &["2", "3", "4"]),
            (Dimension::Wavefronts, &["2", "3"]),
            (Dimension::Hosts, &["0"]),
            (Dimension::Evictions, &["at any time"]),
            (Dimension::Sets, &["2, 2"]),
            (Dimension::Banks, &["1", "3"]),
        ],
        "three programs on every machine have a step of the host between two kernels; the programs of two \
         kernels have the other values",
    ),
    (
        (Dimension::Operations, "fence"),
        &[(Dimension::Units, &["3", "4"]), (Dimension::Wavefronts, &["3"])],
        "here, only the short programs, those with a load between two invalidations and those with a useless \
         fill have fences; the family `message` has fences beside a third thread, on every machine",
    ),
    (
        (Dimension::Evictions, "at any time"),
        &[
            (Dimension::Operations, &["compare-and-swap"]),
            (Dimension::Units, &["3", "4"]),
            (Dimension::Wavefronts, &["3"]),
            (Dimension::Core, &["gpu"]),
            (Dimension::Policies, &["Through/Through"]),
        ],
        "lines are evicted at any time only in programs of two threads and eight instructions, and on the \
         two machines with in-order cores",
    ),
    (
        (Dimension::Units, "3"),
        &[(Dimension::Line, &["several words"]), (Dimension::Wavefronts, &["3"])],
        "a third compute unit runs a neighbour, which writes a word of the line; three wavefronts beside \
         two other units need five threads",
    ),
    (
        (Dimension::Units, "4"),
        &[
            (Dimension::Line, &["several words"]),
            (Dimension::Wavefronts, &["2", "3"]),
            (Dimension::Hosts, &["1"]),
        ],
        "further compute units run neighbours, which write words of the line; more wavefronts or a host \
         beside four units need five threads",
    ),
    (
        (Dimension::Core, "in-order"),
        &[(Dimension::Policies, &["Through/Through"])],
        "each machine has one kind of core",
    ),
    (
        (Dimension::Core, "gpu"),
        &[(Dimension::Policies, &["ThroughInvalidate/ThroughInvalidate"])],
        "each machine has one kind of core",
    ),
];

/// Checks that the dimension programs, from which this census of `vi` comes, cover all pairs of values
/// of two dimensions, except for exactly those in [`APART`], and all values, except for exactly those
/// in [`UNEXPLORED`].
pub(crate) fn all_pairs_are_covered(census: &Census) {
    type Pair<'a> = [(Dimension, &'a str); 2];
    let sorted = |mut pair: Pair<'static>| {
        pair.sort();
        pair
    };
    let excused = APART.iter().flat_map(|&(one, others, _)| {
        let each = |&(dimension, values): &Values| values.iter().map(move |&value| (dimension, value));
        others.iter().flat_map(each).map(move |other| sorted([one, other]))
    });
    let excused: BTreeSet<Pair<'_>> = excused.collect();
    let name = |at: usize| (census.shares[at].dimension, census.shares[at].value.as_str());
    let apart = census.apart.iter().map(|&(one, other)| {
        let mut pair = [name(one), name(other)];
        pair.sort();
        pair
    });
    let apart: BTreeSet<Pair<'_>> = apart.collect();
    let missing: Vec<_> = apart.difference(&excused).collect();
    assert!(missing.is_empty(), "no run has these pairs: {missing:#?}");
    let stale: Vec<_> = excused.difference(&apart).collect();
    assert!(stale.is_empty(), "runs have these pairs, so they need no reason: {stale:#?}");
    let unexplored = census.shares.iter().filter(|share| share.runs == 0);
    let unexplored: Vec<_> = unexplored.map(|share| (share.dimension, share.value.as_str())).collect();
    let known = UNEXPLORED
        .iter()
        .flat_map(|&((dimension, values), _)| values.iter().map(move |&value| (dimension, value)));
    assert_eq!(unexplored, known.collect::<Vec<_>>());
    // For these dimensions, a census lists no value without runs.
    for (dimension, explored) in [
        (Dimension::Units, &["1", "2", "3", "4"][..]),
        (Dimension::Wavefronts, &["1", "2", "3"]),
        (Dimension::Hosts, &["0", "1"]),
        (Dimension::Kernels, &["1", "2", "3"]),
        (
            Dimension::Policies,
            &["Combining/Combining", "Through/Through", "ThroughInvalidate/ThroughInvalidate"],
        ),
        (Dimension::Sets, &["1, 1", "2, 2"]),
        (Dimension::Ways, &["1, 1", "2, 2", "9, 9"]),
        (Dimension::Banks, &["1", "2", "3"]),
    ] {
        let own: Vec<&str> = values(census, dimension).into_iter().map(|(value, _)| value).collect();
        assert_eq!(own, explored, "{dimension:?}");
    }
}
