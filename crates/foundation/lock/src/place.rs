//! Where a manifest says that its server is: the origin of its address, its package, its name in a registry. A server elsewhere
//! that tells models the same is a copy. Must not know signatures.

use serde_json::Value;
use url::Url;

use crate::Entry;
use crate::manifest::BadManifest;

/// The place that a manifest states. Each part is optional.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The address of a remote server.
    pub url: Option<Url>,
    /// The package URL of a server that is started as a command.
    pub package: Option<String>,
    /// The name in a registry of MCP servers.
    pub registry: Option<String>,
}

impl Place {
    /// Reads the member `server` of a manifest.
    pub(crate) fn of(server: &Value) -> Result<Self, BadManifest> {
        let text = |name: &str| match server.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(_) => Err(BadManifest::Member(format!("server.{name}"), "a text")),
        };
        let not_a_url = |_| BadManifest::Member("server.url".to_owned(), "a URL");
        let url = text("url")?.map(|text| Url::parse(&text)).transpose().map_err(not_a_url)?;
        Ok(Self { url, package: text("package")?, registry: text("registry")? })
    }

    /// Why a server is not the one at this place. A trace knows neither an address nor a command: it is not compared.
    pub(crate) fn differences(&self, entry: &Entry) -> Vec<String> {
        let identity = &entry.identity;
        let mut found = Vec::new();
        let is_at_url = match (&self.url, &identity.url) {
            (Some(stated), Some(reached)) => {
                if !Url::parse(reached).is_ok_and(|reached| is_same_origin(stated, &reached)) {
                    found.push(format!("the manifest is for the server at {}, not at {reached}", shown(stated)));
                }
                true
            }
            (Some(stated), None) if entry.launch.is_some() && self.package.is_none() => {
                found.push(format!("the manifest is for the server at {}, not for a command", shown(stated)));
                false
            }
            _ => false,
        };
        match (&self.package, &identity.package) {
            (Some(stated), Some(started)) if !is_same_package(stated, started) => {
                found.push(format!("the manifest is for the package {stated}, not for {started}"));
            }
            (Some(stated), None) if !is_at_url && (identity.url.is_some() || entry.launch.is_some()) => {
                found.push(format!(
                    "the manifest is for the package {stated}, and this server is not known to be of it"
                ));
            }
            _ => {}
        }
        if let (Some(stated), Some(named)) = (&self.registry, &identity.registry)
            && stated != named
        {
            found.push(format!("the manifest is for {stated} in the registry, not for {named}"));
        }
        found
    }
}

/// Whether two addresses have one origin. A WebSocket's is that of its HTTP.
fn is_same_origin(one: &Url, other: &Url) -> bool {
    let origin = |url: &Url| {
        let is_secure = match url.scheme() {
            "https" | "wss" => true,
            "http" | "ws" => false,
            _ => return None,
        };
        Some((is_secure, url.host()?.to_owned(), url.port_or_known_default()))
    };
    origin(one).is_some_and(|one| Some(one) == origin(other))
}

/// Whether two package URLs are of one package. A tag such as `latest`, or no version, may be any version: the version that the
/// server gives itself is compared elsewhere.
fn is_same_package(one: &str, other: &str) -> bool {
    let parts = |package: &str| {
        let (name, version) = package.rsplit_once('@').unwrap_or((package, ""));
        (name.to_owned(), version.to_owned())
    };
    let is_exact = |version: &str| version.starts_with(|first: char| first.is_ascii_digit());
    let ((name, version), (other_name, other_version)) = (parts(one), parts(other));
    name == other_name && (version == other_version || !is_exact(&version) || !is_exact(&other_version))
}

/// An address in a message: its origin alone.
fn shown(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use url::Url;

    use super::{Place, is_same_origin, is_same_package};
    use crate::{Entry, Identity, Launch};

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let same = |one: &str, other: &str| is_same_origin(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(same("https://shop.example/mcp", "https://shop.example:443/other?x=1"));
        assert!(same("https://shop.example/mcp", "wss://SHOP.example/ws"));
        for other in [
            "http://shop.example/mcp",
            "https://shop.example:8443/mcp",
            "https://shop.example.evil.example/mcp",
            "https://shop.example@evil.example/mcp",
            "ftp://shop.example/mcp",
        ] {
            assert!(!same("https://shop.example/mcp", other), "{other}");
        }
        assert!(!same("mailto:a@b", "mailto:a@b"));
    }

    #[test]
    fn a_package_has_a_name_and_may_have_a_version() {
        let same = is_same_package;
        assert!(same("pkg:npm/shop@1.0.0", "pkg:npm/shop@1.0.0"));
        assert!(
            same("pkg:npm/%40a/shop@1.0.0", "pkg:npm/%40a/shop") && same("pkg:npm/shop@latest", "pkg:npm/shop@1.0.0")
        );
        for other in ["pkg:npm/shop@1.0.1", "pkg:npm/shop2@1.0.0", "pkg:pypi/shop@1.0.0", "pkg:npm/%40evil/shop@1.0.0"]
        {
            assert!(!same("pkg:npm/shop@1.0.0", other), "{other}");
        }
    }

    #[test]
    fn a_server_elsewhere_is_another_one() {
        let entry = |url: Option<&str>, package: Option<&str>, command: Option<&str>| Entry {
            identity: Identity {
                url: url.map(str::to_owned),
                package: package.map(str::to_owned),
                ..Identity::default()
            },
            launch: command.map(|word| Launch { command: vec![word.to_owned()], env: Vec::new() }),
            ..Entry::default()
        };
        let remote = Place::of(&json!({ "url": "https://shop.example/mcp" })).unwrap();
        let package = Place::of(&json!({ "package": "pkg:npm/shop@1.0.0" })).unwrap();
        let both = Place { package: package.package.clone(), ..remote.clone() };
        let (here, there) = (Some("https://shop.example/v2"), Some("https://evil.example/mcp"));
        let (shop, other) = (Some("pkg:npm/shop@1.0.0"), Some("pkg:npm/shop2@1.0.0"));
        for (place, entry, count) in [
            (&remote, entry(here, None, None), 0),
            (&remote, entry(there, None, None), 1),
            (&remote, entry(None, shop, Some("npx")), 1),
            (&remote, entry(None, None, None), 0),
            (&package, entry(None, shop, Some("npx")), 0),
            (&package, entry(None, other, Some("npx")), 1),
            (&package, entry(None, None, Some("node")), 1),
            (&package, entry(here, None, None), 1),
            (&package, entry(here, shop, None), 0),
            (&package, entry(None, None, None), 0),
            (&both, entry(here, None, None), 0),
            (&both, entry(there, None, None), 1),
            (&both, entry(None, shop, Some("npx")), 0),
            (&both, entry(None, None, Some("node")), 1),
            (&Place::default(), entry(there, None, None), 0),
        ] {
            assert_eq!(place.differences(&entry).len(), count, "{place:?} {entry:?}");
        }
        for wrong in
            [json!({ "url": "shop" }), json!({ "url": 1 }), json!({ "package": null }), json!({ "registry": [] })]
        {
            assert!(Place::of(&wrong).is_err(), "{wrong}");
        }
    }
}
