import { Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { Fault } from "./check.ts";

/** A request as a client of tollkeeper's sends it. */
export interface Ask {
  method: string;
  path: string;
  /** Beside Host, content type and length; a name that is given here replaces ours. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** A list is sent chunked, piece by piece. */
  body?: Buffer | readonly Buffer[];
}

/** A whole answer. */
export interface Answer {
  status: number;
  reason: string;
  /** Flat list, as `IncomingMessage.rawHeaders` has it. */
  headers: string[];
  body: Buffer;
}

/** An HTTP client of one port on 127.0.0.1. Keeps its connection from one request to the next. */
export class Client {
  readonly port: number;
  readonly #agent = new Agent({ keepAlive: true });

  constructor(port: number) {
    this.port = port;
  }

  /** Sends a request and reads the answer to its end. Follows nothing, repeats nothing. */
  async ask(request: Ask): Promise<Answer> {
    const answer = await this.open(request);
    const { statusCode: status = 0, statusMessage: reason = "", rawHeaders: headers } = answer;
    return { status, reason, headers, body: await readRest(answer) };
  }

  /** Sends a request and resolves with the head of the answer, of which nothing more is read yet. */
  open(request: Ask): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const req = httpRequest({
        host: "127.0.0.1",
        port: this.port,
        method: request.method,
        path: request.path,
        headers: this.#headersOf(request),
        setHost: false,
        agent: this.#agent,
      });
      req.on("response", resolve);
      req.on("error", reject);
      req.on("close", () => reject(new Fault("the connection was closed without an answer")));
      const { body } = request;
      if (body === undefined || Buffer.isBuffer(body)) req.end(body);
      else {
        for (const piece of body) req.write(piece);
        req.end();
      }
    });
  }

  /** Ends every connection, whatever is under way on it. */
  close(): void {
    this.#agent.destroy();
  }

  #headersOf({ headers = [], body }: Ask): string[] {
    const own: [string, string][] = [["host", `127.0.0.1:${this.port}`]];
    if (body !== undefined) own.push(["content-type", "application/json"]);
    if (Buffer.isBuffer(body)) own.push(["content-length", String(body.length)]);
    const given = new Set(headers.map(([name]) => name.toLowerCase()));
    return [...own.filter(([name]) => !given.has(name)), ...headers].flat();
  }
}

/** What is still to come of an answer. */
export async function readRest(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Every value of the header `name` (lower case) in a flat list, in order. */
export function valuesOf(headers: readonly string[], name: string): string[] {
  return headers.filter((_value, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === name);
}
