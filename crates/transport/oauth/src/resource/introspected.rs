//! Tokens that only their issuer can read: it is asked about each (RFC 7662), and its verdict is kept for a short time by the
//! SHA-256 of the token. The token itself is not kept. An issuer that cannot be asked lets nobody in.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use net::egress::Egress;
use net::server::http::Grant;
use serde_json::{Value, json};
use tokio::sync::{OnceCell, Semaphore};
use tokio::time::timeout;
use url::Url;

use super::token::{TokenFlaw, TokenRequirements, granted, meets, text};
use crate::backend::NetBackend;
use crate::error::OAuthError;
use crate::jose::sha256;
use crate::now;
use crate::options::Client;
use crate::secret::SecretListener;
use crate::token_endpoint::{Method, TokenRequest};
use crate::verifier::StrictVerifier;
use crate::web::{Web, check_scheme};

/// The most verdicts that are kept.
const MOST: usize = 10_000;
/// The most questions under way.
const MOST_QUESTIONS: usize = 64;
/// The longest token that is asked about.
const LONGEST: usize = 16 << 10;
/// How long a token stays refused that is not active, at most.
const NEGATIVE: Duration = Duration::from_secs(10);
/// How long an issuer that did not answer is not asked about the same token.
const PAUSE: Duration = Duration::from_secs(1);

/// Where an issuer is asked, and as whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Introspection {
    /// The introspection endpoint: https, or on this machine.
    pub endpoint: Url,
    /// This server, as the issuer knows it.
    pub client: Client,
    /// How long a verdict counts.
    pub ttl: Duration,
    /// How long one answer may take.
    pub timeout: Duration,
    /// Where connections may lead.
    pub egress: Option<Egress>,
}

/// Why a token lets nobody in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntrospectionRefusal {
    /// It will not do.
    Flaw(TokenFlaw),
    /// Its issuer cannot be asked at this moment.
    Unavailable,
}

/// The tokens of one issuer that are accepted.
pub struct IntrospectedTokens {
    settings: Introspection,
    issuer: String,
    web: Web,
    questions: Semaphore,
    known: Mutex<HashMap<String, Arc<Slot>>>,
}

/// A verdict and until when it counts; none while the issuer is being asked. Those that come meanwhile wait for the same one.
type Slot = OnceCell<(Verdict, Instant)>;

#[derive(Clone, Debug)]
enum Verdict {
    Active(Arc<Value>),
    Inactive,
    Unavailable,
}

impl fmt::Debug for IntrospectedTokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntrospectedTokens").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl IntrospectedTokens {
    /// The tokens of `issuer`. Asks nothing yet.
    pub fn new(settings: Introspection, issuer: String) -> Result<Self, OAuthError> {
        check_scheme(&settings.endpoint)?;
        let (limit, named) = (settings.timeout, vec![settings.endpoint.clone()]);
        let backend = Arc::new(NetBackend::plain(limit, settings.egress.clone()));
        let (verifier, secrets) = (Arc::new(StrictVerifier), SecretListener::default());
        let web = Web { backend, verifier, limit, named, reach: OnceCell::new(), secrets };
        let questions = Semaphore::new(MOST_QUESTIONS);
        Ok(Self { settings, issuer, web, questions, known: Mutex::default() })
    }

    /// What a token grants that must be for one of `audiences`, on a connection with `certificate`. Issuer, audience and time are
    /// looked at each time.
    pub async fn grant(
        &self,
        token: &str,
        audiences: Vec<String>,
        certificate: Option<&str>,
    ) -> Result<Grant, IntrospectionRefusal> {
        let flaw = IntrospectionRefusal::Flaw;
        if token.is_empty() || token.len() > LONGEST || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(flaw(TokenFlaw::Form));
        }
        let claims = match self.verdict(token).await {
            Verdict::Active(claims) => claims,
            Verdict::Inactive => return Err(flaw(TokenFlaw::Inactive)),
            Verdict::Unavailable => return Err(IntrospectionRefusal::Unavailable),
        };
        let wanted = TokenRequirements {
            issuers: vec![self.issuer.clone()],
            audiences,
            key: None,
            certificate: certificate.map(str::to_owned),
        };
        meets(&claims, &wanted).map_err(flaw)?;
        Ok(granted(token, &claims))
    }

    async fn verdict(&self, token: &str) -> Verdict {
        let slot = self.slot(sha256(token));
        let asked = || async {
            // From the question on: what changed while the issuer answered is not in its answer.
            let asked = Instant::now();
            let verdict = self.ask(token).await;
            let since = if matches!(verdict, Verdict::Unavailable) { Instant::now() } else { asked };
            let until = since + self.lifetime(&verdict);
            (verdict, until)
        };
        slot.get_or_init(asked).await.0.clone()
    }

    fn slot(&self, name: String) -> Arc<Slot> {
        let now = Instant::now();
        let counts = |slot: &Slot| slot.get().is_none_or(|(_, until)| *until > now);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = known.get(&name).filter(|slot| counts(slot)) {
            return Arc::clone(slot);
        }
        if known.len() >= MOST {
            known.retain(|_, slot| counts(slot));
        }
        if known.len() >= MOST {
            // Made-up tokens must not push out good ones.
            known.retain(|_, slot| matches!(slot.get(), None | Some((Verdict::Active(_), _))));
        }
        if known.len() >= MOST {
            known.clear();
        }
        let slot = Arc::<Slot>::default();
        known.insert(name, Arc::clone(&slot));
        slot
    }

    /// How long a verdict counts: never longer than the token lives.
    fn lifetime(&self, verdict: &Verdict) -> Duration {
        match verdict {
            Verdict::Active(claims) => {
                let left = claims.get("exp").and_then(Value::as_f64).unwrap_or_default() - now() as f64;
                self.settings.ttl.min(Duration::from_secs(left.clamp(0.0, 86_400.0) as u64))
            }
            Verdict::Inactive => self.settings.ttl.min(NEGATIVE),
            Verdict::Unavailable => PAUSE,
        }
    }

    async fn ask(&self, token: &str) -> Verdict {
        let Ok(Ok(_question)) = timeout(self.settings.timeout, self.questions.acquire()).await else {
            return Verdict::Unavailable;
        };
        let Introspection { endpoint, client, .. } = &self.settings;
        let method = Method::configured(client);
        let request = TokenRequest { web: &self.web, endpoint, client, method, audience: &self.issuer };
        let response = request.send(&[("token", token), ("token_type_hint", "access_token")], None).await;
        match response {
            Ok(response) if response.status == 200 => {
                response.object().map_or(Verdict::Unavailable, |claims| self.read(claims))
            }
            // Whatever else it says is about us, not about the token.
            _ => Verdict::Unavailable,
        }
    }

    fn read(&self, mut claims: Value) -> Verdict {
        match claims.get("active") {
            Some(Value::Bool(true)) if is_access_token(&claims) => {}
            Some(Value::Bool(_)) => return Verdict::Inactive,
            _ => return Verdict::Unavailable,
        }
        // Both are optional there. The endpoint is the issuer's own, and a user is no client.
        if claims.get("iss").is_none() {
            claims["iss"] = json!(self.issuer);
        }
        if claims.get("sub").is_none()
            && let Some(name) = text(&claims, "username").map(str::to_owned)
        {
            claims["sub"] = json!(name);
        }
        Verdict::Active(Arc::new(claims))
    }
}

/// Whether the response is about an access token that anybody may use who has it: some issuers answer for others, too.
fn is_access_token(claims: &Value) -> bool {
    let others = ["refresh_token", "refresh", "offline", "id_token", "id", "dpop", "n_a"];
    ["token_type", "token_use", "typ"].into_iter().all(|name| {
        let kind = text(claims, name).unwrap_or_default();
        !others.iter().any(|other| kind.eq_ignore_ascii_case(other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Credential;

    fn tokens() -> IntrospectedTokens {
        let endpoint = Url::parse("https://as.example/introspect").expect("a URL");
        let client = Client::new("gateway", Credential::None);
        let (ttl, timeout) = (Duration::from_secs(30), Duration::from_secs(1));
        let settings = Introspection { endpoint, client, ttl, timeout, egress: None };
        IntrospectedTokens::new(settings, "https://as.example".to_owned()).expect("https")
    }

    #[test]
    fn only_a_clear_yes_about_an_access_token_is_one() {
        let tokens = tokens();
        for (response, active) in [
            (json!({ "active": true }), true),
            (json!({ "active": true, "token_type": "Bearer" }), true),
            (json!({ "active": true, "token_use": "refresh_token" }), false),
            (json!({ "active": true, "typ": "ID" }), false),
            (json!({ "active": true, "token_type": "DPoP" }), false),
            (json!({ "active": false, "sub": "a" }), false),
            (json!({ "active": "true" }), false),
            (json!({ "sub": "a" }), false),
        ] {
            assert_eq!(matches!(tokens.read(response.clone()), Verdict::Active(_)), active, "{response}");
        }
        let Verdict::Active(claims) = tokens.read(json!({ "active": true, "username": "a", "client_id": "c" })) else {
            panic!("it is active");
        };
        assert_eq!((&claims["iss"], &claims["sub"]), (&json!("https://as.example"), &json!("a")));
    }

    #[test]
    fn a_verdict_counts_no_longer_than_the_token_lives() {
        let tokens = tokens();
        let lives =
            |seconds: u64| tokens.lifetime(&Verdict::Active(Arc::new(json!({ "exp": now() + seconds })))).as_secs();
        assert_eq!((lives(600), lives(0)), (30, 0));
        assert!((8..=9).contains(&lives(9)), "{}", lives(9));
        assert_eq!(tokens.lifetime(&Verdict::Active(Arc::new(json!({})))), Duration::ZERO);
        assert_eq!(tokens.lifetime(&Verdict::Inactive), NEGATIVE);
    }

    #[test]
    fn made_up_tokens_fill_no_memory_and_push_out_no_good_one() {
        let tokens = tokens();
        let later = Instant::now() + Duration::from_mins(1);
        let good = tokens.slot("good".to_owned());
        good.set((Verdict::Active(Arc::new(json!({}))), later)).expect("it is empty");
        for number in 0..MOST + 100 {
            let slot = tokens.slot(number.to_string());
            slot.set((Verdict::Inactive, later)).expect("it is empty");
        }
        assert!(Arc::ptr_eq(&good, &tokens.slot("good".to_owned())));
        assert!(tokens.known.lock().expect("a lock").len() <= MOST);
    }
}
