import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  configPath,
  currentHost,
  ledgerDirectory,
  runtimeDirectory,
  stateDirectory,
} from "../../src/adapters/paths.ts";
import type { HostInfo } from "../../src/core/host-info.ts";
import { defaultConfig } from "../../src/core/config/config.ts";
import { setEnvironment } from "../helpers/process/set-environment.ts";

const linux = (env: NodeJS.ProcessEnv): HostInfo => ({ platform: "linux", env, home: "/home/ada" });
const mac: HostInfo = { platform: "darwin", env: {}, home: "/Users/ada" };
const windows = (env: NodeJS.ProcessEnv): HostInfo => ({
  platform: "win32",
  env,
  home: "C:\\Users\\ada",
});

test("uses the XDG variables on Linux", () => {
  const on = linux({ XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s", XDG_RUNTIME_DIR: "/run/user/1" });
  assert.equal(configPath(on), "/c/tollkeeper/config.jsonc");
  assert.equal(stateDirectory(on), "/s/tollkeeper");
  assert.equal(runtimeDirectory(on), "/run/user/1/tollkeeper");
});

test("uses directories below the home directory on Linux without XDG variables", () => {
  assert.equal(configPath(linux({})), "/home/ada/.config/tollkeeper/config.jsonc");
  assert.equal(stateDirectory(linux({})), "/home/ada/.local/state/tollkeeper");
  assert.equal(runtimeDirectory(linux({})), "/home/ada/.local/state/tollkeeper/run");
});

test("ignores relative and empty XDG variables, so that nothing is read from the working directory", () => {
  for (const value of ["", ".", "config", "./config"]) {
    const on = linux({ XDG_CONFIG_HOME: value, XDG_STATE_HOME: value, XDG_RUNTIME_DIR: value });
    assert.equal(configPath(on), configPath(linux({})));
    assert.equal(stateDirectory(on), stateDirectory(linux({})));
    assert.equal(runtimeDirectory(on), runtimeDirectory(linux({})));
  }
});

test("uses Application Support on macOS", () => {
  assert.equal(configPath(mac), "/Users/ada/Library/Application Support/tollkeeper/config.jsonc");
  assert.equal(stateDirectory(mac), "/Users/ada/Library/Application Support/tollkeeper");
  assert.equal(runtimeDirectory(mac), "/Users/ada/Library/Application Support/tollkeeper/run");
});

test("uses APPDATA for the configuration and LOCALAPPDATA for state on Windows", () => {
  const on = windows({ APPDATA: "D:\\Roaming", LOCALAPPDATA: "D:\\Local" });
  assert.equal(configPath(on), "D:\\Roaming\\tollkeeper\\config.jsonc");
  assert.equal(stateDirectory(on), "D:\\Local\\tollkeeper");
  assert.equal(configPath(windows({})), "C:\\Users\\ada\\AppData\\Roaming\\tollkeeper\\config.jsonc");
  assert.equal(runtimeDirectory(windows({})), "C:\\Users\\ada\\AppData\\Local\\tollkeeper\\run");
});

test("keeps the ledger in the state directory unless the configuration names another", () => {
  assert.equal(ledgerDirectory(defaultConfig), join(stateDirectory(), "ledger"));
  const ledger = { ...defaultConfig.ledger, directory: "/var/usage" };
  const elsewhere = { ...defaultConfig, ledger };
  assert.equal(ledgerDirectory(elsewhere), "/var/usage");
});

test("the home directory has no slash at the end, so that what is in it can be told by comparing", (t) => {
  setEnvironment(t, { HOME: "/home/ada/" });
  assert.equal(currentHost().home, "/home/ada");
});
