// Opens the page in Chromium before a fake server, and notes everything that must not happen: violations of the policy, scripts
// that ran, requests to other hosts, errors of the page.

import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Fake } from "../test/fake.mjs";

const modules = process.env.PAGE_MODULES;
if (!modules) throw new Error("PAGE_MODULES names no folder with node_modules – run `cargo xtask page`");
const require = createRequire(join(modules, "package.json"));
const { chromium } = require("playwright-core");
export const axe = require.resolve("axe-core/axe.min.js");

const ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
const PROGRAMS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

function program() {
  const found = (process.env.PATH ?? "").split(":").flatMap((folder) => PROGRAMS.map((name) => join(folder, name))).find(existsSync);
  if (!found) throw new Error("no Chromium in PATH – apt-get install chromium");
  return found;
}

export const launch = () => chromium.launch({ executablePath: program(), args: ARGUMENTS });

/** Where `proof inspect` serves the pages of apps, and takes reports about them. */
const APP = /^http:\/\/127\.0\.0\.1:\d+\/(app|report)\/[0-9a-f]{64}$/;

/** One page on one server. `url` opens another one than a fake. */
export async function open(browser, { fake = {}, width = 1440, height = 900, dark = false, place = "", url } = {}) {
  const server = url ? null : new Fake(fake);
  const address = url ?? (await server.listen());
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", reducedMotion: "reduce", deviceScaleFactor: 1, timezoneId: "UTC", permissions: ["clipboard-read", "clipboard-write"] });
  const page = await context.newPage();
  page.setDefaultTimeout(15_000);
  const wrong = [];
  await page.exposeFunction("noteViolation", (text) => { wrong.push(`policy: ${text}`); });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => window.noteViolation(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  page.on("console", (message) => { if (message.type() === "error" && !/status of 4\d\d/.test(message.text())) wrong.push(`console: ${message.text()}`); });
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => { wrong.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  const origin = new URL(address).origin;
  page.on("request", (request) => { if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url()) && !APP.test(request.url())) wrong.push(`request: ${request.url().slice(0, 200)}`); });
  await page.goto(place ? `${address}&${place}` : address);
  await page.waitForSelector("main");
  return { page, server, wrong, context, close: async () => { await context.close(); server?.close(); } };
}

/** What stands in the rows that are in sight. */
export const rowsOf = (page) => page.$$eval(".list .row:not([hidden])", (rows) => {
  const list = rows[0]?.closest(".list").getBoundingClientRect();
  return rows.map((row) => ({ top: row.getBoundingClientRect().top, bottom: row.getBoundingClientRect().bottom, text: row.textContent, selected: row.getAttribute("aria-selected") === "true" }))
    .filter(({ top, bottom }) => top >= list.top - 0.5 && bottom <= list.bottom + 0.5).sort((a, b) => a.top - b.top);
});

/**
 * What scripts, styles and layout cost while something happens, in ms of the page's thread: other work on the machine does not
 * count.
 */
export async function cost(page, act) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const parts = ["ScriptDuration", "LayoutDuration", "RecalcStyleDuration"];
  const now = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.filter(({ name }) => parts.includes(name)).reduce((sum, { value }) => sum + value * 1000, 0);
  };
  const begun = await now();
  await act();
  await page.waitForTimeout(150);
  const spent = (await now()) - begun;
  await session.detach();
  return spent;
}
