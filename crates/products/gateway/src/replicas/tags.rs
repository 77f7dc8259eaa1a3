//! Ids that say which gateway made them: the gateway's name and a code stand at their end. Must not know what an id is for.

use std::sync::Arc;

use super::keys::Keys;

const PURPOSE: &[u8] = b"proof-gateway.id.1";

/// Makes and reads such ids.
#[derive(Debug)]
pub(crate) struct Tags {
    keys: Arc<Keys>,
    own: String,
}

impl Tags {
    /// Of the gateway that is called `own`.
    pub(crate) fn new(keys: Arc<Keys>, own: &str) -> Self {
        Self { keys, own: own.to_owned() }
    }

    /// The id with this gateway's name.
    pub(crate) fn tagged(&self, id: &str) -> String {
        let code = self.keys.code(&[PURPOSE, id.as_bytes(), self.own.as_bytes()]);
        format!("{id}.{}.{code}", self.own)
    }

    /// The other gateway that made an id; nothing where it was this one, or no gateway with a key of ours.
    pub(crate) fn other<'i>(&self, id: &'i str) -> Option<&'i str> {
        let (rest, code) = id.rsplit_once('.')?;
        let (id, owner) = rest.rsplit_once('.')?;
        let is_other = !owner.is_empty() && owner != self.own;
        (is_other && self.keys.verify(&[PURPOSE, id.as_bytes(), owner.as_bytes()], code)).then_some(owner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::keys::tests::keys;
    use super::*;

    #[test]
    fn an_id_names_the_gateway_that_made_it() {
        let tags = |key, own| Tags::new(Arc::new(keys(&[key])), own);
        let id = tags(1, "a").tagged("proof-gateway.1.0f");
        assert_eq!(tags(1, "b").other(&id), Some("a"));
        assert_eq!(tags(1, "a").other(&id), None, "its own");
        assert_eq!(tags(2, "b").other(&id), None, "another key");
        let forged = id.replace(".a.", ".c.");
        assert_eq!(tags(1, "b").other(&forged), None, "another gateway");
        assert_eq!(tags(1, "b").other(&id.replace("0f", "0e")), None, "another id");
        for none in ["", ".", "..", "a.b", "proof-gateway.1.0f", &id[..id.len() - 1]] {
            assert_eq!(tags(1, "b").other(none), None, "{none}");
        }
    }
}
