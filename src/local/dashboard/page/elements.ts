import { writeOwnCommands } from "../../../core/text/own-commands.ts";
import { toPrintable } from "../../../core/text/printable.ts";

/** What an element contains. Text becomes text, and never markup; what would reorder or hide it is made visible. */
type Content = Node | string | null;

interface Properties {
  class?: string;
  title?: string;
  href?: string;
  type?: string;
  value?: string;
  selected?: boolean;
  disabled?: boolean;
  onclick?: () => void;
  onchange?: (value: string) => void;
  scope?: "col" | "row" | "rowgroup";
  role?: string;
  tabIndex?: number;
  ariaLabel?: string;
  ariaLive?: "polite";
  ariaHidden?: "true";
  /** What has no property of its own, such as data attributes. */
  attributes?: Readonly<Record<string, string>>;
}

/** Characters. Titles contain names that other programs choose. */
const MOST_TITLE = 200;

/** `--config FILE` where the daemon uses another configuration than the usual one; "" otherwise. */
const CONFIG_OPTION = document.querySelector<HTMLMetaElement>('meta[name="config-option"]')?.content ?? "";

/** Returns a text with its commands as a person has to type them, so that they act on the daemon's configuration. */
function asTyped(text: string): string {
  if (CONFIG_OPTION === "" || !text.includes("tollkeeper ")) return text;
  return writeOwnCommands(text, "tollkeeper", CONFIG_OPTION);
}

/** Creates an element. Commands in its text are written as a person has to type them. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  { attributes = {}, onchange, class: className, title, ...properties }: Properties = {},
  ...contents: readonly Content[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  Object.assign(created, properties);
  if (className !== undefined) created.className = className;
  if (title !== undefined) created.title = toPrintable(title).slice(0, MOST_TITLE);
  for (const [name, value] of Object.entries(attributes)) created.setAttribute(name, value);
  if (onchange !== undefined)
    created.addEventListener("change", () => onchange((created as unknown as HTMLInputElement).value));
  for (const content of contents)
    if (content !== null)
      created.append(typeof content === "string" ? toPrintable(asTyped(content)) : content);
  return created;
}

/** Replaces the contents of an element. If one of its controls had the focus, the control of the same name gets it. */
export function replaceContents(parent: HTMLElement, ...contents: readonly HTMLElement[]): void {
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  parent.replaceChildren(...contents);
  if (focused === null) return;
  const controls = [...parent.querySelectorAll<HTMLElement>("a[href], button, select, input, [tabindex]")];
  const next = controls.find(
    (control) => control.tagName === focused.tagName && nameOf(control) === nameOf(focused),
  );
  (next ?? controls.find(({ tagName }) => tagName !== "A"))?.focus();
}

/** What a control is called in the page; a chart is called by its role, as it has another title in another period. */
function nameOf(control: Element): string | null {
  return control.getAttribute("role") ?? (control.closest("label") ?? control).textContent;
}

/** A command in pieces, so that its lines break before its options only: what is typed from the page has each option whole. */
function piecesOf(command: string): Content[] {
  const pieces = asTyped(command).split(/ (?=--)/);
  if (pieces.length === 1) return [command];
  return pieces.flatMap((piece, at) => {
    const part = element("span", { class: "option" });
    part.textContent = toPrintable(piece);
    return at === 0 ? [part] : [" ", part];
  });
}

const COPIED_MS = 2_000;

/** A command, with a button that copies it. */
export function copyable(command: string): HTMLElement {
  return element("div", { class: "copyable" }, element("pre", {}, ...piecesOf(command)), copyButton(command));
}

function copyButton(command: string): HTMLElement {
  const copy = element("button", { class: "copy", onclick: () => void copyText() }, "Copy");
  const copyText = async () => {
    await navigator.clipboard.writeText(asTyped(command));
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy"), COPIED_MS);
  };
  return copy;
}

/** A text for {@link element}: if it ends with a command to type, that stands out. */
export function withCommand(text: string): (Node | string)[] {
  const found = commandIn(text);
  return found === null ? [text] : [found.words, element("code", {}, ...piecesOf(found.command))];
}

/** The same, with a button that copies the command. They stay in one line, if that has room for them. */
export function withCopiedCommand(text: string): (Node | string)[] {
  const found = commandIn(text);
  if (found === null) return [text];
  const { words, command } = found;
  return [
    words,
    element("span", { class: "typed" }, element("code", {}, ...piecesOf(command)), copyButton(command)),
  ];
}

function commandIn(text: string): { words: string; command: string } | null {
  const [, words, command] = /^(.*\b(?:type|price|go on): )(tollkeeper .*)$/s.exec(text) ?? [];
  return words === undefined || command === undefined ? null : { words, command };
}

/** A drop-down list; `onchange` gets the chosen value. */
export function choice<Value extends string>(
  label: string,
  values: readonly (readonly [value: Value, text: string])[],
  chosen: Value,
  onchange: (value: Value) => void,
): HTMLElement {
  const options = values.map(([value, text]) =>
    element("option", { value, selected: value === chosen }, text),
  );
  const onText = (text: string) => {
    const value = values.find(([known]) => known === text)?.[0];
    if (value !== undefined) onchange(value);
  };
  return element("label", {}, `${label} `, element("select", { onchange: onText }, ...options));
}

/** A figure with its title and remarks, each of one or several parts. */
export function card(
  title: string,
  value: string,
  ...details: readonly (string | readonly Content[])[]
): HTMLElement {
  return element(
    "div",
    { class: "card" },
    element("h2", {}, title),
    element("strong", {}, value),
    ...details.map((detail) => element("small", {}, ...(typeof detail === "string" ? [detail] : detail))),
  );
}
