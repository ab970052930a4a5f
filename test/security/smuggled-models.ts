import { gzipSync } from "node:zlib";

/** A request whose body names `good` to tollkeeper, and `evil` or nothing at all to some other reader. */
export interface SmuggledModel {
  /** As docs/testing.md shows it: `…` stands for a long text, symbols such as `␊` for bytes that cannot be printed. */
  shown: string;
  /** What else there is to say about the request. */
  how?: string;
  /** The body in latin1, if it differs from what is shown. The text of `…` is a chunk by itself. */
  body?: string;
  contentType?: string;
  contentEncoding?: string;
  /** Who reads it otherwise. */
  reader: string;
}

/** Names a request in a line, as markdown. */
export function describe({ shown, how }: SmuggledModel): string {
  return `\`${shown}\`${how === undefined ? "" : ` ${how}`}`;
}

/** What stands for the `…` of a body: longer than what is read before the upstream is chosen. */
const FILL = "x".repeat(70_000);

/** Splits a body into the chunks in which it is sent. */
export function chunksOf({ shown, body = shown }: SmuggledModel): string[] {
  return body.split("…").flatMap((part, index) => (index === 0 ? [part] : [FILL, part]));
}

/** Bodies that begin well: their upstream has been chosen, and has received the beginning, when the trick arrives. */
export const LATE: readonly SmuggledModel[] = [
  {
    shown: '{"model":"good","input":"…","model":"evil"}',
    reader: "most decoders take the last of two members, some the first",
  },
  {
    shown: '{"model":"good","input":"…","mod\\u0065l":"evil"}',
    reader: "all decoders; a search of the text does not find it",
  },
  {
    shown: '{"model":"good","input":"…","MODEL":"evil"}',
    reader: "Go's encoding/json ignores case",
  },
  {
    shown: '{"model":"good","input":"…","model\\u0000":"evil"}',
    reader: "programs in C, whose strings end at a zero",
  },
  { shown: '{"model":"good","input":"…","model ":"evil"}', reader: "programs that trim names" },
  {
    shown: '{"model":"good","input":"…","mo␣del":"evil"}',
    body: '{"model":"good","input":"…","mo\u00e2\u0080\u008bdel":"evil"}',
    reader: "programs that drop a zero-width space (`␣`)",
  },
  {
    shown: '{"model":"good","input":"…","mod�el":"evil"}',
    body: '{"model":"good","input":"…","mod\u00ffel":"evil"}',
    reader: "decoders that drop a byte that is no UTF-8 (`�`)",
  },
  {
    shown: '{"model":"good","input":"…"}{"model":"evil"}',
    reader: "decoders of several values in a row",
  },
  {
    shown: '{"model":"good","input":"…"}␊{"model":"evil"}',
    body: '{"model":"good","input":"…"}\n{"model":"evil"}',
    reader: "decoders of a value on each line",
  },
  {
    shown: '{"model":"good","input":"…"}␀',
    body: '{"model":"good","input":"…"}\u0000',
    reader: "some decoders stop there, some refuse",
  },
  {
    shown: '{"model":"good","input":"…"}',
    how: "and 2,000 spaces",
    body: `{"model":"good","input":"…"}${" ".repeat(2_000)}`,
    reader: "none known; tollkeeper holds back 1 KB at most",
  },
  {
    shown: '{"model":"good","input":"…",/*"*/"model":"evil"/*"*/}',
    reader: "decoders that know comments, such as Jackson's",
  },
  {
    shown: '{"model":"good","input":"…",//"␊"model":"evil"}',
    body: '{"model":"good","input":"…",//"\n"model":"evil"}',
    reader: "decoders that know comments to the end of a line",
  },
  {
    shown: '{"model":"good","input":"…",#"␊"model":"evil"}',
    body: '{"model":"good","input":"…",#"\n"model":"evil"}',
    reader: "decoders that take YAML",
  },
  {
    shown: `{"model":"good","input":"…",'model':'evil'}`,
    reader: "decoders of JSON5, and Gson's lenient one",
  },
  { shown: '{"model":"good","input":"…",model:"evil"}', reader: "the same" },
  { shown: '{"model":"good","input":"…",,"model":"evil"}', reader: "lenient decoders" },
  { shown: '{"model":"good","input":"…" "model":"evil"}', reader: "lenient decoders" },
  {
    shown: '{"model":"good","input":"…","a":"\\x22","model":"evil"}',
    reader: "decoders that know JavaScript's escapes",
  },
  {
    shown: '{"model":"good","input":"…","a":"␊","model":"evil"}',
    body: '{"model":"good","input":"…","a":"\n","model":"evil"}',
    reader: "lenient decoders; Python's with strict=False",
  },
  { shown: '{"model":"good","input":"…","a":NaN,"model":"evil"}', reader: "Python's json" },
  { shown: '{"model":"good","input":"…","a":01,"model":"evil"}', reader: "lenient decoders" },
  {
    shown: '{"model":"good","input":"…","a":[1},"model":"evil"}',
    reader: "programs that only count brackets",
  },
  {
    shown: '{"model":"good","input":"…","a":[[ 600 deep ]],"model":"evil"}',
    body: `{"model":"good","input":"…","a":${"[".repeat(600)}${"]".repeat(600)},"model":"evil"}`,
    reader: "decoders differ in how deep they read",
  },
  {
    shown: '{"model":"good","input":"…"',
    reader: "decoders that complete what is cut off",
  },
];

/** Bodies that are refused before an upstream is chosen. */
export const EARLY: readonly SmuggledModel[] = [
  { shown: '{"model":"good","model":"evil"}', reader: "most decoders take the last" },
  { shown: '{"mod\\u0065l":"evil","model":"good"}', reader: "decoders that keep the first" },
  {
    shown: '{"model":"good"}',
    how: "after a byte order mark",
    body: '\u00ef\u00bb\u00bf{"model":"good"}',
    reader: "some skip it, some refuse",
  },
  {
    shown: '{"model":"good"}',
    how: "in UTF-16",
    body: Buffer.from('{"model":"good"}', "utf16le").toString("latin1"),
    reader: "Python's json guesses the encoding",
  },
  {
    shown: '{"model":"good","input":"+ACI-,+ACI-model+ACI-:+ACI-evil"}',
    how: "with `charset=utf-7`",
    contentType: "application/json; charset=utf-7",
    reader: "aiohttp decodes by the charset",
  },
  {
    shown: '{"model":"good","input":"+ACI-,+ACI-model+ACI-:+ACI-evil"}',
    how: "with `charset=utf-8; charset=utf-7`",
    contentType: "application/json; charset=utf-8; charset=utf-7",
    reader: "the last of two parameters",
  },
  {
    shown: '{"model":"good","model":"evil"}',
    how: "compressed with gzip",
    body: gzipSync('{"model":"good","model":"evil"}').toString("latin1"),
    contentEncoding: "gzip",
    reader: "everyone who decompresses; tollkeeper does not",
  },
  { shown: '[{"model":"good"},{"model":"evil"}]', reader: "services that take several requests at once" },
  { shown: '{"model":["good","evil"]}', reader: "services that take several models" },
  { shown: '{"model":{"good":1,"model":"evil"}}', reader: "services that look deeper" },
  { shown: '{"model":"good\\ud83d"}', reader: "decoders differ in what half a pair of surrogates becomes" },
  {
    shown: '{"model":"good�"}',
    body: '{"model":"good\u00ff"}',
    reader: "decoders differ in what a byte that is no UTF-8 becomes",
  },
  {
    shown: '{"model":"good…"}',
    how: "with 2,000 letters",
    body: `{"model":"good${"x".repeat(2_000)}"}`,
    reader: "services that cut names off",
  },
  { shown: '{"input":"hello"}', reader: "services with a default model" },
  { shown: '"good"', reader: "the same" },
];
