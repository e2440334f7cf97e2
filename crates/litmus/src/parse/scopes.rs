//! Parses the placement of threads in scopes: headers such as `P0@wg 0, dev 0`, and clauses such as
//! `scopeTree (...)` and `scopes: (...)`.

use crate::program::{Level, Region, Scopes, THREADS_MAX, ThreadId, ThreadSet, level_of};

use super::cursor::{Cursor, DEPTH_MAX, thread_number};
use super::error::{Place, TextError};
use super::init::Locations;
use super::lexer::Kind;

/// The name of a scope level in a [`Program`](crate::program::Program). `kind` is the name of this
/// level in the text of the test, such as `wg`.
pub(super) fn level_name(kind: &str) -> String {
    match level_of(kind) {
        Level::WorkItem => "work_item".to_owned(),
        Level::SubGroup => "sub_group".to_owned(),
        Level::WorkGroup if kind == "cta" => "cta".to_owned(),
        Level::WorkGroup => "work_group".to_owned(),
        Level::Chiplet => kind.to_owned(),
        Level::Device if kind == "gpu" => "gpu".to_owned(),
        Level::Device => "device".to_owned(),
        Level::System => "system".to_owned(),
        Level::Named => kind.to_owned(),
    }
}

/// The placement of threads in scopes, as far as the parser has read it.
#[derive(Default)]
pub(super) struct Placement {
    /// For each thread whose header has a placement, its number, and the scope levels with the
    /// numbers of their instances, outermost level first.
    own: Vec<(usize, Vec<(String, u32)>)>,
    /// The nodes of scope trees and the named sets of threads. Each entry has the level or the
    /// name, and the threads.
    sets: Vec<(String, ThreadSet)>,
    /// The names of the named sets of threads.
    named: Vec<String>,
    /// The memory regions that the test gives to locations: name, region, and place in the text.
    regions: Vec<(String, String, Place)>,
}

impl Placement {
    /// Reads the placement after a thread's name, such as `@wg 0, dev 0`.
    pub(super) fn header(&mut self, cursor: &mut Cursor, thread: usize) -> Result<(), TextError> {
        let place = cursor.place();
        cursor.expect("@")?;
        let mut levels: Vec<(String, u32)> = Vec::new();
        loop {
            let kind = cursor.word("a level such as `wg`, `dev`, `cta` or `gpu`")?;
            let number_place = cursor.place();
            let number = cursor.number("the number of the scope instance")?;
            let number = u32::try_from(number).map_err(|_| {
                TextError::expected(number_place, format!("`{number}`"), "a number from 0 to 4294967295")
            })?;
            levels.push((kind, number));
            if !cursor.eat(",") {
                break;
            }
        }
        levels.sort_by_key(|(kind, _)| core::cmp::Reverse(level_of(kind)));
        if self.own.iter().any(|(t, _)| *t == thread) {
            return Err(TextError::meaning(place, format!("thread P{thread} is placed twice")));
        }
        self.own.push((thread, levels));
        Ok(())
    }

    /// Reads one or several scope trees, such as `(device (work_group P0 P1) (work_group P2))`.
    pub(super) fn trees(&mut self, cursor: &mut Cursor) -> Result<(), TextError> {
        self.node(cursor, 0)?;
        while cursor.is("(") {
            self.node(cursor, 0)?;
        }
        Ok(())
    }

    /// Reads the memory regions of locations, such as `x: global, y: local`.
    pub(super) fn memory(&mut self, cursor: &mut Cursor) -> Result<(), TextError> {
        loop {
            let bracket = cursor.eat("(");
            let place = cursor.place();
            let name = cursor.word("a location")?;
            cursor.eat(":");
            let region = cursor.word("a region such as `global` or `local`")?;
            if bracket {
                cursor.expect(")")?;
            }
            self.regions.push((name, region, place));
            let more = cursor.eat(",") || cursor.eat(";");
            let follows = matches!((cursor.peek(), cursor.peek_at(1)), (Kind::Word(_), Kind::Mark(":")));
            if !(cursor.is("(") || more && follows) {
                return Ok(());
            }
        }
    }

    /// Sets the memory regions of locations. Ignores the names of regions that this crate does not
    /// know, because only the model that belongs to the test uses such names.
    pub(super) fn set_regions(&self, locations: &mut Locations) -> Result<(), TextError> {
        for (name, region, place) in &self.regions {
            let Some(loc) = locations.find(name) else {
                return Err(TextError::meaning(*place, format!("the test has no location `{name}`")));
            };
            match region.as_str() {
                "global" => locations.place_in(loc, Region::Global),
                "local" | "shared" => locations.place_in(loc, Region::Local),
                _ => {}
            }
        }
        Ok(())
    }

    fn node(&mut self, cursor: &mut Cursor, depth: usize) -> Result<ThreadSet, TextError> {
        if depth > DEPTH_MAX {
            return Err(cursor.too_deep("a scope tree"));
        }
        cursor.expect("(")?;
        let kind = cursor.word("a level such as `device` or `work_group`")?;
        // Some tests number the scope instances, as in `(device 0 ...)`. The number is ignored.
        if matches!(cursor.peek(), Kind::Number(_)) {
            cursor.advance();
        }
        let at = self.sets.len();
        self.sets.push((kind, ThreadSet::NONE));
        let mut members = ThreadSet::NONE;
        while !cursor.eat(")") {
            if cursor.is("(") {
                members = members.union(self.node(cursor, depth + 1)?);
            } else {
                members = members.union(ThreadSet::only(thread_name(cursor)?));
                cursor.eat(",");
            }
        }
        self.sets[at].1 = members;
        Ok(members)
    }

    /// Reads a named set of threads, such as `S12 (P0 P1)`.
    pub(super) fn named(&mut self, cursor: &mut Cursor) -> Result<(), TextError> {
        let name = cursor.word("a name for the set of threads")?;
        cursor.expect("(")?;
        let mut members = ThreadSet::NONE;
        while !cursor.eat(")") {
            members = members.union(ThreadSet::only(thread_name(cursor)?));
            cursor.eat(",");
        }
        self.named.push(name.clone());
        self.sets.push((name, members));
        Ok(())
    }

    /// The scope instances of a program with `threads` threads. If the test does not place its
    /// threads, `fallback` gives the levels. The flag of a level in `fallback` says whether all
    /// threads share one instance of the level (`true`) or each thread has its own instance
    /// (`false`).
    pub(super) fn scopes(
        &self,
        threads: usize,
        fallback: &[(&str, bool)],
        place: Place,
    ) -> Result<Scopes, TextError> {
        let mut scopes = Scopes::flat(threads);
        let all = ThreadSet::first(threads);
        if self.own.is_empty() && self.sets.iter().all(|(kind, _)| self.named.contains(kind)) {
            for &(kind, together) in fallback {
                if together {
                    scopes.add(level_of(kind), &level_name(kind), 0, all);
                } else {
                    for thread in all.iter() {
                        let set = ThreadSet::only(thread);
                        scopes.add(level_of(kind), &level_name(kind), u32::from(thread.0), set);
                    }
                }
            }
        }
        self.add_own(&mut scopes, threads, place)?;
        self.add_sets(&mut scopes, all, place)?;
        Ok(scopes)
    }

    fn add_own(&self, scopes: &mut Scopes, threads: usize, place: Place) -> Result<(), TextError> {
        let missing = (0..threads).find(|t| !self.own.iter().any(|(own, _)| own == t));
        if let Some(missing) = missing.filter(|_| !self.own.is_empty()) {
            let sentence = format!("thread P{missing} has no placement, although others have one");
            return Err(TextError::meaning(place, sentence));
        }
        // Two threads are in the same instance of a level only if the numbers of that level and of
        // all levels around it are equal.
        let mut paths: Vec<(Vec<(String, u32)>, ThreadSet)> = Vec::new();
        for (thread, levels) in &self.own {
            let only = ThreadSet::only(ThreadId(*thread as u8));
            for depth in 1..=levels.len() {
                let path = &levels[..depth];
                match paths.iter_mut().find(|(known, _)| known == path) {
                    Some((_, members)) => *members = members.union(only),
                    None => paths.push((path.to_vec(), only)),
                }
            }
        }
        for (path, members) in paths {
            if let Some((kind, number)) = path.last().filter(|(kind, _)| level_of(kind) != Level::System) {
                scopes.add(level_of(kind), &level_name(kind), *number, members);
            }
        }
        Ok(())
    }

    fn add_sets(&self, scopes: &mut Scopes, all: ThreadSet, place: Place) -> Result<(), TextError> {
        let mut counts: Vec<(String, u32)> = Vec::new();
        for (kind, members) in &self.sets {
            if !all.includes(*members) {
                let sentence = format!("scope `{kind}` holds a thread that the test does not have");
                return Err(TextError::meaning(place, sentence));
            }
            let level = if self.named.contains(kind) { Level::Named } else { level_of(kind) };
            let name = if level == Level::Named { kind.clone() } else { level_name(kind) };
            match level {
                // Every program already has a system instance with all threads, and a work-item
                // instance for each thread.
                Level::System if *members == all => continue,
                Level::WorkItem => continue,
                _ => {}
            }
            let number = match counts.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => {
                    *count += 1;
                    *count
                }
                None => {
                    counts.push((name.clone(), 0));
                    0
                }
            };
            scopes.add(level, &name, number, *members);
        }
        Ok(())
    }
}

/// Reads the name of a thread, such as `P0`.
fn thread_name(cursor: &mut Cursor) -> Result<ThreadId, TextError> {
    let number = match cursor.peek() {
        Kind::Word(word) => thread_number(word),
        _ => None,
    };
    match number.filter(|&n| n < THREADS_MAX) {
        Some(number) => {
            cursor.advance();
            Ok(ThreadId(number as u8))
        }
        None => Err(cursor.expected("a thread such as `P0`, or `)`")),
    }
}
