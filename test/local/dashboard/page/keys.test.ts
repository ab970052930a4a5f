import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { noBrowser } from "../../../helpers/client/browser.ts";
import { openChromium } from "../../../helpers/client/chromium.ts";
import { startDaemon } from "../../../helpers/daemon/daemon.ts";
import { post } from "../../../helpers/gate/gate.ts";
import { scratchDirectory } from "../../../helpers/process/scratch-directory.ts";
import { respondWithMessage, startUpstream } from "../../../helpers/upstream/scripted-upstream.ts";

test(
  "health says when a token expires, and when and why it could last not be refreshed, never what it is",
  { skip: noBrowser },
  async (t) => {
    const upstream = await startUpstream(t, respondWithMessage);
    const script = join(scratchDirectory(t), "print-token");
    const failsLater = '[ -e "$0.ran" ] && echo "please log in" >&2 && exit 3; : > "$0.ran"';
    writeFileSync(script, `#!/bin/sh\n${failsLater}\necho token-of-the-test\n`, { mode: 0o700 });
    const keySource = { command: [script], ttlMs: 3_600_000 };
    const daemon = await startDaemon(t, {
      config: { upstreams: { default: { baseUrl: upstream.baseUrl, keySource } } },
    });
    await (await post(daemon, "/v1/messages", {})).text();
    const { page, problems } = await openChromium(t);
    const read = async () => {
      await page.goto(`${daemon.url}/#/health`);
      await page.reload();
      await page.waitForSelector('.part h2:text-is("Keys")');
      return page.$$eval('.part:has(h2:text-is("Keys")) li', (lines) =>
        lines.map((line) => `${line.className}|${line.textContent}`),
      );
    };
    const [key = "", source = "", life = "", ...others] = await read();
    assert.equal(key, "|defaultstored");
    assert.match(source, /^path\|command /);
    assert.match(life, /^\|default expires .*\d:\d\d/);
    assert.deepEqual(others, []);
    await daemon.command("key", "test");
    const [, , , failed = ""] = await read();
    assert.match(
      failed,
      /^warning\|default could not be refreshed: the key command failed with exit code 3 .*please log in/,
    );
    assert.doesNotMatch((await page.textContent("body")) ?? "", /token-of-the-test/);
    assert.deepEqual(problems, []);
  },
);
