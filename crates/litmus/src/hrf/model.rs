//! Which model, and how its open ends are read.

use core::fmt;
use core::str::FromStr;

/// A model of the family "sequential consistency for race-free programs".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Model {
    /// All scopes are one.
    Drf,
    /// Order never joins edges of different scopes.
    HrfDirect,
    /// Order joins edges of any scopes.
    HrfIndirect,
}

impl Model {
    /// Every model.
    pub const ALL: [Model; 3] = [Model::Drf, Model::HrfDirect, Model::HrfIndirect];

    /// The name by which it is asked for.
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

/// Which releases and acquires of one scope instance the scoped
/// synchronization order relates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SyncOrder {
    /// Any release before any later acquire: the definition as printed.
    #[default]
    AnyLocation,
    /// Only those of one location. Fences and barriers have no location and
    /// pair as under the other reading.
    SameLocation,
}

impl SyncOrder {
    /// The name by which it is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            SyncOrder::AnyLocation => "any-location",
            SyncOrder::SameLocation => "same-location",
        }
    }
}

/// How a relaxed atomic is read by models that do not define it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RelaxedAs {
    /// As an ordinary data access.
    Data,
    /// As a synchronization operation that neither releases nor acquires.
    Sync,
    /// Loads acquire, stores release, read-modify-writes do both.
    AcqRel,
}

impl RelaxedAs {
    /// The name by which it is asked for.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            RelaxedAs::Data => "data",
            RelaxedAs::Sync => "sync",
            RelaxedAs::AcqRel => "acq-rel",
        }
    }
}

/// A name that stands for none of the values asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    found: String,
    known: Vec<&'static str>,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no {}: expected one of {}", self.found, self.what, self.known.join(", "))
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
        by_name("reading of the synchronization order", found, &all, SyncOrder::name)
    }
}

impl FromStr for RelaxedAs {
    type Err = UnknownName;
    fn from_str(found: &str) -> Result<RelaxedAs, UnknownName> {
        let all = [RelaxedAs::Data, RelaxedAs::Sync, RelaxedAs::AcqRel];
        by_name("reading of relaxed atomics", found, &all, RelaxedAs::name)
    }
}

/// A model with every open end decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reading {
    /// The model.
    pub model: Model,
    /// Which releases and acquires pair.
    pub so: SyncOrder,
    /// Do operations of nested scopes synchronize? The paper leaves this
    /// undefined (5.2). Ours: one scope holds the other and both issuers are in
    /// both. Such a pair does not conflict and does synchronize; its edge
    /// belongs to the closure of the smaller scope.
    pub inclusion: bool,
    /// How a relaxed atomic is read; without it, one is an error.
    pub relaxed_as: Option<RelaxedAs>,
}

impl Reading {
    /// The model as printed.
    #[must_use]
    pub const fn of(model: Model) -> Reading {
        Reading { model, so: SyncOrder::AnyLocation, inclusion: false, relaxed_as: None }
    }

    /// The same with scope inclusion.
    #[must_use]
    pub const fn with_inclusion(self) -> Reading {
        Reading { inclusion: true, ..self }
    }

    /// The same with the other reading of the synchronization order.
    #[must_use]
    pub const fn same_location(self) -> Reading {
        Reading { so: SyncOrder::SameLocation, ..self }
    }

    /// The same with a reading of relaxed atomics.
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

/// What to look for and how far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The model.
    pub reading: Reading,
    /// How often a thread may take one backward jump. Iterations that only read
    /// and come back with nothing changed do not count: the thread then waits
    /// until one of the words that it read changes.
    pub unroll: u16,
    /// Stop at the first race.
    pub first_race_only: bool,
    /// How many states may be visited before the search gives up.
    pub states_max: u64,
    /// How many states may be remembered. Beyond it the search goes on with
    /// flat memory, and may visit states again.
    pub remembered_max: usize,
}

impl Options {
    /// The defaults.
    #[must_use]
    pub const fn new(reading: Reading) -> Options {
        Options { reading, unroll: 8, first_race_only: false, states_max: 1 << 30, remembered_max: 1_800_000 }
    }
}
