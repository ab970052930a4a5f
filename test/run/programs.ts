import { existsSync } from "node:fs";
import { isInstalled, offerToInstall, type NeededProgram } from "./debian-packages.ts";

interface OptionalProgram extends NeededProgram {
  /** What is not tested without it. */
  for: string;
}

export const PROGRAMS: readonly OptionalProgram[] = [
  { program: "dbus-run-session", debianPackage: "dbus-daemon", for: "the keychain" },
  { program: "dbus-daemon", debianPackage: "dbus-daemon", for: "the keychain" },
  { program: "gnome-keyring-daemon", debianPackage: "gnome-keyring", for: "the keychain" },
  { program: "secret-tool", debianPackage: "libsecret-tools", for: "the keychain" },
  { program: "busctl", debianPackage: "systemd", for: "telling a locked keychain from a missing key" },
  { program: "openssl", debianPackage: "openssl", for: "an upstream with a wrong certificate" },
  { program: "script", debianPackage: "bsdutils", for: "hidden prompts on a terminal" },
  { program: "tmux", debianPackage: "tmux", for: "top in a terminal within a terminal" },
  { program: "strace", debianPackage: "strace", for: "that nothing is sent anywhere unasked" },
  { program: "faketime", debianPackage: "faketime", for: "captures when the clock is moved" },
  { program: "curl", debianPackage: "curl", for: "README's commands, and clients of other users" },
  {
    program: "plistutil",
    debianPackage: "libplist-utils",
    for: "launchd's definitions with a second reader",
  },
  { program: "dunst", debianPackage: "dunst", for: "notifications on a desktop" },
  { program: "notify-send", debianPackage: "libnotify-bin", for: "notifications on a desktop" },
  { program: "Xvfb", debianPackage: "xvfb", for: "notifications on a desktop" },
  { program: "sshd", debianPackage: "openssh-server", for: "ssh to another host" },
  { program: "ip", debianPackage: "iproute2", for: "a tool in a container" },
  { program: "prometheus", debianPackage: "prometheus", for: "what Prometheus makes of metrics" },
  { program: "promtool", debianPackage: "prometheus", for: "the text, rules and expressions of metrics" },
  { program: "chromium", debianPackage: "chromium", for: "what pages in a real browser can do" },
];

/** Installs what is missing where it may, and names the rest with what is not tested without it. */
export async function preparePrograms(): Promise<void> {
  await offerToInstall(PROGRAMS);
  reportMissing();
}

/** Prints a line for each program, or set of recordings, that is not on this machine. */
export function reportMissing(): void {
  for (const { program, debianPackage, for: purpose } of PROGRAMS) {
    if (isInstalled(program)) continue;
    console.log(`MISSING: ${program} (Debian: ${debianPackage}). Not tested without it: ${purpose}`);
  }
  if (!existsSync(new URL("../../../shared/corpus/index.json", import.meta.url))) {
    console.log("MISSING: ../shared/corpus. Not tested without it: recorded responses");
  }
}
