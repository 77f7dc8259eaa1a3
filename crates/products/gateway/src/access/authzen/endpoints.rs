//! The endpoints of a policy decision point: found, asked, their answers read. Knows no item and no client.

use bytes::Bytes;
use net::server::http::{HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::{Failure, HttpUpstream};
use net::{HttpAddress, OpenError};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::OnceCell;
use url::Url;

use super::error::DecisionError;
use super::object::Object;
use crate::settings::AuthzenSettings;

/// Where the metadata is, before the path of the identifier (section 9.2).
const WELL_KNOWN: &str = "/.well-known/authzen-configuration";
/// The endpoints of a decision point whose metadata does not say more (section 10.1).
const PATHS: [&str; 2] = ["/access/v1/evaluation", "/access/v1/evaluations"];

/// A decision about one item.
#[derive(Deserialize)]
struct Decision {
    decision: bool,
}

#[derive(Deserialize)]
struct Decisions {
    evaluations: Vec<Object<Decision>>,
}

#[derive(Deserialize)]
struct Metadata {
    policy_decision_point: String,
    access_evaluation_endpoint: String,
    access_evaluations_endpoint: Option<String>,
}

/// Where decisions come from: about one item, and about several.
#[derive(Debug)]
struct Found {
    one: HttpUpstream,
    several: Option<HttpUpstream>,
}

/// The endpoints of a decision point.
#[derive(Debug)]
pub(super) struct Endpoints {
    settings: AuthzenSettings,
    metadata: Option<HttpUpstream>,
    found: OnceCell<Found>,
}

impl Endpoints {
    /// Connects nothing.
    pub(super) fn new(settings: &AuthzenSettings) -> Result<Self, OpenError> {
        let open = |url| HttpUpstream::new(&HttpAddress { url, ..settings.address.clone() }, settings.timeout);
        let (metadata, found) = if settings.discover {
            (Some(open(well_known(&settings.address.url))?), OnceCell::new())
        } else {
            let [one, several] = PATHS.map(|path| below(&settings.address.url, path));
            (None, OnceCell::new_with(Some(Found { one: open(one)?, several: Some(open(several)?) })))
        };
        Ok(Self { settings: settings.clone(), metadata, found })
    }

    /// The decision about one item.
    pub(super) async fn one(&self, question: &Value) -> Result<bool, DecisionError> {
        let answer = self.posted(&self.found().await?.one, question).await?;
        let Object(Decision { decision }) = serde_json::from_slice(&answer)
            .map_err(|_| DecisionError::Invalid("it has no `decision` that is true or false"))?;
        Ok(decision)
    }

    /// The decisions about `count` items, in their order.
    pub(super) async fn several(&self, question: &Value, count: usize) -> Result<Vec<bool>, DecisionError> {
        let several = self.found().await?.several.as_ref();
        let several =
            several.ok_or(DecisionError::Metadata("it has no `access_evaluations_endpoint`, which lists need"))?;
        let answer = self.posted(several, question).await?;
        let Object(Decisions { evaluations }) = serde_json::from_slice(&answer)
            .map_err(|_| DecisionError::Invalid("it has no `evaluations` whose `decision` is true or false"))?;
        if evaluations.len() != count {
            return Err(DecisionError::Invalid("it has more or fewer decisions than were asked for"));
        }
        Ok(evaluations.into_iter().map(|Object(one)| one.decision).collect())
    }

    async fn posted(&self, endpoint: &HttpUpstream, question: &Value) -> Result<Vec<u8>, DecisionError> {
        self.answer(endpoint, Method::POST, question.to_string().into()).await
    }

    /// The body of an answer. A redirect is not followed: nobody said that its target decides.
    async fn answer(&self, endpoint: &HttpUpstream, method: Method, body: Bytes) -> Result<Vec<u8>, DecisionError> {
        let json = HeaderValue::from_static("application/json");
        let names = ["accept", "content-type"].into_iter().take(if body.is_empty() { 1 } else { 2 });
        let headers = names.map(|name| (HeaderName::from_static(name), json.clone()));
        let headers: HeaderMap = headers.collect();
        let mut response = match endpoint.send(method.clone(), headers.clone(), body.clone()).await {
            // It may have closed a connection that was idle. A question changes nothing, and may be asked twice.
            Err(Failure::Unknown(_)) => endpoint.send(method, headers, body).await?,
            sent => sent?,
        };
        if response.status.as_u16() != 200 {
            return Err(DecisionError::Status(response.status.as_u16()));
        }
        Ok(response.whole(self.settings.answer_bytes).await?)
    }

    /// The endpoints; by the metadata, where that is asked for. Metadata that cannot be used is read again the next time.
    async fn found(&self) -> Result<&Found, DecisionError> {
        let Some(metadata) = &self.metadata else {
            return self.found.get().ok_or(DecisionError::Metadata("it was not read"));
        };
        let read = || async {
            let text = self.answer(metadata, Method::GET, Bytes::new()).await?;
            let Object(metadata) = serde_json::from_slice(&text)
                .map_err(|_| DecisionError::Metadata("a member is missing or has another type"))?;
            self.named_by(&metadata)
        };
        self.found.get_or_try_init(read).await
    }

    /// The endpoints that metadata names. They get our credentials: they must be at the origin that the configuration names.
    fn named_by(&self, metadata: &Metadata) -> Result<Found, DecisionError> {
        let base = &self.settings.address.url;
        if metadata.policy_decision_point.trim_end_matches('/') != base.as_str().trim_end_matches('/') {
            return Err(DecisionError::Metadata("`policy_decision_point` is not the `url` of the configuration"));
        }
        let open = |text: &str| {
            let url = Url::parse(text).ok().filter(|url| url.origin() == base.origin());
            let url = url.ok_or(DecisionError::Metadata("an endpoint is not at the origin of `url`"))?;
            let address = HttpAddress { url, ..self.settings.address.clone() };
            HttpUpstream::new(&address, self.settings.timeout)
                .map_err(|_| DecisionError::Metadata("an endpoint is invalid"))
        };
        let several = metadata.access_evaluations_endpoint.as_deref().map(open).transpose()?;
        Ok(Found { one: open(&metadata.access_evaluation_endpoint)?, several })
    }
}

fn below(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

fn well_known(base: &Url) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{WELL_KNOWN}{}", base.path().trim_end_matches('/')));
    url
}
