import type { Secret } from "./secret.ts";
import type { Reading } from "../usage/reading.ts";

/**
 * Blots a secret out of a stream of chunks, across their borders, without changing its length.
 * Holds back at most one byte less than the secret is long.
 */
export interface Redactor {
  /** The bytes that may go on now. */
  push(chunk: Buffer): Buffer;
  /** What was held back. */
  end(): Buffer;
}

export function createRedactor(secret: Secret): Redactor {
  const keep = Math.max(0, secret.longestSpelling - 1);
  let held: Buffer = Buffer.alloc(0);
  return {
    push(chunk) {
      const bytes = Buffer.concat([held, chunk]);
      secret.redactBytes(bytes);
      const ready = Math.max(0, bytes.length - keep);
      held = bytes.subarray(ready);
      return bytes.subarray(0, ready);
    },
    end() {
      const rest = held;
      held = Buffer.alloc(0);
      return rest;
    },
  };
}

/**
 * The reading with the secret blotted out of all that is the upstream's word; what is ours stays as it is. Looking for it
 * costs 0.2 µs, a copy without it 2 µs: that is made only where it was found.
 */
export function redactReading(reading: Reading, secret: Secret): Reading {
  if (!isInReading(reading, secret)) return reading;
  const blot = (text: string | null) => (text === null ? null : secret.redactText(text));
  return {
    ...reading,
    stop: blot(reading.stop),
    error_type: blot(reading.error_type),
    response_id: blot(reading.response_id),
    model: blot(reading.model),
    service_tier: blot(reading.service_tier),
    speed: blot(reading.speed),
    inference_geo: blot(reading.inference_geo),
    extra: reading.extra.map((set) => ({ ...set, type: secret.redactText(set.type), model: blot(set.model) })),
    server_tools: redactData(reading.server_tools, secret),
    raw_usage: redactData(reading.raw_usage, secret),
  };
}

/** Plain JSON data with the secret blotted out of every string and name in it. Nests no deeper than a meter keeps. */
export function redactData<Data>(data: Data, secret: Secret): Data {
  return blotValue(data, secret) as Data;
}

function isInReading(reading: Reading, secret: Secret): boolean {
  const { stop, error_type, response_id, model, service_tier, speed, inference_geo } = reading;
  const texts = [stop, error_type, response_id, model, service_tier, speed, inference_geo];
  if (texts.some((text) => text !== null && secret.isIn(text))) return true;
  const { extra, server_tools, raw_usage } = reading;
  return isInData(extra, secret) || isInData(server_tools, secret) || isInData(raw_usage, secret);
}

/** `for in` walks plain data without a copy of its names: 0.2 µs for a whole reading, 1.8 by `Object.entries`. */
function isInData(data: unknown, secret: Secret): boolean {
  if (typeof data === "string") return secret.isIn(data);
  if (typeof data !== "object" || data === null) return false;
  for (const name in data) {
    if (secret.isIn(name) || isInData(data[name as keyof typeof data], secret)) return true;
  }
  return false;
}

function blotValue(value: unknown, secret: Secret): unknown {
  if (typeof value === "string") return secret.redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => blotValue(item, secret));
  return Object.fromEntries(
    Object.entries(value).map(([name, below]) => [secret.redactText(name), blotValue(below, secret)]),
  );
}
