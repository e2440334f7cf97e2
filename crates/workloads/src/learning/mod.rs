//! Machine learning: passes forward and backward through small networks.
//!
//! Where a result is a sum, its terms are multiples of one power of two, and the
//! sums stay so small that single precision represents all of them exactly. So
//! the order of the additions does not matter, and the checks are exact.

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

/// Random whole numbers from `-most` to `most`, times `unit`.
fn multiples(seed: u64, count: u64, most: u32, unit: f32) -> Vec<f32> {
    let mut rng = Rng::new(seed);
    let number = |rng: &mut Rng| rng.below(u64::from(2 * most + 1)) as f32 - most as f32;
    (0..count).map(|_| number(&mut rng) * unit).collect()
}

/// Compares one vector with its reference, number by number. The two zeros are
/// equal.
fn expect_numbers(answer: &Answer, name: &str, reference: &[f32]) -> Result<(), WrongAnswer> {
    answer.compare(name, reference, |want, have| want == have)
}
