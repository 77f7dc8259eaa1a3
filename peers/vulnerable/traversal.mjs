// A document server over the folder ROOT/data.
// Weak: read_file joins without a check (../ and absolute paths); head_file compares prefixes, so /data-evil and
// symbolic links pass; resources/read looks for ../ before it decodes the URI, so %2e%2e%2f passes.
// Why real servers do so: each entry was patched alone, after a report, against the one input of that report.
// Both twins refuse what lies outside ROOT, so that the weak one reads no more than the folder it was given.
import { existsSync, mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { options, serve, text } from "./mcp.mjs";

const { root, http, hardened } = options();
const data = join(root, "data");
mkdirSync(data, { recursive: true });
if (!existsSync(join(data, "welcome.txt"))) writeFileSync(join(data, "welcome.txt"), "Welcome\nSecond line\n");

function contained(path, folder) {
  const real = realpathSync(path);
  if (!real.startsWith(folder + sep)) throw new Error("No such document");
  return real;
}

const read = (path) => readFile(contained(path, hardened ? realpathSync(data) : root), "utf8");

function prefixChecked(path) {
  const full = resolve(data, path);
  if (!full.startsWith(data)) throw new Error("No such document");
  return full;
}

function fromUri(uri) {
  if (!uri.startsWith("docs:///")) throw new Error("No such document");
  const path = uri.slice("docs:///".length);
  if (path.includes("../")) throw new Error("No such document");
  return resolve(data, decodeURIComponent(path));
}

const inputSchema = {
  type: "object",
  properties: { path: { type: "string", description: "Path of the document, such as welcome.txt" } },
  required: ["path"],
};
const searched = { type: "object", properties: { words: { type: "string", description: "Text to search for" } }, required: ["words"] };

// The twin's innocent: it reads all documents, and follows links that stay inside the folder.
async function search({ words }) {
  const found = [];
  for (const name of readdirSync(data)) {
    try {
      const content = await read(join(data, name));
      if (content.includes(words)) found.push(`${name}: ${content}`);
    } catch {
      // A folder, or a link that leaves this one.
    }
  }
  return found.join("\n") || `No document has ${words}`;
}

const documents = () => readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile());

serve(
  {
    name: "documents",
    tools: () => [
      { name: "read_file", description: "Read a document", inputSchema },
      { name: "head_file", description: "Read the first line of a document", inputSchema },
      ...(hardened ? [{ name: "search_documents", description: "Read the documents with a text", inputSchema: searched }] : []),
    ],
    async call(name, { path, words }) {
      try {
        if (name === "search_documents") return text(await search({ words }));
        if (name === "read_file") return text(await read(resolve(data, path)));
        return text((await read(prefixChecked(path))).split("\n")[0]);
      } catch {
        return text("No such document", true);
      }
    },
    resources: () => documents().map(({ name }) => ({ uri: `docs:///${encodeURIComponent(name)}`, name, mimeType: "text/plain" })),
    templates: [{ uriTemplate: "docs:///{path}", name: "document", mimeType: "text/plain" }],
    read: async (uri) => ({ uri, mimeType: "text/plain", text: await read(fromUri(uri)) }),
  },
  { http },
);
