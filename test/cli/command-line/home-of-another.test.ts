import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

// Whose home directory a command uses: a user's, as root, or none at all.

const SKIP = { skip: process.getuid?.() !== 0 && "needs root" };

const SOMEBODY = 65_534;
/** In no user database. */
const UNKNOWN_USER = 47_110;

function run(line: string, home: Record<string, string>, uid = 0) {
  return runProgram(line.split(" "), { env: { PATH: process.env["PATH"], ...home }, uid });
}

function homeOfSomebody(t: TestContext): string {
  const home = scratchDirectory(t);
  chownSync(home, SOMEBODY, SOMEBODY);
  return home;
}

const REFUSED = [
  "setup",
  "serve",
  "serve --debug",
  "connect codex --yes",
  "disconnect codex",
  "key set",
  "key remove",
  "token add codex",
  "config set listen.port 8700",
  "config edit",
  "budget set codex --usd 2 --per day",
  "service install",
  "service uninstall",
  "ledger prune --before 2020-01-01",
  "ledger import",
  "export --once",
  "uninstall",
  "usage",
  "doctor",
  "doctor --json",
];

test(
  "as root in a user's home, no command that uses its files works, and nothing is created there",
  SKIP,
  async (t) => {
    const home = homeOfSomebody(t);
    for (const line of REFUSED) {
      const { code, stderr } = await run(line, { HOME: home });
      assert.equal(code, 1, line);
      assert.match(stderr, /^error: you are root, but .* belongs to user id 65534, /, line);
      assert.match(stderr, /\nhint: type it again without sudo\n/, line);
      assert.doesNotMatch(stderr, /chown/, line);
    }
    assert.deepEqual(readdirSync(home), []);
  },
);

test(
  "as root in a user's home, help, status and the status line work and create nothing",
  SKIP,
  async (t) => {
    const home = homeOfSomebody(t);
    for (const line of ["--help", "key --help", "version", "statusline", "status"]) {
      assert.doesNotMatch((await run(line, { HOME: home })).stderr, /you are root/, line);
    }
    assert.deepEqual(readdirSync(home), []);
  },
);

test("root is refused in a user's state directory, too, and works in a home of its own", SKIP, async (t) => {
  const [state, own] = [homeOfSomebody(t), scratchDirectory(t)];
  assert.match(
    (await run("usage", { HOME: own, XDG_STATE_HOME: state })).stderr,
    /^error: you are root, but /,
  );
  assert.equal((await run("config path", { HOME: own })).code, 0);
});

const USING_HOME = [
  "status",
  "usage",
  "doctor",
  "serve",
  "connect --list",
  "key list",
  "config check",
  "run -- true",
];

test("without HOME and an entry in the user database, the error says what to set", SKIP, async () => {
  for (const env of [{}, { HOME: "" }, { HOME: "relative" }]) {
    for (const line of [...USING_HOME, "service status", "uninstall", "prices"]) {
      const { code, stderr } = await run(line, env, UNKNOWN_USER);
      assert.equal(code, 1, line);
      assert.match(
        stderr,
        /^error: the home directory is unknown: .*user id 47110 .*\nhint: .*export HOME=/,
        line,
      );
    }
  }
});

test("without a home directory, the status line prints a line and no error", SKIP, async () => {
  const { code, stdout, stderr } = await run("statusline", {}, UNKNOWN_USER);
  assert.deepEqual([code, stdout, stderr], [0, "tollkeeper is off\n", ""]);
});

test("a user id without an entry works in the home that HOME names, as in a container", SKIP, async (t) => {
  const home = scratchDirectory(t);
  chownSync(home, UNKNOWN_USER, UNKNOWN_USER);
  chmodSync(home, 0o700);
  for (const line of ["config path", "usage", "service status"])
    assert.doesNotMatch((await run(line, { HOME: home }, UNKNOWN_USER)).stderr, /uv_os|unknown/, line);
});

test(
  "as a user, a HOME that is missing or somebody else's is named with what to type, and nothing is to be chowned",
  SKIP,
  async (t) => {
    const parent = scratchDirectory(t);
    chmodSync(parent, 0o755);
    const closed = join(parent, "closed");
    mkdirSync(closed, { mode: 0o700 });
    for (const [home, what] of [
      [closed, "belongs to another user"],
      [join(parent, "missing"), "does not exist"],
    ] as const)
      for (const line of [
        "connect codex --yes",
        "token add codex",
        "config set listen.port 8700",
        "serve",
        "setup",
      ]) {
        const { code, stderr } = await run(line, { HOME: home }, UNKNOWN_USER);
        if (code === 2) continue;
        assert.equal(code, 1, `${line}: ${stderr}`);
        assert.doesNotMatch(stderr, /chown/, line);
        assert.ok(
          stderr.includes(
            `HOME is ${home}, which ${what}\n      to name a directory of yours, type: export HOME=/path/to/home\n`,
          ),
          `${line}: ${stderr}`,
        );
      }
  },
);
