//! The requests at the beginning and the end of a kernel.

use super::stations::Stations;
use drive::At;
use proto::{Boundary, KernelId, Request};

/// The requests of one step at the beginning or the end of a kernel, in the order of their agents
/// (compute units and the command processor).
/// Each request comes with the node that it enters.
type Requests = Vec<(At, Request)>;

/// The requests of all steps at the beginning and the end of a kernel.
#[derive(Debug)]
pub(super) struct Boundaries([(Boundary, bool, Requests); 5]);

impl Boundaries {
    pub(super) fn new(stations: &dyn Stations) -> Result<Boundaries, String> {
        let requests = |step, host_has_written| {
            let requests = stations.boundary(step, KernelId(0), host_has_written)?;
            let requests = requests.into_iter().map(|(_, at, request)| (at, request)).collect();
            Ok::<_, String>((step, host_has_written, requests))
        };
        Ok(Boundaries([
            requests(Boundary::BeginMachine, false)?,
            requests(Boundary::BeginMachine, true)?,
            requests(Boundary::BeginCus, false)?,
            requests(Boundary::EndCus, false)?,
            requests(Boundary::EndMachine, false)?,
        ]))
    }

    /// The requests of the step `step` at the beginning or the end of a kernel. Only the requests
    /// of [`Boundary::BeginMachine`] depend on whether the host has written.
    pub(super) fn of(&self, step: Boundary, host_has_written: bool) -> &Requests {
        let host_has_written = host_has_written && step == Boundary::BeginMachine;
        let is_it =
            |(of, written, _): &&(Boundary, bool, Requests)| *of == step && *written == host_has_written;
        &self.0.iter().find(is_it).expect("the list has the requests of every step").2
    }
}
