import type { Mutant } from "./mutant.ts";

const A16 = { row: "A16", test: "test/security/a16-listed-names.test.ts" };
const A17 = { row: "A17", test: "test/security/a17-old-browsers.test.ts" };
const ADMISSION = { file: "src/core/http/admission.ts" };

/** Rules for browsers that do not say which page sends a request: A16 and A17. */
export const NAMES: readonly Mutant[] = [
  {
    ...A16,
    without: "asking for a token under a listed name",
    file: "src/proxy/client/identity.ts",
    find: 'isUnderListedName(headers, rules) ? "listed name" : null',
    replace: "null",
  },
  {
    ...A16,
    without: "asking for a token for GET",
    file: "src/proxy/client/identity.ts",
    find: "isUnderListedName(headers, rules) ?",
    replace: 'isUnderListedName(headers, rules) && headers.has("content-type") ?',
  },
  {
    ...A16,
    without: "telling a name that browsers trust from loopback's own",
    ...ADMISSION,
    find: 'allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase() ?? "");',
    replace:
      'allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase().replace(/^.*[.]localhost/, "localhost") ?? "");',
  },
  {
    ...A16,
    without: "telling other addresses of loopback from those that we listen on",
    ...ADMISSION,
    find: 'allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase() ?? "");',
    replace:
      'allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase().replace(/^127[.][^:]*/, "localhost") ?? "");',
  },
  {
    ...A16,
    without: "comparing a Host in capitals",
    ...ADMISSION,
    find: 'allowedHosts.length > 0 && !isLoopbackName(headers.get("host")?.toLowerCase() ?? "");',
    replace:
      'allowedHosts.includes(headers.get("host") ?? "") && !isLoopbackName(headers.get("host") ?? "");',
  },
  {
    ...A16,
    without: "keeping page, feeds and metrics from a listed name",
    file: "src/core/decide/resolve-route.ts",
    find: "if (isUnderListedName(headers, rules)) return LOOPBACK_ONLY;",
    replace: "",
  },
  {
    ...A16,
    without: "keeping them from it whatever is presented",
    file: "src/core/decide/resolve-route.ts",
    find: "if (isUnderListedName(headers, rules)) return LOOPBACK_ONLY;",
    replace: 'if (isUnderListedName(headers, rules) && !headers.has("x-api-key")) return LOOPBACK_ONLY;',
  },
  {
    ...A16,
    without: "keeping the page from it",
    file: "src/core/decide/resolve-route.ts",
    find: 'if (!isPage && (!path.startsWith("/_tollkeeper/")',
    replace: 'if (isPage || (!path.startsWith("/_tollkeeper/")',
  },
  {
    ...A17,
    without: "refusing what any page can have an old browser send",
    ...ADMISSION,
    find: "isWithoutMetadata(headers) && !isPreflighted(headers)",
    replace: "false",
  },
  {
    ...A17,
    without: "keeping feeds, metrics and page from old browsers",
    file: "src/core/decide/resolve-route.ts",
    find: "isWithoutMetadata(headers) ? OLD_BROWSER : null",
    replace: "null",
  },
  {
    ...A17,
    without: "keeping feeds and metrics from them as well as the page",
    file: "src/core/decide/resolve-route.ts",
    find: "isWithoutMetadata(headers) ? OLD_BROWSER : null",
    replace: "isPage && isWithoutMetadata(headers) ? OLD_BROWSER : null",
  },
  {
    ...A17,
    without: "telling a preflighted scheme from one that browsers add",
    ...ADMISSION,
    find: '/^bearer /i.test(headers.get("authorization") ?? "")',
    replace: 'headers.has("authorization")',
  },
  {
    ...A17,
    without: "counting an empty language",
    ...ADMISSION,
    find: 'headers.has("accept-language") &&',
    replace: '(headers.get("accept-language") ?? "") !== "" &&',
  },
  {
    ...A17,
    without: "telling a type that needs a preflight from others",
    ...ADMISSION,
    find: 'isJson(headers.get("content-type")) ||',
    replace: 'headers.has("content-type") ||',
  },
  {
    ...A17,
    without: "telling browsers from PowerShell",
    ...ADMISSION,
    find: 'headers.has("accept-language") &&',
    replace: "",
  },
  {
    ...A17,
    without: "telling browsers from Node's fetch",
    ...ADMISSION,
    find: '!headers.has("sec-fetch-mode") &&\n    !isFromBrowser(headers)',
    replace: "!isFromBrowser(headers)",
  },
];
