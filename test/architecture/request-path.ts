import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

// Draws docs/request-path.svg from the imports of src. `npm run picture` writes it, and a test says when it is out of date.

const ROOT = fileURLToPath(new URL("../../src/", import.meta.url));
const IMPORT = /(?:^|\n)(?:import|export)\s+([^;"]*?\bfrom\s+)?"(\.[^"]+)"/g;

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

/** Where a request, or what is known of it, goes besides. */
const ASIDE: readonly Room[] = [
  { path: "proxy/refusals", does: ["What goes no", "further is refused"] },
  { path: "adapters/ledger-file.ts", does: ["One line for", "each attempt"] },
];

/** What a room calls of {@link ASIDE} without an import: an interface of `ports.ts`. */
const LEDGER = { call: /\bledger\.append\(/, path: "adapters/ledger-file.ts" };

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

const [WIDTH, HEIGHT] = [1200, 484];
const BOX = { height: 76, road: 156, rule: 148, aside: 172 };
const ASIDE_Y = 70;
const ROAD_Y = 206;
const RULES_Y = 390;
/** Where the two ways run between boxes, from the upper edge of the road. */
const WAY = { request: 26, response: 52 };
/** Where a response runs back to the tool: above the rooms that do not touch it. */
const BACK_Y = 182;
const [REQUEST, RESPONSE, THIN] = ["#2563eb", "#d97706", "#64748b"];

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
  for (const [at, { path }] of ASIDE.entries())
    places.set(path, { x: 330 + at * 420, y: ASIDE_Y, width: BOX.aside });
  const lines = ROAD.flatMap(({ path: from }) =>
    [...ASIDE, ...RULES].flatMap(({ path: to }) => {
      const how = imports.get(`${from} ${to}`);
      return how === undefined ? [] : [drawImport(placeOf(places, from), placeOf(places, to), how)];
    }),
  );
  const middle = ROAD_Y + BOX.height / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">`,
    "<title>How a request passes the rooms of the source and its response comes back, and which rules they ask</title>",
    `<defs>${[REQUEST, RESPONSE, THIN].map(defineHead).join("")}</defs>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="14" y="26" font-size="17" font-weight="600" fill="#0f172a">One request, and its response</text>`,
    `<text x="14" y="48" fill="#475569"><tspan fill="${REQUEST}" font-weight="600">Blue: the request.</tspan> <tspan fill="${RESPONSE}" font-weight="600">Orange: its response.</tspan> A thin line: a room calls another. Dashed: through an interface of ports.ts.</text>`,
    ...lines,
    ...drawWays(places),
    drawEnd(48, middle, "AI tool"),
    drawEnd(WIDTH - 48, middle, "API"),
    ...ASIDE.map((room) => drawRoom(room, placeOf(places, room.path), "#b45309", "#fffbeb")),
    ...ROAD.map((room) => drawRoom(room, placeOf(places, room.path), "#1d4ed8", "#eff6ff")),
    ...RULES.map((room) => drawRoom(room, placeOf(places, room.path), "#047857", "#ecfdf5")),
    `<text x="14" y="${RULES_Y - 14}" fill="#047857" font-weight="600">Pure rules</text>`,
    "</svg>",
    "",
  ].join("\n");
}

function defineHead(color: string): string {
  return `<marker id="${headOf(color)}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0 8 4 0 8z" fill="${color}"/></marker>`;
}

function headOf(color: string): string {
  return `a${color.slice(1)}`;
}

/** Draws the arrows of the request, from room to room, and those of the response: what receives it writes it to the tool. */
function drawWays(places: ReadonlyMap<string, Place>): string[] {
  const stops = ROAD.map(({ path }) => placeOf(places, path));
  const gaps = [90, ...stops.flatMap(({ x, width }) => [x, x + width]), WIDTH - 90];
  const request = stops.map((_, at) => [gaps[2 * at] ?? 0, gaps[2 * at + 1] ?? 0] as const);
  const last = [gaps.at(-2) ?? 0, gaps.at(-1) ?? 0] as const;
  const exchange = placeOf(places, "proxy/exchange");
  const refusals = placeOf(places, "proxy/refusals");
  const sent = [request.at(-1) ?? last, last];
  const toTool = ROAD_Y + 13;
  return [
    ...[...request, last].map(([from, to]) =>
      drawWay(`M${from + 4} ${ROAD_Y + WAY.request}H${to - 4}`, REQUEST),
    ),
    ...sent.map(([from, to]) => drawWay(`M${to - 4} ${ROAD_Y + WAY.response}H${from + 4}`, RESPONSE)),
    drawWay(`M${exchange.x + 20} ${ROAD_Y}V${BACK_Y}H66V${toTool}`, RESPONSE),
    drawWay(`M${refusals.x} ${refusals.y + BOX.height / 2}H30V${toTool}`, RESPONSE),
  ];
}

function drawWay(path: string, color: string): string {
  return `<path d="${path}" stroke="${color}" stroke-width="3" fill="none" marker-end="url(#${headOf(color)})"/>`;
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

/** How a room reaches another: by an import, or by an interface whose object it is given. */
type How = "import" | "interface";

/** Draws a line from a room of the road to one above or below it. */
function drawImport(from: Place, to: Place, how: How): string {
  const isAbove = to.y < from.y;
  const [x1, y1] = [from.x + from.width / 2, isAbove ? from.y : from.y + BOX.height];
  const [x2, y2] = [to.x + to.width / 2, isAbove ? to.y + BOX.height : to.y];
  const bend = (y2 - y1) / 2;
  const dashes = how === "interface" ? ' stroke-dasharray="5 4"' : "";
  return `<path d="M${round(x1)} ${y1}C${round(x1)} ${y1 + bend} ${round(x2)} ${y2 - bend} ${round(x2)} ${y2}" fill="none" stroke="${THIN}" stroke-width="1.2"${dashes} marker-end="url(#${headOf(THIN)})"/>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

/** Returns how each room reaches another, by `FROM TO`. An import of types alone calls nothing. */
function readImports(): Map<string, How> {
  const rooms = [...ROAD, ...ASIDE, ...RULES].map(({ path }) => path);
  const roomOf = (file: string) => rooms.find((room) => file === room || file.startsWith(`${room}/`));
  const found = new Map<string, How>();
  for (const file of readdirSync(ROOT, { recursive: true, encoding: "utf8" })) {
    const from = roomOf(file);
    if (from === undefined || !file.endsWith(".ts")) continue;
    const text = readFileSync(join(ROOT, file), "utf8");
    for (const [, names = "", specifier = ""] of text.matchAll(IMPORT)) {
      const to = roomOf(relative(ROOT, join(ROOT, dirname(file), specifier)));
      if (to !== undefined && to !== from && !names.startsWith("type ")) found.set(`${from} ${to}`, "import");
    }
    if (LEDGER.call.test(text)) found.set(`${from} ${LEDGER.path}`, "interface");
  }
  return found;
}
