//! `proof serve --verbose`: prints what crosses over HTTP, one line for each message.

use std::sync::Arc;

use judge::check_client::describe;
use net::Tap;
use net::server::recorder::HttpRecorder;
use wire::redact::Secrets;
use wire::trace::Header;
use wire::{Party, Transport};

use crate::args::serve::ServeArgs;
use crate::exit;

/// The recorder that prints, if it is asked for.
pub(super) fn recorder(args: &ServeArgs) -> Option<Arc<HttpRecorder>> {
    args.verbose.then(|| {
        let mut secrets = Secrets::default();
        if let Some(token) = args.bearer_env.as_ref().and_then(|variable| std::env::var(variable).ok()) {
            secrets.add(&token);
        }
        exit::conceal(net::new_redactor().knowing(&secrets));
        let transport = Transport::StreamableHttp;
        let header = Header { subject: Party::Server, transport, revision: None, case: "served".to_owned() };
        let tap = Tap::streaming(header, |frame| {
            if let Some(line) = describe(frame) {
                exit::tell_redacted(&format!("{:>8.3}s {}  {line}", frame.at as f64 / 1e6, frame.connection));
            }
        });
        Arc::new(HttpRecorder::apart(&tap, &tap, &tap))
    })
}
