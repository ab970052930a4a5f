import { Secret } from "./secret.ts";

/**
 * An id of access keys (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html), or the name of a part before a value, as
 * files, shells and JSON write it. No part is shorter.
 */
const NAMED = [
  /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{12,}/,
  /(?:access[_-]?key(?:[_-]?id)?|session[_-]?token)["']?\s*[=:]\s*["']?[\w/+]{16,}/i,
];

/** A secret access key, which has 40 characters of base64, or a session token, but no API key of Bedrock. Neither lacks a kind of character. */
const UNNAMED = /^(?!ABSK)(?=.*\d)(?=.*[a-z])(?=.*[A-Z])(?:[A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{100,})$/;

/** True for a text that has access keys of AWS in it, or a part of them: other than a command that prints them. */
export function holdsAccessKeys(text: string): boolean {
  const words = text.split(/[\s"',;:=]+/);
  return NAMED.some((form) => form.test(text)) || words.some((word) => UNNAMED.test(word));
}

/** The parts of access keys, as AWS names them. */
interface AwsKeyParts {
  accessKeyId: string;
  secretAccessKey: string;
  /** null for keys that do not expire. */
  sessionToken: string | null;
}

/**
 * Access keys of AWS. They sign requests, and are never sent as a key. Of their parts only the session token leaves, so that is what a
 * stream is searched for: AWS repeats it where it explains why a signature is wrong. Texts are searched for both.
 */
export class AwsKeys extends Secret {
  readonly accessKeyId: string;
  readonly secretAccessKey: Secret;
  readonly sessionToken: Secret | null;

  constructor({ accessKeyId, secretAccessKey, sessionToken }: AwsKeyParts, expiresAt: number | null) {
    super(sessionToken ?? secretAccessKey, expiresAt);
    this.accessKeyId = accessKeyId;
    this.secretAccessKey = new Secret(secretAccessKey);
    this.sessionToken = sessionToken === null ? null : new Secret(sessionToken);
  }

  /** Throws: as a key, no part of them may be sent. */
  override reveal(): never {
    throw new Error("AWS access keys sign requests, and are never sent");
  }

  override isSameAs(other: Secret): boolean {
    if (!(other instanceof AwsKeys) || other.accessKeyId !== this.accessKeyId) return false;
    return super.isSameAs(other) && this.secretAccessKey.isSameAs(other.secretAccessKey);
  }

  override isIn(text: string): boolean {
    return super.isIn(text) || this.secretAccessKey.isIn(text);
  }

  override redactText(text: string): string {
    return this.secretAccessKey.redactText(super.redactText(text));
  }

  override redactBytes(bytes: Buffer): void {
    super.redactBytes(bytes);
    this.secretAccessKey.redactBytes(bytes);
  }
}
