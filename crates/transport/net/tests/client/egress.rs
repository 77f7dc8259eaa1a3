//! Connections whose names change their addresses: what was checked is what is connected to.

use std::io::Result;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use net::OpenError;
use net::client::{Dialer, HttpAddress};
use net::egress::{Egress, EgressPart, EgressRules, HostPattern, Resolve, Resolving, egress_refusals};
use tokio::net::TcpListener;

/// Gives the next of these answers each time, and counts.
struct Changing(Mutex<Vec<Vec<&'static str>>>, AtomicUsize);

impl Resolve for Changing {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        self.1.fetch_add(1, Ordering::Relaxed);
        let answer = self.0.lock().unwrap().remove(0);
        let addresses: Result<Vec<SocketAddr>> =
            Ok(answer.iter().map(|ip| SocketAddr::new(ip.parse::<IpAddr>().unwrap(), port)).collect());
        Box::pin(async move { addresses })
    }
}

fn changing(answers: &[&[&'static str]]) -> Arc<Changing> {
    Arc::new(Changing(Mutex::new(answers.iter().map(|answer| answer.to_vec()).collect()), AtomicUsize::new(0)))
}

fn dialer(url: &str, rules: EgressRules, resolver: Arc<Changing>) -> Dialer {
    let egress = Some(Egress::new(rules).resolving(resolver));
    let address = HttpAddress { egress, ..HttpAddress::new(url.parse().unwrap()) };
    Dialer::new(&address, Duration::from_secs(5)).unwrap()
}

fn rules(allows_private: bool) -> EgressRules {
    EgressRules { place: "egress".to_owned(), allows_private, ..EgressRules::default() }
}

/// The part and the address of the refusal.
async fn refused(dialer: &Dialer) -> (EgressPart, Option<String>) {
    match dialer.dial().await.err() {
        Some(OpenError::Forbidden { refusal, .. }) => (refusal.part, refusal.address.map(|ip| ip.to_string())),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_for_each_connection_and_its_answer_counts() {
    let canary = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://rebinding.example:{}", canary.local_addr().unwrap().port());
    let resolver = changing(&[&["127.0.0.1"], &["169.254.169.254"], &["169.254.169.254", "127.0.0.1"], &["0.0.0.0"]]);
    let dialer = dialer(&url, rules(true), Arc::clone(&resolver));
    dialer.dial().await.unwrap();
    canary.accept().await.unwrap();
    assert_eq!(resolver.1.load(Ordering::Relaxed), 1, "a second look-up may give another answer");
    let before = egress_refusals(EgressPart::Address);
    assert_eq!(refused(&dialer).await, (EgressPart::Address, Some("169.254.169.254".to_owned())));
    assert!(egress_refusals(EgressPart::Address) > before);
    // Of several addresses, those that are allowed are used.
    dialer.dial().await.unwrap();
    canary.accept().await.unwrap();
    assert_eq!(refused(&dialer).await, (EgressPart::Address, Some("0.0.0.0".to_owned())));
    assert_eq!(resolver.1.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_name_that_leads_inside_is_not_connected_to() {
    let canary = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://inside.example:{}", canary.local_addr().unwrap().port());
    for ip in ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "10.0.0.1", "fd00::1"] {
        let dialer = dialer(&url, rules(false), changing(&[&[ip]]));
        assert_eq!(refused(&dialer).await.0, EgressPart::Address, "{ip}");
    }
    let connected = tokio::time::timeout(Duration::from_millis(100), canary.accept()).await;
    assert!(connected.is_err(), "it was connected to");
}

#[tokio::test]
async fn what_the_spelling_forbids_is_not_looked_up() {
    let hosts = Some(vec![HostPattern::parse("*.mcp.example").unwrap()]);
    let rules = EgressRules { hosts, ports: Some(vec![443]), ..rules(true) };
    for (url, part) in [
        ("https://mcp.example", EgressPart::Host),
        ("https://127.0.0.1", EgressPart::Host),
        ("https://a.mcp.example:22", EgressPart::Port),
    ] {
        // A resolver without answers: a look-up fails the test.
        assert_eq!(refused(&dialer(url, rules.clone(), changing(&[]))).await, (part, None), "{url}");
    }
}

/// An address of the file is where the user wants to go; the same address from elsewhere is not.
#[tokio::test]
async fn an_address_that_the_configuration_writes_is_connected_to() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://127.0.0.1:{}", server.local_addr().unwrap().port());
    let named = rules(false).naming([&url.parse().unwrap()]);
    dialer(&url, named, changing(&[&["127.0.0.1"]])).dial().await.unwrap();
    let elsewhere = dialer(&url, rules(false), changing(&[&["127.0.0.1"]]));
    assert_eq!(refused(&elsewhere).await, (EgressPart::Address, Some("127.0.0.1".to_owned())));
}
