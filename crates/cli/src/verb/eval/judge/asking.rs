//! The questions that are still open, asked, and the file that keeps what was answered.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use agent::{Choice, Endpoint, Inquiries, Inquiry, Keep, Outcome, Recorder, Request, Spent, inquire};
use eval::judge::{self, Decision, FORMAT, Judgements, Prompts, Question, Work};
use serde_json::{Map, Value, json};
use wire::escape::snippet;
use wire::redact::Redactor;

use super::super::files::{bad, unreadable};
use super::super::model::Model;
use super::super::progress::Bar;
use super::super::{concealing, kept};
use crate::args::eval::judge::JudgeArgs;
use crate::exit::{Exit, usage};
use crate::verb::{given_file, output};

/// How large a recording may be, in bytes.
const LIMIT: u64 = 1 << 30;

/// Reads a recording.
pub(super) fn read(path: &Path) -> Result<Judgements, Exit> {
    let text = given_file::text(path, LIMIT).map_err(|error| unreadable(path, &error.to_string()))?;
    judge::read(&text).map_err(|error| bad(path, &error))
}

/// Refuses a recording that could not be written or resumed, before anything is asked.
pub(super) fn check(args: &JudgeArgs) -> Result<(), Exit> {
    match &args.resume {
        Some(path) => read(path).map(drop),
        None => kept::is_free(&args.record),
    }
}

/// A run of questions.
pub(super) struct Asking<'a> {
    args: &'a JudgeArgs,
    prompts: &'a Prompts,
    model: &'a Model,
    path: &'a Path,
    recorder: Arc<Recorder>,
    before: Spent,
}

impl<'a> Asking<'a> {
    /// Opens the recording.
    pub(super) fn open(
        args: &'a JudgeArgs,
        prompts: &'a Prompts,
        model: &'a Model,
        address: &str,
        redactor: Redactor,
    ) -> Result<Self, Exit> {
        let conceal = concealing::concealer(redactor, std::iter::empty(), args.cases());
        let header = match concealing::header(&conceal, &header(prompts, model, address)) {
            Value::Object(members) => members,
            _ => Map::new(),
        };
        let path = args.resume.as_deref().unwrap_or(&args.record);
        let (file, before) = if args.resume.is_some() {
            let file = kept::appended(path)?;
            let known = read(path)?;
            belongs(path, &header, &known)?;
            let cut = file.set_len(known.length as u64);
            cut.map_err(|error| output::unwritable(path, &error.to_string()))?;
            (file, Spent { answers: known.spent.0, tokens: known.spent.1, unknown: 0 })
        } else {
            (kept::created(path)?, Spent::default())
        };
        let recorder = Arc::new(Recorder::new(file, conceal.line));
        if args.resume.is_none() {
            recorder.header(&header).map_err(|error| output::unwritable(path, &error.to_string()))?;
        }
        Ok(Self { args, prompts, model, path, recorder, before })
    }

    /// Asks until nothing is open: SoWR asks which is better only when it is known what is solved.
    pub(super) async fn all(&self, works: &[Work], endpoint: Endpoint) -> Result<Outcome, Exit> {
        let endpoint = Arc::new(endpoint);
        let mut outcome = Outcome { spent: self.before, ..Outcome::default() };
        let mut asked = HashSet::new();
        loop {
            let mut known = read(self.path)?;
            if asked.is_empty() {
                known.forget_failures();
            }
            let open = self.open_questions(works, &known, &mut asked);
            if open.is_empty() {
                return Ok(outcome);
            }
            let (stop, failed) = (outcome.stop.take(), outcome.failed.take());
            outcome = self.ask(open, Arc::clone(&endpoint), outcome.spent).await;
            outcome.failed = outcome.failed.or(failed);
            outcome.stop = outcome.stop.or(stop);
            if outcome.stop.is_some() {
                return Ok(outcome);
            }
        }
    }

    /// The open questions, each once: equal answers have equal questions.
    fn open_questions(&self, works: &[Work], known: &Judgements, asked: &mut HashSet<String>) -> Vec<Question> {
        let open = works.iter().filter_map(|work| match self.prompts.decide(work, known) {
            Decision::Open(questions) => Some(questions),
            Decision::Known(..) | Decision::NotJudged(_) => None,
        });
        open.flatten().filter(|question| asked.insert(question.asked.digest.clone())).collect()
    }

    async fn ask(&self, open: Vec<Question>, endpoint: Arc<Endpoint>, before: Spent) -> Outcome {
        let inquiry =
            |question: &Question| Inquiry { system: question.asked.system.clone(), text: question.asked.text.clone() };
        let inquiries = open.iter().map(inquiry).collect();
        let request = Request {
            dialect: self.model.dialect,
            model: self.model.name.clone(),
            system: None,
            choice: Choice::Auto,
            is_parallel: true,
            is_streamed: false,
            parameters: self.model.parameters.clone(),
        };
        let (jobs, limits, price) = (usize::from(self.args.jobs), self.model.limits, self.model.price);
        let plan = Inquiries { request, jobs, limits, price, before, keep: self.keep(open) };
        let bar = Bar::start("judgements");
        let outcome = inquire(plan, endpoint, inquiries, bar.watch()).await;
        bar.stop();
        outcome
    }

    /// Writes each answer before the next question of its place is asked.
    fn keep(&self, open: Vec<Question>) -> Keep {
        let (recorder, prompts) = (Arc::clone(&self.recorder), self.prompts.clone());
        Box::new(move |number, answered| {
            let question = &open[number];
            let line = match (answered, prompts.of(question.kind)) {
                (Ok(answered), Some(prompt)) => {
                    let mut line = judge::line_of(question, prompt, &answered.sample, answered.tokens);
                    line.insert("answer".to_owned(), answered.whole.clone());
                    line
                }
                (Ok(_), None) => judge::failed(question, "no prompt of this kind"),
                (Err(error), _) => judge::failed(question, &error.what),
            };
            recorder.line(line)
        })
    }
}

/// The first line of a recording.
fn header(prompts: &Prompts, model: &Model, address: &str) -> Map<String, Value> {
    let prompt = |prompt: &judge::Prompt| json!({ "judge": prompt.kind.as_str(), "text": prompt.text });
    let all: Vec<Value> = [Some(&prompts.single), prompts.pair.as_ref()].into_iter().flatten().map(prompt).collect();
    let header = json!({
        "format": FORMAT,
        "api": model.dialect.as_str(),
        "endpoint": address,
        "model": model.name,
        "parameters": model.parameters,
        "prompts": all,
    });
    header.as_object().cloned().unwrap_or_default()
}

/// Judgements of another judge are not mixed with these.
fn belongs(path: &Path, header: &Map<String, Value>, known: &Judgements) -> Result<(), Exit> {
    let mut names = header.keys().chain(known.header.keys());
    let Some(name) = names.find(|name| header.get(*name) != known.header.get(*name)) else { return Ok(()) };
    let what = format!("{} belongs to another run: `{}` differs", output::shown(path), snippet(name, 40));
    Err(usage(&what, "the options of that run, or a new recording with --record"))
}
