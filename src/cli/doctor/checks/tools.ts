import { failure, ok, warning, type Check, type Finding } from "../../../check/check.ts";
import { NO_TOKEN, type ListedTool } from "../../connect/list-tools.ts";
import { describeDiversions } from "../../connect/payers.ts";
import { readToolHost } from "../../connect/local-endpoint.ts";
import { describeOverriddenByShell } from "../../connect/overridden-logins.ts";
import { displayPath } from "../../terminal/format.ts";
import type { Evidence } from "../evidence.ts";

/** Checks that connected tools' requests come to tollkeeper, and that it accepts them. */
export const toolsCheck: Check<Evidence> = {
  id: "tools",
  title: "tools",
  async run(evidence) {
    const connected = (await evidence.tools()).filter(({ connections }) => connections.length > 0);
    const byShell = await describeOverriddenByShell({ ...readToolHost(), env: evidence.env });
    const findings = [
      ...byShell.map(({ what, fix }) => warning(what, fix)),
      ...connected.flatMap((tool) => missingTokens(tool, evidence)),
      ...connected.flatMap(diversions),
    ];
    if (findings.length > 0) return findings;
    if (connected.length === 0) return [ok("no tool is connected")];
    const names = connected.map(nameWithPayer).join(", ");
    return [ok(`connected: ${names}; nothing sends requests elsewhere`)];
  },
};

/** A key pays for a tool of which nothing is said. */
function nameWithPayer({ title, connections }: ListedTool): string {
  return connections.some(({ account }) => account === "plan") ? `${title} (its plan pays)` : title;
}

function missingTokens({ title, connections }: ListedTool, { home }: Evidence): Finding[] {
  return connections.flatMap(({ directory, tokenFix }) => {
    if (tokenFix === null) return [];
    const where = directory === null ? "" : ` in ${displayPath(directory, home)}`;
    return [failure(`${title} is connected${where}, but ${NO_TOKEN}`, tokenFix)];
  });
}

function diversions(tool: ListedTool): Finding[] {
  return describeDiversions(tool).map(({ what, fix }) => warning(what, fix));
}
