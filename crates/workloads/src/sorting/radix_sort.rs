//! A sort of 4-byte keys, one byte after the other. For each byte, the program makes a histogram in
//! each work-group, scans all histograms, and scatters the keys. Keys with equal bytes keep their
//! order.
//!
//! The histograms are stored by the value of the byte: first the counts of the value 0 in all
//! work-groups, then the counts of the value 1 in all work-groups, and so on. The scan of the
//! histograms therefore gives, for each value and work-group, the place of the first key with this
//! value. A work-group finds the places of its keys wavefront by wavefront: the lanes whose keys
//! have equal bytes find each other by a vote on each bit (Merrill and Grimshaw, 2011).

use kernel::prelude::*;

use super::scan::Scan;
use crate::data;
use crate::group::{first_local, grid_of, local_item};
use crate::instance::{GROUP_ITEMS, Instance, Purpose, Room, Sizes, Workload};
use crate::settings::{Setting, Settings};

pub(crate) static RADIX_SORT: Workload = Workload {
    name: "radix-sort",
    summary: "sorts 4-byte keys byte by byte: histogram, scan, scatter",
    origin: "QuickRelease, Hechtman thesis (2014), section 4.4.2; SHOC (2010)",
    room: Room::Sorting,
    purpose: Purpose::Benchmark,
    // The thesis gives no size.
    sizes: Sizes { tiny: &[("n", "1500")], small: &[], paper: &[("n", "1m")] },
    settings: &[Setting::count("n", 16 << 10, 1, 1 << 26, "number of keys")],
    make: |settings, seed| Ok(radix_sort(settings, seed)),
};

const GROUP: u32 = GROUP_ITEMS as u32;

/// The number of values of a byte. Each work-item of a work-group counts one of these values.
const DIGITS: u32 = 256;

/// The number of keys that each work-item handles.
const PER_ITEM: u32 = 4;

/// The number of keys that each work-group handles.
const TILE: u64 = (GROUP * PER_ITEM) as u64;

#[derive(Clone, Copy)]
struct Pass {
    from: Array<u32>,
    to: Array<u32>,
    counts: Array<u32>,
    /// The position in a key of the byte by which this pass sorts, in bits.
    shift: u32,
}

impl Pass {
    /// The wavefront with only those lanes active that have a key in the round with the number
    /// `round`, and the position of the first key of this round. In a round, each lane handles one
    /// key. All keys of a wavefront are consecutive.
    fn round(&self, w: &Wave, round: u32) -> (Wave, u64) {
        let first = u64::from(w.work_group()) * TILE + first_local(w) * u64::from(PER_ITEM);
        let base = first + u64::from(round * w.lanes());
        (w.below(base, self.from.len()), base)
    }

    fn digit(&self, keys: Lanes<u32>) -> Lanes<u32> {
        (keys >> self.shift) & (DIGITS - 1)
    }

    /// For each lane, the index in `counts` of the counter for one value of the byte in this
    /// work-group. The value is the number of the lane's work-item.
    fn counter(w: &Wave) -> Lanes<u32> {
        local_item(w) * w.work_groups() + w.work_group()
    }

    async fn histogram(self, w: Wave) {
        let here = Unit(first_local(&w));
        let counts = w.lds::<u32>(0, DIGITS);
        w.store(counts, here, Lanes::splat(0));
        w.barrier().await;
        for round in 0..PER_ITEM {
            let (w, base) = self.round(&w, round);
            let digit = self.digit(w.load(self.from, Unit(base)).await);
            let add = relaxed(Level::WorkGroup).commutative();
            w.update(counts, digit, RmwKind::Add, Lanes::splat(1u32), add);
        }
        w.barrier().await;
        let count = w.load(counts, here).await;
        w.store(self.counts, Self::counter(&w), count);
    }

    /// For each lane, a mask of the lanes whose keys have the same byte.
    fn peers(w: &Wave, digit: Lanes<u32>) -> Lanes<u64> {
        let mut peers = Lanes::splat(w.mask().0);
        for bit in 0..DIGITS.trailing_zeros() {
            let ones = ((digit >> bit) & 1).ne(0);
            peers = peers & Lanes::select(ones, ones.0, !ones.0);
        }
        peers
    }

    /// Computes, for each key of the wavefront, the number of earlier keys in the wavefront with
    /// the same byte. Also counts the keys with each value of the byte.
    async fn rank(&self, w: &Wave, counts: Lds<u32>) -> [(Lanes<u32>, Lanes<u32>); PER_ITEM as usize] {
        let mut ranked = [(Lanes::splat(0), Lanes::splat(0)); PER_ITEM as usize];
        for (round, ranked) in (0..).zip(&mut ranked) {
            let (w, base) = self.round(w, round);
            let keys = w.load(self.from, Unit(base)).await;
            let digit = self.digit(keys);
            let peers = Self::peers(&w, digit);
            let lower = Lanes::from_fn(|lane| (1u64 << lane) - 1);
            let before = (peers & lower).map(Class::Int, |mask| mask.count_ones());
            let all = peers.map(Class::Int, |mask| mask.count_ones());
            let counted = w.load(counts, digit).await;
            // Of the lanes whose keys have the same byte, the lowest one adds the number of all of
            // them.
            w.when(before.eq(0)).store(counts, digit, counted + all);
            *ranked = (keys, counted + before);
        }
        ranked
    }

    async fn scatter(self, w: Wave) {
        let here = Unit(first_local(&w));
        let waves = w.waves();
        let counts_of = |wave: u32| w.lds::<u32>(4 * DIGITS * wave, DIGITS);
        for wave in 0..waves {
            w.store(counts_of(wave), here, Lanes::splat(0));
        }
        w.barrier().await;
        let own = counts_of(w.index());
        let ranked = self.rank(&w, own).await;
        w.barrier().await;
        // Each work-item replaces the counts of its byte value by the places of the first keys with
        // this value.
        let mut place = w.load(self.counts, Self::counter(&w)).await;
        for wave in 0..waves {
            let count = w.load(counts_of(wave), here).await;
            w.store(counts_of(wave), here, place);
            place += count;
        }
        w.barrier().await;
        for (round, (keys, rank)) in (0..).zip(ranked) {
            let (w, _) = self.round(&w, round);
            let first = w.load(own, self.digit(keys)).await;
            w.store(self.to, first + rank, keys);
        }
    }
}

fn radix_sort(settings: &Settings, seed: u64) -> Instance {
    let n = settings.count("n");
    let program = Program::new("radix-sort", move |host| async move {
        let (mut from, mut to) = (host.alloc("keys", n), host.alloc("keys-after", n));
        let groups = n.div_ceil(TILE);
        let counts = host.alloc::<u32>("counts", groups * u64::from(DIGITS));
        let scan = Scan::new(&host, counts.len());
        host.write(from, &data::words_below(seed, n, 1 << 32)).await;
        let grid = grid_of(&host.shape(), groups, GROUP);
        for shift in (0..u32::BITS).step_by(8) {
            let pass = Pass { from, to, counts, shift };
            let kernel = Kernel::new("radix-histogram", move |w| pass.histogram(w));
            let kernel = kernel.uses([from.read().in_parts(TILE), counts.write()]);
            host.launch(kernel, grid.lds_bytes(4 * DIGITS)).await;
            scan.run(&host, counts, counts).await;
            let kernel = Kernel::new("radix-scatter", move |w| pass.scatter(w));
            let kernel = kernel.uses([from.read().in_parts(TILE), counts.read(), to.write()]);
            host.launch(kernel, grid.lds_bytes(4 * DIGITS * grid.waves)).await;
            (from, to) = (to, from);
        }
        Answer::new().with_array("keys", &host, from).await
    });
    Instance::new(program, move |answer| {
        let mut keys = data::words_below(seed, n, 1 << 32);
        keys.sort_unstable();
        answer.expect("keys", &keys)
    })
}
