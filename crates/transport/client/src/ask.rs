//! One request with its retries: with other credentials, in another session, at another version, with other headers; each
//! under a new id, and a bounded number of times.

use net::client::negotiation::{newest, supported_versions};
use net::client::{Address, OpenError, Refusal};
use net::service::code::{HEADER_MISMATCH, UNSUPPORTED_VERSION};
use serde_json::Value;
use wire::{Era, Kind, Message, RequestId, Transport, meta};

use super::link::{ClientEvent, Outcome, Rejection};
use super::open::{Session, modern_meta};
use super::{BoxFuture, Client, ClientError, Params};

/// How often a request may be sent in total.
const ATTEMPTS: usize = 6;
/// How often credentials are requested for one request.
const AUTHORIZED: usize = 3;

/// The retries of one request.
#[derive(Default)]
struct Retries {
    credentials: usize,
    session: bool,
    version: bool,
    headers: bool,
}

impl Client {
    /// Sends one request and returns its first result, also one that asks for input: for probes that answer on purpose.
    pub fn request_once<'a>(
        &'a self,
        method: &'a str,
        params: &'a Params,
    ) -> BoxFuture<'a, Result<Message, ClientError>> {
        Box::pin(self.once(method, params))
    }

    /// Sends one request and returns its result, even an incomplete one.
    pub(super) async fn once(&self, method: &str, params: &Params) -> Result<Message, ClientError> {
        let mut retries = Retries::default();
        for _ in 0..ATTEMPTS {
            let session = self.live().await?;
            let id = self.0.ids.next();
            let text = request_text(id, method, &self.complete(&session, id, method, params));
            let patience = self.0.options.limits.request;
            match session.link.put(&RequestId::from(id), method, text, patience).await {
                Outcome::Answer(answer) if answer.kind() == Kind::Result => return Ok(answer),
                Outcome::Answer(answer) => self.retry_after_error(&session, method, &answer, &mut retries).await?,
                Outcome::Refused(refused) => self.retry_after_refusal(&session, method, *refused, &mut retries).await?,
                Outcome::TimedOut(after) => return Err(ClientError::Timeout { method: method.to_owned(), after }),
                Outcome::Gone(error) => return Err(error.into()),
                Outcome::Unauthorized(why) => return Err(ClientError::Unauthorized { why }),
            }
        }
        Err(ClientError::invalid(method, "the server refuses it repeatedly"))
    }

    /// The parameters with the members that this era requires.
    pub(super) fn complete(&self, session: &Session, id: i64, method: &str, params: &Params) -> Params {
        let options = &self.0.options;
        let mut params = params.clone();
        if options.progress && method == "tools/call" {
            params = params.with_meta("progressToken", id);
        }
        for (name, value) in &options.meta {
            params = params.with_meta(name, value.clone());
        }
        if session.greeting.revision.era() == Era::Legacy {
            return params;
        }
        if let Some(level) = &options.log_level {
            params = params.with_meta(meta::LOG_LEVEL, level.as_str());
        }
        modern_meta(params, session.greeting.revision, options)
    }

    /// Fixes the cause of an error response, so that the request can be retried; or returns the error.
    async fn retry_after_error(
        &self,
        session: &std::sync::Arc<Session>,
        method: &str,
        answer: &Message,
        retries: &mut Retries,
    ) -> Result<(), ClientError> {
        let error = rpc(method, answer);
        let modern = session.greeting.revision.era() == Era::Modern;
        match answer.error_code() {
            Some(UNSUPPORTED_VERSION) if modern && !std::mem::replace(&mut retries.version, true) => {
                let offered = supported_versions(answer);
                if newest(&offered, Era::Modern).is_some() {
                    return Ok(());
                }
                match newest(&offered, Era::Legacy) {
                    Some(version) => self.reopen(session, Some(version)).await.map(drop),
                    None => Err(OpenError::NoCommonRevision { at: session.link.at(), offered }.into()),
                }
            }
            Some(HEADER_MISMATCH)
                if modern && method == "tools/call" && !std::mem::replace(&mut retries.headers, true) =>
            {
                self.0.cache.forget("tools/list");
                // The connection reads the new input schemas from the list.
                Box::pin(self.tools()).await.map(drop).map_err(|_| error)
            }
            _ => Err(error),
        }
    }

    /// Fixes the cause of an HTTP refusal, so that the request can be retried; or returns it as an error.
    async fn retry_after_refusal(
        &self,
        session: &std::sync::Arc<Session>,
        method: &str,
        refused: Rejection,
        retries: &mut Retries,
    ) -> Result<(), ClientError> {
        let Rejection { status, headers, error, open_error, .. } = refused;
        if let (401 | 403, Some(authorizer), Address::Http(http) | Address::Sse(http)) =
            (status, &self.0.options.authorizer, &session.address)
        {
            let refusal = Refusal { url: http.url.clone(), status, headers, before: retries.credentials };
            retries.credentials += 1;
            if retries.credentials > AUTHORIZED {
                return Err(ClientError::Unauthorized { why: "the server refuses all credentials".to_owned() });
            }
            self.0.cache.clear();
            return authorizer.refused(&refusal).await.map_err(|why| ClientError::Unauthorized { why });
        }
        let in_session = session.link.connection().session_id().is_some();
        if status == 404 && in_session && !std::mem::replace(&mut retries.session, true) {
            session
                .link
                .note(ClientEvent::Warning("the server has ended the session; another one is begun".to_owned()));
            return self.reopen(session, None).await.map(drop);
        }
        Err(error.map_or_else(|| open_error.into(), |error| rpc(method, &error)))
    }

    /// Whether arguments of tools are mirrored into headers.
    pub(super) fn mirrors_parameters(&self) -> bool {
        self.transport() == Transport::StreamableHttp && self.revision().era() == Era::Modern
    }
}

/// The text of a request.
pub(super) fn request_text(id: i64, method: &str, params: &Params) -> String {
    let method = Value::from(method);
    let params = if params.is_empty() { String::new() } else { format!(",\"params\":{}", params.to_json()) };
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}{params}}}")
}

/// An error response.
pub(super) fn rpc(method: &str, answer: &Message) -> ClientError {
    let error = answer.error().cloned().unwrap_or_default();
    ClientError::Rpc {
        method: method.to_owned(),
        code: answer.error_code().unwrap_or_default(),
        message: error["message"].as_str().unwrap_or_default().to_owned(),
        data: error.get("data").cloned().map(Box::new),
    }
}
