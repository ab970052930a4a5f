import { existsSync } from "node:fs";
import type { ServiceCommand } from "./service-command.ts";
import type { ServiceProblem } from "./service-manager.ts";

/** Returns the problem of a definition whose Node or script is gone, as after an upgrade of Node or of a version manager. */
export function missingProgramProblems({ node, script }: ServiceCommand): ServiceProblem[] {
  const missing = [
    ["Node", node],
    ["program", script],
  ].flatMap(([what, path]) =>
    typeof path === "string" && !existsSync(path) ? [`its ${what}, ${path}`] : [],
  );
  if (missing.length === 0) return [];
  const message = `${missing.join(", and ")}, no longer ${missing.length === 1 ? "exists" : "exist"}`;
  return [{ message, fix: "tollkeeper service install", preventsStart: true }];
}
