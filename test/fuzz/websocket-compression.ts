import assert from "node:assert/strict";
import * as fc from "fast-check";
import * as ws from "ws";
import { Inflater } from "../../src/proxy/websocket/inflater.ts";
import { property, type Property } from "./property.ts";

type Done = (error: Error | null, result: Buffer) => void;

/** What `ws` compresses and inflates with. Its types leave it out. */
interface Deflate {
  accept(offers: object[]): object;
  compress(data: Buffer, fin: boolean, done: Done): void;
  decompress(data: Buffer, fin: boolean, done: Done): void;
  cleanup(): void;
}

const { PerMessageDeflate } = ws as unknown as {
  PerMessageDeflate: new (options: { isServer: boolean; maxPayload?: number; threshold: number }) => Deflate;
};

/** Longer messages are refused, on both sides. */
const MOST_BYTES = 100_000;

/** A change to the compressed payload of a message. */
interface Damage {
  what: "set" | "cut" | "insert" | "append";
  at: number;
  byte: number;
}

/** A message, as it is written. */
interface Written {
  content: Buffer;
  damage: Damage | null;
}

const words = fc.constantFrom("the ", "model ", `"gpt-5.5",`, "instructions ", "\n", "é", "0123456789");

const contents = fc.oneof(
  { weight: 5, arbitrary: fc.array(words, { maxLength: 200 }).map((list) => Buffer.from(list.join(""))) },
  { weight: 2, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  // On both sides of the window's size, and of what is too long.
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(0, 1, 32_767, 32_768, 32_769, 99_999, 100_000, 100_001)
      .map((length) => Buffer.alloc(length, "ab c")),
  },
);

const damage: fc.Arbitrary<Damage> = fc.record({
  what: fc.constantFrom("set", "cut", "insert", "append"),
  at: fc.nat({ max: 400 }),
  byte: fc.oneof(fc.nat({ max: 255 }), fc.constantFrom(0, 1, 0xff)),
});

const intact = fc.record({ content: contents, damage: fc.constant(null) });
const damaged = fc.record({ content: contents, damage: fc.option(damage, { nil: null, freq: 3 }) });

/** Compresses messages as one peer, and damages them. */
async function compress(messages: readonly Written[], takesOver: boolean): Promise<Buffer[]> {
  const deflate = createDeflate(false, takesOver);
  const payloads: Buffer[] = [];
  for (const { content, damage: change } of messages) {
    const payload = await call((done) => deflate.compress(content, true, done));
    payloads.push(change === null ? payload : apply(change, Buffer.from(payload)));
  }
  deflate.cleanup();
  return payloads;
}

function apply({ what, at, byte }: Damage, payload: Buffer): Buffer {
  const place = at % (payload.length + 1);
  const [before, after] = [payload.subarray(0, place), payload.subarray(place)];
  if (what === "cut") return before;
  if (what === "append") return Buffer.concat([payload, Buffer.from([byte])]);
  return Buffer.concat([before, Buffer.from([byte]), what === "set" ? after.subarray(1) : after]);
}

/** `ws` as the peer that takes the messages of a client keeps its state between two, as upstreams do. */
function createDeflate(isServer: boolean, takesOver: boolean): Deflate {
  const deflate = new PerMessageDeflate({ isServer, maxPayload: MOST_BYTES, threshold: 0 });
  deflate.accept([
    takesOver ? {} : { client_no_context_takeover: [true], server_no_context_takeover: [true] },
  ]);
  return deflate;
}

function call(start: (done: Done) => void): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    start((error, result) => (error ? reject(error) : resolve(result))),
  );
}

/** Returns what `ws` reads, until it finds a fault. */
async function readWithWs(payloads: readonly Buffer[], takesOver: boolean): Promise<string[]> {
  const deflate = createDeflate(true, takesOver);
  const read: string[] = [];
  for (const payload of payloads) {
    const content = await call((done) => deflate.decompress(payload, true, done)).catch(() => null);
    if (content === null) break;
    read.push(content.toString("latin1"));
  }
  deflate.cleanup();
  return read;
}

/** Returns what the inflater reads, until it finds a fault. */
function readWithOurs(payloads: readonly Buffer[], takesOver: boolean): string[] {
  const inflater = new Inflater(takesOver);
  const read: string[] = [];
  for (const payload of payloads) {
    const content = inflater.inflate([payload], MOST_BYTES);
    if (!Buffer.isBuffer(content)) break;
    read.push(content.toString("latin1"));
  }
  return read;
}

/** Properties of the inflater of WebSocket messages. */
export const WEBSOCKET_COMPRESSION: readonly Property[] = [
  property(
    "WebSocket compression: what ws compresses is inflated, up to the longest message",
    { batch: 60 },
    fc.asyncProperty(fc.array(intact, { maxLength: 8 }), fc.boolean(), async (messages, takesOver) => {
      const payloads = await compress(messages, takesOver);
      const tooLong = messages.findIndex(({ content }) => content.length > MOST_BYTES);
      const expected = tooLong === -1 ? messages : messages.slice(0, tooLong);
      assert.deepEqual(
        readWithOurs(payloads, takesOver),
        expected.map(({ content }) => content.toString("latin1")),
      );
    }),
  ),
  property(
    "WebSocket compression: what is inflated of damaged messages, ws inflates to the same, in them and in all before them",
    { batch: 80 },
    fc.asyncProperty(fc.array(damaged, { maxLength: 6 }), fc.boolean(), async (messages, takesOver) => {
      const payloads = await compress(messages, takesOver);
      const ours = readWithOurs(payloads, takesOver);
      assert.deepEqual(ours, (await readWithWs(payloads, takesOver)).slice(0, ours.length));
    }),
  ),
  property(
    "WebSocket compression: of any bytes, what is inflated ws inflates to the same",
    { batch: 200 },
    fc.asyncProperty(
      fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 4 }),
      async (payloads) => {
        const bytes = payloads.map((payload) => Buffer.from(payload));
        const ours = readWithOurs(bytes, true);
        assert.deepEqual(ours, (await readWithWs(bytes, true)).slice(0, ours.length));
      },
    ),
  ),
];
