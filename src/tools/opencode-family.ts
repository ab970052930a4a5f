import { join } from "node:path";
import type { Destination, Recipe, HostInfo } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { PROVIDERS, withProvider } from "./api-of-model.ts";
import { configHome } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL } from "./reasons.ts";

/** How opencode and what was made from it differ. */
interface Member extends Pick<Recipe, "tool" | "title" | "source" | "date" | "tried" | "signs"> {
  /** Its directory among the user's settings. */
  directory: string;
  /** Its settings, there and in a project. */
  file: string;
  /** Its variable for settings that are in no file. */
  variable: string;
}

/** The built-in providers are led here, so that their models and what is known of them stay. */
export function opencodeFamily({ directory, file, variable, ...facts }: Member): Recipe {
  return {
    ...facts,
    scopes: ["user", "project"],
    modelOf: null,
    plan(on, to, scope) {
      const path = fileIn(on, scope === "user" ? join(configHome(on), directory) : on.directory, file);
      const settings: Setting[] = Object.values(PROVIDERS).flatMap((provider) => [
        { at: ["provider", provider, "options", "baseURL"], value: `${to.baseUrl}/v1`, why: ADDRESS },
        { at: ["provider", provider, "options", "apiKey"], value: to.credential, why: credentialReason(to) },
      ]);
      if (to.model !== null) settings.push({ at: ["model"], value: withProvider(to.model), why: MODEL });
      return { files: [{ path, format: "jsonc", settings }], remarks: [] };
    },
    environment(_on, to) {
      return { variables: { [variable]: JSON.stringify(contentFor(to)) }, flags: [] };
    },
  };
}

/** Both are read where both are there, and the one with comments wins. */
function fileIn(on: HostInfo, directory: string, file: string): string {
  const path = join(directory, file);
  return on.isThere(`${path}c`) ? `${path}c` : path;
}

function contentFor({ baseUrl, credential, model }: Destination): object {
  const options = { baseURL: `${baseUrl}/v1`, apiKey: credential };
  const provider = Object.fromEntries(Object.values(PROVIDERS).map((name) => [name, { options }]));
  return model === null ? { provider } : { provider, model: withProvider(model) };
}
