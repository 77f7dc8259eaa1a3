//! Reads the configuration again when its file changes, on SIGHUP and on `reload`. A file with mistakes changes nothing.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use gateway::settings::Settings;
use gateway::{Gateway, LockFiles};
use net::server::tls::ServerTls;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use tokio::time::{MissedTickBehavior, interval};

use crate::args::{Args, read, text_of};
use crate::listener::renew;
use crate::tell::{Failure, tell};

/// How often the file is looked at: also where a folder's link is exchanged, as for mounted configuration.
const LOOK: Duration = Duration::from_secs(2);

/// The file that the gateway runs by.
pub(crate) struct Configuration {
    file: PathBuf,
    /// The text that was read last, good or bad.
    text: String,
    /// What holds until the gateway is started again.
    running: Settings,
    /// What the command line adds.
    args: ArgsOfFile,
    /// What the listener shows.
    tls: Option<Arc<ServerTls>>,
    /// The files of the lock as they were when they were read last, good or bad, and as they were seen last.
    lock_files: [Option<LockFiles>; 2],
}

/// What of the command line counts beside a file.
#[derive(Clone)]
struct ArgsOfFile(Settings);

impl Configuration {
    /// The file of this command line, if it names one.
    pub(crate) fn of(args: &Args, running: Settings) -> Option<Self> {
        let file = args.config.clone()?;
        let text = text_of(&file).unwrap_or_default();
        Some(Self { file, text, args: ArgsOfFile(running.clone()), running, tls: None, lock_files: [None, None] })
    }

    /// The same for a listener that speaks TLS: its files are read again when they change.
    pub(crate) fn with_tls(self, tls: Option<Arc<ServerTls>>) -> Self {
        Self { tls, ..self }
    }

    /// Follows the file for ever; `update` is called after a change.
    pub(crate) async fn follow(mut self, asked: &Notify, gateway: &Gateway, update: impl Fn()) {
        let mut look = interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let Ok(mut hang_up) = signal(SignalKind::hangup()) else { return };
        loop {
            let forced = tokio::select! {
                _ = look.tick() => false,
                _ = hang_up.recv() => true,
                () = asked.notified() => true,
            };
            match text_of(&self.file) {
                Ok(text) if forced || text != self.text => {
                    self.text = text;
                    self.take_over(gateway, &update);
                }
                Err(failure) if forced => report(&failure),
                Ok(_) if self.lock_changed(gateway) => self.take_over(gateway, &update),
                // A file that is being replaced is missing for a moment.
                Ok(_) | Err(_) => {}
            }
            if let Some(tls) = &self.tls {
                renew(tls, None);
            }
        }
    }

    /// Whether the lock or a manifest is another file than the one that was read last.
    fn lock_changed(&mut self, gateway: &Gateway) -> bool {
        let now = gateway.changed_lock_files();
        let seen_before = std::mem::replace(&mut self.lock_files[1], now.clone()) == now;
        let Some(files) = now.filter(|now| self.lock_files[0].as_ref() != Some(now)) else { return false };
        // One that is being replaced is missing for a moment.
        if files.is_incomplete() && !seen_before {
            return false;
        }
        self.lock_files[0] = Some(files);
        true
    }

    fn take_over(&mut self, gateway: &Gateway, update: &impl Fn()) {
        let settings = match read(&self.file) {
            Ok(settings) => settings,
            Err(failure) => return report(&failure),
        };
        let fixed = [
            ("listen", settings.listen.is_some() && settings.listen != self.args.0.listen),
            ("listen.tls", kind(&settings) != kind(&self.running)),
            ("admin", settings.admin != self.running.admin),
            ("allow_hosts", !settings.hosts.iter().all(|host| self.args.0.hosts.contains(host))),
            ("allow_origins", !settings.origins.iter().all(|origin| self.args.0.origins.contains(origin))),
            ("auth", settings.auth != self.running.auth),
            ("auth.bridge", settings.bridge != self.running.bridge),
            ("record", settings.record != self.running.record),
            ("audit", settings.audit != self.running.audit),
            ("store", settings.store != self.running.store),
            ("replicas", settings.replicas != self.running.replicas),
            ("consents", settings.consents != self.running.consents),
            ("telemetry", settings.telemetry != self.running.telemetry),
        ];
        for (name, _) in fixed.iter().filter(|(_, changed)| *changed) {
            tell(&format!(
                "warning: `{name}` has changed\n  try: restart the gateway; until then, the old value holds"
            ));
        }
        match gateway.reload(&settings) {
            Ok(done) => {
                let files = settings.tls.as_ref().filter(|_| kind(&settings) == kind(&self.running));
                if let (Some(tls), Some(files)) = (&self.tls, files) {
                    renew(tls, Some(files));
                }
                update();
                tell(&format!(
                    "configuration read again: {} upstreams unchanged, {} new or changed, {} ended",
                    done.kept, done.begun, done.ended
                ));
                let running = self.running.clone();
                let Settings { tls, admin, auth, bridge, record, audit, store, replicas, consents, telemetry, .. } =
                    running;
                self.running = Settings {
                    tls,
                    admin,
                    auth,
                    bridge,
                    record,
                    audit,
                    store,
                    replicas,
                    consents,
                    telemetry,
                    ..settings
                };
            }
            Err(error) => report(&crate::unusable(&error)),
        }
    }
}

/// What of TLS is decided at the start: whether it is spoken, and whether clients show certificates.
fn kind(settings: &Settings) -> Option<bool> {
    settings.tls.as_ref().map(|tls| tls.clients.is_some())
}

fn report(failure: &Failure) {
    failure.print();
    tell("the configuration stays as it was");
}
