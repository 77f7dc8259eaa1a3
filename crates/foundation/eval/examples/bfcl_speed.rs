//! How many entries a second are judged as bfcl-eval judges them: calls are decoded and checked, files are not read again.
//! A second of CPU of one thread counts, which other work on the machine changes least.
//! The argument is the folder that `cargo xtask bfcl` fills; each line is a category with the key as the answer.

#![expect(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use eval::bfcl::{self, Entry, Mode, Output, Results, Suite};

const LONG: Duration = Duration::from_millis(700);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from).ok_or("the folder of `cargo xtask bfcl` is missing")?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".calls-0.results.json"));
    files.sort();
    println!("{:<24} {:>8} {:>16}", "category", "entries", "a second of CPU");
    let mut sums = [0.0; 2];
    for path in &files {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let category = name.split('.').next().unwrap_or_default();
        let (suite, results) = read(&folder, category, path)?;
        let pairs: Vec<(&Entry, &Output)> =
            suite.entries.iter().zip(results.iter().map(|(_, output)| output)).collect();
        let mode = bfcl::mode(pairs.iter().map(|(_, output)| *output));
        let one = speed(&pairs, mode);
        println!("{category:<24} {:>8} {one:>16.0}", pairs.len());
        // Categories that want no certain call are not checked, only decoded.
        if !category.contains("relevance") {
            let count = pairs.len() as f64;
            sums = [sums[0] + count, sums[1] + count / one];
        }
    }
    let [count, one] = sums;
    println!("{:<24} {count:>8} {:>16.0}", "all that are checked", count / one);
    Ok(())
}

fn read(folder: &Path, category: &str, results: &Path) -> Result<(Suite, Results), Box<dyn Error>> {
    let questions = fs::read_to_string(folder.join(format!("{category}.questions.json")))?;
    let answers = fs::read_to_string(folder.join(format!("{category}.answers.json"))).ok();
    let suite = bfcl::entries(&questions, answers.as_deref()).map_err(|(_, error)| error)?;
    Ok((suite, bfcl::results(&fs::read_to_string(results)?)?))
}

fn speed(pairs: &[(&Entry, &Output)], mode: Mode) -> f64 {
    let (mut count, mut valid, begin, before) = (0, 0, Instant::now(), cpu());
    while begin.elapsed() < LONG {
        valid += pairs.iter().filter(|(entry, output)| bfcl::judge(entry, output, mode).is_valid()).count();
        count += pairs.len();
    }
    std::hint::black_box(valid);
    let used = before.zip(cpu()).map(|(before, now)| now.saturating_sub(before));
    count as f64 / used.unwrap_or(begin.elapsed()).as_secs_f64()
}

/// The CPU time of this thread, where Linux says it.
fn cpu() -> Option<Duration> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}
