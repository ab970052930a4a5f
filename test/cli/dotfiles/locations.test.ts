import assert from "node:assert/strict";
import { test } from "node:test";
import { listDotfiles } from "../../../src/cli/dotfiles/locations.ts";

test("the environment variables that move the directories of shells and tools are respected", () => {
  const env = {
    CODEX_HOME: "/codex",
    CLAUDE_CONFIG_DIR: "/claude",
    ZDOTDIR: "/zsh",
    XDG_CONFIG_HOME: "/config",
    XDG_DATA_HOME: "/data",
  };
  const paths = listDotfiles({ home: "/home", env, platform: "linux" }).map(({ path }) => path);
  for (const path of [
    "/codex/auth.json",
    "/claude/settings.json",
    "/zsh/.zshrc",
    "/config/opencode/opencode.json",
    "/data/opencode/auth.json",
    "/config/io.datasette.llm/keys.json",
    "/home/.bashrc",
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.ok(!paths.some((path) => path.startsWith("/home/.codex")));
});

test("each location is listed once, with the kind of its owner", () => {
  const locations = listDotfiles({ home: "/home", env: {}, platform: "darwin" });
  assert.equal(new Set(locations.map(({ path }) => path)).size, locations.length);
  assert.equal(locations.find(({ path }) => path.endsWith(".zshrc"))?.kind, "shell");
  assert.equal(locations.find(({ path }) => path.endsWith(".claude.json"))?.kind, "tool");
});
