//! The cases of a protocol: the programs of a short verification, each in one placement on one
//! machine.

use std::cell::OnceCell;

use explore::claim::Claim;
use explore::verify::{self, Machines, Test};
use explore::{Subject, corpus};

/// The fraction of the message programs, and of the enumerated programs with up to three
/// operations, that are cases: one in this number.
const MESSAGES_STEP: usize = 31;
const GENERATED_STEP: usize = 97;

/// The groups of programs, each with the letter that begins the names of its cases.
const GROUPS: [char; 4] = ['d', 's', 'm', 'g'];

/// A program in one placement on one machine.
#[derive(Clone, Debug)]
pub struct Case {
    /// The name, for example `s17.2.0`: the group, the number of the program, of the placement and
    /// of the machine.
    pub name: String,
    /// The program with one placement and one machine.
    pub test: Test,
}

/// The programs of a protocol. Each group is made when it is first needed.
#[derive(Debug)]
pub struct Corpus {
    subject: Subject,
    claims: Vec<Claim>,
    machines: usize,
    groups: [OnceCell<Vec<Test>>; GROUPS.len()],
}

impl Corpus {
    /// The programs of a protocol.
    ///
    /// # Errors
    /// If the protocol claims an unknown model.
    pub fn of(subject: &Subject) -> Result<Corpus, String> {
        let claims = Claim::all_of(&subject.info)?;
        let machines = verify::machines_of(&subject.info).len();
        Ok(Corpus { subject: *subject, claims, machines, groups: Default::default() })
    }

    fn group(&self, group: usize) -> &[Test] {
        self.groups[group].get_or_init(|| match GROUPS[group] {
            'd' => corpus::dimensions(&self.claims),
            // A test of the explorer reads all of them.
            's' => corpus::shipped().unwrap_or_default(),
            'm' => corpus::messages(&self.claims).into_iter().step_by(MESSAGES_STEP).collect(),
            _ => {
                let matter = corpus::scopes_matter(&self.subject);
                let all = corpus::generated(&self.claims, matter, 3, true, 1, &|| false);
                all.into_iter().step_by(GENERATED_STEP).collect()
            }
        })
    }

    /// The machines of a program.
    fn machines_of(&self, at: usize, test: &Test) -> Vec<usize> {
        match test.machines {
            Machines::All => (0..self.machines).collect(),
            Machines::InTurn => vec![at % self.machines.max(1)],
            Machines::Nth(number) => vec![usize::from(number)],
        }
    }

    /// All cases.
    #[must_use]
    pub fn all(&self) -> Vec<Case> {
        let mut all = Vec::new();
        for (group, letter) in GROUPS.iter().enumerate() {
            for (at, test) in self.group(group).iter().enumerate() {
                for placement in 0..test.placements.len() {
                    for machine in self.machines_of(at, test) {
                        let name = format!("{letter}{at}.{placement}.{machine}");
                        all.extend(self.case(&name));
                    }
                }
            }
        }
        all
    }

    /// The case with this name.
    #[must_use]
    pub fn case(&self, name: &str) -> Option<Case> {
        let letter = name.chars().next()?;
        let group = GROUPS.iter().position(|known| *known == letter)?;
        let numbers: Option<Vec<usize>> = name[1..].split('.').map(|part| part.parse().ok()).collect();
        let [at, placement, machine] = *numbers? else { return None };
        let mut test = self.group(group).get(at)?.clone();
        test.placements = vec![test.placements.get(placement)?.clone()];
        test.machines = Machines::Nth(u8::try_from(machine).ok()?);
        Some(Case { name: name.to_owned(), test })
    }
}
