import assert from "node:assert/strict";
import { test } from "node:test";
import { PROGRAM } from "../../helpers/daemon/program.ts";
import { sentinelKey } from "../../helpers/keychain/key-command.ts";
import { noKeyring } from "../../helpers/keychain/keychain-session.ts";
import { freePort } from "../../helpers/process/free-port.ts";
import { noUserSystemd, startUserSystemd } from "../../helpers/systemd/user-systemd.ts";
import { MESSAGE, sendJson, startUpstream } from "../../helpers/upstream/scripted-upstream.ts";

test(
  "on a real systemd and keyring, setup leads to an answered request, and uninstall takes everything away",
  { skip: noUserSystemd || noKeyring },
  async (t) => {
    const key = sentinelKey();
    const upstream = await startUpstream(t, ({ url, headers }, res) => {
      const isKnown = headers["x-api-key"] === key || headers.authorization === `Bearer ${key}`;
      sendJson(res, url === "/v1/models" ? { data: [{ id: "a" }] } : MESSAGE, isKnown ? 200 : 401);
    });
    const { home, write, run } = await startUserSystemd(t);
    const port = await freePort();
    const shell = async (line: string) => {
      const result = await run("sh", "-c", `cd ${home}; ${line}`);
      assert.ok(!(result.stdout + result.stderr).includes(key));
      assert.equal(result.code, 0, result.stderr);
      return result.stdout;
    };
    const tollkeeper = `${process.execPath} ${PROGRAM}`;
    write(`${home}/key`, key);
    write(`${home}/.config/tollkeeper/config.jsonc`, JSON.stringify({ listen: { port } }));
    write(`${home}/.claude/settings.json`, '{ "model": "opus" }');
    await shell(
      "chmod 700 .config/tollkeeper; chmod 600 .config/tollkeeper/*; mkdir .claude/projects; echo pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1",
    );
    const setup = await shell(
      `${tollkeeper} setup --base-url ${upstream.baseUrl} --key-stdin --service --connect claude-code --yes <key`,
    );
    assert.match(setup, /\n {2}service +running; starts at login/);
    const response = await fetch(`http://127.0.0.1:${port}/t/claude-code/v1/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    assert.deepEqual(await response.json(), MESSAGE);
    assert.match(await shell(`${tollkeeper} setup --yes`), /\n {2}service +already running/);
    await shell(`${tollkeeper} uninstall --ledger --yes`);
    assert.equal(await shell("cat .claude/settings.json"), '{ "model": "opus" }');
    assert.equal(await shell("find . -ipath '*tollkeeper*'"), "");
    await assert.rejects(fetch(`http://127.0.0.1:${port}/`));
  },
);
