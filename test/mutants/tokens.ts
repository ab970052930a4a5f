/** A token of TypeScript, with what a comparison of code needs. */
export interface Token {
  /**
   * A `name`, a `property` (a name after a dot) and a `private` name can be renamed. All other tokens are `fixed`:
   * keywords, literals and punctuation.
   */
  kind: "name" | "property" | "private" | "fixed";
  text: string;
  /** Offsets of its first character and of the character after it. */
  start: number;
  end: number;
}

/** Words that a rename cannot change. */
const KEYWORDS = new Set(
  (
    "as async await break case catch class const continue default delete do else export extends false finally for " +
    "function if import in instanceof let new null of return static super switch this throw true try typeof " +
    "undefined void while yield"
  ).split(" "),
);

/** Keywords that are values. */
const VALUES = new Set(["false", "null", "super", "this", "true", "undefined"]);

const SKIPPED = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)+/y;
const NAME = /#?[\p{ID_Start}$_][\p{ID_Continue}$]*/uy;
const NUMBER = /\.?[0-9][\w.]*/y;
const STRING = /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y;
const REGULAR_EXPRESSION = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
/** A part of a template: from its start, or from the end of an expression, to the next expression or the end. */
const TEMPLATE_PART = /[`}](?:[^`\\$]|\\[^]|\$(?!\{))*(?:`|\$\{)/y;
const PUNCTUATION =
  />>>=|\.\.\.|===|!==|\*\*=|<<=|>>=|>>>|&&=|\|\|=|\?\?=|=>|[=!<>+\-*/%&|^]=|&&|\|\||\?\?|\?\.|\+\+|--|\*\*|<<|>>|[^"'`]/y;

/**
 * Splits TypeScript into tokens, without whitespace and comments. The code may be a fragment that begins and ends
 * between any two tokens. Returns null for a fragment that begins or ends inside a string or a template.
 */
export function tokenize(code: string): Token[] | null {
  const tokens: Token[] = [];
  /** The number of open braces in the current expression of each open template, the innermost last. */
  const openBraces: number[] = [];
  let start = 0;
  const read = (pattern: RegExp): string | null => {
    pattern.lastIndex = start;
    return pattern.exec(code)?.[0] ?? null;
  };
  const readTemplatePart = (): string | null => {
    const isContinued = openBraces.at(-1) === 0;
    const part = code[start] === "`" || (code[start] === "}" && isContinued) ? read(TEMPLATE_PART) : null;
    if (part?.startsWith("}")) openBraces.pop();
    if (part?.endsWith("${")) openBraces.push(0);
    return part;
  };
  const readPunctuation = (): string | null => {
    const mark = read(PUNCTUATION);
    const open = openBraces.pop();
    if (open !== undefined) openBraces.push(open + (mark === "{" ? 1 : 0) - (mark === "}" ? 1 : 0));
    return mark;
  };
  for (;;) {
    start += read(SKIPPED)?.length ?? 0;
    if (start === code.length) return openBraces.length === 0 ? tokens : null;
    const before = tokens.at(-1);
    const name = read(NAME);
    const text =
      name ??
      read(NUMBER) ??
      read(STRING) ??
      readTemplatePart() ??
      (isValueEnd(before) ? null : read(REGULAR_EXPRESSION)) ??
      readPunctuation();
    if (text === null) return null;
    const kind = name === null ? "fixed" : kindOfName(name, before);
    tokens.push({ kind, text, start, end: start + text.length });
    start += text.length;
  }
}

function kindOfName(name: string, before: Token | undefined): Token["kind"] {
  if (name.startsWith("#")) return "private";
  if (before?.text === "." || before?.text === "?.") return "property";
  return KEYWORDS.has(name) ? "fixed" : "name";
}

/** True when a slash after the token is a division. After any other token it starts a regular expression. */
function isValueEnd(token: Token | undefined): boolean {
  if (token === undefined) return false;
  return token.kind !== "fixed" || VALUES.has(token.text) || /^["'\d)\]}]|^\.\d|[`]$/.test(token.text);
}
