import type { Mutant } from "./mutant.ts";

const E10 = { row: "E10", test: "test/faults/e10-agents-questions.test.ts" };
const SESSIONS = { row: "E10", test: "test/cli/commands/mcp/ledger.test.ts" };
const SCOPE = "src/cli/commands/mcp/scope.ts";
const FIND_SESSION = "src/cli/commands/mcp/find-session.ts";

/** Rules for what an agent may ask: E10. */
export const QUESTIONS: readonly Mutant[] = [
  {
    ...E10,
    without: "refusing the figures of other projects",
    file: SCOPE,
    find: "if (asked !== undefined && hasAllProjects) return asked;",
    replace: "if (asked !== undefined) return asked;",
  },
  {
    ...E10,
    without: "refusing a project whose path stands for those of others",
    file: SCOPE,
    find: "if (project.includes(ANY))",
    replace: "if (project === ANY)",
  },
  {
    ...E10,
    without: "limiting a session that a model names to the project",
    file: FIND_SESSION,
    find: "const project = scope.hasAllProjects ? undefined : projectFilter(scope, undefined);",
    replace: "const project = undefined;",
  },
  {
    ...E10,
    without: "leaving out the budgets of other projects",
    file: "src/cli/commands/mcp/standing.ts",
    find: 'scope.kind !== "project" || scope.name === project',
    replace: 'scope.kind !== "project" || scope.name !== ""',
  },
  {
    ...SESSIONS,
    without: "limiting the newest session to the project and the tool",
    file: FIND_SESSION,
    find: "(tool === null || record.tool === tool)",
    replace: "(tool === null || record.tool !== tool)",
  },
  {
    ...SESSIONS,
    without: "taking Claude Code's variable from Claude Code only",
    file: FIND_SESSION,
    find: 'tool === "claude-code" ? process.env[CLAUDE_VARIABLE] : undefined',
    replace: "process.env[CLAUDE_VARIABLE]",
  },
];
