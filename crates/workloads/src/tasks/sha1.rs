//! SHA-1 (FIPS 180-4) of a short message, on the host and in each lane of a wavefront.
//!
//! A message has at most thirteen words, so it fits into one block. The lanes perform every
//! operation of the algorithm and charge its cost.

use kernel::prelude::*;

const START: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// The four constants of the algorithm. Each is used in 20 rounds.
const ROUND: [u32; 4] = [0x5a82_7999, 0x6ed9_eba1, 0x8f1b_bcdc, 0xca62_c1d6];

/// A block of the algorithm: sixteen big-endian words.
pub(super) type Block = [u32; 16];

/// The block that contains a message of at most thirteen words, and the padding of the message.
pub(super) fn block(message: &[u32]) -> Block {
    let mut block = [0; 16];
    block[..message.len()].copy_from_slice(message);
    block[message.len()] = 1 << 31;
    block[15] = 32 * message.len() as u32;
    block
}

/// The SHA-1 digest of a message that fits into one block.
pub(super) fn digest(block: &Block) -> [u32; 5] {
    let mut w = *block;
    let [mut a, mut b, mut c, mut d, mut e] = START;
    for round in 0..80 {
        if round >= 16 {
            let mixed = w[(round + 13) % 16] ^ w[(round + 8) % 16] ^ w[(round + 2) % 16] ^ w[round % 16];
            w[round % 16] = mixed.rotate_left(1);
        }
        let f = match round / 20 {
            0 => d ^ (b & (c ^ d)),
            2 => (b & c) | (d & (b | c)),
            _ => b ^ c ^ d,
        };
        let sum = a.rotate_left(5).wrapping_add(f).wrapping_add(e);
        let next = sum.wrapping_add(ROUND[round / 20]).wrapping_add(w[round % 16]);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    let mut sums = START;
    sums.iter_mut().zip([a, b, c, d, e]).for_each(|(sum, part)| *sum = sum.wrapping_add(part));
    sums
}

/// The SHA-1 digests of messages, one in each lane. Each message fits into one block.
pub(super) fn digests(block: &[Lanes<u32>; 16]) -> [Lanes<u32>; 5] {
    let mut w = *block;
    let [mut a, mut b, mut c, mut d, mut e] = START.map(Lanes::splat);
    for round in 0..80 {
        if round >= 16 {
            let mixed = w[(round + 13) % 16] ^ w[(round + 8) % 16] ^ w[(round + 2) % 16] ^ w[round % 16];
            w[round % 16] = mixed.rotate_left(1);
        }
        let f = match round / 20 {
            0 => d ^ (b & (c ^ d)),
            2 => (b & c) | (d & (b | c)),
            _ => b ^ c ^ d,
        };
        let next = a.rotate_left(5) + f + e + ROUND[round / 20] + w[round % 16];
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    [a + START[0], b + START[1], c + START[2], d + START[3], e + START[4]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // The example of FIPS 180-4 with one block: the message "abc".
        let mut abc = [0; 16];
        abc[0] = 0x6162_6380;
        abc[15] = 24;
        let want = [0xa999_3e36, 0x4706_816a, 0xba3e_2571, 0x7850_c26c, 0x9cd0_d89d];
        assert_eq!(digest(&abc), want);
        assert_eq!(digests(&abc.map(Lanes::splat)).map(|part| part.get(63)), want);
        // The digest of the empty message.
        let want = [0xda39_a3ee, 0x5e6b_4b0d, 0x3255_bfef, 0x9560_1890, 0xafd8_0709];
        assert_eq!(digest(&block(&[])), want);
    }

    #[test]
    fn each_lane_has_the_digest_of_its_own_message() {
        let message = |lane: usize| {
            core::array::from_fn::<u32, 6, _>(|k| ((lane * 6 + k) as u32).wrapping_mul(0x9e37_79b9))
        };
        let blocks = core::array::from_fn(|k| Lanes::from_fn(|lane| block(&message(lane))[k]));
        let lanes = digests(&blocks);
        for lane in 0..64 {
            assert_eq!(lanes.map(|part| part.get(lane)), digest(&block(&message(lane))), "{lane}");
        }
    }
}
