import assert from "node:assert/strict";
import { createServer } from "node:https";
import { once } from "node:events";
import { connect, createServer as createTcpServer } from "node:net";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { runProgram } from "../../helpers/daemon/run-program.ts";
import { prepareHome, startDaemon } from "../../helpers/daemon/daemon.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { writeKeyFile } from "../../helpers/keychain/key-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";
import { listenOnLoopback } from "../../helpers/upstream/loopback-port.ts";

// What can be reached is what the daemon reaches, not what the shell does in which the command is typed.

/** An https upstream whose certificate no list of authorities has. */
async function startPrivateUpstream(t: TestContext) {
  const { key, cert, file } = makeCertificate(t, "IP:127.0.0.1");
  const credentials: string[] = [];
  const server = createServer({ key, cert }, (req, res) => {
    credentials.push(req.headers.authorization ?? "");
    res.setHeader("content-type", "application/json").end('{"data":[{"id":"a"}]}');
  });
  const port = await listenOnLoopback(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const secret = sentinelKey();
  const { config } = writeKeyFile(t, `https://127.0.0.1:${port}/v1`, secret);
  return { authority: file, credentials, secret, config };
}

/** Variables with which only this shell trusts the authority. */
const SHELLS: [name: string, env: (authority: string) => Record<string, string>, names: RegExp][] = [
  [
    "NODE_EXTRA_CA_CERTS",
    (file) => ({ NODE_EXTRA_CA_CERTS: file }),
    /NODE_EXTRA_CA_CERTS is set in this shell/,
  ],
  [
    "SSL_CERT_FILE with --use-openssl-ca",
    (file) => ({ SSL_CERT_FILE: file, NODE_OPTIONS: "--use-openssl-ca" }),
    /SSL_CERT_FILE is set in this shell/,
  ],
];

for (const [name, variables, names] of SHELLS) {
  test(`key test and doctor report what the daemon trusts when only the shell has ${name}`, async (t) => {
    const { authority, credentials, config } = await startPrivateUpstream(t);
    const daemon = await startDaemon(t, { config });
    const env = { ...daemon.env, ...variables(authority) };
    const set = `tollkeeper config set outbound.caFile ${authority}`;

    const tested = await runProgram(["key", "test", "--config", daemon.configFile], { env });
    assert.equal(tested.code, 1);
    assert.match(tested.stderr, /^error: cannot connect to .*: its certificate is self-signed/);
    assert.match(tested.stderr, names);
    assert.ok(
      tested.stderr.includes(`to have the daemon trust that authority, too, type: ${set}\n`),
      tested.stderr,
    );

    const { stdout } = await runProgram(["doctor", "--config", daemon.configFile], { env });
    assert.match(stdout, /failure\s+upstreams\s+default: cannot connect to/);
    assert.ok(stdout.includes(set), stdout);
    assert.deepEqual(credentials, [], "the key was sent by the command");
  });

  test(`without a daemon, key test and doctor ignore ${name} of the shell, and say so`, async (t) => {
    const { authority, credentials, config } = await startPrivateUpstream(t);
    const { env, configFile } = prepareHome(t, { config });
    const shell = { ...env, ...variables(authority) };

    const tested = await runProgram(["key", "test", "--config", configFile], { env: shell });
    assert.equal(tested.code, 1);
    assert.match(
      tested.stderr,
      /^note: no daemon runs .*: without .* of this shell\nerror: cannot connect to /,
    );
    assert.match(tested.stderr, names);

    const { stdout } = await runProgram(["doctor", "--config", configFile], { env: shell });
    assert.match(
      stdout,
      /no daemon runs with this configuration, so this command asked as the service would: without /,
    );
    assert.deepEqual(credentials, []);
  });
}

test("when only the daemon's shell had NODE_EXTRA_CA_CERTS, the key is accepted, and doctor says that a service would refuse", async (t) => {
  const { authority, config } = await startPrivateUpstream(t);
  const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: authority } });
  const { NODE_EXTRA_CA_CERTS: _there, ...env } = daemon.env;
  const { code, stdout } = await runProgram(["key", "test", "--config", daemon.configFile], { env });
  assert.deepEqual([code, /accepts the key "default" and lists 1 model/.test(stdout)], [0, true]);
  const json = await runProgram(["key", "test", "--json", "--config", daemon.configFile], { env });
  assert.equal((JSON.parse(json.stdout) as { tested_by: string }).tested_by, "daemon");
  const doctor = await runProgram(["doctor", "--config", daemon.configFile], { env });
  assert.match(doctor.stdout, /the daemon has NODE_EXTRA_CA_CERTS from the shell that started it/);
  assert.ok(doctor.stdout.includes(`tollkeeper config set outbound.caFile ${authority}`), doctor.stdout);
});

test("what the hint says to type makes the daemon accept the key", async (t) => {
  const { authority, credentials, secret, config } = await startPrivateUpstream(t);
  const daemon = await startDaemon(t, { config });
  assert.equal((await daemon.command("config", "set", "outbound.caFile", authority)).code, 0);
  await daemon.waitForOutput(/the new configuration is in force/);
  assert.equal((await daemon.command("key", "test")).code, 0);
  assert.deepEqual(credentials, [`Bearer ${secret}`]);
});

test("a proxy that only the shell's variables name is offered for the configuration, without its password", async (t) => {
  const unused = createTcpServer();
  const port = await listenOnLoopback(unused);
  unused.close();
  await once(unused, "close");
  const { config } = writeKeyFile(t, `http://127.0.0.1:${port}/v1`, sentinelKey());
  const daemon = await startDaemon(t, { config });
  const run = async (proxy: string) =>
    (
      await runProgram(["key", "test", "--config", daemon.configFile], {
        env: { ...daemon.env, HTTPS_PROXY: proxy },
      })
    ).stderr;
  assert.match(
    await run("http://proxy.corp.example:3128"),
    /HTTPS_PROXY is set in this shell, .*tollkeeper config set outbound\.httpsProxy http:\/\/proxy\.corp\.example:3128\n/s,
  );
  const withPassword = await run("http://ada:hunter2@proxy.corp.example:3128");
  assert.match(withPassword, /"outbound.httpsProxy" with: tollkeeper config edit/);
  assert.doesNotMatch(withPassword, /hunter2/);
});

test("no key passes through the control socket when the daemon tests keys", async (t) => {
  const { authority, secret, config } = await startPrivateUpstream(t);
  const daemon = await startDaemon(t, { config, env: { NODE_EXTRA_CA_CERTS: authority } });
  // A relay in the daemon's place hears both sides.
  const heard: Buffer[] = [];
  const real = join(daemon.env["XDG_RUNTIME_DIR"] ?? "", "tollkeeper", "control.sock");
  const path = join(scratchDirectory(t), "relay.sock");
  const relay = createTcpServer((client) => {
    const server = connect(real);
    client.on("data", (bytes: Buffer) => heard.push(bytes)).pipe(server);
    server.on("data", (bytes: Buffer) => heard.push(bytes)).pipe(client);
    for (const socket of [client, server]) socket.on("error", () => {});
  }).listen(path);
  t.after(() => relay.close());
  await once(relay, "listening");
  const state = join(daemon.home, "state", "tollkeeper");
  writeFileSync(join(state, `daemon-${hostname()}.json`), JSON.stringify({ control: path, pid: 1 }));
  for (const words of [["key", "test"], ["doctor"]]) await daemon.command(...words);
  const all = Buffer.concat(heard).toString();
  assert.match(all, /test-keys\?/);
  assert.ok(!all.includes(secret));
});

test("a key that is replaced in its file while the daemon runs is the one that is tested, and then the one that requests use", async (t) => {
  const [right, wrong] = [sentinelKey(), sentinelKey()];
  const upstream = await startUpstream(t, ({ headers }, res) =>
    headers.authorization === `Bearer ${right}`
      ? sendJson(res, { data: [{ id: "a" }] })
      : sendJson(res, { error: { message: "no such key" } }, 401),
  );
  const file = writeKeyFile(t, upstream.baseUrl, right);
  const daemon = await startDaemon(t, { config: file.config });
  for (const [key, code, status] of [
    [right, 0, 200],
    [wrong, 1, 401],
    [right, 0, 200],
  ] as const) {
    file.write(key);
    const tested = await daemon.command("key", "test");
    assert.equal(tested.code, code, tested.stderr);
    assert.equal((await fetch(`${daemon.url}/v1/models`)).status, status);
  }
});

test("key test with the name of a key that its source does not have says so, and tests no other", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { data: [] }));
  const file = writeKeyFile(t, upstream.baseUrl, sentinelKey());
  const { env, configFile } = prepareHome(t, { config: file.config });
  const { code, stderr } = await runProgram(["key", "test", "other", "--config", configFile], { env });
  assert.equal(code, 1);
  assert.equal(
    stderr,
    `error: no key is called "other": upstream default has one key, "default", in: file ${file.path}\nhint: to test it, type: tollkeeper key test\n`,
  );
  assert.deepEqual(upstream.seen, []);
});

test("the hint about a rejected key names where it is stored, and what is wrong with its text", async (t) => {
  const upstream = await startUpstream(t, (_seen, res) => sendJson(res, { error: { message: "no" } }, 401));
  const file = writeKeyFile(t, upstream.baseUrl, sentinelKey());
  const daemon = await startDaemon(t, { config: file.config });
  for (const [key, error, hint] of [
    [sentinelKey(), "401: no", `if the key is wrong, replace it in: file ${file.path}`],
    [
      `OPENAI_API_KEY=${sentinelKey()}`,
      "401: no; it does not look like an API key: it has a name in front",
      `enter only what is behind the name, in: file ${file.path}`,
    ],
    [
      `"${sentinelKey()}"`,
      "401: no; it does not look like an API key: it has quotes around it",
      `enter it without them, in: file ${file.path}`,
    ],
  ] as const) {
    file.write(key);
    const { code, stderr } = await daemon.command("key", "test");
    assert.equal(code, 1);
    assert.equal(
      stderr,
      `error: the key was rejected: ${upstream.baseUrl} responded with ${error}\nhint: ${hint}\n`,
    );
  }
});
