import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { test } from "node:test";
import { runLoad } from "./load-run.ts";
import { COMPLETE_RESPONSES } from "./responses.ts";

for (const [what, response, requests, fault] of [
  ["correct responses", COMPLETE_RESPONSES.json, 3, null],
  [
    "another status",
    "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 2\r\n\r\n{}",
    0,
    /^answered HTTP\/1\.1 502 Bad Gateway$/,
  ],
  ["what is not HTTP", "HTTP/1.1 200\r\n\r\n", 0, /^answered what is not HTTP: first line: /],
] as const) {
  test(`a load that gets ${what} ${fault === null ? "has no fault" : "says so, and counts no request"}`, async (t) => {
    const server = createServer((socket) =>
      socket.on("data", () => socket.write(response)).on("error", () => {}),
    );
    t.after(() => server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const outcome = await runLoad(
      {
        port,
        response: "json",
        bodyBytes: 100,
        headers: [],
        modelPrefix: "",
        connections: 1,
        requests: 3,
        forMs: 60_000,
        isFresh: true,
      },
      async () => {},
    );
    assert.equal(outcome.requests, requests);
    if (fault === null) assert.deepEqual(outcome.faults, []);
    else assert.match(outcome.faults[0] ?? "no fault", fault);
  });
}
