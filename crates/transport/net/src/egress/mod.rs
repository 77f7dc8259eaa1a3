//! Where connections may lead: which hosts, schemes and ports, and which numbers a name may stand for. [`Dialer`] asks about
//! every connection and connects to the addresses that were checked, so that a name cannot change in between. Knows no
//! configuration file.
//!
//! [`Dialer`]: crate::client::Dialer

mod reach;
mod rules;

use std::fmt;
use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use self::reach::Reach;
use self::rules::plain;
pub use self::rules::{EgressRules, HostPattern};

/// Addresses on their way.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = std::io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of names. Its answers are checked whatever it is.
pub trait Resolve: Send + Sync {
    /// The addresses of a host, each with `port`.
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a>;
}

/// The resolver of the operating system.
#[derive(Clone, Copy, Debug)]
pub struct SystemResolver;

impl Resolve for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(tokio::net::lookup_host((host, port)).await?.collect()) })
    }
}

/// Where the connections to one address may lead.
#[derive(Clone)]
pub struct Egress {
    rules: Arc<EgressRules>,
    resolver: Arc<dyn Resolve>,
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Egress").field(&self.rules).finish()
    }
}

impl PartialEq for Egress {
    fn eq(&self, other: &Self) -> bool {
        self.rules == other.rules
    }
}

impl Eq for Egress {}

/// Which part of an address was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EgressPart {
    /// The scheme of the URL.
    Scheme,
    /// The host's name.
    Host,
    /// The port.
    Port,
    /// The addresses that the name stands for.
    Address,
}

impl EgressPart {
    /// All parts.
    pub const ALL: [Self; 4] = [Self::Scheme, Self::Host, Self::Port, Self::Address];

    /// Its name in metrics and errors.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scheme => "scheme",
            Self::Host => "host",
            Self::Port => "port",
            Self::Address => "address",
        }
    }
}

/// Why a connection is not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressRefusal {
    /// What was refused.
    pub part: EgressPart,
    /// The host that was to be connected to.
    pub host: String,
    /// The first address that was refused.
    pub address: Option<IpAddr>,
    /// Where the rules stand.
    pub place: String,
    /// Why, as a clause.
    pub why: String,
}

impl fmt::Display for EgressRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` does not allow a connection to `{}`: {}", self.place, self.host, self.why)
    }
}

/// How many connections this process did not make, by part.
static REFUSED: [AtomicU64; EgressPart::ALL.len()] = [const { AtomicU64::new(0) }; EgressPart::ALL.len()];

/// How many connections this process did not make, because of this part.
pub fn egress_refusals(part: EgressPart) -> u64 {
    REFUSED[part as usize].load(Ordering::Relaxed)
}

impl Egress {
    /// These rules, for names as the operating system resolves them.
    pub fn new(rules: EgressRules) -> Self {
        Self { rules: Arc::new(rules), resolver: Arc::new(SystemResolver) }
    }

    /// The same rules for names as `resolver` resolves them.
    #[must_use]
    pub fn resolving(self, resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, ..self }
    }

    /// Why no connection to `url` would be made now. `None` also where its name stands for no address yet.
    pub async fn refusal(&self, url: &url::Url) -> Option<Box<EgressRefusal>> {
        let host = plain(url.host_str().unwrap_or_default());
        self.addresses(url.scheme(), host, url.port_or_known_default().unwrap_or(0)).await.err()
    }

    /// The addresses of `host` that may be connected to: at least one. `Ok(Err)` where it has none at all.
    pub(crate) async fn addresses(
        &self,
        scheme: &str,
        host: &str,
        port: u16,
    ) -> Result<std::io::Result<Vec<SocketAddr>>, Box<EgressRefusal>> {
        self.rules.check(scheme, host, port).map_err(|refusal| Box::new(noted(refusal)))?;
        let found = match self.resolver.resolve(host, port).await {
            Ok(found) if !found.is_empty() => found,
            Ok(_) => return Ok(Err(std::io::ErrorKind::NotFound.into())),
            Err(error) => return Ok(Err(error)),
        };
        let first = found[0].ip();
        let (permitted, refused): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|address| self.rules.permits(host, address.ip()));
        if permitted.is_empty() {
            let first = refused.first().map_or(first, SocketAddr::ip);
            return Err(Box::new(noted(self.rules.refused_address(host, first))));
        }
        Ok(Ok(permitted))
    }
}

/// Counts and logs a refusal.
fn noted(refusal: EgressRefusal) -> EgressRefusal {
    REFUSED[refusal.part as usize].fetch_add(1, Ordering::Relaxed);
    let (part, host, rules) = (refusal.part.as_str(), refusal.host.as_str(), refusal.place.as_str());
    let address = refusal.address.map(|address| address.to_string());
    tracing::warn!(part, host, address, rules, "a connection was not made: {}", refusal.why);
    refusal
}
