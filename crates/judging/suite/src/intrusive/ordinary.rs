//! Ordinary calls, before attacks: whether a tool works at all, and what its answer holds without any attack.

use client::{Tool, example};
use guard::intrusive::{Argument, LINK, spoken_examples};
use guard::scan::{Kind, Proven};
use serde_json::{Map, Value};

use super::calls::{Target, is_accepted, said};
use super::planted::Spot;
use super::{Run, token};

/// The arguments of an ordinary call, made from the schema and from examples.
pub(super) fn ordinary(tool: &Value, takes_places: bool) -> Map<String, Value> {
    let mut given = example(&tool["inputSchema"]);
    spoken_examples(tool, &mut given, takes_places);
    given
}

impl Run<'_> {
    /// Calls a tool with harmless arguments until a call succeeds.
    pub(super) async fn greeted<'t>(&mut self, tool: &'t Tool, arguments: &[Argument]) -> Target<'t> {
        let mut target = Target::new(tool, ordinary(&tool.described, self.options.calls_destructive));
        let (outside, linked) = (token(), token());
        let planted = self.planted.as_mut().map(|planted| {
            planted.note()?;
            planted.control(&outside)?;
            planted.plant(&linked, Spot::Linked)
        });
        if let Some(Err(error)) = planted {
            self.incomplete(format!("a canary could not be planted: {error}"));
        }
        for given in self.harmless(&target.given, arguments) {
            if self.is_over() {
                break;
            }
            let answer = self.client.call(tool, given.clone()).await;
            let Some(text) = said(&answer) else { break };
            let holds = |token: &str| {
                let secret = self.planted.as_ref().and_then(|planted| planted.secret(token));
                secret.is_some_and(|secret| text.contains(secret))
            };
            target.reads_more |= holds(&outside);
            target.follows_links |= holds(&linked);
            if is_accepted(&answer) {
                (target.given, target.is_open) = (given, true);
                break;
            }
        }
        if target.reads_more {
            self.incomplete(format!(
                "{} reads more than the folder around which canaries are planted, whatever it is asked",
                target.shown()
            ));
        } else if target.follows_links {
            self.link_followed(&target);
        }
        target
    }

    /// Arguments that do no harm: paths of a planted note, the address of the site, and what the schema makes.
    fn harmless(&self, made: &Map<String, Value>, arguments: &[Argument]) -> Vec<Map<String, Value>> {
        let site = self.canary.site().map(|site| format!("{site}/"));
        let paths = self.planted.as_ref().map_or(vec![None], |planted| {
            let text = |path: &std::path::Path| Some(path.to_string_lossy().into_owned());
            vec![text(&planted.folder.join(&planted.note)), Some(planted.note.clone()), text(&planted.folder), None]
        });
        let mut all: Vec<Map<String, Value>> = Vec::new();
        for path in paths {
            let mut given = made.clone();
            for argument in arguments {
                let place = if argument.is_path { path.as_ref() } else { site.as_ref().filter(|_| argument.is_url) };
                if let Some(place) = place.filter(|_| !argument.runs) {
                    argument.put(&mut given, place);
                }
            }
            if !all.contains(&given) {
                all.push(given);
            }
        }
        all
    }

    /// A tool that reads the whole folder follows links as well: medium, as every link.
    fn link_followed(&mut self, target: &Target<'_>) {
        self.tried(LINK.rule);
        self.out.proven.push(Proven {
            rule: LINK.rule,
            severity: LINK.severity,
            kind: Kind::Tool,
            item: target.tool.name().to_owned(),
            pointer: String::new(),
            text: LINK.template.to_owned(),
            message: "an ordinary answer has the content of a file that only a link in the folder leads to".to_owned(),
        });
    }
}
