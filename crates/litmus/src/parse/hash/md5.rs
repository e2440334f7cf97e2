//! The MD5 message digest.

/// The MD5 digest of `bytes`, as RFC 1321 defines it. The hashes in herd's logs use this digest.
pub(super) fn md5(bytes: &[u8]) -> [u8; 16] {
    const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];
    let mut padded = bytes.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state: [u32; 4] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for chunk in padded.chunks_exact(64) {
        let word = |at: usize| {
            u32::from_le_bytes([chunk[4 * at], chunk[4 * at + 1], chunk[4 * at + 2], chunk[4 * at + 3]])
        };
        let [mut a, mut b, mut c, mut d] = state;
        for step in 0..64usize {
            let (mixed, at) = match step / 16 {
                0 => ((b & c) | (!b & d), step),
                1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
                2 => (b ^ c ^ d, (3 * step + 5) % 16),
                _ => (c ^ (b | !d), (7 * step) % 16),
            };
            let sum = a.wrapping_add(mixed).wrapping_add(sine(step)).wrapping_add(word(at));
            (a, d, c) = (d, c, b);
            b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
        }
        for (total, part) in state.iter_mut().zip([a, b, c, d]) {
            *total = total.wrapping_add(part);
        }
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    digest
}

/// The additive constant of this step of MD5: the integer part of `2^32 |sin(step + 1)|`.
fn sine(step: usize) -> u32 {
    (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32
}

#[cfg(test)]
mod tests {
    use super::md5;

    /// Tests the digests of the test suite in RFC 1321, appendix A.5.
    #[test]
    fn digests_are_those_of_the_rfc() {
        let hex = |text: &str| md5(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect::<String>();
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        assert_eq!(hex("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        let long = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(hex(long), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
