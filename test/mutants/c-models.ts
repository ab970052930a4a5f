import type { Mutant } from "./mutant.ts";

const C9 = { row: "C9", test: "test/security/c9-one-model.test.ts" };
const READER = "src/core/policy/model-reader.ts";
const C10 = { row: "C10", test: "test/security/c10-forbidden-model.test.ts" };
const C14 = { row: "C14", test: "test/security/c14-stored-requests.test.ts" };
const POLICY = "src/core/policy/tool-policy.ts";
const GUARD = "src/proxy/exchange/model-guard.ts";

/** Rules on the model that chooses the upstream, and on those that a tool's group allows: C9, C10 and C14. */
export const MODELS: readonly Mutant[] = [
  {
    ...C9,
    without: "refusing a second model",
    file: READER,
    find: "if (this.#place !== null) return this.#fail(`the body names two ${this.#member}s`);",
    replace: "if (this.#place !== null) return;",
  },
  {
    ...C9,
    without: "refusing other spellings of the name",
    file: READER,
    find: 'if (name === this.#member) this.#fail(`a member\'s name is another spelling of "${this.#member}"`);',
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
    file: "src/core/decide/readable-body.ts",
    find: "return charset === null ? null : `the body is not UTF-8 (${toPrintable(charset)})`;",
    replace: "return charset === null ? null : null;",
  },
  {
    ...C10,
    without: "comparing the model with those of the group",
    file: POLICY,
    find: "return matchesModel(patterns, model);",
    replace: "return matchesModel(patterns, model) || model.length > 0;",
  },
  {
    ...C14,
    without: "refusing what limited tools store",
    file: "src/core/decide/decide.ts",
    find: "judgeStorage(policy, choice.route, client.tool) ??",
    replace: "",
  },
  {
    ...C14,
    without: "counting a budget that refuses as a limit",
    file: POLICY,
    find: "if (policy.models === null && !policy.isCapped) return null;",
    replace: "if (policy.models === null) return null;",
  },
  {
    ...C14,
    test: "test/proxy/files-and-batches.test.ts",
    without: "asking for a stored object where it was created",
    file: "src/core/decide/creator.ts",
    find: '["/responses", "/files", "/uploads", "/batches", "/messages/batches"]',
    replace: '["/responses", "/files", "/uploads", "/messages/batches"]',
  },
  {
    ...C14,
    test: "test/proxy/files-and-batches.test.ts",
    without: "sending the key as the client's API wants it",
    file: "src/core/decide/choose-upstream.ts",
    find: "const route = request.speaksMessages ? (match.route.asMessages ?? match.route) : match.route;",
    replace: "const { route } = match;",
  },
  {
    ...C14,
    without: "knowing a batch in other letters",
    file: POLICY,
    find: "(?:files|uploads|batch|batches)(?:\\/|$)/i;",
    replace: "(?:files|uploads|batches)(?:\\/|$)/;",
  },
  {
    ...C10,
    without: "looking for a model in the query",
    file: "src/core/decide/readable-body.ts",
    find: "findUnreadable(headers, request) ?? findModelInQuery(request.query)",
    replace: "findUnreadable(headers, request)",
  },
  {
    ...C10,
    without: "refusing a form with files, which a service may read in another way",
    file: "src/core/decide/readable-body.ts",
    find: "if (isForm) return FORM;",
    replace: "if (isForm && Number.isNaN(0)) return FORM;",
  },
  {
    ...C10,
    without: "decoding the query in which it looks for a model",
    file: "src/core/http/upstream-query.ts",
    find: "return [raw, decoded, decode(decoded)].flatMap(",
    replace: "return [raw, decoded].slice(0, 1).flatMap(",
  },
  {
    ...C10,
    without: "splitting the query in which it looks for a model as servers do",
    file: "src/core/http/upstream-query.ts",
    find: "(text) => text.split(SEPARATOR).map(nameOf)",
    replace: '(text) => text.split("&").map(nameOf)',
  },
  {
    ...C10,
    without: "looking for further models in what some services read besides",
    file: READER,
    find: '"fallbacks", "extra_body"]',
    replace: '"fallbacks"]',
  },
  {
    ...C10,
    without: "the group of the tools that have none of their own",
    file: "src/core/policy/tool-access.ts",
    find: "const name = own ?? otherTools.group;",
    replace: "const name = own ?? (otherTools.group === null ? otherTools.group : null);",
  },
  {
    ...C10,
    without: "judging the model that an alias stands for",
    file: "src/core/decide/decide.ts",
    find: "model: alias ?? asked });",
    replace: "model: alias === null ? asked : asked });",
  },
  {
    ...C10,
    without: "waiting for the model",
    file: "src/core/decide/decide.ts",
    find: "const isJudged = policy?.models != null && mustNameModel(route);",
    replace: "const isJudged = policy === null && mustNameModel(route);",
  },
  {
    ...C10,
    without: "refusing what the policy forbids",
    file: "src/core/decide/decide.ts",
    find: "if (policy?.models == null) return null;\n  const asked",
    replace: 'if (policy?.models == null || tool !== "") return null;\n  const asked',
  },
  {
    ...C10,
    without: "refusing further models to choose from",
    file: READER,
    find: 'if (this.#isOnly && FURTHER_MODELS.has(name)) this.#fail(`"${name}" may name other models`);',
    replace: "",
  },
  {
    ...C10,
    without: "the token before the other names of a tool",
    file: "src/core/identity/tool-identity.ts",
    find: 'if (owner === null || (mode === "open" && identity.by === "path")) return identity;',
    replace: 'if (owner === null || identity.by === "path") return identity;',
  },
];
