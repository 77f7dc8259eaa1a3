//! Free texts of simulated answers, written by the user's endpoint. A failure is reported once on stderr, and the
//! simulator's own texts are used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::{Advice, Asker, Choice, Endpoint, Inquiry, Price, Request, Spent, Stop};
use replay::{TextPrompt, TextWriter, Writing};
use report::render::text::{count, wrap};
use wire::escape::snippet;
use wire::redact::{Redactor, Secrets};

use crate::args::replay::simulator::SimulatorArgs;
use crate::exit::{self, Exit, tell, tell_redacted};
use crate::run::Run;
use crate::verb::eval::cost;
use crate::verb::eval::model::{self, Model};

/// How long nothing is asked after a failure.
const PAUSE: Duration = Duration::from_secs(5);
/// How many failures are reported; a client could cause more without end.
const MOST_TOLD: u32 = 20;

/// Asks the endpoint of `--simulator-endpoint`.
#[derive(Debug)]
pub(super) struct Writer {
    asker: Arc<Asker>,
    price: Option<Price>,
    place: String,
    redactor: Redactor,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// How many more answers may be asked for.
    left: u32,
    /// No request is sent before.
    pause: Option<Instant>,
    /// No request is sent any more.
    is_over: bool,
    told: u32,
    /// Answers that kept the simulator's texts.
    fallbacks: usize,
}

impl Writer {
    /// The writer, if an endpoint is named; sends nothing yet.
    pub(super) fn new(run: &Run, args: &SimulatorArgs, mut secrets: Secrets) -> Result<Option<Self>, Exit> {
        if args.simulator_endpoint.is_none() {
            return Ok(None);
        }
        let model = Model::new(&args.endpoint(), &args.budget, args.simulator_ca_file.clone(), "--simulator-set")?;
        model.add_secrets(&mut secrets);
        let redactor = run.redactor_of(&secrets);
        exit::conceal(redactor.clone());
        let place = model.place();
        let endpoint = Endpoint::new(model.endpoint).map_err(|error| {
            tell_redacted(&format!("error: {}\n  try: {}", error.what, advice(error.advice)));
            Exit::Usage
        })?;
        let request = Request {
            dialect: model.dialect,
            model: model.name,
            system: None,
            choice: Choice::Auto,
            is_parallel: true,
            is_streamed: false,
            parameters: model.parameters,
        };
        let asker = Asker::new(request, Arc::new(endpoint), model.limits, model.price, Spent::default());
        let state = State { left: args.simulator_requests, pause: None, is_over: false, told: 0, fallbacks: 0 };
        let (asker, state) = (Arc::new(asker), Mutex::new(state));
        Ok(Some(Self { asker, price: model.price, place, redactor, state }))
    }

    /// Reports what it cost, and how many answers went without it.
    pub(super) fn conclude(&self) {
        let (spent, fallbacks) = (self.asker.spent(), self.state().fallbacks);
        if spent.answers > 0 {
            cost::show(spent, self.price);
        }
        if fallbacks > 0 {
            tell(format_args!("note: {} with the simulator's own texts", count(fallbacks, "simulated answer")));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one of the answers that may be asked for.
    fn take(&self) -> bool {
        let mut state = self.state();
        if state.is_over || state.pause.is_some_and(|until| Instant::now() < until) {
            state.fallbacks += 1;
            return false;
        }
        if let Some(left) = state.left.checked_sub(1) {
            state.left = left;
            return true;
        }
        drop(state);
        self.fail("the model was asked as often as it may be", "a larger --simulator-requests", true);
        false
    }

    /// Reports a failure, and asks nothing for a while, or nothing any more.
    fn fail(&self, what: &str, remedy: &str, is_final: bool) {
        let told = {
            let mut state = self.state();
            state.fallbacks += 1;
            state.pause = Some(Instant::now() + PAUSE);
            let was_over = state.is_over;
            state.is_over |= is_final;
            state.told += 1;
            state.told <= MOST_TOLD && !was_over
        };
        if told {
            let what = snippet(&self.redactor.redact_text(what), 400);
            let effect =
                if is_final { "from now on, texts are the simulator's" } else { "its texts are the simulator's" };
            let mut text = String::new();
            wrap(&mut text, 0, &format!("warning: no texts of the model: {what}; {effect}"));
            wrap(&mut text, 2, &format!("try: {remedy}"));
            tell(text.trim_end());
        }
    }

    fn stopped(&self, stop: &Stop) {
        match stop {
            Stop::Budget => self.fail("the budget is used up", "a larger budget", true),
            Stop::Uncounted => {
                let what = "the endpoint does not say how many tokens an answer took, so the budget cannot be kept";
                self.fail(what, "--simulator-requests N in place of --max-tokens or --max-cost", true);
            }
            Stop::Endpoint(error) => {
                // An endpoint that is down may come back; a refused key stays refused.
                let is_final = error.is_final && error.advice != Advice::Reach;
                self.fail(&format!("{} – {}", error.what, self.place), &advice(error.advice), is_final);
            }
            Stop::Unwritable(why) => self.fail(why, "room on the disk", true),
        }
    }
}

impl TextWriter for Writer {
    fn write(&self, prompt: TextPrompt) -> Writing<'_> {
        Box::pin(async move {
            if !self.take() {
                return None;
            }
            let (asker, conceal) =
                (Arc::clone(&self.asker), |text: &str| self.redactor.redact_message(text).into_owned());
            let inquiry = Inquiry { system: prompt.system, text: conceal(&prompt.text) };
            // A client that goes away does not end it: what the answer costs counts.
            let asked = tokio::spawn(async move { asker.ask(&inquiry).await }).await.ok()?;
            match asked {
                Ok(answered) if answered.sample.is_refusal => {
                    self.fail("the model refused", "another --simulator-model", false);
                    None
                }
                Ok(answered) => Some(conceal(&answered.sample.text)),
                Err(stop) => {
                    self.stopped(&stop);
                    None
                }
            }
        })
    }

    fn rejected(&self, of: &str, why: &str) {
        let what = format!("its answer for `{}` cannot be used: {why}", snippet(of, 60));
        self.fail(&what, "another --simulator-model", false);
    }
}

/// What a person can do, in the words of this command line.
fn advice(advice: Advice) -> String {
    match advice {
        Advice::Later => "wait: a later request asks again".to_owned(),
        Advice::WaitLonger => "a longer --simulator-timeout".to_owned(),
        other => model::advice(other).replace("--", "--simulator-"),
    }
}
