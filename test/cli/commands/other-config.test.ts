// A command that reads or changes another configuration file than the running daemon's says so, and says nothing of the daemon's.
import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import type { Script } from "../../helpers/upstream/scripted-upstream.ts";

const LISTING: Script = (_, response) => {
  response
    .setHeader("content-type", "application/json")
    .end(JSON.stringify({ data: [{ id: "m1" }, { id: "m3" }] }));
};

const LINES = [
  "route m2",
  "prices m2",
  "usage",
  "group",
  "alias",
  "brake",
  "group set small --models m2",
  "config set listen.port 8700",
  "brake set codex gentle",
];

test("a command that reads or changes another configuration than the running daemon's says so in one line", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, LISTING);
  const other = join(daemon.home, "other.jsonc");
  writeFileSync(other, "{}", { mode: 0o600 });
  const remark = `note: this is about ${other}, but the running daemon uses another file; to use that, add: --config ${daemon.configFile}\n`;
  for (const line of LINES) {
    const { stderr } = await runProgram([...line.split(" "), "--config", other], daemon);
    assert.equal(stderr.split(remark).length, 2, `${line}: ${stderr}`);
    // Its upstreams are not the daemon's.
    assert.doesNotMatch(stderr, /no upstream lists/, line);
  }
  const oneLine = await runProgram(["usage", "--oneline", "--config", other], daemon);
  assert.equal(oneLine.stderr, "");
  for (const line of LINES)
    assert.doesNotMatch((await daemon.command(...line.split(" "))).stderr, /this is about/, line);
});

test("route does not claim that an upstream serves a model which the upstream does not list", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, LISTING);
  const { stdout, stderr } = await daemon.command("route", "m2", "--api", "messages");
  assert.match(stdout, / → default[^]*\(messages/);
  assert.match(stderr, /^note: no upstream lists the model "m2"; did you mean "m1"\?\n$/);
});

test("the hint of the metrics and the page name the configuration that the daemon was started with", async (t) => {
  const daemon = await startDaemon(t, { env: { XDG_CONFIG_HOME: "/nonexistent" } });
  const option = `--config ${daemon.configFile}`;
  const metrics = await fetch(`${daemon.url}/_tollkeeper/metrics`);
  assert.match(await metrics.text(), new RegExp(`type: tollkeeper ${option} config set export.metrics`));
  // A browser's own headers: fetch would send others.
  const headers = {
    accept: "text/html",
    "sec-fetch-site": "none",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  const [response] = (await once(get(daemon.url, { headers }), "response")) as [IncomingMessage];
  const page = await text(response);
  assert.match(page, new RegExp(`<meta name="config-option" content="${option}">`));
  assert.match(page, new RegExp(`type: tollkeeper ${option} usage</noscript>`));
});
