import { usualConfigFile } from "../../helpers/config/config-file.ts";
import assert from "node:assert/strict";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { managedMachine, noManagedConfig } from "../../helpers/config/managed-config.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const OLD_UMASK = 0o077;

/** A list as models.dev has it. */
const list = (input: number) =>
  JSON.stringify({
    anthropic: { models: { "claude-sonnet-9": { cost: { input, output: 15 } } } },
    nowhere: { models: { lost: { cost: { input: 1, output: 2 } } } },
  });

function prepare(t: TestContext) {
  const home = scratchDirectory(t);
  const file = usualConfigFile(home);
  const config = `{
  // My upstream.
  "upstreams": { "anthropic": { "baseUrl": "https://api.anthropic.com/v1" } },
}
`;
  writeFileSync(file, config, { mode: 0o600 });
  const prices = join(home, "models.json");
  writeFileSync(prices, list(3), { mode: 0o600 });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_RUNTIME_DIR: home };
  const run = (...args: string[]) => runProgram(["prices", ...args, "--config", file], { env });
  const kept = () => readdirSync(dirname(file)).filter((name) => name.startsWith("prices-"));
  return { home, file, config, prices, run, kept };
}

test("prices are shown before they are imported, kept beside the configuration, and undone exactly", async (t) => {
  const { file, config, prices, run, kept } = prepare(t);
  const before = await run("claude-sonnet-9");
  assert.equal(before.code, 1);
  const imported = await run("import", prices, "--yes");
  assert.equal(imported.code, 0, imported.stderr);
  assert.match(
    imported.stdout,
    /^prices +models\.json, as of \d{4}-\d{2}-\d{2}, in the format of models\.dev\n/,
  );
  assert.match(imported.stdout, /\nnew +1 model without a price so far\n/);
  assert.match(
    imported.stdout,
    /\nleft out +1 item, such as nowhere: 1 models of a service without an address\n/,
  );
  assert.match(imported.stdout, /\n\+ +"priceTable": "/);
  const [name = ""] = kept();
  assert.equal(statSync(join(dirname(file), name)).mode & OLD_UMASK, 0);
  const after = await run("claude-sonnet-9");
  assert.equal(after.code, 0);
  assert.match(
    after.stdout,
    /\nprices +anthropic\/claude-sonnet-9 in models\.json, as of \d{4}-\d{2}-\d{2}\n/,
  );
  const overview = await run();
  assert.match(overview.stdout, /\nimported +models\.json, as of \d{4}-\d{2}-\d{2}, 1 model\n/);
  const reset = await run("reset");
  assert.equal(reset.code, 0, reset.stderr);
  assert.equal(readFileSync(file, "utf8"), config);
  assert.deepEqual(kept(), []);
  const again = await run("reset");
  assert.equal(again.code, 1);
  assert.match(again.stderr, /does not set imported prices\n/);
});

test("a second import replaces the first", async (t) => {
  const { home, prices, run, kept } = prepare(t);
  await run("import", prices, "--yes");
  const first = kept();
  writeFileSync(join(home, "later.json"), list(4));
  const { code } = await run("import", join(home, "later.json"), "--yes");
  assert.equal(code, 0);
  assert.equal(kept().length, 1);
  assert.notDeepEqual(kept(), first);
  const { stdout } = await run("claude-sonnet-9");
  assert.match(stdout, /uncached input +4 /);
});

test("without a terminal nothing is taken unasked, and nothing is downloaded", async (t) => {
  const { prices, run, kept } = prepare(t);
  const asked = await run("import", prices);
  assert.equal(asked.code, 1);
  assert.match(
    asked.stderr,
    /^error: nothing was imported: .*\nhint: .*tollkeeper prices import .*models\.json --yes\n/,
  );
  for (const more of [[], ["--yes"]]) {
    const { code, stderr } = await run("import", "--url", "https://127.0.0.1:1/prices.json", ...more);
    assert.equal(code, 1);
    assert.match(stderr, /^error: nothing was downloaded: /);
  }
  const neither = await run("import");
  assert.equal(neither.code, 2);
  assert.deepEqual(kept(), []);
});

test("a file of another format changes nothing and says what is read", async (t) => {
  const { home, run, kept } = prepare(t);
  for (const text of ["no JSON", "[]", "{}", '{"a": 1}']) {
    writeFileSync(join(home, "other.json"), text);
    const { code, stderr } = await run("import", join(home, "other.json"), "--yes");
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^error: other\.json has no prices in a format that tollkeeper reads\nhint: .*LiteLLM/,
    );
  }
  assert.deepEqual(kept(), []);
});

test("imported prices that other users may change are not used, and it is said how to end that", async (t) => {
  const { file, prices, run, kept } = prepare(t);
  await run("import", prices, "--yes");
  const path = join(dirname(file), kept()[0] ?? "");
  chmodSync(path, 0o602);
  const { code, stdout, stderr } = await run("claude-sonnet-9");
  assert.equal(code, 1);
  assert.match(stdout, /\nprices +unpriced: /);
  assert.match(
    stderr,
    /^warning: the imported prices in .* are not used: other users can change it\nhint: chmod /,
  );
  chmodSync(path, 0o600);
  writeFileSync(path, "{");
  assert.match(
    (await run("claude-sonnet-9")).stderr,
    /are not used: it is no table of prices\nhint: tollkeeper prices reset\n/,
  );
});

test("where an administrator locks the table, none is imported", { skip: noManagedConfig }, async (t) => {
  const machine = managedMachine(t, '{ "locked": ["priceTable"] }\n');
  const { home, file, prices, kept } = prepare(t);
  const env = { PATH: process.env["PATH"], HOME: home, XDG_RUNTIME_DIR: home };
  const run = (...args: string[]) => machine.command(env, "prices", ...args, "--config", file);
  const { code, stderr } = await run("import", prices, "--yes");
  assert.equal(code, 1);
  assert.match(stderr, /priceTable/);
  assert.deepEqual(kept(), []);
  assert.ok(existsSync(prices));
});
