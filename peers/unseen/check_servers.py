"""Checks a server once with each of its faults, by the check's default options.

    check_servers.py [--jobs N] [--over TRANSPORT] [--check=OPTION]... SERVER PROOF OUT [FAULT...]

OUT gets one line of tab-separated values for each fault: name, area, level, transport, exit code, found or MISSED, the rules
that are broken because of it, seconds.
"""

import argparse
import json
import os
import socket
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor


def program(server):
    return ["node" if server.endswith(".mjs") else "python3", server]


def listed(server):
    printed = subprocess.run([*program(server), "--list-faults"], capture_output=True, text=True, check=True).stdout
    faults = [json.loads(line) for line in printed.splitlines() if line.strip()]
    for fault in faults:
        where = fault.get("transport", "any")
        fault.setdefault("transports", ["http", "stdio"] if where == "any" else [where])
    return faults


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(server, fault):
    """The server over HTTP, and its URL, once it accepts connections."""
    while True:
        port = free_port()
        command = [*program(server), "--http", str(port), *fault]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        # A server that did not get its port has ended: it is another program that answers there.
        time.sleep(0.05)
        if process.poll() is None:
            return process, f"http://127.0.0.1:{port}/mcp"


def check(options, transport, name):
    """The rules that a check finds broken, its exit code, its seconds, and what it says where it gives no report."""
    fault = ["--fault", name] if name else []
    begun, process = time.time(), None
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        command = [options.proof, "check", *options.check, "--format", "json", "--output", report]
        try:
            if transport == "http":
                process, url = start(options.server, fault)
                command.append(url)
            else:
                command += ["--", *program(options.server), "--stdio", *fault]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
        except subprocess.TimeoutExpired:
            return set(), "timeout", time.time() - begun, "it did not end"
        finally:
            if process:
                process.kill()
                process.wait()
        seconds = time.time() - begun
        try:
            with open(report) as file:
                results = json.load(file)["results"]
        except (OSError, ValueError, KeyError):
            return set(), ran.returncode, seconds, ran.stderr
    broken = {result["rule"] for result in results if result["outcome"] in ("fail", "warn")}
    return broken, ran.returncode, seconds, ""


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("server")
    arguments.add_argument("proof")
    arguments.add_argument("out")
    arguments.add_argument("fault", nargs="*")
    arguments.add_argument("--jobs", type=int, default=1, help="checks at a time")
    arguments.add_argument("--over", choices=["http", "stdio"], help="instead of HTTP where the fault shows there")
    arguments.add_argument("--check", action="append", default=[], help="an option of `proof check`")
    options = arguments.parse_args()
    faults = [fault for fault in listed(options.server) if not options.fault or fault["name"] in options.fault]
    faults = [fault for fault in faults if options.over is None or options.over in fault["transports"]]
    usual = {fault["name"]: "http" if "http" in fault["transports"] else "stdio" for fault in faults}
    transport = {name: options.over or over for name, over in usual.items()}
    without = {}
    for one in sorted(set(transport.values())):
        without[one], code, seconds, said = check(options, one, None)
        print(f"without a fault, {one}: exit code {code}, {seconds:.1f} s, {sorted(without[one])} {said[-300:]}", flush=True)
    found = 0
    with ThreadPoolExecutor(options.jobs) as pool, open(options.out, "a") as out:
        checks = [pool.submit(check, options, transport[fault["name"]], fault["name"]) for fault in faults]
        for fault, checked in zip(faults, checks):
            over = transport[fault["name"]]
            broken, code, seconds, said = checked.result()
            new = sorted(broken - without[over])
            # No report, for a reason: the check says what the server does wrong.
            is_found = bool(new) or code == 3
            found += is_found
            why = ",".join(new) or said.strip().replace("\n", " | ")[-160:]
            row = [fault["name"], fault["area"], fault["level"], over, code, "found" if is_found else "MISSED", why, f"{seconds:.1f}"]
            print(*row, sep="\t", file=out, flush=True)
    print(f"{found} of {len(faults)} found")


main()
