//! How a token is got from an authorization server: options as typed, and what they mean.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oauth::{Agent, Authorizer, Browser, Client, Grant, Options, Proof, Scopes, Secret};
use url::Url;
use wire::Revision;

use super::address::url;
use crate::advice::authorizing;
use crate::exit::{Exit, tell, usage};

/// How long a person may take in a browser.
const PATIENCE: Duration = Duration::from_mins(5);

/// Arguments of every verb that reaches a server which may want a token.
#[derive(Args)]
pub(crate) struct OAuthArgs {
    /// Get a token where the server demands one (docs/authorization.md)
    #[arg(long, global = true, value_enum, value_name = "WAY", num_args = 0..=1, require_equals = true,
          default_missing_value = "headless", conflicts_with = "bearer_env", help_heading = "Getting a token")]
    pub(crate) oauth: Option<Way>,
    /// The client's id, where it is registered already
    #[arg(long, global = true, value_name = "ID", requires = "oauth", help_heading = "Getting a token")]
    pub(crate) oauth_client_id: Option<String>,
    /// The variable with the client's password
    #[arg(long, global = true, value_name = "VAR", requires = "oauth_client_id", help_heading = "Getting a token")]
    pub(crate) oauth_client_secret_env: Option<String>,
    /// The address of the client's metadata document, which is its id then
    #[arg(
        long,
        global = true,
        value_name = "URL",
        value_parser = url,
        requires = "oauth",
        conflicts_with = "oauth_client_id",
        help_heading = "Getting a token"
    )]
    pub(crate) oauth_client_document: Option<Url>,
    /// The local port that a browser is sent back to [default: a free one]
    #[arg(long, global = true, value_name = "PORT", requires = "oauth", help_heading = "Getting a token")]
    pub(crate) oauth_port: Option<u16>,
    /// A file that keeps tokens for the next time; only you can read it
    #[arg(long, global = true, value_name = "FILE", requires = "oauth", help_heading = "Getting a token")]
    pub(crate) oauth_cache: Option<PathBuf>,
}

/// The way to a token.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Nobody need agree: redirects are followed by hand
    Headless,
    /// You agree in a browser, at an address that is printed
    Browser,
    /// In the client's own name (client credentials)
    Client,
}

impl OAuthArgs {
    /// The client's password, where the environment has one.
    pub(crate) fn password(&self) -> Option<String> {
        std::env::var(self.oauth_client_secret_env.as_ref()?).ok()
    }

    /// Who gets tokens for the server at `url`, if anybody is wanted to.
    pub(crate) fn authorizer(
        &self,
        url: &Url,
        revision: Option<Revision>,
        scopes: Scopes,
        ca: Option<PathBuf>,
    ) -> Result<Option<Authorizer>, Exit> {
        let Some(way) = self.oauth else { return Ok(None) };
        let usual = Options::new(revision);
        let (agent, grant) = match way {
            Way::Headless => (Agent::Headless, Grant::Code),
            Way::Browser => (Agent::Browser(browser(self.oauth_port)), Grant::Code),
            Way::Client => (Agent::Headless, Grant::ClientCredentials),
        };
        if way == Way::Client && self.oauth_client_id.is_none() {
            return Err(usage("--oauth=client wants a client", "--oauth-client-id ID --oauth-client-secret-env VAR"));
        }
        let (client, document) = (self.client()?, self.oauth_client_document.clone());
        let cache = self.oauth_cache.clone();
        let options = Options { client, document, agent, grant, scopes, cache, ca, ..usual };
        Authorizer::new(url.clone(), options).map(Some).map_err(|error| {
            tell(format_args!("error: {}", error.describe(authorizing)));
            Exit::Usage
        })
    }

    fn client(&self) -> Result<Option<Client>, Exit> {
        let Some(id) = &self.oauth_client_id else { return Ok(None) };
        let proof = match (&self.oauth_client_secret_env, self.password()) {
            (None, _) => Proof::None,
            (Some(_), Some(password)) => Proof::Secret(Secret::new(password)),
            (Some(variable), None) => {
                let what = format!("the environment has no variable {}", wire::escape::line(variable));
                return Err(usage(&what, "export it, then run again"));
            }
        };
        Ok(Some(Client::new(id, proof)))
    }
}

fn browser(port: Option<u16>) -> Browser {
    let tell = |url: &Url| tell(format_args!("visit this address and agree, within five minutes:\n  {url}"));
    Browser { tell: Arc::new(tell), patience: PATIENCE, port }
}
