//! The clients that are known, from one data file: `clients.json`. A new client is one entry there.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::Value;

use crate::place::Platform;
use crate::scope::Scope;
use crate::text::{Format, Step};

static DATA: LazyLock<Data> =
    LazyLock::new(|| serde_json::from_str(include_str!("clients.json")).expect("the data file is checked by a test"));

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Data {
    shapes: BTreeMap<String, Shape>,
    clients: Vec<Client>,
}

/// What an entry looks like, by how the server is reached. Texts that begin with `$` stand for what the server needs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// Of a command.
    pub stdio: Value,
    /// Of a URL that speaks Streamable HTTP.
    pub http: Option<Value>,
    /// Of a URL that speaks HTTP+SSE.
    pub sse: Option<Value>,
}

/// The files of a user, by platform.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Paths {
    all: Vec<String>,
    linux: Vec<String>,
    macos: Vec<String>,
    windows: Vec<String>,
}

impl Paths {
    /// Those of one platform.
    pub fn of(&self, platform: Platform) -> &[String] {
        let own = match platform {
            Platform::Linux => &self.linux,
            Platform::MacOs => &self.macos,
            Platform::Windows => &self.windows,
        };
        if own.is_empty() { &self.all } else { own }
    }
}

/// One client.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not depend on each other, as the data file has them")]
pub struct Client {
    /// Its name on the command line.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Other names on the command line.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The format of its files.
    #[serde(default = "json")]
    pub format: Format,
    /// The members that lead to its servers.
    pub key: Vec<String>,
    /// The same where a file already has these.
    #[serde(default)]
    pub also: Vec<String>,
    /// Whether the servers are a list, each with its `name`.
    #[serde(default)]
    pub list: bool,
    shape: String,
    project_shape: Option<String>,
    also_shape: Option<String>,
    /// The files of a user: the first that exists is used, or else the first.
    pub user: Paths,
    /// Files that it reads, too.
    #[serde(default)]
    pub read: Vec<String>,
    /// Folders that show that it is installed, where the folders of its files do not.
    #[serde(default)]
    pub detect: Vec<String>,
    /// The files of a project, as those of a user.
    #[serde(default)]
    pub project: Vec<String>,
    /// Whether the user's file has servers for one project alone.
    #[serde(default)]
    pub local: bool,
    /// The scope where none is given.
    #[serde(default)]
    pub default_scope: Option<Scope>,
    /// How it is given the variable `NAME`.
    pub reference: Option<String>,
    /// Whether a reference may have a default.
    #[serde(default)]
    pub defaults: bool,
    /// Whether it asks the user for values under `inputs`.
    #[serde(default)]
    pub inputs: bool,
    /// What a user does after a change.
    pub reload: Option<String>,
    /// Whether it is not developed any more: nothing is added to it.
    #[serde(default)]
    pub discontinued: bool,
}

const fn json() -> Format {
    Format::Json
}

impl Client {
    /// What an entry looks like at a place.
    pub fn shape(&self, scope: Scope, is_also: bool) -> &'static Shape {
        let own = self.also_shape.as_ref().filter(|_| is_also);
        let project = self.project_shape.as_ref().filter(|_| scope == Scope::Project);
        &DATA.shapes[own.or(project).unwrap_or(&self.shape)]
    }

    /// Whether it reaches servers by URL.
    pub fn is_remote(&self) -> bool {
        DATA.shapes[&self.shape].http.is_some()
    }

    /// Whether it reads secrets from somewhere else than its file.
    pub fn has_references(&self) -> bool {
        self.reference.is_some() || self.syntax() != "none"
    }

    /// How it is given a variable, in words.
    pub fn syntax(&self) -> String {
        let shape = &DATA.shapes[&self.shape];
        let text = format!("{} {}", shape.stdio, shape.http.as_ref().unwrap_or(&Value::Null));
        let members = [("$forwarded", "a list of names"), ("$bearer", "a name for the token")];
        let named: Vec<_> = members.iter().filter(|(mark, _)| text.contains(mark)).map(|(_, words)| *words).collect();
        match &self.reference {
            Some(text) if self.defaults => format!("{text}, {}", text.replace('}', ":-default}")),
            Some(text) => text.clone(),
            None if named.is_empty() => "none".to_owned(),
            None => named.join(", "),
        }
    }

    /// The scopes that it has, the strongest first.
    pub fn scopes(&self) -> Vec<Scope> {
        let has = |scope: &Scope| match scope {
            Scope::Local => self.local,
            Scope::Project => !self.project.is_empty(),
            Scope::User => true,
        };
        Scope::ALL.into_iter().filter(has).collect()
    }

    /// The way to a server in a file that holds `value`, and whether it is the other of two forms.
    pub fn way(&self, value: &Value, scope: Scope, project: &str) -> (Vec<Step>, bool) {
        let also: Vec<_> = self.also.iter().map(|key| Step::key(key)).collect();
        let is_also = !also.is_empty() && crate::text::at(value, &also).is_some_and(Value::is_object);
        let keys = if is_also { also } else { self.key.iter().map(|key| Step::key(key)).collect() };
        let local = [Step::key("projects"), Step::key(project)];
        let way = local.into_iter().filter(|_| scope == Scope::Local).chain(keys);
        (way.collect(), is_also)
    }

    /// The last step to a server.
    pub fn step(&self, server: &str) -> Step {
        if self.list { Step::Item("name", server.to_owned()) } else { Step::key(server) }
    }
}

/// All clients, by id.
pub fn clients() -> &'static [Client] {
    &DATA.clients
}

/// The client with this id or other name.
pub fn find(name: &str) -> Option<&'static Client> {
    clients().iter().find(|client| client.id == name || client.aliases.iter().any(|alias| alias == name))
}
