//! Servers of the fleet, and their versions.

use serde::{Deserialize, Serialize};

use crate::bounds::{self, KEY, NAME, PLACE, SENTENCE, TAGS};
use crate::rows::{self, Row, optional};
use crate::sql::{Failure, Sql, Value};
use crate::{Id, LISTED, Millis, Store, StoreError};

/// A server as the inventory describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewServer {
    /// Its name, unique in the fleet.
    pub name: String,
    /// Where it comes from: a repository, a package, a URL.
    pub source: String,
    /// Which kind of source that is.
    pub kind: String,
    /// Who answers for it.
    pub owner: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The language that it is written in.
    pub language: Option<String>,
    /// Lines of its source.
    pub lines: Option<i64>,
}

/// A server of the fleet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Server {
    /// Its number.
    pub id: Id,
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
    /// Which kind of source that is.
    pub kind: String,
    /// Who answers for it.
    pub owner: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The language that it is written in.
    pub language: Option<String>,
    /// Lines of its source.
    pub lines: Option<i64>,
    /// Why it is held at its stage, if it is.
    pub hold: Option<String>,
    /// When it was added.
    pub created: Millis,
    /// When it left the inventory.
    pub retired: Option<Millis>,
}

/// A version of a server, as it was looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewVersion {
    /// What identifies it: of the package, the image, or the surface.
    pub digest: String,
    /// What it calls itself.
    pub label: String,
    /// The digest of what it offers.
    pub surface_digest: Option<String>,
    /// How many tools it has.
    pub tools: Option<i64>,
    /// How many prompts it has.
    pub prompts: Option<i64>,
    /// How many resources it has.
    pub resources: Option<i64>,
    /// How many modules its tools are in.
    pub modules: Option<i64>,
}

/// A version of a server in the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Version {
    /// Its number.
    pub id: Id,
    /// The server.
    pub server: Id,
    /// When it was first seen.
    pub first_seen: Millis,
    /// When it was last seen.
    pub seen: Millis,
    /// What it is.
    pub is: NewVersion,
}

const SERVER: &str = "SELECT id, name, source, kind, owner, tags, language, lines, hold, created, retired FROM server";
const VERSION: &str = "SELECT id, server, first_seen, seen, digest, label, surface_digest, tools, prompts, resources, modules \
                       FROM version";

impl NewServer {
    fn check(&self) -> Result<(), StoreError> {
        bounds::name("the name of a server", &self.name, NAME)?;
        bounds::text("the source of a server", &self.source, PLACE)?;
        bounds::text("the kind of a server", &self.kind, NAME)?;
        bounds::text("the owner of a server", &self.owner, NAME)?;
        bounds::optional("the language of a server", self.language.as_deref(), NAME)?;
        if self.tags.len() > TAGS {
            return Err(StoreError::invalid(
                format!("a server has {} tags", self.tags.len()),
                format!("use at most {TAGS}"),
            ));
        }
        self.tags.iter().try_for_each(|tag| bounds::name("a tag", tag, NAME))
    }

    fn values(&self, now: Millis) -> Vec<Value> {
        let tags = serde_json::json!(self.tags).to_string();
        vec![
            (&self.name).into(),
            (&self.source).into(),
            (&self.kind).into(),
            (&self.owner).into(),
            tags.into(),
            optional(self.language.as_ref()),
            optional(self.lines),
            now.into(),
        ]
    }
}

impl NewVersion {
    fn check(&self) -> Result<(), StoreError> {
        bounds::name("the digest of a version", &self.digest, KEY)?;
        bounds::text("the label of a version", &self.label, NAME)?;
        bounds::optional("the digest of a surface", self.surface_digest.as_deref(), KEY)
    }

    fn values(&self, server: Id, now: Millis) -> Vec<Value> {
        vec![
            server.into(),
            (&self.digest).into(),
            (&self.label).into(),
            optional(self.surface_digest.as_ref()),
            optional(self.tools),
            optional(self.prompts),
            optional(self.resources),
            optional(self.modules),
            now.into(),
        ]
    }
}

impl Store {
    /// Inserts a server, or updates the one of this name. One that was retired comes back.
    pub async fn put_server(&self, server: &NewServer, now: Millis) -> Result<Id, StoreError> {
        const PUT: &str = "INSERT INTO server (name, source, kind, owner, tags, language, lines, created) \
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (name) DO UPDATE SET source = excluded.source, \
            kind = excluded.kind, owner = excluded.owner, tags = excluded.tags, language = excluded.language, \
            lines = excluded.lines, retired = NULL RETURNING id";
        server.check()?;
        let values = server.values(now);
        self.write(move |sql| rows::id(&sql.query(PUT, &values)?)).await
    }

    /// Marks a server as one that the inventory does not list any more. Its history stays. Whether it was listed.
    pub async fn retire_server(&self, name: &str, now: Millis) -> Result<bool, StoreError> {
        const RETIRE: &str = "UPDATE server SET retired = $1 WHERE name = $2 AND retired IS NULL";
        let values = [now.into(), name.into()];
        self.write(move |sql| Ok(sql.execute(RETIRE, &values)? > 0)).await
    }

    /// The servers that the inventory lists, by name.
    pub async fn servers(&self) -> Result<Vec<Server>, StoreError> {
        let text = format!("{SERVER} WHERE retired IS NULL ORDER BY name LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[])?, server)).await
    }

    /// The server of this name, retired or not.
    pub async fn server(&self, name: &str) -> Result<Option<Server>, StoreError> {
        let (text, values) = (format!("{SERVER} WHERE name = $1"), [name.into()]);
        self.read(move |sql| rows::one(sql.query(&text, &values)?, server)).await
    }

    /// Holds a server at its stage for a reason, or releases it.
    pub async fn hold(&self, name: &str, reason: Option<&str>) -> Result<(), StoreError> {
        const HOLD: &str = "UPDATE server SET hold = $1 WHERE name = $2";
        bounds::optional("the reason of a hold", reason, SENTENCE)?;
        let (values, missing) = ([optional(reason), name.into()], format!("server {name}"));
        self.write(move |sql| match sql.execute(HOLD, &values)? {
            0 => Err(StoreError::missing(missing.clone()).into()),
            _ => Ok(()),
        })
        .await
    }

    /// Inserts a version, or notes that it was seen again.
    pub async fn put_version(&self, server: Id, version: &NewVersion, now: Millis) -> Result<Id, StoreError> {
        const PUT: &str = "INSERT INTO version (server, digest, label, surface_digest, tools, prompts, resources, modules, \
            first_seen, seen) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) ON CONFLICT (server, digest) DO UPDATE SET \
            label = excluded.label, surface_digest = excluded.surface_digest, tools = excluded.tools, \
            prompts = excluded.prompts, resources = excluded.resources, modules = excluded.modules, seen = excluded.seen \
            RETURNING id";
        version.check()?;
        let values = version.values(server, now);
        self.write(move |sql| {
            must_exist(sql, "SELECT id FROM server WHERE id = $1", server, "server")?;
            rows::id(&sql.query(PUT, &values)?)
        })
        .await
    }

    /// The versions of a server, the one that was seen last first.
    pub async fn versions(&self, server: Id) -> Result<Vec<Version>, StoreError> {
        let text = format!("{VERSION} WHERE server = $1 ORDER BY seen DESC, id DESC LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[server.into()])?, version)).await
    }

    /// The version of each server that was seen last.
    pub async fn current_versions(&self) -> Result<Vec<Version>, StoreError> {
        let text = format!("{VERSION} WHERE {CURRENT} ORDER BY server LIMIT {LISTED}");
        self.read(move |sql| rows::all(sql.query(&text, &[])?, version)).await
    }
}

/// The condition that `version.id` is the current one of its server.
pub(crate) const CURRENT: &str = "version.id = (SELECT v.id FROM version v WHERE v.server = version.server \
                                  ORDER BY v.seen DESC, v.id DESC LIMIT 1)";

/// Refuses a number that no row has.
pub(crate) fn must_exist(sql: &mut dyn Sql, query: &str, id: Id, what: &str) -> Result<(), Failure> {
    if sql.query(query, &[id.into()])?.is_empty() {
        return Err(StoreError::missing(format!("{what} {id}")).into());
    }
    Ok(())
}

fn server(row: &Row) -> Result<Server, Failure> {
    Ok(Server {
        id: row.integer(0)?,
        name: row.text(1)?,
        source: row.text(2)?,
        kind: row.text(3)?,
        owner: row.text(4)?,
        tags: row.json(5)?,
        language: row.optional_text(6)?,
        lines: row.optional_integer(7)?,
        hold: row.optional_text(8)?,
        created: row.integer(9)?,
        retired: row.optional_integer(10)?,
    })
}

fn version(row: &Row) -> Result<Version, Failure> {
    Ok(Version {
        id: row.integer(0)?,
        server: row.integer(1)?,
        first_seen: row.integer(2)?,
        seen: row.integer(3)?,
        is: NewVersion {
            digest: row.text(4)?,
            label: row.text(5)?,
            surface_digest: row.optional_text(6)?,
            tools: row.optional_integer(7)?,
            prompts: row.optional_integer(8)?,
            resources: row.optional_integer(9)?,
            modules: row.optional_integer(10)?,
        },
    })
}
