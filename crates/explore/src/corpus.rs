//! The tests that come with the tool, and those that are made.

pub use crate::made::{made, messages, scopes_matter};
use crate::test::Test;

macro_rules! texts {
    ($($path:literal)+) => {
        /// The texts of the shipped tests, by their paths below `litmus/`.
        pub const SHIPPED: &[(&str, &str)] =
            &[$(($path, include_str!(concat!("../../../litmus/", $path)))),+];
    };
}

texts! {
    "c11/2+2W+rel.litmus"
    "c11/2+2W.litmus"
    "c11/CAS+once.litmus"
    "c11/CoRR.litmus"
    "c11/CoWR.litmus"
    "c11/IRIW+ra.litmus"
    "c11/IRIW+sc.litmus"
    "c11/LB+acq.litmus"
    "c11/LB+data.litmus"
    "c11/LB.litmus"
    "c11/MP+fences.litmus"
    "c11/MP+plain-racy.litmus"
    "c11/MP+plain.litmus"
    "c11/MP+ra.litmus"
    "c11/MP+release-only.litmus"
    "c11/MP+spin.litmus"
    "c11/MP.litmus"
    "c11/RMW+count.litmus"
    "c11/SB+fences.litmus"
    "c11/SB+ra-fences.litmus"
    "c11/SB+sc.litmus"
    "c11/SB.litmus"
    "c11/WRC+ra.litmus"
    "c11/lock+relaxed.litmus"
    "c11/lock.litmus"
    "c11/release-sequence.litmus"
    "caches/dirty-fetch-flushed.litmus"
    "caches/dirty-line.litmus"
    "caches/dropped-fetch-flushed-taken.litmus"
    "caches/dropped-fetch-flushed.litmus"
    "caches/dropped-fetch-loaded.litmus"
    "caches/dropped-fetch-read.litmus"
    "caches/fenced-behind-taken-release.litmus"
    "caches/fenced-behind-updated-acq-rel.litmus"
    "caches/fenced-behind-updated-release.litmus"
    "caches/fetched-passed.litmus"
    "caches/fetched-while-acquired.litmus"
    "caches/given-back-while-acquired.litmus"
    "caches/given-back-while-released.litmus"
    "caches/host-beside-registered-evicted.litmus"
    "caches/host-beside-registered.litmus"
    "caches/host-both-ways.litmus"
    "caches/host-dirty-line.litmus"
    "caches/host-late-fill-flushed.litmus"
    "caches/host-late-fill-loaded.litmus"
    "caches/host-late-fill-passed.litmus"
    "caches/host-late-fill.litmus"
    "caches/host-line-apart.litmus"
    "caches/host-line-loaded-again.litmus"
    "caches/host-line.litmus"
    "caches/host-reads-after.litmus"
    "caches/host-reads-taken.litmus"
    "caches/host-reads.litmus"
    "caches/host-recalls.litmus"
    "caches/host-stale-between.litmus"
    "caches/host-stale-line-acquired.litmus"
    "caches/host-stale-line-fences.litmus"
    "caches/host-stale-line-full-fences.litmus"
    "caches/host-stale-line-taken.litmus"
    "caches/host-told-by-update-both.litmus"
    "caches/host-told-by-update.litmus"
    "caches/host-writes-again.litmus"
    "caches/late-fill-answers.litmus"
    "caches/late-fill-passed.litmus"
    "caches/late-fill-updated.litmus"
    "caches/late-fill.litmus"
    "caches/narrow-stale-line-stored.litmus"
    "caches/narrow-stale-line-taken.litmus"
    "caches/narrow-stale-line-updated.litmus"
    "caches/narrow-stale-line.litmus"
    "caches/own-words-system.litmus"
    "caches/read-and-updated.litmus"
    "caches/read-and-written-again.litmus"
    "caches/read-and-written.litmus"
    "caches/recalled-while-dropped.litmus"
    "caches/recalled-while-leaving.litmus"
    "caches/registered-again-acquired.litmus"
    "caches/registered-again-loaded.litmus"
    "caches/registered-late-fenced.litmus"
    "caches/registered-late-passed.litmus"
    "caches/registered-late.litmus"
    "caches/registered-stale.litmus"
    "caches/registered-written-loaded.litmus"
    "caches/registered-written-read.litmus"
    "caches/registered-written-twice.litmus"
    "caches/released-beside-system.litmus"
    "caches/released-beside.litmus"
    "caches/released-then-read-plainly-device.litmus"
    "caches/released-then-read-plainly-system.litmus"
    "caches/remote-counter-system.litmus"
    "caches/remote-counter-updates-system.litmus"
    "caches/remote-counter-updates.litmus"
    "caches/remote-counter.litmus"
    "caches/remote-evicted-flag-taken-system.litmus"
    "caches/remote-evicted-flag-taken.litmus"
    "caches/remote-evicted-flag-updated-system.litmus"
    "caches/remote-evicted-flag-updated.litmus"
    "caches/remote-evicted-flag.litmus"
    "caches/served-while-leaving.litmus"
    "caches/stale-line-fences.litmus"
    "caches/stale-line-full-fences.litmus"
    "caches/stale-line-taken.litmus"
    "caches/stored-afar-then-read.litmus"
    "caches/stored-afar-then-told.litmus"
    "caches/stored-beside-system.litmus"
    "caches/stored-while-given-back.litmus"
    "caches/stored-while-registering.litmus"
    "caches/taken-twice.litmus"
    "caches/taken-while-given-back.litmus"
    "caches/told-by-update-both.litmus"
    "caches/told-by-update.litmus"
    "caches/updated-beside-remote.litmus"
    "caches/updated-beside-system.litmus"
    "caches/updated-beside.litmus"
    "caches/updated-in-order-while-acquired.litmus"
    "caches/updated-then-read-device.litmus"
    "caches/updated-then-read-plainly-device.litmus"
    "caches/updated-then-read-system.litmus"
    "caches/updated-twice.litmus"
    "caches/updated-while-acquired.litmus"
    "caches/updated-while-dirty.litmus"
    "caches/updated-while-given-back.litmus"
    "caches/updated-while-passed.litmus"
    "caches/way-beside-flag-fetched.litmus"
    "caches/way-beside-flag-read.litmus"
    "caches/way-beside-flag.litmus"
    "caches/written-then-loaded-system.litmus"
    "caches/written-then-updated-plainly.litmus"
    "caches/written-then-updated.litmus"
    "hrf/fig2.litmus"
    "hrf/fig5-other-wg.litmus"
    "hrf/fig5-same-wg.litmus"
    "hrf/fig6.litmus"
    "hrf/fig7.litmus"
    "hrf/fig8.litmus"
    "hrf/least-drf-data.litmus"
    "hrf/least-drf.litmus"
    "hrf/least-inclusion-data.litmus"
    "hrf/least-inclusion.litmus"
    "hrf/least-indirect-data.litmus"
    "hrf/least-indirect-inclusion.litmus"
    "hrf/least-indirect.litmus"
    "hrf/least-so.litmus"
    "hrf/so-indirect.litmus"
    "opencl/MP+both-regions.litmus"
    "opencl/MP+dev.litmus"
    "opencl/MP+local-flag.litmus"
    "opencl/MP+mixed.litmus"
    "opencl/MP+one-region.litmus"
    "opencl/MP+wg-apart.litmus"
    "opencl/MP+wg.litmus"
    "opencl/barrier+local.litmus"
    "opencl/barrier.litmus"
    "opencl/push.litmus"
    "opencl/steal.litmus"
    "ptx/CoRR+strong.litmus"
    "ptx/CoRR+weak.litmus"
    "ptx/LB+data.litmus"
    "ptx/LB.litmus"
    "ptx/MP+bar-apart.litmus"
    "ptx/MP+bar-arrive.litmus"
    "ptx/MP+bar-other.litmus"
    "ptx/MP+bar.litmus"
    "ptx/MP+cta-apart.litmus"
    "ptx/MP+cta.litmus"
    "ptx/MP+fences.litmus"
    "ptx/MP+gpu-apart.litmus"
    "ptx/MP+gpu.litmus"
    "ptx/MP+one-sided.litmus"
    "ptx/MP+sys.litmus"
    "ptx/MP+weak-flag.litmus"
    "ptx/RMW+strong.litmus"
    "ptx/RMW+too-small.litmus"
    "ptx/SB+acq_rel.litmus"
    "ptx/SB+mixed.litmus"
    "ptx/SB+sc-cta.litmus"
    "ptx/SB+sc-gpu.litmus"
    "ptx/alias+fence.litmus"
    "ptx/alias+none.litmus"
    "ptx/proxy+fence.litmus"
    "ptx/proxy+none.litmus"
    "ptx/proxy+wrong-fence.litmus"
    "runtime/fg-share+device.litmus"
    "runtime/lock-counter+device.litmus"
    "runtime/lock-counter+too-narrow.litmus"
    "runtime/lock-counter+work-group.litmus"
    "runtime/pop-steal+device.litmus"
    "runtime/pop-steal+remote.litmus"
    "runtime/pop-steal+scoped.litmus"
    "runtime/pop-steal+unscoped.litmus"
    "runtime/pop-steal-twice+device.litmus"
    "runtime/pop-steal-twice+published.litmus"
    "runtime/pop-steal-twice+remote.litmus"
    "runtime/pop-steal-twice+scoped.litmus"
    "runtime/pop-steal-twice+unscoped.litmus"
    "runtime/push-pop-steal+device.litmus"
    "runtime/push-pop-steal+remote.litmus"
    "runtime/push-pop-steal+scoped.litmus"
    "runtime/push-pop-steal+unscoped.litmus"
    "runtime/push-steal+device.litmus"
    "runtime/push-steal+published.litmus"
    "runtime/push-steal+remote.litmus"
    "runtime/push-steal+scoped.litmus"
    "runtime/push-steal+unscoped.litmus"
    "runtime/steal-steal+device.litmus"
    "runtime/steal-steal+remote.litmus"
    "runtime/steal-steal+scoped.litmus"
    "runtime/steal-steal+unscoped.litmus"
}

/// The shipped tests.
///
/// # Errors
/// If one of them is no test, which a test rules out.
pub fn shipped() -> Result<Vec<Test>, String> {
    let read =
        |&(path, text): &(&str, &str)| Test::read(path, text).map_err(|error| format!("{path}: {error}"));
    SHIPPED.iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn every_shipped_test_is_here() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../litmus");
        let mut there = BTreeSet::new();
        for folder in std::fs::read_dir(&root).expect("the folder is there") {
            let folder = folder.expect("it can be read").path();
            let Ok(files) = std::fs::read_dir(&folder) else { continue };
            for file in files {
                let path = file.expect("it can be read").path();
                let below = path.strip_prefix(&root).expect("below").to_string_lossy().into_owned();
                if below.ends_with(".litmus") {
                    there.insert(below);
                }
            }
        }
        let here: BTreeSet<String> = SHIPPED.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(here, there);
        assert_eq!(shipped().map(|tests| tests.len()), Ok(here.len()));
    }
}
