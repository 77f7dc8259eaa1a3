"""Lets APIBench's own scripts judge the responses that its repository stores.

Arguments: the repository's folder, and a folder for the outcomes. Writes for each file of responses one line a response:
`{"question": N, "outcome": "correct" | "error" | "hallucination", "is_by_fallthrough": bool}`. The scripts' `main` only
counts, so its steps are repeated here around the scripts' own functions. Needs tree_sitter 0.20.4.
"""

import importlib.util
import json
import os
import sys
from functools import lru_cache
from pathlib import Path

HUBS = {"torchhub": ("th", "torchhub"), "huggingface": ("hf", "huggingface"), "tensorflowhub": ("tf", "tensorflow")}


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def script(repository, short):
    path = repository / f"gorilla/eval/eval-scripts/ast_eval_{short}.py"
    spec = importlib.util.spec_from_file_location(short, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # One language for all texts instead of one a text.
    module.Language = lru_cache(module.Language)
    return module


def code(hub, text):
    """What the scripts parse of a response; None where the script of Torch Hub parses nothing."""
    parts = text.split("api_call")
    if len(parts) == 1:
        return None if hub == "torchhub" else parts[0]
    part = parts[1].split("api_provider")[0]
    start = part.index(":") if ":" in part else 0
    end = part.rindex(")") if ")" in part else -2
    return part[start + 2 : end + 1]


def is_by_fallthrough(found, subtrees, base):
    """Whether the API that was found is called nowhere: its arguments stood in the last subtree."""
    return found >= 0 and all(subtree[3] != base[found].children[0].children[0].children[0].text for subtree in subtrees)


def judge(module, hub, response, apis, base, questions):
    text = code(hub, response["text"])
    if text is None:
        return "error", False
    subtrees = module.get_all_sub_trees(module.ast_parse(text))
    found = module.ast_check(subtrees, base)
    by_fallthrough = is_by_fallthrough(found, subtrees, base)
    if found == -1:
        return "hallucination", by_fallthrough
    question = questions[response["question_id"] - 1]
    return ("correct" if apis[found]["domain"] == question["api_data"]["domain"] else "error"), by_fallthrough


def main():
    repository, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    # The scripts name their grammar relative to this folder.
    os.chdir(repository / "gorilla/eval/eval-scripts")
    for hub, (short, bench) in HUBS.items():
        module = script(repository, short)
        apis = lines(repository / f"data/api/{hub}_api.jsonl")
        questions = lines(repository / f"data/apibench/{bench}_eval.json")
        base = [module.ast_parse(api["api_call"]) for api in apis]
        for path in sorted((repository / f"gorilla/eval/eval-data/responses/{hub}").glob("*.jsonl")):
            with open(out / path.name, "w", encoding="utf-8") as file:
                for response in lines(path):
                    outcome, by_fallthrough = judge(module, hub, response, apis, base, questions)
                    line = {"question": response["question_id"], "outcome": outcome, "is_by_fallthrough": by_fallthrough}
                    file.write(json.dumps(line) + "\n")


main()
