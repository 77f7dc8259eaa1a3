//! Which tokens `serve` demands: options as typed, and what they mean.

use std::str::FromStr;

use clap::Args;
use oauth::Secret;
use reference::authorization::{Development, Keys, Source, Tokens};
use url::Url;

use crate::exit::{Exit, usage};

/// Arguments of `serve` about tokens.
#[derive(Args)]
pub(crate) struct AuthArgs {
    /// Demand tokens: `dev` hands them out itself (for development only),
    /// `jwks:URL` and `jwks:FILE` name the keys of who issues them
    #[arg(long, value_name = "dev|jwks:…", requires = "http", conflicts_with = "bearer_env")]
    pub(crate) auth: Option<Auth>,
    /// With jwks: who issues the tokens, exactly as they have it in `iss`
    #[arg(long, value_name = "URL", requires = "auth")]
    pub(crate) auth_issuer: Option<String>,
    /// With jwks: what tokens must be for [default: the address that is asked]
    #[arg(long, value_name = "ID", requires = "auth")]
    pub(crate) auth_audience: Option<String>,
    /// With jwks: a scope that every token must have (again for more)
    #[arg(long, value_name = "SCOPE", requires = "auth")]
    pub(crate) auth_scope: Vec<String>,
    /// With dev: the variable with ID:PASSWORD of a client that may act in its
    /// own name
    #[arg(long, value_name = "VAR", requires = "auth")]
    pub(crate) auth_client_env: Option<String>,
    /// With dev: listen beyond this machine all the same
    #[arg(long, requires = "auth")]
    pub(crate) auth_anywhere: bool,
}

/// Who issues the tokens.
#[derive(Clone)]
pub(crate) enum Auth {
    /// We do.
    Development,
    /// Whose keys these are.
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
            _ => Err("it is `dev`, `jwks:URL` or `jwks:FILE`"),
        }
    }
}

impl AuthArgs {
    /// The tokens that are demanded, if any are. Keys are read now: a server that takes no token is of no use.
    pub(crate) async fn tokens(&self) -> Result<Option<Tokens>, Exit> {
        match &self.auth {
            None => Ok(None),
            Some(Auth::Development) => self.development().map(Some),
            Some(Auth::Keys(source)) => self.of_keys(source).await.map(Some),
        }
    }

    fn development(&self) -> Result<Tokens, Exit> {
        if self.auth_issuer.is_some() || self.auth_audience.is_some() || !self.auth_scope.is_empty() {
            return Err(usage("--auth dev issues its own tokens", "leave --auth-issuer, -audience and -scope away"));
        }
        let client = self.auth_client_env.as_ref().map(|variable| client(variable)).transpose()?;
        Ok(Tokens::Ours(Development { client, ..Development::default() }))
    }

    async fn of_keys(&self, source: &Source) -> Result<Tokens, Exit> {
        if self.auth_client_env.is_some() || self.auth_anywhere {
            return Err(usage("--auth-client-env and --auth-anywhere are for --auth dev", "leave them away"));
        }
        let Some(issuer) = self.auth_issuer.clone() else {
            return Err(usage("nobody is named whose tokens are taken", "--auth-issuer URL"));
        };
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        if !self.auth_scope.iter().all(is_scope) {
            return Err(usage("what --auth-scope names is no scope", "visible ASCII characters without a space"));
        }
        let keys = Keys::read(source.clone()).await.map_err(|why| {
            let place = match source {
                Source::File(path) => path.display().to_string(),
                Source::Address(url) => url.to_string(),
            };
            let what = format!("no keys at {}: {}", wire::escape::line(&place), wire::escape::line(&why));
            usage(&what, "a JSON Web Key Set (RFC 7517) with public keys")
        })?;
        let (audience, scopes) = (self.auth_audience.clone(), self.auth_scope.clone());
        Ok(Tokens::From { keys, issuer, audience, scopes })
    }
}

/// The client in a variable.
fn client(variable: &str) -> Result<(String, Secret), Exit> {
    let name = wire::escape::line(variable).into_owned();
    let Ok(text) = std::env::var(variable) else {
        return Err(usage(&format!("the environment has no variable {name}"), "export it, then run again"));
    };
    match text.split_once(':') {
        Some((id, password)) if !id.is_empty() && !password.is_empty() => Ok((id.to_owned(), Secret::new(password))),
        _ => Err(usage(&format!("what {name} holds is no client"), "ID:PASSWORD")),
    }
}
