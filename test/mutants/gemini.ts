import type { Mutant } from "./mutant.ts";

const ARITHMETIC = { row: "E5", test: "test/core/usage/gemini/arithmetic.test.ts" };
const RESPONSES = { row: "E5", test: "test/core/usage/gemini/responses.test.ts" };
const MEMORY = { row: "D6", test: "test/core/usage/gemini/bounded-memory.test.ts" };
const PATHS = { row: "B2", test: "test/core/http/gemini/model-path.test.ts" };

const USAGE = "src/core/usage/gemini/usage.ts";
const SEARCHES = "src/core/usage/gemini/searches.ts";
const COLLECTOR = "src/core/usage/gemini.ts";
const SSE = "src/core/usage/sse/sse-scanner.ts";
const PATH = "src/core/http/gemini/model-path.ts";

/** Rules on the usage of Google's API, and on the model in its paths. */
export const GEMINI: readonly Mutant[] = [
  {
    ...ARITHMETIC,
    without: "counting thoughts as output beside the candidates",
    file: USAGE,
    find: "const [input, output] = [prompt + toolUse, candidates + thoughts];",
    replace: "const [input, output] = [prompt + toolUse, candidates];",
  },
  {
    ...ARITHMETIC,
    without: "counting what tools fed back as input",
    file: USAGE,
    find: "const [input, output] = [prompt + toolUse, candidates + thoughts];",
    replace: "const [input, output] = [prompt, candidates + thoughts];",
  },
  {
    ...ARITHMETIC,
    without: "seeing thoughts that are among the candidates",
    file: USAGE,
    find: "if (total === input + candidates && thoughts <= candidates) {",
    replace: "if (total === input + output && thoughts <= candidates) {",
  },
  {
    ...ARITHMETIC,
    without: "seeing what tools fed back in the prompt",
    file: USAGE,
    find: "if (total === prompt + output && toolUse <= prompt) {",
    replace: "if (total === input + output && toolUse <= prompt) {",
  },
  {
    ...ARITHMETIC,
    without: "counting as output what only the total has",
    file: USAGE,
    find: "return [input, total - input];",
    replace: "return [input, output];",
  },
  {
    ...ARITHMETIC,
    without: "taking the cache out of the prompt",
    file: USAGE,
    find: "uncached: input - cached,",
    replace: "uncached: input,",
  },
  {
    ...ARITHMETIC,
    without: "disproving a cache that exceeds the input",
    file: USAGE,
    find: "if (cached > input) {",
    replace: "if (cached < 0) {",
  },
  {
    ...ARITHMETIC,
    without: "taking an object without prompt and total for none",
    file: USAGE,
    find: "return isTold(usage, namesOf(usage));",
    replace: "return Object.keys(usage).length > 0;",
  },
  {
    ...ARITHMETIC,
    without: "flagging lists by modality that do not add up",
    file: USAGE,
    find: 'flags.add(sum < count ? "details_short" : "details_exceed");',
    replace: 'flags.add("details_short");',
  },
  {
    ...ARITHMETIC,
    without: "reading the traffic type as a tier",
    file: COLLECTOR,
    find: '["ON_DEMAND_FLEX", "flex"],',
    replace: "",
  },
  {
    ...RESPONSES,
    without: "replacing usage whole",
    file: COLLECTOR,
    find: "this.#usage = usage;\n    this.#isCountedAtStop",
    replace: "this.#usage = { ...this.#usage, ...usage };\n    this.#isCountedAtStop",
  },
  {
    ...RESPONSES,
    without: "taking the last usage, not the first",
    file: COLLECTOR,
    find: "if (!isCounting(usage)) return;",
    replace: "if (!isCounting(usage) || this.#usage !== null) return;",
  },
  {
    ...RESPONSES,
    without: "taking zeros after counts for filler",
    file: COLLECTOR,
    find: "if (this.#usage !== null && isZero(usage) && !isZero(this.#usage)) {",
    replace: "if (this.#usage !== null && isZero(usage) && isZero(this.#usage)) {",
  },
  {
    ...RESPONSES,
    without: "calling a stream final only at its end",
    file: COLLECTOR,
    find: "const isFinal = isEnded && !this.#hasFailed;",
    replace: "const isFinal = (isEnded || this.#isCountedAtStop) && !this.#hasFailed;",
  },
  {
    ...RESPONSES,
    without: "calling nothing final after an error",
    file: COLLECTOR,
    find: "const isFinal = isEnded && !this.#hasFailed;",
    replace: "const isFinal = isEnded;",
  },
  {
    ...RESPONSES,
    without: "calling what was withheld incomplete",
    file: COLLECTOR,
    find: 'return reason === null || reason === "STOP" ? "completed" : "incomplete";',
    replace: 'return reason === "SAFETY" ? "incomplete" : "completed";',
  },
  {
    ...RESPONSES,
    without: "keeping sentences out of reasons",
    file: COLLECTOR,
    find: '(asWord(reason) ?? "OTHER")',
    replace: "reason",
  },
  {
    ...RESPONSES,
    without: "reading a bare error within a stream",
    file: SSE,
    find: 'else if (this.#takesBareJson && this.#event === "none" && bytes[from] === OPEN_BRACE) {',
    replace: 'else if (this.#takesBareJson && this.#event === "read" && bytes[from] === OPEN_BRACE) {',
  },
  {
    ...RESPONSES,
    without: "ending a bare error at the next event",
    file: SSE,
    find: "if (this.#isBare) this.#endEvent(true);",
    replace: "",
  },
  {
    ...RESPONSES,
    without: "ignoring bare JSON in other streams",
    file: "src/core/usage/chat.ts",
    find: "hasBareErrors: false,",
    replace: "hasBareErrors: true,",
  },
  {
    ...RESPONSES,
    without: "reading lists",
    file: COLLECTOR,
    find: "hasLists: true,",
    replace: "hasLists: false,",
  },
  {
    ...RESPONSES,
    without: "reading errors in lists",
    file: "src/core/usage/errors.ts",
    find: "hasLists: true,",
    replace: "hasLists: false,",
  },
  {
    ...RESPONSES,
    without: "counting each search once",
    file: SEARCHES,
    find: "if (this.#queries.has(query)) return;\n    this.#characters += query.length;",
    replace: "query += this.#queries.size;\n    this.#characters += query.length;",
  },
  {
    ...RESPONSES,
    without: "leaving out searches for nothing",
    file: SEARCHES,
    find: 'typeof query === "string" && query !== ""',
    replace: 'typeof query === "string" && query !== "x"',
  },
  {
    ...MEMORY,
    without: "keeping no element of a list",
    file: "src/core/usage/json/json-scanner.ts",
    find: "elements !== null && elements.length < MAX_ELEMENTS) {\n      const element: JsonObject = {};\n      if (parent !== null || this.#takeElement === null) elements.push(element);",
    replace: "elements !== null) {\n      const element: JsonObject = {};\n      elements.push(element);",
  },
  {
    ...MEMORY,
    without: "bounding the queries that are kept",
    file: SEARCHES,
    find: "if (this.#characters > MAX_CHARACTERS) this.#isCut = true;",
    replace: "if (this.#characters > MAX_CHARACTERS ** 2) this.#isCut = true;",
  },
  {
    ...PATHS,
    without: "refusing a second colon in an escape",
    file: PATH,
    find: "const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+~-]*$/;",
    replace: "const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+~:-]*$/;",
  },
  {
    ...PATHS,
    without: "refusing unsafe escapes in a model's name",
    file: PATH,
    find: "const isClear = isId(raw) && NAME.test(name);",
    replace: "const isClear = NAME.test(name);",
  },
  {
    ...PATHS,
    without: "knowing the actions",
    file: PATH,
    find: "if (action !== undefined && !isAction(action)) return null;",
    replace: "",
  },
  {
    ...PATHS,
    without: "knowing where a kind of model can stand",
    file: PATH,
    find: "if (!isClear || !isPlaced(kind, project !== undefined, publisher !== null)) return null;",
    replace: "if (!isClear) return null;",
  },
  {
    ...PATHS,
    without: "reading a replaced path again",
    file: PATH,
    find: "return readModelPath(replaced)?.model === model ? replaced : null;",
    replace: "return replaced;",
  },
];
