import { ledgerDirectory } from "../../../adapters/paths.ts";
import type { Config } from "../../../core/config/config.ts";
import { Failure } from "../../../core/failure.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { LAST } from "../../last-id.ts";
import { readLastRecords } from "../../ledger/last-records.ts";
import { findClientTool } from "./client-tool.ts";
import type { Asked } from "./question.ts";
import { projectFilter, requireProjects } from "./scope.ts";

/** A session, and how it was found. */
interface FoundSession {
  id: string;
  /** In words, for the answer. */
  by: string;
  /** The project whose requests count; undefined for those of any. */
  project: string | undefined;
}

/** Codex says with each call in which session it is (openai/codex, pull request 15190). */
const CODEX_META = "x-codex-turn-metadata";

/** Claude Code gives this to the servers that it starts (2.1.154). A tool that Claude Code has started may inherit it. */
const CLAUDE_VARIABLE = "CLAUDE_CODE_SESSION_ID";

/**
 * Finds the session that a question is about: the one asked for, which may be the newest of the project by `last`, else the client's own, else the newest. What a model
 * names must be of the project. What its client says is the session in which it asks.
 * @throws Failure where no session is known
 */
export async function findSession(asked: Asked, config: Config): Promise<FoundSession> {
  const { given, meta, scope } = asked;
  const tool = findClientTool(asked.client);
  if (given["session"] === LAST) return findNewest(asked, config, tool);
  if (given["session"] !== undefined) {
    const project = scope.hasAllProjects ? undefined : projectFilter(scope, undefined);
    return { id: given["session"], by: "as asked", project };
  }
  const ofCodex = sessionIn(meta);
  if (ofCodex !== null) return { id: ofCodex, by: "as the client says", project: undefined };
  const ofClaude = tool === "claude-code" ? process.env[CLAUDE_VARIABLE] : undefined;
  if (ofClaude !== undefined && ofClaude !== "")
    return { id: ofClaude, by: `as ${CLAUDE_VARIABLE} said when the server was started`, project: undefined };
  return findNewest(asked, config, tool);
}

function sessionIn(meta: JsonObject): string | null {
  const turn = meta[CODEX_META];
  const id = isObject(turn) ? turn["session_id"] : null;
  return typeof id === "string" && id !== "" ? id : null;
}

async function findNewest({ scope }: Asked, config: Config, tool: string | null): Promise<FoundSession> {
  const isAnyProject = scope.hasAllProjects && !config.ledger.project;
  const project = isAnyProject ? undefined : projectFilter(scope, undefined);
  const [newest] = await readLastRecords(
    ledgerDirectory(config),
    1,
    (record) =>
      record.session !== null &&
      // A child session counts with its parent's.
      record.agent === null &&
      (project === undefined || record.project === project) &&
      (tool === null || record.tool === tool),
  );
  const of = `${project === undefined ? "" : " of this project"}${tool === null ? "" : ` by ${tool}`}`;
  if (newest !== undefined && newest.session !== null)
    return { id: newest.session, by: `the newest one${of}, which may not be the one that asks`, project };
  if (!isAnyProject) requireProjects(config);
  throw new Failure(`no session${of} is recorded`);
}
