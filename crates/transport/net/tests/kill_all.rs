//! Processes are ended by the handle that owns them, and by no other.

use std::time::Duration;

use net::client::Command;
use net::{Address, Children, ConnectOptions, Connection, Limits, OpenError, Tap};
use wire::trace::Header;
use wire::{Revision, Transport};

const SOON: Duration = Duration::from_secs(5);

async fn start(children: &Children, command: &str) -> Result<Connection, OpenError> {
    let tap = Tap::new(Header::server(Transport::Stdio, Revision::NEWEST, "test"));
    let address = Address::Stdio(Command::new("sh", ["-c", command]));
    let options = ConnectOptions::new(Limits::default(), children);
    Connection::open(&address, Revision::NEWEST, &tap, &options).await
}

#[tokio::test]
async fn every_group_is_killed() {
    let children = Children::new();
    let mut connections = Vec::new();
    for _ in 0..3 {
        connections.push(start(&children, "trap '' TERM; sleep 63 & wait").await.expect("a shell"));
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    children.clone().kill_all();
    for connection in connections {
        assert!(connection.exited(SOON).await.is_some_and(|status| !status.success()));
    }
    let left = std::process::Command::new("pgrep").args(["-xf", "sleep 63"]).output();
    // Where there is no pgrep, the exits above must do.
    assert!(left.map_or(true, |left| left.stdout.is_empty()));
    assert!(start(&children, "exit").await.is_err(), "a child was started after the end");
}

#[tokio::test]
async fn the_children_of_another_handle_live_on() {
    let [ours, others] = [Children::new(), Children::new()];
    let (mine, other) = (start(&ours, "sleep 64").await.expect("a shell"), start(&others, "sleep 65").await);
    let other = other.expect("a shell");
    ours.kill_all();
    assert!(mine.exited(SOON).await.is_some_and(|status| !status.success()));
    assert_eq!(other.exited(Duration::from_millis(200)).await, None, "it belongs to another handle");
    assert!(start(&others, "exit").await.is_ok(), "only the ended handle refuses");
}
