import { defaultConfig, type Config } from "../../../src/core/config/config.ts";
import { configSchema } from "../../../src/core/config/schema.ts";

/** What a configuration file says about tools, resolved. */
type RulesForTools = Pick<Config, "tools" | "otherTools" | "groups" | "aliases">;

/** Resolves the parts of a configuration file that say what tools may do. */
export function rulesForTools(file: { tools?: object; groups?: object; aliases?: object }): RulesForTools {
  const result = configSchema.read(file, []);
  const { tools, otherTools, groups, aliases } = "value" in result ? result.value : defaultConfig;
  if ("issues" in result) throw new Error(JSON.stringify(result.issues));
  return { tools, otherTools, groups, aliases };
}
