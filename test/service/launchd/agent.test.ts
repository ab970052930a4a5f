import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { buildBinary, parse } from "plist";
import { Failure } from "../../../src/core/failure.ts";
import { parseAgent, renderAgent } from "../../../src/service/launchd/agent.ts";
import { NASTY, targetFor } from "./service-target.ts";

const TEMPLATE = fileURLToPath(new URL("../../../launchd/tollkeeper.plist", import.meta.url));
const hasPlistutil = spawnSync("plistutil", ["--help"]).error === undefined;
const withoutPlistutil = hasPlistutil ? false : "plistutil is not installed (Debian: libplist-utils)";

/** Converts to Apple's binary format and back with plistutil, whose exit code does not indicate errors. */
function throughPlistutil(t: TestContext, xml: string): unknown {
  const directory = mkdtempSync(join(tmpdir(), "tollkeeper-plist-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const input = join(directory, "in.xml");
  const binary = join(directory, "bin");
  const output = join(directory, "out.xml");
  writeFileSync(input, xml);
  spawnSync("plistutil", ["-i", input, "-o", binary, "-f", "bin"]);
  assert.ok(existsSync(binary), "plistutil cannot read it");
  spawnSync("plistutil", ["-i", binary, "-o", output, "-f", "xml"]);
  return parse(readFileSync(output, "utf8"));
}

test("the rendered definition has exactly the expected keys and typed values", () => {
  assert.deepEqual(parse(renderAgent(targetFor("/Users/ada"))), {
    Label: "tollkeeper",
    ProgramArguments: [
      "/Users/ada/Library/Application Support/tollkeeper/tollkeeper",
      "/Users/ada/Library/Logs/tollkeeper/start.log",
      "/opt/homebrew/opt/node/bin/node",
      "/opt/homebrew/lib/node_modules/tollkeeper/dist/main.js",
      "serve",
      "--log-file",
      "/Users/ada/Library/Logs/tollkeeper/tollkeeper.log",
      "--config",
      "/Users/ada/Library/Application Support/tollkeeper/config.jsonc",
    ],
    StandardOutPath: "/Users/ada/Library/Logs/tollkeeper/start.log",
    StandardErrorPath: "/Users/ada/Library/Logs/tollkeeper/start.log",
    EnvironmentVariables: {
      PATH: "/opt/homebrew/bin:/usr/local/bin:/opt/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
    },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ThrottleInterval: 10,
    ExitTimeOut: 40,
    ProcessType: "Interactive",
    Umask: 0o077,
    SoftResourceLimits: { NumberOfFiles: 8192 },
    HardResourceLimits: { Core: 0 },
  });
});

test("numbers are rendered as integers, as launchd requires", () => {
  const xml = renderAgent(targetFor("/Users/ada", { drainMs: 1_500 }));
  assert.match(xml, /<key>ExitTimeOut<\/key>\s*<integer>12<\/integer>/);
  assert.doesNotMatch(xml, /<real>/);
});

test("the rendered definition contains no placeholder of the template", () => {
  assert.match(readFileSync(TEMPLATE, "utf8"), /ABSOLUTE/);
  assert.doesNotMatch(renderAgent(targetFor("/Users/ada")), /ABSOLUTE/);
});

test("a custom configuration file and the session's variables are rendered, and PATH is kept", () => {
  const environment = { XDG_STATE_HOME: "/Users/ada/state" };
  const target = targetFor("/Users/ada", { configFile: "/Users/ada/t.jsonc", environment });
  const definition = parse(renderAgent(target)) as Record<string, Record<string, unknown> & unknown[]>;
  assert.deepEqual(definition["ProgramArguments"]?.slice(-2), ["--config", "/Users/ada/t.jsonc"]);
  assert.equal(definition["EnvironmentVariables"]?.["XDG_STATE_HOME"], "/Users/ada/state");
  assert.match(String(definition["EnvironmentVariables"]?.["PATH"]), /^\/opt\/homebrew\/bin:/);
});

test("paths with spaces, markup, quotes, dollars and non-Latin characters survive rendering and parsing", () => {
  const target = targetFor(NASTY, {
    node: `${NASTY}/bin/node`,
    script: `${NASTY}/main.js`,
    configFile: `${NASTY}/c.jsonc`,
    environment: { XDG_CONFIG_HOME: NASTY },
  });
  const xml = renderAgent(target);
  const { ProgramArguments: args, EnvironmentVariables: variables } = parse(xml) as Record<string, unknown>;
  const { launcher, node, script, logFile, configFile } = target;
  const startupLog = join(dirname(logFile), "start.log");
  const command = [node, script, "serve", "--log-file", logFile, "--config", configFile];
  assert.deepEqual(args, [launcher, startupLog, ...command]);
  assert.equal((variables as Record<string, unknown>)["XDG_CONFIG_HOME"], NASTY);
  assert.deepEqual(parseAgent(xml), { node, script, configFile, exitMs: 40_000, drainMs: 30_000 });
});

test("a path with a control character is refused with a hint", () => {
  assert.throws(
    () => renderAgent(targetFor("/Users/ada", { node: "/Users/\u0007/node" })),
    (error) =>
      error instanceof Failure &&
      /control character/.test(error.message) &&
      error.hint?.endsWith("run without a service: tollkeeper serve") === true,
  );
});

test("parseAgent reads definitions that start Node directly, as versions before the launcher wrote them", () => {
  const { launcher, ...target } = targetFor("/Users/ada");
  const { node, script, configFile } = target;
  const withLauncher = renderAgent({ launcher, ...target });
  const [first, second] = [launcher, "/Users/ada/Library/Logs/tollkeeper/start.log"];
  const direct = withLauncher.replaceAll(
    new RegExp(`\\s*<string>(?:${first}|${second})</string>(?=\\s*<string>)`, "g"),
    "",
  );
  assert.doesNotMatch(direct, new RegExp(first));
  assert.deepEqual(parseAgent(direct), { node, script, configFile, exitMs: 40_000, drainMs: 30_000 });
});

test("parseAgent returns null for anything but an XML property list, and null fields for missing values", () => {
  for (const text of ["", "not xml", "<plist><dict>", "<plist version='1.0'><array/></plist>"]) {
    assert.equal(parseAgent(text), null, text);
  }
  assert.equal(parseAgent(Buffer.from(buildBinary({ Label: "tollkeeper" })).toString("utf8")), null);
  const other =
    '<plist version="1.0"><dict><key>ProgramArguments</key><array><integer>1</integer></array></dict></plist>';
  const nothing = { node: null, script: null, configFile: null, exitMs: null, drainMs: null };
  assert.deepEqual(parseAgent(other), nothing);
});

test("plistutil parses the shipped template", { skip: withoutPlistutil }, (t) => {
  const template = readFileSync(TEMPLATE, "utf8");
  assert.deepEqual(throughPlistutil(t, template), parse(template));
});

for (const home of ["/Users/ada", NASTY]) {
  test(`plistutil parses the definition rendered for ${home}`, { skip: withoutPlistutil }, (t) => {
    const xml = renderAgent(targetFor(home, { node: `${home}/bin/node`, configFile: `${home}/c.jsonc` }));
    assert.deepEqual(throughPlistutil(t, xml), parse(xml));
  });
}

test("plistutil rejects a broken definition", { skip: withoutPlistutil }, (t) => {
  const broken = renderAgent(targetFor("/Users/ada")).replace("<true/>", "<truth/>");
  assert.throws(() => throughPlistutil(t, broken), /cannot read/);
});
