//! From a request to what the page asks for. Refused before anything is read: foreign hosts and origins, and requests for the API
//! without the token.

use std::sync::OnceLock;

use net::server::http::{Method, Next, Request, Response, StatusCode};

use crate::assets::Files;
use crate::body::{Body, Parameters};
use crate::failure::Failure;
use crate::reply;
use crate::token::{Token, is_own_origin};

/// What stands before a page.
#[derive(Debug)]
pub struct Entry {
    token: Token,
    files: Files,
    /// The command that printed the address.
    program: &'static str,
    /// The only origin whose pages it shows in frames.
    frames: OnceLock<String>,
}

/// What is asked for.
#[derive(Debug)]
pub enum Asked {
    /// A file, which is answered.
    File(Response),
    /// What is below `/api/`, to be read.
    Read(String, Parameters),
    /// What is below `/api/`, to be done.
    Act(String, Body),
}

impl Entry {
    /// With a new token. `program` is the command that prints the address.
    pub fn new(files: Files, program: &'static str) -> std::io::Result<Self> {
        Ok(Self { token: Token::random()?, files, program, frames: OnceLock::new() })
    }

    /// The token of this launch.
    pub const fn token(&self) -> &Token {
        &self.token
    }

    /// The page may show pages of this origin in frames, of no other. The first one counts.
    pub fn shows_frames_of(&self, origin: &str) {
        let _ = self.frames.set(origin.to_owned());
    }

    /// Admits a request and reads it.
    pub async fn read(&self, request: Request, next: Next<'_>) -> Result<Asked, Failure> {
        let remedy = || format!("open the address that {} printed", self.program);
        if next.distrust(&request).is_some() || !is_own_origin(request.headers()) {
            return Err(Failure::new(StatusCode::FORBIDDEN, "`Host` or `Origin` is not this page's own", remedy()));
        }
        let path = request.uri().path().to_owned();
        let Some(route) = path.strip_prefix("/api/") else { return self.file(&path, &request).map(Asked::File) };
        if !self.token.admits(request.headers()) {
            let what = "the token of this launch is missing or wrong";
            return Err(Failure::new(StatusCode::UNAUTHORIZED, what, remedy()));
        }
        match *request.method() {
            Method::GET => Ok(Asked::Read(route.to_owned(), Parameters::of(request.uri().query()))),
            Method::POST => {
                if !is_json(&request) {
                    let what = "`Content-Type` is not application/json";
                    return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what, "send JSON"));
                }
                let body = next.read(request.into_body()).await.map_err(|refusal| too_long(&refusal))?;
                Ok(Asked::Act(route.to_owned(), Body::read(&body)?))
            }
            _ => Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "only GET and POST are answered", "GET or POST")),
        }
    }

    fn file(&self, path: &str, request: &Request) -> Result<Response, Failure> {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return Err(Failure::new(StatusCode::METHOD_NOT_ALLOWED, "files are only read", "GET"));
        }
        let asset = self.files.find(path).ok_or_else(|| Failure::missing("there is nothing at this address"))?;
        let frames = self.frames.get().map(String::as_str);
        Ok(reply::file(asset, request.method(), request.headers(), frames))
    }
}

fn is_json(request: &Request) -> bool {
    let declared = request.headers().get("content-type").and_then(|value| value.to_str().ok());
    declared.is_some_and(|value| wire::http::has_media_type(value, wire::http::JSON))
}

fn too_long(refusal: &Response) -> Failure {
    Failure::new(refusal.status(), "the body is too long, or did not come", "send less than 4 MiB")
}
