import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { test } from "node:test";
import { chooseNode, createPathProbes } from "../../src/service/stable-paths.ts";
import { HOME, createFiles } from "./machine-files.ts";
import type { FileLayout } from "./machine-files.ts";

const brew = "/opt/homebrew";
const linuxbrew = "/home/linuxbrew/.linuxbrew";
const fnm = `${HOME}/.local/share/fnm`;
const mise = `${HOME}/.local/share/mise/installs/node`;
const store = "/nix/store/abc-nodejs-22.1.0";

/** `from` is where Node runs from, `chosen` the expected path, and `risk` the manager that the risk names or null. */
const NODES: Record<string, FileLayout & { from: string; chosen: string; risk: string | null }> = {
  "Debian's Node": { files: ["/usr/bin/node"], from: "/usr/bin/node", chosen: "/usr/bin/node", risk: null },
  "a Node in /usr/local, from Node's installer or n": {
    files: ["/usr/local/bin/node"],
    from: "/usr/local/bin/node",
    chosen: "/usr/local/bin/node",
    risk: null,
  },
  "Fedora's default Node": {
    files: ["/usr/bin/node-22"],
    links: { "/usr/bin/node": "node-22" },
    from: "/usr/bin/node-22",
    chosen: "/usr/bin/node",
    risk: null,
  },
  "a Node of Fedora that is not the default": {
    files: ["/usr/bin/node-22", "/usr/bin/node-24"],
    links: { "/usr/bin/node": "node-24" },
    from: "/usr/bin/node-22",
    chosen: "/usr/bin/node-22",
    risk: "dnf",
  },
  "Homebrew's Node": {
    files: [`${brew}/Cellar/node/24.1.0/bin/node`],
    links: {
      [`${brew}/opt/node`]: "../Cellar/node/24.1.0",
      [`${brew}/bin/node`]: "../Cellar/node/24.1.0/bin/node",
    },
    from: `${brew}/bin/node`,
    chosen: `${brew}/opt/node/bin/node`,
    risk: null,
  },
  "a versioned formula of Homebrew beside another Node": {
    files: [`${brew}/Cellar/node@22/22.1.0_1/bin/node`, `${brew}/Cellar/node/24.1.0/bin/node`],
    links: {
      [`${brew}/opt/node@22`]: "../Cellar/node@22/22.1.0_1",
      [`${brew}/bin/node`]: "../Cellar/node/24.1.0/bin/node",
    },
    from: `${brew}/Cellar/node@22/22.1.0_1/bin/node`,
    chosen: `${brew}/opt/node@22/bin/node`,
    risk: null,
  },
  "Homebrew's Node on an Intel Mac, linked to bin only": {
    files: ["/usr/local/Cellar/node/24.1.0/bin/node"],
    links: { "/usr/local/bin/node": "../Cellar/node/24.1.0/bin/node" },
    from: "/usr/local/Cellar/node/24.1.0/bin/node",
    chosen: "/usr/local/bin/node",
    risk: null,
  },
  "Homebrew's Node on Linux": {
    files: [`${linuxbrew}/Cellar/node/24.1.0/bin/node`],
    links: { [`${linuxbrew}/opt/node`]: "../Cellar/node/24.1.0" },
    from: `${linuxbrew}/Cellar/node/24.1.0/bin/node`,
    chosen: `${linuxbrew}/opt/node/bin/node`,
    risk: null,
  },
  "a Node of Homebrew that an upgrade has replaced": {
    files: [`${brew}/Cellar/node/24.1.0/bin/node`, `${brew}/Cellar/node/24.2.0/bin/node`],
    links: { [`${brew}/opt/node`]: "../Cellar/node/24.2.0" },
    from: `${brew}/Cellar/node/24.1.0/bin/node`,
    chosen: `${brew}/Cellar/node/24.1.0/bin/node`,
    risk: "Homebrew",
  },
  "nvm's Node": {
    files: [`${HOME}/.nvm/versions/node/v22.1.0/bin/node`],
    links: { [`${HOME}/.nvm/current`]: "versions/node/v22.1.0" },
    from: `${HOME}/.nvm/current/bin/node`,
    chosen: `${HOME}/.nvm/versions/node/v22.1.0/bin/node`,
    risk: "nvm",
  },
  "fnm's default Node, run through the path of one shell": {
    files: [`${fnm}/node-versions/v22.1.0/installation/bin/node`],
    links: {
      [`${fnm}/aliases/default`]: "../node-versions/v22.1.0/installation",
      "/run/user/1000/fnm_multishells/7_1": `${fnm}/node-versions/v22.1.0/installation`,
    },
    from: "/run/user/1000/fnm_multishells/7_1/bin/node",
    chosen: `${fnm}/aliases/default/bin/node`,
    risk: null,
  },
  "a Node of fnm that is not the default": {
    files: [
      `${fnm}/node-versions/v22.1.0/installation/bin/node`,
      `${fnm}/node-versions/v24.1.0/installation/bin/node`,
    ],
    links: {
      [`${fnm}/aliases/default`]: "../node-versions/v24.1.0/installation",
      [`${HOME}/.local/state/fnm_multishells/7_1`]: `${fnm}/node-versions/v22.1.0/installation`,
    },
    from: `${HOME}/.local/state/fnm_multishells/7_1/bin/node`,
    chosen: `${fnm}/node-versions/v22.1.0/installation/bin/node`,
    risk: "fnm",
  },
  "Volta's Node, beside its shim": {
    files: [`${HOME}/.volta/tools/image/node/22.1.0/bin/node`, `${HOME}/.volta/bin/volta-shim`],
    links: { [`${HOME}/.volta/bin/node`]: "volta-shim" },
    from: `${HOME}/.volta/tools/image/node/22.1.0/bin/node`,
    chosen: `${HOME}/.volta/tools/image/node/22.1.0/bin/node`,
    risk: "Volta",
  },
  "asdf's Node, beside its shim": {
    files: [`${HOME}/.asdf/installs/nodejs/22.1.0/bin/node`, `${HOME}/.asdf/shims/node`],
    from: `${HOME}/.asdf/installs/nodejs/22.1.0/bin/node`,
    chosen: `${HOME}/.asdf/installs/nodejs/22.1.0/bin/node`,
    risk: "asdf",
  },
  "mise's newest Node": {
    files: [`${mise}/22.1.0/bin/node`],
    links: { [`${mise}/22`]: "./22.1.0", [`${mise}/latest`]: "./22.1.0" },
    from: `${mise}/22.1.0/bin/node`,
    chosen: `${mise}/latest/bin/node`,
    risk: null,
  },
  "mise's newest Node of an older major version": {
    files: [`${mise}/22.1.0/bin/node`, `${mise}/24.1.0/bin/node`],
    links: { [`${mise}/22`]: "./22.1.0", [`${mise}/latest`]: "./24.1.0" },
    from: `${mise}/22.1.0/bin/node`,
    chosen: `${mise}/22/bin/node`,
    risk: null,
  },
  "mise's Node, with a shim only": {
    files: [`${mise}/22.1.0/bin/node`, `${HOME}/.local/bin/mise`],
    links: { [`${HOME}/.local/share/mise/shims/node`]: `${HOME}/.local/bin/mise` },
    from: `${mise}/22.1.0/bin/node`,
    chosen: `${mise}/22.1.0/bin/node`,
    risk: "mise",
  },
  "a Node in the store of n": {
    files: ["/usr/local/n/versions/node/22.1.0/bin/node", "/usr/local/bin/node"],
    from: "/usr/local/n/versions/node/22.1.0/bin/node",
    chosen: "/usr/local/n/versions/node/22.1.0/bin/node",
    risk: "n",
  },
  "Nix's Node in the user's profile": {
    files: [`${store}/bin/node`],
    links: {
      [`${HOME}/.nix-profile`]: "/nix/store/profile",
      "/nix/store/profile/bin/node": `${store}/bin/node`,
    },
    from: `${store}/bin/node`,
    chosen: `${HOME}/.nix-profile/bin/node`,
    risk: null,
  },
  "Nix's Node in the system profile": {
    files: [`${store}/bin/node`],
    links: { "/run/current-system/sw/bin/node": `${store}/bin/node` },
    from: `${store}/bin/node`,
    chosen: "/run/current-system/sw/bin/node",
    risk: null,
  },
  "Nix's Node of a nix-shell": {
    files: [`${store}/bin/node`],
    from: `${store}/bin/node`,
    chosen: `${store}/bin/node`,
    risk: "Nix",
  },
  "snap's Node": {
    files: ["/snap/node/9001/bin/node", "/usr/bin/snap"],
    links: { "/snap/node/current": "9001", "/snap/bin/node": "/usr/bin/snap" },
    from: "/snap/node/9001/bin/node",
    chosen: "/snap/node/current/bin/node",
    risk: null,
  },
  "an unpacked archive": {
    files: [`${HOME}/opt/node-v22.1.0-linux-x64/bin/node`],
    from: `${HOME}/opt/node-v22.1.0-linux-x64/bin/node`,
    chosen: `${HOME}/opt/node-v22.1.0-linux-x64/bin/node`,
    risk: "a directory of its own",
  },
  "an unpacked archive that the user has linked": {
    files: [`${HOME}/opt/node-v22.1.0-linux-x64/bin/node`],
    links: { [`${HOME}/.local/bin/node`]: `${HOME}/opt/node-v22.1.0-linux-x64/bin/node` },
    from: `${HOME}/opt/node-v22.1.0-linux-x64/bin/node`,
    chosen: `${HOME}/.local/bin/node`,
    risk: null,
  },
};

for (const [whose, { from, chosen, risk, ...layout }] of Object.entries(NODES)) {
  test(`chooseNode for ${whose} returns ${chosen}${risk === null ? "" : " with a risk"}`, (t) => {
    const { root, probes } = createFiles(t, layout);
    const choice = chooseNode(root + from, probes);
    assert.equal(choice.path, root + chosen);
    assert.equal(probes.realpath(choice.path), probes.realpath(root + from), "it is the same Node");
    if (risk === null) return assert.equal(choice.risk, null);
    assert.match(choice.risk ?? "", /; after an upgrade of Node, run again: tollkeeper service install$/);
    assert.ok(
      choice.risk?.startsWith(`the path of this Node (${risk}) is removed with its version`),
      choice.risk ?? "",
    );
  });
}

test("chooseNode for a Node that is missing or in a temporary directory returns a risk", (t) => {
  const { root, probes } = createFiles(t, { files: ["/tmp/x/bin/node"] });
  assert.match(
    chooseNode(`${root}/tmp/x/bin/node`, probes).risk ?? "",
    /temporary directory.*service install$/,
  );
  const gone = chooseNode(`${root}/usr/bin/node`, probes);
  assert.equal(gone.path, `${root}/usr/bin/node`);
  assert.match(gone.risk ?? "", /Node no longer exists at .*; run again: tollkeeper service install$/);
});

test("chooseNode on this machine returns a path to the Node of this process", () => {
  const probes = createPathProbes();
  assert.equal(probes.realpath(chooseNode(process.execPath, probes).path), probes.realpath(process.execPath));
  assert.ok(probes.temporary.includes(realpathSync(tmpdir())));
});
