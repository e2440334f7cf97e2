//! Claims of a paper about all schedules, which recorded verifications of protocols decide.

use explore::verify::Status;

use super::litmus::ModelResult;
use crate::verify::Records;

/// A claim that protocols keep a memory model.
#[derive(Clone, Debug)]
pub(super) struct VerifiedClaim {
    pub(super) claim: String,
    /// The name of the memory model.
    pub(super) model: String,
    /// The names of the protocols.
    pub(super) protocols: Vec<String>,
}

impl VerifiedClaim {
    /// The claim in words.
    pub(super) fn text(&self) -> String {
        format!("{} of {} in the recorded verifications", self.model, self.protocols.join(", "))
    }

    /// What the records say about each of the protocols.
    ///
    /// # Errors
    /// If a protocol has no record, or if its verification is incomplete.
    pub(super) fn check(&self, records: &Records) -> Result<Vec<ModelResult>, String> {
        let found = |protocol: &String| {
            let record = records.of(protocol);
            let Some((record, status)) =
                record.and_then(|record| Some((record, record.status(&self.model)?)))
            else {
                return Err(format!("no recorded verification of {protocol} is about {}", self.model));
            };
            if status == Status::Incomplete.name() {
                return Err(format!("the recorded verification of {protocol} is incomplete"));
            }
            let words = format!("{protocol}: {} {status}, {}", self.model, record.extent());
            Ok(ModelResult { words, holds: status == Status::Verified.name() })
        };
        self.protocols.iter().map(found).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Records {
        let record = |protocol: &str, sc: &str| {
            format!(
                "[[protocols]]\nprotocol = \"{protocol}\"\ndate = \"2026-01-31\"\noperations = 1\n\
                 programs = 2\nrace_free = 2\nsynchronized = 1\nruns = 3\nstates = 20000\nrows_fired = 4\n\
                 rows_total = 4\nseconds = 5\n[protocols.claims]\nsc = \"{sc}\"\n"
            )
        };
        let all = [("stc-nv", "refuted"), ("stc-nv-repaired", "verified"), ("stc-mb-repaired", "incomplete")];
        let text: String = all.iter().map(|(protocol, sc)| record(protocol, sc)).collect();
        Records::read(&format!("machines = []\n{text}")).expect("the records are valid")
    }

    fn check(model: &str, protocols: &[&str]) -> Result<Vec<(String, bool)>, String> {
        let protocols = protocols.iter().map(|&protocol| protocol.to_owned()).collect();
        let claim = VerifiedClaim { claim: String::from("c"), model: model.to_owned(), protocols };
        let found = claim.check(&records())?;
        Ok(found.into_iter().map(|found| (found.words, found.holds)).collect())
    }

    #[test]
    fn a_claim_holds_if_the_records_have_verified_it() {
        let refuted = "stc-nv: sc refuted, 2 programs, 20,000 states, 2026-01-31".to_owned();
        let verified = "stc-nv-repaired: sc verified, 2 programs, 20,000 states, 2026-01-31".to_owned();
        assert_eq!(check("sc", &["stc-nv-repaired", "stc-nv"]), Ok(vec![(verified, true), (refuted, false)]));
    }

    #[test]
    fn a_claim_without_a_complete_record_is_not_decided() {
        for (model, protocol, why) in [
            ("sc", "stc-ab", "no recorded verification of stc-ab is about sc"),
            ("opencl", "stc-nv", "no recorded verification of stc-nv is about opencl"),
            ("sc", "stc-mb-repaired", "the recorded verification of stc-mb-repaired is incomplete"),
        ] {
            assert_eq!(check(model, &[protocol]), Err(why.to_owned()));
        }
    }
}
