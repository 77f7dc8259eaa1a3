//! Ports that a process may leave and take again: below those that outgoing connections get.

use std::net::{Ipv4Addr, TcpListener};
use std::sync::atomic::{AtomicU16, Ordering};

const FIRST: u16 = 16_384;
const COUNT: u16 = 14_000;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port that is not in use.
pub(crate) fn free() -> u16 {
    let process = (std::process::id() % u32::from(COUNT)) as u16;
    let ports = std::iter::repeat_with(|| FIRST + (process + NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT);
    let mut free = ports.take(1000).filter(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok());
    free.next().expect("a free port")
}
