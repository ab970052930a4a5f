import assert from "node:assert/strict";
import { test } from "node:test";
import { notifyDesktop } from "../../src/adapters/desktop-notifier.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { noDesktop, startDesktop } from "../helpers/desktop/notification-daemon.ts";
import { MemoryLog } from "../helpers/gate/memory.ts";
import { startSession, noKeyring } from "../helpers/keychain/keychain-session.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";

const LIMIT = { timeout: 300_000 };

test(
  "a real notification daemon shows the text as it is, whatever is in it",
  { ...LIMIT, skip: noDesktop },
  async (t) => {
    const desktop = await startDesktop(t);
    setEnvironment(t, desktop.env);
    const log = new MemoryLog();
    notifyDesktop(`80% of the budget for /home/ada/R&D <new> is spent; "--" -h`, log);
    const shown = await desktop.until(/formatted: [^]*script_count/);
    assert.match(shown, /appname: 'tollkeeper'/);
    assert.match(
      shown,
      /formatted: '<b>tollkeeper<\/b>\n80% of the budget for \/home\/ada\/R&amp;D &lt;new&gt; is spent; "--" -h'/,
    );
    assert.deepEqual(log.lines, []);
  },
);

test(
  "where nothing shows notifications, that is logged and nothing else",
  { ...LIMIT, skip: noDesktop || noKeyring },
  async (t) => {
    const { env } = await startSession(t);
    setEnvironment(t, env);
    const log = new MemoryLog();
    notifyDesktop("80%", log);
    const [line] = await waitUntil("the log", () => (log.lines.length > 0 ? log.lines : null));
    assert.match(line ?? "", /^info a notification could not be shown/);
  },
);

test(
  "where there is no program that shows notifications, that is logged and nothing else",
  LIMIT,
  async (t) => {
    setEnvironment(t, { PATH: "/nowhere" });
    const log = new MemoryLog();
    notifyDesktop("80%", log);
    const [line] = await waitUntil("the log", () => (log.lines.length > 0 ? log.lines : null));
    assert.match(line ?? "", /^info a notification could not be shown.*(notify-send|osascript)/);
  },
);
