import assert from "node:assert/strict";
import { test } from "node:test";
import { drawFlameGraph } from "./draw.ts";

const frame = (functionName: string, url = "") => ({ callFrame: { functionName, url } });

const PROFILE = {
  nodes: [
    { id: 1, ...frame("(root)"), children: [2, 3, 5] },
    { id: 2, ...frame("(idle)") },
    { id: 3, ...frame("<serve>", "file:///dist/main.js"), children: [4] },
    { id: 4, ...frame("write", "node:net") },
    { id: 5, ...frame("(garbage collector)") },
  ],
  samples: [2, 3, 4, 4, 5],
  timeDeltas: [5_000, 100, 100, 200, 100],
};

test("a function is as wide as its share of the time in which something ran, with what it calls above it", () => {
  const drawn = drawFlameGraph(PROFILE, "a & b");
  const boxes = [...drawn.matchAll(/<title>(.*?)<\/title><rect x="(.*?)" y="(.*?)" width="(.*?)"/g)];
  assert.deepEqual(
    boxes.map(([, ...box]) => box),
    [
      ["&#60;serve&#62; 80.0 %", "0.0", "43", "959.7"],
      ["write 60.0 %", "0.0", "26", "719.7"],
      ["(garbage collector) 20.0 %", "960.0", "43", "239.7"],
    ],
  );
  assert.match(drawn, /viewBox="0 0 1200 60"/);
  assert.match(drawn, /a &#38; b/);
});
