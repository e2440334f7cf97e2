//! A dimension program before it is parsed, and the values of its dimensions (the properties in which
//! dimension programs differ).

use proto::{Agent, Width};

use crate::machine::bounds::Shape;
use crate::machine::placement::Placement;

/// A program of the dimension family, before it is parsed.
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) placement: Placement,
    /// The shape and the number of the only machine of the program. `None` if the program runs on
    /// every machine, in its own shape.
    pub(super) machine: Option<(Shape, u8)>,
}

/// The words of data that one request accesses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// One word.
    One,
    /// Two adjacent words.
    Adjacent,
    /// Two words with a word of another thread between them.
    Apart,
}

/// The widths of the words in the line of the data. `None` means different widths.
pub(super) const WIDTHS: [Option<Width>; 5] =
    [Some(Width::W1), Some(Width::W2), Some(Width::W4), Some(Width::W8), None];
pub(super) const LANES: [Lanes; 3] = [Lanes::One, Lanes::Adjacent, Lanes::Apart];
pub(super) const HOST: Agent = Agent::Host(0);
pub(super) const CU0: Agent = Agent::Cu(0);
pub(super) const CU1: Agent = Agent::Cu(1);
pub(super) const KERNELS: [u8; 2] = [1, 2];
pub(super) const BANKS: [u16; 3] = [1, 2, 3];
pub(super) const SETS: [u32; 2] = [1, 2];
pub(super) const WAYS: [u32; 2] = [1, 2];
/// The initial value of each word except the flag. It is not zero, so that it differs from bytes
/// that nobody wrote.
pub(super) const INITIAL: u8 = 1;
