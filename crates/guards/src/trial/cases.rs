//! The cases on which mutants of a protocol are tried. A case is a program of a short verification,
//! in one placement on one machine, or a few episodes (random programs).

use std::cell::OnceCell;

use explore::claim::Claim;
use explore::verify::{self, Machines, Options, PreparedRun, Spread, Test};
use explore::{Subject, corpus};

/// Of the message programs (one thread releases, another thread acquires), one in this number
/// becomes a case. Of the enumerated programs with up to three operations, one in `GENERATED_STEP`
/// becomes a case.
const MESSAGES_STEP: usize = 31;
const GENERATED_STEP: usize = 97;

/// The numbers of chiplets of the machines on which episodes (random programs) run.
const CHIPLETS: [u16; 3] = [1, 2, 4];
/// The first letter of the name of each case that consists of episodes (random programs).
const EPISODES: char = 'r';
/// The numbers of episodes (random programs) in the cases that consist of episodes. The seeds of a
/// case follow the seeds of the previous case, so no two cases have a seed in common.
const EPISODE_COUNTS: [u64; 4] = [8, 64, 512, 2048];

/// The letters of the groups of programs. The name of each case begins with the letter of its
/// group.
const GROUPS: [char; 5] = ['o', 'd', 's', 'm', 'g'];

/// The kind of work that a case does.
#[derive(Clone, Debug)]
pub enum Work {
    /// Explore a program in one placement on one machine.
    Explored(Box<Test>),
    /// Run episodes (random programs) of the random tester.
    Tested {
        /// The seed of the first episode (random program).
        seed: u64,
        /// The number of episodes (random programs).
        episodes: u64,
        /// The number of chiplets of the machine.
        chiplets: u16,
    },
}

/// A case: a program in one placement on one machine, or some episodes (random programs).
#[derive(Clone, Debug)]
pub struct Case {
    /// The name of the case. The name `s17.2.0` stands for program 17 of the group `s`, its
    /// placement 2, and machine 0. The name `r2.4` stands for case 2 of the cases with episodes, on
    /// a machine with 4 chiplets.
    pub name: String,
    /// The work that the case does.
    pub work: Work,
}

impl Case {
    /// The name of the case's program. For a case that consists of episodes, the word `episodes`.
    #[must_use]
    pub fn title(&self) -> &str {
        match &self.work {
            Work::Explored(test) => &test.name,
            Work::Tested { .. } => "episodes",
        }
    }
}

/// The programs on which mutants of a protocol are tried. Each group of programs is generated when
/// it is first needed.
#[derive(Debug)]
pub struct Corpus {
    subject: Subject,
    claims: Vec<Claim>,
    machines: usize,
    groups: [OnceCell<Vec<Test>>; GROUPS.len()],
}

impl Corpus {
    /// Prepares the programs of a protocol.
    ///
    /// # Errors
    /// If the protocol claims an unknown memory model.
    pub fn of(subject: &Subject) -> Result<Corpus, String> {
        let claims = Claim::all_of(&subject.info)?;
        let machines = verify::machines_of(&subject.info).len();
        Ok(Corpus { subject: *subject, claims, machines, groups: Default::default() })
    }

    fn group(&self, group: usize) -> &[Test] {
        self.groups[group].get_or_init(|| match GROUPS[group] {
            'd' => corpus::dimensions(&self.claims),
            // These programs are part of the build. A test of the explorer reads all of them, so an
            // error is not reported here.
            letter @ ('o' | 's') => {
                let spread = Spread { hosts: Spread::hosts_of(&self.subject.info), ..Spread::default() };
                let is_own = |test: &Test| self.subject.own_tests.contains(&&*test.name);
                let shipped = corpus::shipped().unwrap_or_default().into_iter();
                let of_group = shipped.filter(|test| is_own(test) == (letter == 'o'));
                of_group.map(|test| test.spread(spread)).collect()
            }
            'm' => corpus::messages(&self.claims).into_iter().step_by(MESSAGES_STEP).collect(),
            _ => {
                let matter = corpus::scopes_matter(&self.subject);
                let all = corpus::generated(&self.claims, matter, 3, true, 1, &|| false);
                all.into_iter().step_by(GENERATED_STEP).collect()
            }
        })
    }

    /// The numbers of the machines on which a program runs. `at` is the number of the program
    /// `test` in its group.
    fn machines_of(&self, at: usize, test: &Test) -> Vec<usize> {
        match test.machines {
            Machines::All => (0..self.machines).collect(),
            Machines::InTurn => vec![at % self.machines.max(1)],
            Machines::Nth(number) => vec![usize::from(number)],
        }
    }

    /// All cases of the protocol. The cases that consist of episodes (random programs) come first.
    #[must_use]
    pub fn all(&self) -> Vec<Case> {
        let mut all = Vec::new();
        for at in 0..EPISODE_COUNTS.len() {
            all.extend(CHIPLETS.iter().filter_map(|count| self.case(&format!("{EPISODES}{at}.{count}"))));
        }
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

    /// The case with this name. `None` if the protocol has no such case.
    #[must_use]
    pub fn case(&self, name: &str) -> Option<Case> {
        let letter = name.chars().next()?;
        let numbers: Option<Vec<usize>> = name[1..].split('.').map(|part| part.parse().ok()).collect();
        let numbers = numbers?;
        if let (EPISODES, [at, chiplets]) = (letter, &*numbers) {
            let seed = EPISODE_COUNTS.get(..*at)?.iter().sum();
            let (episodes, chiplets) = (*EPISODE_COUNTS.get(*at)?, u16::try_from(*chiplets).ok()?);
            return Some(Case { name: name.to_owned(), work: Work::Tested { seed, episodes, chiplets } });
        }
        let group = GROUPS.iter().position(|known| *known == letter)?;
        let [at, placement, machine] = *numbers else { return None };
        let mut test = self.group(group).get(at)?.clone();
        test.placements = vec![test.placements.get(placement)?.clone()];
        test.machines = Machines::Nth(u8::try_from(machine).ok()?);
        Some(Case { name: name.to_owned(), work: Work::Explored(Box::new(test)) })
    }

    /// The explorations that a case needs, each with the outcomes that the protocol's claims allow.
    /// Empty for a case that consists of episodes (random programs).
    #[must_use]
    pub fn prepared(&self, case: &Case) -> Vec<PreparedRun> {
        let Work::Explored(test) = &case.work else { return Vec::new() };
        let options = Options::new(verify::machines_of(&self.subject.info));
        verify::prepared(&self.claims, test, 0, &options)
    }
}
