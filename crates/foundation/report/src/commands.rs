//! Commands that people run again: a secret in them is replaced by a word that nobody takes for one.

use wire::redact::Redactor;
use wire::trace::Headers;

/// What stands in a command for a secret that has to be put in.
pub const PLACEHOLDER: &str = "YOUR-SECRET-HERE";

/// What stands in a command for the id of a session that has to be opened first.
pub const SESSION_ID: &str = "SESSION-ID";

/// Replaces secrets in the parts of a command.
#[derive(Clone, Debug)]
pub struct CommandRedactor {
    redactor: Redactor,
    /// What the redactor puts in place of every secret.
    mask: String,
}

impl CommandRedactor {
    /// Replaces what `redactor` replaces.
    pub fn of(redactor: &Redactor) -> Self {
        let redactor = redactor.clone().masked();
        Self { mask: redactor.pseudonym("secret"), redactor }
    }

    /// A word, without the secrets that were handed in or learned.
    pub fn word(&self, word: &str) -> String {
        self.placed(word, &self.redactor.redact_known(word))
    }

    /// A text, also without what looks like a secret.
    pub fn text(&self, text: &str) -> String {
        self.placed(text, &self.redactor.redact_text(text))
    }

    /// A message or another body; JSON stays JSON.
    pub fn message(&self, text: &str) -> String {
        self.placed(text, &self.redactor.redact_message(text))
    }

    /// Headers, names and order kept.
    pub fn headers(&self, headers: &Headers) -> Headers {
        let redacted = self.redactor.redact_headers(headers);
        let pairs = headers.iter().zip(redacted);
        pairs.map(|((_, before), (name, after))| (name, self.placed(before, &after))).collect()
    }

    /// What was redacted, with the placeholder where the mask stands now.
    fn placed(&self, before: &str, after: &str) -> String {
        if before == after { before.to_owned() } else { after.replace(&self.mask, PLACEHOLDER) }
    }
}

#[cfg(test)]
mod tests {
    use wire::redact::{Redactor, Secrets};

    use super::{CommandRedactor, PLACEHOLDER};

    #[test]
    fn a_secret_is_a_placeholder_and_the_rest_stays() {
        let mut secrets = Secrets::default();
        secrets.add("s3cret-value-1");
        let commands = CommandRedactor::of(&Redactor::new([1; 32]).knowing(&secrets));
        assert_eq!(commands.word("--key=s3cret-value-1"), format!("--key={PLACEHOLDER}"));
        assert_eq!(commands.word("./redacted-server"), "./redacted-server");
        let headers = [("Authorization", "Bearer s3cret-value-1"), ("Accept", "text/plain")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let shown = commands.headers(&headers);
        assert_eq!(shown[0].1, format!("Bearer {PLACEHOLDER}"));
        assert_eq!(shown[1], headers[1]);
    }
}
