import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseScript } from "../../src/service/stable-paths.ts";
import { HOME, createFiles } from "./machine-files.ts";
import type { FileLayout } from "./machine-files.ts";

const brew = "/opt/homebrew";
const fnm = `${HOME}/.local/share/fnm`;
const main = "node_modules/tollkeeper/dist/main.js";
const pnpm = `${HOME}/.local/share/pnpm/global/5`;

/** `from` is where the script runs from, `chosen` the expected path, and `risk` the expected text of the risk or null. */
const SCRIPTS: Record<string, FileLayout & { from: string; chosen: string; risk: RegExp | null }> = {
  "a checkout linked with npm link": {
    files: [`${HOME}/src/tollkeeper/dist/main.js`],
    links: { [`/usr/local/lib/${main}`]: `${HOME}/src/tollkeeper/dist/main.js` },
    from: `/usr/local/lib/${main}`,
    chosen: `${HOME}/src/tollkeeper/dist/main.js`,
    risk: null,
  },
  "npm's global packages": {
    files: [`/usr/lib/${main}`],
    from: `/usr/lib/${main}`,
    chosen: `/usr/lib/${main}`,
    risk: null,
  },
  "the global packages of Homebrew's Node": {
    files: [`${brew}/lib/${main}`],
    from: `${brew}/lib/${main}`,
    chosen: `${brew}/lib/${main}`,
    risk: null,
  },
  "a formula of Homebrew": {
    files: [`${brew}/Cellar/tollkeeper/0.1.0/libexec/lib/${main}`],
    links: { [`${brew}/opt/tollkeeper`]: "../Cellar/tollkeeper/0.1.0" },
    from: `${brew}/Cellar/tollkeeper/0.1.0/libexec/lib/${main}`,
    chosen: `${brew}/opt/tollkeeper/libexec/lib/${main}`,
    risk: null,
  },
  "pnpm's global packages": {
    files: [`${pnpm}/.pnpm/tollkeeper@0.1.0/${main}`],
    links: { [`${pnpm}/node_modules/tollkeeper`]: "../.pnpm/tollkeeper@0.1.0/node_modules/tollkeeper" },
    from: `${pnpm}/${main}`,
    chosen: `${pnpm}/${main}`,
    risk: null,
  },
  "Volta's packages, which are independent of Nodes": {
    files: [`${HOME}/.volta/tools/image/packages/tollkeeper/lib/${main}`],
    from: `${HOME}/.volta/tools/image/packages/tollkeeper/lib/${main}`,
    chosen: `${HOME}/.volta/tools/image/packages/tollkeeper/lib/${main}`,
    risk: null,
  },
  "the global packages of a Node of nvm": {
    files: [`${HOME}/.nvm/versions/node/v22.1.0/lib/${main}`],
    from: `${HOME}/.nvm/versions/node/v22.1.0/lib/${main}`,
    chosen: `${HOME}/.nvm/versions/node/v22.1.0/lib/${main}`,
    risk: /\(nvm\).* install it again, then run again: tollkeeper service install$/,
  },
  "the global packages of fnm's default Node, which the next default does not have": {
    files: [`${fnm}/node-versions/v22.1.0/installation/lib/${main}`],
    links: { [`${fnm}/aliases/default`]: "../node-versions/v22.1.0/installation" },
    from: `${fnm}/aliases/default/lib/${main}`,
    chosen: `${fnm}/node-versions/v22.1.0/installation/lib/${main}`,
    risk: /\(fnm\).* install it again, then run again: tollkeeper service install$/,
  },
  "the cache of npx": {
    files: [`${HOME}/.npm/_npx/0a1b2c3d/${main}`],
    from: `${HOME}/.npm/_npx/0a1b2c3d/${main}`,
    chosen: `${HOME}/.npm/_npx/0a1b2c3d/${main}`,
    risk: /cache of npx.*npm install -g.*tollkeeper service install$/,
  },
  "a temporary directory": {
    files: [`/tmp/build/${main}`],
    from: `/tmp/build/${main}`,
    chosen: `/tmp/build/${main}`,
    risk: /temporary directory.*npm install -g.*tollkeeper service install$/,
  },
};

for (const [place, { from, chosen, risk, ...layout }] of Object.entries(SCRIPTS)) {
  test(`chooseScript for ${place} returns ${chosen}${risk === null ? "" : " with a risk"}`, (t) => {
    const { root, probes } = createFiles(t, layout);
    const choice = chooseScript(root + from, probes);
    assert.equal(choice.path, root + chosen);
    assert.equal(probes.realpath(choice.path), probes.realpath(root + from), "it is the same file");
    if (risk === null) assert.equal(choice.risk, null);
    else assert.match(choice.risk ?? "", risk);
  });
}
