//! What of the arguments of a call reaches its server: no member that the tool's schema does not name, no secret. All else stays byte
//! for byte. Must not know how requests travel.

mod known;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use serde_json::Value;
use wire::json::{Outline, outline};
use wire::splice::{Splice, member, members, members_at};

use self::known::{Known, Steps};
use crate::sanitize::Sanitizer;
use crate::settings::{InputRule, InputSettings, SanitizeSettings, SecretInputs, UnknownInputs};
use crate::view::matches;

/// The longest place that an error shows, in characters.
const LONGEST: usize = 200;

/// The rules for arguments, and what finds secrets by each of them.
pub(crate) struct Inputs {
    all: Rule,
    tools: Vec<(String, Rule)>,
}

/// One rule.
pub(crate) struct Rule {
    settings: InputRule,
    finder: Option<Sanitizer>,
}

/// Why a call is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The schema does not name the member at this place.
    Unknown(String),
    /// There is a secret or personal data.
    Secret,
    /// The arguments cannot be checked.
    Unchecked(&'static str),
}

/// What was changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changed {
    pub(crate) dropped: usize,
    pub(crate) is_masked: bool,
}

impl Inputs {
    pub(crate) fn new(settings: &InputSettings) -> Self {
        let tools = settings.tools.iter().map(|(name, rule)| (name.clone(), Rule::new(rule))).collect();
        Self { all: Rule::new(&settings.rule), tools }
    }

    /// What holds for a tool, by the name that clients see.
    pub(crate) fn rule(&self, tool: &str) -> &Rule {
        self.tools.iter().find(|(pattern, _)| matches(pattern, tool)).map_or(&self.all, |(_, rule)| rule)
    }
}

impl Rule {
    fn new(settings: &InputRule) -> Self {
        let finder = (settings.secrets != SecretInputs::Pass).then(|| {
            let personal = settings.personal.clone();
            Sanitizer::new(&SanitizeSettings { hidden: false, secrets: true, personal, ..SanitizeSettings::default() })
        });
        Self { settings: settings.clone(), finder }
    }

    /// Whether the schema of the tool is needed.
    pub(crate) fn needs_schema(&self) -> bool {
        self.settings.unknown != UnknownInputs::Pass
    }

    /// Whether it looks at anything.
    pub(crate) const fn looks(&self) -> bool {
        !matches!((self.settings.unknown, self.settings.secrets), (UnknownInputs::Pass, SecretInputs::Pass))
    }

    /// A call as its server gets it; the text is the same where nothing changes. `schema`: the input schema of the tool. `own`: an argument
    /// that is for the gateway.
    pub(crate) fn apply<'t>(
        &self,
        text: &'t str,
        schema: Option<&Value>,
        own: Option<&str>,
    ) -> Result<(Cow<'t, str>, Changed), Refusal> {
        let taken = own.and_then(|name| Some((name, without(text, name)?)));
        let Some((name, (rest, value))) = taken else { return self.applied(text, schema) };
        let (out, changed) = self.applied(&rest, schema)?;
        let text = if changed.is_any() { with(&out, name, value).into() } else { Cow::Borrowed(text) };
        Ok((text, changed))
    }

    fn applied<'t>(&self, text: &'t str, schema: Option<&Value>) -> Result<(Cow<'t, str>, Changed), Refusal> {
        let mut changed = Changed::default();
        let mut out = Cow::Borrowed(text);
        if let (true, Some(schema)) = (self.needs_schema(), schema) {
            let mut minimised = Minimised {
                refuses: self.settings.unknown == UnknownInputs::Refuse,
                splice: Splice::new(text),
                steps: Steps::default(),
                dropped: 0,
            };
            if let Some(at) = arguments(text) {
                let known = Known::of(schema, schema, &mut minimised.steps)?;
                minimised.value(&at, &known, &mut String::new())?;
            }
            if minimised.dropped > 0 {
                changed.dropped = minimised.dropped;
                out = Cow::Owned(minimised.splice.finish());
            }
        }
        let Some(finder) = &self.finder else { return Ok((out, changed)) };
        let Some(at) = arguments(&out) else { return Ok((out, changed)) };
        let given = out.get(at.clone()).unwrap_or_default();
        let found = finder.value(given).map_err(|_| Refusal::Unchecked("they are too large or nested too deep"))?;
        match found {
            None => {}
            Some(_) if self.settings.secrets == SecretInputs::Refuse => return Err(Refusal::Secret),
            Some(masked) => {
                changed.is_masked = true;
                let mut splice = Splice::new(&out);
                splice.replace(at, masked);
                out = Cow::Owned(splice.finish());
            }
        }
        Ok((out, changed))
    }
}

impl Changed {
    pub(crate) const fn is_any(&self) -> bool {
        self.dropped > 0 || self.is_masked
    }

    /// In words, for the audit log.
    pub(crate) fn summary(&self) -> String {
        let dropped = (self.dropped > 0).then(|| format!("{} members dropped", self.dropped));
        let masked = self.is_masked.then(|| "masked".to_owned());
        dropped.into_iter().chain(masked).collect::<Vec<_>>().join(", ")
    }
}

/// Where the arguments of a call are.
fn arguments(text: &str) -> Option<Range<usize>> {
    let all = members(text)?;
    Some(member(text, &member(text, &all, "params")?.members, "arguments")?.value.clone())
}

/// A call without one of its arguments, and the value of that one.
fn without(text: &str, name: &str) -> Option<(String, String)> {
    let at = arguments(text)?;
    let inner = members_at(text, &at)?;
    let value = text.get(member(text, &inner, name)?.value.clone())?.to_owned();
    let mut splice = Splice::new(text);
    splice.object(&at, &inner, |found| found != name, &[]);
    Some((splice.finish(), value))
}

/// A call with one more argument.
fn with(text: &str, name: &str, value: String) -> String {
    let mut splice = Splice::new(text);
    if let Some((at, inner)) = arguments(text).and_then(|at| Some((at.clone(), members_at(text, &at)?))) {
        splice.object(&at, &inner, |_| true, &[(name, value)]);
    }
    splice.finish()
}

/// The members of arguments that stay.
struct Minimised<'t> {
    refuses: bool,
    splice: Splice<'t>,
    steps: Steps,
    dropped: usize,
}

impl Minimised<'_> {
    /// Looks through a value whose schema names `known`; `place` is its JSON pointer.
    fn value(&mut self, at: &Range<usize>, known: &Known<'_>, place: &mut String) -> Result<(), Refusal> {
        if known.is_free() {
            return Ok(());
        }
        let text = self.splice.text();
        match outline(text.get(at.clone()).unwrap_or_default()) {
            Ok(Outline::Object(_)) => self.object(at, known, place),
            Ok(Outline::Array(elements)) => {
                for (index, element) in elements.into_iter().enumerate() {
                    let inner = known.item(index, &mut self.steps)?;
                    let before = place.len();
                    place.push('/');
                    place.push_str(&index.to_string());
                    self.value(&(at.start + element.start..at.start + element.end), &inner, place)?;
                    place.truncate(before);
                }
                Ok(())
            }
            Ok(Outline::Scalar(_)) => Ok(()),
            Err(_) => Err(Refusal::Unchecked("they are not JSON")),
        }
    }

    fn object(&mut self, at: &Range<usize>, known: &Known<'_>, place: &mut String) -> Result<(), Refusal> {
        let text = self.splice.text();
        let members = members_at(text, at).ok_or(Refusal::Unchecked("they are not JSON"))?;
        let mut unknown = HashSet::new();
        for member in &members {
            let name = wire::json::unquote(&text[member.name.clone()]).into_owned();
            let before = place.len();
            place.push('/');
            place.push_str(&name.replace('~', "~0").replace('/', "~1"));
            match known.member(&name, &mut self.steps)? {
                Some(inner) => self.value(&member.value, &inner, place)?,
                None if self.refuses => return Err(Refusal::Unknown(place.chars().take(LONGEST).collect())),
                None => {
                    unknown.insert(name);
                }
            }
            place.truncate(before);
        }
        if !unknown.is_empty() {
            self.dropped += unknown.len();
            self.splice.object(at, &members, |name| !unknown.contains(name), &[]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
