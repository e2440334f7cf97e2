//! Machine learning: passes forward and backward through small networks.
//!
//! If a result is a sum, its terms are multiples of a power of two, and so small that single
//! precision represents every sum exactly. The order of the additions therefore does not matter,
//! and the checks are exact.

mod backprop;
mod cnn;
mod conv_backward;
mod rnn;

use kernel::rng::Rng;
use kernel::{Answer, WrongAnswer};

pub(crate) use backprop::BACKPROP;
pub(crate) use cnn::CNN;
pub(crate) use conv_backward::{CONV_BACKWARD, INPUTS as CONV_INPUTS};
pub(crate) use rnn::{RNN_GRU, RNN_LSTM};

/// `count` random whole numbers from `-most` to `most`, each multiplied by `unit`.
fn multiples(seed: u64, count: u64, most: u32, unit: f32) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let number = |rng: &mut Rng| rng.below(u64::from(2 * most + 1)) as f32 - most as f32;
    (0..count).map(|_| number(&mut rng) * unit).collect()
}

/// Compares a vector of the answer with its reference, number by number. Positive and negative zero
/// count as equal.
fn expect_numbers(answer: &Answer, name: &str, reference: &[f32]) -> Result<(), WrongAnswer> {
    answer.compare(name, reference, |want, have| want == have)
}
