import { writeFileSync } from "node:fs";
import { service, UNITS } from "../service.ts";
import { INSTALL, shell, START, startUntilRefused, type BrokenSetup } from "./setup.ts";

const DROP_IN = `${UNITS}/tollkeeper.service.d/test.conf`;
const SET_ASIDE = `mv ${DROP_IN} ${DROP_IN}.off`;

/** Returns a row for a drop-in with these lines, with which the service does not start. */
function brokenBy(what: string, lines: string[], says: RegExp): BrokenSetup {
  return {
    what: `a drop-in ${what}`,
    async breaks() {
      await service.override(...lines);
      await startUntilRefused();
    },
    says,
    typed: [SET_ASIDE, START],
  };
}

function switchIpv6(isOff: 0 | 1): void {
  // The container shares the network namespace of this process.
  writeFileSync("/proc/sys/net/ipv6/conf/all/disable_ipv6", String(isOff));
}

function mask(unit: string): () => Promise<void> {
  return async () => {
    await service.mustRun("service", "stop");
    await shell(`ln -sf /dev/null ${UNITS}/${unit}`);
    await service.systemctl("daemon-reload");
  };
}

/** Units, and what they refer to. */
export const BROKEN_DEFINITIONS: readonly BrokenSetup[] = [
  {
    what: "a drop-in that breaks the unit under a running service",
    breaks: () => service.override("ExecStart=/usr/bin/true"),
    says: /it will not start again: .*test\.conf: Service has more than one ExecStart= setting/,
    typed: [SET_ASIDE, "tollkeeper service restart"],
  },
  brokenBy(
    "with another program, which is gone",
    ["ExecStart=", "ExecStart=/gone/node x serve"],
    /test\.conf: Command \/gone\/node is not executable: No such file or directory/,
  ),
  brokenBy(
    "with a directory that is gone",
    ["WorkingDirectory=/gone"],
    /Failed at step CHDIR .*No such file or directory; see .*test\.conf/,
  ),
  brokenBy(
    "with a file of variables that is gone",
    ["EnvironmentFile=/gone/env"],
    /Failed to run 'start' task: No such file or directory; see .*test\.conf/,
  ),
  brokenBy(
    "with a sandbox of its own, which cannot be set up",
    ["ReadWritePaths=/gone/x"],
    /its sandbox cannot be set up: .*; see .*test\.conf/,
  ),
  brokenBy(
    "with NODE_OPTIONS that would expose the key",
    ["Environment=NODE_OPTIONS=--inspect"],
    /Node is given settings .*; see .*test\.conf/,
  ),
  brokenBy(
    "with NODE_OPTIONS that Node does not know",
    ["Environment=NODE_OPTIONS=--bogus"],
    /Node is given settings .*; see .*test\.conf/,
  ),
  brokenBy(
    "that forbids the network",
    ["SystemCallFilter=~@network-io"],
    /its log does not say why it fails; see .*test\.conf/,
  ),
  {
    what: "a drop-in that needs a unit that is not there",
    async breaks() {
      service.ownFile(DROP_IN, "[Unit]\nRequires=gone.service\nAfter=gone.service\n");
      await service.systemctl("daemon-reload");
    },
    says: /it will not start again: .*test\.conf: .*Unit gone\.service not found/,
    typed: [SET_ASIDE, "tollkeeper service restart"],
  },
  {
    what: "a drop-in with a condition that does not hold",
    async breaks() {
      service.ownFile(DROP_IN, "[Unit]\nConditionPathExists=/gone\n");
      await service.systemctl("daemon-reload");
      await service.systemctl("restart", "tollkeeper.service");
    },
    says: /unmet condition check \(ConditionPathExists=\/gone\).*; see .*test\.conf/,
    typed: [SET_ASIDE, START],
  },
  {
    what: "a drop-in with a misspelled setting",
    breaks: () => service.override("MemoryMaxx=1G"),
    says: /test\.conf:2: Unknown key.*MemoryMaxx/,
    typed: [SET_ASIDE, "tollkeeper service restart"],
  },
  {
    what: "NODE_OPTIONS that the whole session has",
    async breaks() {
      await service.systemctl("set-environment", "NODE_OPTIONS=--inspect");
      await startUntilRefused();
    },
    says: /Node is given settings/,
    typed: ["systemctl --user unset-environment NODE_OPTIONS", START],
    undo: async () => void (await service.systemctl("unset-environment", "NODE_OPTIONS")),
  },
  {
    what: "IPv6 that was switched off after the installation",
    async breaks() {
      switchIpv6(1);
      await service.mustRun("service", "stop");
      await service.container.user("systemctl", "--user", "start", "tollkeeper.socket");
      await service.systemctl("start", "tollkeeper.service");
    },
    says: /it will not start again: tollkeeper\.socket cannot listen on \[::1\]:8655: IPv6 is disabled on this machine/,
    typed: [INSTALL],
    undo: () => switchIpv6(0),
  },
  {
    what: "IPv6 that was switched off while the service was stopped",
    async breaks() {
      await service.mustRun("service", "stop");
      switchIpv6(1);
    },
    says: /tollkeeper\.socket cannot listen on \[::1\]:8655: IPv6 is disabled on this machine/,
    typed: [INSTALL],
    undo: () => switchIpv6(0),
  },
  {
    what: "a masked service",
    breaks: mask("tollkeeper.service"),
    says: /tollkeeper\.service is masked/,
    typed: ["systemctl --user unmask tollkeeper.service", INSTALL],
  },
  {
    what: "a masked socket",
    breaks: mask("tollkeeper.socket"),
    says: /tollkeeper\.socket is masked/,
    typed: ["systemctl --user unmask tollkeeper.socket", INSTALL],
  },
];
