import type { Secret } from "../secrets/secret.ts";
import type { MeterReading } from "./reading.ts";

/** The fields that hold text of the upstream. */
const TEXTS = [
  "stop",
  "error_type",
  "response_id",
  "model",
  "service_tier",
  "speed",
  "inference_geo",
  "miss",
  "output_file",
] as const;

/** Redacts the secret in text of the upstream. Returns the same object when it does not occur: 0.2 µs, where a copy takes 2. */
export function redactReading(reading: MeterReading, secret: Secret): MeterReading {
  if (!isInReading(reading, secret)) return reading;
  const redact = (text: string | null) => (text === null ? null : secret.redactText(text));
  const redacted: MeterReading = {
    ...reading,
    extra: reading.extra.map((set) => {
      const { speed, inference_geo: geo } = set;
      const redactedSet = { ...set, type: secret.redactText(set.type), model: redact(set.model) };
      if (speed !== undefined) redactedSet.speed = redact(speed);
      if (geo !== undefined) redactedSet.inference_geo = redact(geo);
      return redactedSet;
    }),
    server_tools: redactData(reading.server_tools, secret),
    raw_usage: redactData(reading.raw_usage, secret),
  };
  for (const name of TEXTS) redacted[name] = redact(reading[name]);
  return redacted;
}

/** Returns JSON data with the secret redacted in every string and name. Recursive: a meter limits how deep data nests. */
export function redactData<Data>(data: Data, secret: Secret): Data {
  return redactValue(data, secret) as Data;
}

function isInReading(reading: MeterReading, secret: Secret): boolean {
  for (const name of TEXTS) if (secret.isIn(reading[name] ?? "")) return true;
  const { extra, server_tools, raw_usage } = reading;
  return isInData(extra, secret) || isInData(server_tools, secret) || isInData(raw_usage, secret);
}

/** `for in` does not copy the names: 0.2 µs for a whole reading, where `Object.entries` takes 1.8. */
function isInData(data: unknown, secret: Secret): boolean {
  if (typeof data === "string") return secret.isIn(data);
  if (typeof data !== "object" || data === null) return false;
  for (const name in data) {
    if (secret.isIn(name) || isInData(data[name as keyof typeof data], secret)) return true;
  }
  return false;
}

function redactValue(value: unknown, secret: Secret): unknown {
  if (typeof value === "string") return secret.redactText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, secret));
  return Object.fromEntries(
    Object.entries(value).map(([name, below]) => [secret.redactText(name), redactValue(below, secret)]),
  );
}
