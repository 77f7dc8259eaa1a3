// Pictures of what a page shows, in light and dark, wide and narrow, each without violations of axe.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { axe } from "./driver.mjs";

const pictures = process.env.PAGE_PICTURES;
if (!pictures) throw new Error("PAGE_PICTURES names no folder – run `cargo xtask page`");
mkdirSync(pictures, { recursive: true });
const source = readFileSync(axe, "utf8");
const SIZES = [{ width: 1440, height: 900 }, { width: 400, height: 800 }];

export async function taken(page, name) {
  // Evaluated by the driver, which the page's policy does not bind.
  await page.evaluate(source);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      await page.waitForTimeout(120);
      await page.screenshot({ path: join(pictures, `${name}-${size.width}-${theme}.png`), animations: "disabled" });
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const found = violations.map(({ id, nodes }) => `${name} ${size.width} ${theme}: ${id}: ${nodes.slice(0, 3).map(({ html }) => html.slice(0, 160)).join(" | ")}`);
      assert.deepEqual(found, []);
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.equal(wide, 0, `${name}: nothing is wider than the window`);
  }
  await page.setViewportSize(SIZES[0]);
  await page.emulateMedia({ colorScheme: "light" });
}
