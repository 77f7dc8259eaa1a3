//! The keys of an issuer that is not ours: a file, or a document at an address, looked at anew where a key is missing.

use std::io::Read as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::egress::Egress;
use url::Url;

use crate::jose::JwkSet;
use crate::{Reach, fetch_within};

/// How long keys may take to come.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest file that is read.
const LONGEST: u64 = 1 << 20;
/// How often keys are looked at anew: who sends made-up tokens must not make us ask all day.
const PAUSE: Duration = Duration::from_secs(30);

/// Where keys come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// An address: https, or on this machine.
    Address(Url),
}

impl Source {
    async fn read(&self, egress: Option<&Egress>) -> Result<JwkSet, String> {
        let document = match self {
            Self::File(path) => {
                let file = net::open_regular(path).map_err(|error| error.to_string())?;
                let mut text = Vec::new();
                file.take(LONGEST).read_to_end(&mut text).map_err(|error| error.to_string())?;
                serde_json::from_slice(&text).map_err(|_| "it is no JSON".to_owned())?
            }
            Self::Address(url) => fetch_within(url, Reach::Machine, PATIENCE, egress.cloned())
                .await
                .map_err(|error| error.what().to_owned())?,
        };
        let keys = JwkSet::read(&document).ok_or("it is no set of keys (JWKS)")?;
        if keys.keys.is_empty() { Err("it holds no public key that we understand".to_owned()) } else { Ok(keys) }
    }
}

/// The keys as they were when they were last looked at.
#[derive(Debug)]
pub struct Keys {
    source: Source,
    egress: Option<Egress>,
    known: Mutex<(Arc<JwkSet>, Instant)>,
}

impl Keys {
    /// Reads them; why there are none otherwise.
    pub async fn read(source: Source) -> Result<Self, String> {
        Self::read_within(source, None).await
    }

    /// The same, where connections may lead no farther than `egress`.
    pub async fn read_within(source: Source, egress: Option<Egress>) -> Result<Self, String> {
        let keys = Arc::new(source.read(egress.as_ref()).await?);
        Ok(Self { source, egress, known: Mutex::new((keys, Instant::now())) })
    }

    /// The keys as they were last read.
    pub fn current(&self) -> Arc<JwkSet> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Looks at them anew, unless that was done just now; `true` where there may be others. What cannot be read leaves the
    /// old ones, and nobody else waits for it.
    pub async fn renew(&self) -> bool {
        if !self.is_due() {
            return false;
        }
        let Ok(keys) = self.source.read(self.egress.as_ref()).await else { return false };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).0 = Arc::new(keys);
        true
    }

    fn is_due(&self) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let due = known.1.elapsed() >= PAUSE;
        if due {
            known.1 = Instant::now();
        }
        due
    }
}
