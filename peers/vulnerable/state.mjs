// An invoice server that asks for confirmation in a multi-round-trip call (2026-07-28) and keeps its step in
// requestState. The principal is the bearer token over HTTP, as behind a proxy that checks it, and `local` over stdio.
// Weak: requestState is plain Base64, and amount, payer and invoice are taken from it: a changed state, a state of
// another principal, of another tool or other arguments, or one that was used before, is accepted.
// Why real servers do so: the field is called opaque, and Base64 looks as if only the server could read it.
import { createHash, createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { options, RpcError, serve, text } from "./mcp.mjs";

const { root, http, hardened } = options();
const key = randomBytes(32);
const used = new Map();
const LIFETIME_MS = 120_000;
const amounts = { "inv-1": 10, "inv-2": 25 };

const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (value) => JSON.parse(Buffer.from(value, "base64url").toString());
const seal = (body) => createHmac("sha256", key).update(body).digest("base64url");
const digest = (given) => createHash("sha256").update(JSON.stringify(Object.entries(given).sort())).digest("hex");
const rejected = () => new RpcError(-32602, "requestState is invalid");

function issue(tool, given, principal) {
  const order = { tool, payer: principal, invoice: given.invoice, amount: amounts[given.invoice] };
  if (!hardened) return encode(order);
  const body = encode({ ...order, request: digest(given), expires: Date.now() + LIFETIME_MS, nonce: randomBytes(12).toString("hex") });
  return `${body}.${seal(body)}`;
}

function open(state, tool, given, principal) {
  if (typeof state !== "string") throw rejected();
  if (!hardened) return parsed(state);
  const [body, mark = ""] = state.split(".");
  const [presented, own] = [Buffer.from(mark), Buffer.from(seal(body))];
  if (presented.length !== own.length || !timingSafeEqual(presented, own) || state !== `${body}.${mark}`) throw rejected();
  const order = parsed(body);
  const fits = order.payer === principal && order.tool === tool && order.request === digest(given) && order.expires > Date.now();
  if (!fits || used.has(order.nonce)) throw rejected();
  return order;
}

function parsed(body) {
  try {
    const order = decode(body);
    if (typeof order.payer === "string" && typeof order.amount === "number") return order;
  } catch {
    // Falls through to the same refusal as an incomplete order.
  }
  throw rejected();
}

function readable(state) {
  try {
    return Buffer.from(state.split(".")[0], "base64url").toString();
  } catch {
    return "not readable";
  }
}

function consume({ nonce, expires }) {
  if (!hardened) return;
  for (const [old, end] of used) if (end < Date.now()) used.delete(old);
  used.set(nonce, expires);
}

const question = (tool, invoice) => ({
  method: "elicitation/create",
  params: {
    mode: "form",
    message: `${tool === "pay_invoice" ? "Pay" : "Refund"} invoice ${invoice}?`,
    requestedSchema: { type: "object", properties: { confirm: { type: "boolean" } }, required: ["confirm"] },
  },
});

function ask(tool, given, context) {
  const { elicitation } = context.capabilities;
  if (!elicitation || (elicitation.url && !elicitation.form)) {
    throw new RpcError(-32021, "This tool needs elicitation", { requiredCapabilities: { elicitation: { form: {} } } });
  }
  const requestState = issue(tool, given, context.principal);
  return { resultType: "input_required", inputRequests: { confirm: question(tool, given.invoice) }, requestState };
}

async function call(tool, given, context, params) {
  if (!Object.hasOwn(amounts, given.invoice)) return text("No such invoice", true);
  if (!context.modern) return text("This tool asks for confirmation, which needs protocol revision 2026-07-28", true);
  if (params.requestState === undefined) return ask(tool, given, context);
  let order;
  try {
    order = open(params.requestState, tool, given, context.principal);
  } catch (error) {
    // The twin's innocent: a tool that quotes the state that it refuses, in a result without `isError`.
    if (!hardened || tool !== "quote_invoice") throw error;
    return text(`This state is not known: ${params.requestState}, ${readable(params.requestState)}. Nothing was done; please start again.`);
  }
  const answer = params.inputResponses?.confirm;
  if (!answer) return ask(tool, given, context);
  consume(order);
  if (answer.action !== "accept" || answer.content?.confirm !== true) return text("Not confirmed");
  appendFileSync(join(root, "ledger.jsonl"), `${JSON.stringify({ tool, payer: order.payer, invoice: order.invoice, amount: order.amount })}\n`);
  return text(`${tool}: ${order.amount} from ${order.payer} for ${order.invoice}`);
}

const inputSchema = { type: "object", properties: { invoice: { type: "string", description: "Number of the invoice, such as inv-1" } }, required: ["invoice"] };

serve(
  {
    name: "invoices",
    tools: () => [
      { name: "pay_invoice", description: "Pay an invoice after confirmation", inputSchema },
      { name: "refund_invoice", description: "Refund an invoice after confirmation", inputSchema },
      ...(hardened ? [{ name: "quote_invoice", description: "Quote an invoice after confirmation", inputSchema }] : []),
    ],
    call,
  },
  { http },
);
