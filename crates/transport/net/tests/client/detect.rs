//! Which revisions are found, on peers of every era and on things that are no peers at all.

use std::time::{Duration, Instant};

use net::client::{Advice, Command, Newest, detect_newest, detect_older};
use net::{Address, Detected, HttpAddress, Limits, OpenError, Tap, detect};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use wire::Revision::{self, R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25, R2026_07_28};
use wire::Transport;

use super::end::{Received, answer, http, json_answer, options, read, result, server, shell, write};

const ALL_LEGACY: [Revision; 4] = [R2024_11_05, R2025_03_26, R2025_06_18, R2025_11_25];

fn limits() -> Limits {
    Limits { request: Duration::from_secs(8), connect: Duration::from_secs(2), ..Limits::default() }
}

async fn found(address: Address) -> Detected {
    detect(&address, &options(&limits()), Tap::new).await.unwrap()
}

async fn failure(address: Address) -> OpenError {
    let begun = Instant::now();
    let limits = Limits { request: Duration::from_millis(1500), ..limits() };
    let error = detect(&address, &options(&limits), Tap::new).await.expect_err("a failure");
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let text = error.to_string();
    assert!(text.lines().count() <= 3 && text.contains("try: "), "{text}");
    error
}

/// A child that answers `server/discover` with `modern` and `initialize` with the version offered, if `legacy` has it.
fn child(modern: &str, legacy: &str) -> Address {
    let program = format!(
        r#"while read -r l; do case "$l" in
        *server/discover*) {modern};;
        *initialize*) v=${{l##*\"protocolVersion\":\"}}; v=${{v%%\"*}}; case "$v" in {legacy}) ;; *) v=1999-01-01;; esac
          echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"'$v'","capabilities":{{}},"serverInfo":{{"name":"fake","version":"1"}}}}}}';;
        esac; done"#
    );
    shell(&program)
}

const DISCOVERED: &str = r#"echo '{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28","2099-01-01"],"capabilities":{"tools":{}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new"}}}}'"#;
const UNKNOWN_METHOD: &str = r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'"#;

#[tokio::test]
async fn a_dual_child() {
    let found = found(child(DISCOVERED, "2025-11-25|2025-06-18")).await;
    assert_eq!(found.revisions, [R2025_06_18, R2025_11_25, R2026_07_28]);
    assert_eq!(found.transport, Transport::Stdio);
    assert_eq!(found.unknown, ["1999-01-01", "2099-01-01"]);
    assert_eq!(found.introductions.iter().map(|i| i.name().unwrap()).collect::<Vec<_>>(), ["fake", "fake", "new"]);
    assert_eq!(found.introductions[2].capabilities(), &json!({ "tools": {} }));
    assert_eq!(found.evidence.len(), 5);
}

#[tokio::test]
async fn a_legacy_child_that_declines_discovery_ends_at_it_or_is_silent() {
    for discover in [UNKNOWN_METHOD, "exit 3", ":"] {
        let begun = Instant::now();
        assert_eq!(found(child(discover, "*")).await.revisions, ALL_LEGACY, "{discover}");
        assert!(begun.elapsed() < Duration::from_secs(3), "{discover}");
    }
}

#[tokio::test]
async fn a_slow_child_is_waited_for() {
    let Address::Stdio(mut command) = child(DISCOVERED, "2025-11-25") else { unreachable!() };
    command.args[1].insert_str(0, "sleep 1.5; ");
    assert_eq!(found(Address::Stdio(command)).await.revisions, [R2025_11_25, R2026_07_28]);
}

#[tokio::test]
async fn a_child_that_can_run_only_once_at_a_time() {
    let lock = std::env::temp_dir().join(format!("proofhouse-lock-{}", std::process::id()));
    let Address::Stdio(mut command) = child(DISCOVERED, "*") else { unreachable!() };
    let lock = lock.display().to_string();
    command.args[1].insert_str(0, &format!("mkdir {lock} 2>/dev/null || exit 1; trap 'rmdir {lock}' EXIT; "));
    let found = found(Address::Stdio(command)).await;
    assert_eq!(found.revisions, Revision::ALL);
}

#[tokio::test]
async fn a_child_whose_first_process_for_its_own_version_is_slow() {
    let seen = std::env::temp_dir().join(format!("proofhouse-seen-{}", std::process::id()));
    // Whatever is offered, it answers with its one version.
    let program = format!(
        r#"while read -r l; do case "$l" in
        *server/discover*) {UNKNOWN_METHOD};;
        *initialize*) case "$l" in *2025-11-25*) mkdir {seen} 2>/dev/null && sleep 60;; esac
          echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"fake","version":"1"}}}}}}';;
        esac; done"#,
        seen = seen.display()
    );
    let found = found(shell(&program)).await;
    std::fs::remove_dir(seen).unwrap();
    assert_eq!(found.revisions, [R2025_11_25]);
}

#[tokio::test]
async fn a_child_that_refuses_discovery_at_once_and_is_late_with_all_else() {
    let seen = std::env::temp_dir().join(format!("proofhouse-late-{}", std::process::id()));
    std::fs::create_dir(&seen).unwrap();
    // Each version is late the first time that it is offered; a notification comes before anything is asked.
    let program = format!(
        r#"echo '{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}'
        while read -r l; do case "$l" in
        *server/discover*) echo '{{"jsonrpc":"2.0","id":1,"error":{{"code":0,"message":"not initialized"}}}}';;
        *initialize*) v=${{l##*\"protocolVersion\":\"}}; v=${{v%%\"*}}; mkdir {seen}/$v 2>/dev/null && sleep 60
          echo '{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"2025-11-25","capabilities":{{}},"serverInfo":{{"name":"fake","version":"1"}}}}}}';;
        esac; done"#,
        seen = seen.display()
    );
    let found = found(shell(&program)).await;
    std::fs::remove_dir_all(seen).unwrap();
    assert_eq!(found.revisions, [R2025_11_25]);
}

async fn newest(address: &Address) -> Newest {
    detect_newest(address, &options(&limits()), Tap::new, |_| json!({})).await.unwrap()
}

/// Counts its processes in a file of that name.
fn counted(name: &str, address: Address) -> (Address, std::path::PathBuf) {
    let Address::Stdio(mut command) = address else { unreachable!() };
    let file = std::env::temp_dir().join(format!("proofhouse-{name}-{}", std::process::id()));
    command.args[1].insert_str(0, &format!("echo x >> {}; ", file.display()));
    (Address::Stdio(command), file)
}

fn count(file: &std::path::Path) -> usize {
    std::fs::read_to_string(file).map_or(0, |text| text.lines().count())
}

#[tokio::test]
async fn the_newest_of_each_era_takes_a_process_each_and_both_are_kept() {
    let (address, file) = counted("newest", child(DISCOVERED, "2025-11-25|2025-06-18|2024-11-05"));
    let Newest { detected, greeted, untried, failure } = newest(&address).await;
    assert_eq!(detected.revisions, [R2025_11_25, R2026_07_28]);
    assert!(failure.is_none());
    assert_eq!(untried, [R2025_06_18, R2025_03_26, R2024_11_05]);
    assert_eq!(count(&file), 2);
    assert_eq!(greeted.iter().map(|greeted| greeted.revision).collect::<Vec<_>>(), [R2026_07_28, R2025_11_25]);
    assert!(greeted.iter().all(|greeted| !greeted.connection.is_over()));
    for greeted in greeted {
        greeted.close().await;
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_child_that_does_not_speak_the_newest_is_offered_the_older_ones() {
    let Newest { detected, greeted, untried, .. } = newest(&child(UNKNOWN_METHOD, "2025-03-26")).await;
    assert_eq!(detected.revisions, [R2025_03_26]);
    assert_eq!((greeted.len(), untried.as_slice()), (0, &[][..]));
}

#[tokio::test]
async fn older_revisions_are_offered_to_one_process_if_it_agrees_to_all() {
    const OLDER: [Revision; 3] = [R2025_06_18, R2025_03_26, R2024_11_05];
    let older = async |address: &Address| detect_older(address, &options(&limits()), Tap::new, &OLDER).await;
    // The fake answers every request with the id 1.
    let any_id = |address: Address| {
        let Address::Stdio(mut command) = address else { unreachable!() };
        command.args[1] = command.args[1]
            .replace("*initialize*)", r#"*initialize*) i=${l##*\"id\":}; i=${i%%,*};"#)
            .replace(r#""id":1,"result":{"protocolVersion""#, r#""id":'$i',"result":{"protocolVersion""#);
        Address::Stdio(command)
    };
    let (address, file) = counted("older", any_id(child(DISCOVERED, "*")));
    assert_eq!(older(&address).await, [R2024_11_05, R2025_03_26, R2025_06_18]);
    assert_eq!(count(&file), 1);
    // To what is not agreed there, a process of its own is asked.
    let (address, second) = counted("older-again", any_id(child(DISCOVERED, "2025-06-18|2024-11-05")));
    assert_eq!(older(&address).await, [R2024_11_05, R2025_06_18]);
    assert_eq!(count(&second), 2);
    // One that greets once for each process.
    let (address, third) = counted("older-once", child(DISCOVERED, "*"));
    assert_eq!(older(&address).await, [R2024_11_05, R2025_03_26, R2025_06_18]);
    assert_eq!(count(&third), 3);
    for file in [file, second, third] {
        std::fs::remove_file(file).unwrap();
    }
}

#[tokio::test]
async fn a_modern_child_that_does_not_know_our_version() {
    let unsupported =
        r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"]}}}'"#;
    let error = failure(child(unsupported, "none")).await;
    let OpenError::NoCommonRevision { offered, .. } = error else { panic!("{error:?}") };
    assert_eq!(offered, ["1999-01-01", "2027-01-01"]);
}

#[tokio::test]
async fn children_that_are_no_servers() {
    let error = failure(shell("echo 'no key \u{1b}[31m' >&2; exit 7")).await;
    assert!(matches!(error, OpenError::Exited { code: Some(7), .. }), "{error:?}");
    assert!(error.to_string().contains(r"no key \u{1b}[31m"), "{error}");
    assert!(matches!(failure(shell("echo hello; sleep 9")).await, OpenError::NotMcp { .. }));
    assert!(matches!(failure(shell("sleep 9")).await, OpenError::Timeout { .. }));
    assert!(matches!(failure(shell("yes garbage | head -c 100000000")).await, OpenError::NotMcp { .. }));
    assert!(matches!(failure(Address::Stdio(Command::new("./no-such", [""; 0]))).await, OpenError::NotStarted { .. }));
}

/// A fake over HTTP: what `reply` makes of each request.
async fn fake(reply: impl Fn(&Received, &Value) -> String + Clone + Send + Sync + 'static) -> Address {
    let url = server(move |_, mut stream: TcpStream| {
        let reply = reply.clone();
        async move {
            while let Some(asked) = read(&mut stream).await {
                let text = reply(&asked, &asked.message());
                write(&mut stream, &text).await;
            }
        }
    });
    http(&url.await)
}

fn initialized(message: &Value) -> String {
    json_answer("200 OK", "", &result(message, json!({ "protocolVersion": message["params"]["protocolVersion"] })))
}

fn error(code: i64, data: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": code, "message": "no", "data": data } })
}

#[tokio::test]
async fn http_of_each_era() {
    let modern = fake(|_, message| match message["method"].as_str() {
        Some("server/discover") => {
            json_answer("200 OK", "", &result(message, json!({ "supportedVersions": ["2026-07-28"] })))
        }
        _ => json_answer("400 Bad Request", "", &error(-32022, &json!({ "supported": ["2026-07-28"] }))),
    });
    assert_eq!(found(modern.await).await.revisions, [R2026_07_28]);
    let legacy = fake(|_, message| match message["method"].as_str() {
        Some("initialize") => initialized(message),
        _ => json_answer("400 Bad Request", "", &error(-32000, &Value::Null)),
    });
    assert_eq!(found(legacy.await).await.revisions, ALL_LEGACY[1..]);
    let picky = fake(|_, message| match message["method"].as_str() {
        Some("initialize") => initialized(message),
        _ => json_answer("400 Bad Request", "", &error(-32020, &Value::Null)),
    });
    assert_eq!(found(picky.await).await.revisions, Revision::ALL[1..]);
}

#[tokio::test]
async fn http_that_is_silent_on_discovery() {
    let url = server(|_, mut stream| async move {
        while let Some(asked) = read(&mut stream).await {
            if asked.message()["method"] == "initialize" {
                write(&mut stream, &initialized(&asked.message())).await;
            }
        }
    });
    assert_eq!(found(http(&url.await)).await.revisions, ALL_LEGACY[1..]);
}

#[tokio::test]
async fn an_era_that_is_refused_at_once_does_not_hurry_the_other() {
    let url = server(|_, mut stream| async move {
        while let Some(asked) = read(&mut stream).await {
            let message = asked.message();
            let reply = match (message["method"].as_str(), message["params"]["protocolVersion"].as_str()) {
                // Neither the first of its era, nor those that take longer than that, may be lost.
                (Some("initialize"), Some("2025-11-25")) => {
                    tokio::time::sleep(Duration::from_millis(1500)).await;
                    initialized(&message)
                }
                (Some("initialize"), _) => {
                    tokio::time::sleep(Duration::from_millis(2500)).await;
                    initialized(&message)
                }
                _ => json_answer("400 Bad Request", "", &error(-32000, &Value::Null)),
            };
            write(&mut stream, &reply).await;
        }
    });
    assert_eq!(found(http(&url.await)).await.revisions, ALL_LEGACY[1..]);
}

#[tokio::test]
async fn the_old_transport_behind_a_plain_url() {
    let (posted, _) = tokio::sync::broadcast::channel::<Received>(9);
    let url = server(move |_, mut stream| {
        let posted = posted.clone();
        async move {
            while let Some(asked) = read(&mut stream).await {
                if asked.is("POST /post") {
                    posted.send(asked).unwrap();
                    write(&mut stream, &answer("202 Accepted", "", "")).await;
                } else if asked.is("POST") {
                    write(&mut stream, &answer("405 Method Not Allowed", "", "")).await;
                } else {
                    let mut posts = posted.subscribe();
                    write(
                        &mut stream,
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\nevent: endpoint\ndata: post\n\n",
                    )
                    .await;
                    let message = posts.recv().await.unwrap().message();
                    let version = json!({ "protocolVersion": message["params"]["protocolVersion"] });
                    write(&mut stream, &format!("event: message\ndata: {}\n\n", result(&message, version))).await;
                    read(&mut stream).await;
                }
            }
        }
    });
    let found = found(http(&url.await)).await;
    assert_eq!((found.transport, &found.revisions[..]), (Transport::HttpSse, &[R2024_11_05][..]));
    assert!(matches!(found.address, Address::Sse(HttpAddress { .. })));
}

#[tokio::test]
async fn redirects_within_the_origin_are_followed() {
    let address = fake(|asked, message| match asked.head.split(' ').nth(1).unwrap() {
        "/mcp" => answer("307 Temporary Redirect", "location: /mcp/\r\n", ""),
        _ => initialized(message),
    });
    let found = found(address.await).await;
    let Address::Http(http) = found.address else { panic!() };
    assert_eq!(http.url.path(), "/mcp/");
    let looping = fake(|_, _| answer("308 Permanent Redirect", "location: /mcp\r\n", "")).await;
    assert!(matches!(failure(looping).await, OpenError::RedirectLoop { .. }));
    let away = fake(|_, _| answer("302 Found", "location: https://example.com/\r\n", "")).await;
    assert!(matches!(failure(away).await, OpenError::Redirected { .. }));
}

#[tokio::test]
async fn a_lenient_client_takes_an_answer_in_json_whose_id_is_of_another_type() {
    let address = fake(|_, message| {
        let version = json!({ "protocolVersion": message["params"]["protocolVersion"], "capabilities": {} });
        let id = message["id"].to_string();
        match message["method"].as_str() {
            Some("initialize") => json_answer("200 OK", "", &json!({ "jsonrpc": "2.0", "id": id, "result": version })),
            _ => answer("400 Bad Request", "", ""),
        }
    })
    .await;
    let found = detect(&address, &options(&limits()).lenient(), Tap::new).await.expect("it is found");
    assert_eq!(found.revisions, [R2025_03_26, R2025_06_18, R2025_11_25]);
    assert!(detect(&address, &options(&limits()), Tap::new).await.is_err(), "others hold it to the letter");
}

#[tokio::test]
async fn urls_that_are_no_servers() {
    let html = fake(|_, _| answer("200 OK", "content-type: text/html\r\n", "<!DOCTYPE html><p>hi")).await;
    let error = failure(html).await;
    assert!(error.to_string().contains("HTML page"), "{error}");
    let locked = fake(|_, _| answer("401 Unauthorized", "", "who?")).await;
    let error = failure(locked).await;
    assert!(error.to_string().contains("HTTP 401") && error.advice() == Advice::GiveCredentials, "{error}");
    let missing = fake(|_, _| answer("404 Not Found", "", "nothing here")).await;
    assert!(matches!(failure(missing).await, OpenError::Http { status: 404, .. }));
    let declines = fake(|_, message| {
        json_answer(
            "200 OK",
            "",
            &json!({ "jsonrpc": "2.0", "id": message["id"], "error": { "code": -1, "message": "closed today" } }),
        )
    });
    let error = failure(declines.await).await;
    assert!(error.to_string().contains("closed today"), "{error}");
}

#[tokio::test]
async fn sockets_that_are_no_servers() {
    let cut = server(|_, mut stream| async move {
        read(&mut stream).await;
    });
    assert!(matches!(failure(http(&cut.await)).await, OpenError::Reset { .. }));
    let other = server(|_, mut stream| async move {
        write(&mut stream, "220 smtp.example ESMTP\r\n").await;
        read(&mut stream).await;
    });
    let error = failure(http(&other.await)).await;
    assert!(matches!(error, OpenError::NotMcp { .. } | OpenError::Reset { .. }), "{error:?}");
    let hangs = server(|_, stream| async move {
        let _stream = stream;
        tokio::time::sleep(Duration::from_secs(9)).await;
    });
    assert!(matches!(failure(http(&hangs.await)).await, OpenError::Timeout { .. }));
    let endless = server(|_, mut stream| async move {
        read(&mut stream).await;
        write(&mut stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").await;
        for _ in 0..90 {
            write(&mut stream, ": still here\n\n").await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    assert!(matches!(failure(http(&endless.await)).await, OpenError::Timeout { .. }));
}
