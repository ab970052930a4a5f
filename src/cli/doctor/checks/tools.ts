import { ok, warning, type Check } from "../../../check/check.ts";
import { diversionsOf } from "../../connect/list-tools.ts";
import type { Evidence } from "../evidence.ts";

/** Checks that nothing sends a connected tool's requests elsewhere. */
export const toolsCheck: Check<Evidence> = {
  id: "tools",
  title: "tools",
  async run(evidence) {
    const connected = (await evidence.tools()).filter(({ connections }) => connections.length > 0);
    if (connected.length === 0) return [ok("none is connected")];
    const findings = connected.flatMap(({ title, connections }) =>
      diversionsOf(connections).map(({ where, what, fix }) =>
        warning(`${title} is connected, but ${where} ${what}`, fix),
      ),
    );
    const names = connected.map(({ title }) => title).join(", ");
    return findings.length > 0 ? findings : [ok(`connected: ${names}; nothing sends requests elsewhere`)];
  },
};
