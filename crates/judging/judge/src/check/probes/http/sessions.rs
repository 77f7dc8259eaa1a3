//! Sessions and the version header of the legacy era.

use std::time::Duration;

use net::client::Outgoing;
use serde_json::json;
use wire::{Era, RequestId, Revision};

use super::streams::open;
use super::{HTTP, put};
use crate::check::context::{Abort, ProbeContext};
use crate::check::probe::{Probe, Script};
use crate::check::probes::patterns::slow;
use crate::check::probes::tools;

/// How long a server may take to close the streams of a session that was ended, twice over.
const CLOSING: Duration = Duration::from_millis(300);

pub(in super::super) const IDS: Probe = Probe::shared("http-session-ids", ids).on(HTTP).era(Era::Legacy);

/// No session id, and one that nobody was given.
fn ids(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        if case.connection().session_id().is_none() {
            return Err(Abort::Lacks("a session"));
        }
        put(case, Outgoing::without_session).await?;
        put(case, |o| o.session("proof-no-such-session")).await?;
        let stream = Outgoing::bare("GET").header("Accept", "text/event-stream").without_session();
        let stream = case.connection().send_with(stream).await?;
        // An older transport may be served at the same address: its streams begin with an event that says so.
        if stream.head(case.short()).await.is_some_and(|(status, _)| status < 300) {
            stream.event(|_| true, CLOSING).await;
        }
        stream.abort();
        Ok(())
    })
}

pub(in super::super) const SAME_IDS: Probe = Probe::fresh("http-same-ids", same_ids)
    .on(HTTP)
    .needs("tools")
    .when(|setting, survey| survey.tools.iter().any(|tool| setting.calls.allow(tool)));

/// The id of two clients' calls.
const SAME: &str = "proof-same-id";

/// Two clients have the same call under way, each under the same id: ids need only be unique among those of one client.
fn same_ids(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let settled = async {
            case.setting().learnt.settled().await;
            Ok(())
        };
        case.in_time(settled).await?;
        let called = slow(case).or_else(|| tools::callable(case).into_iter().next());
        let (name, arguments) = called.ok_or(Abort::Lacks("a tool that may be called"))?;
        let params = json!({ "name": name, "arguments": arguments });
        let (id, text) = (RequestId::from(SAME), case.request_text(&json!(SAME), "tools/call", params.clone()));
        case.on_another_connection(async |other| {
            other.handshake().await?;
            // Shows of each that the call is answered, and how long that takes.
            let (own, others) =
                tokio::join!(case.request("tools/call", params.clone()), other.request("tools/call", params.clone()));
            if own?.0.is_none() || others?.0.is_none() {
                return Err(Abort::Lacks("a call that is answered"));
            }
            case.say(&text).await?;
            other.say(&text).await?;
            let patience = case.patience();
            tokio::join!(case.connection().response(&id, patience), other.connection().response(&id, patience));
            Ok(())
        })
        .await
    })
}

pub(in super::super) const ENDED: Probe = Probe::fresh("http-session-ended", ended).on(HTTP).era(Era::Legacy);

/// The end of a session while a stream of it is open, and what its id is worth afterwards.
fn ended(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        let session = case.connection().session_id().ok_or(Abort::Lacks("a session"))?;
        let listening = open(case, None).await?;
        let exchange = case.connection().http()?.delete_session().await?;
        exchange.finished(case.patience()).await;
        put(case, |o| o.session(session.clone())).await?;
        let note = json!({ "jsonrpc": "2.0", "method": "notifications/roots/list_changed" }).to_string();
        let note = Outgoing::message(note).session(session.clone());
        case.connection().send_with(note).await?.finished(case.short()).await;
        let stream = Outgoing::bare("GET").header("Accept", "text/event-stream").session(session);
        let stream = case.connection().send_with(stream).await?;
        stream.head(case.short()).await;
        stream.abort();
        // Waited for last: a server that is kept from working is by now known to have worked after the session's end.
        if !listening.finished(CLOSING).await {
            case.quiet("after the end of the session", CLOSING).await;
        }
        // Shows that it was the session, and not who asked, for which the others were refused.
        case.on_another_connection(async |other| other.handshake().await).await?;
        Ok(())
    })
}

pub(in super::super) const UNIQUE: Probe = Probe::fresh("http-session-unique", unique).on(HTTP).era(Era::Legacy);

/// Several sessions side by side.
fn unique(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for _ in 0..3 {
            case.on_another_connection(async |other| {
                other.handshake().await?;
                other.request("ping", json!({})).await
            })
            .await?;
        }
        put(case, |o| o).await?;
        Ok(())
    })
}

pub(in super::super) const VERSION: Probe =
    Probe::shared("http-version-header", version).on(HTTP).era(Era::Legacy).since(Revision::R2025_06_18);

/// The version header: absent, unknown, no version at all.
fn version(case: &ProbeContext) -> Script<'_> {
    Box::pin(async move {
        for value in ["1999-01-01", "no-version"] {
            put(case, |o| o.header("MCP-Protocol-Version", value)).await?;
        }
        put(case, |o| o.without("MCP-Protocol-Version")).await?;
        put(case, |o| o).await?;
        Ok(())
    })
}
