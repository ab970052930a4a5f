// Responses on a WebSocket at a crash: each that was under way has a record of its own after the next start, once, and those that
// had ended keep theirs.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { waitUntil } from "../helpers/async/wait-until.ts";
import { isTerminal, openSocket } from "../helpers/client/websocket.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { CREATE } from "../helpers/gate/gate-with-websocket.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { notesIn } from "../helpers/ledger/notes.ts";
import { begin, respond, startWebSocketUpstream } from "../helpers/upstream/websocket-upstream.ts";

test(
  "a daemon killed with responses under way on WebSockets has a record of each after its next start, and no more after another",
  { timeout: 300_000 },
  async (t) => {
    const { baseUrl } = await startWebSocketUpstream(t, {
      onMessage(socket, message) {
        if (message.stream_id === undefined) respond(socket, message, { input: 30, output: 3 });
        else begin(socket, message);
      },
    });
    const { config: withKey } = writeKeyFile(t, baseUrl, "some-key");
    const upstreams = Object.fromEntries(
      Object.entries(withKey.upstreams).map(([name, upstream]) => [name, { ...upstream, websocket: "auto" }]),
    );
    const config = { ...withKey, upstreams, ledger: { noteAfterMs: 500 } };
    const killed = await startDaemon(t, { config });
    const directory = join(killed.home, "state", "tollkeeper", "ledger");
    for (const lanes of [["a", "b"], ["c"]]) {
      const client = await openSocket(t, killed);
      client.send(CREATE);
      await client.until(isTerminal);
      for (const lane of lanes) client.send({ ...CREATE, stream_id: lane });
      await client.until(({ stream_id: lane }) => lane === lanes.at(-1));
    }
    await waitUntil("a note of each, with its id", () =>
      [...notesIn(directory).values()].filter(({ response_id: id }) => id !== null).length === 3
        ? true
        : null,
    );
    process.kill(killed.pid, "SIGKILL");
    await killed.ended;

    const env = { XDG_STATE_HOME: join(killed.home, "state") };
    for (const start of ["the next start", "the one after"]) {
      const daemon = await startDaemon(t, { config, env });
      const records = await daemon.ledger();
      const seen = records.map(({ outcome, cut_by, usage, tokens, route, method }) =>
        JSON.stringify([outcome, cut_by, usage, tokens?.input_total ?? null, method, route]),
      );
      const ended = JSON.stringify(["completed", null, "final", 30, "POST", "/responses"]);
      const cut = JSON.stringify(["cut", "crash", "absent", null, "POST", "/responses"]);
      assert.deepEqual(seen.toSorted(), [ended, ended, cut, cut, cut].toSorted(), start);
      assert.equal(new Set(records.map(({ response_id: id }) => id)).size, 5, start);
      process.kill(daemon.pid, "SIGKILL");
      await daemon.ended;
    }
  },
);
