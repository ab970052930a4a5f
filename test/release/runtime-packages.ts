/** A package that users install, or that is bundled into what they run. */
export interface RuntimePackage {
  name: string;
  version: string;
  /** SPDX, as in its package.json. */
  licence: string;
  hasInstallScript: boolean;
}

interface LockedPackage {
  name?: string;
  version?: string;
  license?: string;
  dev?: boolean;
  devOptional?: boolean;
  hasInstallScript?: boolean;
}

/** Bundled into `tollkeeper mcp` and into what signs requests, so npm need not install them for users. */
const BUNDLED = [
  "@modelcontextprotocol/server",
  "@modelcontextprotocol/core",
  "@smithy/signature-v4",
  "@smithy/core",
  "zod",
];

/** Lists what package-lock.json installs for users, direct and transitive, and what is bundled besides, by name and version. */
export function listRuntimePackages(lockFile: string): RuntimePackage[] {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, LockedPackage> };
  const found = new Map<string, RuntimePackage>();
  for (const [path, entry] of Object.entries(packages)) {
    const installedAs = path.replace(/^.*node_modules\//, "");
    const isDevelopment = entry.dev === true || entry.devOptional === true;
    if (path === "" || (isDevelopment && !BUNDLED.includes(installedAs))) continue;
    const {
      name = installedAs,
      version = "",
      license: licence = "unknown",
      hasInstallScript = false,
    } = entry;
    found.set(`${name}@${version}`, { name, version, licence, hasInstallScript });
  }
  return [...found.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Licences that allow what we do: distribute, in source and bundled, with their text. */
export const ALLOWED_LICENCES = ["Apache-2.0", "BSD-3-Clause", "ISC", "MIT", "MIT AND BSD-3-Clause"];
