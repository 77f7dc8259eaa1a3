//! One request of a call, with its repetitions.

use net::server::http::{Bytes, HeaderMap, Method};
use oauth::Secret;
use openapi::request::{self, Request};
use serde_json::{Map, Value};
use tokio::time::{Instant, sleep};
use url::Url;

use super::Failed;
use crate::auth::{Additions, Missing};
use crate::caller::Caller;
use crate::operation::Callable;
use crate::retrying;
use crate::sending::{Bound, Incoming, Outgoing, Unanswered, header, is_below};

/// What the answer may be, in the order of preference.
const ACCEPT: &str = "application/json, application/*+json;q=0.9, */*;q=0.5";

/// How long an address may be: longer ones are read by few servers (RFC 9110, section 4.1, asks for 8,000).
const LONGEST: usize = 16_000;

impl Callable {
    /// Sends the request that `arguments` make, again where that does no harm and there is time; its answer holds no credentials.
    pub(super) async fn one(
        &self,
        caller: &Caller,
        arguments: &Map<String, Value>,
        bound: Bound,
        deadline: Instant,
    ) -> Result<Incoming, Failed> {
        let inner = &self.factory.0;
        let mut request = request::build(&self.operation, arguments, self.base.as_str()).map_err(Failed::Request)?;
        let may_repeat = self.mark(&mut request);
        // Shared by all repetitions.
        let body: Bytes = request.body.as_mut().map(|body| std::mem::take(&mut body.bytes)).unwrap_or_default().into();
        let mut refused: Option<Secret> = None;
        let mut attempt = 1;
        loop {
            let (outgoing, mut additions) = self.authorized((&request, &body), caller, refused.as_ref()).await?;
            let result = inner.sender.exchange(outgoing, &self.base, bound).await;
            if result.is_ok() {
                inner.budget.earn();
            }
            // A token may have been revoked: another one is fetched, once.
            let is_renewable = self.credentials.iter().any(|credential| credential.is_renewable());
            if refused.is_none() && is_renewable && result.as_ref().is_ok_and(|answer| answer.status == 401) {
                refused = additions.take_authorization();
                continue;
            }
            let pause = retrying::pause(&result, attempt, oauth::now()).filter(|_| may_repeat);
            let pause =
                pause.filter(|pause| attempt < inner.config.retries.attempts && Instant::now() + *pause < deadline);
            match pause {
                Some(pause) if inner.budget.take() => sleep(pause).await,
                _ => {
                    let answer = result.map_err(Failed::Unanswered)?;
                    return self.concealed(answer, &additions).map_err(Failed::Unanswered);
                }
            }
            attempt += 1;
        }
    }

    /// Whether the request may be sent again: by its method, or because the API recognizes it by a key.
    fn mark(&self, request: &mut Request) -> bool {
        if self.operation.method.is_idempotent() {
            return true;
        }
        let Some(name) = &self.factory.0.config.retries.idempotency_header else { return false };
        if !request.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            request.headers.push((name.clone(), oauth::random()));
        }
        true
    }

    /// The request with the credentials of the caller, and these.
    async fn authorized(
        &self,
        (request, body): (&Request, &Bytes),
        caller: &Caller,
        refused: Option<&Secret>,
    ) -> Result<(Outgoing, Additions), Failed> {
        let mut additions = Additions::default();
        for credential in &self.credentials {
            credential.add(&mut additions, caller, refused).await?;
        }
        let outgoing = self.outgoing(request, body.clone(), &additions).map_err(Failed::Credentials)?;
        let length = outgoing.url.as_str().len();
        if length > LONGEST {
            return Err(Failed::TooLong(length));
        }
        Ok((outgoing, additions))
    }

    fn outgoing(&self, request: &Request, body: Bytes, additions: &Additions) -> Result<Outgoing, String> {
        let mut url = Url::parse(&request.url).map_err(|_| "the path makes no URL".to_owned())?;
        // The builder keeps values in their places; this holds even if it did not.
        if !is_below(&url, &self.base) {
            return Err("the path leads out of the API".to_owned());
        }
        if !additions.query.is_empty() {
            let own = url.query().map(str::to_owned).filter(|query| !query.is_empty());
            let pairs: Vec<_> =
                own.into_iter().chain(additions.query.iter().map(|pair| pair.reveal().to_owned())).collect();
            url.set_query(Some(&pairs.join("&")));
        }
        let unsendable = |name: &str| format!("HTTP cannot carry the header {}", wire::escape::line(name));
        let mut headers = HeaderMap::new();
        let mut put = |name: &str, value: &str| {
            let (name, value) = header(name, value).ok_or_else(|| unsendable(name))?;
            headers.insert(name, value);
            Ok::<_, String>(())
        };
        put("accept", ACCEPT)?;
        let mut cookies: Vec<_> = additions.cookies.iter().map(|pair| pair.reveal().to_owned()).collect();
        for (name, value) in &request.headers {
            if name.eq_ignore_ascii_case("cookie") {
                cookies.push(value.clone());
            } else {
                put(name, value)?;
            }
        }
        if !cookies.is_empty() {
            put("cookie", &cookies.join("; "))?;
        }
        if let Some(body) = &request.body {
            put("content-type", &body.media)?;
        }
        // Last: no argument takes their place.
        for (name, value) in &additions.headers {
            put(name, value.reveal())?;
        }
        let method =
            Method::from_bytes(request.method.as_str().as_bytes()).map_err(|_| "an unknown method".to_owned())?;
        Ok(Outgoing { method, url, headers, body })
    }

    /// The answer without credentials: neither those of the configuration nor those of the caller. One that is cut also loses
    /// what may be the beginning of one.
    fn concealed(&self, mut answer: Incoming, additions: &Additions) -> Result<Incoming, Unanswered> {
        let own = additions.concealers.iter().map(|concealer| &**concealer);
        let mut longest = 0;
        for concealer in own.chain([&*self.factory.0.concealer]) {
            for (_, value) in &mut answer.headers {
                *value = concealer.text(value);
            }
            answer.body = concealer.json(answer.body);
            longest = longest.max(concealer.longest());
        }
        if answer.is_cut {
            let read = answer.body.len();
            answer.body.truncate(read.saturating_sub(longest));
            if answer.body.is_empty() && (200..300).contains(&answer.status) {
                return Err(Unanswered::TooLong(read));
            }
        }
        Ok(answer)
    }
}

impl Additions {
    /// The header `Authorization`.
    fn take_authorization(&mut self) -> Option<Secret> {
        let at = self.headers.iter().position(|(name, _)| name == "authorization")?;
        Some(self.headers.swap_remove(at).1)
    }
}

impl From<Missing> for Failed {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Consent(url) => Self::Consent(url),
            Missing::Because(why) => Self::Credentials(why),
        }
    }
}

impl Unanswered {
    /// Why, as a clause.
    pub(crate) fn why(&self) -> String {
        match self {
            Self::NotSent(why) => format!("not reached: {}", first_line(why)),
            Self::Unknown(why) => format!("no whole answer: {}", first_line(why)),
            Self::Forbidden(why) => format!("not allowed: {}", first_line(why)),
            Self::TooLong(limit) => format!("the answer is longer than {limit} bytes"),
            Self::Unreadable(why) => format!("the answer cannot be used: {}", first_line(why)),
        }
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
