import type { Config } from "../../../src/core/config/config.ts";

type ToolSettings = Config["tools"][string];

const DEFAULTS: ToolSettings = {
  upstreams: null,
  key: null,
  group: null,
  aliases: {},
  budgets: [],
  brake: null,
};

/** A tool's settings, with the configuration's defaults. */
export function toolSettings(changes: Partial<ToolSettings>): ToolSettings {
  return { ...DEFAULTS, ...changes };
}
