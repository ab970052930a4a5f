import assert from "node:assert/strict";
import { test } from "node:test";
import { GONE_UID } from "../../../src/ports.ts";
import { startGate } from "../../helpers/gate/gate.ts";
import { peersOf } from "../../helpers/gate/memory.ts";

test("a client that disconnects before the system reports its user is refused, without a log line about another user", async (t) => {
  const gate = await startGate(t, "http://127.0.0.1:9/v1", { peers: peersOf(GONE_UID) });
  const res = await fetch(`${gate.url}/v1/models`);
  assert.deepEqual([res.status, res.headers.get("x-tollkeeper-refusal")], [400, "peer_not_allowed"]);
  assert.deepEqual(
    gate.log.lines.filter((line) => !line.startsWith("debug")),
    [],
  );
});
