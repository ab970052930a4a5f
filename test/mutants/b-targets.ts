import type { Mutant } from "./mutant.ts";

const B1 = { row: "B1", test: "test/security/b1-open-proxy.test.ts" };
const B2 = { row: "B2", test: "test/security/b2-path-confusion.test.ts" };
const B3 = { row: "B3", test: "test/security/b3-method-tricks.test.ts" };
const B4 = { row: "B4", test: "test/security/b4-redirects.test.ts" };

/** Where a request goes, and its key with it: B1 to B4. */
export const TARGETS: readonly Mutant[] = [
  {
    ...B1,
    without: "origin form alone",
    file: "src/core/http/routes.ts",
    find: String.raw`const TARGET = /^(?:\/t\/`,
    replace: String.raw`const TARGET = /^(?:[a-z]+:\/\/[^/]*)?(?:\/t\/`,
  },
  {
    ...B1,
    without: "a path of the configuration's",
    file: "src/proxy/gate.ts",
    find: "path: upstream.upstream.basePath + match.path + query",
    replace: `path: new URL(req.url ?? "", upstream.upstream.baseUrl).pathname + query`,
  },
  {
    ...B2,
    without: "undecoded paths",
    file: "src/proxy/resolve.ts",
    find: `parseTarget(req.url ?? "")`,
    replace: `parseTarget(unescape(req.url ?? ""))`,
  },
  {
    ...B2,
    without: "paths as they came",
    file: "src/proxy/resolve.ts",
    find: `parseTarget(req.url ?? "")`,
    replace: `parseTarget(new URL(req.url ?? "", "http://localhost").pathname)`,
  },
  {
    ...B2,
    without: "the difference that a trailing slash makes",
    file: "src/proxy/resolve.ts",
    find: "find(method, target.path)",
    replace: String.raw`find(method, target.path.replace(/\/+$/, ""))`,
  },
  {
    ...B2,
    without: "bounds of the open segment",
    file: "src/core/http/routes.ts",
    find: "[A-Za-z0-9_-]{1,256}",
    replace: "[^/]+",
  },
  {
    ...B2,
    without: "the bounds of a query's bytes",
    file: "src/core/http/routes.ts",
    find: String.raw`(\?[!-"$-~]*)?$`,
    replace: String.raw`(\?[^]*)?$`,
  },
  {
    ...B3,
    without: "one method per route",
    file: "src/core/http/routes.ts",
    find: "({ route }: RouteMatch) => route.method === method",
    replace: "() => true",
  },
  {
    ...B3,
    without: "the loss of override headers",
    file: "src/core/http/header-name.ts",
    find: `  "x-http-method-override",\n`,
    replace: "",
  },
  {
    ...B4,
    without: "redirects being passed on",
    file: "src/proxy/exchange/round-trip.ts",
    find: `upstream.on("response", (answer) => this.#onAnswer(answer));`,
    replace: `upstream.on("response", (answer) => {
      const { location } = answer.headers;
      if (location === undefined) this.#onAnswer(answer);
      else void import("node:http").then(({ get }) => get(location, (next) => this.#onAnswer(next)));
    });`,
  },
  {
    ...B4,
    without: "the search of a redirect's body",
    file: "src/proxy/exchange/response-writer.ts",
    find: "const FIRST_SEARCHED_STATUS = 300;",
    replace: "const FIRST_SEARCHED_STATUS = 400;",
  },
  {
    ...B4,
    without: "the search of Location",
    file: "src/core/http/headers.ts",
    find: "secret.isIn(value) ? secret.blotText(value) : value",
    replace: "value",
  },
  {
    ...B4,
    without: "redirects ending `key test`",
    file: "src/cli/keys/ask-for-models.ts",
    find: "    const tls = describeTls(socket);",
    replace: `    const { location } = response.headers;
    if (location !== undefined) return await get(new URL(location, url), secret, outbound);
    const tls = describeTls(socket);`,
  },
];
