//! The threads of a part (the state of one node): the issue of operations, and the progress after
//! an answer.

use std::sync::Arc;

use litmus::program::Value;
use proto::{LineData, Op, PlanKey};
use smallvec::SmallVec;

use crate::machine::controllers::{StationInput, Word};
use crate::machine::thread::{Offer, ResidencyState, ThreadError, ThreadState};
use crate::machine::{Machine, Part, PartResult, Written};

/// The result of an attempt of a thread to issue.
pub(crate) enum Issued {
    /// The thread has nothing to issue now.
    Nothing,
    /// The part (the state of one node) changes to the part with this number.
    Here(u32),
    /// The part (the state of one node) changes to `rest`, and node `to` receives the request
    /// with the number `input`.
    Elsewhere { rest: u32, to: u8, input: u32 },
}

impl Machine {
    /// Lets a thread issue its next operation, if it has an operation to issue.
    pub(crate) fn issue(&mut self, part: &Part, at: usize) -> PartResult<Issued> {
        let (thread, state) = part.threads[at];
        let t = usize::from(thread);
        let offer = self.code.offer(t, self.threads.thing(state)).map_err(|error| self.note_error(error))?;
        let mut part = part.clone();
        let (id, request, mut next, is_sent) = match offer {
            Offer::Nothing => return Ok(Issued::Nothing),
            Offer::Silent(next) => {
                part.threads[at].1 = self.threads.number(next);
                return self.settled(part).map(Issued::Here);
            }
            // A request under way to another part was issued earlier. For example, it is a store
            // that the core kept back. The thread issues nothing until that request has arrived.
            Offer::Send { .. } | Offer::Keep { .. } if self.asks_elsewhere(&part) => {
                return Ok(Issued::Nothing);
            }
            Offer::Send { id, request, next } => (id, request, next, true),
            Offer::Keep { id, request, next } => (id, request, next, false),
        };
        self.note_write(&request);
        let key = PlanKey::of(&request);
        self.note_key(key);
        let to = self.controllers.entry(next.residency.agent, key).map_err(Arc::from)?;
        let slot = self.slots.of(to, (thread, part.node), id);
        let request = self.controllers.request(request);
        if let Some(pending) = next.pending.iter_mut().find(|p| p.id == id) {
            pending.request = request;
        }
        part.threads[at].1 = self.threads.number(next);
        if is_sent {
            let input = StationInput::Request { slot, request };
            if to != part.node {
                let input = self.words.number(Word::StationInput(input));
                return self.settled(part).map(|rest| Issued::Elsewhere { rest, to, input });
            }
            part = self.deliver(part, input)?;
        }
        self.settled(part).map(Issued::Here)
    }

    /// Whether a request of a core in this part (the state of one node) is under way to another
    /// part.
    fn asks_elsewhere(&self, part: &Part) -> bool {
        part.wires.iter().any(|&(_, input)| matches!(self.words.thing(input), Word::StationInput(_)))
    }

    /// Continues a thread of the part (the state of one node) with the answer to its request.
    /// `slot` holds the node that the request entered, and the request's slot at that node. The core
    /// may now send requests that it kept back. Returns those that enter the part's own controller.
    pub(crate) fn answer(
        &mut self,
        part: &mut Part,
        slot: (u8, u32),
        data: Option<u32>,
    ) -> PartResult<SmallVec<[StationInput; 2]>> {
        let mut inputs = SmallVec::new();
        for (thread, id, request) in self.reply(part, slot, data)? {
            inputs.extend(self.ask_for(part, thread, id, request)?);
        }
        Ok(inputs)
    }

    /// Makes a request of a thread of the part (the state of one node). Returns the request if it
    /// enters the part's own controller. Otherwise the request goes under way to another part.
    pub(crate) fn ask_for(
        &mut self,
        part: &mut Part,
        thread: u8,
        id: u8,
        request: u32,
    ) -> PartResult<Option<StationInput>> {
        let residency =
            part.threads.iter().find(|(t, _)| *t == thread).map(|&(_, s)| self.thread(s).residency);
        let residency = residency
            .ok_or_else(|| Arc::from(format!("P{thread} makes a request at a node where it does not run")))?;
        let key = PlanKey::of(self.controllers.request_of(request));
        let to = self.controllers.entry(residency.agent, key).map_err(Arc::from)?;
        let input = StationInput::Request { slot: self.slots.of(to, (thread, part.node), id), request };
        if to == part.node {
            return Ok(Some(input));
        }
        part.wires.push((to, self.words.number(Word::StationInput(input))));
        part.wires.sort_unstable();
        Ok(None)
    }

    /// Continues a thread with the answer to its request. Returns the requests that the core kept
    /// back and now sends, each with its thread, its id and its number.
    fn reply(
        &mut self,
        part: &mut Part,
        (entry, slot): (u8, u32),
        data: Option<u32>,
    ) -> PartResult<SmallVec<[(u8, u8, u32); 1]>> {
        let (thread, id) = self.slots.thread(entry, slot).ok_or_else(|| {
            Arc::from(format!(
                "{} answers the request in slot {slot}, but no request has this slot",
                self.controllers.node_name(entry)
            ))
        })?;
        let at = part.threads.iter().position(|(t, _)| *t == thread);
        let at =
            at.ok_or_else(|| Arc::from(format!("P{thread} is answered at a node where it does not run")))?;
        let mut state = self.threads.thing(part.threads[at].1).clone();
        let pending = state.pending.iter().find(|p| p.id == id).copied();
        let pending = pending.ok_or_else(|| {
            Arc::from(format!("P{thread} gets an answer to a request that is not outstanding"))
        })?;
        if state.residency.state != ResidencyState::Runs {
            self.record_answer(thread, pending.request, None::<Value>.into_iter());
            self.has_moved(part, thread);
            return Ok(SmallVec::new());
        }
        let request = *self.controllers.request_of(pending.request);
        let data: Option<LineData> = data.map(|data| *self.controllers.line_of(data));
        let completed = self
            .code
            .complete(usize::from(thread), &mut state, id, &request, data.as_ref())
            .map_err(|error| self.note_error(error))?;
        self.reads.extend(completed.reads.iter().copied());
        self.record_answer(thread, pending.request, completed.reads.into_iter().map(|(_, value)| value));
        let kept = |id: &u8| state.pending.iter().find(|p| p.id == *id);
        let sends = completed.sends.iter().filter_map(kept).map(|p| (thread, p.id, p.request)).collect();
        part.threads[at].1 = self.threads.number(state);
        Ok(sends)
    }

    /// Lets the threads of a part (the state of one node) pass each barrier that all threads of the
    /// barrier's work-group have reached. Returns the number of the resulting part.
    pub(crate) fn settled(&mut self, mut part: Part) -> PartResult<u32> {
        if self.code.has_barriers() {
            let mut threads: Vec<(usize, ThreadState)> = part
                .threads
                .iter()
                .map(|&(t, state)| (usize::from(t), self.threads.thing(state).clone()))
                .collect();
            if self.code.meet(&mut threads).map_err(|error| self.note_error(error))? {
                for (at, (_, state)) in threads.into_iter().enumerate() {
                    part.threads[at].1 = self.threads.number(state);
                }
            }
        }
        Ok(self.parts.number(part))
    }

    /// Records the reason why a thread cannot continue, and returns the reason in words.
    fn note_error(&mut self, error: ThreadError) -> Arc<str> {
        match error {
            ThreadError::Protocol(why) => Arc::from(why),
            ThreadError::Unsupported(why) => {
                let why = self.unsupported.get_or_insert(why);
                Arc::from(why.as_str())
            }
            ThreadError::BadValue(why) => {
                let why: Arc<str> = Arc::from(why);
                self.bad_values.insert(why.clone());
                why
            }
        }
    }

    fn record_answer(&mut self, thread: u8, request: u32, values: impl Iterator<Item = Value>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.answers.push((thread, request, values.collect()));
        }
    }

    fn note_write(&mut self, request: &proto::Request) {
        for loc in self.code.accesses(request) {
            let value = self.code.word(loc).read(&request.data) as u32;
            let written = match request.op {
                Op::Store => Written::Value(value),
                Op::Rmw(rmw) => Written::Update(rmw, value),
                _ => return,
            };
            self.writes.insert((loc, written));
        }
    }
}
