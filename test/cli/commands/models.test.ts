import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { startDaemonWithUpstream } from "../../helpers/daemon/daemon-with-upstream.ts";
import { parseJsonOutput } from "../../helpers/daemon/json-output.ts";
import { startUpstream, type Script } from "../../helpers/upstream/scripted-upstream.ts";

/** Responds to `GET /models` with these entries. */
const listing =
  (...entries: object[]): Script =>
  (_, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ data: entries }));
  };

interface Model {
  id: string;
  upstream: string | null;
  contextWindow: number | null;
  pricesFrom: string | null;
  discountFactor: string | null;
  prices: { class: string; usd: string }[];
}

test("models lists what the daemon lists, with context length and prices where known", async (t) => {
  const { daemon } = await startDaemonWithUpstream(
    t,
    listing(
      { id: "claude-sonnet-5" },
      { id: "own-7b", context_length: 4096 },
      { id: "gpt-5", max_model_len: 9 },
    ),
    { config: { prices: { "own-*": { input: 0.5, output: 1 } } } },
  );
  const { code, stdout } = await daemon.command("models");
  assert.equal(code, 0);
  assert.match(stdout, /^model +upstream +context +input +cached +output +prices\n/);
  // The maker's list price, at a host that the price table does not know.
  assert.match(stdout, /\nclaude-sonnet-5 +default +1,000,000 +2 +0\.2 +10 +table\n/);
  assert.match(stdout, /\nown-7b +default +4,096 +0\.5 +1 +configuration\n/);
  // What the upstream says of its context counts before the table.
  assert.match(stdout, /\ngpt-5 +default +9 +1\.25 +0\.125 +10 +table\n/);
});

test("a model that no upstream lists is named with the nearest one, by each command that takes a model", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, listing({ id: "own-70b" }, { id: "gpt-5" }));
  const wrong = 'note: no upstream lists the model "own-7b0"; did you mean "own-70b"?\n';
  for (const line of [
    "route own-7b0",
    "prices own-7b0",
    "alias set fast own-7b0",
    "group set small --models own-7b0,own-*",
  ])
    assert.ok((await daemon.command(...line.split(" "))).stderr.endsWith(wrong), line);
  for (const line of ["route own-70b", "alias set fast own-70b", "group set small --models own-*,gpt-5"])
    assert.doesNotMatch((await daemon.command(...line.split(" "))).stderr, /did you mean/, line);
});

test("models --tool lists what that tool may use, and says what is unpriced, free or discounted", async (t) => {
  const free = await startUpstream(t, listing({ id: "qwen3" }));
  const paid = await startUpstream(t, listing({ id: "gpt-5" }, { id: "mystery" }));
  const daemon = await startDaemon(t, {
    config: {
      upstreams: {
        local: { baseUrl: free.baseUrl, auth: "none", models: ["qwen*"] },
        gateway: { baseUrl: paid.baseUrl, auth: "none", discount: 20, prices: { "gpt-5": { input: 1 } } },
      },
      tools: { zed: { upstreams: ["local"] } },
    },
  });
  const read = async (...args: string[]) =>
    (parseJsonOutput((await daemon.command("models", "--json", ...args)).stdout) as { models: Model[] })
      .models;
  assert.deepEqual(
    (await read()).map(({ id, upstream, pricesFrom, discountFactor }) => [
      id,
      upstream,
      pricesFrom,
      discountFactor,
    ]),
    [
      ["qwen3", "local", "free", null],
      ["gpt-5", "gateway", "configuration", "0.8"],
      ["mystery", "gateway", "free", null],
    ],
  );
  assert.deepEqual(
    (await read("--tool", "zed")).map(({ id }) => id),
    ["qwen3"],
  );
});

test("a model stands at the upstream that serves it on the API of its maker, with the discount there", async (t) => {
  const upstream = await startUpstream(t, listing({ id: "gpt-5" }, { id: "claude-sonnet-5" }));
  const { baseUrl } = upstream;
  const daemon = await startDaemon(t, {
    config: {
      upstreams: {
        anthropic: { baseUrl, auth: "none", apis: ["messages"], prices: { "*": { input: 1 } } },
        openai: {
          baseUrl,
          auth: "none",
          discount: 50,
          apis: ["responses", "chat"],
          prices: { "*": { input: 1 } },
        },
      },
    },
  });
  const { stdout } = await daemon.command("models", "--json");
  const { models } = parseJsonOutput(stdout) as { models: Model[] };
  const places = models.map((one) => [one.id, one.upstream, one.discountFactor] as const);
  assert.deepEqual(
    new Set(places.map(([id, ...place]) => `${id} ${place.join(" ")}`)),
    new Set(["gpt-5 openai 0.5", "claude-sonnet-5 anthropic "]),
  );
});

const page = (ids: string[], has_more: boolean) =>
  JSON.stringify({ data: ids.map((id) => ({ id })), has_more });

test("models asks for all pages of a list that has more", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, ({ url }, response) => {
    const isAll = url.includes("limit=1000");
    response
      .setHeader("content-type", "application/json")
      .end(isAll ? page(["one", "two"], false) : page(["one"], true));
  });
  const { stdout } = await daemon.command("models");
  assert.match(stdout, /\none +default/);
  assert.match(stdout, /\ntwo +default +unpriced\n/);
});

test("models without a daemon says how to start one, and takes no name that is none", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, listing());
  assert.match((await daemon.command("models")).stderr, /No upstream lists a model/);
  assert.equal((await daemon.command("models", "--tool", "../x")).code, 2);
  await daemon.stop();
  const { code, stderr } = await daemon.command("models");
  assert.equal(code, 1);
  assert.match(stderr, /^error: tollkeeper is not running\nhint: /);
});

test("models --tool lists what the tool's group allows, and says so", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, listing({ id: "gpt-5" }, { id: "gpt-5-mini" }), {
    config: { tools: { codex: { group: "small" } }, groups: { small: { models: ["*-mini"] } } },
  });
  const { stdout, stderr } = await daemon.command("models", "--tool", "codex");
  assert.match(stdout, /\ngpt-5-mini /);
  assert.doesNotMatch(stdout, /\ngpt-5 /);
  assert.match(
    stderr,
    /^Only what group small allows is listed: \*-mini; to change that, type: .*tollkeeper.* group set small --models PATTERN,\.\.\.$/m,
  );
  const free = await daemon.command("models");
  assert.match(free.stdout, /\ngpt-5 [^]*\ngpt-5-mini /);
  assert.equal(free.stderr, "");
});

test("models says of an upstream that does not list its models what key test says", async (t) => {
  const { daemon, upstream } = await startDaemonWithUpstream(t, listing());
  const respond = (script: Script) => upstream.respondWith(script);
  for (const [script, error] of [
    [
      (_, res) => res.setHeader("content-type", "text/html").end("<p>"),
      /^error: .* responded with a web page \(200\).*\nhint: see what responds: curl /,
    ],
    [
      (_, res) => res.writeHead(401).end("{}"),
      /^error: the key was rejected: .* responded with 401.*\nhint: if the key is wrong, /,
    ],
  ] as [Script, RegExp][]) {
    respond(script);
    const { code, stderr } = await daemon.command("models");
    assert.equal(code, 1);
    assert.match(stderr, error);
  }
  upstream.server.close();
  upstream.server.closeAllConnections();
  const { stderr } = await daemon.command("models");
  assert.match(stderr, /^error: cannot connect to http:.*: connection refused, ECONNREFUSED\nhint: /);
});

test("models that tollkeeper itself refuses to list name its reason", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, listing({ id: "gpt-5" }));
  await daemon.command("pause", "--all");
  const { code, stderr } = await daemon.command("models");
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: tollkeeper could not list the models: it responded with \d+: .*paused.*\nhint: /,
  );
});

test("asking for the models of a mistyped tool makes no tool of that name known", async (t) => {
  const { daemon } = await startDaemonWithUpstream(t, listing({ id: "gpt-5" }), {
    config: { tools: { nightly: {} } },
  });
  const guess = 'note: no tool called "codx" is known; did you mean "codex"?\n';
  for (const _ of [1, 2]) {
    const { code, stderr } = await daemon.command("models", "--tool", "codx");
    assert.equal(code, 0);
    assert.equal(stderr, guess);
  }
  assert.match((await daemon.command("pause", "codx")).stderr, /^error: no tool called "codx" is known/);
  await daemon.command("models", "--tool", "nightly");
  const tools = (await daemon.ledger()).map(({ tool }) => tool);
  assert.deepEqual(tools, ["tollkeeper", "tollkeeper", "nightly"]);
});
