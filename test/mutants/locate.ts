import { tokenize, type Token } from "./tokens.ts";

/** An edit of source code. */
export interface Edit {
  find: string;
  replace: string;
}

/** Where the edit applies to a source. */
export interface Location {
  /** Offsets of the code to replace. */
  start: number;
  end: number;
  /** The edit's `replace` with the names that the source has now. */
  replacement: string;
  /** Names in the edit that have changed in the source, each as `old → new`. */
  renamed: string[];
}

/** The source does not contain the edit's code, or contains it more than once. */
export class NotLocated extends Error {}

/**
 * Finds the code that an edit replaces. Ignores whitespace, comments and trailing commas. Keywords, literals and
 * punctuation must be the same; names may differ, but must correspond one to one, and of several one must be the
 * same. Of several matches, the one with the most unchanged names is taken; two such matches are an error. A part of
 * a literal is found by its exact text.
 * Throws {@link NotLocated}.
 */
export function locate(source: string, edit: Edit): Location {
  const wanted = tokenize(edit.find) ?? [];
  const tokens = tokenize(source);
  if (tokens === null) throw new Error("the source cannot be split into tokens");
  const matches = wanted.length === 0 ? [] : tokens.flatMap((_, at) => matchAt(tokens, at, wanted) ?? []);
  if (matches.length === 0) return locateText(source, edit);
  const most = Math.max(...matches.map(({ kept }) => kept));
  const [best, another] = matches.filter(({ kept }) => kept === most);
  if (best === undefined || another !== undefined) {
    const lines = matches.map(({ start }) => source.slice(0, start).split("\n").length);
    throw new NotLocated(`found ${matches.length} times, in the lines ${lines.join(", ")}`);
  }
  return {
    start: best.start,
    end: best.end,
    replacement: renameIn(edit.replace, best.names),
    renamed: [...best.names].filter(([from, to]) => from !== to).map((pair) => pair.join(" → ")),
  };
}

/** Makes the edit. */
export function applyEdit(source: string, edit: Edit): string {
  const { start, end, replacement } = locate(source, edit);
  return source.slice(0, start) + replacement + source.slice(end);
}

interface Match {
  start: number;
  end: number;
  /** Names in the edit → names in the source. Properties include their dot. */
  names: Map<string, string>;
  /** The number of unchanged names. */
  kept: number;
}

/** Compares the tokens from `first` on with the wanted ones; null when they do not match. */
function matchAt(tokens: readonly Token[], first: number, wanted: readonly Token[]): Match | null {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  let at = first;
  let end = 0;
  for (const [i, token] of wanted.entries()) {
    if (isTrailingComma(wanted, i) && tokens[at]?.text !== ",") continue;
    if (token.text !== "," && isTrailingComma(tokens, at)) at += 1;
    const found = tokens[at];
    if (found === undefined || !isSameKind(token, found, i)) return null;
    if (token.kind === "fixed" ? found.text !== token.text : !correspond(token, found)) return null;
    end = found.end;
    at += 1;
  }
  const kept = [...names].filter(([from, to]) => from === to).length;
  // Code in which no name is the same is other code of the same form.
  if (kept === 0 && names.size > 1) return null;
  return { start: tokens[first]?.start ?? 0, end, names, kept };

  function correspond(token: Token, found: Token): boolean {
    const [from, to] = [keyOf({ ...token, kind: found.kind }), keyOf(found)];
    if (!names.has(from) && !taken.has(to)) {
      names.set(from, to);
      taken.add(to);
    }
    return names.get(from) === to;
  }
}

/** The first name of an edit may be a property: the dot before it is outside the edit. */
function isSameKind(token: Token, found: Token, index: number): boolean {
  return token.kind === found.kind || (index === 0 && token.kind === "name" && found.kind === "property");
}

/** True for a comma before a closing bracket, which a formatter may add or remove. */
function isTrailingComma(tokens: readonly Token[], at: number): boolean {
  return tokens[at]?.text === "," && /^[)\]}]$/.test(tokens[at + 1]?.text ?? "");
}

/** Keeps a property and a variable of the same name apart, because they are renamed independently. */
function keyOf(token: Token): string {
  return token.kind === "property" ? `.${token.text}` : token.text;
}

function renameIn(code: string, names: ReadonlyMap<string, string>): string {
  const tokens = tokenize(code);
  if (tokens === null) throw new Error(`not whole tokens: ${code}`);
  let renamed = "";
  let copied = 0;
  for (const [i, token] of tokens.entries()) {
    const name = names.get(keyOf(token)) ?? (i === 0 ? names.get(`.${token.text}`) : undefined);
    renamed += code.slice(copied, token.start) + (name?.replace(/^\./, "") ?? token.text);
    copied = token.end;
  }
  return renamed + code.slice(copied);
}

function locateText(source: string, { find, replace }: Edit): Location {
  const start = source.indexOf(find);
  if (start === -1) throw new NotLocated("not found");
  if (source.includes(find, start + 1)) throw new NotLocated("found more than once");
  return { start, end: start + find.length, replacement: replace, renamed: [] };
}
