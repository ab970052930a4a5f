import { execFileSync } from "node:child_process";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { LIMIT_MS } from "../async/limit.ts";
import { NAMES, noBrowser } from "./browser.ts";

/** A page in a real Chromium, and what went wrong in it. */
export interface OpenedPage {
  page: Page;
  /** Errors of scripts, and messages of the console, among them violations of the policy. */
  problems: string[];
}

/** Starts a Chromium without a window. The caller closes it. */
export function launchChromium(): Promise<Browser> {
  if (noBrowser !== false) throw new Error(noBrowser);
  const executablePath = execFileSync("/bin/sh", ["-c", "command -v chromium"], { encoding: "utf8" }).trim();
  // Chromium refuses to run its sandbox as root. The pages are ours, so it is not needed.
  const asRoot = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const args = [`--host-resolver-rules=${NAMES}`, ...asRoot];
  return chromium.launch({ executablePath, args, timeout: LIMIT_MS });
}

/** Opens an empty page in a profile of its own. */
export async function openPageIn(browser: Browser, options: BrowserContextOptions = {}): Promise<OpenedPage> {
  const context = await browser.newContext({ locale: "en-US", ...options });
  // On a busy machine the commands behind the feeds, which have a low priority, take many times as long as alone. A test may open more pages.
  context.setDefaultTimeout(LIMIT_MS);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
  });
  return { page, problems };
}
