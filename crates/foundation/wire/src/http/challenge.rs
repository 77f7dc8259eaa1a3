//! What `WWW-Authenticate` says (RFC 9110, 11.6.1): one challenge for each scheme, with its parameters. Read leniently: what
//! cannot be understood is passed over, and what it means is for others.

use super::WWW_AUTHENTICATE;
use crate::trace::Headers;

/// One challenge of a server that requires authentication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// The scheme as sent: `Bearer`, `Basic`, `DPoP`.
    pub scheme: String,
    /// Its parameters in order, quotation marks and escapes removed.
    pub parameters: Vec<(String, String)>,
}

impl Challenge {
    /// Whether the scheme is this one, in whatever case.
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }

    /// The first parameter of that name, in whatever case.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// The scopes it names; `None` where it names none.
    pub fn scopes(&self) -> Option<Vec<&str>> {
        let scopes: Vec<&str> = self.parameter("scope")?.split_ascii_whitespace().collect();
        (!scopes.is_empty()).then_some(scopes)
    }
}

/// Every challenge of a response, in all its `WWW-Authenticate` headers.
pub fn challenges(headers: &Headers) -> Vec<Challenge> {
    let values = headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case(WWW_AUTHENTICATE));
    values.flat_map(|(_, value)| of(value)).collect()
}

/// A parameter and a scheme differ by the `=` that follows: both stand between commas.
fn of(value: &str) -> Vec<Challenge> {
    let mut found: Vec<Challenge> = Vec::new();
    let mut rest = value;
    while let Some(start) = rest.find(|c| is_token_char(c) || c == '"') {
        // Stray quoted words hide no challenge.
        if rest[start..].starts_with('"') {
            rest = parameter(&rest[start..]).1;
            continue;
        }
        let (name, after) = rest[start..].split_at(run(&rest[start..], is_token_char));
        rest = after;
        match after.trim_start().strip_prefix('=') {
            Some(given) => {
                let (text, after) = parameter(given.trim_start());
                rest = after;
                if let Some(challenge) = found.last_mut() {
                    challenge.parameters.push((name.to_owned(), text));
                }
            }
            None => found.push(Challenge { scheme: name.to_owned(), parameters: Vec::new() }),
        }
    }
    found
}

/// A quoted string or a word, and what follows it.
fn parameter(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let (word, rest) = text.split_at(run(text, |c| !matches!(c, ',' | ' ' | '\t')));
        return (word.to_owned(), rest);
    };
    let (mut read, mut escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if std::mem::take(&mut escaped) => read.push(c),
            '\\' => escaped = true,
            '"' => return (read, &quoted[at + 1..]),
            _ => read.push(c),
        }
    }
    (read, "")
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// How many bytes of `text` satisfy `is`.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[&str]) -> Vec<Challenge> {
        challenges(&values.iter().map(|value| ("www-authenticate".to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn parameters_are_read_quoted_or_not() {
        let all = read(&["Bearer realm=mcp, resource_metadata=\"https://a.example/x,y\" ,scope = \"a  b\""]);
        assert_eq!(all.len(), 1);
        assert!(all[0].is("bearer"));
        assert_eq!(all[0].parameter("Resource_Metadata"), Some("https://a.example/x,y"));
        assert_eq!(all[0].scopes(), Some(vec!["a", "b"]));
        assert_eq!(all[0].parameter("realm"), Some("mcp"));
    }

    #[test]
    fn several_challenges_are_separated() {
        let all = read(&["Basic realm=\"say \\\"x\\\"\", Bearer error=\"invalid_token\"", "DPoP algs=ES256"]);
        let schemes: Vec<_> = all.iter().map(|c| c.scheme.as_str()).collect();
        assert_eq!(schemes, ["Basic", "Bearer", "DPoP"]);
        assert_eq!(all[0].parameter("realm"), Some("say \"x\""));
        assert_eq!(all[1].parameter("error"), Some("invalid_token"));
    }

    #[test]
    fn other_headers_are_not_challenges() {
        assert!(read(&["", " , ,", "=\"x\"", "\u{fffd}"]).is_empty());
        assert_eq!(read(&["Bearer"])[0].parameters, []);
        assert_eq!(read(&["Bearer scope=\"\""])[0].scopes(), None);
        assert_eq!(read(&["Bearer scope=\"never ends"])[0].scopes(), Some(vec!["never", "ends"]));
    }
}
