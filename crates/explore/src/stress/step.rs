//! The operations of wavefronts.

use super::functions::Function;
use super::layout::{DATA, LANES_MAX, name};
use proto::{Level, Order};

/// The value that no byte of a data word ever has. A compare-and-swap fails if it expects this
/// value.
pub(super) const NEVER: u8 = 0;

/// One operation of a wavefront.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WaveStep {
    pub(super) kind: Kind,
    /// The number of the word that the operation accesses. If it accesses several data words, the
    /// number of the first of them.
    pub(super) word: u8,
    pub(super) level: Level,
    pub(super) order: Order,
    pub(super) remote: bool,
    /// The data words that the operation accesses, one bit for each.
    pub(super) words: u32,
    /// For each data word that the operation accesses: the value that each byte of the word must
    /// have before the operation (`old`), and the value that the operation stores in each byte
    /// (`given`). If the operation has a function, `given` is its argument in
    /// [`Function::result`].
    pub(super) old: [u8; LANES_MAX],
    pub(super) given: [u8; LANES_MAX],
    /// The value of a flag that the step sets or waits for.
    pub(super) value: u32,
}

/// The kind of an operation, with the constraint on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A load of data that must return exactly the old values.
    Load,
    /// A store of data.
    Store,
    /// A read-modify-write of data with this function, which must return exactly the old values.
    Update(Function),
    /// A compare-and-swap of data, which must return exactly the old values. It changes the words
    /// whose bytes have this value.
    CompareSwap(u8),
    /// An addition of one to a counter. No other addition to this counter may return the same
    /// value.
    Count,
    /// A store that sets a flag.
    Set,
    /// An exchange that sets a flag.
    Swap,
    /// A compare-and-swap that sets a flag, which must have this value before.
    SetIf(u32),
    /// A load of a flag, repeated until the flag has the value of the step or a greater one.
    Await,
    /// An addition of zero to a flag, repeated until the flag has the value of the step or a
    /// greater one.
    AwaitAdding,
    /// A fence of the step's order and scope.
    Fence,
}

impl WaveStep {
    /// A step that accesses a flag or a counter, or a fence. It has no data words.
    pub(super) fn of_flag(kind: Kind, word: usize, value: u32, order: Order, level: Level) -> WaveStep {
        let (old, given) = ([0; LANES_MAX], [0; LANES_MAX]);
        WaveStep { kind, word: word as u8, level, order, remote: false, words: 0, old, given, value }
    }

    /// Whether the step waits for a flag.
    #[inline]
    pub(super) fn awaits(&self) -> bool {
        matches!(self.kind, Kind::Await | Kind::AwaitAdding)
    }

    /// Whether the step sets a flag.
    #[cfg(test)]
    pub(super) fn sets(&self) -> bool {
        matches!(self.kind, Kind::Set | Kind::Swap | Kind::SetIf(_))
    }

    /// Whether the step may overlap with other steps of its wavefront.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.order == Order::Plain
    }

    /// Whether the answer to the step carries bytes.
    #[inline]
    pub(super) fn reads(&self) -> bool {
        !matches!(self.kind, Kind::Store | Kind::Set | Kind::Swap | Kind::Fence)
    }

    /// The number of the flag that the step accesses, among all flags.
    #[inline]
    pub(super) fn flag(&self) -> usize {
        usize::from(self.word) - DATA
    }

    /// The data words of the step, each with its index among these words (its lane).
    #[inline]
    pub(super) fn lanes(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let mut left = self.words;
        let next = move || {
            (left != 0).then(|| {
                let word = left.trailing_zeros() as usize;
                left &= left - 1;
                word
            })
        };
        core::iter::from_fn(next).enumerate()
    }

    /// The step as text for a report.
    pub(super) fn text(&self) -> String {
        let WaveStep { value, order, level, .. } = self;
        let remote = if self.remote { "remote " } else { "" };
        let how = format!("{remote}{order:?} {level:?}");
        let of_atom = if self.is_plain() { String::new() } else { format!(" ({how})") };
        let flag = || name(usize::from(self.word));
        let lanes = |of: &dyn Fn(usize, String) -> String| {
            self.lanes().map(|(lane, word)| of(lane, name(word))).collect::<Vec<_>>().join(", ")
        };
        let (old, given) = (|lane: usize| self.old[lane], |lane: usize| self.given[lane]);
        let changed =
            || lanes(&|lane, name| format!("{name} = {}, which must be {} before", given(lane), old(lane)));
        match self.kind {
            Kind::Load => {
                let text = |lane, name| format!("{name}, which must be {}", old(lane));
                format!("load {}{of_atom}", lanes(&text))
            }
            Kind::Store => {
                format!("store {}{of_atom}", lanes(&|lane, name| format!("{name} = {}", given(lane))))
            }
            Kind::Update(Function::Exchange) => format!("exchange {} ({how})", changed()),
            Kind::Update(function) => {
                let text = |lane, name| {
                    let (old, given) = (old(lane), given(lane));
                    let (operand, new) = (function.operand_text(old, given), function.result(old, given));
                    format!("{name} with {operand}, which must be {old} before and {new} after")
                };
                format!("{} {} ({how})", function.name(), lanes(&text))
            }
            Kind::CompareSwap(NEVER) => {
                let text = |lane, name| format!("{name}, which must be {}", old(lane));
                format!("compare-and-swap that must fail: {} ({how})", lanes(&text))
            }
            Kind::CompareSwap(expected) => {
                format!("compare-and-swap from {expected}: {} ({how})", changed())
            }
            Kind::Count => format!("add 1 to {} ({how})", flag()),
            Kind::Set => format!("set {} = {value} ({how})", flag()),
            Kind::Swap => format!("exchange {} = {value} ({how})", flag()),
            Kind::SetIf(old) => {
                format!("compare-and-swap {} = {value}, which must be {old} before ({how})", flag())
            }
            Kind::Await => format!("wait until {} >= {value} ({how})", flag()),
            Kind::AwaitAdding => format!("add 0 to {0} until {0} >= {value} ({how})", flag()),
            Kind::Fence => format!("fence ({how})"),
        }
    }
}
