import { foldName, namesCredential } from "../http/credential-names.ts";
import { placeAssignments } from "../text/assignments.ts";
import { isLikelySecret } from "./detect-key.ts";
import { isPlaceholder } from "./known-form.ts";
import { redactLocalTokens } from "./local-token.ts";
import { PATTERNS } from "./redact-text.ts";
import type { Secret } from "./secret.ts";
import { createStreamRedactor } from "./stream-redactor.ts";

/** What is searched in one step: some milliseconds of work. */
const STEP_BYTES = 24 * 1024;

/** Steps overlap by so much, which is more than a name with its secret takes. */
const OVERLAP_BYTES = 4 * 1024;

/** `password = hunter22`: values of such names are secrets although they are not random. */
const PASSWORD_NAME = /passw(?:or)?d$|passphrase$|secret$/i;
const MIN_PASSWORD_LENGTH = 8;

/** `\n`, `\t` and `\"` in a JSON text, at any depth of texts in texts: they end a value as a line and a quote do. */
const ESCAPE = /(?<!\\)(\\+)([nrt"])/g;

/** What follows in a value that was read in part. */
const REST_OF_VALUE = /[^\s"',;]*/y;

/**
 * Replaces by asterisks, in the body of a request or a response, these secrets in any spelling, and every other credential that can be told
 * by its form or by the name of the member or variable that has it. Keeps the length. Yields after some milliseconds of work, so that
 * other work gets its turn; returns the body.
 */
export function* redactBody(body: Buffer, secrets: readonly Secret[]): Generator<void, Buffer> {
  let redacted: Buffer = Buffer.from(body);
  for (const secret of secrets) redacted = yield* redactSecret(redacted, secret);
  for (let from = 0; from < redacted.length; from += STEP_BYTES) {
    const step = redacted.subarray(from, from + STEP_BYTES + OVERLAP_BYTES);
    // One character for each byte. No credential has bytes beyond ASCII.
    redactStep(step.toString("latin1")).forEach(([start, end]) => step.fill("*", start, end));
    yield;
  }
  return Buffer.from(redactLocalTokens(redacted.toString("latin1")), "latin1");
}

function* redactSecret(body: Buffer, secret: Secret): Generator<void, Buffer> {
  const redactor = createStreamRedactor(secret);
  const parts: Buffer[] = [];
  for (let from = 0; from < body.length; from += STEP_BYTES) {
    parts.push(redactor.push(body.subarray(from, from + STEP_BYTES)));
    yield;
  }
  return Buffer.concat([...parts, redactor.end()]);
}

/** Returns where the credentials of a text are. */
function redactStep(text: string): [from: number, to: number][] {
  // The same length, so that places are the same.
  const plain = text.replaceAll(ESCAPE, (escape, slashes: string, letter: string) =>
    letter === '"' ? " ".repeat(slashes.length) + letter : " ".repeat(escape.length),
  );
  const places: [from: number, to: number][] = [];
  for (const { name, value: found, at } of placeAssignments(plain)) {
    // Without what stands for the backslash before a quote.
    const value = found.trimEnd();
    if (isSecretOf(name, value)) places.push([at, at + value.length + restAfter(plain, at + value.length)]);
  }
  for (const pattern of PATTERNS)
    for (const { 0: secret, index } of plain.matchAll(pattern))
      if (!isPlaceholder(secret)) places.push([index, index + secret.length]);
  return places;
}

function isSecretOf(name: string, value: string): boolean {
  if (isPlaceholder(value) || !namesCredential(foldName(name))) return false;
  return isLikelySecret(value) || (PASSWORD_NAME.test(name) && value.length >= MIN_PASSWORD_LENGTH);
}

function restAfter(text: string, at: number): number {
  REST_OF_VALUE.lastIndex = at;
  return REST_OF_VALUE.exec(text)?.[0].length ?? 0;
}
