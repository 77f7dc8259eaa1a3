//! Which names and descriptions of tools say that they read.

use serde_json::{Value, json};

use super::say_that_it_reads;

fn named(name: &str) -> Value {
    json!({ "name": name })
}

fn described(name: &str, description: &str) -> Value {
    json!({ "name": name, "description": description })
}

#[test]
fn names_that_read() {
    for name in [
        "get_user",
        "get_book",
        "findOrder",
        "listShips",
        "search-docs",
        "GetWeather",
        "echo",
        "whoami",
        "read.file",
        "look_up_word",
        "test_simple_text",
        "demo",
        "simulate-load",
        "sleep",
        "ask_user",
        "confirm",
        "validateSchema",
        "wait_for_it",
        "query_metrics",
        "fetch_page",
        "format_date",
    ] {
        assert!(say_that_it_reads(&named(name)), "{name}");
    }
}

#[test]
fn names_that_may_do_more() {
    for name in [
        "test_delete_everything",
        "get_and_delete",
        "ask_then_send",
        "get_or_create_user",
        "listAndClear",
        "delete_file",
        "getter",
        "widget_get",
        "",
        "find_replace",
        "_",
        "confirm_payment",
        "confirmBooking",
        "test_email",
        "test_webhook",
        "check_out_book",
        "book_get",
        "get_book_table",
        "get_or_post",
        "sample_and_store",
        "simulate_purchase",
        "ask_and_pay",
        "verify_email",
        "run_query",
        "execute_sql",
        "prüfe",
    ] {
        assert!(!say_that_it_reads(&named(name)), "{name}");
    }
}

#[test]
fn names_that_begin_like_reading_and_do_something_else() {
    for name in [
        "format_disk",
        "formatDrive",
        "format_file",
        "check_in_guest",
        "check_out",
        "check_off_item",
        "check_checkbox",
        "confirm_subscription",
        "confirm_delivery",
        "simulate_keypress",
        "simulateMouseMove",
        "sleep_computer",
        "convert_lead",
        "get_rid_of_user",
        "version_bump",
        "version_release",
        "find_and_fix",
        "compare_and_swap",
        "get_and_increment",
        "fetch_and_sync",
        "search_or_download",
        "check_then_repair",
        "read_and_ack",
        "view_refresh",
        "status_reload",
        "get_queue_drain",
        // An acronym ends where the next word begins.
        "queryDBAndDelete",
        "listVMDelete",
        "fetchURLSave",
        "getHTTPSend",
    ] {
        assert!(!say_that_it_reads(&named(name)), "{name}");
    }
    for name in [
        "get_and_list",
        "list_users_and_groups",
        "find_or_search",
        "check_status",
        "format_number",
        "getURLs",
        "getDBUser",
        "get_iPhone15Models",
        "simulate_market",
        "get_latest_release",
        "convert_currency",
        "get_sync_status",
    ] {
        assert!(say_that_it_reads(&named(name)), "{name}");
    }
}

#[test]
fn what_is_secret_is_not_read_by_chance() {
    for name in ["get-env", "printEnv", "list_secrets", "read_password", "getCredentials", "get_access_token"] {
        assert!(!say_that_it_reads(&named(name)), "{name}");
    }
    assert!(say_that_it_reads(&named("get_environment_quality")));
}

#[test]
fn descriptions_that_say_more_than_the_name() {
    for (name, description) in [
        ("search", "Searches the web. Each call costs 0.01 USD."),
        ("search", "Premium search; consumes 3 credits"),
        ("get_user", "Returns the user and creates it if it is missing."),
        ("get_report", "Deletes the report after it was read."),
        ("list_jobs", "Lists jobs, then purges those that are done."),
        ("read_mail", "Reads the inbox.\nSends a receipt."),
        ("get_price", "Gets the price. It will buy at once."),
        ("test_connection", "Connects, and writes a row to see whether that works"),
        ("sample", "Run a job on the cluster"),
        ("wait", "Waits for the payment"),
        ("ask", "Asks the team by sending them messages"),
        ("add", "Adds two numbers and saves the sum"),
        ("get_note", "Reads a note, then permanently deletes it."),
        ("read_next", "Reads a message. It is then removed from the queue."),
        ("read_next", "Reads a message, which is automatically deleted."),
        ("get_log", "Gets the log; the file will be erased."),
        ("format", "Formats the disk that is named"),
        ("sleep", "Puts the computer to sleep"),
        ("simulate", "Simulates keystrokes"),
    ] {
        let mut tool = described(name, description);
        tool["inputSchema"] = json!({ "properties": { "a": { "type": "number" } } });
        assert!(!say_that_it_reads(&tool), "{name}: {description}");
    }
    assert!(!say_that_it_reads(&json!({ "name": "get_x", "title": "Create x" })));
    assert!(!say_that_it_reads(&json!({ "name": "get_x", "annotations": { "title": "Delete x" } })));
}

#[test]
fn descriptions_that_only_mention_a_verb() {
    for (name, description) in [
        ("get_time", "Get the time of the latest update in a time zone"),
        ("list_issues", "Lists open issues. Use it to find the id that you need to delete one."),
        ("get_post", "Return a post by its id"),
        ("read_file", "Read a file in order to see what it holds, e.g. a set of moves"),
        ("test_logging", "Tests that a tool logs while it works"),
        ("sleep", "Sleeps for so many seconds, in steps"),
        ("list_files", "Lists files, also those that were deleted or are updated"),
    ] {
        assert!(say_that_it_reads(&described(name, description)), "{name}: {description}");
    }
}

#[test]
fn a_description_without_end_says_nothing() {
    assert!(!say_that_it_reads(&described("get_x", &"long ".repeat(4000))));
}

#[test]
fn sums_take_numbers() {
    let sum = |name: &str, kind: &str| {
        let properties = json!({ "a": { "type": kind }, "b": { "type": "number" } });
        json!({ "name": name, "inputSchema": { "properties": properties } })
    };
    assert!(say_that_it_reads(&sum("add", "number")) && say_that_it_reads(&sum("multiply", "integer")));
    assert!(!say_that_it_reads(&sum("add", "string")) && !say_that_it_reads(&sum("add_item", "number")));
    assert!(!say_that_it_reads(&json!({ "name": "add", "inputSchema": { "type": "object" } })));
}

#[test]
fn the_documentation_lists_the_words() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/check.md");
    let page = std::fs::read_to_string(page).expect("docs/check.md");
    let (_, section) = page.split_once("## Tools that are called for their names").expect("the section");
    let lines = section.lines().take_while(|line| !line.starts_with("## "));
    let listed: Vec<&str> =
        lines.filter_map(|line| line.strip_prefix("    ")).flat_map(str::split_whitespace).collect();
    let words: Vec<&str> = super::READS.iter().chain(&super::TRIES).copied().collect();
    assert_eq!(listed, words);
}
