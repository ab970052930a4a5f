import { request, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Upstream } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { credentialHeader } from "../../core/http/headers.ts";
import type { Outbound } from "../../core/config/outbound.ts";
import { printable } from "../../core/text/printable.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { codeOf } from "../../proxy/upstream/error-code.ts";
import { createDialer } from "../../proxy/upstream/dial.ts";
import { explainConnectFailure, type ConnectFailure } from "../../proxy/upstream/failures.ts";

/** Limit for the whole exchange, milliseconds. */
const LIMIT_MS = 10_000;

/** Far more than a list of models; what comes after is not read. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** That a key was accepted, and how the upstream was reached. Times are in milliseconds. */
export interface ModelsAnswer {
  /** How many the key may use; null when it was accepted with an answer of another shape. */
  models: number | null;
  /** Until the request could be sent: TCP, the proxy's tunnel and TLS. */
  connectMs: number;
  /** From then to the end of the answer. */
  answerMs: number;
  /** null over plain http. */
  tls: { protocol: string; certificateEnds: Date } | null;
  /** Origin of the proxy that it went through; null for none. */
  proxy: string | null;
  /** What the upstream's clock said, its `date`, in milliseconds since 1970; null when it did not say. */
  at: number | null;
}

/**
 * Why an upstream was not found to accept a key.
 * - `refused`: it answered that it does not
 * - `undecided`: it answered something that says nothing about the key
 * - `unreachable`: no answer came
 */
export class KeyCheckFailure extends Failure {
  readonly code: "refused" | "undecided" | "unreachable";

  constructor(code: KeyCheckFailure["code"], message: string, hint: string) {
    super(message, hint);
    this.code = code;
  }
}

interface Answer extends Omit<ModelsAnswer, "models"> {
  status: number;
  text: string;
}

/** As {@link askForModels}, for how many there are. */
export async function countModels(
  upstream: Upstream,
  secret: Secret,
  outbound: Outbound,
): Promise<number | null> {
  return (await askForModels(upstream, secret, outbound)).models;
}

/**
 * Asks the upstream for its models with the key, over the way that requests take.
 * @throws KeyCheckFailure when the key is refused, when the answer says nothing about it, or when none comes
 */
export async function askForModels(
  { name, baseUrl }: Upstream,
  secret: Secret,
  outbound: Outbound,
): Promise<ModelsAnswer> {
  const { status, text, ...way } = await get(new URL(`${baseUrl}/models`), secret, outbound);
  if (status >= 200 && status < 300) return { models: modelsIn(text), ...way };
  const said = `${status}${messageIn(text, secret)}`;
  if (status === 401 || status === 403) {
    throw new KeyCheckFailure(
      "refused",
      `refused: ${baseUrl} answers ${said}`,
      `store another key: tollkeeper key set --upstream ${name}`,
    );
  }
  const isRedirect = status >= 300 && status < 400;
  throw new KeyCheckFailure(
    "undecided",
    `not decided: ${baseUrl} answers ${said}, which says nothing about the key`,
    isRedirect ? "redirects are never followed; correct baseUrl: tollkeeper config edit" : "try again later",
  );
}

/** Not `fetch`, which would follow redirects unless told (facts/threats.md B4), and know no other way than its own. */
async function get(url: URL, secret: Secret, outbound: Outbound): Promise<Answer> {
  const dial = createDialer(outbound)(url.origin);
  const proxy = dial.isProxied ? (outbound.proxy?.origin ?? null) : null;
  const signal = AbortSignal.timeout(LIMIT_MS);
  const startedAt = performance.now();
  const socket = dial.open();
  let connectedAt = startedAt;
  socket.once(dial.readyEvent, () => (connectedAt = performance.now()));
  try {
    const response = await send(socket, url, secret, signal);
    const tls = describeTls(socket);
    const text = await readText(response);
    const [connectMs, answerMs] = [connectedAt - startedAt, performance.now() - connectedAt];
    const way = { connectMs, answerMs, tls, proxy, at: timeIn(response.headers.date) };
    return { status: response.statusCode ?? 0, text, ...way };
  } catch (error) {
    const through = proxy === null ? "" : ` through the proxy ${proxy}`;
    const obstacle = signal.aborted
      ? { why: `no answer within ${LIMIT_MS / 1000} seconds${through}`, fix: null }
      : explain(error);
    throw unreachable(url, obstacle);
  } finally {
    socket.destroy();
  }
}

function send(socket: Socket, url: URL, secret: Secret, signal: AbortSignal): Promise<IncomingMessage> {
  const [header, value] = credentialHeader("bearer", secret);
  const headers = {
    host: url.host,
    [header]: value,
    accept: "application/json",
    "accept-encoding": "identity",
    connection: "close",
  };
  const path = url.pathname;
  return new Promise((resolve, reject) => {
    // Over TLS too it is HTTP to Node, as in proxy/forward.ts.
    const options = { path, headers, setHost: false, insecureHTTPParser: false, signal };
    request({ ...options, createConnection: () => socket }, resolve)
      .once("error", reject)
      .end();
  });
}

function describeTls(socket: Socket): ModelsAnswer["tls"] {
  if (!(socket instanceof TLSSocket)) return null;
  const { valid_to: end } = socket.getPeerCertificate();
  return { protocol: socket.getProtocol() ?? "unknown", certificateEnds: new Date(end) };
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.length;
    // Leaving the loop closes the connection.
    if (size > MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** With its code, for those who search for it. */
function explain(error: unknown): ConnectFailure {
  if (!(error instanceof Error)) return { why: String(error), fix: null };
  const { why, fix } = explainConnectFailure(error);
  const code = codeOf(error.cause instanceof Error ? error.cause : error);
  return { why: why.includes(code) ? why : `${why}, ${code}`, fix };
}

function unreachable(url: URL, { why, fix }: ConnectFailure): Failure {
  const hint = fix ?? "check the network, and baseUrl: tollkeeper config check";
  return new KeyCheckFailure("unreachable", `unreachable: ${url.origin} (${why})`, hint);
}

function timeIn(date: string | undefined): number | null {
  const at = Date.parse(date ?? "");
  return Number.isNaN(at) ? null : at;
}

/** `{"data": [...]}` is how both APIs list models. */
function modelsIn(text: string): number | null {
  const answer = parse(text);
  const isList =
    typeof answer === "object" && answer !== null && "data" in answer && Array.isArray(answer.data);
  return isList ? (answer.data as unknown[]).length : null;
}

/** The upstream's own words, with the key blotted before anything is cut: `: ` and the words, or nothing. */
function messageIn(text: string, secret: Secret): string {
  const answer = parse(text) as { error?: { message?: unknown } } | null | undefined;
  const message = answer?.error?.message;
  const words = secret.redactText(typeof message === "string" ? message : text).trim();
  return words === "" ? "" : `: ${printable(words.slice(0, 300))}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
