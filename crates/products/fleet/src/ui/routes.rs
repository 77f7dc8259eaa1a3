//! What answers each request of the page. `page` has refused foreign hosts, foreign origins and requests without the token.

use std::sync::Arc;

use fleet_store::StoreError;
use net::server::http::{Body as ResponseBody, HttpFuture, Layer, Next, Request, Response, StatusCode};
use page::{Asked, Body, Failure, Parameters, reply};
use serde_json::{Value, json};

use super::{Ui, feed};

/// The layer that answers every request.
#[derive(Debug)]
pub(super) struct Pages(pub(super) Arc<Ui>);

impl Layer for Pages {
    fn respond<'a>(&'a self, request: Request, next: Next<'a>) -> HttpFuture<'a, Response> {
        Box::pin(async move {
            match self.0.answer(request, next).await {
                Ok(response) => response,
                Err(failure) => reply::failed(&failure, &self.0.redactor),
            }
        })
    }
}

impl Ui {
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
            "servers" => self.servers(),
            "match" => self.matched(parameters)?,
            "server" => self.server(parameters).await?,
            "evidence" => self.evidence(parameters).await?,
            "complete" => self.complete(parameters)?,
            "report" => return self.report(parameters).await,
            "feed" => return self.feed(parameters),
            _ => return Err(Failure::missing("there is nothing at this address")),
        };
        Ok(reply::answer(&answer))
    }

    async fn act(self: &Arc<Self>, route: &str, body: &Body) -> Result<Value, Failure> {
        match route {
            "run" => self.start_run(body),
            "cancel" => Ok(json!({ "cancelled": self.cancel_run() })),
            "inspect" => self.inspect(body).await,
            _ => Err(Failure::missing("there is nothing at this address")),
        }
    }

    fn feed(self: &Arc<Self>, parameters: &Parameters) -> Result<Response, Failure> {
        let from = parameters.number("from")?.unwrap_or(0);
        let place = self.feeds.clone().try_acquire_owned().map_err(|_| {
            let what = "as many pages are open as proof fleet ui serves";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, what, "close one of them")
        })?;
        let body = ResponseBody::boxed(feed::begin(self, place, from));
        Ok(reply::streamed(StatusCode::OK, "text/event-stream", body))
    }
}

/// The store cannot be used.
pub(super) fn of_store(error: &StoreError) -> Failure {
    let what = format!("the store cannot be read: {error}");
    Failure::new(StatusCode::INTERNAL_SERVER_ERROR, what, "look at the store that fleet.yaml names")
}
