import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { noTerminal } from "../../helpers/process/terminal.ts";
import { startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { startDaemon } from "../../helpers/daemon/daemon.ts";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { runOnTerminal } from "../../helpers/process/terminal.ts";
import { sendJson } from "../../helpers/upstream/scripted-upstream.ts";
import { homeWithSystemd } from "../service/service-home.ts";
import { prepareSetup, writeConfiguration } from "./setup-home.ts";

const skip = noKeyring || noTerminal;

const OTHER = ["Type a number, 1 to 8, a name or a base URL: ", "8\n"] as [string, string];
const BASE_URL = "Base URL, such as https://api.example.com/v1: ";
const WANTS_KEY = ["Does it need an API key? [y/N] ", "y\n"] as [string, string];
const PASTE = "is not shown: ";
const CONNECT = "Connect them? Each change is shown first, and made only if you confirm it. [Y/n] ";

test(
  "setup asks for service, key and tools, and asks again where an answer cannot be used",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { upstream, key, configFile } = machine;
    const { code, text } = await machine.onTerminal(
      ["setup"],
      [
        ["1 to 8, a name or a base URL: ", "\n"],
        ["1 to 8, a name or a base URL: ", "antropic\n"],
        OTHER,
        [BASE_URL, "example.com\n"],
        [BASE_URL, "api.openai.com/v1\n"],
        [BASE_URL, "localhost:19301/v1\n"],
        [BASE_URL, `${upstream.baseUrl}/models\n`],
        [BASE_URL, `${upstream.baseUrl}\n`],
        WANTS_KEY,
        [PASTE, "abc\n"],
        [PASTE, "sk-not-the-right-one\n"],
        [PASTE, `${key}\n`],
        [CONNECT, "\n"],
        ["Connect Claude Code? [y/N] ", "y\n"],
        ["Connect Codex? [y/N] ", "n\n"],
      ],
    );
    assert.equal(code, 0, text);
    assert.match(text, /did you mean "https:\/\/api\.openai\.com\/v1"\?/);
    assert.match(text, /did you mean "http:\/\/localhost:19301\/v1"\?/);
    assert.match(text, /The base URL must end before the route; did you mean "http:.*\/v1"\?/);
    assert.match(
      text,
      new RegExp(
        `Paste the key for ${upstream.baseUrl}; it is sent only to ${upstream.origin}, and is not shown: \n`,
      ),
    );
    assert.match(text, /error: this does not look like an API key: it is only 3 characters long\n/);
    assert.match(text, /error: the key was rejected: .* responded with 401: no such key\n/);
    assert.ok(!text.includes("sk-not-the-right-one"));
    assert.match(text, /The background service is not available: systemd is not running /);
    assert.match(
      text,
      /\n {2}tool +Claude Code: connected.*\n {2}tool +Codex: not connected, as you chose\n/,
    );
    assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
    const configuration = readFileSync(configFile, "utf8");

    const again = await machine.onTerminal(
      ["setup"],
      [
        [`Requests go to ${upstream.baseUrl}. Keep that? [Y/n] `, "\n"],
        [CONNECT, "n\n"],
      ],
    );
    assert.equal(again.code, 0);
    assert.match(
      again.text,
      /accepts the key[^]*Already connected: Claude Code\.\nAI tools found on this machine: Codex\.\n/,
    );
    assert.deepEqual(
      [readFileSync(configFile, "utf8"), await machine.storedKeys()],
      [configuration, [`default@${upstream.origin}`]],
    );
  },
);

test("Ctrl-C says what was done and that setup can be run again", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { upstream, key } = machine;
  const toKey: [string, string][] = [OTHER, [BASE_URL, `${upstream.baseUrl}\n`], WANTS_KEY];
  for (const dialogue of [
    [["1 to 8, a name or a base URL: ", "\u0003"]],
    [...toKey, [PASTE, `${key}\u0003`]],
  ] as [string, string][][]) {
    const { code, text } = await machine.onTerminal(["setup"], dialogue);
    assert.equal(code, 130);
    assert.match(text, /\nStopped\. Nothing was changed; to start again, type: tollkeeper setup\n$/);
    assert.ok(!machine.exists(".config/tollkeeper"));
  }
  const halfway = await machine.onTerminal(["setup"], [...toKey, [PASTE, `${key}\n`], [CONNECT, "\u0003"]]);
  assert.equal(halfway.code, 130);
  assert.match(
    halfway.text,
    /\nStopped\. This was done; to continue, type: tollkeeper setup\n {2}upstream .*\n {2}key .*\n {2}service .*\n$/,
  );
  const betweenTools = await machine.onTerminal(
    ["setup"],
    [
      [`Requests go to ${upstream.baseUrl}. Keep that? [Y/n] `, "\n"],
      [CONNECT, "\n"],
      ["Connect Claude Code? [y/N] ", "y\n"],
      ["Connect Codex? [y/N] ", "\u0003"],
    ],
  );
  assert.match(betweenTools.text, /\nStopped\. This was done[^]*\n {2}tool +Claude Code: connected.*\n$/);
});

test("an upstream that says nothing about the key returns to the choice of service", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { upstream, key } = machine;
  const page = await startUpstream(t, (_seen, res) =>
    res.writeHead(200, { "content-type": "text/html" }).end("<p>"),
  );
  const { code, text } = await machine.onTerminal(
    ["setup"],
    [
      OTHER,
      [BASE_URL, `${page.origin}/app\n`],
      WANTS_KEY,
      [PASTE, `${key}\n`],
      ["Store the key untested? Answer no to choose the service again. [y/N] ", "\n"],
      OTHER,
      [BASE_URL, `${upstream.baseUrl}\n`],
      WANTS_KEY,
      [PASTE, `${key}\n`],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.match(text, new RegExp(`a web page \\(200\\)[^]*The base URL is probably ${page.origin}/v1\\.\n`));
  assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
});

test("a server that turns out to need a key is asked for it, and the choice is kept", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { upstream, key } = machine;
  const { code, text } = await machine.onTerminal(
    ["setup", "--base-url", upstream.baseUrl],
    [
      [PASTE, `${key}\n`],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.match(text, new RegExp(`^${upstream.origin} needs a key\\.$`, "m"));
  assert.ok(!text.includes("Which service"), text);
  assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
});

test(
  "a key that is pasted where yes or no is asked is taken as the key, and is never on the screen",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { upstream, key } = machine;
    // onTerminal fails where the key is on the screen.
    const { code, text } = await machine.onTerminal(
      ["setup"],
      [
        ["1 to 8, a name or a base URL: ", `${key}\n`],
        OTHER,
        [BASE_URL, `${key}\n`],
        [BASE_URL, `${upstream.baseUrl}\n`],
        ["Does it need an API key? [y/N] ", "perhaps\n"],
        ["Does it need an API key? [y/N] ", `${key}\n`],
        [CONNECT, "what?\n"],
        [CONNECT, `${key}\n`],
        [CONNECT, "no\n"],
      ],
    );
    assert.equal(code, 0, text);
    assert.match(text, /That looks like an API key, so it is not shown\./);
    assert.match(text, /\[y\/N\] \nType y for yes, or n for no\.\n/);
    assert.match(text, new RegExp(`taken as the key\\. It is sent only to ${upstream.origin}\\.\n`));
    assert.match(text, /\[Y\/n\] no\n/);
    assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
  },
);

test("a service is chosen by its number or its name", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const stop: [string, string] = [PASTE, "\u0003"];
  const choose = (answer: string, ...rest: [string, string][]) =>
    machine.onTerminal(["setup"], [["1 to 8, a name or a base URL: ", `${answer}\n`], ...rest]);
  for (const answer of ["1", "Anthropic", "anthropic", "anth"])
    assert.match(
      (await choose(answer, stop)).text,
      /Paste the key for https:\/\/api\.anthropic\.com\/v1;/,
      answer,
    );
  assert.match(
    (await choose("openrouter", stop)).text,
    /Paste the key for https:\/\/openrouter\.ai\/api\/v1;/,
  );
  const local = await choose("LM Studio", ["Base URL [http://127.0.0.1:1234/v1]: ", "\u0003"]);
  assert.equal(local.code, 130);
  assert.match((await choose("azure", [BASE_URL, "\u0003"])).text, /Base URL, such as/);
  const unknown = await choose("Mistral", ["1 to 8, a name or a base URL: ", "\u0003"]);
  assert.match(unknown.text, /\n"Mistral" is none of these\.\n/);
});

test("a base URL without TLS is refused in a sentence", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { text } = await machine.onTerminal(
    ["setup"],
    [OTHER, [BASE_URL, "http://api.example.com/v1\n"], [BASE_URL, "\u0003"]],
  );
  assert.match(
    text,
    /\nThe base URL must start with https:\/\/, unless the host is this machine; did you mean "https:/,
  );
});

test("a configured server that took no key can be given one", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { upstream, key } = machine;
  const before = { baseUrl: upstream.baseUrl, auth: "none" };
  writeConfiguration(machine, JSON.stringify({ upstreams: { default: before } }));
  const keep = `Requests go to ${upstream.baseUrl}. Keep that? [Y/n] `;
  const { code, text } = await machine.onTerminal(
    ["setup"],
    [
      [keep, "\n"],
      [PASTE, `${key}\n`],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.deepEqual(await machine.storedKeys(), [`default@${upstream.origin}`]);
});

test("a server on this machine is taken without a key, even before it is started", { skip }, async (t) => {
  const machine = await prepareSetup(t);
  const { code, text } = await machine.onTerminal(
    ["setup"],
    [
      ["1 to 8, a name or a base URL: ", "7\n"],
      ["Base URL [http://127.0.0.1:11434/v1]: ", "http://127.0.0.1:9/v1\n"],
      ["Does it need an API key? [y/N] ", "\n"],
      [CONNECT, "n\n"],
    ],
  );
  assert.equal(code, 0, text);
  assert.match(text, /warning: cannot connect to http:\/\/127\.0\.0\.1:9: /);
  assert.match(
    readFileSync(machine.configFile, "utf8"),
    /"baseUrl": "http:\/\/127\.0\.0\.1:9\/v1",\n\s+"auth": "none"/,
  );
});

test(
  "a daemon that was started by hand is stopped for the service only after asking",
  { skip: noTerminal },
  async (t) => {
    const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
    const daemon = await startDaemon(t, { config: writeKeyFile(t, upstream.baseUrl, sentinelKey()).config });
    const failing = [{ match: "--user enable *", code: 1, stderr: "no such unit" }];
    const { env } = homeWithSystemd(t, { systemctl: failing }, daemon.home);
    const run = (answer: string) =>
      runOnTerminal([process.execPath, PROGRAM, "setup", "--config", daemon.configFile], { env }, [
        ["Keep that? [Y/n] ", "\n"],
        ["Run tollkeeper in the background, now and after each login? [Y/n] ", "\n"],
        [`tollkeeper is already running, started by hand (pid ${daemon.pid}). Stop it first? [Y/n] `, answer],
      ]);
    const kept = await run("n\n");
    assert.equal(kept.code, 1);
    assert.match(
      kept.text,
      /error: a daemon that was started by hand is already running: .*\r\nhint: stop it with: tollkeeper service stop/,
    );
    const stopped = await run("\n");
    assert.equal(await daemon.ended, 0);
    assert.match(stopped.text, /has stopped\r\n[^]*error: /);
    assert.match(stopped.text, /What to type next:\r\n {2}tollkeeper service install /);
  },
);

test(
  "a base URL that is typed at the first question is taken, or what is wrong with it is said",
  { skip },
  async (t) => {
    const machine = await prepareSetup(t);
    const { upstream, key } = machine;
    const menu = "1 to 8, a name or a base URL: ";
    const { code, text } = await machine.onTerminal(
      ["setup"],
      [
        [menu, "api.example.com/v1\n"],
        [menu, "http://api.example.com/v1\n"],
        [menu, `${upstream.baseUrl}\n`],
        WANTS_KEY,
        [PASTE, `${key}\n`],
        [CONNECT, "n\n"],
      ],
    );
    assert.equal(code, 0, text);
    assert.match(
      text,
      /The base URL must be an absolute URL .*did you mean "https:\/\/api\.example\.com\/v1"\?/,
    );
    assert.match(text, /The base URL must start with https:\/\/, unless/);
    assert.doesNotMatch(text, /none of these/);
  },
);
