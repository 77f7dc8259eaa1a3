// Every view of the page of the fleet in light and dark, wide and narrow: a picture of each for people, axe without violations, and
// the report as it is printed.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { FleetFake } from "../test/fleet-fake.mjs";
import { axe, launch, open } from "./driver.mjs";

const pictures = process.env.PAGE_PICTURES;
if (!pictures) throw new Error("PAGE_PICTURES names no folder – run `cargo xtask page`");
mkdirSync(pictures, { recursive: true });
const source = readFileSync(axe, "utf8");
let browser;
before(async () => { browser = await launch(); });
after(() => browser.close());

const SIZES = [{ width: 1440, height: 900 }, { width: 400, height: 800 }];
const wait = (page, selector) => page.locator(selector).first().waitFor();

/** What each picture shows: a name, a place, how to come there, and the fake. */
const SCENES = [
  ["table", "", async (page) => wait(page, ".row .f-name"), {}],
  ["filtered", "q=gate:conf+is:failed&sort=-stage", async (page) => wait(page, ".row .f-name"), {}],
  ["filter", "", async (page) => { await wait(page, ".row"); await page.getByRole("combobox").fill("is:"); await wait(page, "[role=option]"); }, {}],
  ["wrong-filter", "q=nonsense:x", async (page) => wait(page, ".filter-problem"), {}],
  ["gates", "at=search&view=gates", async (page) => wait(page, ".gate"), {}],
  ["finding", "at=search&view=gates&gate=conforms", async (page) => { await wait(page, ".found"); await page.locator(".found-head").first().click(); await wait(page, ".evidence pre"); }, {}],
  ["history", "at=notes&view=history", async (page) => wait(page, ".lines"), {}],
  ["waivers", "at=search&view=waivers", async (page) => wait(page, "td.reason"), {}],
  ["playbook", "at=search&view=playbook", async (page) => wait(page, ".playbook"), {}],
  ["running", "", async (page) => { await wait(page, ".run-strip progress"); await page.keyboard.press("l"); await wait(page, ".outcomes li"); }, { run: true }],
  ["palette", "", async (page) => { await wait(page, ".row"); await page.keyboard.press("Control+k"); await wait(page, "[role=option]"); }, {}],
  ["keys", "", async (page) => { await wait(page, ".row"); await page.keyboard.press("?"); await wait(page, "dialog"); }, {}],
  ["nothing", "q=zzz", async (page) => wait(page, ".nothing"), {}],
];

for (const [name, place, come, options] of SCENES) {
  for (const size of SIZES) {
    test(`fleet ${name}, ${size.width} pixels wide`, async () => {
      const fake = new FleetFake(options);
      const { page, wrong, close } = await open(browser, { url: await fake.listen(), place, ...size });
      await come(page);
      await page.evaluate(source);
      for (const theme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForTimeout(120);
        await page.screenshot({ path: join(pictures, `fleet-${name}-${size.width}-${theme}.png`), animations: "disabled" });
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const found = violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
        assert.deepEqual(found, []);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(wide, 0, "nothing is wider than the window");
      assert.deepEqual(wrong, []);
      await close();
      fake.close();
    });
  }
}

/** How many pages a PDF has. */
const pagesOf = (pdf) => [...pdf.toString("latin1").matchAll(/\/Type\s*\/Page(?![s\w])/g)].length;

for (const [name, place, servers, least, most] of [["table", "", 37, 1, 3], ["many", "", 1000, 12, 60], ["server", "at=search&view=gates", 37, 1, 4]]) {
  test(`the printed report of ${name} has all of it on numbered pages`, async () => {
    const fake = new FleetFake({ servers });
    const { page, wrong, close } = await open(browser, { url: await fake.listen(), place });
    await wait(page, place ? ".gate" : ".row .f-name");
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const text = await page.locator(".printed").textContent();
    for (const expected of place ? ["search", "jsonrpc.result-id", "Waivers", "Playbook"] : fake.rows.map(([server]) => server)) assert.ok(text.includes(expected), `${expected} is not printed`);
    assert.equal(await page.locator(".printed tbody tr").count(), place ? 0 : servers);
    await page.emulateMedia({ media: "print" });
    await page.setViewportSize({ width: 1020, height: 720 });
    await page.screenshot({ path: join(pictures, `fleet-report-${name}.png`) });
    assert.equal(await page.locator("#app").isVisible(), false, "the page itself is not printed");
    await page.emulateMedia({ media: null });
    const pdf = await page.pdf({ path: join(pictures, `fleet-report-${name}.pdf`), preferCSSPageSize: true });
    assert.ok(pagesOf(pdf) >= least && pagesOf(pdf) <= most, `${pagesOf(pdf)} pages`);
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    assert.equal(await page.locator(".printed").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
    fake.close();
  });
}
