//! The HRF (heterogeneous-race-free) models, and the options for questions that the paper of these
//! models leaves open.

use core::fmt;
use core::str::FromStr;

/// A model of the family "sequential consistency for race-free programs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// The model without scopes: all scopes are treated as one.
    Drf,
    /// The model HRF-direct: happens-before does not combine edges of different scopes.
    HrfDirect,
    /// The model HRF-indirect: happens-before combines edges of all scopes.
    HrfIndirect,
}

impl Model {
    /// All models of the HRF paper.
    pub const ALL: [Model; 3] = [Model::Drf, Model::HrfDirect, Model::HrfIndirect];

    /// The word that selects the model on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Model::Drf => "drf",
            Model::HrfDirect => "hrf-direct",
            Model::HrfIndirect => "hrf-indirect",
        }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The rule by which releases and acquires of one scope instance are related in the scoped
/// synchronization order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncOrder {
    /// A release is related to every later acquire, regardless of locations. This is the definition
    /// in the paper.
    #[default]
    AnyLocation,
    /// A release is related to later acquires of the same location. Fences and barriers have no
    /// location. They are related to releases and acquires of every location.
    SameLocation,
}

impl SyncOrder {
    /// The word that selects this rule (with or without regard to locations) on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SyncOrder::AnyLocation => "any-location",
            SyncOrder::SameLocation => "same-location",
        }
    }
}

/// The treatment of relaxed atomics, which the models do not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelaxedAs {
    /// A relaxed atomic counts as an ordinary data access.
    Data,
    /// A relaxed atomic counts as a synchronization operation that is neither a release nor an
    /// acquire.
    Sync,
    /// Relaxed loads count as acquires, relaxed stores as releases, and relaxed read-modify-writes
    /// as both.
    AcqRel,
}

impl RelaxedAs {
    /// The word that selects this treatment of relaxed atomics on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RelaxedAs::Data => "data",
            RelaxedAs::Sync => "sync",
            RelaxedAs::AcqRel => "acq-rel",
        }
    }
}

/// An error: a name that is not in the list of known names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    found: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "found `{}`, expected a {}: one of {}", self.found, self.what, self.known.join(", "))
    }
}

impl core::error::Error for UnknownName {}

fn by_name<T: Copy>(
    what: &'static str,
    found: &str,
    all: &[T],
    name: fn(T) -> &'static str,
) -> Result<T, UnknownName> {
    all.iter().copied().find(|&value| name(value) == found).ok_or_else(|| UnknownName {
        what,
        found: found.to_owned(),
        known: all.iter().map(|&value| name(value)).collect(),
    })
}

impl FromStr for Model {
    type Err = UnknownName;
    fn from_str(found: &str) -> Result<Model, UnknownName> {
        by_name("model of this family", found, &Model::ALL, Model::name)
    }
}

impl FromStr for SyncOrder {
    type Err = UnknownName;
    fn from_str(found: &str) -> Result<SyncOrder, UnknownName> {
        let all = [SyncOrder::AnyLocation, SyncOrder::SameLocation];
        by_name("rule for the synchronization order", found, &all, SyncOrder::name)
    }
}

impl FromStr for RelaxedAs {
    type Err = UnknownName;
    fn from_str(found: &str) -> Result<RelaxedAs, UnknownName> {
        let all = [RelaxedAs::Data, RelaxedAs::Sync, RelaxedAs::AcqRel];
        by_name("reading of relaxed atomics", found, &all, RelaxedAs::name)
    }
}

/// One interpretation (reading) of a model: the model, with a decision for each question that the
/// paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reading {
    /// The model of the HRF paper.
    pub model: Model,
    /// The rule by which releases and acquires pair: with or without regard to locations.
    pub so: SyncOrder,
    /// Whether operations at nested scopes synchronize. The paper leaves this undefined (section
    /// 5.2). Two scopes are nested if one contains the other, and the threads of both operations
    /// are in both scopes. If true, operations at nested scopes synchronize and do not conflict.
    /// The synchronization edge between them then counts as an edge of the smaller scope when
    /// happens-before combines edges.
    pub inclusion: bool,
    /// The treatment of relaxed atomics. With `None`, a program with a relaxed atomic is an error.
    pub relaxed_as: Option<RelaxedAs>,
}

impl Reading {
    /// The reading (interpretation) of the model that follows the paper's text.
    #[must_use]
    pub const fn of(model: Model) -> Reading {
        Reading { model, so: SyncOrder::AnyLocation, inclusion: false, relaxed_as: None }
    }

    /// This reading (interpretation of a model) with [`Reading::inclusion`] set: operations at
    /// nested scopes synchronize.
    #[must_use]
    pub const fn with_inclusion(self) -> Reading {
        Reading { inclusion: true, ..self }
    }

    /// This reading (interpretation of a model) with the rule [`SyncOrder::SameLocation`]: releases
    /// pair with acquires of the same location only.
    #[must_use]
    pub const fn same_location(self) -> Reading {
        Reading { so: SyncOrder::SameLocation, ..self }
    }

    /// This reading (interpretation of a model) with the given treatment of relaxed atomics.
    #[must_use]
    pub const fn relaxed_as(self, relaxed_as: RelaxedAs) -> Reading {
        Reading { relaxed_as: Some(relaxed_as), ..self }
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.model.name())?;
        if self.inclusion && self.model != Model::Drf {
            f.write_str(" with scope inclusion")?;
        }
        if self.so == SyncOrder::SameLocation {
            f.write_str(", same location")?;
        }
        Ok(())
    }
}

/// The options of a check of a program against an HRF model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The reading (interpretation) of the model: the model, and a decision for each question that
    /// the paper leaves open.
    pub reading: Reading,
    /// The maximum number of times that a thread takes the same backward jump. A loop iteration
    /// that only reads and changes nothing does not count: after such an iteration, the thread
    /// waits until one of the words that it read changes.
    pub unroll: u16,
    /// Whether the search stops at the first race.
    pub first_race_only: bool,
    /// The maximum number of states that the search visits.
    pub states_max: u64,
    /// The maximum number of states that the search remembers. When this number is reached, the
    /// search remembers no further states, and so may visit a state several times.
    pub remembered_max: usize,
}

impl Options {
    /// The options with their default values.
    #[must_use]
    pub const fn new(reading: Reading) -> Options {
        Options { reading, unroll: 8, first_race_only: false, states_max: 1 << 30, remembered_max: 1_800_000 }
    }
}
