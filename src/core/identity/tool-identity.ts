import type { Access } from "../config/config.ts";
import { parseToolName } from "../config/names.ts";
import type { HeaderIndex } from "../http/header-index.ts";
import { readPresentedCredentials } from "../http/credential-headers.ts";
import type { ToolEvidence } from "../ledger/record.ts";
import type { ProcessName } from "./process-name.ts";
import { findRequestSignature, type RequestSignatures } from "./signatures.ts";

/** The tool that sent a request. Only a registered local token proves it; other evidence serves accounting only. */
export interface ToolIdentity {
  tool: string;
  by: ToolEvidence;
  /** The tool's own id for its session, from the first session header; null without one. */
  session: string | null;
}

/** Of the credential that a tool is given in place of a key; the tool's name follows. */
export const PLACEHOLDER_PREFIX = "tk-";

/** Headers that carry a session id, in order of preference (docs/wire.md section 2). */
const SESSION_HEADERS = ["x-claude-code-session-id", "session-id", "session_id", "x-session-id", "thread-id"];

/** Identifies the tool by the evidence in the request itself, the strongest first. */
export function identifyTool(
  pathMark: string | null,
  headers: HeaderIndex,
  signatures: RequestSignatures,
): ToolIdentity {
  const session = findSession(headers);
  if (pathMark !== null) return { tool: pathMark, by: "path", session };
  const byToken = findPlaceholderTool(headers);
  if (byToken !== null) return { tool: byToken, by: "token", session };
  const byHeader = parseToolName(headers.get("x-tollkeeper-tool") ?? "");
  if (byHeader !== null) return { tool: byHeader, by: "header", session };
  const signature = findRequestSignature(signatures.tools, headers);
  if (signature !== undefined) return { tool: signature.tool, by: "signature", session };
  const library = findRequestSignature(signatures.libraries, headers);
  if (library !== undefined) return { tool: library.tool, by: "library", session };
  return { tool: "unknown", by: "unknown", session };
}

/**
 * Adds the process as evidence, which is stronger than a library: a `curl` that Claude Code started belongs to Claude
 * Code. The name of any other program is weaker than a library, whose name is spelled the same everywhere.
 */
export function withProcess(identity: ToolIdentity, name: ProcessName | null): ToolIdentity {
  if (name === null || (identity.by !== "library" && identity.by !== "unknown")) return identity;
  if (name.isProgramName && identity.by === "library") return identity;
  return { tool: name.tool, by: "process", session: identity.session };
}

/**
 * Adds the owner of the registered token that the request presents; null without one. Where `access` requires tokens it is
 * proven and outranks every claim. Where it does not, the mark in the path is stronger.
 */
export function withToken(identity: ToolIdentity, owner: string | null, mode: Access["mode"]): ToolIdentity {
  if (owner === null || (mode === "open" && identity.by === "path")) return identity;
  return { tool: owner, by: "token", session: identity.session };
}

/** A child session belongs to its parent's (agent.ts). */
function findSession(headers: HeaderIndex): string | null {
  const parent = headers.get("x-parent-session-id");
  if (parent !== undefined) return parent;
  for (const name of SESSION_HEADERS) {
    const value = headers.get(name);
    if (value !== undefined) return value;
  }
  return null;
}

/** Returns the tool that a placeholder credential of the form `tk-TOOL` names. */
function findPlaceholderTool(headers: HeaderIndex): string | null {
  for (const credential of readPresentedCredentials(headers)) {
    if (!credential.startsWith(PLACEHOLDER_PREFIX)) continue;
    const name = parseToolName(credential.slice(PLACEHOLDER_PREFIX.length));
    if (name !== null) return name;
  }
  return null;
}
