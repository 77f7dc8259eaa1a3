//! A served directory: what is in it can be listed and read, nothing else can, and changes are told.

mod confined;
mod watched;

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use net::server::stdio::Limits;
use reference::{Folder, Options, Server};
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::revision::{R2025_06_18, R2025_11_25, R2026_07_28};
use wire::{Era, Revision};

use crate::line_client::{LineClient, client_capabilities};

/// A directory to serve, and one beside it that is not served.
struct Place {
    temporary: TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { temporary: TempDir::new().unwrap() };
        fs::create_dir(place.served("")).unwrap();
        fs::create_dir(place.outside("")).unwrap();
        fs::write(place.outside("secret.txt"), "secret").unwrap();
        place
    }

    fn served(&self, path: &str) -> PathBuf {
        self.temporary.path().join("served").join(path)
    }

    fn outside(&self, path: &str) -> PathBuf {
        self.temporary.path().join("outside").join(path)
    }

    /// Puts a file in whole: nobody sees it half written.
    fn put(&self, path: &str, contents: &str) {
        fs::write(self.outside("new"), contents).unwrap();
        fs::rename(self.outside("new"), self.served(path)).unwrap();
    }

    async fn talk(&self, revision: Revision) -> LineClient {
        talk(Folder::open(&self.served(""), |_| ()).unwrap(), revision).await
    }
}

async fn talk(folder: Folder, revision: Revision) -> LineClient {
    let options = Options { folder: Some(Arc::new(folder)), ..Options::default() };
    let mut talk = LineClient::with(Server::new(options), revision, Limits::default());
    if revision.era() == Era::Legacy {
        talk.shake_hands(client_capabilities()).await;
    }
    talk
}

/// Every file that is listed.
async fn listed(talk: &mut LineClient) -> Vec<Value> {
    let mut files = Vec::new();
    let mut params = json!({});
    loop {
        let page = talk.result("resources/list", params).await;
        let items = page["resources"].as_array().unwrap().iter();
        files.extend(items.filter(|item| item["uri"].as_str().unwrap().starts_with("file:")).cloned());
        let Some(cursor) = page.get("nextCursor") else { return files };
        params = json!({ "cursor": cursor });
    }
}

async fn read(talk: &mut LineClient, uri: &str) -> Value {
    let mut result = talk.result("resources/read", json!({ "uri": uri })).await;
    let contents = result["contents"].as_array_mut().unwrap();
    assert_eq!(contents.len(), 1);
    assert_eq!(contents[0]["uri"], uri);
    contents.remove(0)
}

const NAMES: [&str; 16] = [
    "plain.txt",
    "with space.md",
    "100%.txt",
    "%41.txt",
    "%2e%2e",
    "ünïcödé 文.json",
    "what?#[x]@!$&'()*+,;=.txt",
    "C:",
    "back\\slash.txt",
    "new\nline.txt",
    "...",
    ".hidden",
    "-dash",
    "\"quoted\"",
    "folder/in it/deep.rs",
    "folder/in it.rs",
];

#[tokio::test]
async fn every_name_makes_the_round_trip() {
    let place = Place::new();
    fs::create_dir_all(place.served("folder/in it")).unwrap();
    for name in NAMES {
        fs::write(place.served(name), format!("I am {name}")).unwrap();
    }
    for revision in Revision::ALL {
        let mut talk = place.talk(revision).await;
        let files = listed(&mut talk).await;
        assert_eq!(files.len(), NAMES.len());
        for name in NAMES {
            let file = files.iter().find(|file| file["name"] == name).unwrap_or_else(|| panic!("{name:?}"));
            assert_eq!(file["size"], format!("I am {name}").len());
            assert_eq!(file["annotations"]["lastModified"].is_string(), revision.at_least(R2025_06_18));
            let uri = file["uri"].as_str().unwrap();
            assert!(uri.is_ascii() && !uri.contains([' ', '?', '#', '\\', '"', '\n']), "{uri}");
            let contents = read(&mut talk, uri).await;
            assert_eq!(contents["text"], format!("I am {name}"));
            assert_eq!(contents.get("mimeType"), file.get("mimeType"));
        }
    }
}

#[tokio::test]
async fn a_path_has_one_uri() {
    let place = Place::new();
    fs::create_dir(place.served("a b")).unwrap();
    fs::write(place.served("a b/c"), "x").unwrap();
    let mut talk = place.talk(R2025_11_25).await;
    read(&mut talk, "file:///a%20b/c").await;
    for alias in ["file:///a b/c", "file:///a%20b%2Fc", "file:///a%20b/%63", "file:///a%20b//c", "file:///a%20b/./c"] {
        assert_eq!(talk.error("resources/read", json!({ "uri": alias })).await["code"], -32002, "{alias}");
    }
}

#[tokio::test]
async fn text_is_text_and_the_rest_is_not() {
    let place = Place::new();
    for (name, bytes, text) in [
        ("a.txt", "é".as_bytes(), true),
        ("latin.txt", &b"\xe9"[..], false),
        ("nul.txt", b"a\0b", false),
        ("a.PNG", b"only letters", false),
        ("a.svg", b"<svg/>", true),
        ("unknown", b"letters", true),
        ("unknown.bin", b"\xff\xfe", false),
        ("empty", b"", true),
    ] {
        fs::write(place.served(name), bytes).unwrap();
        let contents = read(&mut place.talk(R2026_07_28).await, &format!("file:///{name}")).await;
        assert_eq!(contents.get("text").is_some(), text, "{contents}");
        assert_eq!(contents.get("blob").is_some(), !text, "{contents}");
    }
    let contents = read(&mut place.talk(R2026_07_28).await, "file:///nul.txt").await;
    assert_eq!((&contents["blob"], &contents["mimeType"]), (&json!("YQBi"), &json!("text/plain")));
}

#[tokio::test]
async fn what_cannot_be_named_is_left_out_and_told() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = Place::new();
    place.put("good", "x");
    fs::write(place.served("").join(std::ffi::OsStr::from_bytes(b"bad\xff")), "x").unwrap();
    let told = Arc::new(Mutex::new(Vec::new()));
    let notice = {
        let told = Arc::clone(&told);
        move |what: &str| told.lock().unwrap().push(what.to_owned())
    };
    let mut talk = talk(Folder::open(&place.served(""), notice).unwrap(), R2025_11_25).await;
    assert_eq!(listed(&mut talk).await.len(), 1);
    let told = told.lock().unwrap();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("1 with a name that is not UTF-8"), "{told:?}");
}

#[tokio::test]
async fn only_a_directory_can_be_served() {
    let place = Place::new();
    place.put("file", "x");
    assert!(Folder::open(&place.served("file"), |_| ()).is_err());
    assert!(Folder::open(&place.served("nowhere"), |_| ()).is_err());
}

#[tokio::test]
async fn paths_are_completed_as_uris_have_them() {
    let place = Place::new();
    fs::create_dir(place.served("Über uns")).unwrap();
    for name in ["Über uns/a", "Über uns/b", "other"] {
        place.put(name, name);
    }
    for revision in Revision::ALL {
        let mut talk = place.talk(revision).await;
        let templates = talk.result("resources/templates/list", json!({})).await;
        let template = templates["resourceTemplates"].as_array().unwrap().last().unwrap()["uriTemplate"].clone();
        for (typed, found) in [("über u", 2), ("%C3%9Cber%20uns/b", 1), ("", 3), ("ns", 0)] {
            let reference = json!({ "type": "ref/resource", "uri": template });
            let argument = json!({ "name": "path", "value": typed });
            let params = json!({ "ref": reference, "argument": argument });
            let completion = talk.result("completion/complete", params).await["completion"].take();
            let values = completion["values"].as_array().unwrap();
            assert_eq!((values.len(), &completion["total"]), (found, &json!(found)), "{typed}");
            for value in values {
                // The operator `+` leaves a value as it is where it is made of these characters.
                let uri = template.as_str().unwrap().replace("{+path}", value.as_str().unwrap());
                read(&mut talk, &uri).await;
            }
        }
        let params = json!({
            "ref": { "type": "ref/resource", "uri": template }, "argument": { "name": "+path", "value": "" },
        });
        assert_eq!(talk.error("completion/complete", params).await["code"], -32602);
    }
}
