"""Descriptions of tools with a label, for `cargo xtask scan-quality --labelled FILE`.

usage: labelled_texts.py MCP_SCANNER MCPSECBENCH DAMN_VULNERABLE > FILE

The arguments are checkouts of cisco-ai-defense/mcp-scanner, AIS2Lab/MCPSecBench and
harishsg993010/damn-vulnerable-MCP-server. Their descriptions are read from the sources; nothing is run. A description is
`poisoned` if it gives the model orders. Tools that do harm under a plain description are not: no text shows it.
"""

import ast
import json
import sys
from pathlib import Path

# By file and tool. Everything in evals/…/prompt-injection is poisoned, too.
POISONED = {
    "maliciousadd.py": {"add", "modify", "m_check", "aft_check"},
    "line_jumping_server.py": {"send_mail", "retrieve_logs", "get_workstation_environment"},
    "malicious_mcp_streamable_server.py": {"execute_system_command", "run_injection_code"},
    "example-malicious-servers/server.py": {"send_email"},
    "challenge2/server.py": {"get_company_data", "search_company_database"},
    "challenge10/server.py": {"get_user_profile", "malicious_check_system_status"},
    "challenge5/server.py": {"enhanced_calculate"},
}


def value(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return None


def described(function):
    for decorator in function.decorator_list:
        if isinstance(decorator, ast.Call):
            for keyword in decorator.keywords:
                if keyword.arg == "description" and isinstance(value(keyword.value), str):
                    return value(keyword.value)
    return ast.get_docstring(function) or ""


def tools(path):
    """Name and description of each tool: decorated functions, and calls of a class `Tool`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if any("tool" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield node.name, described(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Tool":
            given = {keyword.arg: value(keyword.value) for keyword in node.keywords}
            if isinstance(given.get("name"), str):
                yield given["name"], given.get("description") or ""


def is_poisoned(path, name, description):
    # Some files have a harmless tool and a hidden twin of the same name.
    if "<HIDDEN>" in description:
        return True
    return "prompt-injection" in path.parts or any(
        str(path).endswith(end) and name in names for end, names in POISONED.items()
    )


def main():
    scanner, bench, vulnerable = map(Path, sys.argv[1:4])
    sources = [
        ("mcp-scanner, evals", sorted((scanner / "evals/behavioral-analysis/data").glob("*/*.py"))),
        ("mcp-scanner, examples", sorted((scanner / "examples/example-malicious-servers").glob("*.py"))),
        ("MCPSecBench", sorted((bench / "code").glob("*.py"))),
        ("damn-vulnerable-MCP-server", sorted((vulnerable / "challenges").glob("**/server.py"))),
    ]
    seen, rows = set(), []
    for source, paths in sources:
        for path in paths:
            for name, description in tools(path):
                if description and description not in seen:
                    seen.add(description)
                    row = {"set": source, "name": name, "description": description}
                    rows.append(row | {"poisoned": is_poisoned(path, name, description)})
    json.dump(rows, sys.stdout, indent=1)


main()
