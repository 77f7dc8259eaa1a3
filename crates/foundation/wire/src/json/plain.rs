//! The plain part of a JSON string: what needs no closer look. Most strings are short names; a few hold nearly all of a message.

use memchr::memchr2;

/// Up to this length, bytes are looked at one by one.
const SHORT: usize = 16;
/// How many bytes are searched at once for control characters.
const BLOCK: usize = 128;

/// How many bytes from the first on neither end a string, nor begin an escape, nor are control characters.
pub(super) fn plain_length(text: &[u8]) -> usize {
    let (short, long) = text.split_at(text.len().min(SHORT));
    let special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    if let Some(at) = short.iter().position(special) {
        return at;
    }
    let end = memchr2(b'"', b'\\', long).unwrap_or(long.len());
    short.len() + first_control(&long[..end]).unwrap_or(end)
}

/// Without an early exit inside the block, compilers make vector instructions of it.
fn first_control(text: &[u8]) -> Option<usize> {
    let least = |block: &[u8; BLOCK]| block.iter().fold(u8::MAX, |least, &byte| least.min(byte));
    let (blocks, _) = text.as_chunks();
    let clean = blocks.iter().position(|block| least(block) < 0x20).unwrap_or(blocks.len()) * BLOCK;
    text[clean..].iter().position(|&byte| byte < 0x20).map(|at| clean + at)
}

#[cfg(test)]
mod tests {
    use super::plain_length;

    #[test]
    fn a_special_byte_is_found_wherever_it_stands() {
        for length in [0, 1, 15, 16, 17, 127, 128, 129, 143, 144, 145, 400] {
            let text = "x\u{7f}\u{e9}\u{ff0c}".repeat(100);
            let plain = &text.as_bytes()[..length];
            assert_eq!(plain_length(plain), length);
            for at in 0..length {
                for special in *b"\"\\\x00\x1f\n" {
                    let mut text = plain.to_vec();
                    text[at] = special;
                    assert_eq!(plain_length(&text), at, "{special} at {at} of {length}");
                    text.extend_from_slice(b"\n\"\\");
                    assert_eq!(plain_length(&text), at, "{special} at {at} of {length}, and more");
                }
            }
        }
    }
}
