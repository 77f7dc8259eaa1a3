//! What answers each request of the page. `page` has refused foreign hosts, foreign origins and requests without the token.

use std::sync::Arc;

use net::server::http::{Body as ResponseBody, HttpFuture, Layer, Next, Request, Response, StatusCode};
use page::{Asked, Failure, Parameters, reply};

use crate::{Console, feed, reading};

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
        match self.entry.read(request, next).await? {
            Asked::File(response) => Ok(response),
            Asked::Read(route, parameters) => self.read(&route, &parameters).await,
            Asked::Act(route, body) => Ok(reply::answer(&self.act(&route, &body).await?)),
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
