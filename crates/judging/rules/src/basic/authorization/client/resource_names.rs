//! Which name of the MCP server a client puts into requests for tokens: the judges.

use super::steps::{Request, Steps, is_at};
use crate::basic::authorization::Address;
use crate::verdict::{Kept, Verdict};
use crate::view::View;

/// Grants that name their resource by `resource`, and by nothing else.
const PLAIN: [&str; 3] = ["authorization_code", "refresh_token", "client_credentials"];

const UNNAMED: &str = "no request for authorization or a token named a resource";

/// Authorization and token requests that are to name the resource.
fn requests<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> impl Iterator<Item = &'s Request<'a, 'v>> {
    let plain = |grant: &&Request<'_, '_>| grant.text("grant_type").is_some_and(|kind| PLAIN.contains(&kind));
    steps.authorizations.iter().chain(steps.grants.iter().filter(plain))
}

pub(super) fn resource_parameter(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    if steps.refusals().next().is_none() {
        return Verdict::NotSeen("the client was never answered 401".to_owned());
    }
    Verdict::every(requests(&steps), "the client asked for neither authorization nor a token", |step| {
        match step.text("resource") {
            Some(_) => Ok(()),
            None => Err(step.breach("", "this request does not name the MCP server as its `resource`")),
        }
    })
}

/// What a client knows of the server's name when it asks.
struct Known<'s> {
    /// The endpoint's path.
    path: &'s str,
    /// What the resource's metadata said.
    from_metadata: Vec<&'s str>,
}

fn known<'s>(steps: &'s Steps<'_, '_>, event: usize) -> Option<Known<'s>> {
    let path = steps.endpoint.iter().find_map(|x| x.path())?;
    let before = steps.resources.iter().filter(|d| d.answered_at().is_some_and(|answered| answered < event));
    Some(Known { path, from_metadata: before.filter_map(|d| d.given_text("resource")).collect() })
}

/// Judges every `resource` that is not, to the letter, what the metadata said.
fn judge_named(steps: &Steps<'_, '_>, judge: impl Fn(&str, &Known<'_>) -> Option<Result<(), String>>) -> Verdict {
    let mut judged: Vec<(usize, Kept)> = Vec::new();
    for step in requests(steps) {
        let Some(known) = known(steps, step.at()) else { continue };
        for resource in step.asks.all("resource") {
            let kept = if known.from_metadata.contains(&resource) { Some(Ok(())) } else { judge(resource, &known) };
            judged.extend(kept.map(|kept| (step.at(), kept.map_err(|why| step.breach("", why)))));
        }
    }
    Verdict::of(judged, UNNAMED)
}

/// Whether `path` is `of` or leads down to it.
fn is_above(path: &str, of: &str) -> bool {
    let path = path.trim_end_matches('/');
    of.trim_end_matches('/').strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

fn path_of<'t>(address: &Address<'t>) -> &'t str {
    address.target.split('?').next().unwrap_or_default()
}

pub(super) fn resource_canonical(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    judge_named(&steps, |resource, known| {
        let Some(address) = Address::of(resource) else {
            return Some(Err(format!("`resource` is {resource}: no absolute URI")));
        };
        if address.fragment.is_some() {
            return Some(Err(format!("`resource` is {resource}: it has a fragment")));
        }
        let here = steps.endpoint.iter().any(|x| is_at(resource, x)) && is_above(path_of(&address), known.path);
        let why = || format!("`resource` is {resource}, and the MCP server is at {}", place(&steps, known));
        Some(if here { Ok(()) } else { Err(why()) })
    })
}

fn place(steps: &Steps<'_, '_>, known: &Known<'_>) -> String {
    let host = steps.endpoint.iter().find_map(|x| x.request_header("host")).unwrap_or_default();
    format!("{host}{}", known.path)
}

pub(super) fn resource_specific(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    judge_named(&steps, |resource, known| {
        let address = Address::of(resource)?;
        let path = path_of(&address);
        let here = steps.endpoint.iter().any(|x| is_at(resource, x)) && is_above(path, known.path);
        if !here || known.path == "/" {
            return None;
        }
        let whole = path.trim_end_matches('/') == known.path.trim_end_matches('/');
        Some(if whole {
            Ok(())
        } else {
            Err(format!("`resource` is {resource}, though the endpoint is {}", known.path))
        })
    })
}

pub(super) fn without_slash(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    judge_named(&steps, |resource, known| {
        let address = Address::of(resource)?;
        if known.path.ends_with('/') && known.path != "/" {
            return None;
        }
        let slash = path_of(&address).ends_with('/');
        Some(if slash { Err(format!("`resource` is {resource}: its last slash means nothing")) } else { Ok(()) })
    })
}

pub(super) fn uppercase_accepted(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let shouted = |resource: &str| {
        let Some(address) = Address::of(resource) else { return false };
        let upper = |text: &str| text.contains(|c: char| c.is_ascii_uppercase());
        (upper(address.scheme) || upper(address.authority)) && steps.endpoint.iter().any(|x| is_at(resource, x))
    };
    let leads_on = |names: Option<Vec<&str>>| names.is_some_and(|names| !names.is_empty());
    let mut documents = steps.resources.iter().filter(|d| leads_on(d.list("authorization_servers")));
    let Some(document) = documents.find(|d| d.given_text("resource").is_some_and(shouted)) else {
        return Verdict::NotSeen("no metadata named the server in upper case".to_owned());
    };
    let answered = document.answered_at().unwrap_or_default();
    if let Some(event) = steps.wants(answered) {
        return Verdict::Holds(vec![event]);
    }
    // A client that also asked the authorization server may have stopped for what that said.
    match steps.left(answered).filter(|_| steps.seeks(answered).is_none()) {
        Some(_) => {
            Verdict::Broken(document.breach("", "the client stops at a URI with upper-case letters in scheme or host"))
        }
        None => Verdict::NotSeen("the client was not seen to continue, nor to stop".to_owned()),
    }
}
