//! The GitHub action at the root of the repository: its scripts, and that its documentation names all it has.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use saphyr_parser::{Event, Parser};

fn file(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every scalar of the action, with the one before it: a key's value, or a key.
fn scalars() -> Vec<(String, String)> {
    let text = file("action.yml");
    let events = Parser::new_from_str(&text).map(|event| event.expect("YAML").0);
    let texts: Vec<String> = events
        .filter_map(|event| if let Event::Scalar(text, ..) = event { Some(text.into_owned()) } else { None })
        .collect();
    texts.windows(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

#[test]
fn no_script_contains_an_expression() {
    let scripts: Vec<_> = scalars().into_iter().filter(|(key, _)| key == "run").map(|(_, script)| script).collect();
    assert!(scripts.len() >= 4, "{scripts:?}");
    for script in scripts {
        assert!(!script.contains("${{"), "{script}");
        assert!(!script.contains("eval "), "{script}");
    }
}

#[test]
fn other_actions_are_pinned_by_their_digests() {
    let used: Vec<_> = scalars().into_iter().filter(|(key, _)| key == "uses").map(|(_, action)| action).collect();
    assert!(used.len() >= 3, "{used:?}");
    for action in used {
        let (_, digest) = action.split_once('@').expect("a version");
        assert!(digest.len() == 40 && digest.chars().all(|one| one.is_ascii_hexdigit()), "{action}");
    }
}

/// The examples of docs/ci.md are YAML, their other actions are pinned, and their lines are a shell's.
#[test]
fn examples_are_valid_and_pinned() {
    let docs = file("docs/ci.md");
    let blocks: Vec<&str> = docs.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 8, "{}", blocks.len());
    let mut used = 0;
    for block in blocks {
        let events: Vec<_> = Parser::new_from_str(block).map(|event| event.expect(block).0).collect();
        assert!(events.iter().any(|event| matches!(event, Event::MappingStart(..))), "{block}");
        for action in block.lines().filter_map(|line| line.split_once("uses: ")?.1.split_whitespace().next()) {
            let (name, version) = action.split_once('@').expect("a version");
            let is_digest = version.len() == 40 && version.chars().all(|one| one.is_ascii_hexdigit());
            assert!(is_digest || (name, version) == ("proofhouse/proofhouse", "COMMIT"), "{action}");
            used += 1;
        }
        for line in block.lines().filter_map(|line| line.trim_start().strip_prefix("- ")).filter(|l| l.contains(' ')) {
            let is_of_shell = ["proof ", "apt-get ", "npm ", "export ", "command "].iter().any(|w| line.starts_with(w));
            let read = || Command::new("bash").args(["-n", "-c", line]).output().expect("bash runs");
            assert!(!is_of_shell || read().status.success(), "{line}");
        }
    }
    assert!(used >= 6, "{used}");
}

#[test]
fn every_input_is_documented_and_used() {
    let (text, docs) = (file("action.yml"), file("docs/ci.md"));
    let inputs = text.split("\ninputs:\n").nth(1).and_then(|rest| rest.split("\noutputs:\n").next()).expect("inputs");
    let names = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<_> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() >= 9, "{names:?}");
    for name in names {
        assert!(docs.contains(&format!("| `{name}` |")), "docs/ci.md does not name {name}");
        assert!(text.contains(&format!("inputs.{name} ")), "{name} is not used");
    }
    let outputs = text.split("\noutputs:\n").nth(1).and_then(|rest| rest.split("\nruns:\n").next()).expect("outputs");
    let names = outputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let names: Vec<_> = names.filter(|name| !name.starts_with(' ')).collect();
    assert!(names.len() >= 24, "{names:?}");
    for name in names {
        assert!(docs.contains(&format!("`{name}`")), "docs/ci.md does not name the output {name}");
        assert!(text.contains(&format!("outputs.{name} }}}}")), "{name} has no value");
    }
}

/// The step that runs `proof`, with a program in its place that writes down how it is called, writes its reports, and ends
/// with the code that `codes` has for the verb.
fn step(folder: &Path, inputs: &[(&str, &str)], codes: &str) -> Output {
    let program = format!(
        "#!/bin/bash\necho \"$@\" >> \"$HOME/calls\"\nfor word in \"$@\"; do\n  case $word in --also=*) echo report > \"${{word##*=}}\" ;; esac\ndone\n\
         if [ \"$1\" = lock ]; then echo changes; else echo '##[add-mask]the server'; fi\ncase $1 in {codes} *) exit 0 ;; esac\n"
    );
    step_with(folder, &program, inputs)
}

/// The same with any program in its place.
fn step_with(folder: &Path, program: &str, inputs: &[(&str, &str)]) -> Output {
    let scripts = scalars().into_iter().filter(|(key, _)| key == "run").map(|(_, script)| script);
    let script = scripts.filter(|script| script.contains("GITHUB_STEP_SUMMARY")).collect::<String>();
    let bin = folder.join(".cache/proof-action/bin");
    fs::create_dir_all(&bin).expect("a folder");
    put(&bin, "proof", program);
    for name in ["calls", "output", "summary"] {
        fs::write(folder.join(name), "").expect("a file");
    }
    let defaults =
        [("CHECK", "true"), ("SCAN", "false"), ("FAIL_ON", "must"), ("SCAN_FAIL_ON", "high"), ("SUMMARY", "true")];
    let unset = [
        ["COMMAND", "URL", "LOCK", "REVISION", "BASELINE", "OPTIONS"],
        ["SCAN_OPTIONS", "LOCK_OPTIONS", "TEST", "TEST_OPTIONS", "CHECK_CLIENT", "CLIENT_OPTIONS"],
    ]
    .concat();
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).envs(defaults);
    bash.current_dir(folder)
        .envs(unset.into_iter().map(|name| (name, "")))
        .envs(inputs.iter().copied())
        .env("HOME", folder)
        .env("RUNNER_TEMP", folder);
    bash.env("GITHUB_OUTPUT", folder.join("output")).env("GITHUB_STEP_SUMMARY", folder.join("summary"));
    bash.output().expect("bash runs")
}

/// Puts a program into a folder.
fn put(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).expect("a program");
    fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).expect("permissions");
}

/// The step that gets `proof`, with programs of the folder `fake` in the place of those that download.
fn download(folder: &Path, version: &str) -> Output {
    let scripts = scalars().into_iter().filter(|(key, _)| key == "run").map(|(_, script)| script);
    let script = scripts.filter(|script| script.contains("SHA256SUMS")).collect::<String>();
    let path = format!("{}:{}", folder.join("fake").display(), std::env::var("PATH").expect("a path"));
    let mut bash = Command::new("bash");
    bash.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script]).env("PATH", path).env("VERSION", version);
    bash.env("HOME", folder).env("RUNNER_TEMP", folder).env("RUNNER_OS", "Linux").env("RUNNER_ARCH", "X64");
    bash.output().expect("bash runs")
}

#[test]
fn a_released_version_is_downloaded_and_compared_with_its_checksum() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let make = "mkdir -p fake release proofhouse-1.2.3-x86_64-unknown-linux-gnu/bin && cd release && \
        printf '#!/bin/sh\\necho proof 1.2.3\\n' > ../proofhouse-1.2.3-x86_64-unknown-linux-gnu/bin/proof && \
        chmod +x ../proofhouse-1.2.3-x86_64-unknown-linux-gnu/bin/proof && \
        tar -C .. -czf proofhouse-1.2.3-x86_64-unknown-linux-gnu.tar.gz proofhouse-1.2.3-x86_64-unknown-linux-gnu && \
        sha256sum * > SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS";
    assert!(Command::new("sh").args(["-c", make]).current_dir(folder).status().expect("sh runs").success());
    // A program in curl's place copies what the URL names.
    let curl = "#!/bin/bash\nwhile [ $# -gt 1 ]; do if [ \"$1\" = --output ]; then to=$2; fi; shift; done\n\
                case $1 in https://github.com/*/releases/download/v1.2.3/*) cp \"$HOME/release/${1##*/}\" \"$to\" ;; *) exit 22 ;; esac\n";
    put(&folder.join("fake"), "curl", curl);
    // A runner with neither.
    put(&folder.join("fake"), "npm", "#!/bin/sh\nexit 127\n");
    put(&folder.join("fake"), "python3", "#!/bin/sh\nexit 127\n");
    let installed = folder.join(".cache/proof-action/bin/proof");
    let archive = folder.join("release/proofhouse-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
    let good = fs::read(&archive).expect("an archive");
    let sums = fs::read(folder.join("release/SHA256SUMS")).expect("checksums");
    fs::write(&archive, [&good[..], b"x"].concat()).expect("an archive");
    assert!(!download(folder, "1.2.3").status.success() && !installed.exists(), "a damaged archive");
    fs::write(&archive, &good).expect("an archive");
    fs::write(folder.join("release/SHA256SUMS"), "").expect("checksums");
    assert!(!download(folder, "1.2.3").status.success() && !installed.exists(), "no checksum");
    assert!(!download(folder, "1.2.4").status.success() && !installed.exists(), "no such release");
    fs::write(folder.join("release/SHA256SUMS"), sums).expect("checksums");
    let ran = download(folder, "1.2.3");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(String::from_utf8_lossy(&ran.stdout).ends_with("proof 1.2.3\n") && installed.exists());
}

#[test]
fn a_published_version_is_installed_from_npm_or_pypi() {
    let folder = tempfile::tempdir().expect("a folder");
    let fake = folder.path().join("fake");
    fs::create_dir(&fake).expect("a folder");
    let program = "printf '#!/bin/sh\necho proof 1.2.3\n' > \"$to/proof\" && chmod +x \"$to/proof\"";
    let calls = || fs::read_to_string(folder.path().join("calls")).unwrap_or_default();
    let root = folder.path().join(".cache/proof-action");
    let python = format!(
        "#!/bin/bash\necho \"python3 $*\" >> \"$HOME/calls\"\ncase \"$*\" in *--version) exit 0 ;; *==1.2.3) ;; *) exit 1 ;; esac\n\
         to=$HOME/.cache/proof-action/python/bin; mkdir -p \"$to\" && {program}\n"
    );
    let npm = format!(
        "#!/bin/bash\necho \"npm $*\" >> \"$HOME/calls\"\ncase \"$*\" in --version) exit 0 ;; *@1.2.3) ;; *) exit 1 ;; esac\n\
         to=$HOME/.cache/proof-action/npm/node_modules/@proofhouse/linux-x64/bin; mkdir -p \"$to\" && {program}\n"
    );
    put(&fake, "npm", "#!/bin/sh\nexit 127\n");
    put(&fake, "python3", &python);
    for (tool, called) in [("python3", "python3 -m pip install "), ("npm", "npm install --prefix ")] {
        if tool == "npm" {
            put(&fake, "npm", &npm);
        }
        let ran = download(folder.path(), "1.2.4");
        let said = String::from_utf8_lossy(&ran.stdout);
        assert!(ran.status.code() == Some(2) && said.contains("has no proofhouse 1.2.4 for this runner"), "{said}");
        let ran = download(folder.path(), "1.2.3");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert!(String::from_utf8_lossy(&ran.stdout).ends_with("proof 1.2.3\n"));
        assert!(calls().lines().last().is_some_and(|call| call.starts_with(called)), "{}", calls());
        // What is there is not installed again.
        let before = calls();
        assert!(download(folder.path(), "1.2.3").status.success() && calls() == before, "{}", calls());
        fs::remove_dir_all(&root).expect("what was installed");
    }
    // A package without the program of this platform is no success.
    put(&fake, "npm", "#!/bin/sh\nexit 0\n");
    assert_eq!(download(folder.path(), "1.2.3").status.code(), Some(2));
}

#[test]
fn test_files_run_and_a_client_is_checked() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let written = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    let inputs = [
        ("CHECK", "false"),
        ("TEST", "a b.mcp.yaml\ntests\n"),
        ("TEST_OPTIONS", "--wait=30"),
        ("CHECK_CLIENT", "node client.js"),
        ("CLIENT_OPTIONS", "--quick"),
    ];
    let ran = step(folder, &inputs, "test) exit 1 ;; check-client) exit 3 ;;");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let calls: Vec<String> = written("calls").lines().map(str::to_owned).collect();
    let [test, client] = calls.as_slice() else { panic!("{calls:?}") };
    assert!(test.starts_with("test --wait=30 --also=json=") && test.ends_with(" a b.mcp.yaml tests"), "{test}");
    assert!(client.starts_with("check-client --fail-on=must --quick --also=json="), "{client}");
    assert!(client.ends_with("-- bash -c node client.js {url}"), "{client}");
    let outputs = written("output");
    for name in ["test-exit-code=1", "client-exit-code=3", "test-junit=", "test-markdown=", "client-sarif="] {
        assert!(outputs.lines().any(|line| line.starts_with(name)), "{name} is not in {outputs}");
    }
    assert!(!outputs.contains("score="), "{outputs}");
    step(folder, &[("CHECK", "false"), ("CHECK_CLIENT", "run '{server}' now")], "");
    assert!(written("calls").ends_with("-- bash -c run '{server}' now\n"), "{}", written("calls"));
    // A check without a server is not left out in silence.
    let ran = step(folder, &[("TEST", "tests")], "");
    assert!(ran.status.code() == Some(2) && written("calls").is_empty(), "{}", written("calls"));
}

/// The whole step with the program itself.
#[test]
fn the_step_counts_what_the_report_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let proof = env!("CARGO_BIN_EXE_proof");
    let test = format!(
        "server: {{ command: [{proof:?}, serve, --stdio] }}\ncases: [{{ call: echo, arguments: {{ message: x }} }}]\n"
    );
    fs::write(folder.join("t.mcp.yaml"), test).expect("a test file");
    let serve = format!("{proof} serve --stdio");
    let call = format!("{proof} client call echo message=hello");
    let inputs = [
        ("COMMAND", &*serve),
        ("REVISION", "2025-11-25"),
        ("OPTIONS", "--only=ping.*,tools.names-*"),
        ("TEST", "t.mcp.yaml"),
        ("CHECK_CLIENT", &*call),
        ("CLIENT_OPTIONS", "--scenario=initialize\n--revision=2025-11-25"),
    ];
    let ran = step_with(folder, &format!("#!/bin/sh\nexec {proof} \"$@\"\n"), &inputs);
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "{said}");
    let outputs = fs::read_to_string(folder.join("output")).expect("outputs");
    let output = |name: &str| outputs.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let report = fs::read_to_string(output("json").expect("a report")).expect("a report");
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    let must = &report["summary"]["must"];
    assert!(must["pass"].as_u64().is_some_and(|number| number > 0), "{must}");
    assert_eq!(output("passed"), Some(&*must["pass"].to_string()), "{outputs}");
    assert_eq!(output("failed"), Some("0"), "{outputs}");
    assert_eq!(output("score"), Some("100.0"), "{outputs}");
    for name in ["exit-code", "test-exit-code", "client-exit-code"] {
        assert_eq!(output(name), Some("0"), "{name}: {outputs}\n{said}");
    }
    let summary = fs::read_to_string(folder.join("summary")).expect("a summary");
    assert!(summary.contains("1 passed"), "{summary}");
}

#[test]
fn one_step_checks_scans_and_compares() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let written = |name: &str| fs::read_to_string(folder.join(name)).expect(name);
    let all = [
        ("COMMAND", "node 'my server.js'"),
        ("SCAN", "true"),
        ("LOCK", "mcp.lock"),
        ("SCAN_OPTIONS", "--suppressions=a b.toml"),
    ];
    // Every verb runs, whatever the one before it found.
    let ran = step(folder, &all, "check) exit 1 ;; scan) exit 1 ;; lock) exit 3 ;;");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let calls: Vec<String> = written("calls").lines().map(str::to_owned).collect();
    let [check, scan, lock] = calls.as_slice() else { panic!("{calls:?}") };
    assert!(check.starts_with("check --fail-on=must --also=json="), "{check}");
    assert!(scan.starts_with("scan --fail-on=high --suppressions=a b.toml --also=json="), "{scan}");
    assert!(lock.starts_with("lock --output=mcp.lock --check --format=markdown"), "{lock}");
    assert!(calls.iter().all(|call| call.ends_with("-- bash -c node 'my server.js'")), "{calls:?}");
    let outputs = written("output");
    for (name, value) in [("exit-code", "1"), ("scan-exit-code", "1"), ("lock-exit-code", "3")] {
        assert!(outputs.lines().any(|line| line == format!("{name}={value}")), "{outputs}");
    }
    for name in
        ["json=", "junit=", "sarif=", "markdown=", "scan-json=", "scan-sarif=", "scan-markdown=", "lock-markdown="]
    {
        assert!(outputs.lines().any(|line| line.starts_with(name)), "{name} is not in {outputs}");
    }
    assert_eq!(written("summary"), "report\nreport\nchanges\n");
    // Nothing that a server says is a command to the runner.
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    let marks: Vec<&str> = said.lines().filter(|line| line.starts_with("::")).collect();
    let [one, end_of_one, two, end_of_two, three, end_of_three] = marks[..] else { panic!("{said}") };
    for (begin, end) in [(one, end_of_one), (two, end_of_two), (three, end_of_three)] {
        let token = begin.strip_prefix("::stop-commands::").expect(begin);
        assert!(token.len() == 32 && end == format!("::{token}::"), "{begin} {end}");
    }
    let mut is_stopped = false;
    for line in said.lines() {
        is_stopped = line.starts_with("::stop-commands::") || (is_stopped && !line.starts_with("::"));
        assert!(is_stopped || !(line.contains("##[") || line == "changes"), "{said}");
    }
    assert_eq!(said.matches("##[add-mask]the server").count() + said.matches("changes").count(), 3, "{said}");
    // One of them alone.
    let url = ("URL", "https://shop.example/mcp");
    assert!(step(folder, &[url, ("CHECK", "false"), ("LOCK", "mcp.lock")], "").status.success());
    assert_eq!(written("calls"), "lock --output=mcp.lock --check --format=markdown https://shop.example/mcp\n");
    // Nothing to do, and nothing to do it with, fail the job.
    for inputs in
        [&[url, ("CHECK", "false")][..], &[("SCAN", "true")], &[url, ("COMMAND", "node a.js")], &[("URL", "ftp://x")]]
    {
        let ran = step(folder, inputs, "");
        assert_eq!(ran.status.code(), Some(2), "{inputs:?}");
        assert!(
            String::from_utf8_lossy(&ran.stdout).contains("::error::") && written("calls").is_empty(),
            "{inputs:?}"
        );
    }
}
