//! The plain part of a JSON string: what needs no closer look. Most strings are short names; a few hold nearly all of a message.

use memchr::memchr2;

/// Up to this length, a few bytes are looked at together.
const SHORT: usize = 16;
/// How many bytes are searched at once for control characters.
const BLOCK: usize = 512;

/// How many bytes from the first on neither end a string, nor begin an escape, nor are control characters.
pub(super) fn plain_length(text: &[u8]) -> usize {
    let (short, long) = text.split_at(text.len().min(SHORT));
    let (words, rest) = short.as_chunks();
    for (index, word) in words.iter().enumerate() {
        if let Some(at) = first_special(u64::from_le_bytes(*word)) {
            return index * 8 + at;
        }
    }
    let is_special = |&byte: &u8| byte == b'"' || byte == b'\\' || byte < 0x20;
    if let Some(at) = rest.iter().position(is_special) {
        return words.len() * 8 + at;
    }
    let end = memchr2(b'"', b'\\', long).unwrap_or(long.len());
    short.len() + first_control(&long[..end]).unwrap_or(end)
}

/// The first of eight bytes that is not plain. A difference that borrows from the byte above marks bytes above the first only.
fn first_special(word: u64) -> Option<usize> {
    const fn each(byte: u8) -> u64 {
        u64::from_ne_bytes([byte; 8])
    }
    let below = |word: u64, least: u8| word.wrapping_sub(each(least)) & !word;
    let quote = below(word ^ each(b'"'), 1);
    let backslash = below(word ^ each(b'\\'), 1);
    let special = (below(word, 0x20) | quote | backslash) & each(0x80);
    (special != 0).then(|| special.trailing_zeros() as usize / 8)
}

fn first_control(text: &[u8]) -> Option<usize> {
    let (blocks, rest) = text.as_chunks::<BLOCK>();
    let clean = match blocks.iter().position(|block| least(block) < 0x20) {
        Some(block) => block * BLOCK,
        None if least(rest) < 0x20 => blocks.len() * BLOCK,
        None => return None,
    };
    text[clean..].iter().position(|&byte| byte < 0x20).map(|at| clean + at)
}

/// Without an early exit, compilers make vector instructions of it.
#[inline]
fn least(bytes: &[u8]) -> u8 {
    bytes.iter().fold(u8::MAX, |least, &byte| least.min(byte))
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
