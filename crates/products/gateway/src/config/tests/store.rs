//! `store`.

use super::{FULL, mentions, settings, upstream};
use crate::settings::{SharedStoreSettings, StoreLoss, StoreSettings};

fn file(store: &str) -> String {
    format!("{}store: {store}\n", upstream("command: [x]"))
}

fn shared(store: &str) -> SharedStoreSettings {
    match settings(&file(store)).store {
        Some(StoreSettings::Shared(shared)) => shared,
        other => panic!("{store}: {other:?}"),
    }
}

#[test]
fn a_folder_or_a_shared_store_is_read() {
    assert_eq!(settings(&upstream("command: [x]")).store, None);
    assert!(matches!(settings(&file("state")).store, Some(StoreSettings::Folder(folder)) if folder.ends_with("state")));
    let plain = shared("redis://127.0.0.1");
    assert_eq!((plain.host.as_str(), plain.port, plain.database, plain.tls), ("127.0.0.1", 6379, 0, false));
    assert_eq!((plain.user, plain.password, plain.on_loss), (None, None, StoreLoss::Refuse));
    let valkey = shared("\"valkeys://[::1]:7000/3\"");
    assert_eq!((valkey.host.as_str(), valkey.port, valkey.database, valkey.tls), ("::1", 7000, 3, true));
    let Some(StoreSettings::Shared(full)) = settings(FULL).store else { panic!("a shared store") };
    assert_eq!((full.host.as_str(), full.port, full.database, full.tls), ("redis.example", 6380, 2, true));
    assert_eq!((full.user.as_deref(), full.on_loss), (Some("gateway"), StoreLoss::Local));
    assert!(full.password.is_some() && format!("{full:?}").contains("Some(Secret)"));
}

#[test]
fn a_store_is_checked_and_no_password_is_shown() {
    let with_password = file("redis://gateway:s3cr3t-value@127.0.0.1");
    mentions(&with_password, &["a password or user stands in `store`", "from_env"]);
    mentions(&file("{ url: 'redis://:s3cr3t-value@h' }"), &["a password or user stands in `url`"]);
    mentions(&file("https://user:s3cr3t-value@h"), &["`store` is no address of a Redis or Valkey"]);
    mentions(&file("{ url: redis://h, password: s3cr3t-value }"), &["`password` stands in the file"]);
    for wrong in
        ["redis://", "redis://h/x", "redis://h/70000", "redis://h?a=b", "rediss://h/#insecure", "redis://h:99999"]
    {
        mentions(&file(wrong), &["`store` is no address of a Redis or Valkey"]);
    }
    mentions(&file("{ user: a }"), &["`store` has no `url`"]);
    mentions(&file("{ url: redis://h, on_loss: ignore }"), &["`ignore` is not a value of `on_loss`"]);
    mentions(&file("{ url: redis://h, prefix: a }"), &["`prefix`"]);
}
