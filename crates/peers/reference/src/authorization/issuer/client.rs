//! The clients that an issuer knows, and those that say at an address who they are.

use std::time::Duration;

use oauth::redirect::is_same;
use oauth::{Reach, Secret, fetch, is_loopback};
use serde_json::Value;
use subtle::ConstantTimeEq as _;
use url::Url;

use super::Issuer;

/// How long a client's document may take to come.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest name that is kept.
pub(super) const NAME: usize = 200;
/// How many redirect addresses one client may have.
const MOST: usize = 16;

/// A client.
#[derive(Clone, Debug)]
pub(super) struct Registered {
    /// For people.
    pub(super) name: String,
    /// Where answers may go.
    pub(super) redirects: Vec<String>,
    /// Whether they may go anywhere on this machine.
    pub(super) lands_anywhere: bool,
    /// How it shows who it is.
    pub(super) authentication: Authentication,
    /// Whether it may come back without the user.
    pub(super) refreshes: bool,
    /// Whether it may act in its own name.
    pub(super) own_name: bool,
}

/// How a client shows who it is.
#[derive(Clone, Debug)]
pub(super) enum Authentication {
    /// It does not: a public client.
    None,
    /// By a password.
    Secret(Secret),
    /// By assertions that it signs.
    Key,
}

impl Registered {
    /// Whether who says that it is this client is. How long that takes tells nothing about how much was right.
    pub(super) fn is_proved_by(&self, password: Option<&str>) -> bool {
        match (&self.authentication, password) {
            (Authentication::None, None) => true,
            (Authentication::Secret(secret), Some(given)) => {
                bool::from(secret.reveal().as_bytes().ct_eq(given.as_bytes()))
            }
            _ => false,
        }
    }

    /// Whether answers may go to `redirect`: to an address that was registered, letter by letter, but for the port on
    /// loopback, which no program can choose beforehand (RFC 8252, 7.3).
    pub(super) fn lands_at(&self, redirect: &str) -> bool {
        let home = || Url::parse(redirect).is_ok_and(|url| url.scheme() == "http" && is_loopback(&url));
        let registered = self.redirects.iter().any(|own| is_same(own, redirect));
        registered || (self.lands_anywhere && home())
    }
}

/// The redirect addresses that a client wants; why they may not be used otherwise.
pub(super) fn redirects(document: &Value) -> Result<Vec<String>, &'static str> {
    let listed = document["redirect_uris"].as_array().ok_or("`redirect_uris` is missing")?;
    let texts: Option<Vec<String>> = listed.iter().map(|uri| uri.as_str().map(str::to_owned)).collect();
    let texts =
        texts.filter(|texts| (1..=MOST).contains(&texts.len())).ok_or("`redirect_uris` are 1 to 16 addresses")?;
    let fit = |text: &String| {
        Url::parse(text).is_ok_and(|url| {
            let safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
            safe && url.fragment().is_none() && url.username().is_empty() && url.password().is_none()
        })
    };
    if texts.iter().all(fit) { Ok(texts) } else { Err("a redirect address has https, or is on loopback") }
}

/// By which a client of one issuer is kept: the other does not know it.
pub(super) fn key(tenant: &str, id: &str) -> String {
    format!("{tenant} {id}")
}

impl Issuer {
    /// The client of that id; where the id is an address, the client that is described there.
    pub(super) async fn client(&self, tenant: &str, id: &str) -> Option<Registered> {
        if let Some(known) = self.known(tenant, id) {
            return Some(known);
        }
        let reach = if self.development.local_documents { Reach::Machine } else { Reach::Public };
        let permit = self.fetches.acquire().await.ok()?;
        let client = described(id, reach).await?;
        drop(permit);
        self.state().clients.put(key(tenant, id), client.clone());
        Some(client)
    }

    /// The client of that id, without asking anybody.
    pub(super) fn known(&self, tenant: &str, id: &str) -> Option<Registered> {
        let key = key(tenant, id);
        self.configured.get(&key).cloned().or_else(|| self.state().clients.find(&key))
    }
}

/// What a client says about itself at the address that is its id, unless that is farther than `reach` goes. The document must name that address itself.
async fn described(id: &str, reach: Reach) -> Option<Registered> {
    let url = Url::parse(id).ok().filter(|url| url.as_str() == id && url.path() != "/" && url.fragment().is_none())?;
    let document = fetch(&url, reach, PATIENCE).await.ok()?;
    let public = document.get("token_endpoint_auth_method").is_none_or(|method| method == "none");
    if document["client_id"] != id || document.get("client_secret").is_some() || !public {
        return None;
    }
    let name = document["client_name"].as_str()?.chars().take(NAME).collect();
    let refreshes = document["grant_types"].as_array().is_some_and(|all| all.iter().any(|one| one == "refresh_token"));
    let redirects = redirects(&document).ok()?;
    Some(Registered {
        name,
        redirects,
        lands_anywhere: false,
        authentication: Authentication::None,
        refreshes,
        own_name: false,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answers_go_only_where_they_were_registered_to_go() {
        let client = Registered {
            name: String::new(),
            redirects: ["https://app.example/cb", "http://127.0.0.1/cb", "http://[::1]:9/cb?x=1"]
                .map(str::to_owned)
                .into(),
            lands_anywhere: false,
            authentication: Authentication::None,
            refreshes: false,
            own_name: false,
        };
        for good in ["https://app.example/cb", "http://127.0.0.1/cb", "http://127.0.0.1:1234/cb", "http://[::1]/cb?x=1"]
        {
            assert!(client.lands_at(good), "{good}");
        }
        for bad in
            ["https://app.example/cb/", "https://app.example:8443/cb", "http://localhost/cb", "http://127.0.0.1/other"]
                .into_iter()
                .chain(["http://127.0.0.1@evil.example/cb", "http://127.0.0.1/cb?x=1", "", "https://evil.example/cb"])
                // The same place in other letters.
                .chain(["HTTP://127.0.0.1/cb", "http://127.1/cb", "http://127.0.0.1/./cb", "http://127.0.0.1/x/../cb"])
                .chain([
                    "http://127.0.0.1/%63b",
                    "http://127.0.0.1\\cb",
                    "http://me@127.0.0.1/cb",
                    "http://127.0.0.1/cb#",
                ])
                .chain(["http:127.0.0.1/cb", " http://127.0.0.1/cb", "http://127.0.0.1/\tcb", "https://APP.example/cb"])
                .chain([
                    "http://127.0.0.1:80@127.0.0.1/cb",
                    "http://[::1]:9/cb?x=2",
                    "http://[0:0:0:0:0:0:0:1]/cb?x=1",
                    "http://2130706433/cb",
                ])
        {
            assert!(!client.lands_at(bad), "{bad}");
        }
    }

    #[test]
    fn only_safe_addresses_can_be_registered() {
        for (uris, good) in [
            (json!(["http://localhost:1/cb", "https://app.example/"]), true),
            (json!([]), false),
            (json!("https://app.example/"), false),
            (json!(["http://app.example/"]), false),
            (json!(["javascript:alert(1)"]), false),
            (json!(["https://app.example/#x"]), false),
            (json!(["https://me:pw@app.example/"]), false),
            (json!([1]), false),
        ] {
            assert_eq!(redirects(&json!({ "redirect_uris": uris })).is_ok(), good, "{uris}");
        }
    }

    #[test]
    fn a_password_is_wanted_of_whom_it_was_given() {
        let client = |authentication| Registered {
            name: String::new(),
            redirects: Vec::new(),
            lands_anywhere: false,
            authentication,
            refreshes: false,
            own_name: false,
        };
        let secret = client(Authentication::Secret(Secret::new("s3cret")));
        assert!(secret.is_proved_by(Some("s3cret")));
        assert!(!secret.is_proved_by(Some("s3cre")) && !secret.is_proved_by(None));
        let public = client(Authentication::None);
        assert!(public.is_proved_by(None) && !public.is_proved_by(Some("")));
    }
}
