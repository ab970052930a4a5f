import { TEMPLATE } from "../config/edit-file.ts";
import { planChanges, valueIn } from "../config/change-value.ts";
import type { FileSettings } from "../../tools/setting.ts";
import type { ConnectableTool } from "../../tools/tool.ts";
import type { LocalDaemon } from "./locate-daemon.ts";

/**
 * Returns the setting of tollkeeper's own configuration that lets the plan of a tool pass; null where another file sets it.
 * @throws Failure when the configuration cannot be changed, or is not valid with it
 */
export async function permitPlan(
  { name: tool, title }: Pick<ConnectableTool, "name" | "title">,
  { config, configFile }: Pick<LocalDaemon, "config" | "configFile">,
): Promise<FileSettings | null> {
  const listed = valueIn(configFile, ["plans"]);
  const own: readonly unknown[] = Array.isArray(listed) ? listed : [];
  if (!own.includes(tool)) {
    if (config.plans.some((one) => one === tool)) return null;
    await planChanges(configFile, [[["plans"], [...own, tool]]], TEMPLATE);
  }
  const purpose = `lets tollkeeper forward the login of ${title}, to the service that it is for`;
  const settings = [{ keyPath: ["plans", { item: tool }], value: tool, purpose }];
  return { path: configFile, format: "jsonc", settings };
}
