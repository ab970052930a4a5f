import type { Mutant } from "./mutant.ts";

const B7 = { row: "B7", test: "test/security/b7-hostile-config.test.ts" };
const B7_FLOODS = { row: "B7", test: "test/adapters/config-file/floods.test.ts" };
const B7_ISSUES = { row: "B7", test: "test/core/config/floods.test.ts" };

const CONFIG_FILE = "src/adapters/config-file.ts";
const JSONC = "src/adapters/config-file/jsonc.ts";
const RULES = "src/core/config/rules.ts";
const SHAPE = "src/core/config/shape.ts";

/** Rules on invalid, hostile and flooded configurations: B7. */
export const CONFIG: readonly Mutant[] = [
  {
    ...B7,
    without: "refusing prototype keys",
    file: RULES,
    find: "...findForbiddenKeys(file, []),",
    replace: "",
  },
  {
    ...B7,
    without: "defining properties instead of assigning them",
    file: JSONC,
    find: "return Object.fromEntries(entries);",
    replace:
      "return [...entries].reduce<Record<string, unknown>>((all, [key, value]) => ((all[key] = value), all), {});",
  },
  {
    ...B7,
    without: "refusing unknown keys",
    file: SHAPE,
    find: "!known.includes(key) &&",
    replace: "false &&",
  },
  {
    ...B7,
    without: "keeping the last valid configuration",
    file: CONFIG_FILE,
    find: "this.#problems = problems;",
    replace:
      "this.#problems = problems;\n    this.#config = defaultConfig;\n    void this.#apply(defaultConfig);",
  },
  {
    ...B7_FLOODS,
    without: "a size limit for the configuration",
    file: "src/adapters/trust/trusted-file.ts",
    find: "if (before.size > maxBytes) throw new Failure(`it is larger than ${maxBytes / MIB} MiB`);",
    replace: "",
  },
  {
    ...B7_FLOODS,
    without: "a limit on the tokens of the configuration",
    file: JSONC,
    find: "first === undefined || tokens === MAX_TOKENS || depth > MAX_DEPTH",
    replace: "first === undefined || depth > MAX_DEPTH",
  },
  {
    ...B7_FLOODS,
    without: "a limit on the nesting of the configuration",
    file: JSONC,
    find: "first === undefined || tokens === MAX_TOKENS || depth > MAX_DEPTH",
    replace: "first === undefined || tokens === MAX_TOKENS",
  },
  {
    ...B7_FLOODS,
    without: "leaving out errors where the text is cut",
    file: JSONC,
    find: "end < text.length ? errors.filter(({ offset }) => offset < end) : errors",
    replace: "errors",
  },
  {
    ...B7_FLOODS,
    without: "leaving out issues of a value that is cut",
    file: JSONC,
    find: "isCut ? end - 1 : end",
    replace: "end",
  },
  {
    ...B7_FLOODS,
    without: "a limit on the problems that are reported",
    file: "src/adapters/config-file/read.ts",
    find: "if (problems.length <= MAX_PROBLEMS) return problems;",
    replace: "if (problems.length > 0) return problems;",
  },
  {
    ...B7_ISSUES,
    without: "a limit on unknown keys",
    file: SHAPE,
    find: ".slice(0, MAX_UNKNOWN_KEYS)",
    replace: "",
  },
  {
    ...B7_ISSUES,
    without: "a limit on named entries",
    file: SHAPE,
    find: "const entries = Object.entries(value);\n    if (entries.length > MAX_ENTRIES) return tooMany(entries.length, path);",
    replace: "const entries = Object.entries(value);",
  },
  {
    ...B7_ISSUES,
    without: "a limit on list items",
    file: SHAPE,
    find: "if (value.length > MAX_ENTRIES) return tooMany(value.length, path);\n    return joinItems(value.map(",
    replace: "return joinItems(value.map(",
  },
  {
    ...B7_ISSUES,
    without: "a limit on tools with issues",
    file: RULES,
    find: "if (issues.length >= MAX_TOOL_ISSUES) break;",
    replace: "",
  },
  {
    ...B7_ISSUES,
    without: "a limit on the names that a misspelled one is compared with",
    file: RULES,
    find: "upstreams.slice(0, MAX_GUESSES).map(([candidate]) => candidate)",
    replace: "upstreams.map(([candidate]) => candidate)",
  },
  {
    ...B7_ISSUES,
    without: "comparing the routes of no list that is too long",
    file: RULES,
    find: "if (!Array.isArray(routes) || routes.length > MAX_ENTRIES) return [];",
    replace: "if (!Array.isArray(routes)) return [];",
  },
  {
    ...B7_ISSUES,
    without: "a limit on the length of names that are compared",
    file: "src/core/text/did-you-mean.ts",
    find: "if (word.length > MAX_LENGTH) return null;",
    replace: "",
  },
  {
    ...B7_FLOODS,
    without: "telling the file from its neighbours",
    file: CONFIG_FILE,
    find: "if (!this.#files.some((file) => isAboutNeighbour(file, name, details))) this.#onEvent();",
    replace: "this.#onEvent();",
  },
  {
    ...B7_FLOODS,
    without: "reading a file that is never left alone",
    file: CONFIG_FILE,
    find: "&& performance.now() < until",
    replace: "",
  },
];
