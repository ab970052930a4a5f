import { join } from "node:path";
import { parseJson, isObject } from "../../core/json.ts";
import type { Conflict, SettingsLayer, SettingsSource } from "../conflict.ts";
import { configHome, dataHome, filesIn, managedDirectory, stateHome } from "../recipe/directories.ts";
import {
  directoriesFrom,
  elsewhere,
  findOtherBaseUrl,
  findSetting,
  findText,
  jsonSource,
  memberNames,
  otherModel,
  repositoryOf,
  stringsOf,
  type FoundSetting,
} from "../recipe/layers.ts";
import { isOwnProvider, MODEL_APIS, PROVIDERS, PURPOSE, qualifyModel } from "../recipe/settings.ts";
import type { ConflictRules, LocalEndpoint, ToolHost } from "../tool.ts";

/** A program of opencode's family. */
export interface OpencodeNames {
  /** Of its directories: `opencode`. */
  name: string;
  /** Of its settings files, without the extension; a later one overrides an earlier one. */
  files: readonly string[];
  /** Of the directories in a project that hold settings files, too. */
  projectDirectories: readonly string[];
}

/** The providers whose base URLs `connect` sets, in any case. */
const OWN: readonly string[] = [PROVIDERS.messages, PROVIDERS.responses];

/** https://opencode.ai/docs/config, "Precedence order"; the order within a directory is from the program. */
export function opencodeConflicts(names: OpencodeNames): ConflictRules {
  return {
    sources: (host) => sourcesOf(names, host),
    modelApis: MODEL_APIS,
    find: (layers, endpoint) => [
      ...findHiddenProviders(layers),
      ...findOtherModels(names.name, layers, endpoint),
      ...Object.values(PROVIDERS).flatMap((provider) =>
        findOtherBaseUrl(findSetting(layers, "provider", provider, "options", "baseURL"), endpoint),
      ),
    ],
  };
}

function sourcesOf({ name, files, projectDirectories }: OpencodeNames, host: ToolHost): SettingsSource[] {
  const variable = `${name.toUpperCase()}_CONFIG`;
  const inDirectory = (kind: "user" | "project" | "managed", directory: string, names = files) =>
    filesIn(directory, ...names.flatMap((file) => [`${file}.json`, `${file}.jsonc`])).map((path) =>
      jsonSource(kind, path),
    );
  const own = host.env[variable];
  const inline = parseJson(host.env[`${variable}_CONTENT`] ?? "");
  const directories = directoriesFrom(repositoryOf(host) ?? "/", host);
  return [
    jsonSource("state", join(stateHome(host), name, "model.json")),
    jsonSource("state", join(dataHome(host), name, "auth.json")),
    jsonSource("user", join(configHome(host), name, "config.json")),
    ...inDirectory("user", join(configHome(host), name)),
    ...(own === undefined ? [] : [jsonSource("user", own)]),
    ...directories.flatMap((directory) => inDirectory("project", directory)),
    ...directories.flatMap((directory) =>
      projectDirectories.flatMap((inner) => inDirectory("project", join(directory, inner))),
    ),
    ...(isObject(inline)
      ? [{ kind: "environment", settings: inline, variable: `${variable}_CONTENT` } as const]
      : []),
    ...inDirectory("managed", managedDirectory(host, name)),
  ];
}

/** Finds lists that leave out both of our providers. */
function findHiddenProviders(layers: readonly SettingsLayer[]): Conflict[] {
  const { enabled, disabled } = providerLists(layers);
  const wanted = stringsOf(enabled);
  const unwanted = stringsOf(disabled);
  return [
    ...(enabled === null || wanted.some(isOwnProvider) ? [] : [leftOut(enabled, [...wanted, ...OWN])]),
    ...(disabled === null || OWN.some((provider) => !unwanted.includes(provider))
      ? []
      : [
          leftOut(
            disabled,
            unwanted.filter((provider) => !isOwnProvider(provider)),
          ),
        ]),
  ];
}

function leftOut(list: FoundSetting, value: string[]): Conflict {
  const purpose = `allows ${OWN.join(" and ")}, which point at tollkeeper`;
  const remedies = [{ keyPath: list.path.map(String), value, purpose }];
  return elsewhere(list, `it leaves out ${OWN.join(" and ")}, which point at tollkeeper`, { remedies });
}

function providerLists(layers: readonly SettingsLayer[]) {
  const enabled = findSetting(layers, "enabled_providers");
  return { enabled, disabled: findSetting(layers, "disabled_providers") };
}

/** Finds each choice of a model that is another provider's, or that goes elsewhere because of a saved login. */
function findOtherModels(
  name: string,
  layers: readonly SettingsLayer[],
  endpoint: LocalEndpoint,
): Conflict[] {
  const choices = findChoices(layers);
  const conflicts = choices.flatMap(({ found, provider, keyPath }) => {
    if (isOwnProvider(provider)) return [];
    const purpose = keyPath[0] === "model" ? PURPOSE.model : "so that its requests also reach tollkeeper";
    const remedies = (model: string) => [{ keyPath, value: qualifyModel(model), purpose }];
    return [otherModel(found, `it chooses a model of ${provider}`, endpoint, remedies)];
  });
  const login = findSetting(layers, "openai", "type");
  const isUsed = choices.some(({ provider }) => provider === PROVIDERS.responses);
  if (login?.value !== "oauth" || !isUsed) return conflicts;
  const advice = `log out: ${name} auth logout`;
  return [
    ...conflicts,
    elsewhere(login, "with this login, requests for openai models go to chatgpt.com", { advice }),
  ];
}

/** A setting that chooses a model. */
interface ModelChoice {
  found: Pick<FoundSetting, "source" | "path">;
  provider: string;
  /** The setting that overrides it. */
  keyPath: readonly string[];
}

function findChoices(layers: readonly SettingsLayer[]): ModelChoice[] {
  const inSections = ["agent", "mode", "command"].flatMap((section) =>
    memberNames(layers, section).map((member) => [section, member, "model"]),
  );
  const choices = [["model"], ["small_model"], ...inSections].flatMap((keyPath) => {
    const found = findText(layers, ...keyPath);
    return found === null ? [] : [{ found, provider: found.value.split("/", 1).join(), keyPath }];
  });
  return choices[0]?.keyPath[0] === "model" ? choices : [...findDefaultChoice(layers), ...choices];
}

/** Without a `model` the last one used is chosen, or else one of the first provider in the settings. */
function findDefaultChoice(layers: readonly SettingsLayer[]): ModelChoice[] {
  const keyPath = ["model"];
  const recent = findText(layers, "recent", 0, "providerID");
  if (recent !== null) return [{ found: recent, provider: recent.value, keyPath }];
  const { enabled, disabled } = providerLists(layers);
  const provider = memberNames(layers, "provider").find(
    (name) => !stringsOf(disabled).includes(name) && (enabled === null || stringsOf(enabled).includes(name)),
  );
  const found = provider === undefined ? null : findSetting(layers, "provider", provider);
  return provider === undefined || found === null ? [] : [{ found, provider, keyPath }];
}
