import { formatAge } from "../../../core/text/age.ts";
import { copyable, element, replaceContents, withCommand, withCopiedCommand } from "./elements.ts";
import type { Status } from "./feed-types.ts";
import { FeedError, followLive, readFeed, removeWorkers } from "./feeds.ts";
import { shortcutsButton } from "./frame/shortcuts.ts";
import { themeButton } from "./frame/theme.ts";
import type { renderHealth } from "./health.ts";
import { load } from "./later.ts";
import { LiveView } from "./live.ts";
import { noticesOf, type Notice } from "./notices.ts";
import { overviewControls, renderOverview } from "./overview.ts";
import { NO_RECORD } from "./record.ts";
import { renderRequests, requestsControls } from "./requests.ts";
import type { renderSessions, sessionsControls } from "./sessions.ts";
import { formatState, parseState, VIEWS, type State } from "./state.ts";

/** How long figures may be old while requests end. */
const RENEW_MS = 15_000;
/** How often their age is said again. */
const AGE_MS = 1_000;

/** They stay while the figures are renewed, so that a reader who is about to choose is not interrupted. */
const controls = element("div", { class: "controls" });
const contents = element("div");
/** What the overview shows above its controls, because it does not depend on them. */
const above = element("div");
const main = element("main", {}, above, controls, contents);
/** They stay, and so does the focus. */
const links = VIEWS.map((view) => [view, element("a", {}, view)] as const);
const nav = element("nav", { ariaLabel: "views" }, ...links.map(([, link]) => link));
const problem = element("p", { class: "problem", role: "alert" });
/** How old the figures are. */
const age = element("span", { class: "age" });
let shownAt: Date | null = null;
/** Whether the page would hear of a request that ends. */
let isConnected = false;
/** What a person has to type to let this page in. Empty where no approval is needed. */
const approval = element("section", {
  class: "approval",
  ariaLabel: "approval",
  role: "status",
});
let shownCode: string | null = null;
/** Marks made-up figures as such in every view. */
const sandboxBadge = element("span", { class: "badge" }, "sandbox");
sandboxBadge.hidden = true;
const live = new LiveView();
const notices = element("ul", { class: "notices", ariaLabel: "notices" });
let shownNotices = "";
let current = new AbortController();
let isOld = false;

function change(changes: Partial<State>): void {
  const hash = formatState({ ...parseState(location.hash), ...changes });
  if ("search" in changes && !("filter" in changes)) {
    // The list has filtered its rows already, and a letter is no step for the back button.
    history.replaceState(null, "", hash);
    pointLinks(parseState(hash));
    return;
  }
  if (!("sort" in changes) || "filter" in changes) {
    location.hash = hash;
    return;
  }
  // The table has sorted its rows already: there is nothing to ask for.
  history.pushState(null, "", hash);
  pointLinks(parseState(hash));
}

/** Has the links to the views keep what was chosen. */
function pointLinks(state: State): void {
  for (const [view, link] of links) {
    link.href = formatState({ ...state, view });
    if (view === state.view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

/** Shows what the URL says now. */
function showState(): void {
  const state = parseState(location.hash);
  pointLinks(state);
  needsControls = true;
  if (state.view !== "overview") above.replaceChildren();
  void show();
}

/** What the script of the view of sessions exports. */
interface SessionsPart {
  renderSessions: typeof renderSessions;
  sessionsControls: typeof sessionsControls;
}

/** Whether the controls are of another view or choice than the URL's. */
let needsControls = true;

function showControls(...shown: readonly HTMLElement[]): void {
  if (needsControls) replaceContents(controls, ...shown);
  needsControls = false;
}

/** Shows a view with its controls. Those that are not needed first are loaded when they are opened. */
async function showView(state: State, signal: AbortSignal): Promise<void> {
  if (state.view === "sessions") {
    const sessions = await load<SessionsPart>("sessions");
    if (signal.aborted) return;
    if (needsControls) showControls(...sessions.sessionsControls(state, change));
    return sessions.renderSessions(contents, state, change, signal);
  }
  if (state.view === "health") {
    const health = await load<{ renderHealth: typeof renderHealth }>("health");
    if (signal.aborted) return;
    showControls();
    return health.renderHealth(contents, signal);
  }
  if (state.view === "requests") {
    if (needsControls) showControls(...requestsControls(state, change));
    return renderRequests(contents, state, change, signal);
  }
  if (state.view === "overview") {
    if (needsControls) showControls(...overviewControls(state, change));
    return renderOverview({ above, contents }, state, change, signal);
  }
  showControls();
  live.show(contents);
}

/** Shows the figures as they are now. What was asked for another view is not waited for. */
async function show(): Promise<void> {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const state = parseState(location.hash);
  isOld = false;
  void showNotices();
  try {
    main.setAttribute("aria-busy", "true");
    if (contents.childElementCount === 0) contents.append(element("p", { class: "loading" }, "Loading…"));
    await showView(state, signal);
    if (signal.aborted) return;
    say("");
    shownAt = state.view === "live" ? null : new Date();
    showAge();
  } catch (error) {
    if (!signal.aborted) say(describe(error));
  } finally {
    if (!signal.aborted) main.setAttribute("aria-busy", "false");
  }
}

/** Says how old the figures are, also while no daemon responds. */
function showAge(): void {
  const isLive = shownAt === null && isConnected && main.ariaBusy === "false";
  age.className = isLive && !live.isHeld ? "age following" : "age";
  if (isLive) age.textContent = live.isHeld ? "on hold" : "live";
  else if (shownAt === null) age.textContent = "";
  else if (isConnected && !isOld) age.textContent = "up to date";
  else age.textContent = `updated ${formatAge(shownAt.getTime(), Date.now())}`;
}

/** Shows in every view what is wrong. Where it cannot be read, the view says why. */
async function showNotices(): Promise<void> {
  const status = await readFeed<Status>("status").catch(() => null);
  if (status === null) return;
  sandboxBadge.hidden = !status.upstreams.some((upstream) => upstream.is_sandbox);
  const isHealth = parseState(location.hash).view === "health";
  const said = noticesOf(status).filter(({ isInHealth }) => isInHealth !== true || !isHealth);
  // One that stays is left alone: somebody may be about to copy its command.
  const key = location.hash + JSON.stringify(said);
  if (key === shownNotices) return;
  shownNotices = key;
  notices.replaceChildren(...said.map(noticeItem));
}

/** What is wrong, and what to type. On a phone there is no room for commands, and the view of health says them, too. */
function noticeItem({ text, remedies, tone, isInHealth }: Notice): HTMLElement {
  const toHealth = formatState({ ...parseState(location.hash), view: "health" });
  const name = isInHealth === true ? "remedy in-health" : "remedy";
  return element(
    "li",
    { class: tone },
    element("span", {}, `${text} `),
    ...remedies.map((remedy) => element("span", { class: name }, ...withCopiedCommand(remedy))),
    isInHealth === true ? element("a", { class: "more", href: toHealth }, "Fix it in Health ›") : null,
  );
}

/** Shows the code by which a person lets this page in, and how. Null: it is in. */
function showCode(code: string | null): void {
  if (code === shownCode) return;
  shownCode = code;
  if (code === null) return approval.replaceChildren();
  say("");
  approval.replaceChildren(
    element("p", {}, "This page has to be approved. Its code is:"),
    element("p", { class: "code" }, code),
    element("p", {}, "Type it where tollkeeper dashboard asks for it, or type in a terminal:"),
    copyable(`tollkeeper dashboard --approve ${code}`),
  );
}

/** Says above every view what is wrong with the page itself; with "" nothing is. */
function say(text: string): void {
  problem.replaceChildren(...(text === "" ? [] : [element("span", {}, ...withCommand(text))]));
}

function describe(error: unknown): string {
  return error instanceof FeedError
    ? error.message
    : "The daemon does not respond. To see why, type: tollkeeper doctor";
}

const frame = element(
  "div",
  { class: "frame" },
  themeButton(() => void show()),
  shortcutsButton((view) => (location.hash = formatState({ ...parseState(location.hash), view }))),
);
document.querySelector("header")?.append(sandboxBadge, age, nav, frame);
document.querySelector("#app")?.append(problem, approval, notices, main);
addEventListener("hashchange", showState);
addEventListener(NO_RECORD, (event) => say(describe(event)));
// The chart has the width of the page.
addEventListener("resize", () => (isOld = true));
setInterval(showAge, AGE_MS);
setInterval(() => {
  if (isOld && !document.hidden) void show();
}, RENEW_MS);

async function start(): Promise<void> {
  if (await removeWorkers()) {
    say(
      "An earlier program at this address left a service worker that could read this page. It is gone. Reload the page.",
    );
    return;
  }
  let isShown = false;
  await followLive({
    onCode(code) {
      showCode(code);
      if (code !== null || isShown) return;
      isShown = true;
      showState();
      // What is missing then is shown as soon as it can be read.
      live.loadLast().catch(() => {});
    },
    onEvent(event, data) {
      live.take(event, data);
      if (event === "entry") isOld = true;
    },
    onState(text) {
      const wasAway = problem.textContent !== "";
      say(text ?? "");
      isConnected = text === null;
      showAge();
      if (text === null && wasAway) void show();
    },
  });
}

void start();
