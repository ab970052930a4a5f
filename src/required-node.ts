/**
 * Says that a version of Node is too old; null for one that is not: those from 20.19 on, as `engines` in package.json says, but of the
 * lines after it those from 22.2 on, which has `zlib.crc32`. The programs' entries ask for it before they load anything else: an older
 * Node cannot load the rest, and would only say which name one of its own modules lacks.
 */
export function explainOldNode(version: string = process.versions.node): string | null {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major === 21 || (major === 22 && minor < 2))
    return `tollkeeper needs Node 20.19, or 22.2 or newer; this is ${version}`;
  if (major > 20 || (major === 20 && minor >= 19)) return null;
  return `tollkeeper needs Node 20.19 or newer; this is ${version}`;
}
