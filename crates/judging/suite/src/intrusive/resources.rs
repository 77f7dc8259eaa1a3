//! Attacks on the addresses of resources: the last part of a listed one, and the places of a template.

use std::collections::BTreeSet;

use guard::intrusive::{LINK, on_resources};
use guard::scan::Kind;
use serde_json::Value;

use super::calls::is_accepted;
use super::{Run, Site};

/// How many addresses are attacked.
const MOST: usize = 10;

impl Run<'_> {
    /// Attacks resources, where canaries are planted.
    pub(super) async fn resources(&mut self) {
        if self.planted.is_none() || !self.client.greeting().may_have("resources") {
            return;
        }
        for (site, before, after) in self.addresses().await {
            let harmless = match (site.kind, &self.planted) {
                (Kind::Template, Some(planted)) => format!("{before}{}{after}", planted.note),
                _ => site.item.clone(),
            };
            let (mut is_open, mut tried) = (is_accepted(&self.client.read(&harmless).await), 0);
            for attack in on_resources() {
                if self.is_over() {
                    break;
                }
                let Some((sent, sum, value)) = self.prepared(attack, site.clone()) else { continue };
                let answer = self.client.read(&format!("{before}{value}{after}")).await;
                let outcome = self.judged(sent, &sum, &answer);
                is_open |= outcome.is_accepted || outcome.is_proven;
                tried += usize::from(outcome.is_sent);
                if outcome.is_proven {
                    break;
                }
            }
            if is_open {
                (0..tried).for_each(|_| self.tried(LINK.rule));
            } else if tried > 0 {
                let shown = wire::escape::snippet(&site.item, 60);
                self.out.notes.push(format!("no read of {shown} succeeded, so no attack on it counts as tried"));
            }
        }
    }

    /// What stands before and after the place that is attacked.
    async fn addresses(&self) -> Vec<(Site, String, String)> {
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        let templates = self.client.templates().await.map(|listed| listed.items).unwrap_or_default();
        let listed = self.client.resources().await.map(|listed| listed.items).unwrap_or_default();
        let texts = |items: Vec<Value>, member: &'static str| {
            items.into_iter().filter_map(move |item| item[member].as_str().map(str::to_owned))
        };
        for template in texts(templates, "uriTemplate") {
            if let Some((before, after)) = split(&template) {
                let site = Site { kind: Kind::Template, item: template.clone(), pointer: "/uriTemplate".to_owned() };
                seen.insert(before.clone());
                found.push((site, before, after));
            }
        }
        for uri in texts(listed, "uri") {
            // The authority of an address is no folder.
            let path = uri.find("://").map_or(0, |at| at + 3);
            let Some(at) = uri[path..].rfind('/') else { continue };
            let before = uri[..=path + at].to_owned();
            if seen.insert(before.clone()) {
                let site = Site { kind: Kind::Resource, item: uri.clone(), pointer: "/uri".to_owned() };
                found.push((site, before, String::new()));
            }
        }
        found.truncate(MOST);
        found
    }
}

/// A template before and after its last expression; further expressions get a letter.
fn split(template: &str) -> Option<(String, String)> {
    let (before, rest) = template.rsplit_once('{')?;
    let (_, after) = rest.split_once('}')?;
    let mut filled = String::new();
    let mut left = before;
    while let Some((text, rest)) = left.split_once('{') {
        filled.push_str(text);
        filled.push('a');
        left = rest.split_once('}')?.1;
    }
    Some((filled + left, after.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn the_last_expression_is_attacked() {
        let of = |template| split(template).map(|(before, after)| format!("{before}|{after}"));
        assert_eq!(of("docs:///{path}").as_deref(), Some("docs:///|"));
        assert_eq!(of("a://{user}/{+path}.txt").as_deref(), Some("a://a/|.txt"));
        assert_eq!(of("a://b"), None);
        assert_eq!(of("a://{b"), None);
    }
}
