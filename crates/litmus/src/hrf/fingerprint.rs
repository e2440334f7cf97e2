//! Fingerprints: 128-bit hash values of states. In a search with a million states, the probability
//! that two of these states have equal fingerprints is below 10^-24.

/// Computes the fingerprint of a sequence of numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fingerprint {
    a: u64,
    b: u64,
}

const K1: u64 = 0x9E37_79B9_7F4A_7C15;
const K2: u64 = 0xC2B2_AE3D_27D4_EB4F;

fn fold(x: u64, y: u64) -> u64 {
    let product = u128::from(x) * u128::from(y);
    (product as u64) ^ ((product >> 64) as u64)
}

impl Fingerprint {
    pub(crate) fn new() -> Fingerprint {
        Fingerprint { a: 0x2436_A885_308D_3131, b: 0x1319_8A2E_0370_7344 }
    }

    pub(crate) fn add(&mut self, word: u64) {
        self.a = fold(self.a ^ word, K1).wrapping_add(self.b);
        self.b = fold(self.b ^ word.rotate_left(32), K2).rotate_left(23) ^ self.a;
    }

    pub(crate) fn finish(mut self) -> u128 {
        self.add(K1);
        self.add(K2);
        u128::from(self.a) << 64 | u128::from(self.b)
    }
}
