//! What may stand at a place of a filter: its terms, gates, outcomes, and the owners, tags and languages of the fleet.

use std::collections::BTreeSet;

use page::{Failure, Parameters};
use serde_json::{Value, json};

use super::Ui;
use crate::filter::{FIELDS, standings};

/// How many suggestions are made.
const MOST: usize = 20;

impl Ui {
    /// What may stand at a place of a filter.
    pub(super) fn complete(&self, parameters: &Parameters) -> Result<Value, Failure> {
        let filter = parameters.text("filter").unwrap_or_default();
        let at = parameters.number::<usize>("at")?.unwrap_or(usize::MAX);
        let at = page::byte_at(filter, at);
        let from = filter[..at].rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let to = filter[at..].find(char::is_whitespace).map_or(filter.len(), |space| at + space);
        let typed = filter[from..at].to_lowercase();
        let (not, typed) = typed.strip_prefix('-').map_or(("", typed.as_str()), |rest| ("-", rest));
        let items: Vec<Value> = self
            .known_terms()
            .into_iter()
            .filter(|(term, _)| term.to_lowercase().starts_with(typed) && term.len() > typed.len())
            // The fields alone first; values when a field is typed.
            .filter(|(term, _)| typed.contains(':') || term.ends_with(':') || !term.contains(':'))
            .take(MOST)
            .map(|(term, what)| json!({ "text": format!("{not}{term}"), "what": what }))
            .collect();
        let utf16 = |at: usize| filter[..at].encode_utf16().count();
        Ok(json!({ "from": utf16(from), "to": utf16(to), "items": items }))
    }

    fn known_terms(&self) -> Vec<(String, &'static str)> {
        let mut terms: Vec<(String, &'static str)> = FIELDS
            .iter()
            .map(|field| match *field {
                "stage" => ("stage:<".to_owned(), "number of the stage, also stage>=4"),
                "score" => ("score:<".to_owned(), "score of `check`, of 100"),
                "age" => ("age:>".to_owned(), "age of the oldest result, such as age>7d"),
                "gate:" => ("gate:".to_owned(), "a gate, also the beginning of its name"),
                "is:" => ("is:".to_owned(), "how a gate or the server stands"),
                "held" => ("held".to_owned(), "servers that people hold"),
                "below" => ("below".to_owned(), "servers below the stage that is wanted"),
                "fallen" => ("fallen".to_owned(), "servers that fell since the last run"),
                field => (field.to_owned(), "part of it"),
            })
            .collect();
        terms.extend(standings().map(|word| (format!("is:{word}"), "how it stands")));
        terms.extend(self.fleet.gates().into_iter().map(|gate| (format!("gate:{gate}"), "a gate")));
        let servers = &self.fleet.servers;
        let mut values = |field: &str, what: &'static str, values: BTreeSet<&str>| {
            // A filter has no quotes: a value ends at a blank.
            let plain = values.into_iter().filter(|value| !value.is_empty() && !value.contains(char::is_whitespace));
            terms.extend(plain.map(|value| (format!("{field}:{value}"), what)));
        };
        values("owner", "an owner", servers.iter().filter_map(|server| server.owner.as_deref()).collect());
        values("tag", "a tag", servers.iter().flat_map(|server| &server.tags).map(String::as_str).collect());
        values("language", "a language", servers.iter().filter_map(|server| server.language.as_deref()).collect());
        terms
    }
}
