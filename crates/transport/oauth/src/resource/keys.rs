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
/// After which time keys are looked at again without a reason: one that its issuer withdrew must not count for good.
const OLD: Duration = Duration::from_mins(1);

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
    /// Nothing where they never change.
    source: Option<Source>,
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
        Ok(Self { source: Some(source), egress, known: Mutex::new((keys, Instant::now())) })
    }

    /// Keys that are known and never change.
    pub fn fixed(keys: JwkSet) -> Self {
        Self { source: None, egress: None, known: Mutex::new((Arc::new(keys), Instant::now())) }
    }

    /// The keys as they were last read.
    pub fn current(&self) -> Arc<JwkSet> {
        Arc::clone(&self.known.lock().unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Looks at them anew, unless that was done just now; `true` where there may be others. What cannot be read leaves the
    /// old ones, and nobody else waits for it.
    pub async fn renew(&self) -> bool {
        let Some(source) = self.source.as_ref().filter(|_| self.is_due()) else { return false };
        let Ok(keys) = source.read(self.egress.as_ref()).await else { return false };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        // What was verified by the same keys stays verified.
        if *known.0 != keys {
            known.0 = Arc::new(keys);
        }
        true
    }

    /// Looks at them again where that was not done for a while. A request waits for it only after a long pause, in which nothing
    /// looked; where they cannot be read, the old ones stay.
    pub async fn keep_current(self: &Arc<Self>) {
        if self.source.is_none() {
            return;
        }
        let age = self.known.lock().unwrap_or_else(PoisonError::into_inner).1.elapsed();
        if age >= OLD * 2 {
            self.renew().await;
        } else if age >= OLD {
            let keys = Arc::clone(self);
            tokio::spawn(async move { keys.renew().await });
        }
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use serde_json::json;

    use super::super::AcceptedTokens;
    use super::{Keys, OLD, Source};
    use crate::jose::Signer;
    use crate::now;

    const ISSUER: &str = "https://issuer.example";

    fn token(signer: &Signer) -> String {
        let claims = json!({ "iss": ISSUER, "aud": "a", "exp": now() + 600, "sub": "me" });
        signer.sign(json!({ "typ": "at+jwt" }), &claims)
    }

    #[tokio::test]
    async fn a_key_that_its_issuer_withdrew_counts_no_longer() {
        let (old, new, folder) = (Signer::fresh(), Signer::fresh(), tempfile::tempdir().expect("a folder"));
        let file = folder.path().join("keys.json");
        let publish = |keys: &[&Signer]| {
            let keys: Vec<_> = keys.iter().map(|signer| signer.public()).collect();
            std::fs::write(&file, json!({ "keys": keys }).to_string()).expect("written");
        };
        publish(&[&old, &new]);
        let keys = Keys::read(Source::File(file.clone())).await.expect("keys");
        let tokens = AcceptedTokens::new(keys, ISSUER.to_owned());
        let grant = async |signer: &Signer| tokens.grant(&token(signer), vec!["a".to_owned()], None).await.map(drop);
        let passes = |time: Duration| {
            tokens.keys().known.lock().expect("no panic").1 = Instant::now().checked_sub(time).expect("a time");
        };
        assert_eq!((grant(&old).await, grant(&new).await), (Ok(()), Ok(())));
        let before = tokens.keys().current();
        publish(&[&new]);
        // While requests come, nobody waits.
        passes(OLD);
        assert_eq!(grant(&old).await, Ok(()));
        for _ in 0..100 {
            if !Arc::ptr_eq(&tokens.keys().current(), &before) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(grant(&old).await.is_err() && grant(&new).await.is_ok());
        // After a pause, the first request is refused, too.
        publish(&[&old]);
        passes(OLD * 2);
        assert!(grant(&new).await.is_err() && grant(&old).await.is_ok());
        // What cannot be read changes nothing, and the same keys are the same.
        let before = tokens.keys().current();
        for text in ["not JSON", &json!({ "keys": [old.public()] }).to_string()] {
            std::fs::write(&file, text).expect("written");
            passes(OLD * 2);
            assert_eq!(grant(&old).await, Ok(()));
            assert!(Arc::ptr_eq(&tokens.keys().current(), &before));
        }
    }
}
