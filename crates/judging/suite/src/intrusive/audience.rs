//! Whether a token for another server is accepted, by a server that refuses requests without one.

use client::{Client, ClientError};
use guard::scan::{Kind, Proven, find};
use net::client::{Address, HttpAddress, OpenError};

use super::{Options, Probed};

/// Asks without a token, and with that of another audience.
pub(super) async fn probe(options: &Options, token: &str, out: &mut Probed) {
    let Some(rule) = find("scan.token-audience") else { return };
    let bare = match &options.client.address {
        Address::Http(http) => http.clone(),
        _ => return out.notes.push("the audience of tokens was not tried: it needs HTTP".to_owned()),
    };
    let without: Vec<_> =
        bare.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("authorization")).cloned().collect();
    let mut with = without.clone();
    with.push(("Authorization".to_owned(), format!("Bearer {token}")));
    match listed(options, HttpAddress { headers: without, ..bare.clone() }).await {
        Err(error) if is_refusal(&error) => {}
        Err(error) => return out.incomplete.push(format!("the audience of tokens was not tried: {error}")),
        Ok(()) => return out.notes.push("the audience of tokens was not tried: the server requires none".to_owned()),
    }
    out.tried.entry(rule.id).or_insert((rule, 0)).1 += 1;
    if listed(options, HttpAddress { headers: with, ..bare }).await.is_ok() {
        out.proven.push(Proven {
            rule,
            severity: rule.severity,
            kind: Kind::Configuration,
            item: "authorization".to_owned(),
            pointer: String::new(),
            text: "a token for another audience".to_owned(),
            message: "the server refuses requests without a token and answers one with a token for another server"
                .to_owned(),
        });
    }
}

async fn listed(options: &Options, address: HttpAddress) -> Result<(), ClientError> {
    let options = client::Options { address: Address::Http(address), authorizer: None, ..options.client.clone() };
    let client = Client::connect(options).await?;
    // Some servers admit everybody until something is asked for.
    let answer = client.tools().await.map(drop);
    client.close().await;
    answer
}

fn is_refusal(error: &ClientError) -> bool {
    match error {
        ClientError::Unauthorized { .. } => true,
        ClientError::Open(error) => {
            matches!(**error, OpenError::Unauthorized { .. } | OpenError::Http { status: 401 | 403, .. })
        }
        _ => false,
    }
}
