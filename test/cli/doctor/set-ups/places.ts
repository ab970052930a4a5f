import { chmodSync, mkdirSync, readdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setUp, type SetUp, type SetUpOptions } from "../../../helpers/doctor.ts";
import { freePort } from "../../../helpers/free-port.ts";
import { sentinelKey } from "../../../helpers/key-command.ts";
import { mountDisk, remountDisk } from "../../../helpers/ledger.ts";
import { answerJson } from "../../../helpers/upstream.ts";
import { usageRecord } from "../../../helpers/usage-record.ts";
import type { BrokenSetUp } from "./broken.ts";

const STORE = "store it with: tollkeeper key set --config HOME/config.jsonc; then";

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is wrong with the ledger, the clock, and the files of shells and tools. */
export const PLACE_SET_UPS: BrokenSetUp[] = [
  {
    name: "the ledger can be read by others",
    build: (t) => withLedger(t, (directory) => chmodSync(directory, 0o755)),
    finds: [],
  },
  {
    name: "the ledger can be written by others",
    build: (t) => withLedger(t, (directory) => chmodSync(directory, 0o777)),
    finds: [],
  },
  {
    name: "the ledger's disk is read-only",
    async build(t) {
      const disk = mountDisk(t, 1 << 30);
      return disk === null ? null : withDisk(t, disk, () => remountDisk(disk, "ro"));
    },
    finds: [],
  },
  {
    name: "the ledger's disk is nearly full",
    async build(t) {
      const disk = mountDisk(t, 1 << 20);
      return disk === null ? null : withDisk(t, disk, () => {});
    },
    finds: [],
  },
  {
    name: "the newest record is of next year",
    build: (t) => {
      return withLedger(t, (directory) => {
        const ts = new Date(Date.now() + 365 * DAY_MS).toISOString();
        const path = join(directory, `${ts.slice(0, 10)}.ndjson`);
        writeFileSync(path, `${JSON.stringify(usageRecord({ ts }))}\n`, { mode: 0o600 });
      });
    },
    finds: [],
  },
  {
    name: "the upstream's clock says that ours is an hour slow",
    build: (t) => {
      return setUp(t, {
        upstream(_seen, res) {
          res.setHeader("date", new Date(Date.now() + 3_600_000).toUTCString());
          answerJson(res, { data: [] });
        },
      });
    },
    finds: [],
  },
  {
    name: "the key that tollkeeper keeps is still in a start-up file",
    build: (t) => setUp(t, { files: { ".zshrc": "# mine\nexport ANTHROPIC_API_KEY='KEY'\n" } }),
    finds: [],
  },
  {
    name: "the key that tollkeeper keeps is still in the environment",
    async build(t) {
      const machine = await setUp(t);
      return { ...machine, doctor: (...args) => machine.doctor(...args) };
    },
    finds: [],
  },
  {
    name: "a key of another provider is in Codex's own file",
    build: (t) => {
      const file = JSON.stringify({ OPENAI_API_KEY: sentinelKey(), tokens: null }, null, 2);
      return setUp(t, { files: { ".codex/auth.json": file } });
    },
    finds: [],
  },
  {
    name: "a tool leads to the port that tollkeeper had before",
    async build(t) {
      const OLD = String(await freePort());
      const url = `http://127.0.0.1:${OLD}/t/claude-code`;
      const file = `{\n  "env": { "ANTHROPIC_BASE_URL": "${url}", "ANTHROPIC_AUTH_TOKEN": "placeholder" }\n}\n`;
      return setUp(t, { files: { ".claude/settings.json": file }, names: { OLD } });
    },
    finds: [],
  },
  {
    name: "tools lead to tollkeeper, which does not run",
    build: (t) =>
      setUp(t, {
        files: {
          ".codex/config.toml": '[model_providers.tollkeeper]\nbase_url = "http://127.0.0.1:PORT/v1"\n',
        },
        isStopped: true,
      }),
    finds: [],
  },
  {
    name: "a base URL in the environment leads to a port where nobody listens",
    async build(t) {
      const DEAD = String(await freePort());
      return setUp(t, { env: { OPENAI_BASE_URL: `http://localhost:${DEAD}/v1` }, names: { DEAD } });
    },
    finds: [],
  },
];

/** With a ledger of a few records already, to which something was done. */
async function withLedger(t: TestContext, act: (directory: string) => void): Promise<SetUp> {
  const machine = await setUp(t);
  act(join(machine.home, "state", "tollkeeper", "ledger"));
  return machine;
}

/** The daemon is off: it would notice, too. */
async function withDisk(t: TestContext, disk: string, act: () => void): Promise<SetUp> {
  const options: SetUpOptions = { config: () => ({ ledger: { directory: disk } }), names: { DISK: disk } };
  const machine = await setUp(t, { ...options, isStopped: true });
  act();
  return machine;
}
