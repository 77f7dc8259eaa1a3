"""A server over stdio that is of no use, in one of several ways: `cargo xtask bench check` measures how long a check lasts.

    python3 hopeless.py silent|garbage|dies|slow|ids|mute [STARTUP]

STARTUP is how many seconds of CPU a start costs.
"""

import json
import sys
import time

HOW = sys.argv[1]
STARTUP = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0

while time.process_time() < STARTUP:
    pass

INFO = {"name": "hopeless-" + HOW, "version": "1"}
TOOL = {"name": "wait", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
RESULTS = {
    "ping": {},
    "tools/list": {"tools": [TOOL]},
    "tools/call": {"content": [{"type": "text", "text": "waited"}]},
}


def result(message):
    if message["method"] == "initialize":
        version = message["params"].get("protocolVersion", "2025-11-25")
        known = version in ("2024-11-05", "2025-03-26", "2025-06-18")
        return {
            "protocolVersion": version if known else "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": INFO,
        }
    return RESULTS.get(message["method"])


def answer(message, number):
    body = result(message)
    answered = {"result": body} if body is not None else {"error": {"code": -32601, "message": "Method not found"}}
    own_id = message["id"] if HOW != "ids" or number == 1 else "other-%d" % number
    return json.dumps({"jsonrpc": "2.0", "id": own_id, **answered})


number = 0
for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if not isinstance(message, dict) or "id" not in message or "method" not in message:
        continue
    number += 1
    if HOW == "silent" and number > 1:
        continue
    if HOW == "garbage" and number > 1:
        print("{ this is no JSON", flush=True)
        continue
    if HOW == "dies" and number == 2:
        sys.exit(9)
    if HOW == "slow":
        time.sleep(2)
    if HOW == "mute" and result(message) is None:
        continue
    print(answer(message, number), flush=True)
