//! Workers and their coordinator over HTTP: what is let in, what a worker does with its jobs.

mod shared;

use std::cell::Cell;
use std::time::Duration;

use fleet_store::{
    Artefact, Coordinator, GateOutcome, Outcome, Queue, Remote, Retry, State, Token, Which, Worked, WorkerOptions, now,
    work,
};
use net::client::HttpAddress;
use net::server::http::{Bytes, HeaderMap, HeaderName, HeaderValue, Method};
use net::upstream::HttpUpstream;
use shared::{Fleet, job, report};
use tokio::sync::watch;

const TOKEN: &str = "a-token-for-tests-only";

async fn serving(fleet: &Fleet) -> (Coordinator, Remote) {
    let token = || Token::new(TOKEN).expect("a token");
    let address = "127.0.0.1:0".parse().expect("an address");
    let coordinator = Coordinator::listen(fleet.store.clone(), address, token(), None).await.expect("a coordinator");
    let remote = Remote::new(&format!("http://{}", coordinator.address()), &token(), None).expect("a remote");
    (coordinator, remote)
}

fn options() -> WorkerOptions {
    WorkerOptions {
        lease: Duration::from_millis(300),
        idle: Duration::from_millis(20),
        patience: Duration::from_secs(10),
        until_empty: true,
        ..WorkerOptions::new("tester")
    }
}

fn passed() -> Outcome {
    let artefact = Some(Artefact { kind: "report".to_owned(), bytes: b"the whole report".to_vec() });
    Outcome::Report { report: report(GateOutcome::Pass), artefact }
}

#[tokio::test]
async fn a_worker_does_every_job_and_hands_in_result_and_artefact() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    fleet.store.enqueue(&[job(version, "1"), job(version, "2"), job(version, "3")], 0).await.expect("queued");
    let (coordinator, remote) = serving(&fleet).await;
    let (_stop, stopped) = watch::channel(false);
    let run = async |job: fleet_store::Job| match job.result.key.as_str() {
        "1" => passed(),
        "2" => Outcome::Failed { error: "it broke".repeat(4000), retry: Retry::Never },
        _ => {
            // Longer than the lease: it is renewed meanwhile.
            tokio::time::sleep(Duration::from_millis(700)).await;
            passed()
        }
    };
    let worked = work(Queue::Coordinator(remote), options(), stopped, run).await.expect("it ends");
    assert_eq!(worked, Worked { finished: 2, failed: 1, lost: 0 });
    let result = fleet.store.result(version, "3").await.expect("an answer").expect("the result");
    let hash = result.is.report.expect("an artefact");
    assert_eq!(fleet.store.artefact(&hash).await, Ok(Some(b"the whole report".to_vec())));
    let failed = fleet.store.jobs(None, Some(State::Failed), 5).await.expect("jobs");
    assert!(failed[0].error.as_deref().is_some_and(|error| error.starts_with("it broke") && error.len() == 4096));
    coordinator.close().await;
}

#[tokio::test]
async fn a_cancelled_job_is_dropped_and_a_stopped_worker_gives_its_job_back() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    fleet.store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let queue = || Queue::Store(fleet.store.clone());
    let (stop, stopped) = watch::channel(false);
    let begun = Cell::new(0);
    let endless = async |_| {
        begun.set(begun.get() + 1);
        std::future::pending::<Outcome>().await
    };
    let cancelling = async {
        while begun.get() == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        fleet.store.cancel(Which::All, 1).await.expect("cancelled")
    };
    let (worked, cancelled) = tokio::join!(work(queue(), options(), stopped.clone(), endless), cancelling);
    assert_eq!((worked.expect("it ends").lost, cancelled), (1, 1));
    fleet.store.enqueue(&[job(version, "2")], 0).await.expect("queued");
    let stopping = async {
        while begun.get() == 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.send_replace(true);
    };
    let (worked, ()) = tokio::join!(work(queue(), options(), stopped, endless), stopping);
    assert_eq!(worked.expect("it ends"), Worked::default());
    let ready = fleet.store.jobs(None, Some(State::Ready), 5).await.expect("jobs");
    assert_eq!((ready.len(), ready[0].attempt), (1, 1));
}

#[tokio::test]
async fn a_result_that_the_store_does_not_take_fails_its_job_for_good() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    fleet.store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let (_coordinator, remote) = serving(&fleet).await;
    let (_stop, stopped) = watch::channel(false);
    let run = async |_| {
        let mut report = report(GateOutcome::Pass);
        report.summary = "x".repeat(fleet_store::TEXT_BYTES).into();
        Outcome::Report { report, artefact: None }
    };
    let worked = work(Queue::Coordinator(remote), options(), stopped, run).await.expect("it ends");
    assert_eq!(worked, Worked { failed: 1, ..Worked::default() });
    let failed = fleet.store.jobs(None, Some(State::Failed), 5).await.expect("jobs");
    assert!(failed[0].error.as_deref().is_some_and(|error| error.contains("the summary")), "{failed:?}");
}

/// Sends a request that no worker would send; returns the status.
async fn ask(
    coordinator: &Coordinator,
    headers: &[(&'static str, &str)],
    method: Method,
    path: &str,
    body: &str,
) -> u16 {
    let url = format!("http://{}", coordinator.address()).parse().expect("a URL");
    let upstream = HttpUpstream::new(&HttpAddress::new(url), Duration::from_secs(5)).expect("an address");
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(HeaderName::from_static(name), HeaderValue::from_str(value).expect("a value"));
    }
    let response = upstream.send_to(path, method, map, Bytes::copy_from_slice(body.as_bytes())).await;
    response.expect("an answer").status.as_u16()
}

#[tokio::test]
async fn nothing_is_answered_without_the_token_or_to_a_foreign_page() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    fleet.store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let (coordinator, _) = serving(&fleet).await;
    let lease = r#"{"worker":"w","time_ms":1000}"#;
    let right = ("authorization", "Bearer a-token-for-tests-only");
    for headers in [
        &[][..],
        &[("authorization", "Bearer a-token-for-tests-onlY")],
        &[("authorization", "Basic a-token-for-tests-only")],
        &[right, right],
    ] {
        for path in ["/v1/lease", "/v1/artefacts?kind=a", "/mcp", "/"] {
            assert_eq!(ask(&coordinator, headers, Method::POST, path, lease).await, 401, "{headers:?} {path}");
        }
    }
    let foreign = [right, ("origin", "https://evil.example")];
    assert_eq!(ask(&coordinator, &foreign, Method::POST, "/v1/lease", lease).await, 403);
    assert_eq!(fleet.store.counts(None).await.expect("counts").leased, 0);
    let headers = [right];
    let with = |method, path, body| ask(&coordinator, &headers, method, path, body);
    let unknown = format!("/v1/artefacts/{}", "0".repeat(64));
    assert_eq!(with(Method::GET, "/v1/lease", lease).await, 404);
    assert_eq!(with(Method::POST, "/v1/lease", "{").await, 400);
    assert_eq!(with(Method::POST, "/v1/lease", r#"{"worker":"w","time_ms":0}"#).await, 400);
    assert_eq!(with(Method::POST, "/v1/artefacts", "bytes").await, 400);
    assert_eq!(with(Method::GET, "/v1/artefacts/..%2f..%2ffleet.db", "").await, 400);
    assert_eq!(with(Method::GET, &unknown, "").await, 404);
    assert_eq!(with(Method::POST, "/mcp", "{}").await, 404);
    assert_eq!(with(Method::POST, "/v1/lease", lease).await, 200);
}

#[tokio::test]
async fn a_token_never_goes_out_in_the_clear() {
    let fleet = Fleet::new().await;
    let token = || Token::new(TOKEN).expect("a token");
    let address = "0.0.0.0:0".parse().expect("an address");
    let open = Coordinator::listen(fleet.store.clone(), address, token(), None).await;
    assert!(open.is_err_and(|error| error.to_string().contains("without TLS")));
    for bad in ["http://fleet.example", "http://10.0.0.1:1", "ftp://127.0.0.1", "https://u:p@fleet.example", "nonsense"]
    {
        let error = Remote::new(bad, &token(), None).expect_err(bad).to_string();
        assert!(!error.contains(TOKEN), "{error}");
    }
    for good in ["https://fleet.example", "http://127.0.0.1:1", "http://[::1]:1", "http://localhost:1"] {
        assert!(Remote::new(good, &token(), None).is_ok(), "{good}");
    }
}

#[tokio::test]
async fn a_wrong_token_and_a_missing_coordinator_end_a_worker_with_an_error() {
    let fleet = Fleet::new().await;
    let (coordinator, remote) = serving(&fleet).await;
    let (_stop, stopped) = watch::channel(false);
    let wrong = Token::new("another-token-entirely").expect("a token");
    let wrong = Remote::new(&format!("http://{}", coordinator.address()), &wrong, None).expect("a remote");
    let refused = work(Queue::Coordinator(wrong), options(), stopped.clone(), async |_| passed()).await;
    assert!(refused.is_err_and(|error| error.to_string().contains("the token is missing or wrong")));
    coordinator.close().await;
    let impatient = WorkerOptions { patience: Duration::from_millis(300), ..options() };
    let missing = work(Queue::Coordinator(remote), impatient, stopped, async |_| passed()).await;
    assert!(missing.is_err_and(|error| error.to_string().contains("no answer")));
}

#[tokio::test]
async fn json_that_is_too_long_is_refused_before_it_is_parsed() {
    let fleet = Fleet::new().await;
    let (coordinator, _) = serving(&fleet).await;
    let right = [("authorization", "Bearer a-token-for-tests-only")];
    // Without a limit of its own, each would be refused as incomplete JSON with another message.
    for (route, bytes, expected) in
        [("finish", (4 << 20) + 1, "send at most 4194304"), ("fail", (64 << 10) + 1, "send at most 65536")]
    {
        let body = "[".repeat(bytes);
        let url = format!("http://{}", coordinator.address()).parse().expect("a URL");
        let upstream = HttpUpstream::new(&HttpAddress::new(url), Duration::from_secs(5)).expect("an address");
        let mut headers = HeaderMap::new();
        headers.append(HeaderName::from_static(right[0].0), HeaderValue::from_static(right[0].1));
        let response = upstream.send_to(&format!("/v1/{route}"), Method::POST, headers, Bytes::from(body)).await;
        let mut response = response.expect("an answer");
        let text = String::from_utf8(response.whole(4096).await.expect("a body").clone()).expect("text");
        assert!(response.status.as_u16() == 400 && text.contains(expected), "{route}: {text}");
    }
    let artefact = "x".repeat(5 << 20);
    assert_eq!(ask(&coordinator, &right, Method::POST, "/v1/artefacts?kind=report", &artefact).await, 200);
}

/// The beginning of an upload whose rest never comes.
async fn slow_upload(coordinator: &Coordinator) -> tokio::net::TcpStream {
    use tokio::io::AsyncWriteExt as _;
    let mut stream = tokio::net::TcpStream::connect(coordinator.address()).await.expect("a connection");
    let head = format!(
        "POST /v1/artefacts?kind=report HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {TOKEN}\r\n\
         Content-Length: 1000000\r\n\r\nbegun",
        coordinator.address()
    );
    stream.write_all(head.as_bytes()).await.expect("written");
    stream
}

#[tokio::test]
async fn slow_uploads_hold_up_no_other_worker_and_no_lease() {
    let fleet = Fleet::new().await;
    let (_, version) = fleet.version("a").await;
    fleet.store.enqueue(&[job(version, "1")], 0).await.expect("queued");
    let (coordinator, remote) = serving(&fleet).await;
    // The slow worker has a job for a tenth of a second, and more uploads under way than are read at once.
    let slow = fleet.store.lease("slow", Duration::from_millis(100), now()).await.expect("an answer").expect("a job");
    let mut uploads = Vec::new();
    for _ in 0..40 {
        uploads.push(slow_upload(&coordinator).await);
    }
    let (_stop, stopped) = watch::channel(false);
    let run = async |_| Outcome::Report { report: report(GateOutcome::Pass), artefact: None };
    let worked =
        tokio::time::timeout(Duration::from_secs(5), work(Queue::Coordinator(remote), options(), stopped, run));
    let worked = worked.await.expect("it waits for none of them").expect("it ends");
    assert_eq!(worked, Worked { finished: 1, failed: 0, lost: 0 });
    let late = fleet.store.finish(&slow.lease, &report(GateOutcome::Fail), now()).await;
    assert_eq!(late, Ok(fleet_store::Ended::Lost));
    drop(uploads);
    coordinator.close().await;
}
