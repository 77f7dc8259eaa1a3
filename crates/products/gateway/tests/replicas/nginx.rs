//! A real `nginx` before all replicas: each request goes to the next one.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::ports;

const PATIENCE: Duration = Duration::from_secs(20);

/// It sends no request twice: `proxy_next_upstream off`.
pub(crate) struct Nginx {
    process: Child,
    pub(crate) address: SocketAddr,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Nginx {
    pub(crate) async fn start(folder: &Path, replicas: &[u16]) -> Self {
        let port = ports::free();
        let file = folder.join("nginx.conf");
        std::fs::write(&file, config(folder, port, replicas)).expect("a file");
        let mut command = Command::new("nginx");
        command.arg("-e").arg(folder.join("nginx.log")).arg("-p").arg(folder).arg("-c").arg(&file);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = quiet.spawn().expect("nginx starts: apt-get install nginx-light");
        let nginx = Self { process, address: SocketAddr::from((Ipv4Addr::LOCALHOST, port)) };
        let begun = Instant::now();
        while TcpStream::connect(nginx.address).await.is_err() {
            let log = std::fs::read_to_string(folder.join("nginx.log")).unwrap_or_default();
            assert!(begun.elapsed() < PATIENCE, "nginx does not listen: {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        nginx
    }
}

fn config(folder: &Path, port: u16, replicas: &[u16]) -> String {
    let servers: Vec<_> = replicas.iter().map(|port| format!("server 127.0.0.1:{port} max_fails=0;\n")).collect();
    let servers = servers.concat();
    let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|kind| format!("{kind}_temp_path {}/{kind};\n", folder.display()))
        .concat();
    format!(
        "daemon off;\nmaster_process off;\npid {}/nginx.pid;\nevents {{ worker_connections 1024; }}\n\
         http {{\naccess_log off;\n{temporary}upstream gateways {{\n{servers}}}\n\
         server {{\nlisten 127.0.0.1:{port};\nlocation / {{\nproxy_pass http://gateways;\nproxy_http_version 1.1;\n\
         proxy_set_header Host $http_host;\nproxy_set_header Connection \"\";\nproxy_buffering off;\n\
         proxy_connect_timeout 2s;\nproxy_read_timeout 30s;\nproxy_next_upstream off;\n}}\n}}\n}}\n",
        folder.display()
    )
}
