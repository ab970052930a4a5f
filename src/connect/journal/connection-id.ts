import { createHash } from "node:crypto";
import type { Scope } from "../../tools/tool.ts";

/** Identifies a connection: one tool, for the user or in one project. */
export interface ConnectionId {
  tool: string;
  scope: Scope;
  /** The project's directory, absolute; null for the scope `user`. */
  directory: string | null;
}

/** Returns the base name of a connection's state files: `codex.user`, `codex.project-0123456789ab`. */
export function fileStemFor({ tool, scope, directory }: ConnectionId): string {
  if (directory === null) return `${tool}.${scope}`;
  return `${tool}.${scope}-${digestPath(directory)}`;
}

/** Returns a short hash that stands for a path in a file name. */
export function digestPath(path: string): string {
  return createHash("sha256").update(path).digest("hex").slice(0, 12);
}
