import { readFileSync } from "node:fs";
import { installMissing, isInstalled, type NeededProgram } from "../run/debian-packages.ts";

const NEEDED: NeededProgram[] = [
  { program: "debootstrap", debianPackage: "debootstrap" },
  { program: "systemd-nspawn", debianPackage: "systemd-container" },
  { program: "nsenter", debianPackage: "util-linux" },
  { program: "unshare", debianPackage: "util-linux" },
  { program: "setpriv", debianPackage: "util-linux" },
  { program: "ip", debianPackage: "iproute2" },
];

/** Returns why no systemd can be booted here; null when all requirements are met. Installs missing packages. */
export function findMissingRequirement(): string | null {
  if (process.platform !== "linux") return "needs Linux";
  if (process.arch !== "x64") return "needs x86-64, whose system calls the probes know by number";
  if (process.getuid?.() !== 0) return "needs root, to boot a container";
  if (debianSuite() === null) return "needs Debian, whose mirror a root file system is made from";
  installMissing(NEEDED);
  const missing = NEEDED.filter(({ program }) => !isInstalled(program));
  if (missing.length === 0) return null;
  return `not installed: ${missing.map(({ debianPackage }) => debianPackage).join(", ")}`;
}

/** Returns the code name of this Debian, e.g. `bookworm`; null on any other system. */
export function debianSuite(): string | null {
  const release = readFileSync("/etc/os-release", "utf8");
  if (!/^ID="?debian"?$/m.test(release)) return null;
  return /^VERSION_CODENAME="?(\w+)"?$/m.exec(release)?.[1] ?? null;
}
