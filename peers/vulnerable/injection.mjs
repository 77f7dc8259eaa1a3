// A notebook server that runs grep and sort for the model.
// Weak: search_notes puts the pattern into a shell line, inside quotes that $( ), a backtick or a quote leaves.
// Weak: sort_notes avoids the shell, but a name that begins with a dash is an option (--output=FILE writes).
// Why real servers do so: a shell line is the shortest wrapper of a program, and quotes or execFile look like enough.
import { exec, execFile } from "node:child_process";
import { appendFileSync, existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { options, serve, text } from "./mcp.mjs";

const { root, http, hardened } = options();
const child = { cwd: root, timeout: 5000, env: { PATH: process.env.PATH, LC_ALL: "C" } };
const shell = promisify(exec);
const program = promisify(execFile);
const notes = join(root, "notes.txt");
if (!existsSync(notes)) writeFileSync(notes, "buy milk\ncall the bank\n");

async function search({ pattern }) {
  const { stdout } = hardened
    ? await program("grep", ["-n", "-F", "-e", pattern, "--", "notes.txt"], child)
    : await shell(`grep -n "${pattern}" notes.txt`, child);
  return stdout;
}

async function sort({ file }) {
  if (hardened && !/^[a-z0-9][a-z0-9_-]*\.txt$/i.test(file)) throw new Error("Name a text file of the notebook");
  const running = program("sort", hardened ? ["--", file] : [file], child);
  running.child.stdin.end();
  return (await running).stdout;
}

// The twin's innocents: one rejects every call, one answers before its work is done.
const rejected = () => Promise.reject(new Error("Not logged in"));
const tool = (name, description, member, meaning) => ({
  name,
  description,
  inputSchema: { type: "object", properties: { [member]: { type: "string", description: meaning } }, required: [member] },
});
async function archive({ file }) {
  setTimeout(() => appendFileSync(join(root, "archive.log"), `${JSON.stringify(file)}\n`), 80);
  return "Will be archived";
}

const actions = { search_notes: search, sort_notes: sort, share_notes: rejected, archive_notes: archive };

serve(
  {
    name: "notebook",
    tools: () => [
      tool("search_notes", "Search the notes for a text", "pattern", "Text to search for"),
      tool("sort_notes", "Sort the lines of a note file", "file", "Name of the file, such as notes.txt"),
      ...(hardened
        ? [
            tool("share_notes", "Share the notes", "recipient", "Name of the recipient"),
            tool("archive_notes", "Archive a note file later", "file", "Name of the file, such as notes.txt"),
          ]
        : []),
    ],
    async call(name, given) {
      try {
        return text(await actions[name](given));
      } catch (error) {
        return error.code === 1 && name === "search_notes" ? text("No line matches") : text("The command failed", true);
      }
    },
  },
  { http },
);
