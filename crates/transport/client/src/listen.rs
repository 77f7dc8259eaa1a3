//! Listens to notifications without a request: by a subscription (modern era), or by a stream and one subscription for each
//! resource (legacy era). The observer gets them.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;
use wire::{Era, RequestId, Transport};

use super::ask::request_text;
use super::link::{Link, Outcome};
use super::{Client, ClientError, Params};

/// How long a stream may take to open, and how long one may last before it is opened again.
const OPENING: Duration = Duration::from_secs(30);
/// How long others wait for a stream to open. Some servers send the head with the first event only.
const OPENING_AWAITED: Duration = Duration::from_millis(500);
const LASTING: Duration = Duration::from_hours(24);
/// How often a stream that the server closed is opened again, and the pause before.
const REOPENED: usize = 1000;
const PAUSE: Duration = Duration::from_secs(1);

/// What to listen to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topics {
    /// The lists: of tools, prompts, resources.
    pub tools: bool,
    /// See above.
    pub prompts: bool,
    /// See above.
    pub resources: bool,
    /// The resources whose contents are watched.
    pub uris: Vec<String>,
}

/// A subscription, or a stream with subscriptions.
pub struct Listening {
    /// The topics that the server acknowledged; in the legacy era those that it declares.
    pub acknowledged: Value,
    id: Option<RequestId>,
    ended: watch::Receiver<Option<Result<(), ClientError>>>,
}

impl Listening {
    /// Waits for its end; `Ok` where the server ended it regularly.
    pub async fn ended(&mut self) -> Result<(), ClientError> {
        match self.ended.wait_for(Option::is_some).await {
            Ok(end) => end.clone().unwrap_or(Ok(())),
            Err(_) => Ok(()),
        }
    }
}

impl Client {
    /// Starts to listen. On `Ok` the server has acknowledged it.
    pub async fn listen(&self, topics: &Topics) -> Result<Listening, ClientError> {
        match self.revision().era() {
            Era::Modern => self.subscribe(topics).await,
            Era::Legacy => self.listen_as_legacy(topics).await,
        }
    }

    /// Stops listening, as the transport demands.
    pub async fn stop_listening(&self, listening: &Listening) {
        if let Some(id) = &listening.id {
            self.session().link.cancel_one(id, "no longer interested").await;
        }
    }

    async fn subscribe(&self, topics: &Topics) -> Result<Listening, ClientError> {
        let session = self.live().await?;
        let mut wanted = json!({});
        for (name, flag) in [
            ("toolsListChanged", topics.tools),
            ("promptsListChanged", topics.prompts),
            ("resourcesListChanged", topics.resources),
        ] {
            if flag {
                wanted[name] = json!(true);
            }
        }
        if !topics.uris.is_empty() {
            wanted["resourceSubscriptions"] = json!(topics.uris);
        }
        let number = self.0.ids.next();
        let id = RequestId::from(number);
        let params = Params::new().with("notifications", wanted);
        let text = request_text(number, "subscriptions/listen", &self.complete(&session, number, "", &params));
        let (acknowledged, mut seen) = watch::channel(None);
        session.link.state().subscriptions.insert(id.clone(), acknowledged);
        let (tell, ended) = watch::channel(None);
        let (link, key) = (session.link.clone(), id.clone());
        tokio::spawn(async move {
            let came = link.put(&key, "subscriptions/listen", text, LASTING).await;
            link.state().subscriptions.remove(&key);
            tell.send_replace(Some(end_of(came)));
        });
        let mut listening = Listening { acknowledged: Value::Null, id: Some(id), ended };
        tokio::select! {
            biased;
            // Cloned within: what the channel lends cannot move to another thread.
            acknowledged = async { seen.wait_for(Option::is_some).await.ok().and_then(|seen| seen.clone()) } => {
                if let Some(acknowledged) = acknowledged {
                    listening.acknowledged = acknowledged;
                    return Ok(listening);
                }
            }
            () = tokio::time::sleep(self.0.options.limits.request) => {
                self.stop_listening(&listening).await;
                let after = self.0.options.limits.request;
                return Err(ClientError::Timeout { method: "subscriptions/listen".to_owned(), after });
            }
        }
        // It ended before it was acknowledged.
        listening.ended().await?;
        Err(ClientError::invalid("subscriptions/listen", "it ended without an acknowledgement"))
    }

    async fn listen_as_legacy(&self, topics: &Topics) -> Result<Listening, ClientError> {
        let session = self.live().await?;
        let declared = session.greeting.capabilities().cloned().unwrap_or_default();
        for uri in &topics.uris {
            if declared.pointer("/resources/subscribe") != Some(&json!(true)) {
                let why = "the server does not declare that resources can be subscribed to";
                return Err(ClientError::not_sent(why, "watch its lists: leave the URI out"));
            }
            self.request("resources/subscribe", &Params::new().with("uri", uri.as_str())).await?;
        }
        let (tell, ended) = watch::channel(None);
        let link = session.link.clone();
        let (opened, answered) = oneshot::channel();
        tokio::spawn(async move {
            if link.transport() == Transport::StreamableHttp {
                listen_on_stream(&link, Some(opened)).await;
            } else {
                drop(opened);
            }
            while !link.connection().is_over() {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            tell.send_replace(Some(Ok(())));
        });
        let _ = tokio::time::timeout(OPENING_AWAITED, answered).await;
        let lists = |name: &str| declared.pointer(&format!("/{name}/listChanged")) == Some(&json!(true));
        let acknowledged = json!({
            "toolsListChanged": topics.tools && lists("tools"),
            "promptsListChanged": topics.prompts && lists("prompts"),
            "resourcesListChanged": topics.resources && lists("resources"),
            "resourceSubscriptions": topics.uris,
        });
        Ok(Listening { acknowledged, id: None, ended })
    }
}

fn end_of(came: Outcome) -> Result<(), ClientError> {
    match came {
        Outcome::Answer(answer) if answer.result().is_some() => Ok(()),
        Outcome::Answer(answer) => Err(super::ask::rpc("subscriptions/listen", &answer)),
        Outcome::Refused(refused) => match refused.error {
            Some(error) => Err(super::ask::rpc("subscriptions/listen", &error)),
            None => Err(refused.open_error.into()),
        },
        Outcome::TimedOut(_) => Err(ClientError::Cancelled),
        Outcome::Gone(error) => Err(error.into()),
        Outcome::Unauthorized(why) => Err(ClientError::Unauthorized { why }),
    }
}

/// Opens the stream on which a legacy server may send requests and notifications, and listens to it in the background.
/// Resolves when the server has answered: what a server sends before then, on account of a call that came first, may be lost.
pub(super) async fn open_stream(link: Link) -> AbortHandle {
    let (opened, answered) = oneshot::channel();
    let listening = tokio::spawn(async move { listen_on_stream(&link, Some(opened)).await }).abort_handle();
    // An error says that listening is over, which is no reason to wait either.
    let _ = tokio::time::timeout(OPENING_AWAITED, answered).await;
    listening
}

/// Listens on that stream, and resumes it where the server closes it. A server without such a stream refuses it, which is
/// allowed. `opened` hears of the first response.
async fn listen_on_stream(link: &Link, mut opened: Option<oneshot::Sender<()>>) {
    for _ in 0..REOPENED {
        let Ok(stream) = link.open_stream(None).await else { return };
        if stream.head(OPENING).await.is_none() || !stream.is_stream() || stream.status() != Some(200) {
            return;
        }
        if let Some(opened) = opened.take() {
            // Nobody waits any more: the head came late.
            let _ = opened.send(());
        }
        stream.finished(LASTING).await;
        link.resume(stream, LASTING, REOPENED).await;
        if link.connection().is_over() {
            return;
        }
        tokio::time::sleep(PAUSE).await;
    }
}
