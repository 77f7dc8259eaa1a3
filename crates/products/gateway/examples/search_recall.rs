//! How often the search for tools finds the right one, and how many bytes of the list it saves: on questions and functions of the Berkeley
//! Function Calling Leaderboard. `cargo run --release -p gateway --example search_recall -- FOLDER`, where FOLDER has its `data`.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{Write as _, stdout};
use std::path::Path;
use std::time::Instant;

use gateway::search::{Index, definitions};
use serde_json::{Value, json};

/// The categories with one call for each question.
const CATEGORIES: [&str; 4] = ["simple_python", "multiple", "live_simple", "live_multiple"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("the folder is missing")?;
    let (tools, questions) = read(Path::new(&folder))?;
    let began = Instant::now();
    let index = Index::new(&tools);
    let built = began.elapsed();
    let places: HashMap<&str, usize> =
        tools.iter().enumerate().filter_map(|(place, tool)| Some((tool["name"].as_str()?, place))).collect();
    let (mut found, mut bytes) = ([0_usize; 3], [0_usize; 2]);
    let began = Instant::now();
    let ranked: Vec<_> =
        questions.iter().map(|(question, name)| (index.rank(question), places[name.as_str()])).collect();
    let took = began.elapsed() / questions.len().max(1) as u32;
    for (ranked, right) in &ranked {
        for (count, most) in found.iter_mut().zip([1, 5, 10]) {
            *count += usize::from(ranked.iter().take(most).any(|place| place == right));
        }
        for (sum, most) in bytes.iter_mut().zip([5, 10]) {
            *sum += ranked.iter().take(most).map(|place| tools[*place].to_string().len()).sum::<usize>();
        }
    }
    let share = |count: usize| format!("{:.1} %", 100.0 * count as f64 / questions.len() as f64);
    let list = json!({ "tools": tools }).to_string().len();
    let own = json!({ "tools": definitions(tools.len(), 5) }).to_string().len();
    let mean = |sum: usize| sum / questions.len();
    let mut out = stdout().lock();
    writeln!(out, "{} tools, {} questions", tools.len(), questions.len())?;
    writeln!(out, "recall@1 {}  @5 {}  @10 {}", share(found[0]), share(found[1]), share(found[2]))?;
    writeln!(
        out,
        "list: {list} bytes; with search: {own} bytes, and {} (5) or {} (10) for an answer",
        mean(bytes[0]),
        mean(bytes[1])
    )?;
    writeln!(out, "index: {built:?}; one question: {took:?}")?;
    Ok(())
}

type Data = (Vec<Value>, Vec<(String, String)>);

/// All functions as tools, the first of each name, and questions with the name of the function that answers them.
fn read(folder: &Path) -> Result<Data, Box<dyn Error>> {
    let (mut tools, mut questions) = (Vec::<Value>::new(), Vec::new());
    let mut known = std::collections::HashSet::new();
    for category in CATEGORIES {
        let name = format!("BFCL_v4_{category}.json");
        let mut answers = HashMap::new();
        for line in lines(&folder.join("possible_answer").join(&name))? {
            let function = line["ground_truth"][0].as_object().and_then(|call| call.keys().next().cloned());
            answers.insert(line["id"].clone().to_string(), function.ok_or("an answer without a function")?);
        }
        for line in lines(&folder.join(&name))? {
            for function in line["function"].as_array().into_iter().flatten() {
                if known.insert(function["name"].to_string()) {
                    let mut tool = function.clone();
                    let schema = tool.as_object_mut().and_then(|tool| tool.remove("parameters")).unwrap_or_default();
                    tool["inputSchema"] = schema;
                    tools.push(tool);
                }
            }
            let turns = line["question"][0].as_array().into_iter().flatten();
            let asked: Vec<_> =
                turns.filter(|turn| turn["role"] == "user").filter_map(|turn| turn["content"].as_str()).collect();
            let answer = answers.get(&line["id"].to_string()).ok_or("a question without an answer")?;
            questions.push((asked.join(" "), answer.clone()));
        }
    }
    Ok((tools, questions))
}

fn lines(file: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    text.lines().filter(|line| !line.is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}
