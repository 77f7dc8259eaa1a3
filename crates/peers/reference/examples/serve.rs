//! Runs the reference server by hand: `serve stdio`, `serve stdio CATALOGUE.yaml` or `serve http 127.0.0.1:3000`.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use reference::Options;
use reference::catalogue::Catalogue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let served = match words.as_slice() {
        ["stdio"] => reference::serve_stdio(Options::default()).await,
        ["stdio", file] => match Catalogue::load(Path::new(file)) {
            Ok(catalogue) => {
                reference::serve_stdio(Options { catalogue: Arc::new(catalogue), ..Options::default() }).await
            }
            Err(faults) => Err(std::io::Error::other(faults.to_string())),
        },
        ["http", address] => serve_http(address).await,
        _ => Err(std::io::Error::other("usage: serve stdio [CATALOGUE] | serve http ADDRESS:PORT")),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), format!("{error}\n").as_bytes());
            ExitCode::FAILURE
        }
    }
}

async fn serve_http(address: &str) -> std::io::Result<()> {
    let address = address.parse().map_err(std::io::Error::other)?;
    let server = reference::serve_http(address, Options::default()).await?;
    let line = format!("listening on http://{}/mcp\n", server.local_addr());
    std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes())?;
    tokio::signal::ctrl_c().await?;
    server.shutdown().await;
    Ok(())
}
