// What people type by mistake. Each error says what is wrong with it, and what to type in its place.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
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

const SUBCOMMANDS: Record<string, string> = {
  alias: "list, set, remove",
  brake: "list, set, remove",
  budget: "list, lift, reset, set, remove",
  group: "list, set, use, leave, remove",
  token: "add, list, revoke",
  key: "set, list, test, remove",
  config: "get, set, unset, explain, path, check, schema, edit",
};

/** Each command line with its error and its hint, whose lines are joined. */
const MISTAKES: Record<string, readonly string[]> = {
  "tail -20": ['"tail" takes no argument "-20"', "for the newest 20, type: tollkeeper tail -n 20"],
  strat: [
    'there is no command "strat"',
    "to start the background service, type: tollkeeper service start; or to run in this terminal, type: tollkeeper serve",
  ],
  "run claude -p hi": [
    "there is no option -p",
    "write -- before the command: tollkeeper run -- claude -p hi; for more, type: tollkeeper run --help",
  ],
  "key set --key-stdin": [
    "there is no option --key-stdin",
    "a key is piped in without an option, for example: pass show api-key | tollkeeper key set",
  ],
  ...Object.fromEntries(
    [
      ["20 dollars per day", "--usd 20 --per day"],
      ["$20 a week", "--usd 20 --per week"],
      ["2M tokens daily", "--tokens 2M --per day"],
      ["5", "--usd 5 --per day"],
    ].map(([spoken = "", options]) => [
      `budget set codex ${spoken}`,
      [
        `"budget set" takes no argument "${spoken.split(" ")[0]}"`,
        `type: tollkeeper budget set codex ${options}; for more, type: tollkeeper budget set --help`,
      ],
    ]),
  ),
  "service logs -50": [
    '"service logs" takes no argument "-50"',
    "for the newest 50, type: tollkeeper service logs -n 50",
  ],
  "brake set codex 10/min": [
    'there is no preset "10/min"; the only one is "gentle"',
    "to choose your own limit, type: tollkeeper brake set codex --requests-per-minute 10; or type: tollkeeper brake set codex gentle",
  ],
  "brake set --group small 30rpm": [
    'there is no preset "30rpm"; the only one is "gentle"',
    "to choose your own limit, type: tollkeeper brake set --group small --requests-per-minute 30; or type: tollkeeper brake set --group small gentle",
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
    "to see what it takes, type: tollkeeper config explain tools.codex.upstreams; to see all keys, type: tollkeeper config schema",
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
  ...Object.fromEntries(
    [
      ["alias gpt-4o gpt-5", "alias set gpt-4o gpt-5"],
      ["brake codex", "brake set codex gentle"],
      ["brake codex gentle", "brake set codex gentle"],
      ["budget codex 20", "budget set codex --usd 20 --per day"],
      ["budget codex $2.50", "budget set codex --usd 2.50 --per day"],
      ["budget codex --tokens 2M --per week", "budget set codex --tokens 2M --per week"],
      ["group codex small", "group use codex small"],
      ["group cheap --models gpt-5*", "group set cheap --models 'gpt-5*'"],
      ["token codex", "token add codex"],
      ["key team", "key set team"],
      ["config listen.port", "config get listen.port"],
      ["config listen.port 8700", "config set listen.port 8700"],
    ].map(([typed = "", meant]) => [
      typed,
      [
        `there is no "${typed.split(" ", 2).join(" ")}"; the subcommands are: ${SUBCOMMANDS[typed.split(" ")[0] ?? ""]}`,
        `type: tollkeeper ${meant}; for more, type: tollkeeper ${typed.split(" ")[0]} --help`,
      ],
    ]),
  ),
  ...Object.fromEntries(
    [
      ["usage --since 7 days", "days", "for such a period, type: tollkeeper usage --since 7d"],
      ["usage --since=2 weeks", "weeks", "for such a period, type: tollkeeper usage --since 2w"],
      ["tail --since 3 months", "months", "for such a period, type: tollkeeper tail --since 90d"],
      [
        "ledger export --since last week",
        "week",
        'for words with a space, which need quotes, type: tollkeeper ledger export --since "last week"',
      ],
    ].map(([typed = "", word, advice]) => {
      const command = typed.replace(/ --.*/, "");
      return [
        typed,
        [
          `"${command}" takes no argument "${word}"`,
          `${advice}; for more, type: tollkeeper ${command} --help`,
        ],
      ];
    }),
  ),
  ...Object.fromEntries(
    [
      [
        "serve --background",
        "to run it in the background, type: tollkeeper service install; or where there is no service manager: nohup tollkeeper serve --log-file ~/tollkeeper.log >/dev/null 2>&1 &",
      ],
      ["dashboard --port 9000", "to set the port, type: tollkeeper config set listen.port 9000"],
      [
        "connect codex --url https://api.openai.com/v1",
        "connect points a tool at tollkeeper; to set the API behind it, type: tollkeeper config set upstreams.default.baseUrl https://api.openai.com/v1",
      ],
      [
        "pause codex --for 10m",
        "a pause has no end of its own; to begin one, type: tollkeeper pause codex; to end it, type: tollkeeper resume codex",
      ],
      [
        "doctor --fix",
        "nothing is changed for you; for the command that fixes each problem, type: tollkeeper doctor",
      ],
      ["top --tool opencode", "for the requests of one tool, type: tollkeeper tail --tool opencode"],
      ["usage --days 3", "for the last days, type: tollkeeper usage --since 3d"],
      ["usage --from yesterday", "for a period, type: tollkeeper usage --since yesterday"],
      ["tail --limit 5", "for the newest, type: tollkeeper tail -n 5"],
      [
        "budget set opencode --limit 20 --per day",
        "for a limit in dollars, type: tollkeeper budget set opencode --usd 20 --per day",
      ],
    ].map(([typed = "", advice]) => [typed, [`there is no option ${/--\w+/.exec(typed)?.[0]}`, advice]]),
  ),
  "key show": [
    'there is no "key show"',
    "no command shows a key; to see which keys are stored, type: tollkeeper key list; to test one, type: tollkeeper key test",
  ],
  "key lst": [
    'there is no "key lst"; did you mean "key list"?',
    "for example: tollkeeper key list; for more, type: tollkeeper key --help",
  ],
  "prices set gpt-5 --input 1.25": [
    'there is no "prices set"',
    'to set a price of your own, add it to "prices" with: tollkeeper config edit; to see its form, type: tollkeeper config explain prices',
  ],
  ...Object.fromEntries(
    (["connect", "disconnect"] as const).map((verb) => [
      `${verb} claude,codex`,
      [`"${verb}" takes one tool`, `one at a time: tollkeeper ${verb} claude && tollkeeper ${verb} codex`],
    ]),
  ),
  "connect claude codex": [
    '"connect" takes no argument "codex"',
    "one at a time: tollkeeper connect claude && tollkeeper connect codex; for more, type: tollkeeper connect --help",
  ],
  "pause codex,opencode": [
    'a name has 1 to 64 characters of a-z, 0-9, ".", "_" and "-", and starts with a letter or digit',
    "one at a time: tollkeeper pause codex && tollkeeper pause opencode; for more, type: tollkeeper pause --help",
  ],
  ...Object.fromEntries(
    [
      ["config set listen.port=8700", '"config set" needs the name of a setting and its new value'],
      ["config set listen.port = 8700", '"config set" takes no argument "8700"'],
    ].map(([typed = "", error]) => [
      typed,
      [error, "type: tollkeeper config set listen.port 8700; for more, type: tollkeeper config set --help"],
    ]),
  ),
  "config set upstreams.other https://openrouter.ai/api/v1": [
    "nothing was written: upstreams.other: must be an object: { ... }",
    "type: tollkeeper config set upstreams.other.baseUrl https://openrouter.ai/api/v1",
  ],
  "config set tools.codex gentle": [
    "nothing was written: tools.codex: must be an object: { ... }",
    "set one of its values: tools.codex.upstreams, tools.codex.key, tools.codex.group, tools.codex.aliases, tools.codex.budgets, tools.codex.brake",
  ],
  "config set budgets.codex 20": [
    "the configuration has no budgets.codex",
    "to set that, type: tollkeeper budget set codex --usd 20 --per day",
  ],
  "config get port": [
    'the configuration has no port; did you mean "listen.port"?',
    "to see what it takes, type: tollkeeper config explain listen.port; to see all keys, type: tollkeeper config schema",
  ],
  "setup --base-url https://api.openai.com/v1/chat/completions --key-stdin --yes": [
    '--base-url must end before the route; did you mean "https://api.openai.com/v1"?',
    "type in its place: --base-url https://api.openai.com/v1",
  ],
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

test("a command that a hint prints in place of a mistake is taken as it is", async (t) => {
  const { env } = prepareHome(t, { config: CONFIG });
  const run = openCommandLine(env);
  for (const line of [
    "alias gpt-4o gpt-5",
    "brake codex gentle",
    "budget codex 20",
    "group codex small",
    "config listen.port 8700",
  ]) {
    const { stderr } = await run(...line.split(" "));
    const [, command = ""] = /type: tollkeeper (.*)$/m.exec(stderr) ?? [];
    assert.equal((await run(...command.split(" "))).code, 0, command);
  }
});

test("to remove the last upstream says that the sandbox responds from then on, and how to take it back", async (t) => {
  const { env, configFile } = prepareHome(t, { config: CONFIG });
  const run = openCommandLine(env);
  assert.doesNotMatch((await run("config", "unset", "upstreams.openai")).stderr, /sandbox/);
  const { stderr } = await run("config", "unset", "upstreams.default");
  const [, back = ""] =
    /^warning: upstreams: none is left, so the built-in sandbox .*\n +fix: (.*)|fix: (tollkeeper .*)$/m
      .exec(stderr)
      ?.filter(Boolean) ?? [];
  assert.match(
    back,
    /tollkeeper .*config set upstreams\.default\.baseUrl https:\/\/api\.anthropic\.com\/v1/,
    stderr,
  );
  assert.equal((await run(...back.replace(/^.*?tollkeeper /, "").split(" "))).code, 0);
  assert.match(readFileSync(configFile, "utf8"), /api\.anthropic\.com/);
});

test("a key that is piped in empty or within JSON is refused with the reason, and never repeated", async (t) => {
  const { env } = prepareHome(t, { config: CONFIG });
  for (const [input, error, advice] of [
    ["\n", 'no key "default" of upstream default was piped in: standard input is empty', /^hint: /],
    [
      '{"OPENAI_API_KEY": "sk-test-0123456789abcdef"}',
      "this is JSON, and not only a key",
      /^hint: enter only the API key, which is the value of "OPENAI_API_KEY", without its quotes$/,
    ],
    [
      '{"sk-test-0123456789abcdef": "sk-test-0123456789abcdef", "tokens": null}',
      "this is JSON, and not only a key",
      /^hint: enter only the API key that is in it, without its quotes$/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await runProgram(["key", "set", "--replace"], { env, input });
    assert.deepEqual(
      { code, stdout, error: stderr.split("\n")[0] },
      { code: 1, stdout: "", error: `error: ${error}` },
    );
    assert.match(stderr.split("\n")[1] ?? "", advice);
    assert.doesNotMatch(stderr, /0123456789/);
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
