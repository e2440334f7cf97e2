//! The models that come with the tool.

use crate::parse::TextError;

use super::Model;

/// A model that comes with the tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// The name by which it is asked for.
    pub name: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them.
const SHIPPED: [Shipped; 1] =
    [Shipped { name: "sc", summary: "sequential consistency", text: include_str!("../../models/sc.cat") }];

/// The models that come with the tool, in the order in which they are listed.
#[must_use]
pub fn shipped_names() -> &'static [Shipped] {
    &SHIPPED
}

/// The model of that name, if it comes with the tool.
///
/// # Errors
/// If its text is not a model, which a test rules out.
pub fn shipped(name: &str) -> Option<Result<Model, TextError>> {
    let of = SHIPPED.iter().find(|s| s.name == name)?;
    let mut include = |file: &str| match SHIPPED.iter().find(|s| format!("{}.cat", s.name) == file) {
        Some(other) => Ok(other.text.to_owned()),
        None => Err("no such model comes with the tool".to_owned()),
    };
    Some(Model::parse(of.name, &format!("{}.cat", of.name), of.text, &mut include))
}
