import { hashToken, mintToken } from "../../../src/proxy/client/token-hash.ts";

/** Creates a local token for a tool, and the hash that a lease of it is requested with. */
export function createToken(tool: string): { token: string; hash: string } {
  const token = mintToken(tool);
  return { token, hash: hashToken(token).toString("hex") };
}
