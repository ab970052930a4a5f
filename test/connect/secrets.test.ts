import assert from "node:assert/strict";
import fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { renderDiff } from "../../src/connect/edit/diff.ts";
import type { Format } from "../../src/tools/setting.ts";
import { Secret } from "../../src/core/secrets/secret.ts";
import { scratchConnection } from "./scratch-connection.ts";

const KEY = "Qm9uZGVkIHdhcmVob3VzZSA0MjE3";

/** Spellings of a key in `apiKey`, the credential that connecting replaces, and elsewhere in the same file. */
const WRITTEN: [format: Format, text: string][] = [
  ["jsonc", `{\n  "apiKey":\n    "${KEY}"\n}\n`],
  ["jsonc", `{\n  "apiKey" /* work */ : "${KEY}"\n}\n`],
  ["jsonc", `{\n  "apiKey": "Bearer ${KEY}"\n}\n`],
  ["jsonc", `{\n  "apiKey": "${KEY}",\n  "apiKeyHelper": "echo ${KEY}"\n}\n`],
  ["yaml", `apiKey: >-\n  ${KEY}\n`],
  ["yaml", `apiKey:\n  ${KEY}\nother: 1\n`],
  ["toml", `apiKey = """\\\n  ${KEY}"""\n`],
];

/** Connects and disconnects, and returns everything that is shown or kept. */
function tracesOf(
  home: ReturnType<typeof scratchConnection>,
  connect: () => ReturnType<typeof home.connect>,
) {
  const { changes, keys } = connect();
  const kept = fs
    .readdirSync(home.journals)
    .map((name) => fs.readFileSync(join(home.journals, name), "utf8"));
  const undone = home.disconnect()?.changes ?? [];
  return { keys, traces: [...changes, ...undone].flatMap(renderDiff).concat(kept).join("\n") };
}

for (const [format, text] of WRITTEN) {
  test(`neither shows nor keeps the key of ${JSON.stringify(text)}`, (t) => {
    const home = scratchConnection(t);
    home.write("settings", text);
    const { keys, traces } = tracesOf(home, () =>
      home.connect(home.file("settings", format, [["apiKey"], "tk-codex"])),
    );
    assert.equal(keys.length, 1);
    assert.ok(keys[0]?.key.isSameAs(new Secret(KEY)));
    assert.ok(!traces.includes(KEY), traces);
    assert.match(traces, /\*{28}/);
  });
}

test("redacts a moved key everywhere else in the file while it is known", (t) => {
  const home = scratchConnection(t);
  home.write("settings.json", `{\n  // was ${KEY}, once\n  "apiKey": "${KEY}"\n}\n`);
  const { changes } = home.prepare(home.file("settings.json", "jsonc", [["apiKey"], "tk-codex"]));
  const lines = changes.flatMap(renderDiff).join("\n");
  assert.match(lines, /was \*{28}, once/);
  assert.ok(!lines.includes(KEY), lines);
});

const BESIDE: [format: Format, line: string][] = [
  ["jsonc", `"experimental_bearer_token": "${KEY}"`],
  ["jsonc", `"headers": { "Authorization": "Bearer ${KEY}" }`],
  ["jsonc", `"token" : // it\n "${KEY}"`],
  ["jsonc", `"ANTHROPIC_CUSTOM_HEADERS": "x-api-key: ${KEY}"`],
  ["jsonc", `"apiKeyHelper": "echo ${KEY}"`],
  ["jsonc", `"url": "postgres://u:${KEY}@db"`],
  ["yaml", `client_secret: >-\n  ${KEY}`],
];

for (const [format, line] of BESIDE) {
  test(`neither shows nor keeps another secret in the file: ${JSON.stringify(line)}`, (t) => {
    const home = scratchConnection(t);
    home.write("settings", format === "jsonc" ? `{\n  ${line}\n}\n` : `${line}\n`);
    const { keys, traces } = tracesOf(home, () => home.connect(home.file("settings", format)));
    assert.deepEqual(keys, []);
    assert.ok(!traces.includes(KEY), traces);
  });
}

for (const value of [`https://user:${KEY}@proxy`, `https://proxy/?key=${KEY}`, `ghp_${KEY}`]) {
  test(`refuses to overwrite a value with a secret that could not be kept: ${value}`, (t) => {
    const home = scratchConnection(t);
    home.write("settings.json", JSON.stringify({ base: value }));
    assert.throws(
      () => home.connect(home.file("settings.json")),
      /:1:9: base contains a login, which would be lost$/,
    );
    assert.ok(!fs.existsSync(home.journals));
  });
}
