//! What a client asks to be allowed, compared with what servers demanded: the judges.

use super::form::words;
use super::steps::{Document, Request, Step, Steps, answered_at};
use crate::basic::authorization::bearer;
use crate::verdict::{Breach, Kept, Verdict};
use crate::view::{Exchange, View};

/// The scope that a client may add to get refresh tokens.
const OFFLINE: &str = "offline_access";

fn not_seen(why: &str) -> Verdict {
    Verdict::NotSeen(why.to_owned())
}

/// Requests that say how much is asked for: for authorization, and for tokens of clients that act for themselves.
fn requests<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> Vec<&'s Request<'a, 'v>> {
    let own = steps.grants.iter().filter(|grant| grant.is_grant("client_credentials"));
    let mut all: Vec<_> = steps.authorizations.iter().chain(own).collect();
    all.sort_by_key(|step| step.at());
    all
}

/// A challenge's event and its scopes, if it names any.
type Challenge = (usize, Option<Vec<String>>);

/// The challenges of the client by 401, and by 403 for too little scope, in order.
fn challenges(steps: &Steps<'_, '_>) -> Vec<Challenge> {
    let all = steps.refusals().chain(steps.too_little());
    let mut all: Vec<Challenge> = all.filter_map(|x| Some((answered_at(x)?, Steps::scopes(x)))).collect();
    all.sort_by_key(|(answered, _)| *answered);
    all
}

/// The last challenge before a request.
fn last_before(challenges: &[Challenge], event: usize) -> Option<&Challenge> {
    challenges.iter().rfind(|(answered, _)| *answered < event)
}

/// The newest metadata of the resource that was fetched before `event`.
fn metadata<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>, event: usize) -> Option<&'s Document<'a, 'v>> {
    steps.resources.iter().rfind(|d| d.given.is_some() && d.answered_at().is_some_and(|answered| answered < event))
}

/// The scopes that metadata lists, sorted and each once.
fn supported<'s>(document: &'s Document<'_, '_>) -> Option<Vec<&'s str>> {
    let mut list = document.list("scopes_supported")?;
    list.sort_unstable();
    list.dedup();
    Some(list)
}

fn shown(scopes: &[&str]) -> String {
    if scopes.is_empty() { "none".to_owned() } else { format!("`{}`", scopes.join(" ")) }
}

fn scopes_of<'s>(step: &'s Request<'_, '_>) -> Vec<&'s str> {
    step.asks.words("scope").unwrap_or_default()
}

fn refs(scopes: &[String]) -> Vec<&str> {
    scopes.iter().map(String::as_str).collect()
}

pub(super) fn authoritative(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let challenges = challenges(&steps);
    let (mut judged, mut before) = (Vec::new(), 0);
    for step in requests(&steps) {
        let since = challenges.iter().filter(|(answered, _)| *answered > before && *answered < step.at());
        let named: Vec<&Vec<String>> = since.filter_map(|(_, scopes)| scopes.as_ref()).collect();
        before = step.at();
        let listed = metadata(&steps, step.at()).and_then(supported);
        // Requests side by side may be refused for different scopes: any of them may be what the client acts on.
        if let (Some(last), Some(listed)) = (named.last(), listed)
            && named.iter().all(|scopes| listed != refs(scopes))
        {
            let has = scopes_of(step);
            let meets = |scopes: &&Vec<String>| scopes.iter().all(|scope| has.contains(&scope.as_str()));
            let why = || format!("the challenge names {}; the client asks for {}", shown(&refs(last)), shown(&has));
            let kept: Kept = if named.iter().any(meets) { Ok(()) } else { Err(step.breach("", why())) };
            judged.push((step.at(), kept));
        }
    }
    Verdict::of(judged, "no challenge named other scopes than the metadata lists")
}

/// The first request of a client that had no grant yet, with the 401 before it.
fn first<'s, 'a, 'v>(steps: &'s Steps<'a, 'v>) -> Option<(&'s Request<'a, 'v>, Challenge)> {
    let all: Vec<Challenge> = steps.refusals().filter_map(|x| Some((answered_at(x)?, Steps::scopes(x)))).collect();
    let step = *requests(steps).first()?;
    // A client that came with a token has agreed to something before.
    let stranger = !steps
        .endpoint
        .iter()
        .any(|x| answered_at(x).is_some_and(|answered| answered < step.at()) && bearer(x).is_some());
    let challenge = last_before(&all, step.at()).filter(|_| stranger)?;
    Some((step, challenge.clone()))
}

/// What is asked for, `offline_access` left out where it was added by right.
fn scopes_requested_first<'s>(steps: &Steps<'_, '_>, step: &'s Request<'_, '_>, due: &[&str]) -> Vec<&'s str> {
    let lists = steps.issuers.iter().any(|d| d.list("scopes_supported").is_some_and(|list| list.contains(&OFFLINE)));
    let added = lists && !due.contains(&OFFLINE);
    scopes_of(step).into_iter().filter(|scope| !(added && *scope == OFFLINE)).collect()
}

pub(super) fn from_challenge(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some((step, (answered, Some(scopes)))) = first(&steps) else {
        return not_seen("no first request for authorization followed a 401 that names scopes");
    };
    let (due, has) = (refs(&scopes), scopes_requested_first(&steps, step, &refs(&scopes)));
    if due == has {
        return Verdict::Holds(vec![step.at()]);
    }
    let why = format!("the 401 (event {answered}) names {}; the client asks for {}", shown(&due), shown(&has));
    Verdict::Broken(step.breach("", why))
}

pub(super) fn fallback(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let Some((step, (_, None))) = first(&steps) else {
        return not_seen("no first request for authorization followed a 401 that names no scopes");
    };
    let Some(document) = metadata(&steps, step.at()) else { return not_seen("the metadata was not fetched") };
    let due = supported(document).unwrap_or_default();
    let has = scopes_requested_first(&steps, step, &due);
    if due == has {
        return Verdict::Holds(vec![step.at()]);
    }
    let why = format!("the metadata's scopes_supported is {}; the client asks for {}", shown(&due), shown(&has));
    Verdict::Broken(step.breach("", why))
}

/// What a grant gives, by its answer, else by what was asked for.
fn granted(steps: &Steps<'_, '_>, request: &Request<'_, '_>, until: usize) -> Option<Vec<String>> {
    let token = |grant: &&Request<'_, '_>| {
        let within = grant.at() >= request.at() && grant.answered_at().is_some_and(|answered| answered < until);
        within && grant.given_text("access_token").is_some()
    };
    let grant = steps.grants.iter().find(token)?;
    let scopes = grant.given_text("scope").map_or_else(|| scopes_of(request), words);
    Some(scopes.into_iter().map(str::to_owned).collect())
}

pub(super) fn union(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let challenges = challenges(&steps);
    let all = requests(&steps);
    let judged = all.windows(2).filter_map(|pair| -> Option<(usize, Kept)> {
        let (before, step) = (pair[0], pair[1]);
        let same_place =
            before.x.path() == step.x.path() && before.x.request_header("host") == step.x.request_header("host");
        let (answered, scopes) =
            last_before(&challenges, step.at()).filter(|(answered, _)| *answered > before.at() && same_place)?;
        let had = granted(&steps, before, *answered)?;
        let challenged = scopes.as_ref()?;
        let more: Vec<&str> = had.iter().filter(|scope| !challenged.contains(scope)).map(String::as_str).collect();
        if more.is_empty() {
            return None;
        }
        let has = scopes_of(step);
        let lacks = more.into_iter().find(|scope| *scope != OFFLINE && !has.contains(scope));
        let why = |scope: &str| format!("`{scope}` was granted before, and is not asked for again");
        Some((step.at(), lacks.map_or(Ok(()), |scope| Err(step.breach("", why(scope))))))
    });
    Verdict::of(
        judged.collect::<Vec<_>>(),
        "no challenge for further scopes was followed by a request for authorization",
    )
}

pub(super) fn step_up(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let by_user = steps.grants.iter().any(|grant| grant.is_grant("authorization_code"));
    let judged = steps.too_little().filter(|x| by_user && bearer(x).is_some()).filter_map(|x| {
        let (answered, scopes) = (answered_at(x)?, Steps::scopes(x)?);
        let meets = |step: &Request<'_, '_>| scopes.iter().all(|scope| scopes_of(step).contains(&scope.as_str()));
        // A client that asked for them before has tried, and may give up.
        if steps.authorizations.iter().any(|step| step.at() < answered && meets(step)) {
            return None;
        }
        let later: Vec<_> = steps.authorizations.iter().filter(|step| step.at() > answered).collect();
        if let Some(step) = later.iter().find(|step| meets(step)) {
            return Some((step.at(), Ok(())));
        }
        let why = "the token has too little scope, and the client does not ask for what the challenge names";
        let at = later.first().map(|step| step.at()).or_else(|| steps.left(answered));
        at.map(|_| (answered, Err(Breach::at(answered, "status", why))))
    });
    let unseen =
        "no token that a user had agreed to was refused for too little scope, or the client was not seen to continue";
    Verdict::of(judged.collect::<Vec<(usize, Kept)>>(), unseen)
}

/// How often more may be asked for.
const FEW: usize = 4;

/// What an exchange asks the server to do.
fn operation(x: &Exchange<'_>) -> Option<(String, Option<String>)> {
    let message = x.question()?.message;
    let name = message.params().and_then(|params| params.get("name").or_else(|| params.get("uri")));
    Some((message.method()?.to_owned(), name.and_then(|name| name.as_str()).map(str::to_owned)))
}

pub(super) fn retry_limited(view: &View<'_>) -> Verdict {
    let steps = Steps::of(view);
    let refused: Vec<_> = steps.too_little().filter_map(|x| Some((answered_at(x)?, operation(x)?))).collect();
    let mut witnesses = Vec::new();
    let mut seen: Vec<&(String, Option<String>)> = Vec::new();
    for (_, operation) in &refused {
        if seen.contains(&operation) {
            continue;
        }
        seen.push(operation);
        let times: Vec<usize> =
            refused.iter().filter(|(_, other)| other == operation).map(|(answered, _)| *answered).collect();
        let follows = |answered: &usize, next: Option<&usize>| {
            let until = next.copied().unwrap_or(usize::MAX);
            steps.authorizations.iter().map(Step::at).find(|at| at > answered && *at < until)
        };
        let again: Vec<usize> =
            times.iter().enumerate().filter_map(|(i, answered)| follows(answered, times.get(i + 1))).collect();
        if let Some(event) = again.get(FEW) {
            let why = format!("for one operation ({}) the client asks for more scope again and again", operation.0);
            return Verdict::Broken(Breach::at(*event, "", why));
        }
        if !again.is_empty() && times.len() > 1 {
            witnesses.extend(times.last().and_then(|last| steps.over(*last)));
        }
    }
    Verdict::witnessed(witnesses, "no operation was refused again after more scope was asked for")
}
