"""How many items each folder of YARA rules flags: for `cargo xtask scan-quality`.

Usage: yara_rates.py FOLDER < items.jsonl

Each line of the input is {"set": "...", "text": "..."}: one tool as JSON. Rules get its texts and the names of its members, a
line each: brackets and quotes of JSON are no part of what a server says. Prints one JSON object: by set, how
many items there are and how many at least one rule matches; and how many files of rules were compiled.
"""

import json
import pathlib
import sys

import yara

# Rules of other programs name variables that their program sets.
EXTERNALS = {"filename": "", "filepath": "", "extension": ""}


def strings(value: object) -> list[str]:
    """All texts in a value, with the names of members."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in strings(item)]
    if isinstance(value, dict):
        return [text for name, item in value.items() for text in [name, *strings(item)]]
    return []


def main() -> None:
    files = sorted(path for path in pathlib.Path(sys.argv[1]).rglob("*.yar*") if path.is_file())
    rules = [yara.compile(filepath=str(path), externals=EXTERNALS) for path in files]
    counts: dict[str, list[int]] = {}
    for line in sys.stdin:
        item = json.loads(line)
        count = counts.setdefault(item["set"], [0, 0])
        count[0] += 1
        data = "\n".join(strings(json.loads(item["text"]))).encode("utf-8", "surrogatepass")
        count[1] += any(one.match(data=data) for one in rules)
    print(json.dumps({"rules": len(rules), "sets": counts}))


main()
