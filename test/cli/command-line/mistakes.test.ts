// What people type by mistake. Each error says what is wrong with it, and what to type in its place.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { prepareHome } from "../../helpers/daemon/daemon.ts";
import { openCommandLine } from "../../helpers/daemon/run-program.ts";
import { runProgram } from "../../helpers/daemon/run-program.ts";

const CONFIG = {
  upstreams: {
    default: { baseUrl: "https://api.anthropic.com/v1" },
    openai: { baseUrl: "https://api.openai.com/v1", key: "team" },
  },
  groups: { small: { models: ["m2"] } },
};

const IN_PLACE_OF_GROUP = [
  '"small" is a group, not a tool',
  "to name the group, type in its place: --group small",
];
const KEY_OF_OPENAI = [
  '"openai" is an upstream, and no key is called so',
  "for the key of that upstream, type in its place: --upstream openai",
];
const ANTHROPIC = "https://api.anthropic.com/v1";
const OPENAI = "https://api.openai.com/v1";

/** Each command line with its error and its hint, whose lines are joined. */
const MISTAKES: Record<string, readonly string[]> = {
  "tail -20": ['"tail" takes no argument "-20"', "for the newest 20, type: tollkeeper tail -n 20"],
  "service logs -50": [
    '"service logs" takes no argument "-50"',
    "for the newest 50, type: tollkeeper service logs -n 50",
  ],
  "brake set codex 10/min": [
    'there are no limits called "10/min", only "gentle"',
    "for a limit of your own, type: tollkeeper brake set codex --requests-per-minute 10; or type: tollkeeper brake set codex gentle",
  ],
  "brake set --group small 30rpm": [
    'there are no limits called "30rpm", only "gentle"',
    "for a limit of your own, type: tollkeeper brake set --group small --requests-per-minute 30; or type: tollkeeper brake set --group small gentle",
  ],
  "config get upstreams.defualt.baseUrl": [
    'the configuration has no upstreams.defualt; did you mean "upstreams.default"?',
    "to see everything that is set, type: tollkeeper config explain",
  ],
  "config explain groups.smal.models": [
    'the configuration has no groups.smal; did you mean "groups.small"?',
    "to see everything that is set, type: tollkeeper config explain",
  ],
  "config set tools.codex.upstream opnai": [
    'the configuration has no tools.codex.upstream; did you mean "tools.codex.upstreams"?',
    "a path looks like upstreams.default.baseUrl; to see all keys, type: tollkeeper config schema",
  ],
  "config set tools.codex.upstreams opnai": [
    'nothing was written: tools.codex.upstreams[0]: no upstream is called "opnai"; did you mean "openai"?',
    "type: tollkeeper config set tools.codex.upstreams openai",
  ],
  ...Object.fromEntries(
    [
      ["https://console.anthropic.com", ANTHROPIC],
      ["https://platform.openai.com/v1", OPENAI],
      ["platform.openai.com", null],
    ].map(([typed, api]) => [
      `config set upstreams.default.baseUrl ${typed}`,
      api === null
        ? [
            'nothing was written: upstreams.default.baseUrl: must be an absolute URL such as "https://api.example.com/v1"; did you mean "https://api.openai.com/v1"?',
            `type: tollkeeper config set upstreams.default.baseUrl ${OPENAI}`,
          ]
        : [
            `nothing was written: upstreams.default.baseUrl: is the address of a web site, not of the API; did you mean "${api}"?`,
            `type: tollkeeper config set upstreams.default.baseUrl ${api}`,
          ],
    ]),
  ),
  "pause small": IN_PLACE_OF_GROUP,
  "budget set small --usd 2 --per day": IN_PLACE_OF_GROUP,
  "brake set small gentle": IN_PLACE_OF_GROUP,
  "budget set --usd 2 --per day": [
    "a tool, group, project or key is missing",
    "name a tool, or add one of: --group GROUP, --project DIRECTORY, --key KEY, --all",
  ],
  "key set openai": KEY_OF_OPENAI,
  "key test openai": KEY_OF_OPENAI,
  "key remove openai": KEY_OF_OPENAI,
  "export header": [
    '"export header" needs the name of a header',
    "for example: tollkeeper export header authorization; for more, type: tollkeeper export header --help",
  ],
};

/** A hint as it is printed: each piece of advice in a line of its own. */
function hint(text: string): string {
  return `hint: ${text.replaceAll(/; (?=(?:for|if|or|then|to)\b)/g, "\n      ")}\n`;
}

test("a usual mistake gets an error that names it, and a hint that can be typed", async (t) => {
  const { env, configFile } = prepareHome(t, { config: CONFIG });
  const run = openCommandLine(env);
  for (const [line, [error, advice = ""]] of Object.entries(MISTAKES)) {
    writeFileSync(configFile, JSON.stringify(CONFIG), { mode: 0o600 });
    const { code, stdout, stderr } = await run(...line.split(" "));
    assert.deepEqual({ stdout, stderr }, { stdout: "", stderr: `error: ${error}\n${hint(advice)}` }, line);
    assert.notEqual(code, 0, line);
  }
});

test("a list is set by its values with commas between them, and null is no list", async (t) => {
  const { env } = prepareHome(t, { config: CONFIG });
  const run = openCommandLine(env);
  for (const [text, value] of [
    ["openai,default", '["openai","default"]'],
    ["openai", '["openai"]'],
    ['["default"]', '["default"]'],
    ["null", "null"],
  ] as const) {
    assert.equal((await run("config", "set", "tools.codex.upstreams", text)).code, 0);
    assert.equal((await run("config", "get", "tools.codex.upstreams")).stdout, `${value}\n`);
  }
});

test("-V prints the version, as other programs do", async (t) => {
  const run = openCommandLine(prepareHome(t, {}).env);
  assert.deepEqual(await run("-V"), await run("--version"));
});

test("a mistyped model is named with the nearest one of the price table, and the sandbox's price hides no mistake", async (t) => {
  for (const config of [CONFIG, {}]) {
    const run = openCommandLine(prepareHome(t, { config }).env);
    const { stderr } = await run("prices", "gpt5.5");
    assert.equal(stderr, 'note: the price table has no model "gpt5.5"; did you mean "gpt-5.5"?\n');
    assert.equal((await run("prices", "gpt-5.5")).stderr, "");
  }
});

test("config edit starts no editor that needs a terminal where there is none", async (t) => {
  const { env, configFile } = prepareHome(t, { config: CONFIG });
  for (const EDITOR of ["vim", "/usr/bin/nano -w", "emacs -nw"]) {
    const { code, stderr } = await runProgram(["config", "edit"], { env: { ...env, EDITOR } });
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `error: the editor "${EDITOR}" needs a terminal\nhint: to set one value, type for example: tollkeeper config set listen.port 8700\n      or edit the file yourself: ${configFile}\n`,
    );
  }
  assert.equal((await runProgram(["config", "edit"], { env: { ...env, EDITOR: "true" } })).code, 0);
});

test("a status line with an unknown placeholder says so on standard error, and is shown", async (t) => {
  const run = (format: string) =>
    runProgram(["statusline", "--format", format], { env: prepareHome(t, {}).env });
  assert.deepEqual(await run("{todday}"), {
    code: 0,
    stdout: "tollkeeper is off\n",
    stderr: "note: the format has an unknown placeholder {todday}; did you mean {today}?\n",
  });
  assert.match((await run("{x|nonsense|}")).stderr, /\{nonsense\}; the placeholders are: session, today, /);
  assert.equal((await run("{red}{today}{reset} {a|model|b}")).stderr, "");
});
