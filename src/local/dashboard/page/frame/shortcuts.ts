import { element } from "../elements.ts";
import { VIEWS, type View } from "../state.ts";

const KEY = "tollkeeper-shortcuts";
const OFF = "off";
/** Comes before the letter of a view. */
const GO = "g";
const SEARCH = "/";
const LIST = "?";
/** How long after `g` a letter is that of a view. */
const PAUSE_MS = 1_500;

const dialog = element("dialog", { ariaLabel: "keyboard shortcuts" });

/**
 * A button that lists the shortcuts, which work from now on. Keys without Ctrl disturb those who speak to their computer, so
 * they can be switched off (WCAG 2.2, 2.1.4).
 */
export function shortcutsButton(onView: (view: View) => void): HTMLElement {
  let goUntil = 0;
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (areShortcutsOff() || document.querySelector("dialog[open]") !== null) return;
    const view = event.timeStamp < goUntil ? VIEWS.find(([letter]) => letter === event.key) : undefined;
    goUntil = event.key === GO ? event.timeStamp + PAUSE_MS : 0;
    if (view !== undefined) onView(view);
    else if (event.key === LIST) list();
    else if (event.key === SEARCH) focusSearch(event);
  });
  return element(
    "button",
    { class: "quiet shortcuts", onclick: list, ariaLabel: "Keyboard shortcuts" },
    LIST,
  );
}

/** Whether keys without Ctrl do nothing. */
export function areShortcutsOff(): boolean {
  return localStorage.getItem(KEY) === OFF;
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input, select, textarea");
}

function focusSearch(event: Event): void {
  const box = document.querySelector<HTMLInputElement>("main input[type=search]");
  if (box === null) return;
  // The key would be typed into it.
  event.preventDefault();
  box.focus();
}

function list(): void {
  const isOff = areShortcutsOff();
  const toggle = () => {
    localStorage.setItem(KEY, isOff ? "on" : OFF);
    list();
  };
  const rows = [
    ...VIEWS.map((view) => [`${GO} ${view[0] ?? ""}`, view] as const),
    [SEARCH, "search, where the view has a search box"] as const,
    ["← →", "in a chart: from bar to bar; with Shift select several"] as const,
    ["Enter", "in a chart: zoom in"] as const,
    ["j k", "in a record: the next, the one before; also → ←"] as const,
    [LIST, "this list"] as const,
    ["Esc", "close this list"] as const,
  ];
  dialog.replaceChildren(
    element("button", { class: "close", onclick: () => dialog.close() }, "Close"),
    element("h2", {}, "Keyboard shortcuts"),
    element(
      "dl",
      { class: "keys" },
      ...rows.flatMap(([keys, meaning]) => [
        element("dt", {}, ...keys.split(" ").map((key) => element("kbd", {}, key))),
        element("dd", {}, meaning),
      ]),
    ),
    element("button", { onclick: toggle }, isOff ? "Switch them on" : "Switch them off"),
  );
  if (!dialog.isConnected) document.body.append(dialog);
  if (!dialog.open) dialog.showModal();
}
