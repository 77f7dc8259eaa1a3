//! What the HTTP parser refuses by itself, for the server and the proxy: heads that are too large, too late or have too many
//! headers.

use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;

use super::options::Limits;

/// HTTP/1.1 within `limits`.
pub(super) fn protocol(limits: &Limits) -> http1::Builder {
    // The default of hyper. An explicit limit makes it allocate for as many headers with every request.
    const HEADERS: usize = 100;
    // A head and a body of 64 KiB arrive in one piece, with one system call and no timer for the rest.
    const READ: usize = 128 << 10;
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time)
        .max_buf_size(limits.head.max(READ))
        .max_header_size(limits.head);
    if limits.headers != HEADERS {
        protocol.max_headers(limits.headers);
    }
    protocol
}
