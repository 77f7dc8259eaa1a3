//! Reads where a server is and how to start it.

use std::path::Path;

use net::client::Command;
use net::started::PORT;
use url::Url;
use wire::Transport;

use super::Reader;
use crate::test::model;
use crate::test::plan::{Location, Server};

impl Reader<'_> {
    pub(super) fn server(&mut self, server: model::Server, pointer: &str, folder: &Path) -> Option<Server> {
        let model::Server { mut command, url, transport, mut env, cwd, headers, bearer_env, per_case, .. } = server;
        let inherits = server.inherit_env;
        let model::Server { linux, macos, windows, .. } = server;
        let here = match std::env::consts::OS {
            "linux" => linux,
            "macos" => macos,
            "windows" => windows,
            _ => None,
        };
        if let Some(platform) = here {
            command = platform.command.or(command);
            env.extend(platform.env);
        }
        if url.is_none() && (!headers.is_empty() || bearer_env.is_some()) {
            self.error(pointer, "headers need a `url`", "remove them, or add the `url`");
        }
        // The schema has checked the names.
        let transport: Option<Transport> = transport.as_deref().and_then(|name| name.parse().ok());
        if let Some(transport) = transport
            && url.as_deref().is_none_or(|url| url.starts_with("ws") != (transport == Transport::WebSocket))
        {
            let what = match url {
                Some(_) => format!("this URL is not reached over {transport}"),
                None => "a transport needs a `url`".to_owned(),
            };
            self.error(&format!("{pointer}/transport"), what, "remove it: proof detects the transport");
        }
        let command = command.as_ref().and_then(|command| command.split_first()).map(|(program, args)| Command {
            program: program.clone(),
            args: args.to_vec(),
            env: env.into_iter().collect(),
            cwd: Some(cwd.map_or_else(|| folder.to_owned(), |cwd| folder.join(cwd))),
        });
        let location = match (command, url) {
            (Some(command), None) => Location::Command(command),
            (command, Some(url)) => {
                // Any port number makes the URL valid.
                let found = Url::parse(&url.replace(PORT, "1"));
                if !found.is_ok_and(|url| url.has_host()) {
                    self.error(&format!("{pointer}/url"), "invalid URL", "http://127.0.0.1:3000/mcp");
                    return None;
                }
                if command.is_none() && url.contains(PORT) {
                    let what = format!("{PORT} needs a `command` that starts the server");
                    self.error(&format!("{pointer}/url"), what, "add a `command`, or write the port");
                    return None;
                }
                Location::Url { url, transport, headers: headers.into_iter().collect(), bearer_env, command }
            }
            (None, None) if self.lost.contains(pointer) => return None,
            (None, None) => {
                self.error(pointer, "this server has neither a `command` nor a `url`", "add one of them, or both");
                return None;
            }
        };
        Some(Server { location, per_case, inherits })
    }
}
