// Google's own SDK talks to the Live API through tollkeeper: it sends and gets the same as without it, and each turn has a record that equals
// the books of the upstream.
import assert from "node:assert/strict";
import { copyFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import { createToolHome, skipUnavailable } from "../helpers/tools/real-tool.ts";
import { installPackages } from "../helpers/tools/tool-packages.ts";
import { sendBinary, startLiveUpstream, type LiveUpstream } from "../helpers/upstream/live-upstream.ts";

const SDK = { package: "@google/genai", version: "2.32.0" };
const PROGRAM = "google-live.mjs";
const CALL = { toolCall: { functionCalls: [{ id: "call-1", name: "read", args: {} }] } };

/** The upstream as the only one, and as one of two that share the models. */
const alone = <Configured>(upstream: Configured) => ({ default: upstream });
const shared = <Configured>(upstream: Configured) => ({
  default: { ...upstream, models: ["gemini-3*"] },
  other: { ...upstream, models: ["gemini-2*"] },
});

test(`${SDK.package}@${SDK.version} takes three turns over the Live API, and the records equal the books`, async (t) => {
  const modules = await installPackages(SDK).catch((error: unknown) => {
    skipUnavailable(t, SDK, error);
    return null;
  });
  if (modules === null) return;
  const { home, work, env } = createToolHome(t);
  symlinkSync(modules, join(home, "node_modules"));
  const program = join(home, PROGRAM);
  copyFileSync(new URL(`programs/${PROGRAM}`, import.meta.url), program);
  const startUpstream = () =>
    startLiveUpstream(t, {
      onMessage(socket, message, books) {
        const text = JSON.stringify(message);
        if (text.includes("use the tool")) sendBinary(socket, CALL);
        else if (!text.includes("realtimeInput") || text.includes("audioStreamEnd"))
          books.speak(socket, { input: 500 + books.turns.length, output: 40, thoughts: 7 });
      },
    });
  const runBefore = async (baseUrl: string, { turns }: LiveUpstream) => {
    const { stdout, stderr } = await runBounded(t, [process.execPath, program], {
      home,
      work,
      env: { ...env, GOOGLE_GEMINI_BASE_URL: baseUrl, GOOGLE_API_KEY: "AIza-of-the-tool" },
    });
    assert.equal(stdout.trim(), turns.map(({ input, output }) => input + output).join(" "), stderr);
  };
  const direct = await startUpstream();
  await runBefore(new URL(direct.baseUrl).origin, direct);
  for (const share of [alone, shared]) {
    const through = await startUpstream();
    const { config } = writeKeyFile(t, through.baseUrl, "some-key");
    const upstream = { ...config.upstreams.default, apis: ["gemini" as const], websocket: "auto" as const };
    const daemon = await startDaemon(t, { config: { upstreams: share(upstream) } });
    await runBefore(`${daemon.url}/t/voice`, through);
    assert.equal(through.turns.length, 3);
    assert.deepEqual(through.messages, direct.messages);
    const [handshake] = through.handshakes;
    assert.equal(handshake?.headers["x-goog-api-key"], "some-key");
    assert.doesNotMatch(JSON.stringify([handshake?.url, handshake?.headers]), /AIza/);
    const records = await daemon.ledger();
    assert.deepEqual(
      records.map(({ tool, tokens, model_requested }) => [
        tool,
        model_requested,
        tokens?.input_total,
        tokens?.output,
        tokens?.reasoning,
      ]),
      through.turns.map(({ input, output, thoughts = 0 }) => [
        "voice",
        "gemini-3.8-live",
        input,
        output + thoughts,
        thoughts,
      ]),
    );
  }
});
