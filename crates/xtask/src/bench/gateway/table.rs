//! What `bench gateway` measured, as tables with targets. Ratios are taken round by round, then their median.

use std::fmt::Write as _;

use super::load::Speaks;
use super::{KIB, RATE, SIZES, TOOLS, UPSTREAMS};

/// Processor time of one call, from one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) subject: &'static str,
    pub(super) speaks: Speaks,
    pub(super) size: usize,
    /// Microseconds.
    pub(super) cpu: f64,
}

/// Latency at a constant rate, from one round, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) subject: &'static str,
    pub(super) speaks: Speaks,
    pub(super) p50: f64,
    pub(super) p99: f64,
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) costs: Vec<Cost>,
    pub(super) latencies: Vec<Latency>,
    /// Resident memory, and the part of it that is the process's own, in KiB.
    pub(super) idle: (f64, f64),
    /// KiB.
    pub(super) session: f64,
    pub(super) own_session: f64,
    /// Milliseconds, and bytes.
    pub(super) list: (f64, usize),
    skipped: Vec<String>,
}

impl Figures {
    pub(super) fn skip(&mut self, name: &str, why: &str) {
        self.skipped.push(format!("{name} was not measured: {why}"));
    }

    fn all(&self, subject: &str, speaks: Speaks, size: usize) -> Vec<f64> {
        let fits = |cost: &&Cost| cost.subject == subject && cost.speaks == speaks && cost.size == size;
        self.costs.iter().filter(fits).map(|cost| cost.cpu).collect()
    }

    /// The median processor time of a call, in microseconds.
    pub(super) fn cost(&self, subject: &str, speaks: Speaks, size: usize) -> Option<f64> {
        Some(self.all(subject, speaks, size)).filter(|all| !all.is_empty()).map(median)
    }

    fn ratio(&self, subject: &str, to: &str, speaks: Speaks, size: usize) -> f64 {
        let (ours, limit) = (self.all(subject, speaks, size), self.all(to, speaks, size));
        median(ours.iter().zip(&limit).map(|(ours, limit)| ours / limit).collect())
    }

    fn added(&self, subject: &str, speaks: Speaks, of: impl Fn(&Latency) -> f64) -> f64 {
        let all = |name: &str| -> Vec<f64> {
            let fits = |one: &&Latency| one.subject == name && one.speaks == speaks;
            self.latencies.iter().filter(fits).map(&of).collect()
        };
        median(all(subject).iter().zip(&all("direct")).map(|(through, direct)| through - direct).collect())
    }
}

/// The middle value; not a number for an empty list.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What a figure may be.
enum Target {
    Most(f64),
    Least(f64),
}

/// The tables.
pub(super) fn render(figures: &Figures) -> String {
    let mut out = format!(
        "{:<15} {:<11} {:>6} {:>12} {:>9} {:>13}\n",
        "", "revision", "size", "CPU per call", "× limit", "calls/core/s"
    );
    let mut known: Vec<&str> = figures.costs.iter().map(|cost| cost.subject).collect();
    known.dedup();
    for (speaks, size) in [Speaks::Modern, Speaks::Legacy].into_iter().flat_map(|s| SIZES.map(|size| (s, size))) {
        for subject in ["direct", "limit", "gateway", "mcp-proxy", "ContextForge"] {
            let Some(cpu) = figures.cost(subject, speaks, size).filter(|_| known.contains(&subject)) else { continue };
            let ratio = cpu / figures.cost("limit", speaks, size).unwrap_or(f64::NAN);
            let _ = writeln!(
                out,
                "{subject:<15} {:<11} {:>4} K {cpu:>9.1} µs {ratio:>9.2} {:>13.0}",
                speaks.revision(),
                size / KIB,
                1e6 / cpu
            );
        }
    }
    let _ =
        writeln!(out, "(direct: the server's own CPU)\n\n{:<48} {:>9} {:<7} target", "figure of the gateway", "", "");
    for line in targets(figures) {
        out.push_str(&line);
    }
    for line in &figures.skipped {
        let _ = writeln!(out, "{line}");
    }
    out
}

fn targets(figures: &Figures) -> Vec<String> {
    let both = [Speaks::Modern, Speaks::Legacy];
    let mut lines = Vec::new();
    for (speaks, size) in both.into_iter().flat_map(|speaks| SIZES.map(|size| (speaks, size))) {
        let what = format!("CPU, {}, {} KiB", speaks.revision(), size / KIB);
        lines.push(line(&what, figures.ratio("gateway", "limit", speaks, size), "× limit", Target::Most(1.4)));
    }
    for (speaks, subject) in both.into_iter().flat_map(|speaks| ["gateway", "limit"].map(|subject| (speaks, subject))) {
        let what = |part: &str| format!("{part} at {RATE}/s, {}, {subject}", speaks.revision());
        let (p50, p99) = (figures.added(subject, speaks, |l| l.p50), figures.added(subject, speaks, |l| l.p99));
        lines.push(line(&what("added p50"), p50, "ms", Target::Most(0.1)));
        lines.push(line(&what("added p99"), p99, "ms", Target::Most(1.0)));
    }
    for peer in ["mcp-proxy", "ContextForge"] {
        if let (Some(theirs), Some(ours)) =
            (figures.cost(peer, Speaks::Legacy, KIB), figures.cost("gateway", Speaks::Legacy, KIB))
        {
            let what = format!("calls per core, 2025-11-25, 1 KiB, to {peer}");
            lines.push(line(&what, theirs / ours, "×", Target::Least(1.5)));
        }
    }
    let (resident, own) = figures.idle;
    lines.push(line("idle memory", resident / 1024.0, "MiB", Target::Most(12.0)));
    lines.push(format!("{:<48} {:>9.3} MiB\n", "  of it anonymous", own / 1024.0));
    lines.push(line("a session", figures.session, "KiB", Target::Most(16.0)));
    lines.push(line("a session of a client that may be asked", figures.own_session, "KiB", Target::Most(16.0)));
    let what = format!("{UPSTREAMS} × {TOOLS} tools listed warm, {} KiB", figures.list.1 / KIB);
    lines.push(line(&what, figures.list.0, "ms", Target::Most(20.0)));
    lines
}

fn line(what: &str, figure: f64, unit: &str, target: Target) -> String {
    let (met, sign, bound) = match target {
        Target::Most(most) => (figure <= most, '≤', most),
        Target::Least(least) => (figure >= least, '≥', least),
    };
    let verdict = if met { "met" } else { "missed" };
    format!("{what:<48} {figure:>9.3} {unit:<7} {sign} {bound:<5} {verdict}\n")
}

#[cfg(test)]
mod tests {
    use super::super::load::Speaks;
    use super::{Cost, Figures, Latency, median, render};

    #[test]
    fn ratios_are_of_one_round_and_compared_with_their_targets() {
        let mut figures = Figures::default();
        let (speaks, size) = (Speaks::Modern, 1024);
        // The machine is twice as slow in the second round.
        for (limit, gateway) in [(10.0, 13.0), (20.0, 26.0), (10.0, 15.0)] {
            figures.costs.push(Cost { subject: "limit", speaks, size, cpu: limit });
            figures.costs.push(Cost { subject: "gateway", speaks, size, cpu: gateway });
        }
        figures.latencies.push(Latency { subject: "direct", speaks, p50: 0.2, p99: 0.4 });
        figures.latencies.push(Latency { subject: "gateway", speaks, p50: 0.35, p99: 0.5 });
        figures.skip("mcp-proxy", "not installed");
        let table = render(&figures);
        let verdict = |what: &str| table.lines().find(|line| line.contains(what)).map(|line| line.contains("met"));
        assert_eq!(verdict("CPU, 2026-07-28, 1 KiB"), Some(true), "{table}");
        assert_eq!(verdict("CPU, 2025-11-25, 1 KiB"), Some(false), "what was not measured is not met: {table}");
        assert_eq!(verdict("added p50 at 1000/s, 2026-07-28, gateway"), Some(false), "{table}");
        assert_eq!(verdict("added p99 at 1000/s, 2026-07-28, gateway"), Some(true), "{table}");
        assert!(table.contains("mcp-proxy was not measured: not installed"), "{table}");
    }

    #[test]
    fn the_median_is_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < f64::EPSILON);
        assert!(median(Vec::new()).is_nan());
    }
}
