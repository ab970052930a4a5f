#!/usr/bin/env node
import "./daemon/no-inspector.ts";
import { explainOldNode } from "./required-node.ts";

// What the program is started by, in dist as main.js. It imports nothing of Node's, so that every version can load it.

const problem = explainOldNode();
if (problem === null) await import("./main.ts");
else {
  process.stderr.write(`error: ${problem}\n`);
  process.exitCode = 1;
}
