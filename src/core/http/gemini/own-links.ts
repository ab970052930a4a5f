import type { Route } from "../routes.ts";
import { GOOGLE_UPLOAD, readGooglePath } from "./google-path.ts";

/** Where a client reaches us. */
export interface OwnAddress {
  /** As its `Host` header has it. */
  host: string;
  /** The tool that its path names; null without one. */
  mark: string | null;
}

/** Names the address of the next step of an upload. The client would send the file there, past us (docs/wire.md section 12). */
const UPLOAD_LINKS: ReadonlySet<string> = new Set(["x-goog-upload-url", "x-goog-upload-control-url"]);

/** Where the path of Google's begins, behind what an upstream has before it. */
const GOOGLES = /\/(?:upload|download)\/v1/;

/** True for a route whose responses may name an address to go on at: the upload of a file, and the way to its bytes. */
export function leadsOn({ api, path }: Pick<Route, "api" | "path">): boolean {
  return api === "gemini" && (path.startsWith(GOOGLE_UPLOAD) || path.endsWith(":download"));
}

/**
 * Puts our address in place of the upstream's into the headers of a response, a flat list, that say where to go on. The address of an upload
 * that we could not forward is left out: nothing may go past us. Any other redirect stays as it is.
 */
export function leadThroughUs(headers: readonly string[], own: OwnAddress): string[] {
  const led: string[] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [rawName = "", value = ""] = headers.slice(at, at + 2);
    const name = rawName.toLowerCase();
    const isUpload = UPLOAD_LINKS.has(name);
    const link = isUpload || name === "location" ? toOwnLink(value, own) : value;
    if (link !== null) led.push(rawName, link);
    else if (!isUpload) led.push(rawName, value);
  }
  return led;
}

/** Returns a link to the same route of ours; null where we have none. */
function toOwnLink(link: string, { host, mark }: OwnAddress): string | null {
  if (!URL.canParse(link)) return null;
  const { pathname, search } = new URL(link);
  const start = pathname.search(GOOGLES);
  const path = start === -1 ? null : (readGooglePath(pathname.slice(start))?.path ?? null);
  return path === null ? null : `http://${host}${mark === null ? "" : `/t/${mark}`}${path}${search}`;
}
