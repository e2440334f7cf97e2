//! Seeded faults that a single program detects, which was written for them.

use explore::corpus;
use explore::verify::{self, Options, Spread, Test};

/// The tables of the mutants.
const BANK: &str = "A line in an L2 bank: ";
const HOST: &str = "A line in the cache of a host: ";
const L2: &str = "A line in a bank of the L2: ";
const L1_PLANS: &str = "Operations at the L1: ";

/// Checks that the protocol keeps its claims in the program, and that the program detects the fault.
fn detects(protocol: &str, name: &str, table: &str, fault: &str) {
    let subject = subjects::explored(protocol).expect("a protocol");
    let spread = Spread { kernels: 1, hosts: Spread::hosts_of(&subject.info) };
    let path = format!("caches/{name}.litmus");
    let (_, text) = corpus::SHIPPED.iter().find(|(known, _)| *known == path).expect("it is shipped");
    let tests = [Test::read(&path, text).expect("it is a test").spread(spread)];
    let fault = format!("{table}{fault}");
    let options = Options { mutants: Some(&fault), ..Options::new(verify::machines()) };
    let found = verify::verify(&subject, &tests, &options).expect("known models");
    assert!(found.findings.is_empty(), "{protocol}: {:?}", found.findings.first());
    let mutants = found.mutants.expect("it was tried");
    let killed: Vec<&String> = mutants.killed.iter().map(|(name, _)| name).collect();
    assert_eq!(killed, [&fault], "{protocol}: {mutants:?}");
    assert_eq!(mutants.misargued, [""; 0], "{protocol}");
}

#[test]
fn a_host_that_asks_to_write_remains_the_owner_after_a_load() {
    for protocol in ["quick-release-groups", "apu-no-l1"] {
        for fault in ["Load in OU, to IM", "Load in OU, to SU"] {
            detects(protocol, "host-reads-beside-upgrade", HOST, fault);
        }
    }
}

#[test]
fn a_host_that_asks_to_write_remains_the_owner_after_a_read_of_the_device() {
    detects("quick-release-split", "device-reads-beside-upgrade", HOST, "Share in OU, to SU");
}

#[test]
fn a_host_that_asks_to_write_does_not_write_yet() {
    detects("quick-release-split", "host-stores-beside-upgrade", HOST, "Store in SU, as in M");
}

#[test]
fn an_atomic_beside_a_useless_fetch_is_after_the_bytes_that_are_written_here() {
    let fault = "Atomic in IX, without WriteOut";
    detects("quick-release-split", "updated-beside-useless-fetch", L2, fault);
}

#[test]
fn a_useless_fetch_stays_useless() {
    detects("quick-release-split", "released-beside-useless-fetch", L2, "Leave in IX, to IV");
    detects("quick-release-split", "host-stores-beside-useless-fetch", L2, "Inv in IX, to IV");
}

#[test]
fn a_write_of_a_host_makes_the_fetch_of_a_partly_dirty_line_useless() {
    detects("apu-no-l1", "host-wrote-kept-word-of-dirty-line", BANK, "InvDirty in IV, to IV");
}

/// Another thread of the work-group, which has written nothing, releases for the thread with the fence.
#[test]
fn a_fence_releases_what_its_own_thread_has_written() {
    for (order, name) in [("Release", "fenced-and-passed-on"), ("AcqRel", "fenced-and-passed-on-acq-rel")] {
        for (scope, name) in [("Device", name.to_owned()), ("System", format!("{name}-system"))] {
            for fault in [", without Flush".to_owned(), format!(" as Fence {order} WorkGroup")] {
                detects("vi-targeted", &name, L1_PLANS, &format!("Fence {order} {scope}{fault}"));
            }
        }
    }
    for fault in ["Fence Release Device, without Release", "Fence Release Device as Fence Release WorkGroup"]
    {
        detects("quick-release-split", "fenced-and-passed-on", L1_PLANS, fault);
    }
}
