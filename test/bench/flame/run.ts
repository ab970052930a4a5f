// `npm run bench:flame -- FILE [--program PATH] [--title TEXT]`: draws where the daemon's processor time goes during small requests on 16
// connections, as a flame graph in SVG. `--program` names the main.js of another build, to compare with.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Cleanup } from "../cleanup.ts";
import { measureLoad } from "../measure.ts";
import { SMALL_BODY_BYTES } from "../request.ts";
import { openSite, type Site } from "../site.ts";
import { Subject } from "../subject.ts";
import { tollkeeper } from "../targets/tollkeeper.ts";
import { waitForExit } from "../../helpers/process/processes.ts";
import { drawFlameGraph, type CpuProfile } from "./draw.ts";

const LOAD_MS = 10_000;
/** What is drawn: the last part of the load, when the code is warm. */
const DRAWN_MS = 5_000;

/** Runs a Node program with a profile that is written to the directory when it ends; another program instead, if one is named. */
const PROFILED = `directory=$1 other=$2 node=$3 program=$4; shift 4
exec "$node" --cpu-prof --cpu-prof-dir="$directory" "\${other:-$program}" "$@"`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { program: { type: "string" }, title: { type: "string" } },
});
const [file] = positionals;
if (file === undefined) throw new Error("name the file to write: npm run bench:flame -- FILE.svg");

const cleanup = new Cleanup();
try {
  const profile = await profileDaemon(await openSite(cleanup));
  writeFileSync(file, drawFlameGraph(profile, values.title ?? "tollkeeper: small requests, 16 connections"));
} finally {
  await cleanup.run();
}

async function profileDaemon(site: Site): Promise<CpuProfile> {
  const launcher = [
    ...site.placement.launcher,
    "/bin/sh",
    "-c",
    PROFILED,
    "sh",
    site.directory,
    values.program ?? "",
  ];
  const subject = await Subject.start(tollkeeper, { ...site, placement: { ...site.placement, launcher } });
  const load = { response: "json", bodyBytes: SMALL_BODY_BYTES, connections: 16, isFresh: false } as const;
  await measureLoad(site, subject, { ...load, requests: 1_000_000, forMs: LOAD_MS });
  const [pid = 0] = subject.pids;
  process.kill(pid, "SIGTERM");
  await waitForExit(pid);
  const [name = ""] = readdirSync(site.directory).filter((one) => one.endsWith(".cpuprofile"));
  return lastPart(JSON.parse(readFileSync(join(site.directory, name), "utf8")) as CpuProfile);
}

function lastPart({ nodes, samples, timeDeltas }: CpuProfile): CpuProfile {
  let from = samples.length;
  for (let us = 0; from > 0 && us < DRAWN_MS * 1_000; from -= 1) us += timeDeltas[from - 1] ?? 0;
  return { nodes, samples: samples.slice(from), timeDeltas: timeDeltas.slice(from) };
}
