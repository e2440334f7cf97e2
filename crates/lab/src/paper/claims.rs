//! A paper's claims, as its file says them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::Error;
use crate::place::Place;

/// What a claim says of a figure, as `claims/README.md` tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Holds to the unit.
    Exact,
    /// A figure, within a tolerance.
    Number,
    /// A lower bound.
    AtLeast,
    /// An upper bound.
    AtMost,
    /// A ranking or a sign.
    Order,
}

/// What a number is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A speedup or a time ratio.
    #[default]
    Ratio,
    /// A share or a relative change.
    Fraction,
    /// A count.
    Count,
}

/// One published statement.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Claim {
    /// Its name.
    pub id: String,
    /// Where the paper says it.
    #[serde(rename = "where")]
    pub place: String,
    /// What it says.
    pub says: String,
    /// What to compute, in words.
    pub metric: String,
    /// What kind of statement it is.
    pub kind: Kind,
    /// What its number is.
    #[serde(default)]
    pub unit: Unit,
    /// The published figure.
    pub value: Option<f64>,
    /// The lower end of a published range.
    pub low: Option<f64>,
    /// The upper end of a published range.
    pub high: Option<f64>,
}

impl Claim {
    /// Does it have a number or a range?
    #[must_use]
    pub fn has_figure(&self) -> bool {
        self.value.is_some() || (self.low.is_some() && self.high.is_some())
    }
}

/// A published table: its columns, and rows by name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Published {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The numbers of each row.
    #[serde(flatten)]
    pub rows: BTreeMap<String, Vec<f64>>,
}

/// The file of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Claims {
    /// Title and venue.
    pub title: String,
    /// The claims in the order of the file.
    pub claims: Vec<Claim>,
    /// The tables by name.
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
    /// As the file writes it.
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
    /// Reads a file of claims; `path` is for what an error says.
    ///
    /// # Errors
    /// The first thing that is wrong, with its place.
    pub fn parse(path: &Path, text: &str) -> Result<Claims, Error> {
        let file: File = toml::from_str(text).map_err(|error| {
            let place = error.span().map_or(Place::whole(path), |s| Place::of_byte(path, text, s.start));
            Error::File { place, message: error.message().to_owned() }
        })?;
        for claim in &file.claims {
            // What holds to the unit may be said of tests instead of a figure.
            let may_have_none = claim.kind == Kind::Exact && !claim.has_figure();
            if claim.has_figure() == (claim.kind == Kind::Order) && !may_have_none {
                let at = text.find(&claim.id).unwrap_or(0);
                let message = match claim.kind {
                    Kind::Order => format!("`{}` is an order and has a figure", claim.id),
                    _ => format!("`{}` has neither `value` nor `low` and `high`", claim.id),
                };
                return Err(Error::File { place: Place::of_byte(path, text, at), message });
            }
        }
        // Beside claims a file holds tables and other facts, as those of inputs.
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
