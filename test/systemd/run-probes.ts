import assert from "node:assert/strict";
import type { Container } from "./container.ts";
import { probeProgram } from "./probe-program.ts";
import { PROBED_HOME, PROBED_PLACES } from "./probes.ts";
import { UNITS } from "./service.ts";
import { SERVICE_USER } from "./service-user.ts";

const PROGRAM = "/usr/local/lib/tollkeeper-probe.pl";
const UNIT = "tollkeeper-probe.service";
/** systemd opens this file for the unit before it sets up the sandbox. */
const OUTPUT = "/var/lib/tollkeeper-probe.out";

/** Replaces the settings that run the daemon or require its cooperation. */
const PROBE_SETTINGS = [
  "Type=oneshot",
  "ExecStart=",
  "ExecReload=",
  "WatchdogSec=0",
  "Restart=no",
  "NotifyAccess=none",
];

/** Writes the probe program and the files that it tries to access. */
export async function prepareProbes(container: Container): Promise<void> {
  container.write(PROGRAM, probeProgram());
  container.write(OUTPUT, "");
  for (const result of [
    await container.root("sh", "-ec", `${PROBED_PLACES} chown ${SERVICE_USER.name} ${OUTPUT}`),
    await container.user(
      "sh",
      "-ec",
      `${PROBED_HOME}\nmkdir -p ${UNITS} ~/.local/state/tollkeeper "$XDG_RUNTIME_DIR/tollkeeper"`,
    ),
    // In the session keyring of the user's systemd, which its services share by default.
    await container.user("systemd-run", "--user", "--wait", "--quiet", "perl", PROGRAM, "--plant"),
  ])
    assert.equal(result.code, 0, result.stderr);
}

/**
 * Runs the probes of `settings`, or all probes, as a service of the user with `lines` in its [Service] section.
 * @returns the outcomes by setting
 */
export async function runProbes(
  container: Container,
  lines: readonly string[],
  settings: readonly string[] = [],
): Promise<Map<string, string>> {
  await runUnit(container, lines, ["perl", PROGRAM, ...settings].join(" "));
  const outcomes = container.read(OUTPUT).trim().split("\n");
  return new Map(outcomes.map((line) => line.split("\t") as [string, string]));
}

/** Runs a command, which must succeed, as a service of the user with `lines` in its [Service] section. */
export async function runUnit(
  container: Container,
  lines: readonly string[],
  command: string,
): Promise<void> {
  const own = [...PROBE_SETTINGS, `ExecStart=${command}`, `StandardOutput=truncate:${OUTPUT}`];
  container.write(`${UNITS}/${UNIT}`, ["[Service]", ...lines, ...own, ""].join("\n"), SERVICE_USER.uid);
  const started = await container.user(
    "sh",
    "-c",
    `systemctl --user daemon-reload && systemctl --user start ${UNIT}`,
  );
  assert.equal(started.code, 0, `${lines.join(", ")}: ${started.stderr}`);
}
