import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setUpMachine, type Machine, type MachineOptions } from "../../../helpers/daemon/machine.ts";
import { freePort } from "../../../helpers/process/free-port.ts";
import { sentinelKey } from "../../../helpers/keychain/key-command.ts";
import { mountDisk, remountDisk } from "../../../helpers/ledger/ledger.ts";
import { sendJson } from "../../../helpers/upstream/scripted-upstream.ts";
import { usageRecord } from "../../../helpers/ledger/usage-record.ts";
import type { Problem } from "./problem.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Problems of the ledger, of the clock, and of files of shells and tools. */
export const FILE_PROBLEMS: Problem[] = [
  {
    name: "the ledger directory is open to other users",
    build: (t) => withLedger(t, (directory) => chmodSync(directory, 0o755)),
    finds: [
      [
        "failure ledger: HOME/state/tollkeeper/ledger is open to other users",
        "chmod 700 'HOME/state/tollkeeper/ledger'",
      ],
    ],
  },
  {
    name: "other users can write to the ledger",
    build: (t) => withLedger(t, (directory) => chmodSync(directory, 0o777)),
    finds: [
      [
        "failure ledger: HOME/state/tollkeeper/ledger can be written by other users",
        "chmod 700 'HOME/state/tollkeeper/ledger'",
      ],
    ],
  },
  {
    name: "a file is in the place of the notes of running requests",
    build: (t) => withLedger(t, (directory) => writeFileSync(join(directory, "under-way"), "")),
    finds: [
      [
        "failure ledger: HOME/state/tollkeeper/ledger/under-way is a link or not a directory, so a crash would hide running requests",
        "mv 'HOME/state/tollkeeper/ledger/under-way' 'HOME/state/tollkeeper/ledger/under-way.away'",
      ],
    ],
  },
  {
    name: "other users can write to the notes of running requests",
    build: (t) =>
      withLedger(t, (directory) => {
        mkdirSync(join(directory, "under-way"));
        chmodSync(join(directory, "under-way"), 0o777);
      }),
    finds: [
      [
        "failure ledger: HOME/state/tollkeeper/ledger/under-way can be written by other users",
        "chmod 700 'HOME/state/tollkeeper/ledger/under-way'",
      ],
    ],
  },
  {
    name: "the newest day of the ledger is a link",
    build: (t) => withLedger(t, (directory) => symlinkSync("/nowhere", join(directory, "2099-01-01.ndjson"))),
    finds: [
      [
        "failure ledger: HOME/state/tollkeeper/ledger/2099-01-01.ndjson is a link or not a file, so tollkeeper does not write to it",
        "mv 'HOME/state/tollkeeper/ledger/2099-01-01.ndjson' 'HOME/state/tollkeeper/ledger/2099-01-01.ndjson.away'",
      ],
    ],
  },
  {
    name: "the ledger's disk is read-only",
    async build(t) {
      const disk = mountDisk(t, 1 << 30);
      return disk === null ? null : withDisk(t, disk, () => remountDisk(disk, "ro"));
    },
    finds: [
      ["failure daemon: it is not running", "tollkeeper serve"],
      [
        "failure ledger: DISK is not writable",
        'make it writable; or set another "ledger.directory" with: tollkeeper config edit',
      ],
    ],
  },
  {
    name: "the ledger's disk is nearly full",
    async build(t) {
      const disk = mountDisk(t, 1 << 20);
      return disk === null ? null : withDisk(t, disk, () => {});
    },
    finds: [
      ["failure daemon: it is not running", "tollkeeper serve"],
      [
        "failure ledger: only 1.0 MB free on the disk of DISK",
        "free disk space; see usage with: df -h 'DISK'",
      ],
    ],
  },
  {
    name: "the newest record is from next year",
    build: (t) => {
      return withLedger(t, (directory) => {
        const ts = new Date(Date.now() + 365 * DAY_MS).toISOString();
        const path = join(directory, `${ts.slice(0, 10)}.ndjson`);
        writeFileSync(path, `${JSON.stringify(usageRecord({ ts }))}\n`, { mode: 0o600 });
      });
    },
    finds: [
      [
        "warning clock: this clock says TIME, but the newest record of the ledger is from TIME",
        "sudo timedatectl set-ntp true",
      ],
    ],
  },
  {
    name: "lines of the last days contradict themselves",
    build: (t) => {
      return withLedger(t, (directory) => {
        const ts = new Date().toISOString();
        const text = `${JSON.stringify(usageRecord({ ts, bytes_in: -1 }))}\n{"v":1`;
        writeFileSync(join(directory, `${ts.slice(0, 10)}.ndjson`), text, { mode: 0o600 });
      });
    },
    finds: [
      [
        `warning ledger: 1 line of the last 7 days has a problem, the first is ${new Date().toISOString().slice(0, 10)}.ndjson:1: bytes_in is -1`,
        "tollkeeper ledger verify",
      ],
    ],
  },
  {
    name: "streams of a tool reported no usage in the last days",
    build: (t) => {
      return withLedger(t, (directory) => {
        for (const [daysAgo, tool, usage] of [
          [30, "former", "absent"],
          [6, "nightly", "absent"],
          [1, "aider", "absent"],
          [1, "opencode", "final"],
          [0, "nightly", "absent"],
        ] as const) {
          const ts = new Date(Date.now() - daysAgo * DAY_MS).toISOString();
          const record = usageRecord({
            ts,
            tool,
            usage,
            route: "/chat/completions",
            user_agent: "curl/7.88.1",
            ...(usage === "absent" && { tokens: null }),
          });
          const path = join(directory, `${ts.slice(0, 10)}.ndjson`);
          writeFileSync(path, `${JSON.stringify(record)}\n`, { mode: 0o600, flag: "a" });
        }
      });
    },
    finds: [
      [
        "warning usage: 1 stream of aider reported no usage in the last 7 days",
        "set stream_options in ~/.aider.model.settings.yml (MODEL is your model's name) with: tollkeeper connect aider --model MODEL",
      ],
      [
        "warning usage: 2 streams of nightly reported no usage in the last 7 days",
        'make it send "stream_options": { "include_usage": true }',
      ],
    ],
  },
  {
    name: "this clock is an hour behind the upstream's",
    build: (t) => {
      return setUpMachine(t, {
        upstream(_seen, res) {
          res.setHeader("date", new Date(Date.now() + 3_600_000).toUTCString());
          sendJson(res, { data: [] });
        },
      });
    },
    finds: [
      [
        "warning clock: this clock says TIME, but the response of upstream default is from TIME",
        "sudo timedatectl set-ntp true",
      ],
    ],
  },
  {
    name: "a key that tollkeeper keeps is still in a shell start-up file",
    build: (t) => setUpMachine(t, { files: { ".zshrc": "# mine\nexport ANTHROPIC_API_KEY='%KEY%'\n" } }),
    finds: [
      [
        "failure leftover-keys: ~/.zshrc:2 (ANTHROPIC_API_KEY) contains a key that is also stored in tollkeeper",
        "delete line 2 of ~/.zshrc",
      ],
    ],
  },
  {
    name: "a key that tollkeeper keeps is still in the environment",
    build: (t) => {
      const key = sentinelKey();
      return setUpMachine(t, { key, env: { ANTHROPIC_AUTH_TOKEN: key } });
    },
    finds: [
      [
        "failure leftover-keys: the environment (ANTHROPIC_AUTH_TOKEN) contains a key that is also stored in tollkeeper",
        "unset ANTHROPIC_AUTH_TOKEN, and remove it where it is set",
      ],
    ],
  },
  {
    name: "a key of another provider is in Codex's own file",
    build: (t) => {
      const file = JSON.stringify({ OPENAI_API_KEY: sentinelKey(), tokens: null }, null, 2);
      return setUpMachine(t, { files: { ".codex/auth.json": file } });
    },
    finds: [
      [
        "warning leftover-keys: ~/.codex/auth.json:2 (OPENAI_API_KEY) contains what looks like an API key",
        'to store it in tollkeeper, first configure its upstream with: tollkeeper config edit; then replace it with "placeholder" in line 2 of ~/.codex/auth.json',
      ],
    ],
  },
  {
    name: "a tool is configured with tollkeeper's former port",
    async build(t) {
      const OLD = String(await freePort());
      const url = `http://127.0.0.1:${OLD}/t/claude-code`;
      const file = `{\n  "env": { "ANTHROPIC_BASE_URL": "${url}", "ANTHROPIC_AUTH_TOKEN": "placeholder" }\n}\n`;
      return setUpMachine(t, { files: { ".claude/settings.json": file }, names: { OLD } });
    },
    finds: [
      [
        "failure base-urls: ~/.claude/settings.json:2 (ANTHROPIC_BASE_URL) points at port OLD, but tollkeeper uses PORT",
        "tollkeeper connect claude-code --yes",
      ],
    ],
  },
  {
    name: "two tools and a script are configured with tollkeeper's former port",
    async build(t) {
      const OLD = String(await freePort());
      const url = `http://127.0.0.1:${OLD}/t`;
      const claude = `{\n  "env": { "ANTHROPIC_BASE_URL": "${url}/claude-code", "ANTHROPIC_AUTH_TOKEN": "placeholder" }\n}\n`;
      const codex = `[model_providers.tollkeeper]\nbase_url = "${url}/codex/v1"\n`;
      const files = { ".claude/settings.json": claude, ".codex/config.toml": codex };
      return setUpMachine(t, { files, env: { OPENAI_BASE_URL: `${url}/nightly/v1` }, names: { OLD } });
    },
    finds: [
      [
        "failure base-urls: ~/.claude/settings.json:2 (ANTHROPIC_BASE_URL) and ~/.codex/config.toml:2 (base_url) point at port OLD, but tollkeeper uses PORT",
        "tollkeeper connect claude-code --yes && tollkeeper connect codex --yes",
      ],
      [
        "failure base-urls: the environment (OPENAI_BASE_URL) points at port OLD, but tollkeeper uses PORT",
        "change it to http://127.0.0.1:PORT/t/nightly/v1",
      ],
    ],
  },
  {
    name: "a tool is connected to a tollkeeper that does not run",
    build: (t) =>
      setUpMachine(t, {
        files: {
          ".codex/config.toml": '[model_providers.tollkeeper]\nbase_url = "http://127.0.0.1:%PORT%/v1"\n',
        },
        isStopped: true,
      }),
    finds: [["failure daemon: it is not running", "tollkeeper serve"]],
  },
  {
    name: "a base URL in the environment names a port on which nothing listens",
    async build(t) {
      const DEAD = String(await freePort());
      return setUpMachine(t, { env: { OPENAI_BASE_URL: `http://localhost:${DEAD}/v1` }, names: { DEAD } });
    },
    finds: [
      [
        "warning base-urls: the environment (OPENAI_BASE_URL) points at port DEAD, where nothing listens",
        "if it is meant for tollkeeper, change it to http://127.0.0.1:PORT/v1",
      ],
    ],
  },
  {
    name: "a base URL of a plan in the environment names another port",
    async build(t) {
      const DEAD = String(await freePort());
      return setUpMachine(t, {
        env: { ANTHROPIC_BASE_URL: `http://localhost:${DEAD}/t/claude-code/plan` },
        names: { DEAD },
      });
    },
    finds: [
      [
        "failure base-urls: the environment (ANTHROPIC_BASE_URL) points at port DEAD, but tollkeeper uses PORT",
        "change it to http://127.0.0.1:PORT/t/claude-code/plan",
      ],
    ],
  },
  {
    name: "a connected tool's requests go elsewhere",
    build: (t) => {
      const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:%PORT%/t/claude-code" };
      return setUpMachine(t, {
        files: { ".claude/settings.json": JSON.stringify({ env }) },
        env: { CLAUDE_CODE_USE_BEDROCK: "1" },
      });
    },
    finds: [
      [
        "warning tools: Claude Code is connected, but the environment (CLAUDE_CODE_USE_BEDROCK) sends requests elsewhere: it makes Claude Code use Amazon Bedrock",
        "tollkeeper connect claude-code",
      ],
    ],
  },
  {
    name: "a connected tool has no local token, and the daemon requires one",
    build: (t) => {
      const env = { ANTHROPIC_BASE_URL: "http://127.0.0.1:%PORT%/t/claude-code" };
      return setUpMachine(t, {
        config: () => ({ access: "token" }),
        files: { ".claude/settings.json": JSON.stringify({ env }) },
      });
    },
    finds: [
      [
        "failure daemon: local tokens are required, and none is registered",
        "tollkeeper connect TOOL; for a program that connect does not know: tollkeeper token add NAME",
      ],
      [
        "failure tools: Claude Code is connected, but it has no registered local token, so its requests are refused",
        "tollkeeper connect claude-code",
      ],
    ],
  },
];

/** Sets up a machine and changes its ledger. */
async function withLedger(t: TestContext, change: (directory: string) => void): Promise<Machine> {
  const machine = await setUpMachine(t);
  change(join(machine.home, "state", "tollkeeper", "ledger"));
  return machine;
}

/** Sets up a machine with its ledger on a disk of its own, without a daemon, which would report the problem as well. */
async function withDisk(t: TestContext, disk: string, change: () => void): Promise<Machine> {
  const options: MachineOptions = { config: () => ({ ledger: { directory: disk } }), names: { DISK: disk } };
  const machine = await setUpMachine(t, { ...options, isStopped: true });
  change();
  return machine;
}
