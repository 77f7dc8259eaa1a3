//! How many entries a second are judged as bfcl-eval judges them: calls are decoded and checked, files are not read again.
//! A second of CPU of one thread counts, which other work on the machine changes least.
//! The argument is the folder that `cargo xtask bfcl` fills. Each line is a category with the key as the answer: its name, how
//! many entries it has, and how many are judged in a second. Categories that want no certain call are only decoded, and left out.

#![expect(clippy::print_stdout, reason = "the figures are what it is run for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{env, fs};

use eval::bfcl::{self, Entry, Mode, Output};

const LONG: Duration = Duration::from_millis(700);

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args_os().nth(1).map(PathBuf::from).ok_or("the folder of `cargo xtask bfcl` is missing")?;
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.to_string_lossy().ends_with(".calls-0.results.json"));
    files.sort();
    for path in &files {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let category = name.split('.').next().unwrap_or_default();
        if !category.contains("relevance") {
            let (entries, speed) = measured(&folder, category, path)?;
            println!("{category}\t{entries}\t{speed:.0}");
        }
    }
    Ok(())
}

fn measured(folder: &Path, category: &str, results: &Path) -> Result<(usize, f64), Box<dyn Error>> {
    let questions = fs::read_to_string(folder.join(format!("{category}.questions.json")))?;
    let answers = fs::read_to_string(folder.join(format!("{category}.answers.json")))?;
    let suite = bfcl::entries(&questions, Some(&answers)).map_err(|(_, error)| error)?;
    let results = fs::read_to_string(results)?;
    let results = bfcl::results(&results)?;
    let pairs: Vec<_> = suite.entries.iter().zip(results.iter().map(|(_, output)| output)).collect();
    Ok((pairs.len(), speed(&pairs, bfcl::mode(pairs.iter().map(|(_, output)| *output)))))
}

fn speed(pairs: &[(&Entry, &Output<'_>)], mode: Mode) -> f64 {
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
