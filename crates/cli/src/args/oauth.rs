//! Options for getting a token from an authorization server.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use oauth::{
    Agent, Authorizer, Browser, Client, Credential, Grant, IssuerQuestion, IssuerTrust, Options, Scopes, Secret,
    SecretListener,
};
use url::Url;
use wire::Revision;

use super::address::url;
use crate::advice::authorizing;
use crate::exit::{self, Exit, tell, usage};

/// The timeout of an authorization in a browser.
const BROWSER_TIMEOUT: Duration = Duration::from_mins(5);

/// OAuth options of every verb that connects to a server.
#[derive(Clone, Args)]
pub(crate) struct OAuthArgs {
    /// Get a token if the server requires one (proof help oauth)
    #[arg(long, global = true, value_enum, value_name = "WAY", num_args = 0..=1, require_equals = true,
          default_missing_value = "headless", conflicts_with = "bearer_env", help_heading = "Authorization")]
    pub(crate) oauth: Option<Way>,
    /// The only authorization server to use; it alone gets the client's secret
    #[arg(long, global = true, value_name = "URL", value_parser = issuer, requires = "oauth",
          help_heading = "Authorization")]
    pub(crate) oauth_issuer: Option<String>,
    /// Id of a registered client
    #[arg(long, global = true, value_name = "ID", requires = "oauth", help_heading = "Authorization")]
    pub(crate) oauth_client_id: Option<String>,
    /// Environment variable with the client's secret
    #[arg(long, global = true, value_name = "VAR", requires = "oauth_client_id", help_heading = "Authorization")]
    pub(crate) oauth_client_secret_env: Option<String>,
    /// URL of a client metadata document, used as the client's id
    #[arg(
        long,
        global = true,
        value_name = "URL",
        value_parser = url,
        requires = "oauth",
        conflicts_with = "oauth_client_id",
        help_heading = "Authorization"
    )]
    pub(crate) oauth_client_document: Option<Url>,
    /// Local port of the browser's redirect [default: a free port]
    #[arg(long, global = true, value_name = "PORT", requires = "oauth", help_heading = "Authorization")]
    pub(crate) oauth_port: Option<u16>,
    /// Cache tokens in FILE, readable only by you
    #[arg(long, global = true, value_name = "FILE", requires = "oauth", help_heading = "Authorization")]
    pub(crate) oauth_cache: Option<PathBuf>,
}

/// How to get a token.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Way {
    /// Follow the redirects without a browser
    Headless,
    /// Authorize in a browser, at a printed URL
    Browser,
    /// Use the client's own credentials
    Client,
}

impl OAuthArgs {
    /// The client's secret, if the environment has it.
    pub(crate) fn password(&self) -> Option<String> {
        std::env::var(self.oauth_client_secret_env.as_ref()?).ok()
    }

    /// The authorizer for the server at `url`, if `--oauth` is given.
    pub(crate) fn authorizer(
        &self,
        url: &Url,
        revision: Option<Revision>,
        scopes: Scopes,
        ca: Option<PathBuf>,
    ) -> Result<Option<Authorizer>, Exit> {
        let Some(way) = self.oauth else { return Ok(None) };
        let usual = Options { secrets: SecretListener::new(exit::learn), ..Options::new(revision) };
        let (agent, grant) = match way {
            Way::Headless => (Agent::Headless, Grant::Code),
            Way::Browser => (Agent::Browser(browser(self.oauth_port)), Grant::Code),
            Way::Client => (Agent::Headless, Grant::ClientCredentials),
        };
        if way == Way::Client && self.oauth_client_id.is_none() {
            return Err(usage(
                "--oauth=client needs a client id",
                "--oauth-client-id ID --oauth-client-secret-env VAR",
            ));
        }
        let (client, document) = (self.client()?, self.oauth_client_document.clone());
        let cache = self.oauth_cache.clone();
        let (issuer, trust) = (self.oauth_issuer.clone(), trust());
        let options = Options { issuer, trust, client, document, agent, grant, scopes, cache, ca, ..usual };
        Authorizer::new(url.clone(), options).map(Some).map_err(|error| {
            tell(format_args!("error: {}", error.describe(authorizing)));
            Exit::Usage
        })
    }

    /// What guided authorization on a page begins with: a person consents, and nothing is stored.
    pub(crate) fn guided(&self, revision: Option<Revision>, ca: Option<PathBuf>) -> Result<Options, Exit> {
        let (client, document, issuer) =
            (self.client()?, self.oauth_client_document.clone(), self.oauth_issuer.clone());
        let (agent, secrets) = (Agent::Browser(browser(self.oauth_port)), SecretListener::new(exit::learn));
        Ok(Options { issuer, client, document, agent, ca, secrets, ..Options::new(revision) })
    }

    fn client(&self) -> Result<Option<Client>, Exit> {
        let Some(id) = &self.oauth_client_id else { return Ok(None) };
        let credential = match (&self.oauth_client_secret_env, self.password()) {
            (None, _) => Credential::None,
            (Some(_), Some(password)) => Credential::Secret(Secret::new(password)),
            (Some(variable), None) => {
                let what = format!("environment variable {} is not set", wire::escape::line(variable));
                return Err(usage(&what, "export it, then run the command again"));
            }
        };
        Ok(Some(Client::new(id, credential)))
    }
}

/// An issuer's name, kept letter by letter: that is how issuers are compared.
fn issuer(text: &str) -> Result<String, &'static str> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    url.map(|_| text.to_owned()).ok_or("use the issuer's URL, such as https://as.example")
}

/// Asks about an issuer that the user did not name, where a person can answer.
fn trust() -> IssuerTrust {
    if std::io::stdin().is_terminal() && std::io::stderr().is_terminal() {
        IssuerTrust::Ask(Arc::new(|question| Box::pin(agrees(question))))
    } else {
        IssuerTrust::Named
    }
}

async fn agrees(question: IssuerQuestion) -> bool {
    let IssuerQuestion { server, issuer, client } = question;
    tell(format_args!(
        "{server} names this authorization server:\n  {issuer}\n\
         give it the credentials of client {client}? Type `yes` to agree:"
    ));
    let (answer, answered) = tokio::sync::oneshot::channel();
    // A thread of its own: nothing waits for it where the program ends first.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = std::io::stdin().read_line(&mut line).is_ok();
        answer.send(read && line.trim().eq_ignore_ascii_case("yes"))
    });
    answered.await.unwrap_or(false)
}

fn browser(port: Option<u16>) -> Browser {
    let show_url = |url: &Url| tell(format_args!("open this URL and authorize access within 5 minutes:\n  {url}"));
    Browser { show_url: Arc::new(show_url), timeout: BROWSER_TIMEOUT, port }
}
