import { readBedrockPath, replaceBedrockModel } from "../http/bedrock/model-path.ts";
import { replaceModel as replaceGoogleModel } from "../http/gemini/model-path.ts";
import type { ModelInPath } from "../http/routes.ts";

/** Returns a path with another model in place of the one that it names; null for a name that no such path can have. */
export function replaceModelInPath(path: string, named: ModelInPath, model: string): string | null {
  return readBedrockPath(path) === null
    ? replaceGoogleModel(path, named, model)
    : replaceBedrockModel(path, named, model);
}
