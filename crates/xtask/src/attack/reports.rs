//! Pages that the program writes about hostile peers, opened in Chromium with JavaScript on, as users have it: no element,
//! attribute, script, dialog or request of a peer comes to be, with the page's Content-Security-Policy and without it.

mod look;
mod markup;
mod pages;
pub(super) mod peers;

use anyhow::{Context as _, ensure};

use self::look::{Look, Window};
use self::markup::Markup;
use self::pages::Page;
use super::Plan;
use super::hostile::http::{Seen, Sent, Web};
use super::trial::Trial;

const TEXT: &str = "shown as text: no element, attribute, dialog or request comes of it";

pub(super) fn run(trial: &mut Trial<'_>) -> anyhow::Result<()> {
    let plan = trial.plan;
    let canary = Web::start(|_: &Seen, _| Sent::response("200 OK", "Access-Control-Allow-Origin: *\r\n", b""))?;
    let port = canary.address.port();
    let markup = markup::all(port, pages::repeated(plan));
    let mut window = Window::open(plan, canary)?;
    let made = std::thread::scope(|scope| {
        let made = scope.spawn(|| pages::all(plan, port, &markup));
        careless(trial, &mut window, &markup);
        made.join()
    });
    for page in made.map_err(|_| anyhow::anyhow!("a page could not be made: it panicked"))?? {
        judged(trial, &mut window, &page, &markup);
    }
    Ok(())
}

/// What the texts do on a page that escapes nothing: without this, a page that holds would prove nothing.
fn careless(trial: &mut Trial<'_>, window: &mut Window, markup: &[Markup]) {
    let plan = trial.plan;
    trial.one(
        "a page that escapes nothing",
        "Chromium",
        "every text is noticed there, so that something is tried",
        || {
            // The texts do not change from one run to the next.
            for one in markup.iter().filter(|one| one.text.len() < 1000).step_by(plan.amount(1, 8)) {
                let page = careless_page(plan, one)?;
                let look = window.look(&page, false, "").with_context(|| format!("with {}", one.mark))?;
                ensure!(look.active(&one.mark) || look.hidden, "{} is not noticed: {}", one.mark, one.text);
            }
            Ok(())
        },
    );
}

/// A page with a text in every place where a page could have it.
fn careless_page(plan: &Plan, one: &Markup) -> anyhow::Result<String> {
    let text = &one.text;
    let page = format!(
        "<!doctype html><meta charset=utf-8><title>careless</title><body><p>{text}</p>\n<p title=\"{text}\">a</p>\n\
         <p title='{text}'>b</p>\n<p title={text}>c</p>\n<a href=\"{text}\">d</a>\n<p id=source>{text}</p>\n\
         <script>document.body.insertAdjacentHTML('beforeend', document.getElementById('source').textContent)</script>\n\
         <script>document.body.insertAdjacentHTML('beforeend', \"{text}\")</script>\n<script>var a = '{text}';</script>\n\
         <script>var b = `{text}`;</script>\n<script>var c = '\\{text}';</script>\n"
    );
    let file = plan.folder.join("careless.html");
    std::fs::write(&file, page)?;
    Ok(format!("file://{}", file.display()))
}

fn judged(trial: &mut Trial<'_>, window: &mut Window, page: &Page, markup: &[Markup]) {
    // What a visitor does is tried where nothing but the escaping protects the page.
    let policies: &[bool] = if page.first.is_empty() { &[true, false] } else { &[false] };
    let looks: anyhow::Result<Vec<Look>> =
        policies.iter().map(|policy| window.look(&page.url, *policy, &page.first)).collect();
    let looks = match looks {
        Ok(looks) => looks,
        Err(error) => return trial.failed("the page opens", page.name, format!("{error:#}")),
    };
    let shown = |one: &&Markup| looks.iter().any(|look| look.shown.contains(&one.mark) || look.active(&one.mark));
    let count = markup.iter().filter(shown).count();
    trial.one("the texts of the peer", page.name, "on the page, so that something is tried", || {
        ensure!(count >= page.least, "{count} of {} are there, {} expected", markup.len(), page.least);
        Ok(())
    });
    for one in markup.iter().filter(shown) {
        let what = one.text.escape_debug().to_string().chars().take(60).collect::<String>();
        trial.one(&what, page.name, TEXT, || looks.iter().try_for_each(|look| look.harmless(&one.mark)));
    }
    trial.one(
        "everything else on the page",
        page.name,
        "no foreign element, dialog, request or hidden character",
        || looks.iter().try_for_each(Look::sound),
    );
}
