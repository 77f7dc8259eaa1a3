//! The traffic that is shown without a connection of our own: a trace, a recording that grows, a gateway's recordings or messages.

use std::path::Path;
use std::sync::Arc;

use console::Console;
use wire::Trace;
use wire::trace::Header;

use super::attached::Attached;
use super::gateway::Recordings;
use super::live::Live;
use crate::args::inspect::{GatewayTraffic, InspectArgs};
use crate::exit::Exit;
use crate::verb::traces;

/// What the options name; opened, so far as a wrong path is an error before anything is served.
pub(super) struct Shown {
    trace: Option<(String, Trace)>,
    attached: Option<(String, Attached, Header)>,
    recordings: Option<Recordings>,
    gateway: Option<GatewayTraffic>,
    /// How many bytes are kept.
    keep: u64,
}

impl Shown {
    pub(super) fn open(args: &InspectArgs) -> Result<Self, Exit> {
        let attached = |path: &Path| {
            let (attached, header) = Attached::open(path)?;
            Ok::<_, Exit>((name_of(path), attached, header))
        };
        let trace = |path: &Path| Ok::<_, Exit>((name_of(path), traces::trace(path)?));
        let recordings = match &args.gateway {
            Some(GatewayTraffic::Recorded(folder)) => Some(Recordings::open(folder)?),
            Some(GatewayTraffic::Running(_)) | None => None,
        };
        Ok(Self {
            trace: args.trace.as_deref().map(trace).transpose()?,
            attached: args.attach.as_deref().map(attached).transpose()?,
            recordings,
            gateway: args.gateway.clone(),
            keep: args.keep << 20,
        })
    }

    /// Whether the options name none.
    pub(super) const fn is_empty(&self) -> bool {
        self.trace.is_none() && self.attached.is_none() && self.gateway.is_none()
    }

    /// Shows it from now on. Needs a runtime.
    pub(super) async fn begin(self, console: &Arc<Console>) -> Result<(), Exit> {
        if let Some((name, trace)) = self.trace {
            let console = console.clone();
            // A long one is shown while it is read in.
            tokio::task::spawn_blocking(move || console.add_trace(&name, &trace));
        }
        if let Some((name, attached, header)) = self.attached {
            let session = console.add_recording(&name, header);
            tokio::spawn(attached.follow(console.clone(), session));
        }
        if let Some(recordings) = self.recordings {
            tokio::spawn(recordings.follow(console.clone(), self.keep));
        }
        if let Some(GatewayTraffic::Running(process)) = self.gateway {
            tokio::spawn(Live::open(process).await?.follow(console.clone()));
        }
        Ok(())
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
