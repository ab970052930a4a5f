import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { noBrowser } from "../../helpers/client/browser.ts";
import { launchChromium, openPageIn } from "../../helpers/client/launch-chromium.ts";
import { launchDaemon } from "../../helpers/daemon/daemon.ts";
import { readCpu } from "../cpu.ts";
import type { Site } from "../site.ts";
import { DAYS, PER_DAY, yearOf } from "./report.ts";
import type { Scenario } from "./scenario.ts";

/** Opens the dashboard on a year that is summed up. Times are those of a real browser. It has all cores, as the daemon and its commands have. */
export const dashboard: Scenario = {
  name: "dashboard",
  title: `The dashboard in a real browser, over a year of ${PER_DAY} requests a day, by their sums`,
  isInQuick: false,
  isInWarmUp: false,
  figures: [
    { key: "paintMs", title: "first paint after the page's answer ms", digits: 0 },
    { key: "tableMs", title: "figures painted after their answer ms", digits: 0 },
    { key: "yearMs", title: "a year's view, whole ms", digits: 0 },
    { key: "daemonMs", title: "of it the daemon's processor ms", digits: 0 },
  ],
  async measure(site, { target }) {
    const values = { paintMs: NaN, tableMs: NaN, yearMs: NaN, daemonMs: NaN };
    if (target.name !== "tollkeeper" || noBrowser !== false) return { values, faults: [], trust: null };
    const { url, pid } = await daemonOf(site);
    const browser = await site.placement.startOnAllCores(launchChromium);
    site.cleanup.after(() => browser.close());
    const { page, problems } = await site.placement.startOnAllCores(() => openPageIn(browser));
    await page.addInitScript(NOTE_TABLE);
    await page.goto(`${url}/#/overview?since=7d`);
    const { paintMs } = await paintedAt(page);
    const before = readCpu([pid]).ranNs;
    const start = performance.now();
    await page.goto("about:blank");
    await page.goto(`${url}/#/overview?since=365d`);
    const { tableMs, requests } = await paintedAt(page);
    const yearMs = performance.now() - start;
    const daemonMs = (readCpu([pid]).ranNs - before) / 1_000_000;
    await browser.close();
    const expected = (PER_DAY * (DAYS - 1)).toLocaleString("en-US");
    const faults = [...problems, ...(requests === expected ? [] : [`showed ${requests} requests`])];
    return { values: { paintMs, tableMs, yearMs, daemonMs }, faults, trust: null };
  },
};

/** Has the page note when the frame with its table is painted. */
const NOTE_TABLE = `new MutationObserver((_, observer) => {
  if (document.querySelector(".table tbody tr") === null) return;
  observer.disconnect();
  requestAnimationFrame(() => setTimeout(() => {
    globalThis.tableAt = performance.now();
    document.documentElement.dataset.painted = "";
  }));
}).observe(document, { childList: true, subtree: true });`;

const READ = `(() => {
  const [page] = performance.getEntriesByType("navigation");
  const usage = performance.getEntriesByType("resource").filter(({ name }) => name.includes("/v1/usage"));
  const [first] = performance.getEntriesByName("first-contentful-paint");
  return {
    paintMs: first.startTime - page.responseEnd,
    tableMs: globalThis.tableAt - Math.max(...usage.map(({ responseEnd }) => responseEnd)),
    requests: document.querySelector(".glance .card strong").textContent,
  };
})()`;

interface Painted {
  paintMs: number;
  tableMs: number;
  requests: string;
}

async function paintedAt(page: Page): Promise<Painted> {
  await page.waitForSelector("html[data-painted]", { state: "attached" });
  return page.evaluate<Painted>(READ);
}

const daemons = new WeakMap<Site, Promise<{ url: string; pid: number }>>();

/** A daemon with the ledger of a year; ends with the bench. */
function daemonOf(site: Site): Promise<{ url: string; pid: number }> {
  let daemon = daemons.get(site);
  if (daemon === undefined) daemons.set(site, (daemon = startDaemon(site)));
  return daemon;
}

async function startDaemon(site: Site): Promise<{ url: string; pid: number }> {
  const home = join(site.directory, "dashboard");
  mkdirSync(home, { mode: 0o700 });
  const config = JSON.parse(readFileSync(await yearOf(site), "utf8")) as object;
  const { ready, kill } = launchDaemon(home, { config, launcher: site.placement.commandLauncher });
  site.cleanup.after(kill);
  return ready;
}
