import type { Config } from "../../core/config/config.ts";
import { passingUpstreams } from "../../core/policy/tool-access.ts";
import type { Account } from "../../tools/tool.ts";
import { displayPath } from "../terminal/format.ts";
import type { DescribedConflict } from "./describe-conflict.ts";
import { diversionsOf, listTools, type ListedTool } from "./list-tools.ts";
import { readToolHost } from "./local-endpoint.ts";
import { describeOverriddenByShell } from "./overridden-logins.ts";
import { keysOf } from "./payer/who-pays.ts";

/** Who pays for what a connected tool asks, in one place of its settings. */
export interface Payer {
  tool: string;
  /** The project's directory; null for the user's own settings. */
  directory: string | null;
  account: Account;
  /** The names of the keys that may pay; none for a plan, and where no upstream takes a key. */
  keys: readonly string[];
  /** The upstreams at which the tool's own key pays. */
  ownKeyAt: readonly string[];
  /** What works against it, as in `connect --list`. */
  conflicts: readonly DescribedConflict[];
}

/** Something that keeps a connected tool's requests from tollkeeper, or from the login of its plan, and what resolves it. */
interface Diversion {
  what: string;
  fix: string;
}

/** Returns who pays for each connected tool, by its settings and a configuration. Tools whose settings have no base URL are left out. */
export async function listPayers(config: Config): Promise<Payer[]> {
  return (await listTools(readToolHost(), false)).flatMap(({ tool, connections }) =>
    connections.flatMap((connection): Payer[] => {
      const { directory, account } = connection;
      if (account === null) return [];
      const keys = account === "key" ? keysOf(config, tool) : [];
      const ownKeyAt = account === "key" ? passingUpstreams(config, tool) : [];
      const conflicts = diversionsOf([connection]).map(({ where, what, fix }) => ({ where, what, fix }));
      return [{ tool, directory, account, keys, ownKeyAt, conflicts }];
    }),
  );
}

/** Says e.g. `claude-code: its plan pays, with its own login`. Of a plan with conflicts, these are to follow. */
export function describePayer({ tool, directory, account, keys, ownKeyAt, conflicts }: Payer): string {
  const where = directory === null ? "" : ` in ${displayPath(directory, readToolHost().home)}`;
  const plan =
    conflicts.length === 0
      ? "its plan pays, with its own login"
      : "its plan does not pay yet, because of this:";
  return `${tool}${where}: ${account === "plan" ? plan : describeKeys(keys, ownKeyAt)}`;
}

function describeKeys(keys: readonly string[], ownKeyAt: readonly string[]): string {
  const [names, own] = [keys, ownKeyAt].map((all) => all.map((name) => JSON.stringify(name)).join(" or "));
  const stored = `your API key pays: ${names}${keys.length < 2 ? "" : ", depending on the upstream"}`;
  if (ownKeyAt.length === 0) return keys.length === 0 ? "no upstream takes a key, so no key pays" : stored;
  const passed = `its own API key pays at: ${own}`;
  return keys.length === 0 ? passed : `${stored}; ${passed}`;
}

/** As {@link describeDiversions}, for all tools whose plan is to pay, and for those whose login a variable of this shell comes before. */
export async function findPlanDiversions(): Promise<Diversion[]> {
  const tools = await listTools(readToolHost(), false);
  const ofPlans = tools.flatMap(({ title, connections }) =>
    describeDiversions({ title, connections: connections.filter(({ account }) => account === "plan") }),
  );
  return [...ofPlans, ...(await describeOverriddenByShell(readToolHost()))];
}

/** Returns what keeps a tool's requests from tollkeeper or from the login of its plan, in sentences. */
export function describeDiversions({
  title,
  connections,
}: Pick<ListedTool, "title" | "connections">): Diversion[] {
  return diversionsOf(connections).map(({ where, what, fix }) => {
    return { what: `${title} is connected, but ${where} ${what}`, fix };
  });
}
