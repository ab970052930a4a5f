import { JsonScan, type Shape } from "./json-scan.ts";

const WANTED: Shape = { model: 1024, stream: 16, background: 16 };

/** What a request body says of itself; null where it does not, or is no JSON. */
export interface RequestScan {
  /** Takes the next bytes of the body, in any chunking; keeps copies only, about a kilobyte at most. */
  feed(chunk: Buffer): void;
  readonly model: string | null;
  readonly stream: boolean | null;
  readonly background: boolean | null;
}

/** Learns `model`, `stream` and `background` of a Messages or Responses request from a copy of its bytes. */
export function createRequestScan(): RequestScan {
  const json = new JsonScan(WANTED);
  const read = (name: string): unknown => (json.isBroken ? null : json.fields[name]);
  const readFlag = (name: string): boolean | null => {
    const value = read(name);
    return typeof value === "boolean" ? value : null;
  };
  return {
    feed: (chunk) => json.feed(chunk),
    get model() {
      const value = read("model");
      return typeof value === "string" ? value : null;
    },
    get stream() {
      return readFlag("stream");
    },
    get background() {
      return readFlag("background");
    },
  };
}
