import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import { Launchd } from "../../../src/service/launchd.ts";
import { runProgram, type RunProgram } from "../../../src/service/run-program.ts";
import type { Plan } from "../../../src/service/service-manager.ts";
import { fakePrograms } from "../../helpers/process/fake-programs.ts";
import type { FakeResult } from "../../helpers/process/fake-programs.ts";

const UID = 501;
export const DOMAIN = `gui/${UID}`;
export const SERVICE = `${DOMAIN}/tollkeeper`;

/** Output of launchctl, taken from public reports on macOS 12 to 26. None of it was recorded here. */
export const OUTPUT = {
  running: {
    stdout: `${SERVICE} = {
	active count = 1
	path = /Users/ada/Library/LaunchAgents/tollkeeper.plist
	type = LaunchAgent
	state = running

	program = /opt/homebrew/opt/node/bin/node
	arguments = {
		/opt/homebrew/opt/node/bin/node
		serve
	}

	default environment = {
		PATH => /usr/bin:/bin:/usr/sbin:/sbin
	}

	domain = gui/501 [100023]
	minimum runtime = 10
	exit timeout = 40
	runs = 2
	pid = 4711
	immediate reason = speculative
	last exit code = 1

	event channels = {
		"com.apple.launchd.event" = {
			state = waiting
		}
	}
}
`,
  },
  crashed: {
    stdout: `${SERVICE} = {\n\tstate = spawn scheduled\n\truns = 3\n\tlast exit code = 78: EX_CONFIG\n}\n`,
  },
  killed: {
    stdout: `${SERVICE} = {\n\tstate = not running\n\tlast terminating signal = Killed: 9\n}\n`,
  },
  unknownWords: { stdout: "something else entirely\n" },
  notLoaded: {
    code: 113,
    stderr: 'Bad request.\nCould not find service "tollkeeper" in domain for user gui: 501\n',
  },
  noSession: { code: 125, stderr: "Domain does not support specified action\n" },
  disabled: {
    stdout: 'disabled services = {\n\t\t"com.example.other" => enabled\n\t\t"tollkeeper" => disabled\n\t}\n',
  },
  disabledBefore13: { stdout: 'disabled services = {\n\t"tollkeeper" => true\n}\n' },
  enabled: {
    stdout: 'disabled services = {\n\t\t"tollkeeper" => enabled\n\t\t"tollkeeper.beta" => disabled\n\t}\n',
  },
} satisfies Record<string, Omit<FakeResult, "match">>;

/** What launchctl prints for the login session, the service and the list of disabled labels. */
export interface LaunchctlOutput {
  session?: Omit<FakeResult, "match">;
  service?: Omit<FakeResult, "match">;
  label?: Omit<FakeResult, "match">;
  /** Results that take precedence, e.g. for the first calls only. */
  before?: FakeResult[];
}

/** Creates a home directory and a fake launchctl. By default the user is logged in and nothing is installed. */
export function createMac(t: TestContext, says: LaunchctlOutput = {}, name = "ada") {
  const scratch = mkdtempSync(join(tmpdir(), "tollkeeper-mac-"));
  t.after(() => rmSync(scratch, { recursive: true }));
  const home = join(scratch, name);
  const { session = {}, service = OUTPUT.notLoaded, label = OUTPUT.enabled, before = [] } = says;
  const { directory, calls } = fakePrograms(t, {
    launchctl: [
      ...before,
      { match: "print-disabled *", ...label },
      { match: "print */tollkeeper", ...service },
      { match: "print *", ...session },
    ],
  });
  const run: RunProgram = ([program = "", ...args]) => runProgram([join(directory, program), ...args]);
  const file = join(home, "Library", "LaunchAgents", "tollkeeper.plist");
  return {
    home,
    file,
    calls,
    run,
    launchd: new Launchd({ uid: UID, home, run }),
    write: writeWithDirectory,
  };
}

function writeWithDirectory(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Returns the steps of a plan in a short textual form. */
export function describePlan({ steps }: Plan): string[] {
  return steps.map((step) => {
    if (step.kind === "run") return step.argv.join(" ");
    if (step.kind === "try") return `try ${step.argv.join(" ")}`;
    return `${step.kind} ${step.path}`;
  });
}
