import type { Access } from "../config/config.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { mayBeToken } from "./local-token.ts";
import { presentedCredentials } from "../http/presented-credentials.ts";
import type { ProcessName } from "./process-name.ts";
import type { ToolEvidence } from "../ledger/record.ts";
import { LIBRARIES, SIGNATURES, type Signature } from "./signatures.ts";

/** Who is calling, and how we know. A label for accounting; proven only by a local token, where one is asked for. */
export interface ToolIdentity {
  tool: string;
  by: ToolEvidence;
  /** The tool's own name for its session, where a header says one. */
  session: string | null;
}

const TOOL_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;
const TOKEN_PREFIX = "tk-";

/** Headers that carry a session's name, in the order of preference (facts/clients.md section 3). */
const SESSION_HEADERS = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id", "thread-id"];

/**
 * The tool's name in one spelling, or null when `text` cannot be one. A local token is none: what stands where tools put
 * their name goes into the ledger.
 */
export function toolName(text: string): string | null {
  const name = text.toLowerCase();
  return TOOL_NAME.test(name) && !mayBeToken(name) ? name : null;
}

/**
 * Names the tool by the strongest evidence that the request itself bears: path, token, header, signature, library (DESIGN
 * section 5).
 */
export function identifyTool(pathMark: string | null, headers: HeaderIndex): ToolIdentity {
  const session = sessionOf(headers);
  if (pathMark !== null) return { tool: pathMark, by: "path", session };
  const byToken = tokenMark(headers);
  if (byToken !== null) return { tool: byToken, by: "token", session };
  const byHeader = toolName(headers.get("x-tollkeeper-tool") ?? "");
  if (byHeader !== null) return { tool: byHeader, by: "header", session };
  const signed = SIGNATURES.find((signature) => matches(signature, headers));
  if (signed !== undefined) return { tool: signed.tool, by: "signature", session };
  const library = LIBRARIES.find((candidate) => matches(candidate, headers));
  if (library !== undefined) return { tool: library.tool, by: "library", session };
  return { tool: "unknown", by: "unknown", session };
}

/**
 * The same with the process's name as evidence, which ranks before the library: a `curl` that Claude Code has started is
 * Claude Code's. Only where nobody claims the process is the library's name the better one, because everybody's is
 * spelled alike; so a `curl` typed by hand is curl by its library.
 */
export function withProcess(identity: ToolIdentity, name: ProcessName | null): ToolIdentity {
  if (name === null || (identity.by !== "library" && identity.by !== "unknown")) return identity;
  if (name.isOwn && identity.by === "library") return identity;
  return { tool: name.tool, by: "process", session: identity.session };
}

/**
 * The same with the tool that a registered token names, null without one. Where tokens are asked for (`access`) it is
 * proven, and stands above every claim; elsewhere the path does (DESIGN section 5).
 */
export function withToken(identity: ToolIdentity, owner: string | null, mode: Access["mode"]): ToolIdentity {
  if (owner === null || (mode === "open" && identity.by === "path")) return identity;
  return { tool: owner, by: "token", session: identity.session };
}

function sessionOf(headers: HeaderIndex): string | null {
  for (const name of SESSION_HEADERS) {
    const value = headers.get(name);
    if (value !== undefined) return value;
  }
  return null;
}

/** A placeholder credential of the form `tk-TOOL` names the tool. */
function tokenMark(headers: HeaderIndex): string | null {
  for (const credential of presentedCredentials(headers)) {
    if (!credential.startsWith(TOKEN_PREFIX)) continue;
    const name = toolName(credential.slice(TOKEN_PREFIX.length));
    if (name !== null) return name;
  }
  return null;
}

function matches(signature: Signature, headers: HeaderIndex): boolean {
  for (const [name, pattern] of signature.when) {
    const value = headers.get(name);
    if (value === undefined || !pattern.test(value)) return false;
  }
  return !signature.without?.some((name) => headers.has(name));
}
