import { join } from "node:path";
import type { Destination, Recipe } from "./recipe.ts";
import type { Setting } from "./setting.ts";
import { directoryOf } from "./directories.ts";
import { ADDRESS, credentialReason, MODEL, PROVIDER } from "./reasons.ts";

const PROVIDER_NAME = "tollkeeper";

/** Carries the local token, where there is one; arguments could be read by every user of the machine. */
const TOKEN_VARIABLE = "TOLLKEEPER_TOKEN";

/** A provider of our own: to the built-in one a saved login is sent, and a websocket is tried first. */
function providerFor({ baseUrl }: Destination): { name: string; value: string | boolean; why: string }[] {
  return [
    { name: "name", value: PROVIDER_NAME, why: "what Codex calls it" },
    { name: "base_url", value: `${baseUrl}/v1`, why: ADDRESS },
    { name: "wire_api", value: "responses", why: "the API that it speaks" },
    {
      name: "supports_websockets",
      value: false,
      why: "no websocket is tried, which tollkeeper would refuse",
    },
  ];
}

/** Codex: the program, its SDK, and its extensions for editors, which read the same file. */
export const codex: Recipe = {
  tool: "codex",
  title: "Codex",
  source: "facts/clients.md section 4",
  date: "2026-11-22",
  tried: "0.169.0",
  signs: { programs: ["codex"], files: [".codex/auth.json", ".codex/sessions"] },
  // From a project's config.toml it ignores providers, and says so.
  scopes: ["user"],
  modelOf: null,
  plan(on, to) {
    const provider = ["model_providers", PROVIDER_NAME];
    const settings: Setting[] = [
      { at: ["model_provider"], value: PROVIDER_NAME, why: PROVIDER },
      ...providerFor(to).map(({ name, value, why }) => ({ at: [...provider, name], value, why })),
    ];
    if (to.isToken) {
      const at = [...provider, "experimental_bearer_token"];
      settings.push({ at, value: to.credential, why: credentialReason(to) });
    }
    if (to.model !== null) settings.push({ at: ["model"], value: to.model, why: MODEL });
    const path = join(directoryOf(on, "CODEX_HOME", ".codex"), "config.toml");
    return { files: [{ path, format: "toml", settings }], remarks: [] };
  },
  environment(_on, to) {
    const fields = providerFor(to).map(({ name, value }) => `${name}=${JSON.stringify(value)}`);
    if (to.isToken) fields.push(`env_key=${JSON.stringify(TOKEN_VARIABLE)}`);
    const options = [
      `model_provider="${PROVIDER_NAME}"`,
      `model_providers.${PROVIDER_NAME}={${fields.join(",")}}`,
    ];
    if (to.model !== null) options.push(`model=${JSON.stringify(to.model)}`);
    return {
      variables: to.isToken ? { [TOKEN_VARIABLE]: to.credential } : {},
      flags: options.flatMap((option) => ["-c", option]),
    };
  },
};
