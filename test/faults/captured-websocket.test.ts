// E11, captured content of WebSockets: no key and no login is in what capture prints, and nothing of it is on the disk.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatLocalToken } from "../../src/core/secrets/local-token.ts";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { openSocket } from "../helpers/client/websocket.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { unnamedCaptures } from "../helpers/process/unnamed-files.ts";
import { begin, complete, startWebSocketUpstream } from "../helpers/upstream/websocket-upstream.ts";
import { assertNowhere, makeSentinel, readFilesBelow } from "../security/leak-search.ts";

const CODEX = { "user-agent": "codex_cli_rs/0.50.0", originator: "codex_cli_rs", "session-id": "s1" };

test(
  "no key, login or token of a WebSocket is in what capture show, diff and export print, and nothing of it is on the disk",
  { timeout: 300_000 },
  async (t) => {
    const key = makeSentinel();
    const login = `sk-ant-oat01-${randomBytes(24).toString("base64url")}1a`;
    const token = formatLocalToken("codex", randomBytes(32).toString("base64url").slice(0, 43));
    const marker = `prompt-${randomBytes(8).toString("hex")}`;
    const spellings = [key, encodeURIComponent(key), Buffer.from(key).toString("base64")];
    const upstream = await startWebSocketUpstream(t, {
      headers: { "x-echo": key, "set-cookie": `sid=${login}` },
      onMessage(socket, message) {
        const response = begin(socket, message);
        const delta = `${marker} ${spellings.join(" ")} ${login}`;
        socket.send(JSON.stringify({ type: "response.output_text.delta", delta }));
        complete(socket, message, response);
      },
    });
    const { config } = writeKeyFile(t, upstream.baseUrl, key);
    const upstreams = { default: { ...config.upstreams.default, websocket: "auto" } };
    const daemon = await startDaemon(t, { config: { upstreams }, args: ["--debug"], env: { DEBUG: "*" } });
    assert.equal((await daemon.command("capture", "codex")).code, 0);
    const client = await openSocket(t, daemon, {
      headers: { ...CODEX, authorization: `Bearer ${token}`, cookie: `a=${login}` },
    });
    for (const instructions of [`One. ${login}`, `Two. OPENAI_API_KEY=${key}`]) {
      const input = `${marker} {"token":"${token}"} ${login} ${key}`;
      client.send({ type: "response.create", model: "gpt-5", instructions, input });
      await client.until(({ type }) => type === "response.completed");
    }
    assert.ok(JSON.stringify(client.events).includes(key), "the client gets every byte");
    assert.ok(JSON.stringify(upstream.messages).includes(login), "and so does the service");
    const [first = "", second = ""] = await waitUntil("two captured responses", async () => {
      const { stdout } = await daemon.command("capture", "list", "--json");
      const { requests } = JSON.parse(stdout) as { requests: { id: string }[] };
      return requests.length === 2 ? requests.map(({ id }) => id) : null;
    });
    const archive = join(daemon.home, "codex.har");
    const printed: Record<string, string> = {};
    for (const words of [
      ["list"],
      ["list", "--json"],
      ["show", first, "--full", "--headers"],
      ["show", second, "--json"],
      ["diff", first, second],
      ["export", "--har", archive],
    ]) {
      const { code, stdout, stderr } = await daemon.command("capture", ...words);
      assert.equal(code, 0, stderr);
      printed[words.join(" ")] = stdout + stderr;
    }
    const exported = readFileSync(archive, "utf8");
    assert.ok(printed[`show ${first} --full --headers`]?.includes(marker));
    assert.ok(exported.includes(marker));
    for (const secret of [...spellings, login, token]) assertNowhere(secret, { ...printed, exported });
    if (process.platform === "linux") {
      const [file] = unnamedCaptures(daemon.pid);
      assert.ok((file?.length ?? 0) > 1_000);
      for (const secret of [marker, key, login, "instructions"]) assert.ok(!file?.includes(secret));
    }
    const log = daemon.stdout() + daemon.stderr();
    for (const secret of [marker, login, key])
      assertNowhere(secret, { ...readFilesBelow(daemon.home, archive), log });
  },
);
