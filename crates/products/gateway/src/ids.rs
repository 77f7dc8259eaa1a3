//! Ids that nobody can guess, by which clients come back to what is kept for them. Must not know what that is.

use std::sync::Arc;

use crate::replicas::Tags;

/// Makes ids; with several gateways, each says which of them made it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids(Option<Arc<Tags>>);

impl Ids {
    pub(crate) const fn new(tags: Option<Arc<Tags>>) -> Self {
        Self(tags)
    }

    /// A new id of 192 random bits, after `prefix`; `None` without random numbers.
    pub(crate) fn unguessable(&self, prefix: &str) -> Option<String> {
        let mut random = [0; 24];
        getrandom::fill(&mut random).ok()?;
        let id = format!("{prefix}{}", hex(&random));
        Some(match &self.0 {
            Some(tags) => tags.tagged(&id),
            None => id,
        })
    }
}

/// Lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(b"0123456789abcdef"[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::Ids;

    #[test]
    fn two_ids_differ() {
        let [one, other] = [(); 2].map(|()| Ids::default().unguessable("kept-").expect("random numbers"));
        assert_ne!(one, other);
        let digits = one.strip_prefix("kept-").expect("the prefix");
        assert!(digits.len() == 48 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()), "{one}");
    }
}
