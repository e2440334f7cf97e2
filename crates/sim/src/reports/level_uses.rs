//! The counters of the activity of a level.

use proto::{ByCause, CAUSES, Cause, Symbol, Uses};

/// The activity of all stations (controllers) of one level, such as the L1s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LevelUses {
    pub(crate) tag_lookups: u64,
    pub(crate) accesses: u64,
    pub(crate) hits: u64,
    pub(crate) load_accesses: u64,
    pub(crate) load_hits: u64,
    pub(crate) loads_of_dirty_lines: u64,
    pub(crate) load_bypasses: u64,
    pub(crate) misses: u64,
    pub(crate) bypasses: u64,
    pub(crate) fetches: u64,
    pub(crate) sync_accesses: u64,
    pub(crate) sync_hits: u64,
    pub(crate) sync_remote: u64,
    pub(crate) sync_evictions: u64,
    pub(crate) lines_registered: u64,
    pub(crate) lines_unregistered: u64,
    pub(crate) data_reads: u64,
    pub(crate) data_writes: u64,
    pub(crate) atomics: u64,
    pub(crate) invalidations: [u64; CAUSES],
    pub(crate) lines_invalidated: u64,
    pub(crate) flushes: [u64; CAUSES],
    pub(crate) lines_written_out: u64,
    pub(crate) evictions: u64,
    pub(crate) locks: u64,
    pub(crate) flush_broadcasts: u64,
    pub(crate) invalidation_broadcasts: u64,
    pub(crate) lock_broadcasts: u64,
    pub(crate) changes_ended: u64,
    /// The cycles from the beginning to the end of a change of epochs, summed over all changes that
    /// have ended. During an epoch, the addresses of one band (a group of addresses) may be
    /// written.
    pub(crate) change_cycles: u64,
    pub(crate) writes_blocked: u64,
    pub(crate) blocked_at_change: u64,
    /// The maximum number of writes that were blocked at one station (controller) at the same time,
    /// because the epoch that allows these writes had not come.
    pub(crate) blocked_peak: u64,
}

impl LevelUses {
    #[inline]
    pub(crate) fn add(&mut self, uses: &Uses) {
        self.tag_lookups += u64::from(uses.tag_lookups);
        self.accesses += u64::from(uses.accesses);
        self.hits += u64::from(uses.hits);
        self.load_accesses += u64::from(uses.load_accesses);
        self.load_hits += u64::from(uses.load_hits);
        self.loads_of_dirty_lines += u64::from(uses.loads_of_dirty_lines);
        self.load_bypasses += u64::from(uses.load_bypasses);
        self.misses += u64::from(uses.misses);
        self.bypasses += u64::from(uses.bypasses);
        self.fetches += u64::from(uses.fetches);
        self.sync_accesses += u64::from(uses.sync_accesses);
        self.sync_hits += u64::from(uses.sync_hits);
        self.sync_remote += u64::from(uses.sync_remote);
        self.sync_evictions += u64::from(uses.sync_evictions);
        self.lines_registered += u64::from(uses.lines_registered);
        self.lines_unregistered += u64::from(uses.lines_unregistered);
        self.data_reads += u64::from(uses.data_reads);
        self.data_writes += u64::from(uses.data_writes);
        self.atomics += u64::from(uses.atomics);
        add_causes(&mut self.invalidations, &uses.invalidations);
        self.lines_invalidated += u64::from(uses.lines_invalidated);
        add_causes(&mut self.flushes, &uses.flushes);
        self.lines_written_out += u64::from(uses.lines_written_out);
        self.evictions += u64::from(uses.evictions);
        self.locks += u64::from(uses.locks);
        self.flush_broadcasts += u64::from(uses.flush_broadcasts);
        self.invalidation_broadcasts += u64::from(uses.invalidation_broadcasts);
        self.lock_broadcasts += u64::from(uses.lock_broadcasts);
        self.writes_blocked += u64::from(uses.writes_blocked);
        self.blocked_at_change += u64::from(uses.blocked_at_change);
        self.blocked_peak = self.blocked_peak.max(u64::from(uses.blocked_now));
    }

    pub(crate) fn entries(&self) -> Vec<(String, u64)> {
        let mut entries: Vec<(String, u64)> = [
            ("accesses", self.accesses),
            ("hits", self.hits),
            ("load_accesses", self.load_accesses),
            ("load_hits", self.load_hits),
            ("loads_of_dirty_lines", self.loads_of_dirty_lines),
            ("load_bypasses", self.load_bypasses),
            ("misses", self.misses),
            ("bypasses", self.bypasses),
            ("fetches", self.fetches),
            ("tag_lookups", self.tag_lookups),
            ("data_reads", self.data_reads),
            ("data_writes", self.data_writes),
            ("atomics", self.atomics),
            ("invalidations", self.invalidations.iter().sum()),
            ("lines_invalidated", self.lines_invalidated),
            ("flushes", self.flushes.iter().sum()),
            ("lines_written_out", self.lines_written_out),
            ("evictions", self.evictions),
            ("locks", self.locks),
            ("flush_broadcasts", self.flush_broadcasts),
            ("invalidation_broadcasts", self.invalidation_broadcasts),
            ("lock_broadcasts", self.lock_broadcasts),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        for cause in Cause::ALL {
            let (invalidation, flush) = match cause {
                Cause::Kernel => ("kernel_start", "kernel_end"),
                Cause::Order => ("acquire", "release"),
                Cause::Remote => ("remote", "remote"),
                Cause::Atomic => ("atomic_in", "atomic_out"),
            };
            entries.push((format!("invalidations.{invalidation}"), self.invalidations[cause.index()]));
            entries.push((format!("flushes.{flush}"), self.flushes[cause.index()]));
        }
        let of_epochs = [
            ("epoch_changes", self.changes_ended),
            ("epoch_change_cycles", self.change_cycles),
            ("writes_blocked", self.writes_blocked),
            ("writes_blocked_at_changes", self.blocked_at_change),
            ("writes_blocked_peak", self.blocked_peak),
        ];
        // Most protocols have no epochs.
        let counted = of_epochs.into_iter().filter(|(_, value)| *value > 0);
        entries.extend(counted.map(|(name, value)| (name.to_owned(), value)));
        entries
    }
}

fn add_causes(sum: &mut [u64; CAUSES], more: &ByCause) {
    for (sum, more) in sum.iter_mut().zip(more.0) {
        *sum += u64::from(more);
    }
}
