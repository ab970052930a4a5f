import * as fc from "fast-check";

/** The choices that the grammar leaves for writing one event. */
interface Style {
  /** Its `event` line: none, the type, or something else, which the type in the data overrides. */
  name: "none" | "type" | "other";
  nameStandsLast: boolean;
  space: "" | " ";
  /** Indentation of the JSON text. With line ends in it, the data takes several lines. */
  indent: string;
  typeStandsLast: boolean;
  /** An unknown member before the others. */
  extra: unknown;
  /** White space before the closing brace, as providers send it. */
  padding: string;
  /** Lines before the event that must be ignored. */
  noise: string[];
}

/** How a stream is written. */
export interface Framing {
  lineEnd: string;
  bom: string;
  /** Used in turn. */
  styles: Style[];
}

/** An event to be written. */
export interface StreamEvent {
  type: string;
  [name: string]: unknown;
}

const style: fc.Arbitrary<Style> = fc.record({
  name: fc.constantFrom("none", "type", "other"),
  nameStandsLast: fc.boolean(),
  space: fc.constantFrom("", " "),
  indent: fc.constantFrom("", "", "  ", "\t"),
  typeStandsLast: fc.boolean(),
  extra: fc.option(fc.jsonValue(), { nil: undefined }),
  padding: fc.constantFrom("", "", "   "),
  noise: fc.array(fc.constantFrom(":", ": OPENROUTER PROCESSING", "id: 7", "retry: 3", "datum: {}", "x"), {
    maxLength: 2,
  }),
});

export const framing: fc.Arbitrary<Framing> = fc.record({
  lineEnd: fc.constantFrom("\n", "\r\n", "\r"),
  bom: fc.constantFrom("", "\u{feff}"),
  styles: fc.array(style, { minLength: 1, maxLength: 4 }),
});

/** A written stream, and for each event the number of bytes after which its JSON is complete. */
export interface Written {
  body: Buffer;
  ends: number[];
}

/** Writes the events as a `text/event-stream` (WHATWG HTML, "server-sent events"). */
export function writeStream(events: readonly StreamEvent[], { lineEnd, bom, styles }: Framing): Written {
  let text = bom;
  const ends: number[] = [];
  for (const [i, event] of events.entries()) {
    const chosen = styles[i % styles.length];
    if (chosen === undefined) continue;
    const { name, nameStandsLast, space, noise } = chosen;
    const nameLine =
      name === "none" ? "" : `event:${space}${name === "type" ? event.type : "message"}${lineEnd}`;
    text += noise.map((line) => line + lineEnd).join("");
    if (!nameStandsLast) text += nameLine;
    text += dataLines(event, chosen)
      .map((line) => `data:${space}${line}`)
      .join(lineEnd);
    ends.push(Buffer.byteLength(text));
    text += lineEnd;
    if (nameStandsLast) text += nameLine;
    text += lineEnd;
  }
  return { body: Buffer.from(text), ends };
}

function dataLines(event: StreamEvent, { typeStandsLast, extra, indent, padding }: Style): string[] {
  const { type, ...rest } = event;
  const members = extra === undefined ? rest : { x_extra: extra, ...rest };
  const ordered = typeStandsLast ? { ...members, type } : { type, ...members };
  return JSON.stringify(ordered, null, indent).replace(/\}$/, `${padding}}`).split("\n");
}
