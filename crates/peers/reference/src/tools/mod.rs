//! The methods of tools over any catalogue: the list, and how a tool is found and its arguments checked (server/tools).

mod call;
mod headers;

use std::collections::HashMap;
use std::sync::OnceLock;

use net::service::{Call, RpcError};
use schema::Validator;
use serde_json::{Value, json};
use wire::Revision;
use wire::http::Annotation;
use wire::meta::{APP_MEDIA, APPS_EXTENSION};

use crate::answer::{Handled, cacheable};
use crate::catalogue::{Catalogue, Kind, Tool};
use crate::{Server, pagination};

pub(crate) use self::call::call;

/// What is made of the tools once, so that a call need not.
pub(crate) struct Toolbox {
    by_name: HashMap<String, usize>,
    compiled: Vec<OnceLock<Compiled>>,
}

/// What is made of one tool's input schema when it is first called.
struct Compiled {
    validator: Validator,
    /// The arguments that are mirrored in headers.
    mirrored: Vec<Annotation>,
}

impl Toolbox {
    pub(crate) fn new(catalogue: &Catalogue) -> Self {
        let by_name = catalogue.tools.iter().enumerate().map(|(index, tool)| (tool.name.to_string(), index));
        // Where two tools have one name the first is called, which is also the first that a client sees.
        Self { by_name: by_name.rev().collect(), compiled: catalogue.tools.iter().map(|_| OnceLock::new()).collect() }
    }

    /// The place of the tool that `revision` knows by this name, where it is there.
    fn find(&self, server: &Server, catalogue: &Catalogue, name: &str, revision: Revision) -> Option<usize> {
        let index = *self.by_name.get(name)?;
        is_there(server, catalogue.tools.get(index)?, revision).then_some(index)
    }

    fn compiled(&self, index: usize, tool: &Tool) -> Result<&Compiled, RpcError> {
        let slot = &self.compiled[index];
        if let Some(compiled) = slot.get() {
            return Ok(compiled);
        }
        let validator = Validator::trusted(&tool.input)
            .map_err(|error| RpcError::internal(format!("Broken input schema: {error}")))?;
        let mirrored = wire::http::annotations(&tool.input).valid;
        Ok(slot.get_or_init(|| Compiled { validator, mirrored }))
    }
}

impl Compiled {
    /// What is wrong with the arguments of the tool; nothing where they fit its schema.
    fn faults(&self, arguments: &Value) -> Vec<String> {
        if self.validator.is_valid(arguments) {
            return Vec::new();
        }
        let mismatches = self.validator.mismatches(arguments, 8);
        mismatches.into_iter().map(|one| format!("{}: {}", one.pointer, one.message)).collect()
    }
}

fn is_there(server: &Server, tool: &Tool, revision: Revision) -> bool {
    revision.at_least(tool.since) && server.is_there(tool.comes_and_goes, Kind::Tool, &tool.name)
}

/// Whether the client declares that it shows apps.
fn shows_apps(call: &Call) -> bool {
    let settings = || call.client_capabilities()?.get("extensions")?.get(APPS_EXTENSION)?.get("mimeTypes")?.as_array();
    settings().is_some_and(|types| types.iter().any(|one| one == APP_MEDIA))
}

/// `tools/list`
pub(crate) fn list(server: &Server, call: &Call) -> Handled {
    let revision = call.context.revision;
    let tools = server.catalogue().tools.iter().filter(|tool| is_there(server, tool, revision));
    let size = server.state().options.items_per_page;
    let shows_apps = shows_apps(call);
    let body = pagination::page(call, "tools", tools, |tool| tool.describe(revision, shows_apps), size)?;
    let mut body = cacheable(server, call, body);
    // Clients that show no apps get another list.
    if let Some(scope) = body.get_mut("cacheScope").filter(|_| shows_apps) {
        *scope = json!("private");
    }
    Ok(body)
}
