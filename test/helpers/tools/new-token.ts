import { hashToken, mintToken } from "../../../src/proxy/token-secret.ts";

/** A new token of a tool's, and the hash by which it is lent. */
export function newToken(tool: string): { token: string; hash: string } {
  const token = mintToken(tool);
  return { token, hash: hashToken(token).toString("hex") };
}
