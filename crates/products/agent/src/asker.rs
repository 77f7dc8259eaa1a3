//! Single questions without tools, within a budget: one at a time, as they come.

use std::sync::Arc;
use std::time::Duration;

use crate::answer::Answered;
use crate::budget::{Budget, Limits, Place, Price, Spent};
use crate::dialect::{Conversation, Request};
use crate::endpoint::{Endpoint, EndpointError};
use crate::inquiry::Inquiry;
use crate::run::Stop;

/// Hears why a request is sent again, and after how long.
pub(crate) type Told<'t> = &'t (dyn Fn(&str, Duration) + Send + Sync);

/// Asks an endpoint single questions.
#[derive(Debug)]
pub struct Asker {
    request: Request,
    endpoint: Arc<Endpoint>,
    budget: Budget,
}

impl Asker {
    /// `request` is what every request has; its instructions are those of the question. `before` was spent earlier.
    pub fn new(request: Request, endpoint: Arc<Endpoint>, limits: Limits, price: Option<Price>, before: Spent) -> Self {
        Self { request, endpoint, budget: Budget::new(limits, price, before) }
    }

    /// What was spent.
    pub fn spent(&self) -> Spent {
        self.budget.spent()
    }

    /// Asks, and asks again where a refusal may pass. An answer whose tokens nobody counted is the last one within a budget.
    pub async fn ask(&self, inquiry: &Inquiry) -> Result<Answered, Stop> {
        let place = self.place().await.ok_or(Stop::Budget)?;
        if !self.is_counted() {
            return Err(Stop::Uncounted);
        }
        self.ask_in(&place, inquiry, &|_, _| {}).await.map_err(Stop::Endpoint)
    }

    /// Waits until the budget has room.
    pub(crate) async fn place(&self) -> Option<Place<'_>> {
        self.budget.place().await
    }

    /// Asks in a place of the budget.
    pub(crate) async fn ask_in(
        &self,
        place: &Place<'_>,
        inquiry: &Inquiry,
        told: Told<'_>,
    ) -> Result<Answered, EndpointError> {
        let request = Request { system: Some(inquiry.system.clone()), ..self.request.clone() };
        let body = Conversation::new(&request, &inquiry.text).body(0, &[]);
        let answer = self.endpoint.ask(&body, request.is_streamed, told).await?;
        place.spend(answer.tokens);
        Ok(answer)
    }

    /// Whether the budget can be kept.
    pub(crate) fn is_counted(&self) -> bool {
        !self.budget.is_limited() || self.spent().unknown == 0
    }
}
