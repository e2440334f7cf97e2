//! The check of an access against the recorded accesses to the same words.

use kernel::Space;
use proto::Level;

use super::Detector;
use super::clock::ThreadId;
use super::code::{Code, CodeId, Codes};
use super::links::Thread;
use super::report::RaceKind;
use super::scope::{Instance, RaceModel, Standing, wider};
use super::shadow::{List, Record, Word, WordAt, WordRecords};

/// The access that is checked now, with the properties that all its words share.
pub(super) struct CurrentAccess<'a> {
    pub(super) thread: &'a Thread,
    pub(super) writes: bool,
    pub(super) is_atomic: bool,
    is_local: bool,
    /// Whether the access is recorded at its completion instead of its issue. True for atomics that
    /// read.
    is_late: bool,
    code: CodeId,
    scope: Instance,
    /// Whether an atomic access races with no other atomic access, whatever the two scopes are. This
    /// is true of remote operations, which synchronize with narrower scopes elsewhere, and of
    /// accesses to local memory, which has a single scope.
    is_any_scope: bool,
}

impl<'a> CurrentAccess<'a> {
    pub(super) fn new(thread: &'a Thread, codes: &Codes, number: CodeId) -> CurrentAccess<'a> {
        let code = codes.get(number);
        CurrentAccess {
            thread,
            writes: code.what.writes(),
            is_atomic: code.is_atomic(),
            is_local: code.space == Space::Lds,
            is_late: code.is_atomic() && code.what.reads(),
            code: number,
            scope: thread.standing.instance(&code.semantics),
            is_any_scope: is_any_scope(code),
        }
    }
}

fn is_any_scope(code: &Code) -> bool {
    code.semantics.hints.remote || code.space == Space::Lds
}

/// The relation of an earlier, recorded access to a later access: the kind of their race, and
/// whether the record of the earlier access is unnecessary once the later access is recorded.
struct Relation {
    race: Option<RaceKind>,
    /// Whether every future access that races with the earlier access also races with the later
    /// one. The record of the earlier access is then unnecessary.
    is_covered: bool,
}

impl Detector {
    fn compare(&self, current: &CurrentAccess<'_>, earlier: Record, now: Record) -> Relation {
        let (thread, epoch) = (earlier.thread(), earlier.epoch());
        let code = self.codes.get(earlier.code());
        let (writes, is_atomic) = (code.what.writes(), code.is_atomic());
        let standing = &self.standings[thread.0 as usize];
        let is_same_scope = current.is_any_scope
            || is_any_scope(code)
            || self.links.model == RaceModel::Drf
            || standing.instance(&code.semantics) == current.scope;
        let kind = match (is_atomic && current.is_atomic, is_same_scope) {
            (true, true) => None,
            (true, false) => Some(RaceKind::Synchronization),
            (false, _) => Some(RaceKind::Ordinary),
        };
        let conflicts = (writes || current.writes) && earlier.mask() & now.mask() != 0;
        let is_ordered = || match current.is_local {
            true => current.thread.knows_locally(thread, epoch),
            false => current.thread.knows(thread, epoch),
        };
        let race = kind.filter(|_| conflicts && !is_ordered() && !self.is_answered(current, earlier, now));
        // A remote atomic races with fewer accesses than an earlier atomic of narrower scope does.
        // The record of the earlier atomic must therefore be kept.
        let covers_scope = self.links.model == RaceModel::Drf
            || is_any_scope(code)
            || !current.is_any_scope && standing.instance(&code.semantics) == current.scope;
        let is_as_strong = (current.writes || !writes) && (!current.is_atomic || is_atomic && covers_scope);
        let is_covered = is_as_strong
            && earlier.mask() & !now.mask() == 0
            && (current.thread.passes_on(self.links.model, thread, epoch)
                || current.is_local && is_ordered());
        Relation { race, is_covered }
    }

    /// Whether `earlier` happens after `now`, although it was recorded first. This is possible
    /// because an atomic that reads is recorded when it completes, but its release takes effect
    /// when it is issued.
    #[cold]
    fn is_answered(&self, current: &CurrentAccess<'_>, earlier: Record, now: Record) -> bool {
        if !current.is_late {
            return false;
        }
        let at = self.standings[earlier.thread().0 as usize].at;
        let other = match earlier.thread() {
            ThreadId::HOST => Some(&self.host),
            thread => {
                let lives = self.live.get(&(at.cu, at.slot)).filter(|t| t.standing.thread == thread.0);
                lives.or_else(|| self.gone.get(&thread.0))
            }
        };
        other.is_some_and(|other| other.knows(now.thread(), now.epoch()))
    }

    /// Checks an access to a word against the recorded accesses to this word, and records it.
    #[inline]
    pub(super) fn touch(&mut self, current: &CurrentAccess<'_>, at: WordAt, record: Record) {
        let word = self.shadow.get(at);
        if word.is_empty() {
            return self.shadow.set(at, Word::of([Some(record), None]));
        }
        let records = word.records();
        if records.iter().flatten().any(|earlier| earlier.is_repeated_by(record)) {
            return;
        }
        self.touch_again(current, at, record, word);
    }

    fn touch_again(&mut self, current: &CurrentAccess<'_>, at: WordAt, record: Record, word: Word) {
        if let WordRecords::Inline(records) = self.shadow.records_of(word) {
            let mut kept = [None; 3];
            let mut count = 0;
            for earlier in records.into_iter().flatten() {
                self.note_sharing(current, earlier);
                let relation = self.compare(current, earlier, record);
                if let Some(kind) = relation.race {
                    self.race(current.thread, kind, earlier, record, at);
                }
                if !relation.is_covered {
                    kept[count] = Some(earlier);
                    count += 1;
                }
            }
            let word = if count < 2 {
                kept[count] = Some(record);
                Word::of([kept[0], kept[1]])
            } else {
                kept[count] = Some(record);
                kept.sort_unstable();
                let mut list = List { records: kept.into_iter().flatten().collect(), ..List::default() };
                self.sum_up(&mut list);
                self.shadow.spill(list)
            };
            return self.shadow.set(at, word);
        }
        let WordRecords::List(list) = self.shadow.records_of(word) else { return };
        let mut list = core::mem::take(list);
        self.touch_list(current, at, record, &mut list);
        if let WordRecords::List(place) = self.shadow.records_of(word) {
            *place = list;
        }
        let word = self.shadow.shrink(word);
        self.shadow.set(at, word);
    }

    fn touch_list(&mut self, current: &CurrentAccess<'_>, at: WordAt, record: Record, list: &mut List) {
        let (first, last) = (list.records[0], list.records[list.records.len() - 1]);
        // The list is sorted by thread, and the threads of a work-group have adjacent numbers. If
        // the first and the last record belong to one work-group, all records do.
        self.note_sharing(current, first);
        self.note_sharing(current, last);
        let own = list.of(ThreadId(current.thread.standing.thread));
        if list.records[own.clone()].iter().any(|earlier| earlier.is_repeated_by(record)) {
            return;
        }
        let is_one_scope = current.is_any_scope || self.links.model == RaceModel::Drf;
        let conflicts_with_none = (!current.writes && !list.writes)
            || (current.is_atomic && !list.plain && (is_one_scope || list.scope == Some(current.scope)));
        if conflicts_with_none {
            // This access can make only records of its own thread unnecessary.
            let mut at_record = own.start;
            for _ in own {
                if self.compare(current, list.records[at_record], record).is_covered {
                    list.records.remove(at_record);
                } else {
                    at_record += 1;
                }
            }
        } else {
            let mut kept = 0;
            for number in 0..list.records.len() {
                let earlier = list.records[number];
                let relation = self.compare(current, earlier, record);
                if let Some(kind) = relation.race {
                    self.race(current.thread, kind, earlier, record, at);
                }
                if !relation.is_covered {
                    list.records[kept] = earlier;
                    kept += 1;
                }
            }
            list.records.truncate(kept);
            self.sum_up(list);
        }
        let place = list.records.partition_point(|other| *other < record);
        list.records.insert(place, record);
        self.add_to_sum(list, record);
    }

    /// Computes the fields that summarize the records of a list anew.
    pub(super) fn sum_up(&self, list: &mut List) {
        (list.writes, list.plain, list.scope, list.is_fresh) = (false, false, None, true);
        for number in 0..list.records.len() {
            self.add_to_sum(list, list.records[number]);
        }
    }

    fn add_to_sum(&self, list: &mut List, record: Record) {
        let code = self.codes.get(record.code());
        list.writes |= code.what.writes();
        if !code.is_atomic() {
            list.plain = true;
            return;
        }
        let scope = self.standings[record.thread().0 as usize].instance(&code.semantics);
        let scope = if is_any_scope(code) { None } else { Some(scope) };
        list.scope = if list.is_fresh { scope } else { list.scope.filter(|_| list.scope == scope) };
        list.is_fresh = false;
    }

    /// Notes that two atomics access the same word: the scope of each of their code sites (places
    /// in the source) must contain both threads.
    fn note_sharing(&mut self, current: &CurrentAccess<'_>, earlier: Record) {
        if !current.is_atomic || earlier.thread().0 == current.thread.standing.thread {
            return;
        }
        if !self.codes.get(earlier.code()).is_atomic() {
            return;
        }
        let level = self.standings[earlier.thread().0 as usize].common(&current.thread.standing);
        for code in [earlier.code(), current.code] {
            let needed = self.links.needed.entry(code).or_insert(Level::WorkItem);
            *needed = wider(*needed, level);
        }
    }

    /// The position of a thread in the scope hierarchy: its work-group and its chiplet.
    pub(super) fn standing(&self, thread: ThreadId) -> &Standing {
        &self.standings[thread.0 as usize]
    }
}
