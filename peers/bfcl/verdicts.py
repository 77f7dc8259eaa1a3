"""Lets the checker of bfcl-eval judge answers to all of its single-turn questions: the key itself, and mutations of it.

Writes, into the folder given first, for each category and round: questions, answers, results and the checker's verdicts; and
`speeds.json`: how many entries the checker judges in a second of CPU. With `speed` in place of numbers, only that.
The package is installed without what it depends on: its checker needs none of that.
"""

import copy
import json
import random
import shutil
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

# What only asks models, or reads calls in Java's and JavaScript's syntax.
for name in ("tenacity", "tree_sitter", "tree_sitter_java", "tree_sitter_javascript", "tqdm", "dotenv", "overrides", "filelock"):
    sys.modules[name] = MagicMock()
models = MagicMock()
models.MODEL_CONFIG_MAPPING = {
    "underscores": SimpleNamespace(underscore_to_dot=True),
    "dots": SimpleNamespace(underscore_to_dot=False),
}
sys.modules["bfcl_eval.constants.model_config"] = models

import bfcl_eval  # noqa: E402
from bfcl_eval.constants.enums import Language, ReturnFormat  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: E402
from bfcl_eval.model_handler.utils import default_decode_ast_prompting  # noqa: E402
from bfcl_eval.utils import is_empty_output, is_function_calling_format_output  # noqa: E402

CATEGORIES = [
    "simple_python", "simple_java", "simple_javascript", "multiple", "parallel", "parallel_multiple", "irrelevance",
    "live_simple", "live_multiple", "live_parallel", "live_parallel_multiple", "live_irrelevance", "live_relevance",
]
DATA = Path(bfcl_eval.__file__).parent / "data"


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def language(category):
    if "javascript" in category:
        return Language.JAVASCRIPT
    return Language.JAVA if "java" in category else Language.PYTHON


def wants_calls(category):
    return "relevance" not in category


# The key as an answer.

def java(value, kind, items):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return f"{value}{'L' if kind == 'long' else 'f' if kind == 'float' else ''}"
    if isinstance(value, list):
        parts = ", ".join(f'"{v}"' if isinstance(v, str) and items in ("String", "char") else java(v, items, None) for v in value)
        return f"new ArrayList<>(Arrays.asList({parts}))" if kind == "ArrayList" else f"new {items}[]{{{parts}}}"
    if isinstance(value, dict):
        puts = " ".join(f'put("{k}", {one(v)});' for k, v in value.items() for one in [lambda v: json.dumps(v[0] if isinstance(v, list) else v)])
        return f"new HashMap<String, Object>() {{{{ {puts} }}}}"
    return str(value)


def javascript(value, kind, items):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"{value}{'n' if kind == 'Bigint' else ''}"
    if isinstance(value, str):
        return f"'{value}'" if kind == "String" else value
    if isinstance(value, dict):
        value = {k: v[0] if isinstance(v, list) and v else v for k, v in value.items()}
    return json.dumps(value)


def pick(rng, alternatives):
    real = [one for one in alternatives if one != ""]
    return copy.deepcopy(rng.choice(real)) if real else ""


def plain(value, nested):
    """An alternative as a value: members of dicts are lists of alternatives themselves."""
    if isinstance(value, dict) and nested:
        return {k: next((one for one in v if one != ""), "") for k, v in value.items() if isinstance(v, list)}
    if isinstance(value, list):
        return [plain(one, nested) for one in value]
    return value


def key(rng, question, truth, lang):
    calls = []
    for possible in truth:
        name, arguments = next(iter(possible.items()))
        function = next((one for one in question["function"] if one["name"] == name), question["function"][0])
        properties = function["parameters"]["properties"]
        given = {}
        for parameter, alternatives in arguments.items():
            if not alternatives or ("" in alternatives and rng.random() < 0.3):
                continue
            kind = properties.get(parameter, {})
            items = kind.get("items", {}).get("type")
            value = plain(pick(rng, alternatives), kind.get("type") in ("dict", "HashMap") or items == "dict")
            if lang == Language.JAVA:
                value = java(value, kind.get("type"), items)
            elif lang == Language.JAVASCRIPT:
                value = javascript(value, kind.get("type"), items)
            given[parameter] = value
        calls.append((name, given))
    return calls


# Mutations.

STRANGE = [None, True, False, 0, 1, -1, 1.0, 0.5, "", "x", "1", "true", [], [1], ["a"], [None], {}, {"a": 1}, [[1]], [{}], 10**12, "new int[]{1, 2}", "[1, 2]", "{'a': 1}", "5L", "1.5f"]


def value(rng, old):
    how = rng.randrange(9)
    if how == 0:
        return rng.choice(STRANGE)
    if isinstance(old, bool):
        return rng.choice([not old, int(old), str(old)])
    if isinstance(old, (int, float)):
        return rng.choice([old + 1, -old, float(old), int(old) if abs(old) < 1e15 else old, str(old), [old], bool(old)])
    if isinstance(old, str):
        return rng.choice([old.upper(), old.lower(), old + " ", old + ".", old.replace(" ", "-"), old.replace("'", '"'), old[:-1], old[1:], "(" + old, old + "L", old + "f", old + "n", old + "\n", old.replace(",", ", "), '"' + old + '"', [old], old + "é"])
    if isinstance(old, list):
        changed = list(old)
        if changed and how < 4:
            at = rng.randrange(len(changed))
            changed[at] = value(rng, changed[at])
            return changed
        rng.shuffle(changed)
        return rng.choice([changed, old[:-1], old + old[:1], old + [1], [old], tuple(old), str(old)])
    if isinstance(old, dict):
        changed = dict(old)
        if changed and how < 5:
            name = rng.choice(list(changed))
            changed[name] = value(rng, changed[name])
        elif changed and how < 7:
            changed.pop(rng.choice(list(changed)))
        else:
            changed["other"] = 1
        return changed
    return rng.choice(STRANGE)


def mutate(rng, question, calls):
    """Some changes of a key; a text or broken JSON now and then."""
    calls = copy.deepcopy(calls)
    functions = question["function"] or [{"name": "f", "parameters": {}}]
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        how = rng.randrange(20)
        if how == 0 or not calls:
            calls.append((rng.choice(functions)["name"], {}))
        elif how == 1:
            calls.pop(rng.randrange(len(calls)))
        elif how == 2:
            calls.append(copy.deepcopy(rng.choice(calls)))
        elif how == 3:
            rng.shuffle(calls)
        elif how == 4:
            at = rng.randrange(len(calls))
            calls[at] = (rng.choice(["f", calls[at][0].upper(), calls[at][0] + "_", rng.choice(functions)["name"]]), calls[at][1])
        else:
            given = rng.choice(calls)[1]
            if how == 5 or not given:
                properties = rng.choice(functions)["parameters"].get("properties", {})
                given[rng.choice([*properties, "other"])] = rng.choice(STRANGE)
            elif how == 6:
                given.pop(rng.choice(list(given)))
            else:
                name = rng.choice(list(given))
                given[name] = value(rng, given[name])
    return calls


def as_calls(rng, calls, mutated):
    """The form of models that call tools."""
    if mutated and rng.random() < 0.02:
        return rng.choice(["", "I cannot help.", [], [{"f": "{"}], [{"f": "[]"}], [{"f": "1"}], [{}]])
    return [{name.replace(".", "_"): json.dumps(given)} for name, given in calls]


def as_text(rng, calls, mutated):
    """The form of models that write calls as text."""
    text = "[" + ", ".join(f"{name}({', '.join(f'{k}={v!r}' for k, v in given.items())})" for name, given in calls) + "]"
    if mutated and rng.random() < 0.05:
        text = rng.choice([text[1:-1], f"```{text}```", f"'{text}'", text[:-2], "Sure: " + text, text + "\n", "[]", "", "f", "f(1)", "[1]"])
    return text


# Verdicts, as the runner of bfcl-eval reaches them.

def decode(output, mode):
    if mode == "text":
        return default_decode_ast_prompting(output, ReturnFormat.PYTHON)
    decoded = []
    for call in output:
        name = list(call.keys())[0]
        decoded.append({name: json.loads(call[name])})
    return decoded


def verdict(category, question, truth, output, mode):
    try:
        decoded = decode(output, mode)
    except Exception:
        decoded = None
    if not wants_calls(category):
        called = decoded is not None and not is_empty_output(decoded)
        if "irrelevance" in category:
            return (not called, None if not called else "irrelevance_error:decoder_success", False)
        return (called, None if called else "relevance_error:decoder_failed", False)
    if decoded is None:
        return (False, "ast_decoder:decoder_failed", False)
    if not is_function_calling_format_output(decoded):
        return (False, "ast_decoder:decoder_wrong_output_format", False)
    model = "dots" if mode == "text" else "underscores"
    try:
        result = ast_checker(question["function"], decoded, truth, language(category), category, model)
    except Exception:
        return (False, None, True)
    return (result["valid"], None if result["valid"] else result["error_type"], False)


def speed(category, questions, truths):
    """Entries a second of CPU of the checker alone, on the key."""
    rng = random.Random(0)
    prepared = []
    for question in questions:
        truth = truths[question["id"]]
        calls = key(rng, question, truth, language(category))
        prepared.append((question["function"], [{name.replace(".", "_"): given} for name, given in calls], truth))
    count, begin = 0, time.process_time()
    while time.process_time() - begin < 0.7:
        for functions, decoded, truth in prepared:
            try:
                ast_checker(functions, decoded, truth, language(category), category, "underscores")
            except Exception:
                pass
        count += len(prepared)
    return count / (time.process_time() - begin)


def speeds(folder):
    measured = {}
    for category in filter(wants_calls, CATEGORIES):
        questions = lines(DATA / f"BFCL_v4_{category}.json")
        answers = lines(DATA / "possible_answer" / f"BFCL_v4_{category}.json")
        measured[category] = speed(category, questions, {answer["id"]: answer["ground_truth"] for answer in answers})
    (folder / "speeds.json").write_text(json.dumps(measured))


def main():
    folder = Path(sys.argv[1])
    if sys.argv[2] == "speed":
        return speeds(folder)
    mutations, seed = int(sys.argv[2]), int(sys.argv[3])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    total = sum(len(lines(DATA / f"BFCL_v4_{category}.json")) for category in CATEGORIES)
    rounds = -(-mutations // total)
    for category in CATEGORIES:
        questions = lines(DATA / f"BFCL_v4_{category}.json")
        shutil.copy(DATA / f"BFCL_v4_{category}.json", folder / f"{category}.questions.json")
        truths = {question["id"]: [] for question in questions}
        if wants_calls(category):
            answers = DATA / "possible_answer" / f"BFCL_v4_{category}.json"
            shutil.copy(answers, folder / f"{category}.answers.json")
            truths = {answer["id"]: answer["ground_truth"] for answer in lines(answers)}
        for mode in ("calls", "text"):
            # Calls as text are read in Python's syntax alone.
            if mode == "text" and language(category) != Language.PYTHON:
                continue
            for at in range(rounds + 1):
                rng = random.Random(f"{seed}-{category}-{mode}-{at}")
                write = as_calls if mode == "calls" else as_text
                with open(folder / f"{category}.{mode}-{at}.results.json", "w") as results, open(folder / f"{category}.{mode}-{at}.verdicts.json", "w") as verdicts:
                    for question in questions:
                        truth = truths[question["id"]]
                        calls = key(rng, question, truth, language(category))
                        if at > 0:
                            calls = mutate(rng, question, calls)
                        output = write(rng, calls, at > 0)
                        valid, error, raises = verdict(category, copy.deepcopy(question), copy.deepcopy(truth), output, mode)
                        results.write(json.dumps({"id": question["id"], "result": output}) + "\n")
                        verdicts.write(json.dumps({"id": question["id"], "valid": valid, "error_type": error, "raises": raises}) + "\n")
    speeds(folder)
    print(f"{total} entries, {rounds} rounds of mutations")


main()
