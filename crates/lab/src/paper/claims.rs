//! The claims of a paper, as read from its claims file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::place::Place;

/// The kind of a claim. The file `claims/README.md` defines the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A number that the measured value must equal in every digit.
    Exact,
    /// A number that the measured value must match within a tolerance.
    Number,
    /// A lower bound: the measured value must be at least the published value.
    AtLeast,
    /// An upper bound: the measured value must be at most the published value.
    AtMost,
    /// A statement without a number: a ranking of values, or the sign of a change.
    Order,
}

/// The unit of the number that a claim publishes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// The number is a speedup or a ratio of two times.
    #[default]
    Ratio,
    /// The number is a fraction of a total, or a relative change.
    Fraction,
    /// The number is a count.
    Count,
}

/// One claim of a paper.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claim {
    /// The name of the claim.
    pub id: String,
    /// The place of the claim in the paper, such as a section or a figure.
    #[serde(rename = "where")]
    pub place: String,
    /// The text of the claim.
    pub says: String,
    /// A description, in words, of the value to compute for the claim.
    pub metric: String,
    /// The kind of the claim.
    pub kind: Kind,
    /// The unit of the claim's number.
    #[serde(default)]
    pub unit: Unit,
    /// The number that the paper publishes. `None` if the paper publishes a range, or no number.
    pub value: Option<f64>,
    /// The lower end of the range that the paper publishes. `None` if the paper publishes no range.
    pub low: Option<f64>,
    /// The upper end of the range that the paper publishes. `None` if the paper publishes no range.
    pub high: Option<f64>,
}

impl Claim {
    /// Returns true if the claim publishes a number or a range of numbers.
    #[must_use]
    pub fn has_figure(&self) -> bool {
        self.value.is_some() || (self.low.is_some() && self.high.is_some())
    }
}

/// A table of numbers that a paper publishes: the names of its columns, and its rows by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The numbers of each row, by the name of the row.
    #[serde(flatten)]
    pub rows: BTreeMap<String, Vec<f64>>,
}

/// The contents of the claims file of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// The title of the paper and its venue.
    pub title: String,
    /// The claims in the order of the file.
    pub claims: Vec<Claim>,
    /// The tables that the paper publishes, by their names.
    pub tables: BTreeMap<String, Published>,
}

#[derive(Deserialize)]
struct File {
    paper: String,
    #[serde(default, rename = "claim")]
    claims: Vec<Claim>,
    #[serde(flatten)]
    rest: BTreeMap<String, toml::Value>,
}

impl Kind {
    /// The name that a claims file uses for this kind of claim.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Exact => "exact",
            Kind::Number => "number",
            Kind::AtLeast => "at-least",
            Kind::AtMost => "at-most",
            Kind::Order => "order",
        }
    }
}

impl Claims {
    /// Reads a claims file. Errors name the file by `path`.
    ///
    /// # Errors
    /// If the file has a fault. The error names the first fault and its place.
    pub fn parse(path: &Path, text: &str) -> Result<Claims, Error> {
        let file: File = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(Place::whole(path), |s| Place::of_byte(path, text, s.start));
            Error::File { place, message: error.message().to_owned() }
        })?;
        for claim in &file.claims {
            // A claim of the kind `exact` may have no number, because it may be about litmus tests.
            let may_have_none = claim.kind == Kind::Exact && !claim.has_figure();
            if claim.has_figure() == (claim.kind == Kind::Order) && !may_have_none {
                let at = text.find(&claim.id).unwrap_or(0);
                let message = match claim.kind {
                    Kind::Order => format!("claim `{}` of the kind `order` cannot have a number", claim.id),
                    _ => format!("claim `{}` needs the key `value`, or the keys `low` and `high`", claim.id),
                };
                return Err(Error::File { place: Place::of_byte(path, text, at), message });
            }
        }
        // A claims file may also have tables and other facts. Only values with columns and rows are
        // tables.
        let table = |(name, value): (String, toml::Value)| {
            value.try_into::<Published>().ok().map(|published| (name, published))
        };
        Ok(Claims {
            title: file.paper,
            claims: file.claims,
            tables: file.rest.into_iter().filter_map(table).collect(),
        })
    }
}
