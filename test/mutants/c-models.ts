import type { Mutant } from "./mutant.ts";

const C9 = { row: "C9", test: "test/security/c9-one-model.test.ts" };
const READER = "src/core/policy/model-reader.ts";
const CHOICE = "src/proxy/choose-by-model.ts";
const GUARD = "src/proxy/exchange/model-guard.ts";

/** Rules on the model that chooses the upstream: C9. */
export const MODELS: readonly Mutant[] = [
  {
    ...C9,
    without: "refusing a second model",
    file: READER,
    find: 'if (this.#place !== null) return this.#fail("the body names two models");',
    replace: "if (this.#place !== null) return;",
  },
  {
    ...C9,
    without: "refusing other spellings of the name",
    file: READER,
    find: 'if (name === "model") this.#fail(\'a member\\\'s name is another spelling of "model"\');',
    replace: "",
  },
  {
    ...C9,
    without: "refusing what follows the object",
    file: READER,
    find: 'return this.#fail("something follows the JSON object");',
    replace: "return;",
  },
  {
    ...C9,
    without: "reading more than the peek",
    file: GUARD,
    find: "if (unread > 0)",
    replace: "if (unread > Infinity)",
  },
  {
    ...C9,
    without: "holding the last brace back",
    file: GUARD,
    find: "if (endsAt === null || endsAt >= this.#offset)",
    replace: "if (endsAt === null || this.#offset > 0)",
  },
  {
    ...C9,
    without: "refusing a body without an end",
    file: READER,
    find: 'if (this.#endsAt === null) return "the body is not complete JSON";',
    replace: "",
  },
  {
    ...C9,
    without: "refusing a charset that is not UTF-8",
    file: CHOICE,
    find: "throw new RefusalError(unreadableModel(`the body is not UTF-8 (${toPrintable(charset)})`));",
    replace: "void charset;",
  },
];
