import type { IncomingMessage, ServerResponse } from "node:http";
import { INERT_HEADERS } from "../../core/http/header-policy.ts";
import { ASSETS_PATH } from "../../core/http/own-paths.ts";
import { writeOwnCommands } from "../../core/text/own-commands.ts";

/** A file of the page. */
export interface PageFile {
  type: string;
  bytes: Buffer;
}

/** The scripts that the page loads when what they show is first opened. */
export const PAGE_PARTS = ["health", "record", "sessions"] as const;

/**
 * A browser loads nothing of a template. The page copies a script out of it, because its policy (`trusted-types`) lets it name none, and
 * a module would come with `Origin`.
 */
const LATER = `<template id="later">${PAGE_PARTS.map((name) => `<script src="${ASSETS_PATH}${name}.js"></script>`).join("")}</template>`;

/** Not a module: browsers send `Origin` with those, as a foreign page would. The same for everyone: what it shows, it asks for. */
const pageWith = (key: string, configOption: string) =>
  Buffer.from(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="page-key" content="${key}">
<meta name="config-option" content="${escapeMarkup(configOption)}">
<title>tollkeeper</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ASSETS_PATH}style.css">
<script defer src="${ASSETS_PATH}app.js"></script>
<body>
<noscript>This page needs JavaScript. In a terminal, type: ${escapeMarkup(writeOwnCommands("tollkeeper usage", "tollkeeper", configOption))}</noscript>
<header><h1>tollkeeper</h1></header>
<div id="app"></div>
${LATER}
</html>
`);

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** Nothing from elsewhere is loaded, nothing inline runs, no text becomes markup, and no page may frame it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

/** Of everything that the dashboard is sent. */
export const SAFETY_HEADERS = Object.entries({
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
}).flat();

/**
 * Responds to a browser that a person has pointed here. It needs no token, and it leaves no record. The page contains the value by which
 * feeds know it: no other document can read it, because only a window loads the page (`isWindowLoad`), and the page lets no other
 * document frame it or keep a handle of its window, not even one of its own origin. `configOption` is from `configOptionOf`,
 * for the commands that the page shows.
 */
export function pageResponder(key: string, configOption: string) {
  const file = { type: "text/html; charset=utf-8", bytes: pageWith(key, configOption) };
  return (_req: IncomingMessage, res: ServerResponse): void => send(res, file);
}

/** Responds with the files of the page, by the last part of their path. */
export function assetResponder(findFile: (name: string) => PageFile | null) {
  return (_req: IncomingMessage, res: ServerResponse, _peer: unknown, { path }: { path: string }): void => {
    const file = findFile(path.slice(ASSETS_PATH.length));
    if (file === null) res.writeHead(404, ["content-length", "0", ...INERT_HEADERS]).end();
    else send(res, file);
  };
}

function send(res: ServerResponse, { type, bytes }: PageFile): void {
  const own = ["content-type", type, "content-length", String(bytes.length)];
  res.writeHead(200, [...own, ...SAFETY_HEADERS]).end(bytes);
}
