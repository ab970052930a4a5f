import type { Mutant } from "./mutant.ts";

const F1 = { row: "F1", test: "test/security/f1-foreign-pages.test.ts" };
const F2 = { row: "F2", test: "test/security/f2-framing.test.ts" };
const F3 = { row: "F3", test: "test/security/f3-hostile-texts.test.ts" };
const F4 = { row: "F4", test: "test/security/f4-session-theft.test.ts" };
const F5 = { row: "F5", test: "test/security/f5-feeds-of-others.test.ts" };
const F6 = { row: "F6", test: "test/security/f6-floods-of-questions.test.ts" };

const F7 = { row: "F7", test: "test/security/f7-metrics-of-others.test.ts" };
const F8 = { row: "F8", test: "test/security/f8-hostile-names-in-metrics.test.ts" };
const F9 = { row: "F9", test: "test/security/f9-other-documents.test.ts" };

/** Rules of the dashboard and of metrics. */
export const F: readonly Mutant[] = [
  {
    ...F1,
    without: "admission of requests for feeds",
    file: "src/proxy/gate.ts",
    find: "const peer = this.#admit(req, res, headers, settings);",
    replace:
      'const peer = req.url?.startsWith("/_tollkeeper/v1") ? (this.#parts.peers.admitted(req.socket) as Peer) : this.#admit(req, res, headers, settings);',
  },
  {
    ...F2,
    without: "headers that keep the page out of frames",
    file: "src/local/dashboard/page.ts",
    find: "res.writeHead(200, [...own, ...SAFETY_HEADERS]).end(bytes);",
    replace: "res.writeHead(200, own).end(bytes);",
  },
  {
    ...F5,
    without: "telling our own user from others whom the configuration admits",
    file: "src/proxy/client/peer.ts",
    find: "owner.uid !== null && owner.uid === ownUid",
    replace: "owner.uid !== null",
  },
  {
    ...F5,
    without: "keeping a user whom the system names from approved sessions",
    file: "src/local/dashboard/feeds.ts",
    find: "return isKnown && !isOwn;",
    replace: "return false;",
  },
  {
    ...F4,
    without: "a session where the system cannot tell who asks",
    file: "src/local/dashboard/feeds.ts",
    find: "return isOwn && !sources.needsSession();",
    replace: "return !sources.needsSession();",
  },
  {
    ...F4,
    without: "a session where tokens are required",
    file: "src/local/dashboard/feeds.ts",
    find: "return isOwn && !sources.needsSession();",
    replace: "return isOwn;",
  },
  {
    ...F2,
    without: "keeping feeds out of frames, caches and other origins",
    file: "src/local/dashboard/feeds.ts",
    find: `const own = ["content-type", type, "content-length", String(body.length)];
  res.writeHead(status, [...own, ...SAFETY_HEADERS]).end(body);`,
    replace: `const own = ["content-type", type, "content-length", String(body.length)];
  res.writeHead(status, own).end(body);`,
  },
  {
    ...F3,
    without: "taking texts as text, and not as markup",
    file: "src/local/dashboard/page/elements.ts",
    find: 'created.append(typeof content === "string" ? toPrintable(asTyped(content)) : content);',
    replace: 'if (typeof content === "string") created.innerHTML += content; else created.append(content);',
  },
  {
    ...F3,
    without: "cutting long texts in tables",
    file: "src/local/dashboard/page/app.css",
    find: "  max-width: 24rem;\n  overflow: hidden;\n  text-overflow: ellipsis;\n}\nth {",
    replace: "}\nth {",
  },
  {
    ...F4,
    without: "a person's approval",
    file: "src/local/dashboard/approved-pages.ts",
    find: "return this.#sessions.has(hashOf(session));",
    replace: "return this.#sessions.has(hashOf(session)) || this.#isWaitingWith(hashOf(session));",
  },
  {
    ...F4,
    without: "a person's approval of what is exchanged",
    file: "src/local/dashboard/approved-pages.ts",
    find: "if (this.#takeGranted(hash)) return { session: this.#open()",
    replace: "if (this.#takeGranted(hash) || this.#isWaitingWith(hash)) return { session: this.#open()",
  },
  {
    ...F4,
    without: "a session that nobody knew before it was approved",
    file: "src/local/dashboard/approved-pages.ts",
    find: "if (this.#takeGranted(hash)) return { session: this.#open(), ticket: null, code: null };",
    replace:
      "if (this.#takeGranted(hash)) { this.#sessions.add(hash); return { session: ticket, ticket: null, code: null }; }",
  },
  {
    ...F4,
    without: "exchanging a ticket only once",
    file: "src/local/dashboard/approved-pages.ts",
    find: "const until = this.#granted.get(hash);\n    this.#granted.delete(hash);",
    replace: "const until = this.#granted.get(hash);",
  },
  {
    ...F4,
    without: "keeping the code from whoever names a ticket",
    file: "src/local/dashboard/approved-pages.ts",
    find: "if (this.#isWaitingWith(hash)) return { session: null, ticket, code: null };",
    replace:
      "for (const [code, one] of this.#waiting) if (one.hash === hash) return { session: null, ticket, code };",
  },
  {
    ...F4,
    without: "telling a ticket from a session that a request names",
    file: "src/local/dashboard/feeds.ts",
    find: "sources.sessions.request(session, ticket)",
    replace: "sources.sessions.request(session, ticket ?? session)",
  },
  {
    ...F4,
    without: "keeping a ticket out of the storage that an earlier page has written to",
    file: "src/local/dashboard/page/feeds.ts",
    find: "let ticket: string | null = null;",
    replace: 'let ticket: string | null = sessionStorage.getItem("tollkeeper-ticket");',
  },
  {
    ...F4,
    without: "approving only the page that shows the code",
    file: "src/local/dashboard/approved-pages.ts",
    find: "this.#granted.set(waiting.hash, this.#inTime());",
    replace:
      "for (const { hash } of [waiting, ...this.#waiting.values()]) this.#granted.set(hash, this.#inTime());",
  },
  {
    ...F4,
    without: "a URL with nothing secret in it",
    file: "src/cli/commands/live/dashboard.ts",
    find: "await openInBrowser(url)",
    replace: "await openInBrowser(`${url}#ticket=secret`)",
  },
  {
    ...F4,
    without: "letting a page go when its session ends",
    file: "src/local/dashboard/feeds.ts",
    find: "|| !isAllowed()) res.end();",
    replace: ") res.end();",
  },
  {
    ...F4,
    without: "keeping the session in its tab only",
    file: "src/local/dashboard/page/feeds.ts",
    find: "else sessionStorage.setItem(SESSION, answer.session);",
    replace:
      "else { sessionStorage.setItem(SESSION, answer.session); document.cookie = `session=${answer.session}`; }",
  },
  {
    ...F6,
    without: "a limit to questions that wait",
    file: "src/adapters/programs/own-command.ts",
    find: "if (this.#waiting.length >= MOST_WAITING) return null;",
    replace: "",
  },
  {
    ...F6,
    without: "ending a question whose asker has left",
    file: "src/local/dashboard/feeds.ts",
    find: 'res.once("close", () => isOver.abort());',
    replace: "",
  },
  {
    ...F6,
    without: "a limit to pages that follow",
    file: "src/local/dashboard/feeds.ts",
    find: "if (liveFeeds >= MOST_LIVE_FEEDS)",
    replace: "if (liveFeeds < 0)",
  },
  {
    ...F6,
    without: "letting go a page that does not read",
    file: "src/local/dashboard/feeds.ts",
    find: "if (res.writableLength > MOST_WAITING_BYTES) res.destroy();",
    replace: "",
  },
  {
    ...F7,
    without: "keeping a user who is listed for metrics from everything else",
    file: "src/proxy/gate.ts",
    find: "if (!mayAsk(peer, request)) throw new RefusalError(METRICS_ONLY);",
    replace: "",
  },
  {
    ...F7,
    without: "keeping a user who is listed for metrics from other local paths",
    file: "src/core/decide/resolve-route.ts",
    find: `request.kind === "local" && (request.route === "metrics" || request.route === "health")`,
    replace: `request.kind === "local"`,
  },
  {
    ...F7,
    without: "keeping users who may use the proxy from metrics",
    file: "src/local/metrics.ts",
    find: "permission.readsMetrics || (isOwn && !source.needsToken)",
    replace: "true",
  },
  {
    ...F7,
    without: "more than being our own user where local tokens are required",
    file: "src/local/metrics.ts",
    find: "(isOwn && !source.needsToken)",
    replace: "isOwn",
  },
  {
    ...F7,
    without: "telling listed users from those whom the system does not name",
    file: "src/proxy/client/peer-guard.ts",
    find: "uid !== null && this.#readerUids.includes(uid)",
    replace: "uid === null || this.#readerUids.includes(uid)",
  },
  {
    ...F8,
    without: "escaping labels",
    file: "src/core/metrics/prometheus-text.ts",
    find: '.map(([name, value]) => `${toIdentifier(name)}="${escapeText(value)}"`)',
    replace: '.map(([name, value]) => `${toIdentifier(name)}="${value}"`)',
  },
  {
    ...F8,
    without: "printable names",
    file: "src/core/metrics/bounded-names.ts",
    find: "toPrintable(cut)",
    replace: "cut",
  },
  {
    ...F8,
    without: "a limit to the length of names",
    file: "src/core/metrics/bounded-names.ts",
    find: "name.slice(0, NAME_CHARACTERS)",
    replace: "name",
  },
  {
    ...F8,
    without: "a limit to the number of names",
    file: "src/core/metrics/bounded-names.ts",
    find: "&& this.#names.size >= this.#limit",
    replace: "&& this.#names.size >= Infinity",
  },
  {
    ...F8,
    without: "a limit to the number of series",
    file: "src/core/metrics/bounded-series.ts",
    find: "this.#series.size < this.#limit ? names : merged(names)",
    replace: "names",
  },
  {
    ...F9,
    without: "what our own page alone knows",
    file: "src/local/dashboard/feeds.ts",
    find: 'return typeof key === "string" && sessions.isPage(key);',
    replace: "return true;",
  },
  {
    ...F9,
    without: "recognizing a browser by its destination",
    file: "src/core/http/admission.ts",
    find: 'headers.has("sec-fetch-site") || headers.has("sec-fetch-dest")',
    replace: 'headers.has("sec-fetch-site")',
  },
  {
    ...F9,
    without: "giving the page to windows only",
    file: "src/core/decide/resolve-route.ts",
    find: 'isWindowLoad(headers) ? "page" : null',
    replace: '"page"',
  },
  {
    ...F9,
    without: "keeping the page from frames of its own origin",
    file: "src/core/http/admission.ts",
    find: '(headers.get("sec-fetch-dest") ?? "document") === "document"',
    replace: 'headers.get("sec-fetch-dest") !== "empty"',
  },
  {
    ...F9,
    without: "keeping other windows of its origin from the page's",
    file: "src/local/dashboard/page.ts",
    find: '"cross-origin-opener-policy": "same-origin",',
    replace: "",
  },
  {
    ...F9,
    without: "refusing the script of a service worker",
    file: "src/core/http/admission.ts",
    find: '!headers.has("service-worker") && ',
    replace: "",
  },
  {
    ...F9,
    without: "refusing a service worker that preloads",
    file: "src/core/http/admission.ts",
    find: ' && !headers.has("service-worker-navigation-preload")',
    replace: "",
  },
  {
    ...F9,
    without: "refusing the page through a service worker",
    file: "src/core/http/admission.ts",
    find: 'const isForPage = method === "GET" && path === "/" && isPassedOn;',
    replace: "const isForPage = false;",
  },
  {
    ...F9,
    without: "having the browser remove a service worker",
    file: "src/core/refusals/admission.ts",
    find: 'headers: ["clear-site-data", \'"storage"\'],',
    replace: "",
  },
  {
    ...F9,
    without: "a page that removes service workers",
    file: "src/local/dashboard/page/app.ts",
    find: "if (await removeWorkers()) {",
    replace: "if (false) {",
  },
  {
    ...F9,
    without: "giving metrics to windows and programs only",
    file: "src/core/decide/resolve-route.ts",
    find: 'isWindowLoad(headers) ? "metrics" : null',
    replace: '"metrics"',
  },
];
