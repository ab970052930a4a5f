import assert from "node:assert/strict";
import { Agent, request as httpRequest, type IncomingMessage } from "node:http";

/** A request that a check sends, as a client of tollkeeper would. */
export interface TestRequest {
  method: string;
  path: string;
  /** Added to Host, content type and length; a header given here replaces ours. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** A list is sent chunked, one write for each piece. */
  body?: Buffer | readonly Buffer[];
}

/** A response, read to its end. */
export interface TestResponse {
  status: number;
  reason: string;
  /** Flat list, as in `IncomingMessage.rawHeaders`. */
  headers: string[];
  body: Buffer;
}

/** An HTTP client of one port on 127.0.0.1, with keep-alive. */
export class Client {
  readonly port: number;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #added: readonly (readonly [name: string, value: string])[];

  /** `added` are headers of every request. */
  constructor(port: number, added: NonNullable<TestRequest["headers"]> = []) {
    this.port = port;
    this.#added = added;
  }

  /** Sends a request and reads the response to its end. Follows no redirect, retries nothing. */
  async send(request: TestRequest): Promise<TestResponse> {
    const response = await this.open(request);
    const { statusCode: status = 0, statusMessage: reason = "", rawHeaders: headers } = response;
    return { status, reason, headers, body: await readBody(response) };
  }

  /** Sends a request and resolves with the head of the response, whose body is not read yet. */
  open(request: TestRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const req = httpRequest({
        host: "127.0.0.1",
        port: this.port,
        method: request.method,
        path: request.path,
        headers: this.#headersFor(request),
        setHost: false,
        agent: this.#agent,
      });
      req.on("response", resolve);
      req.on("error", reject);
      req.on("close", () => reject(new Error("the connection was closed without a response")));
      const { body } = request;
      if (body === undefined || Buffer.isBuffer(body)) req.end(body);
      else {
        for (const piece of body) req.write(piece);
        req.end();
      }
    });
  }

  /** Destroys every connection, requests in flight included. */
  close(): void {
    this.#agent.destroy();
  }

  #headersFor({ headers = [], body }: TestRequest): string[] {
    const own: [string, string][] = [["host", `127.0.0.1:${this.port}`]];
    if (body !== undefined) own.push(["content-type", "application/json"]);
    if (Buffer.isBuffer(body)) own.push(["content-length", String(body.length)]);
    const given = new Set(headers.map(([name]) => name.toLowerCase()));
    return [...own.filter(([name]) => !given.has(name)), ...this.#added, ...headers].flat();
  }
}

/** Reads the rest of a request's or response's body. */
export async function readBody(message: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Returns every value of the header `name` (lower case) in a flat list, in order. */
export function headerValues(headers: readonly string[], name: string): string[] {
  return headers.filter((_value, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}

/** Throws unless each header is present exactly once, with this value. */
export function assertHeaders(
  headers: readonly string[],
  expected: NonNullable<TestRequest["headers"]>,
): void {
  for (const [name, value] of expected) {
    const received = headerValues(headers, name).join(" and ");
    const is = received === "" ? "is missing" : `is "${received}"`;
    assert.ok(received === value, `${name}: expected "${value}", but it ${is}`);
  }
}

/** Returns a response in one line: its status and the first 160 bytes of its body. */
export function summarize({ status, body }: TestResponse): string {
  return `${status} ${body.toString("latin1", 0, 160)}`.trim();
}

/** Returns a POST with a small JSON body. */
export function post(path: string, headers: TestRequest["headers"] = []): TestRequest {
  return { method: "POST", path, headers, body: Buffer.from(`{"model":"check","stream":false}`) };
}
