//! How consents are kept, without a network.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use oauth::{Client, Consented, Credential, Secret};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::Place;
use super::seal::Seals;
use super::vault::FolderVault;
use crate::answers::store::Store;

const SERVER: &str = "https://crm.example/mcp";

fn keys(bytes: &[u8]) -> Seals {
    let keys: Vec<_> = bytes.iter().map(|byte| Secret::new(STANDARD.encode([*byte; 32]))).collect();
    Seals::new(&keys).expect("keys")
}

fn place(principal: &str, upstream: &str) -> Place {
    Place { principal: principal.to_owned(), upstream: upstream.to_owned(), tenant: None }
}

fn consented(refresh: &str) -> Consented {
    Consented {
        issuer: "https://as.example".to_owned(),
        client: Client::new("gateway", Credential::Secret(Secret::new("client s3cret"))),
        refresh: Some(Secret::new(refresh)),
        access: Secret::new(format!("access {refresh}")),
        expires: 9,
        scopes: None,
    }
}

fn open(folder: &TempDir, bytes: &[u8]) -> FolderVault {
    FolderVault::open(folder.path(), Arc::new(keys(bytes))).expect("opened")
}

fn refresh_of(vault: &FolderVault, place: &Place) -> Option<String> {
    vault.find(place).and_then(|found| found.consented.refresh).map(|secret| secret.reveal().to_owned())
}

/// Reads and writes the file as anyone with access to the disk can.
async fn tampered(folder: &TempDir, change: impl FnOnce(&mut Vec<(Value, Value)>)) {
    let (store, pairs) = Store::open_file(folder.path(), "consents.redb").expect("opened");
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).expect("JSON");
    let mut read: Vec<_> = pairs.iter().map(|(key, value)| (json(key), json(value))).collect();
    change(&mut read);
    for (key, _) in &pairs {
        store.forget(key.clone());
    }
    for (key, value) in read {
        let bytes = |value: &Value| value.to_string().into_bytes();
        assert!(store.set(bytes(&key), Some(bytes(&value))).outlives_crash().await);
    }
    store.close();
}

#[tokio::test]
async fn a_consent_outlives_the_gateway_and_nothing_of_it_is_readable() {
    let folder = tempfile::tempdir().expect("a folder");
    let (ann, bob) = (place("ann", "crm"), place("bob", "crm"));
    let vault = open(&folder, &[1]);
    assert!(vault.put(&ann, SERVER, &consented("r-ann")).await && vault.put(&bob, SERVER, &consented("r-bob")).await);
    assert_eq!(refresh_of(&vault, &ann).as_deref(), Some("r-ann"));
    vault.close();
    let file = std::fs::read(folder.path().join("consents.redb")).expect("a file");
    for secret in ["r-ann", "r-bob", "client s3cret"] {
        assert!(!file.windows(secret.len()).any(|part| part == secret.as_bytes()), "{secret} is in the file");
    }
    let vault = open(&folder, &[1]);
    assert_eq!(refresh_of(&vault, &bob).as_deref(), Some("r-bob"));
    assert!(vault.remove(&bob, None).await && vault.find(&bob).is_none() && !vault.remove(&bob, None).await);
    vault.close();
    let vault = open(&folder, &[1]);
    assert!(vault.find(&bob).is_none() && vault.find(&ann).is_some());
}

#[tokio::test]
async fn a_record_of_another_user_server_or_issuer_does_not_open() {
    for (attack, change) in [
        ("another user", (|all: &mut Vec<(Value, Value)>| all[0].0["principal"] = json!("eve")) as fn(&mut Vec<_>)),
        ("another server", |all| all[0].0["upstream"] = json!("mail")),
        ("another tenant", |all| all[0].0["tenant"] = json!("other")),
        ("another issuer", |all| all[0].1["issuer"] = json!("https://evil.example")),
        ("another address", |all| all[0].1["server"] = json!("https://evil.example/mcp")),
        ("a bit", |all| {
            let sealed = all[0].1["sealed"].as_str().expect("a text");
            let mut bytes = STANDARD.decode(sealed).expect("base64");
            *bytes.last_mut().expect("a byte") ^= 1;
            all[0].1["sealed"] = json!(STANDARD.encode(bytes));
        }),
        ("swapped records", |all| {
            let first = all[0].1.clone();
            all[0].1 = std::mem::replace(&mut all[1].1, first);
        }),
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = open(&folder, &[1]);
        assert!(vault.put(&place("ann", "crm"), SERVER, &consented("r-ann")).await);
        assert!(vault.put(&place("bob", "crm"), SERVER, &consented("r-bob")).await);
        vault.close();
        tampered(&folder, change).await;
        let vault = open(&folder, &[1]);
        for (principal, upstream) in [("eve", "crm"), ("ann", "mail"), ("ann", "crm")] {
            assert!(vault.find(&place(principal, upstream)).is_none(), "{attack}: {principal} {upstream}");
        }
        let closed = vault.list().iter().filter(|one| !one.opens).count();
        assert_eq!(closed, if attack == "swapped records" { 2 } else { 1 }, "{attack}: the list says so");
    }
}

#[tokio::test]
async fn keys_rotate_and_a_wrong_key_opens_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let ann = place("ann", "crm");
    let vault = open(&folder, &[1]);
    assert!(vault.put(&ann, SERVER, &consented("r-ann")).await);
    vault.close();
    let wrong = open(&folder, &[3]);
    assert!(wrong.find(&ann).is_none() && wrong.list().iter().all(|one| !one.opens));
    wrong.close();
    let rotated = open(&folder, &[2, 1]);
    assert!(rotated.find(&ann).is_some());
    rotated.close();
    let new_only = open(&folder, &[2]);
    assert_eq!(refresh_of(&new_only, &ann).as_deref(), Some("r-ann"), "it was sealed again by the first key");
    new_only.close();
    assert!(open(&folder, &[1]).find(&ann).is_none(), "the old key is worth nothing");
}

#[tokio::test]
async fn a_revoked_or_newer_consent_is_not_overwritten_by_a_refresh() {
    let folder = tempfile::tempdir().expect("a folder");
    let (vault, ann) = (open(&folder, &[1]), place("ann", "crm"));
    assert!(vault.put(&ann, SERVER, &consented("r1")).await);
    let read = vault.find(&ann).expect("it is there").number;
    assert!(vault.put(&ann, SERVER, &consented("r2")).await);
    assert!(vault.replace(&ann, &read, &consented("r1-next")).await.is_none(), "given again");
    assert!(!vault.remove(&ann, Some(&read)).await, "an old refusal does not end the new consent");
    assert_eq!(refresh_of(&vault, &ann).as_deref(), Some("r2"));
    let read = vault.find(&ann).expect("it is there").number;
    let next = vault.replace(&ann, &read, &consented("r2-next")).await.expect("it is the newest");
    assert!(vault.replace(&ann, &read, &consented("x")).await.is_none());
    assert_eq!(vault.find(&ann).expect("it is there").number, next);
    assert!(vault.remove(&ann, None).await);
    assert!(vault.replace(&ann, &next, &consented("r2-late")).await.is_none() && vault.find(&ann).is_none(), "revoked");
}

/// Files from before there were tenants stay readable, and a tenant is part of whose consent it is.
#[tokio::test]
async fn a_tenant_is_part_of_whose_consent_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let vault = open(&folder, &[1]);
    let (plain, acme) = (place("ann", "crm"), Place { tenant: Some("acme".to_owned()), ..place("ann", "crm") });
    let other = Place { tenant: Some("other".to_owned()), ..acme.clone() };
    assert!(
        vault.put(&plain, SERVER, &consented("r-plain")).await && vault.put(&acme, SERVER, &consented("r-acme")).await
    );
    assert_eq!(refresh_of(&vault, &plain).as_deref(), Some("r-plain"));
    assert_eq!(refresh_of(&vault, &acme).as_deref(), Some("r-acme"));
    assert!(vault.find(&other).is_none());
    assert_eq!(serde_json::to_string(&plain).expect("JSON"), r#"{"principal":"ann","upstream":"crm"}"#);
    let names = [plain.name(), acme.name(), other.name(), place("ann\",\"crm", "").name()];
    assert!(names.iter().enumerate().all(|(at, name)| !names[..at].contains(name)));
}
