//! An operation that can be called: with its credentials, pages and shape.

use std::sync::Arc;
use std::time::Duration;

use openapi::answer::paging::{Chooser, Pager, Paging};
use openapi::answer::shape::Shape;
use openapi::model::{Method, Operation, Place};
use serde_json::{Value, json};
use url::Url;

use crate::auth::Credential;
use crate::{Factory, shown};

/// An operation that can be called. Clones are the same.
#[derive(Clone)]
pub struct CallableOperation(pub(crate) Arc<Callable>);

pub(crate) struct Callable {
    pub(crate) factory: Factory,
    pub(crate) operation: Operation,
    /// Where its path begins.
    pub(crate) base: Url,
    pub(crate) credentials: Vec<Arc<Credential>>,
    pub(crate) shape: Shape,
    pub(crate) paging: Option<Paging>,
    /// The argument that takes the cursor of an answer.
    pub(crate) cursor: &'static str,
    /// The argument for how many items are fetched, if pages are fetched here.
    pub(crate) most: Option<&'static str>,
    /// Whether each success has a structured value.
    pub(crate) structured: bool,
    /// How long a call may take.
    pub(crate) time: Duration,
    /// Whether it takes one of the places for slow calls.
    pub(crate) is_slow: bool,
}

/// An argument that the description does not have.
#[derive(Clone, Debug, PartialEq)]
pub struct Extra {
    /// Its name.
    pub name: &'static str,
    /// Its JSON Schema.
    pub schema: Value,
}

impl std::fmt::Debug for CallableOperation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CallableOperation").field(&self.0.operation.at).finish()
    }
}

impl Factory {
    /// Prepares the calls of a tool. `arguments` are the names of its arguments; `structured`: it has an output schema.
    /// An error says why it cannot be called: credentials are missing, or it is on another server.
    pub fn operation(
        &self,
        tool: &str,
        mut operation: Operation,
        arguments: &[&str],
        structured: bool,
    ) -> Result<CallableOperation, String> {
        if operation.method == Method::Trace {
            return Err("TRACE is not sent: its answer repeats the credentials".to_owned());
        }
        let missing = |schemes| format!("it needs credentials for {schemes}; add them under `auth`");
        let credentials = self.0.authorization.of(&operation).map_err(missing)?;
        let base = self.base_of(&operation)?;
        let credentials = self.permitted(credentials, &base)?;
        if self.0.config.may_have_slashes(tool) {
            for parameter in operation.parameters.iter_mut().filter(|parameter| parameter.place == Place::Path) {
                parameter.allow_reserved = true;
            }
        }
        let free = |names: [&'static str; 2]| names.into_iter().find(|name| !arguments.contains(name));
        let paging = self.paging(tool, &operation);
        let (paging, cursor) = match (paging, free(["cursor", "next_cursor"])) {
            (Some(paging), Some(cursor)) => (Some(paging), cursor),
            _ => (None, "cursor"),
        };
        let is_safe = operation.method == Method::Get && paging.is_some();
        let most = free(["max_items", "max_items_in_all"]).filter(|_| is_safe);
        let shape = self.0.config.shape_of(tool);
        let (time, is_slow) = (self.0.config.time_of(tool), self.0.config.is_slow(tool));
        let factory = self.clone();
        Ok(CallableOperation(Arc::new(Callable {
            factory,
            operation,
            base,
            credentials,
            shape,
            paging,
            cursor,
            most,
            structured,
            time,
            is_slow,
        })))
    }

    /// Where an operation begins: at the base, unless the description gives it a server of its own that is permitted.
    fn base_of(&self, operation: &Operation) -> Result<Url, String> {
        let base = &self.0.base;
        let Some(server) = operation.servers.first().filter(|_| !base.is_named) else { return Ok(base.url.clone()) };
        let url = base.url.join(server).map_err(|_| format!("its server {} is not a URL", shown(server)))?;
        if url.origin() == base.url.origin() {
            return Ok(url);
        }
        let why = || format!("its server {} is not in `network.hosts`", shown(server));
        if self.0.sender.lists(&url) { Ok(url) } else { Err(why()) }
    }

    /// The credentials that may go to `base`: at the API's own origin all of them, elsewhere those whose `hosts` name it.
    fn permitted(&self, credentials: Vec<Arc<Credential>>, base: &Url) -> Result<Vec<Arc<Credential>>, String> {
        if base.origin() == self.0.base.url.origin() {
            return Ok(credentials);
        }
        let place = base.host_str().unwrap_or_default();
        let mut permitted = Vec::new();
        for credential in credentials {
            if !self.0.sender.is_among(&credential.hosts, base) {
                if credential.is_optional {
                    continue;
                }
                return Err(format!("its server {} is not in `hosts` of its credentials under `auth`", shown(place)));
            }
            permitted.push(credential);
        }
        if !permitted.is_empty() && base.scheme() != "https" {
            return Err(format!("its server {} has no TLS", shown(place)));
        }
        Ok(permitted)
    }

    fn paging(&self, tool: &str, operation: &Operation) -> Option<Paging> {
        let recognized = Paging::recognized(operation);
        let Some(rule) = self.0.config.paging_of(tool) else { return recognized };
        if rule.off {
            return None;
        }
        let named = rule.cursor.as_ref().map(|argument| {
            let parameter = operation.parameters.iter().find(|parameter| parameter.argument == *argument);
            let known = recognized.iter().flat_map(|paging| &paging.choosers).find(|one| one.argument == *argument);
            known.cloned().unwrap_or_else(|| Chooser {
                argument: argument.clone(),
                name: parameter.map_or(argument, |parameter| &parameter.name).clone(),
                pager: Pager::Cursor,
                is_number: false,
                first: 0,
            })
        });
        let choosers = match (named, &recognized) {
            (Some(chooser), _) => vec![chooser],
            (None, Some(paging)) => paging.choosers.clone(),
            (None, None) => return None,
        };
        let size = rule.size.clone().or_else(|| recognized.and_then(|paging| paging.size));
        Some(Paging { choosers, size, next_at: rule.next.clone(), items_at: rule.items.clone() })
    }
}

impl CallableOperation {
    /// Whether calls may run as tasks.
    pub fn is_slow(&self) -> bool {
        self.0.is_slow
    }

    /// The arguments that the description does not have.
    pub fn extras(&self) -> Vec<Extra> {
        if self.0.paging.is_none() {
            return Vec::new();
        }
        let about = "The cursor that the answer before this one gave, for the next page";
        let cursor = json!({ "type": "string", "description": about });
        let about = "Fetch further pages until there are this many items";
        let most = json!({ "type": "integer", "minimum": 1, "maximum": 10_000, "description": about });
        let cursor = Extra { name: self.0.cursor, schema: cursor };
        let most = self.0.most.map(|name| Extra { name, schema: most });
        std::iter::once(cursor).chain(most).collect()
    }
}
