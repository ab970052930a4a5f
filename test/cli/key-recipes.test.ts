// The commands that docs/configuration.md names for tokens that expire, in a real daemon: with stubs that print what the documentation
// of each program says, and with the programs themselves where they are installed and need no account.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { LIMIT_MS } from "../helpers/async/limit.ts";
import { startDaemon, type Daemon } from "../helpers/daemon/daemon.ts";
import { fakePrograms } from "../helpers/process/fake-programs.ts";
import { sendJson, startUpstream, type SeenRequest } from "../helpers/upstream/scripted-upstream.ts";
import { findSignatureFault, type KnownKeys } from "../helpers/upstream/sigv4-verifier.ts";
import { assertNowhere, makeSentinel, readFilesBelow } from "../security/leak-search.ts";

const HOUR_MS = 3_600_000;
const REGION = "eu-west-1";

/** A row of the table. `ttlMs` is null where the key says itself when it expires, or does not expire. */
interface Recipe {
  program: string;
  argv: string[];
  ttlMs: number | null;
}

/** For `how soon you want a changed key`. */
const OWN_CHOICE_MS = 600_000;

function documentedRecipes(): Recipe[] {
  const page = readFileSync(new URL("../../docs/configuration.md", import.meta.url), "utf8");
  const table = page.slice(
    page.indexOf("### Tokens that expire"),
    page.indexOf("- **What the command may print"),
  );
  return [...table.matchAll(/^\| (\w+) +\| `(\[.*?\])`[^|]*\| ([^|]+)\|$/gm)].map(
    ([, program = "", argv = "", ttl = ""]) => ({
      program: program.toLowerCase(),
      argv: JSON.parse(argv) as string[],
      ttlMs: /^`(\d+)`/.test(ttl)
        ? Number(/\d+/.exec(ttl)?.[0])
        : ttl.startsWith("how soon")
          ? OWN_CHOICE_MS
          : null,
    }),
  );
}

/** What a program prints, as its documentation says. */
interface Printed {
  stdout: string;
  stderr?: string;
  /** What has to arrive at the service, and must be nowhere else. */
  secret: string;
  /** When it says that it expires; null if it does not say so. */
  expiresAt: number | null;
}

function encodePart(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function jwt(expiresAt: number): string {
  const signature = makeSentinel().replaceAll("-", "_");
  return `${encodePart({ alg: "RS256", typ: "JWT" })}.${encodePart({ aud: "a", exp: expiresAt / 1000 })}.${signature}`;
}

const ACCESS_KEY_ID = "ASIASENTINEL47110";

/** By program. */
const PRINTED: Record<string, () => Printed> = {
  // The reference of gcloud: the token alone. Hints of updates go to standard error.
  gcloud() {
    const secret = `ya29.${makeSentinel()}`;
    return { stdout: `${secret}\n`, stderr: "Updates are available.\n", secret, expiresAt: null };
  },
  // The reference of az: --query with tsv prints the value alone, a token of Entra.
  az() {
    const expiresAt = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS;
    const secret = jwt(expiresAt);
    return { stdout: `${secret}\n`, secret, expiresAt };
  },
  // The reference of vault: -field prints the raw value, without a line break where the output is no terminal.
  vault() {
    const secret = makeSentinel();
    return { stdout: secret, secret, expiresAt: null };
  },
  // The reference of 1Password's op: the value of the field, and a line break.
  op() {
    const secret = makeSentinel();
    return { stdout: `${secret}\n`, secret, expiresAt: null };
  },
  // The reference of aws, and what 2.9.19 printed: JSON over several lines, with a time of Python's.
  aws() {
    const [secret, token] = [makeSentinel(), `IQoJ${"b3JpZ2lu".repeat(40)}==`];
    const expiresAt = Math.floor(Date.now() / 1000) * 1000 + HOUR_MS;
    const printed = {
      Version: 1,
      AccessKeyId: ACCESS_KEY_ID,
      SecretAccessKey: secret,
      SessionToken: token,
      Expiration: new Date(expiresAt).toISOString().replace(".000Z", "+00:00"),
    };
    return { stdout: `${JSON.stringify(printed, null, 2)}\n`, secret, expiresAt };
  },
  // What gh 2.23 printed.
  gh() {
    const secret = `gho_${makeSentinel()}`;
    return { stdout: `${secret}\n`, secret, expiresAt: null };
  },
  // What pass 1.7.4 printed: the whole entry, of which the first line is the key.
  pass() {
    const secret = makeSentinel();
    return { stdout: `${secret}\nurl: https://llm.example\nuser: ada\n`, secret, expiresAt: null };
  },
};

/** Which name a recipe's command has on PATH. */
const programOf = ({ argv }: Recipe) => argv[0] ?? "";

/** Starts a daemon with an upstream for each recipe, and a tool of its name. */
async function startWith(t: TestContext, recipes: readonly Recipe[], env: Record<string, string>) {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, {}));
  const upstreams = recipes.map((recipe) => {
    const { argv, ttlMs } = recipe;
    // Programs in Python take seconds to start on a busy machine.
    const keySource = { command: argv, timeoutMs: 30_000, ...(ttlMs !== null && { ttlMs }) };
    return programOf(recipe) === "aws"
      ? [
          "aws",
          {
            baseUrl: `${upstream.origin}/model`,
            apis: ["bedrock"],
            auth: "sigv4",
            region: REGION,
            keySource,
          },
        ]
      : [programOf(recipe), { baseUrl: `${upstream.origin}/v1`, apis: ["chat"], keySource }];
  });
  const tools = recipes.map((recipe) => [programOf(recipe), { upstreams: [programOf(recipe)] }]);
  const daemon = await startDaemon(t, {
    config: { upstreams: Object.fromEntries(upstreams), tools: Object.fromEntries(tools) },
    args: ["--debug"],
    env,
  });
  return { daemon, upstream };
}

/** Sends a request with the recipe's key, and returns it as it arrived, with what `status` says of the key. */
async function use(
  { daemon, upstream }: { daemon: Daemon; upstream: { seen: readonly SeenRequest[] } },
  recipe: Recipe,
) {
  const program = programOf(recipe);
  const path = program === "aws" ? "/model/amazon.nova-lite-v1:0/converse" : "/v1/chat/completions";
  const before = upstream.seen.length;
  const response = await fetch(`${daemon.url}/t/${program}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "a", messages: [] }),
  });
  assert.equal(response.status, 200, `${program}: ${await response.text()}`);
  const [seen] = upstream.seen.slice(before);
  const key = (await daemon.status()).keys.find((one) => one.upstream === program);
  return { seen: seen ?? assert.fail("nothing arrived"), key: key ?? assert.fail("no key") };
}

function assertSent(seen: SeenRequest, keys: KnownKeys): void {
  const expected = { keys, region: REGION, service: "bedrock", now: Date.now() };
  assert.equal(findSignatureFault(seen, expected), null);
}

async function assertNothingLeft(
  daemon: Daemon,
  secrets: readonly string[],
  commands: readonly string[] = ["status --json"],
) {
  const texts: Record<string, string> = {};
  for (const words of commands) {
    const { stdout, stderr } = await daemon.command(...words.split(" "));
    texts[words] = stdout + stderr;
  }
  assert.equal(await daemon.stop(), 0);
  Object.assign(
    texts,
    { stdout: daemon.stdout(), stderr: daemon.stderr() },
    readFilesBelow(daemon.home, null),
  );
  for (const secret of secrets) assertNowhere(secret, texts);
}

test("every documented command gives its key, with the time at which it expires, and nothing of it is left", async (t) => {
  const recipes = documentedRecipes();
  assert.deepEqual(recipes.map(programOf).sort(), Object.keys(PRINTED).sort());
  const printed = new Map(recipes.map((recipe) => [programOf(recipe), PRINTED[programOf(recipe)]?.()]));
  const { directory, calls } = fakePrograms(
    t,
    Object.fromEntries(
      recipes.map(({ argv: [program = "", ...rest] }) => {
        const { stdout = "", stderr = "" } = printed.get(program) ?? {};
        return [
          program,
          [
            { match: rest.join(" "), stdout, stderr },
            { match: "*", code: 64 },
          ],
        ];
      }),
    ),
  );
  const running = await startWith(t, recipes, { PATH: `${directory}:${process.env["PATH"]}` });
  for (const recipe of recipes) {
    const program = programOf(recipe);
    const { secret, expiresAt, stdout } = printed.get(program) ?? assert.fail(program);
    const startedAt = Date.now();
    const { seen, key } = await use(running, recipe);
    if (program === "aws") {
      const { SessionToken: sessionToken } = JSON.parse(stdout) as { SessionToken: string };
      assertSent(seen, { accessKeyId: ACCESS_KEY_ID, secretAccessKey: secret, sessionToken });
    } else assert.equal(seen.headers.authorization, `Bearer ${secret}`);
    if (recipe.ttlMs === null)
      assert.equal(key.expiresAt, expiresAt === null ? null : new Date(expiresAt).toISOString(), program);
    else {
      const late = Date.parse(key.expiresAt ?? "") - startedAt - recipe.ttlMs;
      assert.ok(late >= 0 && late < 60_000, `${program}: ${key.expiresAt}`);
    }
  }
  const asked = calls().map(([program = ""]) => program);
  assert.deepEqual(asked.sort(), recipes.map(programOf).sort());
  await assertNothingLeft(
    running.daemon,
    [...printed.values()].map((one) => one?.secret ?? ""),
    ["status --json", "key list --json", "doctor --json", "config check"],
  );
});

/** Where a system has its programs. The tests see few of them, and these need more. */
const SYSTEM_PATH = `${process.env["PATH"]}:/usr/local/bin:/usr/bin:/bin`;

/** Why a real program is not run; false if it can be. `wanted` is what its version has to look like. */
function notInstalled(program: string, wanted: RegExp | null = null): string | false {
  const directories = SYSTEM_PATH.split(":");
  if (!directories.some((directory) => existsSync(join(directory, program)))) return `no ${program} here`;
  if (wanted === null) return false;
  const env = { ...process.env, PATH: SYSTEM_PATH };
  const { stdout, stderr } = spawnSync(program, ["--version"], { encoding: "utf8", timeout: LIMIT_MS, env });
  return wanted.test(stdout + stderr) ? false : `${program} here is another version`;
}

function recipeOf(program: string): Recipe {
  return documentedRecipes().find((recipe) => programOf(recipe) === program) ?? assert.fail(program);
}

test("gh itself prints the token of its login", { skip: notInstalled("gh", /gh version 2/) }, async (t) => {
  const secret = `gho_${makeSentinel()}`;
  const home = mkdtempSync(join(tmpdir(), "tk-gh-"));
  t.after(() => rmSync(home, { recursive: true }));
  writeFileSync(join(home, "hosts.yml"), `github.com:\n    user: ada\n    oauth_token: ${secret}\n`, {
    mode: 0o600,
  });
  const running = await startWith(t, [recipeOf("gh")], { PATH: SYSTEM_PATH, GH_CONFIG_DIR: home });
  const { seen, key } = await use(running, recipeOf("gh"));
  assert.deepEqual([seen.headers.authorization, key.expiresAt], [`Bearer ${secret}`, null]);
  await assertNothingLeft(running.daemon, [secret]);
});

test(
  "pass itself prints the first line of an entry that gpg decrypts",
  {
    skip: notInstalled("pass") || notInstalled("gpg"),
  },
  async (t) => {
    const secret = makeSentinel();
    // gpg's agent has a socket there, whose path may have 107 bytes.
    const home = mkdtempSync(join(tmpdir(), "tk-pass-"));
    const env = { PATH: SYSTEM_PATH, GNUPGHOME: join(home, "gpg"), PASSWORD_STORE_DIR: join(home, "store") };
    const own = { env: { HOME: home, ...env }, stdio: "pipe" as const };
    t.after(() => {
      spawnSync("gpgconf", ["--kill", "all"], own);
      rmSync(home, { recursive: true, force: true });
    });
    mkdirSync(env.GNUPGHOME, { mode: 0o700 });
    const make = ["--batch", "--passphrase", "", "--quick-gen-key", "ada@llm.example"];
    execFileSync("gpg", make, own);
    execFileSync("pass", ["init", "ada@llm.example"], own);
    execFileSync("pass", ["insert", "--multiline", "llm/key"], { ...own, input: `${secret}\nuser: ada\n` });
    const running = await startWith(t, [recipeOf("pass")], env);
    const { seen, key } = await use(running, recipeOf("pass"));
    assert.deepEqual([seen.headers.authorization, key.expiresAt], [`Bearer ${secret}`, null]);
    await assertNothingLeft(running.daemon, [secret]);
  },
);

test(
  "gcloud itself prints a token, which lives as long as the documented time",
  { skip: notInstalled("gcloud") },
  async (t) => {
    const secret = `ya29.${makeSentinel()}`;
    const home = mkdtempSync(join(tmpdir(), "tk-gcloud-"));
    t.after(() => rmSync(home, { recursive: true }));
    const file = join(home, "token");
    writeFileSync(file, secret, { mode: 0o600 });
    const running = await startWith(t, [recipeOf("gcloud")], {
      PATH: SYSTEM_PATH,
      CLOUDSDK_CONFIG: home,
      CLOUDSDK_AUTH_ACCESS_TOKEN_FILE: file,
      CLOUDSDK_CORE_CHECK_GCE_METADATA: "false",
      CLOUDSDK_CORE_DISABLE_USAGE_REPORTING: "true",
    });
    const { seen, key } = await use(running, recipeOf("gcloud"));
    assert.equal(seen.headers.authorization, `Bearer ${secret}`);
    assert.ok(Date.parse(key.expiresAt ?? "") < Date.now() + 1_800_000);
    await assertNothingLeft(running.daemon, [secret]);
  },
);

test(
  "aws itself exports access keys with the time at which they expire",
  // Version 1 does not have the command.
  { skip: notInstalled("aws", /aws-cli\/2/) },
  async (t) => {
    const [secretAccessKey, sessionToken] = [makeSentinel(), makeSentinel()];
    const home = mkdtempSync(join(tmpdir(), "tk-aws-"));
    t.after(() => rmSync(home, { recursive: true }));
    const expiresAt = new Date(Math.floor(Date.now() / 1000) * 1000 + HOUR_MS).toISOString();
    const printed = {
      Version: 1,
      AccessKeyId: ACCESS_KEY_ID,
      SecretAccessKey: secretAccessKey,
      SessionToken: sessionToken,
      Expiration: expiresAt.replace(".000", ""),
    };
    writeFileSync(join(home, "printed"), JSON.stringify(printed), { mode: 0o600 });
    writeFileSync(
      join(home, "config"),
      `[default]\ncredential_process = /bin/cat ${join(home, "printed")}\n`,
    );
    const running = await startWith(t, [recipeOf("aws")], {
      PATH: SYSTEM_PATH,
      AWS_CONFIG_FILE: join(home, "config"),
      AWS_SHARED_CREDENTIALS_FILE: join(home, "none"),
      AWS_EC2_METADATA_DISABLED: "true",
    });
    const { seen, key } = await use(running, recipeOf("aws"));
    assertSent(seen, { accessKeyId: ACCESS_KEY_ID, secretAccessKey, sessionToken });
    assert.equal(key.expiresAt, expiresAt);
    await assertNothingLeft(running.daemon, [secretAccessKey, sessionToken]);
  },
);
