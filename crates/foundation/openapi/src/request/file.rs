//! Bytes in arguments: Base64, or a `data:` URI (RFC 2397).

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::engine::{DecodePaddingMode, general_purpose};

use super::escape;

/// A file as an argument gives it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct File {
    /// Its media type, where it is said.
    pub(super) media: Option<String>,
    /// Its name, where it is said.
    pub(super) name: Option<String>,
    /// Its bytes.
    pub(super) bytes: Vec<u8>,
}

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);

/// Reads a file.
pub(super) fn read(text: &str) -> Result<File, String> {
    let Some(rest) = strip_scheme(text) else {
        let bytes = base64(text).ok_or("it is neither Base64 nor a data: URI")?;
        return Ok(File { media: None, name: None, bytes });
    };
    let (head, data) = rest.split_once(',').ok_or("its data: URI has no comma")?;
    let mut parts = head.split(';').map(str::trim);
    let media = parts.next().filter(|media| is_media(media)).map(str::to_owned);
    let (mut name, mut is_base64) = (None, false);
    for part in parts {
        match part.split_once('=') {
            Some((key, value)) if key.eq_ignore_ascii_case("name") || key.eq_ignore_ascii_case("filename") => {
                name = Some(String::from_utf8_lossy(&escape::decoded(value)).into_owned());
            }
            None if part.eq_ignore_ascii_case("base64") => is_base64 = true,
            _ => {}
        }
    }
    let bytes = if is_base64 {
        base64(&String::from_utf8_lossy(&escape::decoded(data))).ok_or("its data: URI is not valid Base64")?
    } else {
        escape::decoded(data)
    };
    Ok(File { media, name, bytes })
}

fn strip_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.trim_start().split_at_checked(5)?;
    scheme.eq_ignore_ascii_case("data:").then_some(rest)
}

/// `type/subtype`, which goes into a header.
fn is_media(media: &str) -> bool {
    media.split_once('/').is_some_and(|(kind, subtype)| wire::http::is_token(kind) && wire::http::is_token(subtype))
}

fn base64(text: &str) -> Option<Vec<u8>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let is_folded = text.bytes().any(|byte| byte.is_ascii_whitespace());
    let text: Cow<'_, str> =
        if is_folded { text.chars().filter(|c| !c.is_ascii_whitespace()).collect() } else { text.into() };
    STANDARD.decode(&*text).or_else(|_| URL_SAFE.decode(&*text)).ok()
}

/// Bytes as Base64, written over them from the end on: a large file is never there twice.
pub(crate) fn written(mut bytes: Vec<u8>) -> String {
    /// A multiple of 3, so that no piece but the last is padded.
    const PIECE: usize = 3 << 10;
    let (size, length) = (bytes.len(), bytes.len().div_ceil(3) * 4);
    bytes.reserve_exact(length - size);
    bytes.resize(length, 0);
    let mut piece = [0; PIECE];
    for begin in (0..size).step_by(PIECE).rev() {
        let raw = &mut piece[..PIECE.min(size - begin)];
        raw.copy_from_slice(&bytes[begin..begin + raw.len()]);
        // What is before `begin` is not written over: its Base64 ends behind it.
        let written = general_purpose::STANDARD.encode_slice(raw, &mut bytes[begin / 3 * 4..]);
        debug_assert!(written.is_ok(), "there is room for all of it");
    }
    String::from_utf8(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::written;
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    #[test]
    fn bytes_of_any_length_become_their_base64() {
        for size in [0, 1, 2, 3, 4, 3071, 3072, 3073, 3074, 9215, 9216, 10_000] {
            let bytes: Vec<u8> = (0..size).map(|at| (at * 31 % 251) as u8).collect();
            assert_eq!(written(bytes.clone()), STANDARD.encode(&bytes), "{size}");
        }
    }
}
