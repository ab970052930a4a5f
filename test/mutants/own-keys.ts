import type { Mutant } from "./mutant.ts";

const C18 = { row: "C18", test: "test/security/c18-own-keys.test.ts" };
const WORTH = { row: "prices", test: "test/core/price/own-keys.test.ts" };
const OWN_KEYS_FILE = "src/core/plans/own-keys.ts";
const CHOOSE_UPSTREAM = "src/core/decide/choose-upstream.ts";
const JUDGE = "src/core/decide/own-keys.ts";
const SENDER = "src/proxy/sender.ts";

/** Rules that keep a tool's own key where it belongs. */
export const OWN_KEYS: readonly Mutant[] = [
  {
    ...C18,
    without: "keeping a stored key from a request with the tool's own",
    file: SENDER,
    find: 'auth: isOwn || route.auth === "sigv4" ? "none" : route.auth,',
    replace: 'auth: route.auth === "sigv4" ? "none" : route.auth,',
  },
  {
    ...C18,
    without: "keeping a tool's own key from an upstream with a stored one",
    file: SENDER,
    find: "return isOwn ? [...built, ...listOwnKeyHeaders(headers)] : built;",
    replace: "return [...built, ...listOwnKeyHeaders(headers)];",
  },
  {
    ...C18,
    without: "refusing a key that could be for another service",
    file: JUDGE,
    find: "return others.length === 0 ? null : unclearOwnKey(tool, upstream, others);",
    replace: "return others.length === 0 || tool !== '' ? null : unclearOwnKey(tool, upstream, others);",
  },
  {
    ...C18,
    without: "refusing what is no key of the tool's own",
    file: JUDGE,
    find: "if (fault !== null) return noOwnKey(upstream, fault);",
    replace: "",
  },
  {
    ...C18,
    without: "refusing the login of a plan",
    file: OWN_KEYS_FILE,
    find: 'if (findPlanOf(headers) !== null || headers.has("chatgpt-account-id"))',
    replace: 'if (headers.has("x-nothing"))',
  },
  {
    ...C18,
    without: "refusing a token of ChatGPT without its account",
    file: OWN_KEYS_FILE,
    find: "if (CLAUDE_LOGIN.test(key) || isLoginOfChatgpt(key))",
    replace: "if (CLAUDE_LOGIN.test(key))",
  },
  {
    ...C18,
    without: "refusing what renews a login, and a login in the place of a key",
    file: OWN_KEYS_FILE,
    find: "if (CLAUDE_LOGIN.test(key) || isLoginOfChatgpt(key))",
    replace: "if (isLoginOfChatgpt(key))",
  },
  {
    ...C18,
    without: "refusing placeholders and local tokens",
    file: OWN_KEYS_FILE,
    find: "if (key.length < MIN_LENGTH || isPlaceholder(key))",
    replace: "if (key.length < MIN_LENGTH)",
  },
  {
    ...C18,
    without: "refusing what is too short to be found in a text",
    file: OWN_KEYS_FILE,
    find: "if (key.length < MIN_LENGTH || isPlaceholder(key))",
    replace: "if (isPlaceholder(key))",
  },
  {
    ...C18,
    without: "refusing two keys on one request",
    file: OWN_KEYS_FILE,
    find: "if (keys.size > 1 || sent.some((name) => headers.repeated.includes(name)))",
    replace: "if (keys.size > 9)",
  },
  {
    ...C18,
    without: "taking a key only where the API has it",
    file: OWN_KEYS_FILE,
    find: "const other = sent.find((name) => !allowed.includes(name));",
    replace: 'const other = sent.find((name) => name === "x-api-key" && allowed.length === 0);',
  },
  {
    ...C18,
    without: "aliases that leave alone what passes",
    file: "src/core/decide/choose.ts",
    find: 'if (first === undefined || ("account" in direct && direct.account === "own"))',
    replace: "if (first === undefined)",
  },
  {
    ...C18,
    without: "aliases that go to no upstream that passes keys",
    file: "src/core/decide/choose.ts",
    find: 'const [first, ...others] = destinations.filter(({ account }) => account === "key");',
    replace: "const [first, ...others] = destinations;",
  },
  {
    ...C18,
    without: "searching errors for the key",
    file: "src/proxy/keyring.ts",
    find: 'return new Secret(readOwnKey(headers, choice.route.api).key ?? "");',
    replace: 'return new Secret("");',
  },
  {
    ...C18,
    without: "keeping the key out of records",
    file: "src/proxy/gate.ts",
    find: "settings.passesOwnKeys ? withSentKeys(headers, keyring) : keyring",
    replace: "keyring",
  },
  {
    ...C18,
    without: "connections for each key",
    file: "src/proxy/upstream/pools.ts",
    find: 'return account === "key" ? this.at(upstream.origin) : this.#forLogin(upstream.origin, headers);',
    replace:
      'return account !== "plan" ? this.at(upstream.origin) : this.#forLogin(upstream.origin, headers);',
  },
  {
    ...C18,
    without: "telling keys apart in records",
    file: CHOOSE_UPSTREAM,
    find: "const key = { name: request.ownKey === null ? name : `${name}/${request.ownKey}` };",
    replace: "const key = { name };",
  },
  {
    ...C18,
    without: "refusing a WebSocket without the tool's own key",
    file: "src/core/decide/handshake.ts",
    find: "judgeOwnKey(choice, headers, client.tool, post, settings);",
    replace: "null;",
  },
  {
    ...WORTH,
    without: "a sum of its own for what tools' own keys paid",
    file: "src/core/price/spending.ts",
    find: "else if (isOwnUpstream(upstream)) sum.addOwnWorth(",
    replace: "else if (isOwnUpstream(upstream)) sum.addWorth(",
  },
  {
    ...WORTH,
    without: "leaving out of the cost what tools' own keys paid",
    file: "src/core/plans/names.ts",
    find: 'return payer === "plan" || payer === "own";',
    replace: 'return payer === "plan";',
  },
];
