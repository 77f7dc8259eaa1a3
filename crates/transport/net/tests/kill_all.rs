//! The last resort ends every child of the process, so it has a test process to itself.

use std::time::Duration;

use net::client::Command;
use net::{Address, Connection, Limits, Tap};
use wire::trace::Header;
use wire::{Revision, Transport};

#[tokio::test]
async fn every_group_is_killed() {
    let mut connections = Vec::new();
    for _ in 0..3 {
        let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST, "test"));
        let address = Address::Stdio(Command::new("sh", ["-c", "trap '' TERM; sleep 63 & wait"]));
        connections
            .push(Connection::open(&address, Revision::NEWEST, &tap, &Limits::default()).await.expect("a shell"));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    net::process::kill_all();
    for connection in connections {
        assert!(connection.exited(Duration::from_secs(5)).await.is_some_and(|status| !status.success()));
    }
    let left = std::process::Command::new("pgrep").args(["-xf", "sleep 63"]).output();
    // Where there is no pgrep, the exits above must do.
    assert!(left.map_or(true, |left| left.stdout.is_empty()));
    let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST, "test"));
    let address = Address::Stdio(Command::new("sh", ["-c", "exit"]));
    let next = Connection::open(&address, Revision::NEWEST, &tap, &Limits::default()).await;
    assert!(next.is_err(), "a child was started after the end");
}
