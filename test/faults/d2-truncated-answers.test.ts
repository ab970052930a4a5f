// D2, truncated responses: a response that the upstream truncates never looks complete to the client, and its record says who
// cut it.
import assert from "node:assert/strict";
import { once } from "node:events";
import { Socket } from "node:net";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { TLSSocket } from "node:tls";
import { makeCertificate } from "../helpers/upstream/certificate.ts";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { TEST_KEY, withLimits } from "../helpers/gate/gate.ts";
import { readMessages } from "../helpers/client/http-messages.ts";
import { writeKeyFile } from "../helpers/keychain/key-file.ts";
import { startBlockedGate } from "../helpers/gate/blocked-gate.ts";
import { beginRequest, rawRequest, sendRaw, type RawClient } from "../helpers/client/raw-client.ts";
import { startRawUpstream } from "../helpers/upstream/raw-upstream.ts";
import { startTcpUpstream, waitUntilStill } from "../helpers/upstream/tcp-upstream.ts";
import { MESSAGE, MESSAGE_EVENTS } from "../helpers/upstream/scripted-upstream.ts";
import {
  MP3,
  MP3_HEAD,
  TRUNCATED_BODIES,
  TRUNCATIONS,
  UNPROVABLE,
  exactly,
  hexLength,
  STREAM_HEAD,
  UNFRAMED,
} from "./truncated-bodies.ts";
import { startGateWithRawUpstream, startGateWithUpstream } from "../helpers/gate/gate-with-upstream.ts";

const LIMIT = { timeout: 300_000 };

for (const { kind, head, body, usage, input } of TRUNCATED_BODIES) {
  for (const [what, field, frame] of TRUNCATIONS) {
    for (const ending of ["end", "reset"]) {
      test(
        `a ${kind} that the upstream truncates ${what} (${ending}) is truncated for the client too`,
        LIMIT,
        async (t) => {
          const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
            socket.write(`HTTP/1.1 200 OK\r\n${head}${field}\r\n${frame(body)}`, "latin1");
          });
          const client = await sendRaw(t, gate.port);
          await client.until(exactly(body));
          const socket = upstream.connections[0]?.socket;
          if (ending === "end") socket?.end();
          else socket?.resetAndDestroy();
          await assertTruncated(client, body);
          const record = await gate.ledger.only();
          assert.deepEqual(
            [record.outcome, record.cut_by, record.usage, record.tokens?.input_total],
            ["cut", "upstream", usage, input],
          );
        },
      );
    }
  }
}

for (const { kind, path, head, body, record: expected } of UNFRAMED) {
  test(
    `${kind} without framing that the end of the connection truncates is truncated for the client too`,
    LIMIT,
    async (t) => {
      const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.end(`HTTP/1.1 ${head}\r\n${body}`, "latin1");
      });
      const client = await sendRaw(t, gate.port, requestOf(path, gate.port));
      // The last bytes of an error are withheld, because they may be the beginning of the key.
      await assertTruncated(client, body.slice(0, 10));
      const record = await gate.ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.usage], expected);
    },
  );
}

for (const { kind, path, head, body } of UNPROVABLE) {
  test(
    `${kind} without framing stays without, so that the client knows no more than was said`,
    LIMIT,
    async (t) => {
      const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.end(`HTTP/1.1 ${head}\r\n${body}`, "latin1");
      });
      const client = await sendRaw(t, gate.port, requestOf(path, gate.port));
      const failed = failureOf(client.socket);
      const received = await client.closed;
      const [response] = readMessages(received).messages;
      assert.deepEqual([response?.body, await failed], [body, null], received);
      assert.match(received, /^connection: close\r$/im);
      assert.doesNotMatch(received, /^(?:transfer-encoding|content-length):/im);
      const record = await gate.ledger.only();
      assert.notEqual(record.outcome, "cut");
      assert.equal(record.cut_by, null);
    },
  );

  test(
    `${kind} without framing whose connection is reset does not end for the client, either`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.write(`HTTP/1.1 ${head}\r\n${body}`, "latin1");
      });
      const client = await sendRaw(t, gate.port, requestOf(path, gate.port));
      const failed = failureOf(client.socket);
      await client.until(/\r\n\r\n[^]/);
      upstream.connections[0]?.socket.resetAndDestroy();
      await client.closed;
      assert.equal(await failed, "ECONNRESET");
      // The meter of a finished chat, and of an error, knows better.
      assert.match((await gate.ledger.only()).outcome, /^(?:cut|error|completed)$/);
    },
  );
}

test(
  "a reset right behind the last bytes of a response without framing is not taken for its end",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      // The gate is in this process, and finds both when it gets to read.
      socket.write(`HTTP/1.1 200 OK\r\n${MP3_HEAD}\r\n${MP3}`, "latin1", () => socket.resetAndDestroy());
    });
    const client = await sendRaw(t, gate.port, getModels(gate.port));
    assert.equal(await failureOf(client.socket), "ECONNRESET");
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by], ["cut", "upstream"]);
  },
);

test(
  "a response without framing that is given up because nothing more comes has no end for the client",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithRawUpstream(
      t,
      (_request, { socket }) => void socket.write(`HTTP/1.1 200 OK\r\n${MP3_HEAD}\r\n${MP3}`, "latin1"),
      withLimits({ betweenBytesMs: 100 }),
    );
    const client = await sendRaw(t, gate.port, getModels(gate.port));
    const failed = failureOf(client.socket);
    assert.equal(await failed, "ECONNRESET");
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by], ["cut", "proxy"]);
  },
);

/**
 * Resolves with the code of the error with which a connection closes; null for an end. A reset that arrives with the last bytes is an end
 * to libuv, but not to the kernel: writing shows it.
 */
function failureOf(socket: Socket): Promise<string | null> {
  let code: string | null = null;
  socket.on("error", (error: NodeJS.ErrnoException) => (code = error.code ?? error.message));
  socket.once("end", () => Socket.prototype.write.call(socket, Buffer.alloc(0)));
  return new Promise((resolve) => socket.once("close", () => resolve(code)));
}

/** Fails unless the client received the body so far, and its connection then ended as no response of this framing does. */
async function assertTruncated({ socket, closed }: RawClient, body: string): Promise<void> {
  const failed = failureOf(socket);
  const received = await closed;
  if (/^connection: close\r$/im.test(received)) {
    assert.deepEqual([received.includes(body), await failed], [true, "ECONNRESET"], received);
  } else assertCut(received, body);
}

function requestOf(path: string, port: number): string {
  return path === "/v1/models" ? getModels(port) : rawRequest(port).replace("/v1/messages", path);
}

const getModels = (port: number) => `GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`;

/** Fails unless the client received the body so far and nothing that it could take for the end of the response. */
function assertCut(received: string, body: string): void {
  const { messages, rest } = readMessages(received);
  assert.deepEqual([messages.length, rest === "", received.includes(body)], [0, false, true], received);
}

test(
  "usage that arrives together with a framing error is recorded, and the response is cut",
  LIMIT,
  async (t) => {
    const [event] = MESSAGE_EVENTS;
    const chunk = `${hexLength(event)}\r\n${event}\r\n`;
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.write(`HTTP/1.1 200 OK\r\n${STREAM_HEAD}transfer-encoding: chunked\r\n\r\n${chunk}no chunk\r\n`);
    });
    const client = await sendRaw(t, gate.port);
    assert.deepEqual(readMessages(await client.closed).messages, []);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage, record.tokens?.input_total],
      ["cut", "upstream", "partial", 3],
    );
  },
);

/** More than the gate reads ahead for a client that does not read. */
const MANY_EVENTS = ": more to come\n\n".repeat(200_000);

for (const [what, field, frame] of [
  ["with a length", "content-length: 50000000\r\n", (body: string) => body],
  ["in chunks", "transfer-encoding: chunked\r\n", (body: string) => `${hexLength(body)}\r\n${body}\r\n`],
  ["without framing", "", (body: string) => body],
] as const) {
  for (const ending of ["end", "reset"]) {
    // undici's paused parser throws here, and nothing can catch it.
    test(
      `a response ${what} that is truncated (${ending}) while its client does not read is cut`,
      LIMIT,
      async (t) => {
        const upstream = await startRawUpstream(t, (_request, { socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\n${STREAM_HEAD}${field}\r\n${frame(MANY_EVENTS)}`, "latin1");
        });
        const { client, gate, ledger, port } = await startBlockedGate(t, upstream.baseUrl);
        client.write(rawRequest(port));
        while (upstream.requests.length === 0) await setImmediate();
        const [connection] = upstream.connections;
        await waitUntilStill(() => connection?.socket.bytesWritten ?? 0);
        if (ending === "end") connection?.socket.end();
        else connection?.socket.resetAndDestroy();
        await waitUntilStill(() => gate.openExchanges);
        let last = Buffer.alloc(0);
        client.on("data", (bytes: Buffer) => (last = Buffer.concat([last, bytes]).subarray(-16)));
        client.on("error", () => {});
        await once(client, "close");
        assert.ok(!last.toString().endsWith("\r\n0\r\n\r\n"));
        const record = await ledger.only();
        assert.deepEqual([record.outcome, record.cut_by, gate.openExchanges], ["cut", "upstream", 0]);
      },
    );
  }
}

/** How the request of a response that is already there begins; its body may still be on its way. */
const ASKED: readonly (readonly [what: string, begin: (port: number) => string])[] = [
  ["", rawRequest],
  [", and before it has sent all of its request", (port) => `${beginRequest(port, "Content-Length: 2")}{`],
];

for (const [what, begin] of ASKED) {
  test(
    `a complete response stays complete when a reset follows before the client has read it${what}`,
    LIMIT,
    async (t) => {
      const body = JSON.stringify(MESSAGE);
      // Sent in two parts: the second one waits for the client.
      const [first = "", ...rest] = [body.slice(0, 9), body.slice(9), ""].map(
        (part) => `${hexLength(part)}\r\n${part}\r\n`,
      );
      const upstream = await startRawUpstream(
        t,
        (_request, { socket }) => {
          socket.write(`HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${first}`);
        },
        { at: "head" },
      );
      const { client, gate, ledger, port } = await startBlockedGate(t, upstream.baseUrl);
      client.write(begin(port));
      while (upstream.connections.every(({ received }) => received === "")) await setImmediate();
      await waitUntilStill(() => gate.openExchanges);
      upstream.connections[0]?.socket.write(rest.join(""));
      await waitUntilStill(() => gate.openExchanges);
      upstream.connections[0]?.socket.resetAndDestroy();
      await waitUntilStill(() => gate.openExchanges);
      assert.equal(gate.openExchanges, 1);
      let received = "";
      client
        .setEncoding("latin1")
        .on("data", (text: string) => (received = (received + text).slice(-4096)))
        .on("error", () => {});
      while (!received.endsWith("\r\n0\r\n\r\n")) await once(client, "data");
      assert.equal(readMessages(received.replace(/^-+/, "")).messages[0]?.body, body);
      const record = await ledger.only();
      assert.deepEqual([record.outcome, record.cut_by, record.usage], ["completed", null, "final"]);
    },
  );
}

test(
  "a response whose TLS connection ends without close_notify is truncated for the client too",
  LIMIT,
  async (t) => {
    const certificate = makeCertificate(t, "IP:127.0.0.1");
    const [event] = MESSAGE_EVENTS;
    const bodies = [`transfer-encoding: chunked\r\n\r\n${hexLength(event)}\r\n${event}\r\n`, `\r\n${event}`];
    const connections: Socket[] = [];
    const upstream = await startTcpUpstream(t, (raw) => {
      const body = bodies[connections.push(raw) - 1];
      const socket = new TLSSocket(raw, { isServer: true, key: certificate.key, cert: certificate.cert });
      socket.on("error", () => {});
      socket.once("data", () =>
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${body}`),
      );
    });
    const { config } = writeKeyFile(t, `https://127.0.0.1:${upstream.port}/v1`, TEST_KEY);
    const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: certificate.file } });
    for (const number of bodies.keys()) {
      const client = await sendRaw(t, daemon.port);
      await client.until(/message_start/);
      // Ends the connection below TLS.
      connections[number]?.end();
      assertCut(await client.closed, event);
    }
    assert.deepEqual(
      (await daemon.ledger()).map(({ outcome, cut_by, tokens }) => [outcome, cut_by, tokens?.input_total]),
      bodies.map(() => ["cut", "upstream", 3]),
    );
  },
);

const WHOLE = JSON.stringify(MESSAGE);

for (const [what, head, body] of [
  ["an mp3", MP3_HEAD, MP3],
  ["complete JSON", "content-type: application/json\r\n", WHOLE],
  ["a complete stream", STREAM_HEAD, MESSAGE_EVENTS.join("")],
] as const) {
  test(
    `${what} without framing ends over TLS with close_notify, and is truncated for the client without it`,
    LIMIT,
    async (t) => {
      const certificate = makeCertificate(t, "IP:127.0.0.1");
      let isAnnounced = true;
      const upstream = await startTcpUpstream(t, (raw) => {
        const socket = new TLSSocket(raw, { isServer: true, key: certificate.key, cert: certificate.cert });
        socket.on("error", () => {});
        socket.once("data", () =>
          socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n${body}`, "latin1", () => {
            if (isAnnounced) socket.end();
            else raw.end();
          }),
        );
      });
      const { config } = writeKeyFile(t, `https://127.0.0.1:${upstream.port}/v1`, TEST_KEY);
      const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: certificate.file } });
      const complete = await sendRaw(t, daemon.port);
      const received = isEndless(head) ? await complete.closed : await complete.until(/\r\n0\r\n\r\n/);
      assert.equal(readMessages(received).messages[0]?.body, body);
      isAnnounced = false;
      const client = await sendRaw(t, daemon.port);
      const failed = failureOf(client.socket);
      const truncated = await client.closed;
      if (isEndless(head)) assert.equal(await failed, "ECONNRESET");
      else assertCut(truncated, body);
      const [first, second] = await daemon.ledger();
      assert.deepEqual([first?.cut_by, first?.outcome === "cut"], [null, false]);
      if (isEndless(head)) assert.deepEqual([second?.outcome, second?.cut_by], ["cut", "upstream"]);
    },
  );
}

const isEndless = (head: string) => head === MP3_HEAD;

test("a response of announced length is complete over TLS without close_notify", LIMIT, async (t) => {
  const certificate = makeCertificate(t, "IP:127.0.0.1");
  const upstream = await startTcpUpstream(t, (raw) => {
    const socket = new TLSSocket(raw, { isServer: true, key: certificate.key, cert: certificate.cert });
    socket.on("error", () => {});
    socket.once("data", () =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${WHOLE.length}\r\n\r\n${WHOLE}`, () => raw.end()),
    );
  });
  const { config } = writeKeyFile(t, `https://127.0.0.1:${upstream.port}/v1`, TEST_KEY);
  const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: certificate.file } });
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const client = await sendRaw(t, daemon.port);
    await client.until(new RegExp(`${"}".repeat(2)}$`));
    client.socket.destroy();
  }
  assert.deepEqual(
    (await daemon.ledger()).map(({ outcome, usage }) => [outcome, usage]),
    [1, 2].map(() => ["completed", "final"]),
  );
});

for (const status of [204, 304]) {
  test(
    `a response with status ${status} and without framing leaves the client's connection open`,
    LIMIT,
    async (t) => {
      const { upstream, gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
        socket.write(`HTTP/1.1 ${status} Empty\r\n${MP3_HEAD}\r\n`);
      });
      const client = await sendRaw(t, gate.port, getModels(gate.port));
      await client.until(/\r\n\r\n/);
      client.write(getModels(gate.port));
      const received = await client.until(/\r\n\r\n[^]*\r\n\r\n/);
      assert.doesNotMatch(received, /^(?:connection: close|transfer-encoding: .*)\r$/im);
      assert.deepEqual([readMessages(received).messages.length, upstream.requests.length], [2, 2]);
    },
  );
}

for (const status of [204, 307]) {
  test(`a complete response with status ${status} and no body is not taken for a truncated one`, async (t) => {
    const { gate } = await startGateWithUpstream(t, (_seen, res) =>
      res.writeHead(status, { location: "/x" }).end(),
    );
    const client = await sendRaw(t, gate.port);
    await client.until(/^HTTP\/1\.1 \d+/);
    const record = await gate.ledger.only();
    assert.deepEqual(
      [record.outcome, record.cut_by, record.usage],
      [status === 204 ? "completed" : "error", null, "absent"],
    );
  });
}

test(
  "a body that the end of the connection delimits is complete when that end is clean",
  LIMIT,
  async (t) => {
    const { gate } = await startGateWithRawUpstream(t, (_request, { socket }) => {
      socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(MESSAGE)}`);
    });
    const client = await sendRaw(t, gate.port);
    const [response] = readMessages(await client.until(/\r\n0\r\n\r\n/)).messages;
    assert.equal(response?.body, JSON.stringify(MESSAGE));
    const record = await gate.ledger.only();
    assert.deepEqual([record.outcome, record.cut_by, record.usage], ["completed", null, "final"]);
  },
);
