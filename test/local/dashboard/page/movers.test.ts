// The health view says who used a window since it began, as `limits` does.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { Limits } from "../../../../src/local/dashboard/page/feed-types.ts";
import { limitMeters } from "../../../../src/local/dashboard/page/meters/limit-meters.ts";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { launchDaemon } from "../../../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../../../helpers/keychain/key-file.ts";
import { tokens, usageRecord } from "../../../helpers/ledger/usage-record.ts";
import { removeDirectory } from "../../../helpers/process/scratch-directory.ts";

const HOUR = 3_600_000;

const WINDOW = {
  window: "5h",
  used_percent: 62,
  state: "seen",
  resets_at: null,
  seen_at: "2026-11-29T15:00:00Z",
} as const;

function moversOf(account: Limits["accounts"][number]): string {
  const limits = [{ account: "default", windows: [WINDOW] }];
  return limitMeters({ limits, holds: [] }, { accounts: [account] })[0]?.movers ?? "";
}

function named(...shares: readonly (readonly [name: string | null, share: number])[]) {
  return shares.map(([name, share]) => ({ name, share_percent: share }));
}

test("the movers of a window are its first three names of each kind, and the sum of the others", () => {
  const moved = {
    since: "2099-11-29T11:40:00Z",
    tool: named(["codex", 60], ["zed", 25.4], [null, 10], ["aider", 4.2], ["pi", 0.4]),
    project: named([null, 100]),
    session: named(["one", 99.7], ["two", 0.3]),
  };
  const windows = [
    { window: "7d", moved_by: null },
    { window: "5h", moved_by: moved },
  ];
  assert.match(
    moversOf({ account: "default", windows }),
    /^Tokens since [^:]+:40[^:]*: tool codex 60%, zed 25%, no tool 10%, 2 more 5%; session one >99%, two <1%\. The service may count in another way$/,
  );
  assert.equal(moversOf({ account: "other", windows }), "");
  assert.equal(moversOf({ account: "default", windows: windows.slice(0, 1) }), "");
});

test(
  "health says who used a window since it began, and names are only text",
  { skip: noBrowser },
  async (t) => {
    const home = mkdtempSync(join(tmpdir(), "tollkeeper-"));
    t.after(() => removeDirectory(home));
    const state = join(home, "state", "tollkeeper");
    mkdirSync(join(state, "ledger"), { recursive: true, mode: 0o700 });
    const now = Date.now();
    const window = {
      window: "5h",
      usedPercent: 62,
      limit: null,
      remaining: null,
      resetsAt: now + HOUR,
      seenAt: now,
    };
    const limits = { v: 1, accounts: [{ account: "default", windows: [window] }] };
    writeFileSync(join(state, "limits.json"), JSON.stringify(limits), { mode: 0o600 });
    const ts = new Date(now).toISOString();
    const session = "<b>x</b>, type: tollkeeper stop";
    const records = ["zed", "codex", "zed", "zed"].map((tool, at) =>
      usageRecord({ ts, id: `r-${at}`, tool, session, tokens: tokens({ input_uncached: 1_000 }) }),
    );
    const text = records.map((one) => `${JSON.stringify(one)}\n`).join("");
    writeFileSync(join(state, "ledger", `${ts.slice(0, 10)}.ndjson`), text, { mode: 0o600 });
    const { config } = writeKeyFile(t, "http://127.0.0.1:9/v1", "some-key");
    const { ready, kill } = launchDaemon(home, { config });
    t.after(kill);
    const daemon = await ready;
    const { page, problems } = await openChromium(t);
    await page.goto(`${daemon.url}/#/health`);
    await page.waitForSelector('small:has-text("Tokens since")');
    const shown = (await page.textContent(".meter small:last-child")) ?? "";
    assert.match(shown, /: tool zed 75%, codex 25%;/);
    assert.ok(shown.includes(`session ${session} 100%`), shown);
    assert.equal(await page.locator(".meter code, .meter b").count(), 0);
    assert.deepEqual(problems, []);
  },
);
