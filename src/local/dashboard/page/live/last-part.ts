/** Of a path, the part that tells projects apart at a glance. */
export function lastPart(path: string): string {
  return path.replace(/^.*\/(?=[^/])/, "");
}
