import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

// Draws docs/request-path.svg from the imports of src. `npm run picture` writes it, and a test says when it is out of date.

const ROOT = fileURLToPath(new URL("../../src/", import.meta.url));
const IMPORT = /(?:^|\n)(?:import|export)\s+(?:type\s)?(?:[^;"]*?\bfrom\s+)?"(\.[^"]+)"/g;

/** A room of the source: a file, or a folder with all that is below it. */
interface Room {
  path: string;
  /** What it does with a request, in two lines. */
  does: readonly [string, string];
}

/** In the order in which a request passes them. */
const ROAD: readonly Room[] = [
  { path: "proxy/client", does: ["Who connects,", "and which tool is it?"] },
  { path: "proxy/gate.ts", does: ["Each step of", "a request, in order"] },
  { path: "proxy/sender.ts", does: ["To one upstream, or", "to the next one"] },
  { path: "proxy/exchange", does: ["The request, its", "response, its record"] },
  { path: "proxy/upstream", does: ["Connections to", "the APIs"] },
];

/** The rules that they ask. All are pure: no input, no output, no clock. */
const RULES: readonly Room[] = [
  { path: "core/identity", does: ["Which tool", "is it?"] },
  { path: "core/http", does: ["What comes in,", "and what passes?"] },
  { path: "core/decide", does: ["Which upstream?", "May it, and why?"] },
  { path: "core/policy", does: ["Groups, brakes,", "pauses, aliases"] },
  { path: "core/refusals", does: ["What went wrong,", "and what to type"] },
  { path: "core/usage", does: ["What did it use?", ""] },
  { path: "core/ledger", does: ["What a record has,", "and how it adds up"] },
];

const [WIDTH, HEIGHT] = [1200, 384];
const BOX = { height: 76, road: 156, rule: 148 };
const ROAD_Y = 96;
const RULES_Y = 286;

interface Place {
  x: number;
  y: number;
  width: number;
}

/** Returns the picture as SVG. */
export function drawRequestPath(): string {
  const imports = readImports();
  const places = new Map<string, Place>();
  const roadStep = (WIDTH - 2 * 118 - BOX.road) / (ROAD.length - 1);
  const ruleStep = (WIDTH - 2 * 14 - BOX.rule) / (RULES.length - 1);
  for (const [at, { path }] of ROAD.entries())
    places.set(path, { x: 118 + at * roadStep, y: ROAD_Y, width: BOX.road });
  for (const [at, { path }] of RULES.entries())
    places.set(path, { x: 14 + at * ruleStep, y: RULES_Y, width: BOX.rule });
  const lines = ROAD.flatMap(({ path: from }) =>
    RULES.filter(({ path: to }) => imports.has(`${from} ${to}`)).map(({ path: to }) =>
      drawImport(placeOf(places, from), placeOf(places, to)),
    ),
  );
  const middle = ROAD_Y + BOX.height / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    "<title>How a request passes the rooms of the source, and which rules they ask</title>",
    `<defs><marker id="a" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#64748b"/></marker></defs>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="14" y="26" font-size="17" font-weight="600" fill="#0f172a">One request, from left to right</text>`,
    `<text x="14" y="48" fill="#475569">The broad line is the way of the request, and back that of the response. A thin line: the upper room asks the lower one.</text>`,
    `<path d="M70 ${middle}H${WIDTH - 70}" stroke="#bfdbfe" stroke-width="26" fill="none"/>`,
    ...lines,
    drawEnd(48, middle, "AI tool"),
    drawEnd(WIDTH - 48, middle, "API"),
    ...ROAD.map((room) => drawRoom(room, placeOf(places, room.path), "#1d4ed8", "#eff6ff")),
    ...RULES.map((room) => drawRoom(room, placeOf(places, room.path), "#047857", "#ecfdf5")),
    `<text x="14" y="${RULES_Y - 14}" fill="#047857" font-weight="600">Pure rules</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function placeOf(places: ReadonlyMap<string, Place>, path: string): Place {
  const place = places.get(path);
  if (place === undefined) throw new Error(`${path} has no place`);
  return place;
}

function drawRoom({ path, does }: Room, { x, y, width }: Place, color: string, fill: string): string {
  const center = round(x + width / 2);
  const text = (dy: number, words: string, more: string) =>
    `<text x="${center}" y="${y + dy}" text-anchor="middle" ${more}>${words}</text>`;
  return [
    `<rect x="${round(x)}" y="${y}" width="${width}" height="${BOX.height}" rx="8" fill="${fill}" stroke="${color}"/>`,
    text(23, path, `font-weight="600" fill="${color}"`),
    text(45, does[0], 'fill="#334155"'),
    text(62, does[1], 'fill="#334155"'),
  ].join("");
}

function drawEnd(x: number, y: number, name: string): string {
  return (
    `<ellipse cx="${x}" cy="${y}" rx="42" ry="26" fill="#f8fafc" stroke="#64748b"/>` +
    `<text x="${x}" y="${y + 5}" text-anchor="middle" font-weight="600" fill="#0f172a">${name}</text>`
  );
}

function drawImport(from: Place, to: Place): string {
  const [x1, y1, x2, y2] = [from.x + from.width / 2, from.y + BOX.height, to.x + to.width / 2, to.y];
  const bend = (y2 - y1) / 2;
  return `<path d="M${round(x1)} ${y1}C${round(x1)} ${y1 + bend} ${round(x2)} ${y2 - bend} ${round(x2)} ${y2}" fill="none" stroke="#94a3b8" stroke-width="1.2" marker-end="url(#a)"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Returns `FROM TO` for each room that imports another, types included. */
function readImports(): Set<string> {
  const rooms = [...ROAD, ...RULES].map(({ path }) => path);
  const roomOf = (file: string) => rooms.find((room) => file === room || file.startsWith(`${room}/`));
  const found = new Set<string>();
  for (const file of readdirSync(ROOT, { recursive: true, encoding: "utf8" })) {
    const from = roomOf(file);
    if (from === undefined || !file.endsWith(".ts")) continue;
    for (const [, specifier = ""] of readFileSync(join(ROOT, file), "utf8").matchAll(IMPORT)) {
      const to = roomOf(relative(ROOT, join(ROOT, dirname(file), specifier)));
      if (to !== undefined && to !== from) found.add(`${from} ${to}`);
    }
  }
  return found;
}
