import type { Mutant } from "./mutant.ts";

const B1 = { row: "B1", test: "test/security/b1-open-proxy.test.ts" };
const B2 = { row: "B2", test: "test/security/b2-path-confusion.test.ts" };
const B3 = { row: "B3", test: "test/security/b3-method-tricks.test.ts" };
const B11 = { row: "B11", test: "test/security/b11-stored-objects.test.ts" };
const B4 = { row: "B4", test: "test/security/b4-redirects.test.ts" };

/** Rules on where a request goes, and the key with it: B1 to B4, and B11. */
export const TARGETS: readonly Mutant[] = [
  {
    ...B1,
    without: "refusing request targets that are not in origin form",
    file: "src/core/http/routes.ts",
    find: String.raw`/^(?:\/t\/([A-Za-z0-9]`,
    replace: String.raw`/^(?:[a-z]+:\/\/[^/]*)?(?:\/t\/([A-Za-z0-9]`,
  },
  {
    ...B1,
    without: "taking the upstream path from the configuration",
    file: "src/core/decide/choose-upstream.ts",
    find: "return { route, path: base + placeModel(match, model) + upstream.fixed.query.compose(request.query) };",
    replace: "return { route, path: new URL(request.path, upstream.baseUrl).pathname + request.query };",
  },
  {
    ...B2,
    without: "comparing paths undecoded",
    file: "src/core/decide/resolve-route.ts",
    find: "parseRequestTarget(url)",
    replace: "parseRequestTarget(unescape(url))",
  },
  {
    ...B2,
    without: "comparing paths without normalisation",
    file: "src/core/decide/resolve-route.ts",
    find: "parseRequestTarget(url)",
    replace: `parseRequestTarget(new URL(url, "http://localhost").pathname)`,
  },
  {
    ...B2,
    without: "distinguishing a trailing slash",
    file: "src/core/decide/resolve-route.ts",
    find: "table.find(method, path, headers",
    replace: String.raw`table.find(method, path.replace(/\/+$/, ""), headers`,
  },
  {
    ...B2,
    without: "limiting the characters of an id in a path",
    file: "src/core/http/path-id.ts",
    find: "SEGMENT_CHARACTERS[code] !== 1",
    replace: "code === 0x2f",
  },
  {
    ...B2,
    without: "refusing an id that is a dot segment",
    file: "src/core/http/path-id.ts",
    find: 'name !== "" && name !== "." && name !== ".."',
    replace: 'name !== ""',
  },
  {
    ...B2,
    without: "refusing a dot segment before a parameter",
    file: "src/core/http/path-id.ts",
    find: 'text.split(";", 1)',
    replace: "[text]",
  },
  {
    ...B2,
    without: "refusing escapes in an id that become another path",
    file: "src/core/http/path-id.ts",
    find: "if (!isSafeEscape(text.slice(at + 1, at + 3))) return false;",
    replace: "",
  },
  {
    ...B2,
    without: "refusing an escape in an id that would end the path",
    file: "src/core/http/path-id.ts",
    find: "0x3b, 0x3f, 0x23]",
    replace: "0x3b]",
  },
  {
    ...B2,
    without: "refusing overlong forms in an id",
    file: "src/core/http/path-id.ts",
    find: "(!hasEscape || isUtf8(text))",
    replace: "(!hasEscape || text.length > 0)",
  },
  {
    ...B2,
    without: "judging each segment of a model's id",
    file: "src/core/http/path-id.ts",
    find: "if (!isSegment(text.slice(start, end))) return false;",
    replace: "",
  },
  {
    ...B2,
    without: "limiting the characters of a query",
    file: "src/core/http/routes.ts",
    find: String.raw`(\?[!-"$-~]*)?$`,
    replace: String.raw`(\?[^]*)?$`,
  },
  {
    ...B2,
    without: "comparing the path of a feed as it was received",
    file: "src/local/dashboard/feeds.ts",
    find: "const name = path.slice(FEEDS_PATH.length);",
    replace: 'const name = new URL(path, "http://localhost").pathname.slice(FEEDS_PATH.length);',
  },
  {
    ...B2,
    without: "comparing the path of a file of the page as it was received",
    file: "src/local/dashboard/page.ts",
    find: "findFile(path.slice(ASSETS_PATH.length))",
    replace: 'findFile(path.slice(path.lastIndexOf("/") + 1))',
  },
  {
    ...B2,
    without: "one path for everything of ours that no tool asks for",
    file: "src/core/decide/resolve-route.ts",
    find: '(mark === null || local === "page") &&',
    replace: "",
  },
  {
    ...B3,
    without: "comparing the method of a route",
    file: "src/core/http/routes.ts",
    find: "candidate.route.method === method",
    replace: 'candidate.route.path !== ""',
  },
  {
    ...B3,
    without: "removing method override headers",
    file: "src/core/http/header-policy.ts",
    find: `"x-http-method-override",`,
    replace: "",
  },
  {
    ...B4,
    without: "passing redirects on",
    file: "src/proxy/exchange/round-trip.ts",
    find: `onResponse: (incoming) => this.#onResponse(incoming),`,
    replace: `onResponse: (incoming) => {\n        const location = incoming.head.headers.get("location");\n        if (location !== undefined) void fetch(location).catch(() => {});\n        this.#onResponse(incoming);\n      },`,
  },
  {
    ...B4,
    without: "redacting the body of a redirect",
    file: "src/proxy/exchange/download.ts",
    find: "const FIRST_SEARCHED_STATUS = 300;",
    replace: "const FIRST_SEARCHED_STATUS = 400;",
  },
  {
    ...B4,
    without: "redacting Location",
    file: "src/core/http/build-headers.ts",
    find: "secret.isIn(value) ? secret.redactText(value) : value",
    replace: "value",
  },
  {
    ...B4,
    without: "stopping `key test` at a redirect",
    file: "src/proxy/upstream/single-request.ts",
    find: "const tls = describeTls(socket);",
    replace:
      "if (response.headers.location !== undefined) await fetch(response.headers.location);\n    const tls = describeTls(socket);",
  },
  {
    ...B11,
    without: "keeping the key that stored a response for the tool that did",
    file: "src/core/decide/choose-upstream.ts",
    find: "creator.tool === tool && isNamed",
    replace: "isNamed",
  },
  {
    ...B11,
    without: "using a key for a stored response only while the configuration names it",
    file: "src/core/decide/choose-upstream.ts",
    find: "creator.tool === tool && isNamed",
    replace: "creator.tool === tool",
  },
  {
    ...B11,
    without: "keeping the upstream that stored a response from tools that may not use it",
    file: "src/core/decide/decide.ts",
    find: "preferCreator(creator, client.tool, destinations, settings)",
    replace: "preferCreator(creator, client.tool, settings.destinations, settings)",
  },
  {
    ...B11,
    without: "searching the ledger for no client that lacks its token",
    file: "src/core/decide/decide.ts",
    find: "client.refusal === null ? findCreator(request, destinations, settings, standing.creators, mustOwn) : null",
    replace: "findCreator(request, destinations, settings, standing.creators, mustOwn)",
  },
];
