// A small server over stdio for the tasks of people: it gives back what came, letter by letter, and does what others complain about.
// The word `many` adds 5,000 tools.

import { createInterface } from "node:readline";

const many = process.argv.includes("many");
const object = (properties, required = []) => ({ type: "object", properties, required });
const tools = [
  { name: "mirror", description: "Gives back the arguments as they came.", inputSchema: object({ text: { type: "string" }, number: { type: "integer" } }) },
  { name: "nullable", inputSchema: object({ colour: { anyOf: [{ type: "string", enum: ["red", "green"] }, { type: "null" }] }, size: { type: ["string", "null"], enum: ["S", "L", null] } }) },
  { name: "busy", description: "Reports progress for a long time, then answers.", inputSchema: object({ ms: { type: "integer" } }) },
  { name: "silent", description: "Says nothing for a long time.", inputSchema: object({ ms: { type: "integer" } }) },
  { name: "weather", inputSchema: object({}), outputSchema: object({ degrees: { type: "number" } }, ["degrees"]) },
  { name: "wrong", inputSchema: object({}), outputSchema: object({ degrees: { type: "number" } }, ["degrees"]) },
  { name: "pid", inputSchema: object({}) },
  ...(many ? Array.from({ length: 5000 }, (_, at) => ({ name: `tool-${at}`, description: `The tool of number ${at}.`, inputSchema: object({}) })) : []),
];
const texts = (text) => ({ content: [{ type: "text", text }] });
const say = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

/** The JSON text of `arguments`, as it stands in the line. */
function raw(line) {
  const from = line.indexOf('"arguments":') + '"arguments":'.length;
  let depth = 0;
  let inText = false;
  for (let at = from; at < line.length; at += 1) {
    const char = line[at];
    if (inText && char === "\\") at += 1;
    else if (char === '"') inText = !inText;
    else if (!inText && char === "{") depth += 1;
    else if (!inText && char === "}" && (depth -= 1) === 0) return line.slice(from, at + 1);
  }
  return "";
}

async function call({ name, arguments: given = {}, _meta: meta }, line) {
  switch (name) {
    case "mirror": case "nullable": return texts(`came: ${raw(line)}`);
    case "busy":
      for (let done = 0; done < given.ms; done += 200) {
        await wait(200);
        if (meta?.progressToken !== undefined) say({ method: "notifications/progress", params: { progressToken: meta.progressToken, progress: done + 200, total: given.ms } });
      }
      return texts("finished");
    case "silent": await wait(given.ms); return texts("finished");
    case "weather": return { ...texts("21 degrees"), structuredContent: { degrees: 21 } };
    case "wrong": return { ...texts("warm"), structuredContent: { degrees: "warm" } };
    case "pid": return texts(String(process.pid));
    default: return texts(name);
  }
}

async function answer({ id, method, params }, line) {
  switch (method) {
    case "initialize": return { protocolVersion: params.protocolVersion, capabilities: { tools: {}, resources: {} }, serverInfo: { name: "tasks-of-people", version: "1" } };
    case "tools/list": return { tools };
    case "tools/call": return call(params, line);
    case "resources/list": return { resources: [] };
    case "resources/templates/list": return { resourceTemplates: [{ name: "file", uriTemplate: "files://{+folder}/{name}{?version,lang}" }] };
    case "resources/read": return { contents: [{ uri: params.uri, text: `read ${params.uri}` }] };
    case "ping": return {};
    default: say({ id, error: { code: -32601, message: "Method not found" } }); return null;
  }
}

createInterface({ input: process.stdin }).on("line", async (line) => {
  const message = JSON.parse(line);
  if (message.id === undefined || message.method === undefined) return;
  const result = await answer(message, line);
  if (result) say({ id: message.id, result });
});
