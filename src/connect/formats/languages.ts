import type { Format } from "../../tools/setting.ts";
import { jsonc } from "./jsonc.ts";
import type { Language } from "./language.ts";
import { shellLanguage } from "./shell.ts";
import { toml } from "./toml.ts";
import { yaml } from "./yaml.ts";

/** How a format is read and changed; `owner` is the tool whose lines are meant, in files which hold those of several. */
export function languageOf(format: Format, owner: string): Language {
  switch (format) {
    case "jsonc":
      return jsonc;
    case "toml":
      return toml;
    case "yaml":
      return yaml;
    case "sh":
    case "fish":
      return shellLanguage(format, owner);
  }
}
