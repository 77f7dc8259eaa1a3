"""Checks a client once with each of its faults that show over HTTP, by `proof check-client --quick`.

    check_clients.py PROOF OUT CLIENT [--jobs N] [FAULT...]

A fault is tried at the newest revision of each era that it shows at, until it is found. OUT gets one line of tab-separated
values for each: name, area, level, found or MISSED, the revision, the rules that are broken; `~` marks a warning.
"""

import argparse
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

NEWEST_OF_ERAS = ("2025-11-25", "2026-07-28")


def program(client):
    return ["node" if client.endswith(".mjs") else "python3", client]


def listed(client):
    printed = subprocess.run([*program(client), "--list-faults"], capture_output=True, text=True, check=True).stdout
    return [json.loads(line) for line in printed.splitlines() if line.strip()]


def broken(options, fault, revision):
    """The rules that a check finds broken; `?` and what it says where it gives no report."""
    command = [options.proof, "check-client", "--quick", "--revision", revision, "--format", "json"]
    command += ["--", *program(options.client)] + (["--fault", fault] if fault else [])
    try:
        ran = subprocess.run(command, capture_output=True, text=True, timeout=200)
        results = json.loads(ran.stdout)["results"]
    except subprocess.TimeoutExpired:
        return {"?it did not end"}
    except (ValueError, KeyError):
        return {"?" + ran.stderr[-150:].replace("\n", " ")}
    return {r["rule"] + ("~" if r["outcome"] == "warn" else "") for r in results if r["outcome"] in ("fail", "warn")}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("proof")
    arguments.add_argument("out")
    arguments.add_argument("client")
    arguments.add_argument("fault", nargs="*")
    arguments.add_argument("--jobs", type=int, default=1, help="checks at a time")
    options = arguments.parse_args()
    faults = [fault for fault in listed(options.client) if "http" in fault["transports"]]
    faults = [fault for fault in faults if not options.fault or fault["name"] in options.fault]
    without = {revision: broken(options, None, revision) for revision in NEWEST_OF_ERAS}
    print("without a fault:", without, flush=True)

    def tried(fault):
        revisions = [r for r in NEWEST_OF_ERAS if r in fault["revisions"]] or fault["revisions"][-1:]
        new = set()
        for revision in revisions:
            new = broken(options, fault["name"], revision) - without.get(revision, set())
            if any(not rule.startswith("?") for rule in new):
                return True, revision, new
        return False, revisions[-1], new

    found = 0
    with ThreadPoolExecutor(options.jobs) as pool, open(options.out, "a") as out:
        for fault, (is_found, revision, rules) in zip(faults, pool.map(tried, faults)):
            found += is_found
            verdict = "found" if is_found else "MISSED"
            print(fault["name"], fault["area"], fault["level"], verdict, revision, " ".join(sorted(rules)), sep="\t", file=out, flush=True)
    print(f"{found} of {len(faults)} found")


main()
