//! One document at an address that the user named: one GET, no redirect followed, of bounded size and time. Must not know what
//! the document is.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty, LengthLimitError, Limited};
use hyper::Request;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, HOST, USER_AGENT};
use hyper_util::rt::TokioIo;
use tokio::task::AbortHandle;
use tokio::time::timeout;
use url::Position;

use super::HttpAddress;
use super::dial::Dialer;
use super::error::OpenError;

/// Why there is no document.
#[derive(Clone, Debug, PartialEq)]
pub enum DocumentError {
    /// The server cannot be reached.
    Open(OpenError),
    /// The address or a header is one that HTTP cannot carry.
    Unsendable,
    /// It does not speak HTTP, or the answer broke off.
    Broken,
    /// Another status than 200.
    Status(u16),
    /// More than this many bytes.
    TooLong(usize),
    /// Not whole after this time.
    Timeout(Duration),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(error) => f.write_str(&error.what()),
            Self::Unsendable => f.write_str("HTTP cannot carry a request for this address"),
            Self::Broken => f.write_str("the answer is not HTTP, or it broke off"),
            Self::Status(status) => write!(f, "HTTP {status}"),
            Self::TooLong(most) => write!(f, "the document is longer than {} MiB", most >> 20),
            Self::Timeout(after) => write!(f, "no document within {:.0} s", after.as_secs_f64()),
        }
    }
}

impl std::error::Error for DocumentError {}

/// Gets the JSON document at an address, of at most `most` bytes, within `limit`.
pub async fn document(address: &HttpAddress, limit: Duration, most: usize) -> Result<Bytes, DocumentError> {
    timeout(limit, exchange(address, limit, most)).await.unwrap_or(Err(DocumentError::Timeout(limit)))
}

async fn exchange(address: &HttpAddress, limit: Duration, most: usize) -> Result<Bytes, DocumentError> {
    let request = request(address).ok_or(DocumentError::Unsendable)?;
    let dialer = Dialer::new(address, limit).map_err(DocumentError::Open)?;
    let io = dialer.dial().await.map_err(DocumentError::Open)?;
    let handshake = http1::Builder::new().handshake(TokioIo::new(io)).await;
    let (mut sender, connection) = handshake.map_err(|_| DocumentError::Broken)?;
    let _driver = Driver(tokio::spawn(async move { _ = connection.await }).abort_handle());
    let response = sender.send_request(request).await.map_err(|_| DocumentError::Broken)?;
    if response.status() != 200 {
        return Err(DocumentError::Status(response.status().as_u16()));
    }
    let collected = Limited::new(response.into_body(), most).collect().await;
    Ok(collected.map_err(|error| limited(error.as_ref(), most))?.to_bytes())
}

fn limited(error: &(dyn std::error::Error + 'static), most: usize) -> DocumentError {
    if error.is::<LengthLimitError>() { DocumentError::TooLong(most) } else { DocumentError::Broken }
}

fn request(address: &HttpAddress) -> Option<Request<Empty<Bytes>>> {
    let url = &address.url;
    let mut request = Request::get(&url[Position::BeforePath..Position::AfterQuery])
        .header(HOST, &url[Position::BeforeHost..Position::AfterPort])
        .header(USER_AGENT, concat!("proofhouse/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, "application/json");
    for (name, value) in &address.headers {
        request = request.header(name, value);
    }
    request.body(Empty::new()).ok()
}

/// Drops the connection with the answer.
struct Driver(AbortHandle);

impl Drop for Driver {
    fn drop(&mut self) {
        self.0.abort();
    }
}
