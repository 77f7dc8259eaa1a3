//! What is not below the directory, or is no file, is not there; and what is too much is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use reference::Folder;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;
use wire::revision::{R2025_11_25, R2026_07_28};

use super::{Place, listed, read, talk};

#[tokio::test]
async fn nothing_leads_out() {
    let place = Place::new();
    place.put("inside", "x");
    fs::create_dir(place.served("folder")).unwrap();
    symlink(place.outside("secret.txt"), place.served("link")).unwrap();
    symlink(place.outside(""), place.served("linked")).unwrap();
    symlink("../outside/secret.txt", place.served("folder/relative")).unwrap();
    symlink("inside", place.served("harmless")).unwrap();
    symlink(".", place.served("circle")).unwrap();
    let secret = place.outside("secret.txt").to_str().unwrap().to_owned();
    for (revision, code) in [(R2025_11_25, -32002), (R2026_07_28, -32602)] {
        let mut talk = place.talk(revision).await;
        assert_eq!(listed(&mut talk).await.len(), 1);
        for path in [
            "link",
            "linked/secret.txt",
            "folder/relative",
            "harmless",
            "circle/inside",
            "../outside/secret.txt",
            "folder/../../outside/secret.txt",
            "%2e%2e/outside/secret.txt",
            "%2e%2e%2foutside%2fsecret.txt",
            "%2E%2E%2Foutside%2Fsecret.txt",
            "..%5coutside%5csecret.txt",
            "folder",
            "folder/",
            "",
            ".",
            "..",
            "inside/",
            "inside%00",
            "inside%00.txt",
            "inside%",
            "inside%4",
            "inside%+1",
            "%ff",
            &secret,
            secret.trim_start_matches('/'),
            &"a/".repeat(100_000),
            &"a".repeat(100_000),
        ] {
            let uri = format!("file:///{path}");
            let error = talk.error("resources/read", json!({ "uri": uri })).await;
            assert_eq!((&error["code"], &error["data"]["uri"]), (&json!(code), &json!(uri)), "{path:.80}");
        }
        for uri in ["file:/inside", "file://localhost/inside", "FILE:///inside", "/inside", "inside", "file:///inside?"]
        {
            assert_eq!(talk.error("resources/read", json!({ "uri": uri })).await["code"], code, "{uri}");
        }
    }
}

#[tokio::test]
async fn pipes_and_devices_are_not_opened() {
    let place = Place::new();
    mknodat(CWD, place.served("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
    let mut talking = place.talk(R2026_07_28).await;
    assert!(listed(&mut talking).await.is_empty());
    assert_eq!(talking.error("resources/read", json!({ "uri": "file:///pipe" })).await["code"], -32602);
    let mut talking = talk(Folder::open(Path::new("/dev"), |_| ()).unwrap(), R2026_07_28).await;
    for device in ["zero", "null", "tty"] {
        let uri = format!("file:///{device}");
        assert_eq!(talking.error("resources/read", json!({ "uri": uri })).await["code"], -32602);
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused_with_a_reason() {
    let place = Place::new();
    fs::File::create(place.served("large")).unwrap().set_len((4 << 20) + 1).unwrap();
    fs::File::create(place.served("huge")).unwrap().set_len(1 << 40).unwrap();
    for revision in [R2025_11_25, R2026_07_28] {
        let mut talk = place.talk(revision).await;
        for (name, size) in [("large", (4_u64 << 20) + 1), ("huge", 1 << 40)] {
            let error = talk.error("resources/read", json!({ "uri": format!("file:///{name}") })).await;
            assert_eq!(error["code"], -32603);
            assert!(error["message"].as_str().unwrap().contains("too large"), "{error}");
            assert_eq!((&error["data"]["size"], &error["data"]["limit"]), (&json!(size), &json!(4 << 20)));
        }
    }
}

#[tokio::test]
async fn deep_trees_and_many_files_are_bounded() {
    let place = Place::new();
    let deep = |depth: usize| (1..depth).map(|_| "d/").collect::<String>();
    fs::create_dir_all(place.served(&deep(40))).unwrap();
    for depth in [1, 32, 33, 40] {
        fs::write(place.served(&format!("{}leaf", deep(depth))), "x").unwrap();
    }
    let mut talk = place.talk(R2026_07_28).await;
    assert_eq!(listed(&mut talk).await.len(), 2);
    read(&mut talk, &format!("file:///{}leaf", deep(32))).await;
    let beyond = json!({ "uri": format!("file:///{}leaf", deep(33)) });
    assert_eq!(talk.error("resources/read", beyond).await["code"], -32602);

    let place = Place::new();
    for number in 0..10_005 {
        fs::File::create(place.served(&format!("{number:05}"))).unwrap();
    }
    let mut talk = place.talk(R2026_07_28).await;
    let page = talk.result("resources/list", json!({})).await;
    assert_eq!(page["resources"].as_array().unwrap().len(), 200);
    let files = listed(&mut talk).await;
    assert_eq!(files.len(), 10_000);
    assert_eq!(files[9_999]["name"], "09999");
    read(&mut talk, "file:///10004").await;
}
