//! Options of `proof serve` for access tokens.

use std::str::FromStr;

use clap::Args;
use oauth::Secret;
use reference::authorization::{Development, Keys, Source, Tokens};
use url::Url;

use crate::exit::{Exit, usage};

/// Which tokens `serve` requires.
#[derive(Args)]
pub(crate) struct AuthArgs {
    /// Require tokens: from a built-in development issuer (`dev`), or signed with
    /// the keys at `jwks:URL` or `jwks:FILE`
    #[arg(long, value_name = "dev|jwks:…", requires = "http", conflicts_with = "bearer_env")]
    pub(crate) auth: Option<Auth>,
    /// With jwks: required issuer (`iss`)
    #[arg(long, value_name = "URL", requires = "auth")]
    pub(crate) auth_issuer: Option<String>,
    /// With jwks: required audience [default: the server's own URL]
    #[arg(long, value_name = "ID", requires = "auth")]
    pub(crate) auth_audience: Option<String>,
    /// With jwks: required scope (repeatable)
    #[arg(long, value_name = "SCOPE", requires = "auth")]
    pub(crate) auth_scope: Vec<String>,
    /// With dev: variable with ID:PASSWORD of a client-credentials client
    #[arg(long, value_name = "VAR", requires = "auth")]
    pub(crate) auth_client_env: Option<String>,
    /// With dev: also fetch clients' metadata documents from this machine and
    /// from private networks
    #[arg(long, requires = "auth")]
    pub(crate) auth_local_documents: bool,
    /// With dev: allow an address other than loopback
    #[arg(long, requires = "auth")]
    pub(crate) auth_anywhere: bool,
}

/// The source of the tokens.
#[derive(Clone)]
pub(crate) enum Auth {
    /// The built-in development issuer.
    Development,
    /// An issuer with these keys.
    Keys(Source),
}

impl FromStr for Auth {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "dev" => Ok(Self::Development),
            Some(("jwks", place)) if !place.is_empty() => {
                let address = Url::parse(place).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
                Ok(Self::Keys(address.map_or_else(|| Source::File(place.into()), Source::Address)))
            }
            _ => Err("expected `dev`, `jwks:URL` or `jwks:FILE`"),
        }
    }
}

impl AuthArgs {
    /// The required tokens, if any. Reads the keys now: without them the server would refuse every token.
    pub(crate) async fn tokens(&self) -> Result<Option<Tokens>, Exit> {
        match &self.auth {
            None => Ok(None),
            Some(Auth::Development) => self.development().map(Some),
            Some(Auth::Keys(source)) => self.of_keys(source).await.map(Some),
        }
    }

    fn development(&self) -> Result<Tokens, Exit> {
        if self.auth_issuer.is_some() || self.auth_audience.is_some() || !self.auth_scope.is_empty() {
            return Err(usage(
                "--auth dev issues its own tokens",
                "remove --auth-issuer, --auth-audience and --auth-scope",
            ));
        }
        let client = self.auth_client_env.as_ref().map(|variable| client(variable)).transpose()?;
        let local_documents = self.auth_local_documents;
        Ok(Tokens::Ours(Development { client, local_documents, ..Development::default() }))
    }

    async fn of_keys(&self, source: &Source) -> Result<Tokens, Exit> {
        if self.auth_client_env.is_some() || self.auth_anywhere || self.auth_local_documents {
            let what = "--auth-client-env, --auth-anywhere and --auth-local-documents need --auth dev";
            return Err(usage(what, "remove them"));
        }
        let Some(issuer) = self.auth_issuer.clone() else {
            return Err(usage("--auth jwks needs the issuer of the tokens", "--auth-issuer URL"));
        };
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        if !self.auth_scope.iter().all(is_scope) {
            return Err(usage("invalid --auth-scope", "use visible ASCII characters without spaces"));
        }
        let keys = Keys::read(source.clone()).await.map_err(|why| {
            let place = match source {
                Source::File(path) => path.display().to_string(),
                Source::Address(url) => url.to_string(),
            };
            let what = format!("cannot read keys from {}: {}", wire::escape::line(&place), wire::escape::line(&why));
            usage(&what, "use a JSON Web Key Set (RFC 7517) with public keys")
        })?;
        let (audience, scopes) = (self.auth_audience.clone(), self.auth_scope.clone());
        Ok(Tokens::From { keys, issuer, audience, scopes })
    }
}

/// The client in an environment variable.
fn client(variable: &str) -> Result<(String, Secret), Exit> {
    let name = wire::escape::line(variable).into_owned();
    let Ok(text) = std::env::var(variable) else {
        return Err(usage(&format!("environment variable {name} is not set"), "export it, then run the command again"));
    };
    match text.split_once(':') {
        Some((id, password)) if !id.is_empty() && !password.is_empty() => Ok((id.to_owned(), Secret::new(password))),
        _ => Err(usage(&format!("the value of {name} is not ID:PASSWORD"), "export it as ID:PASSWORD")),
    }
}
