import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createFormScanner } from "../../../src/core/usage/form-scanner.ts";

interface Found {
  model: string | null;
  stream: boolean | null;
}

/** Scans a body in pieces of a size. */
function scan(type: string, body: Buffer, size = body.length): Found | null {
  const scanner = createFormScanner(type);
  for (let at = 0; at < body.length; at += size) scanner?.feed(body.subarray(at, at + size));
  return scanner === null ? null : { model: scanner.model, stream: scanner.stream };
}

async function encode(fields: (readonly [name: string, value: string | Blob])[]): Promise<[string, Buffer]> {
  const form = new FormData();
  for (const [name, value] of fields) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, value, "a.wav");
  }
  const encoded = new Response(form);
  return [encoded.headers.get("content-type") ?? "", Buffer.from(await encoded.arrayBuffer())];
}

const FILE = new Blob(["\r\n--x\r\n", Buffer.alloc(5_000, 13), 'name="model"\r\n\r\nno\r\n']);

for (const [what, fields, expected] of [
  [
    "before the file",
    [
      ["model", "whisper-1"],
      ["file", FILE],
    ],
    { model: "whisper-1", stream: null },
  ],
  [
    "after the file",
    [
      ["file", FILE],
      ["stream", "true"],
      ["model", "gpt-4o-transcribe"],
    ],
    { model: "gpt-4o-transcribe", stream: true },
  ],
  [
    "twice",
    [
      ["model", "a"],
      ["model", "b"],
    ],
    { model: null, stream: null },
  ],
  ["as a file", [["model", FILE]], { model: null, stream: null }],
  [
    "too long",
    [
      ["model", "m".repeat(1_100)],
      ["stream", "false"],
    ],
    { model: null, stream: false },
  ],
  [
    "empty",
    [
      ["model", ""],
      ["stream", "perhaps"],
    ],
    { model: "", stream: null },
  ],
  [
    "nowhere",
    [
      ["file", FILE],
      ["my-model", "x"],
    ],
    { model: null, stream: null },
  ],
] as [string, [string, string | Blob][], Found][])
  test(`the model of a form that has it ${what} is ${expected.model}, in whatever pieces it comes`, async () => {
    const [type, body] = await encode(fields);
    for (const size of [1, 2, 7, 64, 1_000, body.length]) assert.deepEqual(scan(type, body, size), expected);
  });

for (const type of [
  "application/json",
  "multipart/form-data",
  "multipart/form-data; boundary=",
  `multipart/form-data; boundary=${"b".repeat(71)}`,
])
  test(`there is no form to read in ${type.slice(0, 50)}`, () => assert.equal(createFormScanner(type), null));

test("a boundary may be in quotes, and names without them", () => {
  const body = Buffer.from("--a b\r\nContent-Disposition: form-data; name=model\r\n\r\nm\r\n--a b--\r\n");
  assert.equal(scan('multipart/form-data; charset=x; boundary="a b"', body)?.model, "m");
});

test("a form that is cut off, or none, has no model, and is read no further than its end", () => {
  const type = "multipart/form-data; boundary=b";
  const part = '--b\r\nContent-Disposition: form-data; name="model"\r\n\r\nm';
  assert.equal(scan(type, Buffer.from(part))?.model, null);
  assert.equal(scan(type, Buffer.from(`--b--\r\n${part}\r\n--b--`))?.model, null);
  assert.equal(scan(type, Buffer.from(`x${part}\r\n--b--`))?.model, null);
  assert.equal(scan(type, Buffer.from("{}"))?.model, null);
});

test("any form that Node writes has the model that Node reads", async () => {
  const word = fc.constantFrom("model", "stream", "file", "prompt");
  const content = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom("\r\n", "--", "\r\n--", "\r\n\r\n"),
    fc.uint8Array({ maxLength: 300 }).map((bytes) => new Blob([new Uint8Array(bytes)])),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(word, content), { maxLength: 6 }),
      fc.integer({ min: 1, max: 200 }),
      async (fields, size) => {
        const [type, body] = await encode(fields);
        const form = await new Response(new Uint8Array(body), {
          headers: { "content-type": type },
        }).formData();
        const texts = form.getAll("model").filter((value) => typeof value === "string");
        const expected = texts.length === 1 ? texts[0] : null;
        assert.equal(scan(type, body, size)?.model, expected);
      },
    ),
    { numRuns: 300 },
  );
});
