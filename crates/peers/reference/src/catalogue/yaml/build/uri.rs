//! Which texts are URIs (RFC 3986), and which are templates of the kind that the server can match (RFC 6570, level 1).

use std::collections::HashSet;

use document::quoted;

/// Whether every character may stand in a URI, and a scheme begins it.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_is = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    scheme_is && !rest.is_empty() && is_part(rest)
}

fn is_part(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().enumerate().all(|(at, byte)| match byte {
        b'%' => bytes.get(at + 1..at + 3).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)),
        byte => byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte),
    })
}

/// The variables of a template. `Err`: what is wrong, and what to try.
pub(super) fn variables(template: &str) -> Result<HashSet<String>, (String, &'static str)> {
    const LEVEL: &str = "variables such as `{city}`: letters, digits and underscores, no operators";
    let mut names = HashSet::new();
    let mut parts = template.split('{');
    let begin = parts.next().unwrap_or_default();
    let mut literals = vec![begin];
    for part in parts {
        let Some((name, literal)) = part.split_once('}') else {
            return Err(("a `{` is not closed".to_owned(), "`}` after the variable's name"));
        };
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err((
                format!("{} is no variable that the server can match", quoted(&format!("{{{name}}}"))),
                LEVEL,
            ));
        }
        if !names.insert(name.to_owned()) {
            return Err((format!("the variable {} stands twice", quoted(name)), "another name for one of them"));
        }
        literals.push(literal);
    }
    if names.is_empty() {
        return Err(("a template has no variable".to_owned(), "a `{name}`, or an entry of `resources`"));
    }
    if literals[1..literals.len() - 1].iter().any(|literal| literal.is_empty()) {
        return Err((
            "two variables touch: no URI says where one ends".to_owned(),
            "something such as `/` between them",
        ));
    }
    if !is_uri(&format!("{begin}x")) || !literals[1..].iter().all(|literal| is_part(literal)) {
        return Err(("no URI can be made of this template".to_owned(), "a scheme first, as in `weather://{city}`"));
    }
    Ok(names)
}

/// A value as a URI has it, decoded where it is UTF-8.
pub(super) fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find('%') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let digits = rest.get(at + 1..at + 3).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let digits = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let Some(byte) = digits else { return value.to_owned() };
        bytes.push(byte);
        rest = &rest[at + 3..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|_| value.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{decoded, is_uri, variables};

    #[test]
    fn uris_are_told_from_texts() {
        for uri in ["a:b", "weather://x/y?z#%20", "urn:isbn:1", "file:///a"] {
            assert!(is_uri(uri), "{uri}");
        }
        for text in ["", "a", ":b", "1a:b", "a:", "a:b c", "a:é", "a:%2", "a:{x}", "a:%zz"] {
            assert!(!is_uri(text), "{text}");
        }
    }

    #[test]
    fn templates_are_what_the_server_can_match() {
        assert_eq!(variables("x://{a}/{b_1}.txt").unwrap().len(), 2);
        for template in
            ["x://a", "x://{a", "x://{+a}", "x://{a,b}", "x://{}", "x://{a}{b}", "x://{a}/{a}", "{a}", "x://{a} b"]
        {
            assert!(variables(template).is_err(), "{template}");
        }
    }

    #[test]
    fn values_are_decoded_where_they_can_be() {
        assert_eq!(decoded("S%C3%A3o%20Paulo"), "São Paulo");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%ff"), "%ff");
        assert_eq!(decoded("%+1"), "%+1");
    }
}
