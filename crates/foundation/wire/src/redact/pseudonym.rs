//! The pseudonym of a secret: as long as it, made of the same classes of characters, drawn by a keyed hash of it.

use hmac::{Hmac, Mac};
use sha2::Sha256;

use super::shapes;

/// Stay where they are, so that a UUID, a JWT or Base64 still looks like one, unless nothing else would change.
const STRUCTURE: &str = "-_.=/+~:";
const PUNCTUATION: &[u8] = b"!#$%&()*;<>?@[]^{|}";

/// What stands for every secret where no key draws pseudonyms.
pub(super) const MASK: &str = "redacted";

/// The pseudonym of `secret`, or the mask.
pub(super) fn or_mask(key: Option<&[u8; 32]>, secret: &str) -> String {
    key.map_or_else(|| MASK.to_owned(), |key| of(key, secret))
}

/// The pseudonym of `secret`; it differs from it wherever one of its classes has two members.
fn of(key: &[u8; 32], secret: &str) -> String {
    let kept = shapes::prefix(secret);
    let rest = &secret[kept.len()..];
    let class = Class::of(rest);
    // Short secrets may be drawn as they are: draw again.
    let drawn = (0..16).map(|attempt| draw(&mut Stream::new(key, secret, attempt), rest, class));
    let mut last = String::new();
    for pseudonym in drawn {
        last = pseudonym;
        if last != rest {
            break;
        }
    }
    format!("{kept}{last}")
}

#[derive(Clone, Copy)]
struct Class {
    hex: bool,
    /// Whether structure alone would leave the secret as it is.
    bare: bool,
}

impl Class {
    fn of(secret: &str) -> Self {
        Self {
            hex: secret.chars().all(|c| c.is_ascii_hexdigit() || !c.is_alphanumeric()),
            bare: !secret.chars().any(char::is_alphanumeric),
        }
    }
}

fn draw(stream: &mut Stream, secret: &str, class: Class) -> String {
    let letters = if class.hex { 6 } else { 26 };
    let mut one = |c: char| match c {
        '0'..='9' => char::from(b'0' + stream.below(10)),
        'a'..='z' => char::from(b'a' + stream.below(letters)),
        'A'..='Z' => char::from(b'A' + stream.below(letters)),
        _ if STRUCTURE.contains(c) && !class.bare => c,
        '"' | '\'' | '\\' | ',' => c,
        '!'..='~' => char::from(PUNCTUATION[usize::from(stream.below(PUNCTUATION.len() as u8))]),
        // Blanks and control characters are what a rule may complain of.
        '\0'..='\x7f' => c,
        // Greek small letters: no ASCII, and visible.
        _ => char::from_u32(0x3b1 + u32::from(stream.below(17))).unwrap_or('α'),
    };
    secret.chars().map(&mut one).collect()
}

/// As many bytes as are asked for, told by the key and the secret. The secret, which may be long, is read once.
struct Stream {
    seed: [u8; 32],
    block: u32,
    waiting: std::array::IntoIter<u8, 32>,
}

impl Stream {
    fn new(key: &[u8; 32], secret: &str, attempt: u8) -> Self {
        Self { seed: digest(key, &[&[attempt], secret.as_bytes()]), block: 0, waiting: nothing() }
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    fn byte(&mut self) -> u8 {
        if let Some(byte) = self.waiting.next() {
            return byte;
        }
        self.waiting = digest(&self.seed, &[&self.block.to_be_bytes()]).into_iter();
        self.block += 1;
        self.waiting.next().unwrap_or_default()
    }
}

fn nothing() -> std::array::IntoIter<u8, 32> {
    let mut bytes = [0; 32].into_iter();
    bytes.by_ref().for_each(drop);
    bytes
}

fn digest(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC fills its key up with zeros to one block.
    let mut padded = [0; 64];
    padded[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&padded.into());
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pseudonym_keeps_classes_and_nothing_else() {
        let key = [7; 32];
        for secret in ["abcXYZ123", "0f1e-2d3c", "pa$$ w0rd", "grün", "!!!!", "1", "a", "-", "ghp_0123456789abcdef", ""]
        {
            let pseudonym = of(&key, secret);
            assert_eq!(pseudonym, of(&key, secret));
            assert_eq!(pseudonym == secret, secret.is_empty(), "{secret}");
            assert_eq!(pseudonym.chars().count(), secret.chars().count());
            for (old, new) in secret.chars().zip(pseudonym.chars()) {
                assert_eq!(old.is_ascii_digit(), new.is_ascii_digit(), "{secret} {pseudonym}");
                assert_eq!(old.is_ascii_lowercase(), new.is_ascii_lowercase());
                assert_eq!(old.is_ascii_uppercase(), new.is_ascii_uppercase());
                assert_eq!(old.is_ascii_graphic(), new.is_ascii_graphic());
                assert_eq!(old.is_ascii(), new.is_ascii());
            }
        }
        assert!(of(&key, "0f1e2d3c").chars().all(|c| c.is_ascii_hexdigit()));
        assert!(of(&key, "ghp_0123456789abcdef").starts_with("ghp_"));
        assert_ne!(of(&key, "abcdefgh"), of(&[8; 32], "abcdefgh"));
    }
}
