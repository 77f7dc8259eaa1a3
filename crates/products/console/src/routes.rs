//! From a request to what answers it. What is refused before anything is read: foreign hosts and origins, and requests for the
//! API without the token.

use std::sync::Arc;

use net::server::http::{Body as ResponseBody, HttpFuture, Layer, Method, Next, Request, Response, StatusCode};

use crate::body::{Body, Parameters};
use crate::failure::Failure;
use crate::token::is_own_origin;
use crate::{Console, assets, feed, reading, reply};

/// The layer that answers every request.
#[derive(Debug)]
pub(crate) struct Pages(pub(crate) Arc<Console>);

impl Layer for Pages {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            match self.0.answer(request, next).await {
                Ok(response) => response,
                Err(failure) => reply::failed(&failure, self.0.hub.redactor()),
            }
        })
    }
}

impl Console {
    async fn answer(self: &Arc<Self>, request: Request, next: Next<'_>) -> Result<Response, Failure> {
        if next.distrust(&request).is_some() || !is_own_origin(request.headers()) {
            let what = "`Host` or `Origin` is not this page's own";
            return Err(Failure::new(StatusCode::FORBIDDEN, what, "open the address that proof inspect printed"));
        }
        let path = request.uri().path().to_owned();
        let Some(route) = path.strip_prefix("/api/") else { return file(&path, &request) };
        if !self.token.admits(request.headers()) {
            let what = "the token of this launch is missing or wrong";
            return Err(Failure::new(StatusCode::UNAUTHORIZED, what, "open the address that proof inspect printed"));
        }
        match *request.method() {
            Method::GET => self.read(route, &Parameters::of(request.uri().query())).await,
            Method::POST => {
                if !is_json(&request) {
                    let what = "`Content-Type` is not application/json";
                    return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what, "send JSON"));
                }
                let body = next.read(request.into_body()).await.map_err(|refusal| too_long(&refusal))?;
                let answer = self.act(route, &Body::read(&body)?).await?;
                Ok(reply::answer(&answer))
            }
            _ => Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are answered", "GET or POST")),
        }
    }

    async fn read(self: &Arc<Self>, route: &str, parameters: &Parameters) -> Result<Response, Failure> {
        let answer = match route {
            "state" => self.state(),
            "rows" => self.rows(parameters).await?,
            "findings" => self.findings(parameters)?,
            "complete" => self.complete(parameters)?,
            "tasks" => self.tasks(parameters)?,
            "trace" => return self.trace(parameters),
            "feed" => return self.feed(parameters),
            route => match (route.strip_prefix("row/"), route.strip_prefix("rule/")) {
                (Some(row), _) => return self.row(row),
                (_, Some(rule)) => self.rule(rule)?,
                _ => return Err(Failure::missing("there is nothing at this address")),
            },
        };
        Ok(reply::answer(&answer))
    }

    fn feed(self: &Arc<Self>, parameters: &Parameters) -> Result<Response, Failure> {
        let query = reading::query(parameters)?;
        let from = parameters.number("from")?.unwrap_or(0);
        let place = self.feeds.clone().try_acquire_owned().map_err(|_| {
            let what = "as many pages are open as proof inspect serves";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, what, "close one of them")
        })?;
        let body = ResponseBody::boxed(feed::begin(self, place, query, from));
        Ok(reply::streamed(StatusCode::OK, "text/event-stream", body))
    }
}

fn file(path: &str, request: &Request) -> Result<Response, Failure> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "files are only read", "GET"));
    }
    let asset = assets::find(path).ok_or_else(|| Failure::missing("there is nothing at this address"))?;
    Ok(reply::file(asset, request.method(), request.headers()))
}

fn is_json(request: &Request) -> bool {
    let declared = request.headers().get("content-type").and_then(|value| value.to_str().ok());
    declared.is_some_and(|value| wire::http::has_media_type(value, wire::http::JSON))
}

fn too_long(refusal: &Response) -> Failure {
    Failure::new(refusal.status(), "the body is too long, or did not come", "send less than 4 MiB")
}
