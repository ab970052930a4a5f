/** A function of a profile, as V8 names it. */
interface ProfileNode {
  id: number;
  callFrame: { functionName: string; url: string };
  children?: number[];
}

/** What `node --cpu-prof` writes. */
export interface CpuProfile {
  nodes: ProfileNode[];
  /** The node of each sample. */
  samples: number[];
  /** Microseconds before each sample. */
  timeDeltas: number[];
}

/** A function with its time, and what it called. */
interface Frame {
  name: string;
  url: string;
  /** Microseconds. */
  time: number;
  calls: Map<string, Frame>;
}

/** Pixels. */
const WIDTH = 1200;
const ROW = 17;
const HEADER = 26;
const LETTER = 6.2;
/** Narrower functions are not drawn. */
const MIN_WIDTH = 1.2;

/** Draws a profile as a flame graph: a function's width is its share of the processor time, what it calls stands above it. */
export function drawFlameGraph(profile: CpuProfile, title: string): string {
  const root = mergeStacks(profile);
  const rectangles: string[] = [];
  const height = HEADER + depthOf(root, root.time) * ROW;
  place(root, 0, 0);
  const size = `width="${WIDTH}" height="${height}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="11">`,
    `<rect ${size} fill="#fff"/><text x="4" y="15">${escape(title)}</text>`,
    ...rectangles,
    "</svg>\n",
  ].join("\n");

  function place(frame: Frame, left: number, row: number): void {
    let x = left;
    for (const call of widestFirst(frame)) {
      const width = (call.time / root.time) * WIDTH;
      if (width >= MIN_WIDTH) {
        rectangles.push(rectangle(call, x, height - (row + 1) * ROW, width, call.time / root.time));
        place(call, x, row + 1);
      }
      x += width;
    }
  }
}

/** Adds up the samples by their stacks, without the time in which nothing ran. */
function mergeStacks({ nodes, samples, timeDeltas }: CpuProfile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const root: Frame = { name: "", url: "", time: 0, calls: new Map() };
  for (const [at, sample] of samples.entries()) {
    const stack: ProfileNode[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id)) {
      const node = byId.get(id);
      if (node !== undefined) stack.unshift(node);
    }
    // The first is V8's own root.
    const calls = stack.slice(1).map(({ callFrame }) => callFrame);
    if (calls[0]?.functionName === "(idle)") continue;
    const time = timeDeltas[at] ?? 0;
    root.time += time;
    let frame = root;
    for (const { functionName, url } of calls) {
      const name = functionName === "" ? "(anonymous)" : functionName;
      const call: Frame = frame.calls.get(name) ?? { name, url, time: 0, calls: new Map() };
      frame.calls.set(name, call);
      call.time += time;
      frame = call;
    }
  }
  return root;
}

function widestFirst({ calls }: Frame): Frame[] {
  return [...calls.values()].toSorted((one, other) => other.time - one.time);
}

/** How many functions that are wide enough stand upon one another. */
function depthOf({ calls }: Frame, whole: number): number {
  const drawn = [...calls.values()].filter(({ time }) => (time / whole) * WIDTH >= MIN_WIDTH);
  return drawn.length === 0 ? 0 : 1 + Math.max(...drawn.map((call) => depthOf(call, whole)));
}

function rectangle({ name, url }: Frame, x: number, y: number, width: number, share: number): string {
  const letters = Math.floor(width / LETTER);
  const label = name.length <= letters ? name : `${name.slice(0, letters - 1)}…`;
  const text =
    letters < 3 ? "" : `<text x="${(x + 2).toFixed(1)}" y="${y + ROW - 5}">${escape(label)}</text>`;
  const box = `x="${x.toFixed(1)}" y="${y}" width="${(width - 0.3).toFixed(1)}" height="${ROW - 1}"`;
  const words = `${escape(name)} ${(share * 100).toFixed(1)} %`;
  return `<g><title>${words}</title><rect ${box} fill="${colourOf(name, url)}"/>${text}</g>`;
}

/** Blue is tollkeeper, violet http-proxy-3, orange Node's own JavaScript, yellow built into V8 and Node, grey the system and collections. */
function colourOf(name: string, url: string): string {
  if (name.startsWith("(")) return "#c9c9c9";
  if (url.startsWith("node:")) return "#f2b37e";
  if (url.includes("/http-proxy-3/")) return "#b59be0";
  return url === "" ? "#e3d48b" : "#86b6e8";
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
