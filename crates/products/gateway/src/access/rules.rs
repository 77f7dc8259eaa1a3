//! Decides by rules whether a client may use an item. Must not know where an item is.

use std::fmt;
use std::panic::catch_unwind;
use std::sync::{Arc, OnceLock};

use cel::{Context, Env, Program, Value as CelValue};
use net::server::http::Grant;
use serde_json::{Map, Value, json};

use crate::settings::{AccessRule, Effect, Settings};
use crate::view::{in_any_case, in_lower_case, is_ambiguous, matches};

/// The names that conditions may use.
const VARIABLES: [&str; 9] =
    ["claims", "scopes", "certificate", "server", "client", "kind", "name", "annotations", "arguments"];

/// What kind of item is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Prompt,
    Resource,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
        }
    }
}

/// An item and who wants it.
#[derive(Clone, Copy)]
pub(crate) struct Target<'t> {
    pub(crate) kind: Kind,
    /// The name that clients see, or the URI.
    pub(crate) name: &'t str,
    /// The annotations of a tool, as its server gives them.
    pub(crate) annotations: Option<&'t Value>,
    /// The arguments of a call; `None` where they are not known yet, as in a list.
    pub(crate) arguments: Option<&'t Value>,
    /// What the token grants.
    pub(crate) grant: Option<&'t Grant>,
    /// `clientInfo`, which says what the client likes.
    pub(crate) client: &'t Value,
    /// The name of the server that clients see.
    pub(crate) server: &'t str,
}

/// The rules of a gateway, ready to decide.
#[derive(Debug)]
pub(crate) struct AccessRules(Vec<Rule>);

#[derive(Debug)]
struct Rule {
    settings: AccessRule,
    condition: Option<Condition>,
}

/// What decided about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decider {
    /// There is no token, and the gateway asks for one.
    NoToken,
    /// The token lacks this scope, which `auth` demands of every token.
    TokenLacks(String),
    /// There are no access rules.
    NoRules,
    /// The URI may be read as another one.
    AmbiguousUri,
    /// The access rule with this number, from 1.
    Rule(usize),
    /// No rule fits.
    NoRule,
}

/// What a rule says of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleLook {
    /// The rule's effect.
    pub effect: Effect,
    /// Whether the rule fits. The first one that does decides.
    pub fits: bool,
    /// Why it does or does not.
    pub look: Look,
}

/// Why a rule fits a request or does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// The rule is about other items.
    OtherItem,
    /// The token lacks this scope.
    LacksScope(String),
    /// The rule has no condition.
    Unconditional,
    /// The condition looks at arguments, which a list does not know.
    WaitsForArguments,
    /// The value of the condition, or why it has none.
    Condition(Result<bool, String>),
}

/// A condition in CEL.
#[derive(Debug)]
struct Condition {
    program: Program,
    uses: Vec<&'static str>,
}

/// Why a rule's condition cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConditionError {
    /// The section of the file that has the rule.
    pub section: &'static str,
    /// The rule's number, from 1.
    pub rule: usize,
    /// Line and column of the condition in its file.
    pub at: (usize, usize),
    /// What is wrong with it.
    pub what: String,
}

impl fmt::Display for ConditionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the condition of {} rule {} is wrong: {}", self.section, self.rule, self.what)
    }
}

impl ConditionError {
    /// The same for a rule of another section.
    pub(crate) fn of_section(self, section: &'static str) -> Self {
        Self { section, ..self }
    }
}

impl std::error::Error for ConditionError {}

/// Whether all conditions can be used; the first that cannot otherwise.
pub fn check(rules: &[AccessRule]) -> Result<(), ConditionError> {
    AccessRules::new(rules).map(drop)
}

/// The same for all conditions of a gateway.
pub fn check_all(settings: &Settings) -> Result<(), ConditionError> {
    check(settings.access.as_deref().unwrap_or_default())?;
    let confirm = settings.confirm.as_ref().map_or(&[][..], |confirm| &confirm.rules);
    check(confirm).map_err(|error| error.of_section("confirm"))
}

impl AccessRules {
    /// The rules in their order.
    pub(crate) fn new(rules: &[AccessRule]) -> Result<Self, ConditionError> {
        let rule = |(index, settings): (usize, &AccessRule)| {
            let condition = settings.condition.as_ref().map(|condition| {
                let at = (condition.line, condition.column);
                Condition::new(&condition.text).map_err(|what| ConditionError {
                    section: "access",
                    rule: index + 1,
                    at,
                    what,
                })
            });
            Ok(Rule { settings: settings.clone(), condition: condition.transpose()? })
        };
        rules.iter().enumerate().map(rule).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a condition looks at a tool's annotations.
    pub(crate) fn use_annotations(&self) -> bool {
        self.0
            .iter()
            .filter_map(|rule| rule.condition.as_ref())
            .any(|condition| condition.uses.contains(&"annotations"))
    }

    /// Whether the target may be used.
    pub(crate) fn allow(&self, target: &Target<'_>) -> bool {
        self.decide(target).0
    }

    /// Whether the target may be used, and what says so. The first rule that fits decides; where none does, it may not.
    pub(crate) fn decide(&self, target: &Target<'_>) -> (bool, Decider) {
        if target.kind == Kind::Resource && is_ambiguous(target.name) {
            return (false, Decider::AmbiguousUri);
        }
        let first = self.0.iter().position(|rule| rule.look(target).fits(rule.settings.effect));
        match first {
            Some(index) => (self.0[index].settings.effect == Effect::Allow, Decider::Rule(index + 1)),
            None => (false, Decider::NoRule),
        }
    }

    /// What each rule says of the target, in their order; also those behind the one that decides.
    pub(crate) fn look(&self, target: &Target<'_>) -> Vec<RuleLook> {
        let look = |rule: &Rule| {
            let look = rule.look(target);
            RuleLook { effect: rule.settings.effect, fits: look.fits(rule.settings.effect), look }
        };
        self.0.iter().map(look).collect()
    }
}

impl Look {
    /// Whether a rule of this effect counts. What cannot be decided speaks against the request.
    fn fits(&self, effect: Effect) -> bool {
        match self {
            Self::OtherItem | Self::LacksScope(_) => false,
            Self::Unconditional => true,
            // It depends on the call. What might be allowed is shown, and the call decides.
            Self::WaitsForArguments => effect == Effect::Allow,
            Self::Condition(Ok(holds)) => *holds,
            Self::Condition(Err(_)) => effect == Effect::Deny,
        }
    }
}

impl Rule {
    /// A URI in capitals is forbidden as it is without them.
    fn look(&self, target: &Target<'_>) -> Look {
        let look = self.look_as_written(target);
        let lower = in_lower_case(target.name);
        let is_same = target.kind != Kind::Resource || lower == target.name;
        if is_same || self.settings.effect == Effect::Allow || look.fits(Effect::Deny) {
            return look;
        }
        self.look_as_written(&Target { name: &lower, ..*target })
    }

    fn look_as_written(&self, target: &Target<'_>) -> Look {
        let AccessRule { tools, prompts, resources, scopes, .. } = &self.settings;
        let named = [(Kind::Tool, tools), (Kind::Prompt, prompts), (Kind::Resource, resources)];
        // A rule that names nothing is for everything.
        let about = named.iter().all(|(_, patterns)| patterns.is_none())
            || named.iter().any(|(kind, patterns)| {
                let forbids = self.settings.effect == Effect::Deny && target.kind == Kind::Resource;
                let fits_one = if forbids { in_any_case } else { matches };
                let fits = |patterns: &Vec<String>| patterns.iter().any(|pattern| fits_one(pattern, target.name));
                *kind == target.kind && patterns.as_ref().is_some_and(fits)
            });
        if !about {
            return Look::OtherItem;
        }
        let has = |scope: &&String| target.grant.is_some_and(|grant| grant.scopes.contains(scope));
        if let Some(lacking) = scopes.iter().find(|scope| !has(scope)) {
            return Look::LacksScope(lacking.clone());
        }
        let Some(condition) = &self.condition else { return Look::Unconditional };
        // A resource has no arguments, neither in a list nor when it is read.
        let unknown = target.arguments.is_none() && target.kind != Kind::Resource;
        if unknown && condition.uses.contains(&"arguments") {
            return Look::WaitsForArguments;
        }
        let holds = condition.holds(target);
        if let Err(error) = &holds {
            tracing::debug!(kind = target.kind.as_str(), name = target.name, "a condition failed: {error}");
        }
        Look::Condition(holds)
    }
}

/// The functions of CEL, made once.
fn environment() -> &'static Arc<Env> {
    static ENVIRONMENT: OnceLock<Arc<Env>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| Arc::new(Env::stdlib()))
}

/// What conditions may know of a client's certificate.
fn certificate(grant: Option<&Grant>) -> Option<Value> {
    let shown = grant?.certificate.as_ref()?;
    Some(json!({ "sha256": shown.sha256, "uris": shown.uris, "dns": shown.dns }))
}

impl Condition {
    fn new(text: &str) -> Result<Self, String> {
        // The parser of the library may panic at texts that are no CEL.
        let compiled = catch_unwind(|| environment().compile(text));
        let program = match compiled {
            Ok(Ok(program)) => program,
            Ok(Err(errors)) => {
                let text = errors.to_string();
                return Err(text.lines().next().unwrap_or("not CEL").to_owned());
            }
            Err(_) => return Err("not CEL".to_owned()),
        };
        let references = program.references();
        if let Some(unknown) = references.variables().into_iter().find(|name| !VARIABLES.contains(name)) {
            return Err(format!("there is no `{unknown}`; there are {}", VARIABLES.join(", ")));
        }
        let uses = VARIABLES.into_iter().filter(|name| references.has_variable(name)).collect();
        Ok(Self { program, uses })
    }

    fn holds(&self, target: &Target<'_>) -> Result<bool, String> {
        let mut context = Context::with_env(Arc::clone(environment()));
        let token = target.grant.filter(|grant| grant.has_token());
        for name in &self.uses {
            let none = Value::Object(Map::new());
            let added = match *name {
                "claims" => context.add_variable(*name, token.map_or(&none, |grant| &grant.claims)),
                "scopes" => context.add_variable(*name, target.grant.map_or(json!([]), |grant| json!(grant.scopes))),
                "certificate" => context.add_variable(*name, certificate(target.grant).unwrap_or(none)),
                "annotations" => context.add_variable(*name, target.annotations.unwrap_or(&none)),
                "arguments" => context.add_variable(*name, target.arguments.unwrap_or(&none)),
                "client" => context.add_variable(*name, target.client),
                "kind" => context.add_variable(*name, target.kind.as_str()),
                "server" => context.add_variable(*name, target.server),
                _ => context.add_variable(*name, target.name),
            };
            added.map_err(|error| error.to_string())?;
        }
        match self.program.execute(&context) {
            Ok(CelValue::Bool(holds)) => Ok(holds),
            Ok(other) => Err(format!("it is {:?}, neither true nor false", other.type_of())),
            Err(error) => Err(error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests;
