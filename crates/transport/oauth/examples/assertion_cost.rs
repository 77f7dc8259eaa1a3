//! What it costs to sign an assertion, as the gateway does for each request to a server that wants one: the hash of the body, a
//! random id, JSON, and the signature. Prints microseconds for each; the least of several rounds, because the machine may do
//! other work.

use std::time::Instant;

use oauth::jose::{Signer, encode};
use oauth::{now, random};
use ring::digest::{SHA256, digest};
use serde_json::json;

const ROUNDS: usize = 20;
const EACH: usize = 500;

fn sign(signer: &Signer, body: &[u8]) -> String {
    let at = now();
    let claims = json!({
        "iss": "https://mcp.example", "aud": "https://crm.example/mcp", "iat": at, "exp": at + 30, "jti": random(),
        "htm": "POST", "body_sha256": encode(digest(&SHA256, body).as_ref()), "sub": "ann",
        "sub_id": { "format": "iss_sub", "iss": "https://auth.example", "sub": "ann" },
        "scope": "crm.read crm.write", "tenant_id": "acme",
    });
    signer
        .sign(json!({ "typ": "gateway-assertion+jwt", "kid": "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs" }), &claims)
}

#[expect(clippy::print_stdout, reason = "it says what it measured")]
fn main() {
    let signers = [Signer::fresh(), Signer::fresh_edwards_with_text().0];
    for signer in &signers {
        for (size, shown) in [(1 << 10, "1 KiB"), (64 << 10, "64 KiB")] {
            let body = vec![b'x'; size];
            let mut least = f64::INFINITY;
            let mut length = 0;
            for _ in 0..ROUNDS {
                let begun = Instant::now();
                for _ in 0..EACH {
                    length = sign(signer, &body).len();
                }
                least = least.min(begun.elapsed().as_secs_f64() * 1e6 / EACH as f64);
            }
            println!("{} body {shown}: {least:.1} us, {length} bytes", signer.alg());
        }
    }
}
