import { request as requestHttp } from "node:http";
import type { IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import type { Upstream } from "../core/config.ts";
import { Failure } from "../core/failure.ts";
import { credentialHeader } from "../core/headers.ts";
import { printable } from "../core/printable.ts";
import type { Secret } from "../core/secret.ts";

/** Limit for the whole exchange, milliseconds. */
const LIMIT_MS = 10_000;

/** Far more than a list of models; what comes after is not read. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

interface Answer {
  status: number;
  text: string;
}

/**
 * Asks the upstream for its models with the key.
 * @returns how many there are; null when the key was accepted with an answer of another shape
 * @throws Failure when the key is refused, when the answer says nothing about it, or when none comes
 */
export async function countModels({ name, baseUrl }: Upstream, secret: Secret): Promise<number | null> {
  const answer = await get(new URL(`${baseUrl}/models`), secret);
  if (answer.status >= 200 && answer.status < 300) return modelsIn(answer.text);
  const said = `${answer.status}${messageIn(answer.text, secret)}`;
  if (answer.status === 401 || answer.status === 403) {
    throw new Failure(
      `refused: ${baseUrl} answers ${said}`,
      `store another key: tollkeeper key set --upstream ${name}`,
    );
  }
  const isRedirect = answer.status >= 300 && answer.status < 400;
  throw new Failure(
    `not decided: ${baseUrl} answers ${said}, which says nothing about the key`,
    isRedirect ? "redirects are never followed; correct baseUrl: tollkeeper config edit" : "try again later",
  );
}

/**
 * Not `fetch`, which would follow NODE_TLS_REJECT_UNAUTHORIZED (facts/threats.md B5) and, unless told, redirects (B4).
 */
async function get(url: URL, secret: Secret): Promise<Answer> {
  const [header, value] = credentialHeader("bearer", secret);
  const signal = AbortSignal.timeout(LIMIT_MS);
  const options = {
    headers: { [header]: value, accept: "application/json", "accept-encoding": "identity" },
    signal,
    rejectUnauthorized: true,
    agent: false,
  } as const;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request = url.protocol === "http:" ? requestHttp : requestHttps;
      request(url, options, resolve).once("error", reject).end();
    });
    return { status: response.statusCode ?? 0, text: await readText(response) };
  } catch (error) {
    throw unreachable(url, signal.aborted ? `no answer within ${LIMIT_MS / 1000} seconds` : codeOf(error));
  }
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

function unreachable(url: URL, why: string): Failure {
  const hint = "check the network, and baseUrl: tollkeeper config check";
  return new Failure(`unreachable: ${url.origin} (${why})`, hint);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
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
  const words = secret.blotText(typeof message === "string" ? message : text).trim();
  return words === "" ? "" : `: ${printable(words.slice(0, 300))}`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
