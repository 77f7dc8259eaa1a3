//! Walks to a target's server step by step, on connections that are not in the traffic: the page asks when it cannot connect.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::Console;
use page::Body;
use page::Failure;

impl Console {
    pub(super) async fn diagnose(&self, body: &Body) -> Result<Value, Failure> {
        let target = self.named(body)?;
        let Some(options) = target.options() else {
            let what = "there is no server to walk to: this is traffic of another client, or a file";
            return Err(Failure::not_now(what, "open the server itself with proof inspect"));
        };
        let busy = |_| Failure::not_now("another server is being examined", "wait for it");
        let _alone = self.walks.try_acquire().map_err(busy)?;
        let report = doctor::examine(doctor::Options {
            address: options.address.clone(),
            children: options.children.clone(),
            step: doctor::STEP,
            authorizer: options.authorizer.clone(),
            redactor: self.hub.redactor().clone(),
            words: self.doctor,
            observer: Arc::new(|_| ()),
        });
        let report = report.await;
        let steps: Vec<Value> = report.steps.iter().map(doctor::Step::to_value).collect();
        let failed = report.failed().map(|step| step.name.as_str());
        Ok(json!({ "works": report.works(), "failed": failed, "steps": steps }))
    }
}
