//! Verifies protocols one after the other: programs, claims, seeded faults, and results.
//!
//! A front end creates a [`Question`] and takes the answers one protocol at a time. It
//! supplies the tests, decides when to stop, and shows or stores the results.

mod guards;
mod records;
mod replay;
mod verified;

pub use guards::{GuardCounts, Guards};
pub use records::{Record, Records};
pub use replay::{Replayed, ReplayedRun, TEST_BYTES, replay};
pub use verified::Verified;

use explore::claim::Claim;
use explore::cutoff::{self, Cutoff};
use explore::verify::{self, Options, Progress, Spread, Test};
use explore::{Programs, Subject, corpus};

/// The protocols, tests and bounds of a verification.
#[derive(Clone, Debug)]
pub struct Question {
    /// The names of the protocols, in the order of verification.
    pub protocols: Vec<&'static str>,
    /// The tests that are explored.
    pub tests: Vec<Test>,
    /// The maximum number of operations of generated programs. All programs within this limit are
    /// explored. With 0 no programs are generated.
    pub operations: u8,
    /// Whether programs that differ from another one only in names are left out. The names are
    /// those of threads, words and other parts.
    pub symmetry: bool,
    /// The number of sampled programs to explore.
    pub sample: usize,
    /// The seed from which programs are sampled.
    pub seed: u64,
    /// The numbers of kernels and hosts to which the threads of programs are distributed.
    pub spread: Spread,
    /// The number of chiplets of each machine.
    pub chiplets: u16,
    /// The maximum number of times that a work-group is preempted in one run.
    pub preemptions: u8,
    /// Whether messages of a channel may overtake one another, even if the protocol assumes FIFO
    /// channels.
    pub overtaking: bool,
    /// Whether the verification seeds faults after it has checked the claims, to see if the tests
    /// find the faults.
    pub mutants: bool,
    /// The number of tests that are explored at the same time.
    pub jobs: usize,
    /// The maximum memory, in bytes, of all tests that are explored at the same time. The default
    /// is [`TEST_BYTES`] for each such test.
    pub memory_bytes: Option<u64>,
}

/// The protocol with this name. Without a name, all protocols.
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

/// Checks a protocol in programs with any number of compute units.
///
/// # Errors
/// A sentence, if there is no such protocol, or if a machine cannot run a program.
pub fn cutoffs(protocol: &str, options: cutoff::Options<'_>) -> Result<Vec<Cutoff>, String> {
    let subject = Subject::named(protocol).ok_or_else(|| format!("there is no protocol '{protocol}'"))?;
    cutoff::cutoffs(&subject, options).map_err(|error| error.0)
}

/// Programs that were generated for a protocol. The key has the models that the protocol claims,
/// and whether scopes matter to it. The next protocol uses the same programs if its key is equal.
#[derive(Debug)]
struct ProgramSet {
    key: (Vec<&'static str>, bool),
    programs: Programs,
}

/// Verifies the protocols of a question, one after the other.
#[derive(Debug)]
pub struct Verifier {
    question: Question,
    /// The number of protocols whose verification has begun.
    begun: usize,
    made: Option<ProgramSet>,
    complaints: Vec<String>,
}

impl Verifier {
    /// A verifier for this question. It has not begun any protocol.
    #[must_use]
    pub fn new(question: Question) -> Verifier {
        Verifier { question, begun: 0, made: None, complaints: Vec::new() }
    }

    /// Begins the verification of the next protocol. `None` if no protocol is left or `stop`
    /// returns true.
    ///
    /// # Errors
    /// A sentence, if the protocol claims an unknown model.
    pub fn begin(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<ReadyProtocol<'_>>, String> {
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
        Ok(Some(ReadyProtocol {
            question: &self.question,
            subject,
            programs,
            complaints: &mut self.complaints,
        }))
    }

    /// Complaints about all verified protocols. The list is empty if all of these conditions hold:
    ///
    /// * Each protocol keeps its claims, and everything was covered.
    /// * No seeded fault survived or stayed undecided.
    /// * No seeded fault was killed that is argued to be equivalent.
    #[must_use]
    pub fn complaints(self) -> Vec<String> {
        self.complaints
    }
}

/// The tests of the question, and the programs generated for the claims of a protocol. If the
/// programs of the previous protocol (`last`) are the same, it returns them.
fn programs(question: &Question, last: Option<ProgramSet>, subject: &Subject) -> Result<ProgramSet, String> {
    let models: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let scopes_matter = corpus::scopes_matter(subject);
    let key = (models, scopes_matter);
    // Only the programs of the previous protocol are kept, because they may need much memory.
    if let Some(made) = last.filter(|made| made.key == key) {
        return Ok(made);
    }
    let claims = key.0.iter().map(|model| Claim::of(model)).collect::<Result<Vec<_>, _>>()?;
    let mut programs = Programs::of(question.tests.iter().cloned());
    if question.operations > 0 {
        let operations = usize::from(question.operations);
        programs = programs.and_dimensions(&claims).and_messages(&claims);
        programs = programs.and_generated(&claims, scopes_matter, operations, question.symmetry);
    }
    let programs = programs.and_sampled(&claims, scopes_matter, question.sample, question.seed);
    Ok(ProgramSet { key, programs: programs.spread(question.spread) })
}

/// A protocol that is ready for verification.
#[derive(Debug)]
pub struct ReadyProtocol<'v> {
    question: &'v Question,
    subject: Subject,
    programs: &'v mut Programs,
    complaints: &'v mut Vec<String>,
}

impl<'v> ReadyProtocol<'v> {
    /// The name of the protocol.
    #[must_use]
    pub fn protocol(&self) -> &'static str {
        self.subject.info.name
    }

    /// The number of tests, including generated programs.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.programs.tests().len()
    }

    /// Verifies the protocol, and replays each finding to draw it.
    ///
    /// # Errors
    /// The errors of [`verify::verify_programs`].
    pub fn verify(
        self,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Verified<'v>, String> {
        let ReadyProtocol { question, subject, programs, complaints } = self;
        let machines = verify::on_chiplets(verify::machines_of(&subject.info), question.chiplets);
        let options = Options {
            bounds: machines
                .into_iter()
                .map(|bounds| bounds.preempting(question.preemptions).overtaking(question.overtaking))
                .collect(),
            jobs: question.jobs,
            memory_bytes: question.memory_bytes.unwrap_or(question.jobs as u64 * TEST_BYTES),
            states_max: u64::MAX,
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
