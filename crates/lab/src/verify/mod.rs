//! Verifies protocols one after the other: generates the programs, checks the claims, seeds faults,
//! and collects the results.
//!
//! A front end (such as the command line) creates a [`Question`] and receives the results one
//! protocol at a time. The front end supplies the tests, decides when to stop, and shows or stores
//! the results.

mod guards;
mod records;
mod replay;
mod verified;

pub use guards::{GuardCounts, GuardRun, Guards};
pub use records::{Record, Records};
pub use replay::{Replayed, ReplayedRun, TEST_BYTES, replay};
pub use verified::Verified;

use explore::claim::Claim;
use explore::cutoff::{self, Cutoff};
use explore::verify::{self, Options, Progress, Spread, Test, TestSize};
use explore::{Programs, Subject, corpus};

use crate::digest;

/// The description of a verification: its protocols, its tests and its bounds.
#[derive(Clone, Debug)]
pub struct Question {
    /// The names of the protocols, in the order of verification.
    pub protocols: Vec<&'static str>,
    /// The litmus tests to explore, in addition to generated programs.
    pub tests: Vec<Test>,
    /// The maximum number of operations of a generated program. With 0, no programs are generated.
    /// `None` for the number that suits the protocol: [`OPERATIONS`], or [`OPERATIONS_OF_MANY_STATES`]
    /// if it has many states ([`Subject::has_many_states`]).
    pub operations: Option<u8>,
    /// The size of the tests. `None` for the size that suits the protocol ([`Subject::test_size`]).
    pub test_size: Option<TestSize>,
    /// Whether a generated program is left out if it differs from another program only in names,
    /// such as the names of threads and words.
    pub symmetry: bool,
    /// The number of randomly sampled programs to explore.
    pub sample: usize,
    /// The seed of the random sample of programs.
    pub seed: u64,
    /// The maximum number of successive kernels among which the threads of each program are divided.
    pub kernels: u8,
    /// The number of hosts among which the threads of each program are divided. `None` for the
    /// number that suits the protocol ([`Spread::hosts_of`]).
    pub hosts: Option<u16>,
    /// The number of chiplets of each machine.
    pub chiplets: u16,
    /// The maximum number of preemptions of work-groups in one run. A preempted work-group leaves
    /// its compute unit and continues later.
    pub preemptions: u8,
    /// Whether messages in a channel between two controllers may overtake one another, even if the
    /// protocol assumes FIFO channels.
    pub overtaking: bool,
    /// If it is given, the verification seeds faults after it has checked the claims, to see if the
    /// tests find the faults: all faults whose name contains this text.
    pub mutants: Option<String>,
    /// The number of tests that are explored at the same time.
    pub jobs: usize,
    /// The maximum memory, in bytes, that all tests explored at the same time may use together.
    /// `None` means [`TEST_BYTES`] for each such test.
    pub memory_bytes: Option<u64>,
}

/// The number of letters in the digest of a question.
const DIGEST_LETTERS: usize = 8;

/// The maximum number of operations of a generated program, if a question gives none.
pub const OPERATIONS: u8 = 4;

/// The maximum number of operations of a generated program for a protocol with many states
/// ([`Subject::has_many_states`]), if a question gives none.
pub const OPERATIONS_OF_MANY_STATES: u8 = 1;

impl Question {
    /// A digest of the code of the verifier, of the tests and of the options. Two verifications of a
    /// protocol have the same results if their digests are the same.
    #[must_use]
    pub fn digest(&self) -> String {
        let memory_bytes = Some(self.memory_bytes());
        // The other protocols have no effect on the results, and neither has the number of workers
        // that share the memory.
        let question = Question { protocols: Vec::new(), jobs: 0, memory_bytes, ..self.clone() };
        let mut digest = digest::of(format!("{} {question:?}", env!("FENCEPOST_VERIFIER")).as_bytes());
        digest.truncate(DIGEST_LETTERS);
        digest
    }

    /// The maximum memory, in bytes, that all tests explored at the same time may use together.
    fn memory_bytes(&self) -> u64 {
        self.memory_bytes.unwrap_or(self.jobs as u64 * TEST_BYTES)
    }

    /// The maximum number of operations of a generated program for this protocol.
    fn operations_of(&self, subject: &Subject) -> u8 {
        let of_many_states = subject.has_many_states().then_some(OPERATIONS_OF_MANY_STATES);
        self.operations.or(of_many_states).unwrap_or(OPERATIONS)
    }

    /// The size of the tests for this protocol.
    fn test_size_of(&self, subject: &Subject) -> TestSize {
        self.test_size.unwrap_or_else(|| subject.test_size())
    }
}

/// The name of the protocol `name`, if it exists. If `name` is `None`, the names of all protocols.
///
/// # Errors
/// If no protocol has this name. The error is a sentence.
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

/// Checks whether the claims of a protocol hold in programs with any number of compute units.
///
/// # Errors
/// If no protocol has this name, or if a machine cannot run a program. The error is a sentence.
pub fn cutoffs(protocol: &str, options: cutoff::Options<'_>) -> Result<Vec<Cutoff>, String> {
    let subject = subjects::explored(protocol).ok_or_else(|| format!("there is no protocol '{protocol}'"))?;
    cutoff::cutoffs(&subject, options).map_err(|error| error.0)
}

/// Programs that were generated for a protocol. The key has the memory models that the protocol
/// claims, whether scopes have an effect in the protocol, the maximum number of operations, the size
/// of the tests, the tests that were written for the protocol, and the numbers of kernels and hosts.
/// If the next protocol has the same key, the same programs are used for it.
#[derive(Debug)]
struct ProgramSet {
    key: (Vec<&'static str>, bool, u8, TestSize, &'static [&'static str], Spread),
    programs: Programs,
}

/// Verifies the protocols of a question (the description of a verification), one after the other.
#[derive(Debug)]
pub struct Verifier {
    question: Question,
    digest: String,
    /// The number of protocols whose verification has begun.
    begun: usize,
    /// The programs to explore for the previous protocol. The next protocol may use them again.
    program_set: Option<ProgramSet>,
    complaints: Vec<String>,
}

impl Verifier {
    /// Creates a verifier for this question (the description of a verification). The verification
    /// of the protocols has not begun yet.
    #[must_use]
    pub fn new(question: Question) -> Verifier {
        let digest = question.digest();
        Verifier { question, digest, begun: 0, program_set: None, complaints: Vec::new() }
    }

    /// Begins the verification of the next protocol. `None` if no protocol is left or `stop`
    /// returns true.
    ///
    /// # Errors
    /// If the protocol claims an unknown memory model. The error is a sentence.
    pub fn begin(&mut self, stop: &dyn Fn() -> bool) -> Result<Option<ReadyProtocol<'_>>, String> {
        let left = &self.question.protocols[self.begun..];
        let Some(name) = left.first() else { return Ok(None) };
        if self.begun > 0 && stop() {
            self.complaints.push(format!("there was no time for {}", left.join(", ")));
            self.begun = self.question.protocols.len();
            return Ok(None);
        }
        let subject = subjects::explored(name).ok_or_else(|| format!("there is no protocol '{name}'"))?;
        self.begun += 1;
        let program_set = programs(&self.question, self.program_set.take(), &subject)?;
        let programs = &mut self.program_set.insert(program_set).programs;
        Ok(Some(ReadyProtocol {
            question: &self.question,
            digest: &self.digest,
            subject,
            programs,
            complaints: &mut self.complaints,
        }))
    }

    /// Complaints (sentences for the user) about all verified protocols. The list is empty if all
    /// of these conditions hold:
    ///
    /// * Each protocol keeps its claims, and the verification covered every part.
    /// * No mutant (a protocol with a seeded fault) survived or remained undecided.
    /// * No mutant that is argued to be equivalent was killed.
    #[must_use]
    pub fn complaints(self) -> Vec<String> {
        self.complaints
    }
}

/// The programs to explore for a protocol: the tests that the user selects in `question`, and the
/// programs that are generated for the claims of the protocol. `last` has the programs of the
/// previous protocol. The function returns `last` if the programs are the same.
fn programs(question: &Question, last: Option<ProgramSet>, subject: &Subject) -> Result<ProgramSet, String> {
    let models: Vec<&str> = subject.info.claims.iter().map(|claim| claim.model).collect();
    let scopes_matter = corpus::scopes_matter(subject);
    let hosts = question.hosts.unwrap_or_else(|| Spread::hosts_of(&subject.info));
    let spread = Spread { kernels: question.kernels, hosts };
    let operations = question.operations_of(subject);
    let size = question.test_size_of(subject);
    let key = (models, scopes_matter, operations, size, subject.own_tests, spread);
    // Only the programs of the previous protocol are kept, because they may need much memory.
    if let Some(last) = last.filter(|last| last.key == key) {
        return Ok(last);
    }
    let claims = key.0.iter().map(|model| Claim::of(model)).collect::<Result<Vec<_>, _>>()?;
    let mut programs = Programs::of(question.tests.iter().cloned());
    if operations > 0 {
        programs = programs.and_dimensions(&claims).and_messages(&claims);
        programs = programs.and_generated(&claims, scopes_matter, usize::from(operations), question.symmetry);
    }
    programs = programs.and_sampled(&claims, scopes_matter, question.sample, question.seed);
    Ok(ProgramSet { key, programs: programs.of_size(size, subject.own_tests).spread(spread) })
}

/// A protocol that is ready for verification.
#[derive(Debug)]
pub struct ReadyProtocol<'v> {
    question: &'v Question,
    digest: &'v str,
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

    /// The number of tests to explore, including generated programs.
    #[must_use]
    pub fn tests(&self) -> usize {
        self.programs.tests().len()
    }

    /// Verifies the protocol. Then replays the counterexample of each finding (a violation that was
    /// found), so that a chart of it can be drawn.
    ///
    /// # Errors
    /// The errors of [`verify::verify_programs`].
    pub fn verify(
        self,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Verified<'v>, String> {
        let ReadyProtocol { question, digest, subject, programs, complaints } = self;
        let machines = verify::on_chiplets(verify::machines_of(&subject.info), question.chiplets);
        let options = Options {
            bounds: machines
                .into_iter()
                .map(|bounds| bounds.preempting(question.preemptions).overtaking(question.overtaking))
                .collect(),
            jobs: question.jobs,
            memory_bytes: question.memory_bytes(),
            states_max: u64::MAX,
            mutants: question.mutants.as_deref(),
            stop,
            progress,
        };
        let verification = verify::verify_programs(&subject, programs, &options)?;
        let charts = verified::charts(&subject, programs.tests(), &verification, stop);
        let verified = Verified {
            verification,
            tests: programs.tests(),
            charts,
            operations: question.operations_of(&subject),
            test_size: question.test_size_of(&subject),
            left_out: programs.left_out(),
            sample: (programs.sampled(), question.seed),
            digest,
            dimensions: programs.dimensions(),
        };
        complaints.extend(verified.complaints());
        Ok(verified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(operations: Option<u8>, test_size: Option<TestSize>) -> Question {
        Question {
            protocols: Vec::new(),
            tests: Vec::new(),
            operations,
            test_size,
            symmetry: true,
            sample: 0,
            seed: 0,
            kernels: 1,
            hosts: None,
            chiplets: 1,
            preemptions: 0,
            overtaking: false,
            mutants: None,
            jobs: 1,
            memory_bytes: None,
        }
    }

    #[test]
    fn a_digest_covers_the_tests_and_all_options_but_the_protocols_and_the_workers() {
        let asked = question(None, None);
        let digest = asked.digest();
        let same =
            Question { protocols: vec!["vi"], jobs: 2, memory_bytes: Some(TEST_BYTES), ..asked.clone() };
        assert_eq!(same.digest(), digest);
        let test = corpus::shipped().expect("tests").remove(0);
        for other in [
            question(Some(4), None),
            question(None, Some(TestSize::All)),
            Question { tests: vec![test], ..asked.clone() },
            Question { mutants: Some(String::new()), ..asked.clone() },
            Question { jobs: 2, ..asked.clone() },
        ] {
            assert_ne!(other.digest(), digest, "{other:?}");
        }
    }

    #[test]
    fn the_own_tests_of_a_protocol_stay_although_they_are_large() {
        let shipped = corpus::shipped().expect("tests");
        let mut large = 0;
        for info in zoo::ALL {
            let subject = subjects::explored(info.name).expect("a protocol");
            for &own in subject.own_tests {
                let test = shipped.iter().find(|test| test.name == own).expect("a shipped test");
                large += usize::from(test.size() > subject.test_size());
            }
        }
        assert!(large > 0);
        let question = Question { tests: shipped, ..question(Some(0), None) };
        let of = |name: &str| {
            let subject = subjects::explored(name).expect("a protocol");
            let programs = programs(&question, None, &subject).expect("programs").programs;
            subject
                .own_tests
                .iter()
                .filter(|own| programs.tests().iter().any(|test| test.name == **own))
                .count()
        };
        let own = subjects::explored("rcc").expect("a protocol").own_tests.len();
        assert_eq!((of("rcc"), of("g-tsc-repaired"), of("vi")), (own, own, 0));
    }

    #[test]
    fn the_default_bounds_depend_on_the_protocol() {
        let bounds = |name: &str, operations, test_size| {
            let subject = subjects::explored(name).expect("a protocol");
            let question = question(operations, test_size);
            (question.operations_of(&subject), question.test_size_of(&subject))
        };
        for name in ["vi", "no-l1", "hlrc-repaired", "denovo-b", "gpu-vi"] {
            assert_eq!(bounds(name, None, None), (4, TestSize::All), "{name}");
        }
        assert_eq!(bounds("tc-strong", None, None), (1, TestSize::All));
        assert_eq!(bounds("tc-strong", Some(2), Some(TestSize::Short)), (2, TestSize::Short));
        for (name, size) in [
            ("stc-nv", TestSize::Small),
            ("rcc", TestSize::Small),
            ("g-tsc", TestSize::Small),
            ("wt", TestSize::Short),
        ] {
            assert_eq!(bounds(name, None, None), (1, size), "{name}");
            assert_eq!(bounds(name, Some(2), Some(TestSize::All)), (2, TestSize::All), "{name}");
        }
    }
}
