import type { Mutant } from "./mutant.ts";

const C15 = { row: "C15", test: "test/security/c15-plans.test.ts" };
const C16 = { row: "C16", test: "test/security/c16-plan-websockets.test.ts" };
const C17 = { row: "C17", test: "test/security/c17-compressed-plan-bodies.test.ts" };
const EXTRA = { row: "prices", test: "test/proxy/plan-extra.test.ts" };
const WORTH = { row: "prices", test: "test/core/price/plans.test.ts" };
const PLANS_FILE = "src/core/plans/plans.ts";
const DECIDE = "src/core/decide/decide.ts";
const JUDGE_PLANNED = "src/core/decide/plans.ts";
const DECODE_MODEL = "src/proxy/exchange/decode-model.ts";
const HANDSHAKE = "src/core/decide/handshake.ts";
const BOOK = "src/core/price/price-book.ts";

/** Rules that keep plan and key apart. */
export const PLANS: readonly Mutant[] = [
  {
    ...C15,
    without: "keeping a plan's login from an upstream that takes a key",
    file: DECIDE,
    find: "if (request.plan !== null) {",
    replace: 'if (request.plan !== null && request.method === "") {',
  },
  {
    ...C15,
    without: "keeping a key from a plan's origin",
    file: JUDGE_PLANNED,
    find: "return fault === null ? null : notOwnLogin(plan, fault);",
    replace: "return fault === null || fault !== '' ? null : notOwnLogin(plan, fault);",
  },
  {
    ...C15,
    without: "refusing both on one request",
    file: PLANS_FILE,
    find: "if (key !== undefined) return `the request has a key, in ${key}`;",
    replace: "",
  },
  {
    ...C15,
    without: "telling an API key from the login of Claude",
    file: PLANS_FILE,
    find: "/^Bearer +(sk-ant-oat[\\w-]{8,})$/i.exec",
    replace: "/^Bearer +(sk-ant-[\\w-]{8,})$/i.exec",
  },
  {
    ...C15,
    without: "wanting the account beside a token of ChatGPT",
    file: PLANS_FILE,
    find: 'return signed ?? (headers.has("chatgpt-account-id") ? token : null) ?? null;',
    replace: "return signed ?? token ?? null;",
  },
  {
    ...C15,
    without: "plans that are off until they are listed",
    file: "src/core/decide/settings.ts",
    find: "PLANS.filter(({ tool }) => plans.includes(tool))",
    replace: "PLANS.filter(({ tool }) => plans.includes(tool) || tool !== null)",
  },
  {
    ...C15,
    without: "refusing programs of other users",
    file: JUDGE_PLANNED,
    find: "if (!client.peer.isOwn || isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;",
    replace: "if (isUnderListedName(headers, rules)) return PLAN_NOT_LOCAL;",
  },
  {
    ...C15,
    without: "refusing another tool's token",
    file: JUDGE_PLANNED,
    find: "if (client.tool !== plan.tool) return otherToolsPlan(plan, client.tool);",
    replace: "",
  },
  {
    ...C15,
    without: "connections for each login",
    file: "src/proxy/upstream/pools.ts",
    find: 'return account === "key" ? this.at(upstream.origin) : this.#forLogin(upstream.origin, headers);',
    replace:
      'return account === "key" || headers.has("authorization") ? this.at(upstream.origin) : this.#forLogin(upstream.origin, headers);',
  },
  {
    ...C15,
    without: "refusing paths that a service could read as others",
    file: "src/core/plans/plan-paths.ts",
    find: '|| path.endsWith("/") || AMBIGUOUS.test(path)) return null;',
    replace: ") return null;",
  },
  {
    ...C15,
    without: "passing the betas of a login",
    file: "src/core/http/build-headers.ts",
    find: "else if (isSentUpstream || PLAN_HEADERS.includes(name)) out.push(rawName, value);",
    replace:
      'else if (isSentUpstream || PLAN_HEADERS.includes(name)) out.push(rawName, name === "anthropic-beta" ? removeOauthBeta(value) : value);',
  },
  {
    ...C15,
    without: "searching errors for the login",
    file: "src/proxy/keyring.ts",
    find: 'if (choice.plan !== null) return new Secret(choice.plan.findLogin(headers) ?? "");',
    replace: 'if (choice.plan !== null) return new Secret("");',
  },
  {
    ...C15,
    without: "throttling a plan",
    file: DECIDE,
    find: "return refusal === null || choice.plan === null ? refusal : asThrottle(refusal);",
    replace:
      "return refusal === null || choice.plan === null || refusal !== null ? refusal : asThrottle(refusal);",
  },
  {
    ...C15,
    without: "refusing a plan's login where a key would pay",
    file: DECIDE,
    find: "return other === null ? null : keyWouldPay(other);",
    replace: "return other === null || other !== null ? null : keyWouldPay(other);",
  },
  {
    ...C16,
    without: "keeping a plan's login on a WebSocket from an upstream that takes a key",
    file: HANDSHAKE,
    find: "if (post.plan !== null) {",
    replace: 'if (post.plan !== null && post.method === "") {',
  },
  {
    ...C16,
    without: "keeping a key on a WebSocket from a plan's origin",
    file: HANDSHAKE,
    find: "const other = judgePlanned(post.plan.plan, { headers, client }, settings);",
    replace:
      'const said = judgePlanned(post.plan.plan, { headers, client }, settings);\nconst other = said?.code === "plan_login" ? null : said;',
  },
  {
    ...C16,
    without: "refusing both on one handshake",
    file: PLANS_FILE,
    find: "if (key !== undefined) return `the request has a key, in ${key}`;",
    replace: "",
  },
  {
    ...C16,
    without: "refusing a plan's login on a WebSocket for which a key would pay",
    file: HANDSHAKE,
    find: "judgeLogin(choice, headers, settings) ?? judgeOwnKey(choice,",
    replace: "judgeOwnKey(choice,",
  },
  {
    ...C16,
    without: "judging a plan's messages as a plan's",
    file: HANDSHAKE,
    find: ': { ...request, kind: "api", plan: { ...plan, key: request.plan.key } };',
    replace: ': { ...request, kind: "api", plan: plan.plan.tool === "codex" ? null : plan };',
  },
  {
    ...C16,
    without: "closing a WebSocket whose plan is taken out of the configuration",
    file: "src/proxy/websocket/judge.ts",
    find: 'new Set(["upgrade_not_supported", "plan_off"])',
    replace: 'new Set(["upgrade_not_supported"])',
  },
  {
    ...C16,
    without: "connections for each login on WebSockets",
    file: "src/proxy/websocket/sockets.ts",
    find: "upstream: pools.of(choice, headers),",
    replace: "upstream: pools.at(choice.upstream.origin),",
  },
  {
    ...C16,
    without: "refusing a WebSocket of a plan with a listed Origin",
    file: "src/core/decide/resolve-route.ts",
    find: 'headers.has("origin") || isFromBrowser(headers)',
    replace: "isFromBrowser(headers)",
  },
  {
    ...C17,
    without: "refusing what follows a frame of zstd",
    file: "src/proxy/exchange/zstd-decoder.ts",
    find: 'if (!frames.isOneFrame) throw new Error("it is not one zstd frame and nothing else");',
    replace: "",
  },
  {
    ...C17,
    without: "refusing what follows a member of gzip",
    file: DECODE_MODEL,
    find: 'if (!isOne) throw new Error("it is not one gzip member and nothing else");',
    replace: "",
  },
  {
    ...C17,
    without: "a limit on what a compressed body decodes to",
    file: DECODE_MODEL,
    find: "if (bytes > bodyBytes)",
    replace: "if (bytes < 0)",
  },
  {
    ...C17,
    without: "reading a compressed body to its end",
    file: DECODE_MODEL,
    find: "if (reader.fault !== null) break;\n  }\n  const fault = reader.finish();",
    replace: "if (reader.place !== null) break;\n  }\n  const fault = reader.fault;",
  },
  {
    ...C17,
    without: "refusing encodings that are not decoded",
    file: "src/core/decide/readable-body.ts",
    find: 'return encoding === "zstd" || encoding === "gzip" ? encoding : null;',
    replace: 'return encoding === "zstd" ? encoding : encoding === undefined ? null : "gzip";',
  },
  {
    ...EXTRA,
    without: "telling use beyond a plan from the plan",
    file: "src/proxy/exchange/exchange.ts",
    find: "upstream: this.#isExtra ? asExtra(upstream.name) : upstream.name,",
    replace: "upstream: upstream.name,",
  },
  {
    ...EXTRA,
    without: "expecting that the service goes on to charge",
    file: "src/core/decide/choose-upstream.ts",
    find: "if (choice.plan === null || !choice.isExtra) return",
    replace: 'if (choice.plan === null || !choice.isExtra || upstream.name !== "") return',
  },
  {
    ...EXTRA,
    without: "the plan's own figures once its window has reset",
    file: "src/proxy/plan-accounts.ts",
    find: "return now < (this.#extraUntil.get(account) ?? 0);",
    replace: "return now < 0 || this.#extraUntil.has(account);",
  },
  {
    ...WORTH,
    without: "leaving out of the cost what a plan paid",
    file: BOOK,
    find: "return upstream === SANDBOX_UPSTREAM || isPaidByTool(upstream);",
    replace: "return upstream === SANDBOX_UPSTREAM;",
  },
  {
    ...WORTH,
    without: "a sum of its own for what plans paid",
    file: "src/core/price/spending.ts",
    find: "if (isPlanUpstream(upstream)) sum.addWorth(",
    replace: 'if (upstream === "") sum.addWorth(',
  },
  {
    ...WORTH,
    without: "letting a plan's requests go when a budget in money is spent",
    file: "src/core/budget/book.ts",
    find: 'if ("usd" in limit && isPaidByTool(upstream)) return true;',
    replace: "",
  },
  {
    row: "C15",
    test: "test/proxy/plan-accounts.test.ts",
    without: "keeping no more than a hash of an account",
    file: "src/proxy/plan-accounts.ts",
    find: "const written = `${name}/${hash.slice(0, HASH_CHARACTERS)}`;",
    replace: "const written = `${name}/${account}${hash.slice(0, 0 * HASH_CHARACTERS)}`;",
  },
  {
    row: "C15",
    test: "test/proxy/plan-accounts.test.ts",
    without: "a salt of the installation in the hash of an account",
    file: "src/proxy/plan-accounts.ts",
    find: 'createHmac("sha256", this.#salt).update(`${name} ${account}`)',
    replace: 'createHmac("sha256", this.#salt.subarray(32)).update(`${name} ${account}`)',
  },
  {
    row: "C15",
    test: "test/proxy/plan-accounts.test.ts",
    without: "telling accounts apart that only a response names",
    file: "src/proxy/exchange/exchange.ts",
    find: "const account = this.#account ?? key.name;",
    replace: "const account = key.name;",
  },
];
