//! Makes the decisions of the search, and undoes them.

use crate::cat::graph::{DEP_CO, DEP_RF, Deps};
use crate::exec::set::{EventSet, Word, members};

use super::{Halt, Search, Visitor};

/// The next decision of the search.
#[derive(Clone, Copy, Debug)]
enum Decision<W> {
    /// The order of two writes to one word.
    Pair(usize, usize),
    /// The write from which a read reads. The fields are the read, and the set of writes that the
    /// search tries for this read.
    Read(usize, EventSet<W>),
}

/// The next action of the search.
enum Next<W> {
    Decide(Decision<W>),
    /// The search has made all decisions.
    Complete,
    /// A read has no possible write, or a check fails, so the search returns to an earlier
    /// decision.
    DeadEnd,
}

/// The state that the search restores when it undoes a decision.
#[derive(Clone, Default)]
pub(super) struct Saved<W> {
    co: Vec<EventSet<W>>,
    before: Vec<EventSet<W>>,
    apart: Vec<EventSet<W>>,
    fr: Vec<EventSet<W>>,
    values: Vec<Option<crate::program::Value>>,
    closures: Vec<EventSet<W>>,
    decided: EventSet<W>,
}

/// The positions of the search in the lists `pairs` and `reads`. All pairs and all reads before
/// these positions are decided.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reached {
    pair: usize,
    read: usize,
}

impl<V: Visitor, W: Word> Search<'_, '_, V, W> {
    pub(super) fn decide(&mut self, depth: usize, mut reached: Reached) -> Result<(), Halt> {
        self.nodes += 1;
        match self.next_decision(&mut reached)? {
            Next::DeadEnd => Ok(()),
            Next::Complete => self.complete(),
            Next::Decide(Decision::Read(read, domain)) => {
                if self.count_free(depth)? {
                    return Ok(());
                }
                for write in members(domain) {
                    self.save(depth);
                    if self.read_from(write, read) {
                        self.settle_and_decide(depth, reached, DEP_RF)?;
                    }
                    self.restore(depth);
                }
                Ok(())
            }
            Next::Decide(Decision::Pair(a, b)) => {
                for (first, later) in [(a, b), (b, a)] {
                    if self.linear.iter().any(|form| form.refuses_co(first, later)) {
                        continue;
                    }
                    self.save(depth);
                    if self.order(first, later) {
                        self.settle_and_decide(depth, reached, DEP_CO)?;
                    }
                    self.restore(depth);
                }
                if !self.rules.total[a].has(b) {
                    self.save(depth);
                    self.apart[a].insert(b);
                    self.apart[b].insert(a);
                    self.settle_and_decide(depth, reached, DEP_CO)?;
                    self.restore(depth);
                }
                Ok(())
            }
        }
    }

    fn settle_and_decide(&mut self, depth: usize, reached: Reached, deps: Deps) -> Result<(), Halt> {
        self.tick()?;
        if self.settle(deps)? { self.decide(depth + 1, reached) } else { Ok(()) }
    }

    /// Finds the next decision. A read with only one possible write is decided at once.
    fn next_decision(&mut self, reached: &mut Reached) -> Result<Next<W>, Halt> {
        if let Some(decision) = self.narrow_read() {
            return Ok(Next::Decide(decision));
        }
        while let Some(&(a, b)) = self.pairs.get(reached.pair) {
            let settled = (self.co[a] | self.apart[a] | self.before[a]).has(b);
            if !settled {
                return Ok(Next::Decide(Decision::Pair(a, b)));
            }
            reached.pair += 1;
        }
        let mut forced = false;
        while let Some(&read) = self.reads.get(reached.read) {
            reached.read += 1;
            if self.decided.has(read) {
                continue;
            }
            let domain = self.domain(read);
            if domain.count() > 1 {
                if forced && !self.settle(DEP_RF)? {
                    return Ok(Next::DeadEnd);
                }
                if forced {
                    // The search has decided reads that had only one possible write. This read may
                    // now have fewer possible writes, so it is examined again.
                    reached.read -= 1;
                    forced = false;
                    continue;
                }
                return Ok(Next::Decide(Decision::Read(read, domain)));
            }
            if !domain.first().is_some_and(|write| self.read_from(write, read)) {
                return Ok(Next::DeadEnd);
            }
            forced = true;
        }
        if forced && !self.settle(DEP_RF)? {
            return Ok(Next::DeadEnd);
        }
        Ok(Next::Complete)
    }

    /// Of the undecided reads in `narrow`, the read that has the smallest number of writes from which
    /// it may still read. `narrow` lists the reads of those read-modify-writes whose values some guard
    /// (a condition of a path) uses.
    fn narrow_read(&self) -> Option<Decision<W>> {
        let open = self.narrow.iter().filter(|&&read| !self.decided.has(read));
        let with_domain = open.map(|&read| (read, self.domain(read)));
        let (read, domain) = with_domain.min_by_key(|(_, domain)| domain.count())?;
        Some(Decision::Read(read, domain))
    }

    /// Decides that the write `first` precedes the write `later` in coherence order, and adds all
    /// pairs that follow by transitivity. Returns false if this contradicts an earlier decision or
    /// a check.
    pub(super) fn order(&mut self, first: usize, later: usize) -> bool {
        let after = self.co[later].with(later);
        let mut linear = core::mem::take(&mut self.linear);
        let mut consistent = true;
        for write in members(self.before[first].with(first)) {
            let new = after & !self.co[write];
            if !(new & (self.apart[write] | self.before[write]).with(write)).is_empty() {
                consistent = false;
                break;
            }
            self.co[write] |= new;
            members(new).for_each(|behind| self.before[behind].insert(write));
            consistent = linear.iter_mut().all(|form| form.add_co(write, new));
            if !consistent {
                break;
            }
            // The reads that read from `write` precede, in from-reads, the writes that now follow
            // `write`.
            for read in members(self.decided & self.same_reads[write]) {
                if self.rf[read] == write {
                    self.fr[read] |= new;
                    consistent &= linear.iter_mut().all(|form| form.add_fr(read, new));
                }
            }
            if !consistent {
                break;
            }
        }
        self.linear = linear;
        self.dirty |= DEP_CO;
        consistent
    }

    /// Decides that `read` reads from `write`. Returns false if this contradicts an earlier
    /// decision or a check.
    pub(super) fn read_from(&mut self, write: usize, read: usize) -> bool {
        self.rf[read] = write;
        self.decided.insert(read);
        self.fr[read] = self.co[write];
        self.dirty |= DEP_RF;
        let after = self.co[write];
        self.linear.iter_mut().all(|form| form.add_rf(write, read) && form.add_fr(read, after))
    }

    pub(super) fn save(&mut self, depth: usize) {
        if self.saved.len() <= depth {
            self.saved.resize_with(depth + 1, Saved::default);
        }
        let mut saved = core::mem::take(&mut self.saved[depth]);
        saved.co.clone_from(&self.co);
        saved.before.clone_from(&self.before);
        saved.fr.clone_from(&self.fr);
        saved.decided = self.decided;
        if self.partial {
            saved.apart.clone_from(&self.apart);
        }
        if self.symbolic {
            saved.values.clone_from(&self.values);
        }
        saved.closures.clear();
        for form in &self.linear {
            saved.closures.extend_from_slice(&form.closure);
        }
        self.saved[depth] = saved;
    }

    pub(super) fn restore(&mut self, depth: usize) {
        let saved = core::mem::take(&mut self.saved[depth]);
        if saved.decided != self.decided {
            self.dirty |= DEP_RF;
        }
        if saved.co != self.co || self.partial && saved.apart != self.apart {
            self.dirty |= DEP_CO;
        }
        self.co.copy_from_slice(&saved.co);
        self.before.copy_from_slice(&saved.before);
        self.fr.copy_from_slice(&saved.fr);
        self.decided = saved.decided;
        if self.partial {
            self.apart.copy_from_slice(&saved.apart);
        }
        if self.symbolic {
            self.values.copy_from_slice(&saved.values);
        }
        let n = self.co.len();
        for (index, form) in self.linear.iter_mut().enumerate() {
            form.closure.copy_from_slice(&saved.closures[index * n..(index + 1) * n]);
        }
        self.saved[depth] = saved;
    }
}
