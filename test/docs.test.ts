// What the pages say: their links lead somewhere, and they describe every field that programs read.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CSV_HEADER } from "../src/core/ledger/export/csv-columns.ts";
import { waitUntil } from "./helpers/async/wait-until.ts";
import { DAY, ledgerWithOutliers } from "./helpers/digest/ledger-with-outliers.ts";
import { homeWithLedger } from "./helpers/ledger/home-with-ledger.ts";
import { startDaemon } from "./helpers/daemon/daemon.ts";
import { describeMessage, SMUGGLED_MESSAGES } from "./security/smuggled-messages.ts";
import { describe, EARLY, LATE, type SmuggledModel } from "./security/smuggled-models.ts";

const ROOT = fileURLToPath(new URL("../", import.meta.url));
/** Folders beside the pages have files that these link to. */
function pagesOf(folder: string): string[] {
  return readdirSync(join(ROOT, folder)).filter((name) => name.endsWith(".md"));
}

const PAGES = ["README.md", ".github/CONTRIBUTING.md", ".github/SECURITY.md"].concat(
  pagesOf("docs").map((name) => `docs/${name}`),
);

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** Removes code, whose brackets and number signs mean something else. */
const withoutCode = (markdown: string) => markdown.replaceAll(/^```[^]*?^```$/gm, "");

/** Returns the anchors that hosts of repositories give to the headings of a page. */
function anchorsOf(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

/** Says what is wrong with a relative link; null when it leads somewhere. */
function explainLink(page: string, link: string): string | null {
  const [path = "", anchor] = link.split("#", 2);
  const target = path === "" ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return `${page}: there is no ${target}`;
  if (anchor === undefined || !target.endsWith(".md") || anchorsOf(target).includes(anchor)) return null;
  return `${page}: ${target} has no heading #${anchor}`;
}

test("every relative link of README, SECURITY.md and docs points at a file and a heading that exist", () => {
  const faults = PAGES.flatMap((page) =>
    [...withoutCode(read(page)).matchAll(/\]\(((?!\w+:)[^)\s]+)\)/g)].flatMap(
      ([, link = ""]) => explainLink(page, link) ?? [],
    ),
  );
  assert.deepEqual(faults, []);
});

test("every script of npm's that a page tells people to run exists", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  const named = PAGES.flatMap((page) => [...read(page).matchAll(/\bnpm run (?:-s )?([a-z][a-z:-]*)/g)]);
  const missing = named.flatMap(([, script = ""]) => (script in scripts ? [] : [script]));
  assert.deepEqual(missing, []);
});

test("CONTRIBUTING.md is one page", () => {
  assert.ok(read(".github/CONTRIBUTING.md").split("\n").length <= 80);
});

test("docs/README.md lists every page", () => {
  const index = read("docs/README.md");
  for (const page of pagesOf("docs")) {
    if (page !== "README.md") assert.ok(index.includes(`](${page})`), page);
  }
});

test("each test that docs/seed.md names is in the file that it links to", () => {
  const links = [...read("docs/seed.md").matchAll(/\[([^\]]+)\]\(\.\.\/(test\/[^)]+\.ts)\)/g)];
  assert.ok(links.length >= 20);
  const missing = links.filter(([, name = "", path = ""]) => !read(path).includes(name.replaceAll("`", "")));
  assert.deepEqual(
    missing.map(([link]) => link),
    [],
  );
});

/** Returns the text below a heading of the second level, up to the next one. */
function section(path: string, heading: string): string {
  const text = read(path);
  const start = text.indexOf(`\n## ${heading}\n`);
  assert.notEqual(start, -1, `${path} has no section ${heading}`);
  const end = text.indexOf("\n## ", start + 1);
  return text.slice(start, end === -1 ? undefined : end);
}

/** Returns the names of all members of a JSON value, at any depth. Members of `codes` are named by the codes of refusals. */
function namesIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(namesIn);
  return Object.entries(value).flatMap(([name, member]) => [
    name,
    ...(name === "codes" ? [] : namesIn(member)),
  ]);
}

function assertDescribed(names: Iterable<string>, text: string, where: string): void {
  const missing = [...new Set(names)].filter((name) => !new RegExp(`(?<!\\w)${name}(?!\\w)`).test(text));
  assert.deepEqual(missing, [], `not described in ${where}`);
}

/** The commands that print a document, by their heading in docs/json.md. */
const DOCUMENTS: Readonly<Record<string, readonly string[]>> = {
  "`usage`": ["usage", "--json"],
  "`ledger import`": ["ledger", "import", "--json"],
  "`status`": ["status", "--json"],
  "`doctor`": ["doctor", "--json"],
  "`check`": ["check", "--json"],
  "`connect --list`": ["connect", "--list", "--json"],
  "`route`": ["route", "claude-sonnet-5", "--json"],
  "`prices`": ["prices", "claude-sonnet-5", "--json"],
  "`key list`": ["key", "list", "--json"],
  "`key test`": ["key", "test", "--json"],
  "`token list`": ["token", "list", "--json"],
  "`config check`": ["config", "check", "--json"],
  "`version`": ["version", "--json"],
};

test("docs/json.md describes every field of the documents that commands print", async (t) => {
  const upstream = { baseUrl: "http://127.0.0.1:9/v1", keySource: { file: "/nowhere" } };
  const daemon = await startDaemon(t, { config: { upstreams: { default: upstream } } });
  const headers = { "content-type": "application/json" };
  await fetch(`${daemon.url}/v1/messages`, { method: "POST", headers, body: "{}" });
  assert.equal((await daemon.command("token", "add", "some-tool")).code, 0);
  assert.equal((await daemon.command("connect", "claude-code", "--yes")).code, 0);
  for (const [heading, args] of Object.entries(DOCUMENTS)) {
    const { stdout, stderr } = await daemon.command(...args);
    assert.notEqual(stdout, "", `${heading}: ${stderr}`);
    assertDescribed(
      namesIn(JSON.parse(stdout)),
      section("docs/json.md", heading),
      `docs/json.md, ${heading}`,
    );
  }
});

test("docs/json.md describes every field of the list of models", async (t) => {
  const daemon = await startDaemon(t);
  const { stdout, stderr } = await daemon.command("models", "--json");
  assert.notEqual(stdout, "", stderr);
  assertDescribed(namesIn(JSON.parse(stdout)), section("docs/json.md", "`models`"), "docs/json.md, `models`");
});

test("docs/json.md describes every field of what is left of budgets", async (t) => {
  const daemon = await startDaemon(t, { config: { budgets: [{ tokens: 1, class: "output", per: "day" }] } });
  await daemon.command("budget", "lift", "codex");
  const { stdout, stderr } = await daemon.command("budget", "--json");
  assert.notEqual(stdout, "", stderr);
  assertDescribed(namesIn(JSON.parse(stdout)), section("docs/json.md", "`budget`"), "docs/json.md, `budget`");
});

test("docs/json.md describes every field of what is captured", async (t) => {
  const daemon = await startDaemon(t);
  await daemon.command("capture", "my-script", "--new");
  const body = JSON.stringify({ model: "claude-sonnet-5", max_tokens: 1, messages: [] });
  const headers = { "content-type": "application/json" };
  await (await fetch(`${daemon.url}/t/my-script/v1/messages`, { method: "POST", headers, body })).text();
  const list = await waitUntil("a request", async () => {
    const { stdout } = await daemon.command("capture", "list", "--json");
    return stdout.includes("request_bytes") ? stdout : null;
  });
  const { record: _, ...shown } = JSON.parse(
    (await daemon.command("capture", "show", "last", "--json")).stdout,
  );
  const names = [...namesIn(JSON.parse(list)), "record", ...namesIn(shown)];
  assertDescribed(names, section("docs/json.md", "`capture`"), "docs/json.md, `capture`");
});

test("docs/json.md describes every field of a digest that `usage` does not have", async (t) => {
  const { stdout, stderr } = await homeWithLedger(t, ledgerWithOutliers()).command(
    "digest",
    "--day",
    DAY,
    "--json",
  );
  assert.notEqual(stdout, "", stderr);
  const { total, rows, ...others } = JSON.parse(stdout);
  const own = { total: { usual: total.usual }, rows: [{ tool: rows[0].tool, project: rows[0].project }] };
  assertDescribed(
    namesIn({ ...own, ...others }),
    section("docs/json.md", "`digest`"),
    "docs/json.md, `digest`",
  );
});

test("docs/json.md describes every field of what ledger verify finds", async (t) => {
  const files = { "2026-11-20.ndjson": "nonsense\n", "2026-11-20.torn": "torn\n" };
  const { stdout, stderr } = await homeWithLedger(t, files).command("ledger", "verify", "--json");
  assert.notEqual(stdout, "", stderr);
  const heading = "`ledger verify`";
  assertDescribed(namesIn(JSON.parse(stdout)), section("docs/json.md", heading), `docs/json.md, ${heading}`);
});

test("docs/json.md describes every field of what ledger reconcile finds", async (t) => {
  const { command, home } = homeWithLedger(t, {});
  const file = join(home, "export.csv");
  writeFileSync(file, "start_time,num_model_requests,model,input_tokens,output_tokens\n1795132800,1,m,2,3\n");
  const { stdout, stderr } = await command("ledger", "reconcile", file, "--json");
  assert.notEqual(stdout, "", stderr);
  const heading = "`ledger reconcile`";
  assertDescribed(namesIn(JSON.parse(stdout)), section("docs/json.md", heading), `docs/json.md, ${heading}`);
});

test("docs/ledger.md describes every field of a record", async (t) => {
  const daemon = await startDaemon(t);
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({
    model: "claude-sonnet-5",
    max_tokens: 1,
    messages: [{ role: "user", content: "x" }],
  });
  await (await fetch(`${daemon.url}/v1/messages`, { method: "POST", headers, body })).arrayBuffer();
  const [record, ...others] = await daemon.ledger();
  assert.ok(record?.tokens);
  assert.deepEqual(others, []);
  assertDescribed(
    [...Object.keys(record), ...Object.keys(record.tokens)],
    read("docs/ledger.md"),
    "docs/ledger.md",
  );
});

test("docs/ledger.md lists the columns of ledger export --format csv in their order", () => {
  const [, listed = ""] = /```text\n(v,id,[^`]*)\n```/.exec(section("docs/ledger.md", "Exporting it")) ?? [];
  assert.deepEqual(listed.replaceAll("\n", "").split(","), CSV_HEADER);
});

/** Splits a row of a table. */
const cellsOf = (row: string) =>
  row
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());

const rowOf = (smuggled: SmuggledModel, became: string) => [describe(smuggled), became, smuggled.reader];

test("docs/testing.md has a table of exactly the bodies that the test of row C9 sends", () => {
  const [, , ...rows] = section("docs/testing.md", "Bodies that name two models").match(/^\|.*$/gm) ?? [];
  assert.deepEqual(rows.map(cellsOf), [
    ...LATE.map((smuggled) => rowOf(smuggled, "refused; its end was held back")),
    ...EARLY.map((smuggled) => rowOf(smuggled, "refused; nothing had left")),
  ]);
});

test("docs/testing.md has a table of exactly the messages that the test of row C12 sends", () => {
  const [, , ...rows] =
    section("docs/testing.md", "Messages that ask for another model").match(/^\|.*$/gm) ?? [];
  assert.deepEqual(
    rows.map(cellsOf),
    SMUGGLED_MESSAGES.map((smuggled) => [smuggled.by, describeMessage(smuggled), `\`${smuggled.code}\``]),
  );
});
