import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { configSchema } from "../../../src/core/config/schema.ts";

/** What a configuration file says about tools, resolved. */
type RulesForTools = Pick<
  Config,
  "tools" | "otherTools" | "groups" | "projects" | "keys" | "budgets" | "aliases"
>;

/** The sections of a configuration file that say what tools may do. */
interface Sections {
  tools?: object;
  groups?: object;
  projects?: object;
  keys?: object;
  budgets?: object[];
  aliases?: object;
}

/** Resolves the parts of a configuration file that say what tools may do. */
export function rulesForTools(file: Sections): RulesForTools {
  const result = configSchema.read(file, []);
  const { tools, otherTools, groups, projects, keys, budgets, aliases } =
    "value" in result ? result.value : defaultConfig;
  if ("issues" in result) throw new Error(JSON.stringify(result.issues));
  return { tools, otherTools, groups, projects, keys, budgets, aliases };
}
