//! Protocols verified one after the other: their programs, claims and seeded faults, and
//! what becomes of them.
//!
//! A front end asks a [`Question`], and takes the answers one protocol at a time. It
//! brings the tests, says when to stop, and shows or keeps what comes.

mod records;
mod replay;
mod verified;

pub use records::{Record, Records};
pub use replay::{Replayed, Shown, TEST_BYTES, replay};
pub use verified::Verified;

use explore::claim::Claim;
use explore::verify::{self, Options, Progress, Spread, Test};
use explore::{Programs, Subject, corpus};

/// What is verified, and within which bounds.
#[derive(Clone, Debug)]
pub struct Question {
    /// These protocols, in this order.
    pub protocols: Vec<&'static str>,
    /// These tests.
    pub tests: Vec<Test>,
    /// Also programs that are made, of up to so many operations; 0 for none.
    pub operations: u8,
    /// One of the made programs that differ only in names is enough.
    pub symmetry: bool,
    /// Also so many programs that are drawn.
    pub sample: usize,
    /// The seed from which they are drawn.
    pub seed: u64,
    /// Over how many kernels and hosts programs are spread.
    pub spread: Spread,
    /// Chiplets of the machines.
    pub chiplets: u16,
    /// How often work-groups are taken off their compute units.
    pub preemptions: u8,
    /// Are faults seeded afterwards?
    pub mutants: bool,
    /// How many tests are explored at once.
    pub jobs: usize,
    /// The bytes that all of them together may take: [`TEST_BYTES`] each, if it is not said.
    pub memory_bytes: Option<u64>,
}

/// The protocol of that name, or all of them.
///
/// # Errors
/// A sentence, if there is no such protocol.
pub fn protocols(name: Option<&str>) -> Result<Vec<&'static str>, String> {
    let all: Vec<&'static str> = zoo::ALL.iter().map(|info| info.name).collect();
    let Some(name) = name else { return Ok(all) };
    if let Some(known) = all.iter().find(|known| **known == name) {
        return Ok(vec![known]);
    }
    let known: Vec<String> = all.iter().map(|&name| name.to_owned()).collect();
    let meant = match crate::nearest(name, &known) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("expected one of {}", known.join(", ")),
    };
    Err(format!("there is no protocol '{name}', {meant}"))
}

/// The programs of the last protocol, and what they were made for: the models that
/// are claimed, and whether scopes matter. Protocols with the same claims share them.
#[derive(Debug)]
struct Made {
    key: (Vec<&'static str>, bool),
    programs: Programs,
}

/// A question, as far as it is answered.
#[derive(Debug)]
pub struct Verifier {
    question: Question,
    /// How many protocols have begun.
    begun: usize,
    made: Option<Made>,
    complaints: Vec<String>,
}

impl Verifier {
    /// Nothing is answered yet.
    #[must_use]
    pub fn new(question: Question) -> Verifier {
        Verifier { question, begun: 0, made: None, complaints: Vec::new() }
    }

    /// Begins with the next protocol: none, when all are done or `stop` says so.
    ///
    /// # Errors
    /// A sentence, if it claims a model that is not known.
    pub fn begin(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<Begun<'_>>, String> {
        let left = &self.question.protocols[self.begun..];
        let Some(name) = left.first() else { return Ok(None) };
        if self.begun > 0 && stop() {
            self.complaints.push(format!("there was no time for {}", left.join(", ")));
            self.begun = self.question.protocols.len();
            return Ok(None);
        }
        let subject = Subject::named(name).ok_or_else(|| format!("there is no protocol '{name}'"))?;
        self.begun += 1;
        let made = programs(&self.question, self.made.take(), &subject)?;
        let programs = &mut self.made.insert(made).programs;
        Ok(Some(Begun { question: &self.question, subject, programs, complaints: &mut self.complaints }))
    }

    /// What is not as it must be, over all protocols that were verified. Nothing, if
    /// each keeps its claims, all was covered and every seeded fault accounted for.
    #[must_use]
    pub fn complaints(self) -> Vec<String> {
        self.complaints
    }
}

/// The tests, and the programs that are made for the claims of a protocol.
fn programs(question: &Question, last: Option<Made>, subject: &Subject) -> Result<Made, String> {
    let models: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let scopes_matter = corpus::scopes_matter(subject);
    let key = (models, scopes_matter);
    // One set is kept at a time: there may be very many.
    if let Some(made) = last.filter(|made| made.key == key) {
        return Ok(made);
    }
    let claims = key.0.iter().map(|model| Claim::of(model)).collect::<Result<Vec<_>, _>>()?;
    let mut programs = Programs::of(question.tests.iter().cloned());
    if question.operations > 0 {
        let operations = usize::from(question.operations);
        programs = programs.and_messages(&claims);
        programs = programs.and_made(&claims, scopes_matter, operations, question.symmetry);
    }
    let programs = programs.and_sampled(&claims, scopes_matter, question.sample, question.seed);
    Ok(Made { key, programs: programs.spread(question.spread) })
}

/// A protocol that is about to be verified.
#[derive(Debug)]
pub struct Begun<'v> {
    question: &'v Question,
    subject: Subject,
    programs: &'v mut Programs,
    complaints: &'v mut Vec<String>,
}

impl<'v> Begun<'v> {
    /// Its name.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        self.subject.info.name
    }

    /// How many tests there are so far.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.programs.tests().len()
    }

    /// Verifies it, and makes each finding again to draw it.
    ///
    /// # Errors
    /// A sentence, as [`verify::verify_programs`].
    pub fn verify(
        self,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Verified<'v>, String> {
        let Begun { question, subject, programs, complaints } = self;
        let machines = verify::on_chiplets(verify::machines_of(&subject.info), question.chiplets);
        let options = Options {
            bounds: machines.into_iter().map(|bounds| bounds.preempting(question.preemptions)).collect(),
            jobs: question.jobs,
            memory_bytes: question.memory_bytes.unwrap_or(question.jobs as u64 * TEST_BYTES),
            mutants: question.mutants,
            stop,
            progress,
        };
        let verification = verify::verify_programs(&subject, programs, &options)?;
        let charts = verified::charts(&subject, programs.tests(), &verification, stop);
        let verified = Verified {
            verification,
            tests: programs.tests(),
            charts,
            operations: question.operations,
            sample: (programs.sampled(), question.seed),
        };
        complaints.extend(verified.complaints());
        Ok(verified)
    }
}
