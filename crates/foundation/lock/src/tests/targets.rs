//! Which entry of a lock is the one of a target.

use serde_json::json;

use crate::{Entry, Identity, Launch, Lock, Surface};

fn identity(url: Option<&str>, package: Option<&str>) -> Identity {
    Identity { url: url.map(str::to_owned), package: package.map(str::to_owned), ..Identity::default() }
}

fn launch(command: &str, env: &[&str]) -> Launch {
    let words = |text: &mut dyn Iterator<Item = &str>| text.map(str::to_owned).collect();
    Launch { command: words(&mut command.split(' ')), env: words(&mut env.iter().copied()) }
}

fn lock() -> Lock {
    let surface = Surface::from_snapshot(&json!({ "server": { "name": "x", "version": "1" }, "tools": [] }));
    let entry = |identity: Identity, launch: Option<Launch>| Entry::new(identity, launch, &surface).expect("an entry");
    let shop = Some("pkg:npm/shop@1.0.0");
    Lock {
        servers: [
            ("remote", entry(identity(Some("https://shop.example/mcp"), None), None)),
            ("npx", entry(identity(None, shop), Some(launch("npx -y shop@1.0.0 --all", &[])))),
            ("plain", entry(Identity::default(), Some(launch("node server.js", &["A"])))),
            ("variable", entry(Identity::default(), Some(launch("node server.js", &["B"])))),
            ("recorded", entry(Identity::default(), None)),
        ]
        .map(|(name, entry)| (name.to_owned(), entry))
        .into(),
    }
}

#[test]
fn an_entry_is_found_by_address_and_command() {
    let lock = lock();
    let names = |identity: Identity, launch: Option<Launch>| {
        lock.of_target(&identity, launch.as_ref()).into_iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    let nothing: [&str; 0] = [];
    let command =
        |package: Option<&str>, line: &str, env: &[&str]| names(identity(None, package), Some(launch(line, env)));
    assert_eq!(names(identity(Some("https://shop.example/mcp"), None), None), ["remote"]);
    assert_eq!(names(identity(Some("https://shop.example/other"), None), None), nothing);
    assert_eq!(names(Identity::default(), None), nothing);
    assert_eq!(command(None, "node server.js", &["B"]), ["variable"]);
    assert_eq!(command(None, "node server.js", &[]), ["plain", "variable"]);
    assert_eq!(command(None, "node other.js", &["A"]), nothing);
    // Another version of the package is the same server, another package or other arguments are not.
    assert_eq!(command(Some("pkg:npm/shop@2.0.0"), "npx -y shop@2.0.0 --all", &["A"]), ["npx"]);
    assert_eq!(command(Some("pkg:npm/shop"), "npx -y shop --all", &[]), ["npx"]);
    assert_eq!(command(Some("pkg:npm/shop@2.0.0"), "npx -y shop@2.0.0 --one", &[]), nothing);
    assert_eq!(command(Some("pkg:npm/store@1.0.0"), "npx -y store@1.0.0 --all", &[]), nothing);
}
