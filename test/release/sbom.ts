import { createHash } from "node:crypto";
import { run } from "./build-package.ts";

interface Bom {
  serialNumber: string;
  metadata: { timestamp: string };
  components: unknown[];
}

/**
 * Returns npm's list of what the package installs, in CycloneDX's JSON. npm puts a random number and the time into it; here
 * they come from the commit, so that whoever repeats the build gets the same bytes. `date`: ISO 8601.
 */
export function describeComponents(project: string, commit: string, date: string): string {
  const bom = JSON.parse(run(project, "npm", "sbom", "--sbom-format", "cyclonedx", "--omit", "dev")) as Bom;
  if (bom.components.length === 0) throw new Error("npm's list of components is empty");
  bom.serialNumber = `urn:uuid:${uuidOf(commit)}`;
  bom.metadata.timestamp = date;
  return `${JSON.stringify(bom, null, 2)}\n`;
}

/** A UUID of version 8, whose bits are of our choice (RFC 9562, section 5.8). */
function uuidOf(commit: string): string {
  const hex = createHash("sha256").update(commit).digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join("-");
}
