import assert from "node:assert/strict";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { BODY_LIMIT } from "../../../src/sandbox/http/request-body.ts";
import type { Sandbox } from "../../../src/sandbox/server.ts";
import { zstdFrame } from "../../helpers/upstream/zstd-frames.ts";
import { apiKey, valueAt, messageRequest, openSandbox } from "../sandbox-client.ts";

const JSON_BODY = Buffer.from(JSON.stringify(messageRequest()));

const CODINGS: Record<string, (bytes: Buffer) => Buffer> = {
  identity: (bytes) => bytes,
  gzip: (bytes) => zlib.gzipSync(bytes),
  deflate: (bytes) => zlib.deflateSync(bytes),
  br: (bytes) => zlib.brotliCompressSync(bytes),
  zstd: zstdFrame,
};

function send(sandbox: Sandbox, body: Uint8Array<ArrayBuffer>, coding: string): Promise<Response> {
  return fetch(`${sandbox.baseUrl}/messages`, {
    method: "POST",
    headers: { ...apiKey(sandbox), "content-encoding": coding },
    body,
  });
}

for (const [coding, encode] of Object.entries(CODINGS)) {
  test(`decodes a request body with content-encoding ${coding}`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await send(sandbox, new Uint8Array(encode(JSON_BODY)), coding);
    // The sandbox decodes with what Node has: zstd from 22.15 on.
    const isKnown = coding !== "zstd" || "zstdDecompress" in zlib;
    assert.equal(response.status, isKnown ? 200 : 415);
  });
}

test("a body that does not match its content-encoding gets 400, and an unknown content-encoding gets 415", async (t) => {
  const sandbox = await openSandbox(t);
  assert.equal((await send(sandbox, new Uint8Array(JSON_BODY), "gzip")).status, 400);
  assert.equal((await send(sandbox, new Uint8Array(JSON_BODY), "compress")).status, 415);
});

for (const text of ["", "{", "[]", "null", '"text"']) {
  test(`the request body ${JSON.stringify(text)} gets 400`, async (t) => {
    const sandbox = await openSandbox(t);
    const response = await send(sandbox, new Uint8Array(Buffer.from(text)), "identity");
    assert.equal(response.status, 400);
    assert.equal(valueAt(await response.json(), "error", "type"), "invalid_request_error");
  });
}

test("a content-length above the limit gets 413 before the body is sent", async (t) => {
  const sandbox = await openSandbox(t);
  const outgoing = request(`${sandbox.baseUrl}/messages`, {
    method: "POST",
    headers: { ...apiKey(sandbox), "content-length": BODY_LIMIT + 1 },
  });
  outgoing.flushHeaders();
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  assert.equal(response.statusCode, 413);
  outgoing.on("error", () => {});
  outgoing.destroy();
});

test("a small body that decodes to more than the limit gets 413", async (t) => {
  const sandbox = await openSandbox(t);
  const bomb = zlib.gzipSync(Buffer.alloc(BODY_LIMIT + 1), { level: 1 });
  assert.equal((await send(sandbox, new Uint8Array(bomb), "gzip")).status, 413);
});
