//! The page `client/elicitation`: what a form may not ask for, and what may not be in it.

use serde_json::Value;
use wire::pointer;
use wire::revision::{R2025_06_18, R2025_11_25};

use super::{forms, here};
use crate::rule::{Rule, server};
use crate::verdict::{Kept, Verdict};
use crate::view::View;

/// The rules.
pub(crate) const RULES: &[Rule] = &[
    server("elicitation.no-secrets-in-forms")
        .says(R2025_06_18, here("user-interaction-model"), "A server MUST NOT ask for secrets by elicitation.")
        .says(
            R2025_11_25,
            here("user-interaction-model"),
            "A server MUST NOT ask for passwords, keys, tokens or means of payment by a form.",
        )
        .how("Looks for text fields whose name or title can only mean a secret (`password`, `api_key`, \
              `access_token`, `cvv`), or have the format `password`. Other names may still mean a secret.")
        .fix("Ask by an address (mode `url`) for what grants access or moves money.")
        .judge(no_secrets),
    server("elicitation.no-links-in-forms")
        .says(R2025_11_25, here("safe-url-handling"), "A form SHOULD NOT have links to click on in any of its fields.")
        .how("Looks in the message, the titles and the descriptions for links in Markdown or HTML, and for web addresses that the user is asked to see, visit or read, or that follow words such as `instructions`, `terms` or `help`. Other plain addresses may not be meant as links: forms with only those are passed over.")
        .fix("Send the user to an address in mode `url`; leave links out of forms.")
        .judge(no_links),
];

/// Names that mean a secret and nothing else, as they are without case and punctuation.
const SECRETS: [&str; 19] = [
    "password",
    "passwd",
    "userpassword",
    "passphrase",
    "apikey",
    "apitoken",
    "accesstoken",
    "authtoken",
    "bearertoken",
    "refreshtoken",
    "clientsecret",
    "secretkey",
    "privatekey",
    "secretaccesskey",
    "creditcard",
    "creditcardnumber",
    "cvv",
    "cvc",
    "cardverificationcode",
];

/// Whether a name means a secret.
fn is_secret(name: &str) -> bool {
    let plain: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    SECRETS.contains(&plain.to_ascii_lowercase().as_str())
}

/// Whether a field takes any text: what is chosen from a list is not a secret.
fn takes_text(field: &Value) -> bool {
    let free = ["enum", "oneOf", "const"].into_iter().all(|choice| field.get(choice).is_none());
    free && field.get("type").is_none_or(|kind| kind == "string")
}

fn no_secrets(view: &View<'_>) -> Verdict {
    let judged = forms(view).into_iter().map(|(question, fields)| {
        let asks = |(name, field): &&(&String, &Value)| {
            let text = |member: &str| field.get(member).and_then(Value::as_str);
            let called = is_secret(name) || text("title").is_some_and(is_secret);
            takes_text(field) && (called || text("format") == Some("password"))
        };
        let breach = |name: &str| {
            let place = question.at(&format!("/requestedSchema/properties/{}", pointer::escape(name)));
            question.sent.breach(place, "a form asks for a secret")
        };
        let secret = fields.iter().find(asks);
        (question.sent.event, secret.map_or(Ok(()), |(name, _)| Err(breach(name))))
    });
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), "the server sent no form")
}

/// Whether a text has a link that is marked up as one.
fn has_link(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["](http", "<http", "<a href", "<a\u{20}target", "href=\"http", "href='http"]
        .iter()
        .any(|mark| lower.contains(mark))
}

/// Words before an address by which a text sends its reader there, and words by which it only shows how one looks.
const SENDS: [&str; 13] = [
    "see", "visit", "open", "click", "follow", "read", "browse", "check", "consult", "register", "confirm", "details",
    "more",
];
const SHOWS: [&str; 13] =
    ["e.g", "eg", "example", "such", "like", "format", "looks", "enter", "paste", "type", "starting", "address", "url"];

/// What an address right after the word is: something to be read.
const LABELS: [&str; 11] = [
    "instructions",
    "guide",
    "guidelines",
    "manual",
    "documentation",
    "docs",
    "terms",
    "policy",
    "help",
    "faq",
    "tutorial",
];

/// How many words before an address tell what it is there for.
const BEFORE: usize = 5;

/// Whether a text sends its reader to a web address: `See https://… first`.
fn sends_away(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let addresses = lower.match_indices("http").filter(|(at, _)| {
        let rest = &lower[*at..];
        rest.starts_with("http://") || rest.starts_with("https://")
    });
    let mut sending = addresses.filter(|(at, _)| {
        let before = &lower[..*at];
        // A quoted address is one to look at.
        let quoted = before.ends_with(['`', '"', '\'']);
        let words: Vec<&str> = before
            .split(|c: char| c.is_whitespace() || ",;:!?()".contains(c))
            .map(|word| word.trim_end_matches('.'))
            .filter(|word| !word.is_empty())
            .collect();
        let near = &words[words.len().saturating_sub(BEFORE)..];
        let has = |known: &[&str]| near.iter().any(|word| known.contains(word));
        let is_labelled = words.last().is_some_and(|word| LABELS.contains(word));
        !quoted && (is_labelled || has(&SENDS)) && !has(&SHOWS)
    });
    sending.next().is_some()
}

fn has_address(text: &str) -> bool {
    text.to_ascii_lowercase().contains("://")
}

fn no_links(view: &View<'_>) -> Verdict {
    let judged = forms(view).into_iter().filter_map(|(question, fields)| {
        let mut texts: Vec<(String, &str)> = Vec::new();
        texts.extend(question.param("message").and_then(Value::as_str).map(|text| (question.at("/message"), text)));
        for (name, field) in fields {
            for member in ["title", "description"] {
                let place = || question.at(&format!("/requestedSchema/properties/{}/{member}", pointer::escape(name)));
                texts.extend(field.get(member).and_then(Value::as_str).map(|text| (place(), text)));
            }
        }
        let sent = question.sent;
        if let Some((pointer, _)) = texts.iter().find(|(_, text)| has_link(text) || sends_away(text)) {
            return Some((sent.event, Err(sent.breach(pointer, "a link is in a form"))));
        }
        (!texts.iter().any(|(_, text)| has_address(text))).then_some((sent.event, Ok(())))
    });
    Verdict::of(judged, "the server sent no form, or no form with a clear intent")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_counts_where_the_reader_is_sent_there() {
        for text in [
            "See https://garden.example/guide first.",
            "Which plan? Details: https://shop.example/plans",
            "How heavy is it? Instructions: https://harbour.example/weighing",
            "Do you accept our terms (https://shop.example/terms)?",
            "To go on, please visit http://shop.example/terms",
        ] {
            assert!(sends_away(text), "{text}");
        }
        for text in [
            "Your home page, such as https://example.com/ada",
            "Enter an address (see `https://example.com`)",
            "The address looks like https://example.com/see/this",
            "Home page (https://example.com by default)",
            "The address of your documentation, such as https://docs.example/",
            "Enter the address of the manual: https://",
            "See the httpd manual",
        ] {
            assert!(!sends_away(text), "{text}");
        }
    }

    #[test]
    fn secrets_are_known_by_whole_names() {
        for secret in ["password", "API key", "access_token", "accessToken", "client-secret", "CVV"] {
            assert!(is_secret(secret), "{secret}");
        }
        for other in ["password_hint", "password length", "token", "keyboard", "secret santa", "name", ""] {
            assert!(!is_secret(other), "{other}");
        }
    }
}
