//! Decides about requests that nobody sent: for tests of access rules. Uses the rules of a running gateway; must not know
//! files or servers.

use std::sync::Arc;

use net::server::http::Grant;
use net::server::tls::Certificate;
use oauth::resource::granted;
use serde_json::{Map, Value};

use super::authzen::Question;
use super::rules::{AccessRules, ConditionError, Decider, Kind, RuleLook, Target};
use crate::settings::{AccessRule, AuthzenMapping, DEFAULT_SERVER};
use crate::view::is_ambiguous;

/// What of a gateway's settings decides who may use what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicySettings {
    /// The access rules; `None` where there are none.
    pub access: Option<Vec<AccessRule>>,
    /// The line of each rule in its file.
    pub lines: Vec<usize>,
    /// The scopes that every token must have; `None` where clients need no token.
    pub token_scopes: Option<Vec<String>>,
    /// The names of the servers that clients see; none means the one at `/mcp`.
    pub servers: Vec<String>,
    /// The policy decision point that must allow, too.
    pub authzen: Option<PolicyPoint>,
}

/// A policy decision point as tests of access rules know it. They do not ask it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPoint {
    /// Its address.
    pub url: String,
    /// What it learns of a request.
    pub mapping: AuthzenMapping,
}

/// What a request does with an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the methods of the specification")]
pub enum Action {
    ToolsCall,
    ToolsList,
    PromptsGet,
    PromptsList,
    ResourcesRead,
    ResourcesSubscribe,
    ResourcesList,
    TemplatesList,
    CompletePrompt,
    CompleteResource,
}

impl Action {
    const ALL: [Self; 10] = [
        Self::ToolsCall,
        Self::ToolsList,
        Self::PromptsGet,
        Self::PromptsList,
        Self::ResourcesRead,
        Self::ResourcesSubscribe,
        Self::ResourcesList,
        Self::TemplatesList,
        Self::CompletePrompt,
        Self::CompleteResource,
    ];

    /// The action of a method. Completion is for a resource where `has_uri`.
    pub fn of(method: &str, has_uri: bool) -> Option<Self> {
        let skipped = if has_uri { Self::CompletePrompt } else { Self::CompleteResource };
        Self::ALL.into_iter().find(|action| action.method() == method && *action != skipped)
    }

    /// Its method.
    pub const fn method(self) -> &'static str {
        match self {
            Self::ToolsCall => "tools/call",
            Self::ToolsList => "tools/list",
            Self::PromptsGet => "prompts/get",
            Self::PromptsList => "prompts/list",
            Self::ResourcesRead => "resources/read",
            Self::ResourcesSubscribe => "resources/subscribe",
            Self::ResourcesList => "resources/list",
            Self::TemplatesList => "resources/templates/list",
            Self::CompletePrompt | Self::CompleteResource => "completion/complete",
        }
    }

    /// All methods that rules decide about.
    pub fn methods() -> impl Iterator<Item = &'static str> + Clone {
        Self::ALL.into_iter().map(Self::method).take(Self::ALL.len() - 1)
    }

    /// Whether the item is a tool, which alone has annotations.
    pub const fn is_of_tool(self) -> bool {
        matches!(self.kind(), Kind::Tool)
    }

    /// Whether the item is named by a URI.
    pub const fn is_of_resource(self) -> bool {
        matches!(self.kind(), Kind::Resource)
    }

    /// Whether the request has arguments that conditions may look at: completion has those that are filled in so far.
    pub const fn has_arguments(self) -> bool {
        matches!(self, Self::ToolsCall | Self::PromptsGet | Self::CompletePrompt)
    }

    pub(crate) const fn kind(self) -> Kind {
        match self {
            Self::ToolsCall | Self::ToolsList => Kind::Tool,
            Self::PromptsGet | Self::PromptsList | Self::CompletePrompt => Kind::Prompt,
            Self::ResourcesRead
            | Self::ResourcesSubscribe
            | Self::ResourcesList
            | Self::TemplatesList
            | Self::CompleteResource => Kind::Resource,
        }
    }
}

/// A request for one item. For a list, it asks whether the list shows the item.
#[derive(Clone, Debug)]
pub struct PolicyRequest {
    /// What it does.
    pub action: Action,
    /// The name that clients see, or the URI.
    pub name: String,
    /// The claims of the token, an object; `None` without a token.
    pub claims: Option<Value>,
    /// The certificate of the client's connection.
    pub certificate: Option<Arc<Certificate>>,
    /// The arguments of a call, an object.
    pub arguments: Option<Value>,
    /// The annotations of the tool, as its server gives them.
    pub annotations: Option<Value>,
    /// What the client says of itself: `clientInfo`.
    pub client: Value,
    /// The name of the server that clients see.
    pub server: String,
}

impl PolicyRequest {
    fn grant(&self) -> Option<Grant> {
        let token = self.claims.as_ref().map(|claims| granted("", claims));
        let certificate = self.certificate.clone();
        (token.is_some() || certificate.is_some()).then(|| Grant { certificate, ..token.unwrap_or_default() })
    }
}

/// Access rules that decide without a gateway.
#[derive(Debug)]
pub struct Policy {
    rules: Option<AccessRules>,
    settings: PolicySettings,
}

impl Policy {
    /// The rules, ready to decide; the first condition that cannot be used otherwise.
    pub fn new(settings: PolicySettings) -> Result<Self, ConditionError> {
        let rules = settings.access.as_deref().map(AccessRules::new).transpose()?;
        Ok(Self { rules, settings })
    }

    /// What it was made from.
    pub const fn settings(&self) -> &PolicySettings {
        &self.settings
    }

    /// Whether there is a server of this name.
    pub fn has_server(&self, name: &str) -> bool {
        let servers = &self.settings.servers;
        if servers.is_empty() { name == DEFAULT_SERVER } else { servers.iter().any(|server| server == name) }
    }

    /// Whether a request is allowed, and what says so.
    pub fn decide(&self, request: &PolicyRequest) -> (bool, Decider) {
        let grant = request.grant();
        if let Some(scopes) = &self.settings.token_scopes {
            let Some(grant) = grant.as_ref().filter(|grant| grant.has_token()) else {
                return (false, Decider::NoToken);
            };
            if let Some(lacking) = scopes.iter().find(|scope| !grant.scopes.contains(scope)) {
                return (false, Decider::TokenLacks(lacking.clone()));
            }
        }
        match &self.rules {
            Some(rules) => with_target(request, grant.as_ref(), |target| rules.decide(target)),
            // A decision point is not asked about such a URI.
            None if self.settings.authzen.is_some()
                && request.action.is_of_resource()
                && is_ambiguous(&request.name) =>
            {
                (false, Decider::AmbiguousUri)
            }
            None => (true, Decider::NoRules),
        }
    }

    /// What the gateway asks its policy decision point about a request that the rules allow. `None` without a decision point, or
    /// if the gateway denies without asking it.
    pub fn question(&self, request: &PolicyRequest) -> Option<Value> {
        let mapping = &self.settings.authzen.as_ref()?.mapping;
        let grant = request.grant();
        with_target(request, grant.as_ref(), |target| Question::new(mapping, request.action, &[*target])?.first())
    }

    /// What each rule says of a request, in their order.
    pub fn look(&self, request: &PolicyRequest) -> Vec<RuleLook> {
        let grant = request.grant();
        let looks = |rules| with_target(request, grant.as_ref(), |target| AccessRules::look(rules, target));
        self.rules.as_ref().map(looks).unwrap_or_default()
    }
}

/// A request as the gateway gives it to its rules.
fn with_target<T>(request: &PolicyRequest, grant: Option<&Grant>, decide: impl FnOnce(&Target<'_>) -> T) -> T {
    let none = Value::Object(Map::new());
    let arguments = request.action.has_arguments().then(|| request.arguments.as_ref().unwrap_or(&none));
    decide(&Target {
        kind: request.action.kind(),
        name: &request.name,
        annotations: request.annotations.as_ref().filter(|_| request.action.is_of_tool()),
        arguments,
        grant,
        client: &request.client,
        server: &request.server,
    })
}
