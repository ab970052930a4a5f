import { groupOfTool } from "../policy/tool-access.ts";
import { keyNameOfTool, upstreamsForTool } from "../policy/tool-access.ts";
import type { Config } from "./config.ts";
import type { Issue } from "./problem.ts";

/** As many as anyone reads. */
const MAX_WARNINGS = 50;

/** Finds what is valid in a configuration, and probably not what was meant. */
export function findWarnings(config: Config): Issue[] {
  return [...findUnusedGroups(config), ...findLabels(config), ...findOtherKeys(config)];
}

function findUnusedGroups({ groups, tools, otherTools }: Config): Issue[] {
  const used = new Set([otherTools.group, ...Object.values(tools).map(({ group }) => group)]);
  const unused = Object.keys(groups).filter((group) => !used.has(group));
  return unused.slice(0, MAX_WARNINGS).map((group) => {
    return {
      path: ["groups", group],
      message: "no tool is in this group",
      hint: `put a tool into it with: tollkeeper group use TOOL ${group}`,
    };
  });
}

/** Where access is open, a tool has the name that it gives itself. */
function findLabels({ access, groups }: Config): Issue[] {
  if (access.mode === "token" || Object.keys(groups).length === 0) return [];
  return [{ path: ["groups"], message: OPEN_GROUPS, hint: "tollkeeper config set access token" }];
}

/** What groups are worth without tokens. */
export const OPEN_GROUPS =
  "access is open, so any program can use the name of another tool, and groups are not enforced";

/** A key in a file, or one that a command prints, is the only one of its upstream, whatever a tool's key is called. */
function findOtherKeys(config: Config): Issue[] {
  const found: Issue[] = [];
  for (const [tool, { key: ownKey }] of Object.entries(config.tools)) {
    const keyName = keyNameOfTool(config, tool);
    if (keyName === null) continue;
    const path =
      ownKey === null ? ["groups", groupOfTool(config, tool)?.name ?? "", "key"] : ["tools", tool, "key"];
    for (const { name, key, keySource } of upstreamsForTool(config, tool)) {
      if (keySource.kind === "keychain" || keySource.kind === "none" || key === keyName) continue;
      const message = `${tool} uses another key at upstream ${name}, whose keySource has only one: "${key}"`;
      found.push({ path, message, hint: `set tools.${tool}.upstreams to the upstreams that have the key` });
      if (found.length === MAX_WARNINGS) return found;
    }
  }
  return found;
}
