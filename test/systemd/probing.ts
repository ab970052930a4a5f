import assert from "node:assert/strict";
import type { Container } from "./container.ts";
import { probeProgram } from "./probe-program.ts";
import { PROBED_HOME, PROBED_PLACES } from "./probes.ts";
import { UNITS } from "./service.ts";
import { USER } from "./user.ts";

const PROGRAM = "/usr/local/lib/tollkeeper-probe.pl";
const UNIT = "tollkeeper-probe.service";
/** systemd opens it for the unit, before it shuts everything else. */
const OUTPUT = "/var/lib/tollkeeper-probe.out";

/** Takes the place of what the daemon's unit runs, and of what only the daemon can answer. */
const INSTEAD_OF_DAEMON = [
  "Type=oneshot",
  "ExecStart=",
  "ExecReload=",
  "WatchdogSec=0",
  "Restart=no",
  "NotifyAccess=none",
];

/** Puts the program, and what it tries to get at, into the container. */
export async function prepareProbing(container: Container): Promise<void> {
  container.write(PROGRAM, probeProgram());
  container.write(OUTPUT, "");
  for (const made of [
    await container.root("sh", "-ec", `${PROBED_PLACES} chown ${USER.name} ${OUTPUT}`),
    await container.user(
      "sh",
      "-ec",
      `${PROBED_HOME}\nmkdir -p ${UNITS} ~/.local/state/tollkeeper "$XDG_RUNTIME_DIR/tollkeeper"`,
    ),
    // In the session keyring of the user manager, which its services share unless told otherwise.
    await container.user("systemd-run", "--user", "--wait", "--quiet", "perl", PROGRAM, "--plant"),
  ])
    assert.equal(made.code, 0, made.stderr);
}

/**
 * Runs the probes of the named settings as a service of the user, with these lines in its [Service] section.
 * @returns the outcome of each, by setting
 */
export async function probe(
  container: Container,
  lines: readonly string[],
  settings: readonly string[] = [],
): Promise<Map<string, string>> {
  const command = ["ExecStart=perl", PROGRAM, ...settings].join(" ");
  const own = [...INSTEAD_OF_DAEMON, command, `StandardOutput=truncate:${OUTPUT}`];
  container.write(`${UNITS}/${UNIT}`, ["[Service]", ...lines, ...own, ""].join("\n"), USER.uid);
  const started = await container.user(
    "sh",
    "-c",
    `systemctl --user daemon-reload && systemctl --user start ${UNIT}`,
  );
  assert.equal(started.code, 0, `${lines.join(", ")}: ${started.stderr}`);
  const outcomes = container.read(OUTPUT).trim().split("\n");
  return new Map(outcomes.map((line) => line.split("\t") as [string, string]));
}
