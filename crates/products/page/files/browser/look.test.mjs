// Every view in light and dark, wide and narrow: a picture of each for people, and axe without violations.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
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

/** What each picture shows: a name, a place, and how to come there. */
const SCENES = [
  ["traffic", "", async (page) => { await wait(page, ".row"); }],
  ["traffic-detail", "at=16", async (page) => { await wait(page, ".finding"); await wait(page, ".tree"); }],
  ["traffic-http", "at=9", async (page) => { await page.locator(".fold").first().click(); await wait(page, ".headers"); }],
  ["traffic-filter", "", async (page) => { await wait(page, ".row"); await page.getByRole("combobox").fill("st"); await wait(page, "[role=option]"); }],
  ["tools", "view=tools&item=2%3A", async (page) => { await wait(page, ".member"); }],
  ["tools-result", "view=tools&item=1%3A", async (page) => { await wait(page, ".member"); await page.locator(".member input").first().fill("hello"); await page.locator("[data-send-button]").click(); await wait(page, ".outcome img"); }],
  ["tools-question", "view=tools&item=4%3A", async (page) => { await wait(page, ".call"); await page.locator("[data-send-button]").click(); await wait(page, ".question"); }],
  ["tools-json", "view=tools&item=2%3A", async (page) => { await wait(page, ".member"); await page.keyboard.press("Control+j"); await wait(page, ".twin"); }],
  ["resources", "view=resources&item=r1", async (page) => { await wait(page, ".call"); await page.locator("[data-send-button]").click(); await wait(page, ".outcome pre"); }],
  ["template", "view=resources&item=t1", async (page) => { await wait(page, ".member"); }],
  ["prompts", "view=prompts&item=1%3A", async (page) => { await wait(page, ".member"); await page.locator("[data-send-button]").click(); await wait(page, ".message"); }],
  ["findings", "view=findings", async (page) => { await wait(page, ".row"); await page.locator(".row").first().click(); await wait(page, ".finding"); }],
  ["server", "view=server", async (page) => { await wait(page, ".tree"); }],
  ["questions", "view=questions", async (page) => { await wait(page, ".sheet"); }],
  ["log", "view=log", async (page) => { await wait(page, ".row"); }],
  ["palette", "", async (page) => { await wait(page, ".row"); await page.keyboard.press("Control+k"); await wait(page, "[role=option]"); }],
  ["keys", "", async (page) => { await wait(page, ".row"); await page.keyboard.press("?"); await wait(page, "dialog"); }],
  ["edit", "at=2", async (page) => { await wait(page, ".row-detail"); await page.keyboard.press("e"); await wait(page, "dialog textarea"); }],
  ["compare", "at=2", async (page) => { await wait(page, ".row-detail"); await page.keyboard.press("m"); await page.keyboard.press("j"); await wait(page, "text=Compare with 2"); await page.keyboard.press("="); await wait(page, ".diff"); }],
  ["test", "at=2", async (page) => { await wait(page, ".row-detail"); await page.keyboard.press("t"); await wait(page, "dialog pre"); }],
];

for (const [name, place, come] of SCENES) {
  for (const size of SIZES) {
    test(`${name}, ${size.width} pixels wide`, async () => {
      const { page, wrong, close } = await open(browser, { place, ...size });
      await come(page);
      // Evaluated by the driver, which the page's policy does not bind.
      await page.evaluate(source);
      for (const theme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: theme });
        await page.waitForTimeout(120);
        await page.screenshot({ path: join(pictures, `${name}-${size.width}-${theme}.png`), animations: "disabled" });
        const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const found = violations.map(({ id, nodes }) => `${theme}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
        assert.deepEqual(found, []);
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.equal(wide, 0, "nothing is wider than the window");
      assert.deepEqual(wrong, []);
      await close();
    });
  }
}
