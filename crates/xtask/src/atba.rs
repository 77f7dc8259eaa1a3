//! `cargo xtask atba`: simulated chains of calls under three ways to limit them: a fixed limit for each call, equal shares of
//! what is left, and the gateway's budgets. Uses the gateway's own formula and histogram. Prints the table of
//! docs/gateway-budgets.md. Opens no socket and reads no clock.

use std::fmt::Write as _;
use std::time::Duration;

use gateway::budget::formula::{Step, is_hopeless, limit};
use gateway::budget::quantiles::{Histogram, Quantiles};

use crate::Verdict;
use crate::words::{Words, help};

const USAGE: &str = "usage: cargo xtask atba [--seed N]

  --seed N    of the random numbers [1]";

/// How often each cell is simulated, each time with other random numbers, and with how many chains.
const RUNS: usize = 40;
const CHAINS: usize = 500;
/// Student's t for 95 % and 39 degrees of freedom.
const T: f64 = 2.023;
/// How many calls of each tool are known before the first chain.
const KNOWN: usize = 300;
/// The limit of one call, where nothing else limits it.
const TOOL: Duration = Duration::from_secs(30);

/// How long a tool takes, in milliseconds.
#[derive(Clone, Copy)]
enum Law {
    /// Log-normal, by its median and the deviation of the logarithm.
    Normal(f64, f64),
    /// The same, and this share of calls hangs for a minute.
    Stuck(f64, f64, f64),
    /// Pareto, by its least time and its exponent.
    Heavy(f64, f64),
}

/// A chain: its tools and its budget, in milliseconds.
struct Mix {
    name: &'static str,
    tools: &'static [Law],
    budget: u64,
}

const MIXES: [Mix; 5] = [
    Mix { name: "8 steady reads of 200 ms", tools: &[Law::Normal(200.0, 0.3); 8], budget: 2000 },
    Mix {
        name: "2 reads, 2 queries, 1 write",
        tools: &[
            Law::Normal(150.0, 0.5),
            Law::Normal(900.0, 0.6),
            Law::Normal(150.0, 0.5),
            Law::Normal(900.0, 0.6),
            Law::Normal(2500.0, 0.5),
        ],
        budget: 6500,
    },
    Mix {
        name: "4 short steps, a slow one last",
        tools: &[
            Law::Normal(100.0, 0.4),
            Law::Normal(100.0, 0.4),
            Law::Normal(100.0, 0.4),
            Law::Normal(100.0, 0.4),
            Law::Normal(4000.0, 0.5),
        ],
        budget: 6000,
    },
    Mix { name: "6 steps, 3 % of calls hang", tools: &[Law::Stuck(300.0, 0.4, 0.03); 6], budget: 5000 },
    Mix { name: "6 steps with a heavy tail", tools: &[Law::Heavy(150.0, 1.3); 6], budget: 4000 },
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Strategy {
    Fixed,
    Equal,
    Ours,
}

const STRATEGIES: [(Strategy, &str); 3] =
    [(Strategy::Fixed, "fixed, 30 s a call"), (Strategy::Equal, "equal shares"), (Strategy::Ours, "budgets")];

/// A random sequence that can be had again (splitmix64).
struct Random(u64);

impl Random {
    /// From 0 to 1, neither of them.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 12) as f64 / (1_u64 << 52) as f64 + f64::EPSILON / 4.0
    }

    fn time(&mut self, law: Law) -> Duration {
        // Each law takes the same number of numbers: strategies see the same calls.
        let (one, two, three) = (self.next(), self.next(), self.next());
        let normal = (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * two).cos();
        let ms = match law {
            Law::Stuck(_, _, share) if three < share => 60_000.0,
            Law::Normal(median, deviation) | Law::Stuck(median, deviation, _) => median * (normal * deviation).exp(),
            Law::Heavy(least, exponent) => (least * three.powf(-1.0 / exponent)).min(600_000.0),
        };
        Duration::from_secs_f64(ms / 1000.0)
    }
}

/// What is known of a tool, as the gateway learns it.
struct Tool {
    law: Law,
    times: Histogram,
}

impl Tool {
    fn known(&self) -> Quantiles {
        self.times.quantiles().unwrap_or(Quantiles::all(TOOL))
    }
}

struct Setting {
    strategy: Strategy,
    /// How often a call that was cut off is sent again.
    retries: usize,
}

/// How a chain ended: whether all of it was done, and how long servers worked for it.
struct Ended {
    is_whole: bool,
    worked: Duration,
}

impl Setting {
    /// The limit of the first of these tools; `None` where it is not called.
    fn limit(&self, left: Duration, tools: &[Tool]) -> Option<Duration> {
        let known = tools[0].known();
        match self.strategy {
            Strategy::Fixed => Some(TOOL.min(left)),
            Strategy::Equal => Some(left / tools.len() as u32),
            Strategy::Ours if is_hopeless(left, known.p50) => None,
            Strategy::Ours => {
                let weight = |known: Quantiles| known.p99.min(TOOL);
                let step = Step { weight: weight(known), least: known.enough(), most: TOOL };
                Some(limit(left, step, tools[1..].iter().map(|tool| weight(tool.known()))))
            }
        }
        .filter(|limit| !limit.is_zero())
    }

    fn chain(&self, tools: &mut [Tool], mut left: Duration, random: &mut Random) -> Ended {
        let mut worked = Duration::ZERO;
        for at in 0..tools.len() {
            // Each call has its own numbers, whether it is made or not.
            let times = [random.time(tools[at].law), random.time(tools[at].law)];
            let mut is_done = false;
            for time in times.into_iter().take(self.retries + 1) {
                let Some(limit) = self.limit(left, &tools[at..]) else { break };
                let typical = tools[at].known().p50;
                is_done = time <= limit;
                worked += time.min(limit);
                left = left.saturating_sub(time.min(limit));
                // As the gateway learns of a call that it cuts off.
                let guess = limit + limit / 2;
                if is_done || guess >= typical {
                    tools[at].times.record(if is_done { time } else { guess });
                }
                if is_done {
                    break;
                }
            }
            if !is_done {
                return Ended { is_whole: false, worked };
            }
        }
        Ended { is_whole: true, worked }
    }

    /// The share of whole chains, in percent, and the seconds of work for the others, by 100 chains.
    fn run(&self, mix: &Mix, seed: u64) -> (f64, f64) {
        let mut random = Random(seed);
        let mut tools: Vec<_> = mix.tools.iter().map(|law| Tool { law: *law, times: Histogram::default() }).collect();
        for tool in &mut tools {
            for _ in 0..KNOWN {
                let time = random.time(tool.law);
                tool.times.record(time);
            }
        }
        let (mut whole, mut wasted) = (0, Duration::ZERO);
        for _ in 0..CHAINS {
            let ended = self.chain(&mut tools, Duration::from_millis(mix.budget), &mut random);
            whole += usize::from(ended.is_whole);
            wasted += if ended.is_whole { Duration::ZERO } else { ended.worked };
        }
        let by_100 = 100.0 / CHAINS as f64;
        (whole as f64 * by_100, wasted.as_secs_f64() * by_100)
    }
}

/// The mean, and how far the true one may be from it at 95 %.
fn mean(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean, T * (variance / count).sqrt())
}

fn row(mix: &Mix, (strategy, name): (Strategy, &str), seed: u64) -> String {
    let mut cells = format!("| {}, {} s | {name} |", mix.name, mix.budget as f64 / 1000.0);
    for retries in [0, 1] {
        let setting = Setting { strategy, retries };
        let runs: Vec<_> = (0..RUNS).map(|run| setting.run(mix, (seed << 32) | (run as u64 * 7919))).collect();
        let (whole, around) = mean(&runs.iter().map(|run| run.0).collect::<Vec<_>>());
        let (wasted, about) = mean(&runs.iter().map(|run| run.1).collect::<Vec<_>>());
        let _ = write!(cells, " {whole:.1} ± {around:.1} | {wasted:.0} ± {about:.0} |");
    }
    cells
}

/// Prints the table.
pub(crate) fn run(args: &[String]) -> Verdict {
    if help(args, USAGE) {
        return Ok(true);
    }
    let mut seed: u64 = 1;
    let mut words = Words::of(args, USAGE);
    while let Some(option) = words.option() {
        match option {
            "--seed" => seed = words.number()?,
            _ => return Err(words.unknown()),
        }
    }
    println!("| chain, budget | limits | whole, % | wasted, s | whole with a retry, % | wasted with a retry, s |");
    println!("|---|---|---|---|---|---|");
    for mix in &MIXES {
        for strategy in STRATEGIES {
            println!("{}", row(mix, strategy, seed));
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::{MIXES, STRATEGIES, Setting, mean};

    #[test]
    fn the_same_seed_gives_the_same_table() {
        for (strategy, _) in STRATEGIES {
            let setting = Setting { strategy, retries: 1 };
            assert_eq!(setting.run(&MIXES[3], 5), setting.run(&MIXES[3], 5));
        }
    }

    #[test]
    fn an_interval_is_around_its_mean() {
        let (middle, around) = mean(&[1.0, 2.0, 3.0, 4.0]);
        assert!((middle - 2.5).abs() < 1e-9 && around > 1.2 && around < 1.4, "{middle} {around}");
    }
}
