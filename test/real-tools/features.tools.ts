import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { CONNECTABLE_TOOLS } from "../../src/tools/all.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { runBounded } from "../helpers/process/run-bounded.ts";
import { installTool } from "../helpers/tools/real-tool.ts";
import { connect, expectSuccess, runConnected, runTollkeeper } from "./connect-tool.ts";
import { DIRECT_SETTINGS, directVariables } from "./direct.ts";
import { findSurprises } from "./explained.ts";
import { writeSeeds } from "./home-files.ts";
import { installLibrary, LIBRARIES } from "./libraries.ts";
import { describeOffer, type Offer } from "./offer.ts";
import { keepResult } from "./results.ts";
import { CONNECTED_TOOLS, type ConnectedTool } from "./tools.ts";
import { startVendors, type Vendors } from "./vendors.ts";

/** What a program asks of its service on both ways. */
interface Compared {
  direct: Offer;
  through: Offer;
}

for (const tool of CONNECTED_TOOLS) {
  test(`${tool.tool} asks for everything through tollkeeper that it asks for directly, except what docs/connecting.md explains`, async (t) => {
    const vendors = await startVendors(t);
    const daemon = await startDaemon(t, { config: vendors.config });
    const both: Compared[] = [];
    for (const { model } of tool.featureModels ?? tool.models) {
      const direct = await askDirectly(t, tool, model, vendors);
      if (direct === null) return;
      both.push({ direct, through: await askThrough(t, tool, model, vendors, daemon) });
    }
    const title = CONNECTABLE_TOOLS.find(({ name }) => name === tool.tool)?.title ?? tool.tool;
    assertExplained(`${tool.tool} ${tool.version}`, title, both);
  });
}

const [claudeCode] = CONNECTED_TOOLS;

test("claude-code --first-party asks for everything through tollkeeper that it asks for directly, except what docs/connecting.md explains", async (t) => {
  assert.ok(claudeCode);
  const vendors = await startVendors(t);
  const daemon = await startDaemon(t, { config: vendors.config });
  const model = "claude-opus-5-5";
  const direct = await askDirectly(t, claudeCode, model, vendors);
  if (direct === null) return;
  const through = await askThrough(t, claudeCode, model, vendors, daemon, ["--first-party"]);
  assertExplained("claude-code --first-party", "Claude Code --first-party", [{ direct, through }]);
});

for (const library of LIBRARIES) {
  const name = `${library.package}@${library.version}`;
  test(`${name} asks for everything through tollkeeper that it asks for directly`, async (t) => {
    const vendors = await startVendors(t);
    const ready = await installLibrary(t, library);
    if (ready === null) return;
    const { toolHome, command } = ready;
    const env = { ...toolHome.env, ...directVariables(vendors, library) };
    const direct = await offerOf(vendors, runBounded(t, command, { ...toolHome, env }));
    const daemon = await startDaemon(t, { config: vendors.config });
    const args = ["run", "--tool", "any", "--", ...command];
    const through = await offerOf(vendors, runTollkeeper(t, daemon, toolHome, ...args));
    assertExplained(name, library.package, [{ direct, through }]);
  });
}

/** Asks the tool, which is set up for the vendors themselves. Returns null, with the test skipped, where it cannot be installed. */
async function askDirectly(
  t: TestContext,
  tool: ConnectedTool,
  model: string,
  vendors: Vendors,
): Promise<Offer | null> {
  const installed = await installTool(t, tool);
  if (installed === null) return null;
  const settings = DIRECT_SETTINGS[tool.tool];
  assert.ok(settings, `direct.ts does not say how ${tool.tool} is used without tollkeeper`);
  const { seeds = {}, env = {}, args = [] } = settings(vendors, model);
  writeSeeds(installed.home, seeds);
  const toolHome = { ...installed, env: { ...installed.env, ...env } };
  return offerOf(vendors, runBounded(t, [tool.program, ...args, ...tool.prompt], toolHome));
}

/** Asks the tool in a home of its own, after `tollkeeper connect`. */
async function askThrough(
  t: TestContext,
  tool: ConnectedTool,
  model: string,
  vendors: Vendors,
  daemon: Daemon,
  options: readonly string[] = [],
): Promise<Offer> {
  const installed = await installTool(t, tool);
  assert.ok(installed);
  const setup = { t, tool, installed, daemon };
  await connect(setup, model, options);
  return offerOf(vendors, runConnected(setup));
}

/** Returns what a program asks for until it has answered the prompt. */
async function offerOf(vendors: Vendors, running: ReturnType<typeof runBounded>): Promise<Offer> {
  vendors.requests.length = 0;
  assert.match(await expectSuccess(running), /\[sandbox\] You said: [^]*hello/);
  return describeOffer(vendors.requests);
}

function assertExplained(program: string, title: string, both: readonly Compared[]): void {
  const surprises = findSurprises(title, joined(both, "direct"), joined(both, "through"));
  keepResult({ kind: "features", program, ...figuresOf(both) });
  assert.deepEqual(surprises, { lost: [], added: [], outdated: [] });
}

function joined(both: readonly Compared[], way: keyof Compared): Offer {
  return new Set(both.flatMap((one) => [...one[way]]));
}

function figuresOf(both: readonly Compared[]): Record<string, string> {
  const [direct, through] = [joined(both, "direct"), joined(both, "through")];
  return {
    "lines, direct": String(direct.size),
    "lines, through": String(through.size),
    "tools, direct": String([...direct].filter(isTool).length),
    "tools, through": String([...through].filter(isTool).length),
    "only direct": String([...direct].filter((line) => !through.has(line)).length),
    "only through": String([...through].filter((line) => !direct.has(line)).length),
  };
}

function isTool(line: string): boolean {
  return /(?:^|: )tool /.test(line);
}
