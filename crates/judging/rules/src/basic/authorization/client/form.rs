//! Parameters of a query or of a form, decoded. What cannot be decoded is kept as it stands: a judge must not stumble.

/// Parameters in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    /// Reads `name=value&…`.
    pub(super) fn read(text: &str) -> Self {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        Self(pairs.map(|pair| pair.split_once('=').unwrap_or((pair, ""))).map(|(n, v)| (plain(n), plain(v))).collect())
    }

    /// The parameters of a target or a URL: what follows its question mark.
    pub(super) fn of_target(target: &str) -> Self {
        let (_, query) = target.split_once('?').unwrap_or_default();
        Self::read(query.split('#').next().unwrap_or_default())
    }

    /// The first parameter of that name that is not empty.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, value)| n == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// Every parameter of that name that is not empty.
    pub(super) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(n, value)| n == name && !value.is_empty()).map(|(_, value)| value.as_str())
    }

    /// Whether a parameter of that name is there, be it empty.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(n, _)| n == name)
    }

    /// Whether any parameter has this value.
    pub(super) fn holds(&self, value: &str) -> bool {
        self.0.iter().any(|(_, v)| v == value)
    }

    /// The words of a parameter, such as the scopes of `scope`, sorted and each once.
    pub(super) fn words(&self, name: &str) -> Option<Vec<&str>> {
        self.text(name).map(words)
    }
}

/// Words between blanks, sorted and each once.
pub(super) fn words(text: &str) -> Vec<&str> {
    let mut words: Vec<&str> = text.split_ascii_whitespace().collect();
    words.sort_unstable();
    words.dedup();
    words
}

fn plain(text: &str) -> String {
    let spaced = text.replace('+', " ");
    decoded(spaced.as_bytes()).unwrap_or(spaced)
}

fn decoded(text: &[u8]) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = after else { return None };
        let digit = |b: u8| char::from(b).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = after;
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn parameters_are_decoded() {
        let form = Form::read("scope=b+a%20b&resource=http%3A%2F%2Fh%2Fmcp&empty=&flag&resource=x");
        assert_eq!(form.words("scope"), Some(vec!["a", "b"]));
        assert_eq!(form.all("resource").collect::<Vec<_>>(), ["http://h/mcp", "x"]);
        assert_eq!((form.text("empty"), form.text("flag"), form.text("none")), (None, None, None));
        assert!(form.has("flag") && form.holds("x") && !form.holds("y"));
    }

    #[test]
    fn what_cannot_be_decoded_stays() {
        for bad in ["%", "%1", "%zz", "%ff", "a%"] {
            assert_eq!(Form::read(&format!("n={bad}")).text("n"), Some(bad));
        }
        assert_eq!(Form::of_target("/cb?code=a%2Bb#state=c").text("code"), Some("a+b"));
        assert_eq!(Form::of_target("/cb"), Form::default());
    }
}
