import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { readGooglePath } from "../../core/http/gemini/google-path.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "../api.ts";
import { ApiError } from "../errors.ts";
import type { GoogleFile, GoogleUpload } from "../files/storage.ts";
import { readBytes, readJsonBody } from "../http/request-body.ts";
import { makeId } from "../ids.ts";
import { stringOrNull } from "../json.ts";

/** How long Google keeps a file. */
const LIFE_MS = 48 * 60 * 60 * 1000;

/** Reads a step of a resumable upload: what its headers say, and the JSON that begins it, or bytes. @throws ApiError 400 without a command */
export async function readUploadStep(request: IncomingMessage): Promise<JsonObject> {
  const command = request.headers["x-goog-upload-command"];
  if (typeof command !== "string") throw new ApiError(400, "x-goog-upload-command: header is required");
  const origin = `http://${request.headers.host ?? ""}`;
  if (command !== "start") return { command, origin, bytes: await readBytes(request) };
  const mimeType = request.headers["x-goog-upload-header-content-type"];
  return { command, origin, mimeType, file: (await readJsonBody(request))["file"] };
}

/** `POST /upload/v1beta/files`: begins a resumable upload, or takes the next bytes of one. The last ones make the file. */
export function uploadFile(call: ApiRequest, state: RouteState): ApiResponse {
  const { body, key } = call;
  const uploads = state.storage.googleUploads;
  if (body["command"] === "start") {
    const id = makeId("upload");
    const about = isObject(body["file"]) ? body["file"] : {};
    const mimeType = stringOrNull(about["mimeType"]) ?? stringOrNull(body["mimeType"]);
    const displayName = stringOrNull(about["displayName"]);
    uploads.keep(id, key.name, { displayName, mimeType: mimeType ?? "application/octet-stream", parts: [] });
    const url = `${String(body["origin"])}${call.path}?upload_id=${id}&upload_protocol=resumable`;
    const headers = { "x-goog-upload-status": "active", "x-goog-upload-url": url };
    return { bytes: Buffer.alloc(0), type: "text/plain; charset=utf-8", headers };
  }
  const id = call.query.get("upload_id") ?? "";
  const upload = uploads.find(id, key.name);
  if (upload === undefined) throw new ApiError(404, "Upload not found.");
  if (Buffer.isBuffer(body["bytes"])) upload.parts.push(body["bytes"]);
  if (!/\bfinalize\b/.test(String(body["command"])))
    return { bytes: Buffer.alloc(0), type: "text/plain", headers: { "x-goog-upload-status": "active" } };
  uploads.remove(id);
  return {
    body: { file: keepFile(call, upload, state) },
    headers: { "x-goog-upload-status": "final" },
  };
}

/** `GET /v1beta/files`. */
export function listGoogleFiles({ key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const files = storage.googleFiles.list(key.name).map(([id, file]) => describe(id, file));
  return { body: files.length > 0 ? { files } : {} };
}

/** `GET /v1beta/files/{id}`. */
export function fetchGoogleFile(call: ApiRequest, state: RouteState): ApiResponse {
  const { id, file } = findFile(call, state);
  return { body: describe(id, file) };
}

/** `GET /v1beta/files/{id}:download`: the service keeps that for files that it has made itself. */
export function downloadGoogleFile(call: ApiRequest, state: RouteState): ApiResponse {
  const { file } = findFile(call, state);
  return { bytes: file.bytes, type: file.mimeType };
}

/** `DELETE /v1beta/files/{id}`. */
export function deleteGoogleFile(call: ApiRequest, state: RouteState): ApiResponse {
  state.storage.googleFiles.remove(findFile(call, state).id);
  return { body: {} };
}

function keepFile({ key }: ApiRequest, upload: GoogleUpload, { storage }: RouteState): JsonObject {
  const id = makeId("f", "-");
  const { displayName, mimeType, parts } = upload;
  const file = { displayName, mimeType, bytes: Buffer.concat(parts), at: new Date() };
  storage.googleFiles.keep(id, key.name, file);
  return describe(id, file);
}

function findFile({ path, key }: ApiRequest, { storage }: RouteState): { id: string; file: GoogleFile } {
  const id = readGooglePath(path)?.id ?? "";
  const file = storage.googleFiles.find(id, key.name);
  if (file === undefined)
    throw new ApiError(403, `You do not have permission to access the File ${id} or it may not exist.`);
  return { id, file };
}

/** `uri` is the service's own address, which a request gives back to it. */
function describe(id: string, { displayName, mimeType, bytes, at }: GoogleFile): JsonObject {
  return {
    name: `files/${id}`,
    ...(displayName !== null && { displayName }),
    mimeType,
    sizeBytes: String(bytes.length),
    createTime: at.toISOString(),
    updateTime: at.toISOString(),
    expirationTime: new Date(at.getTime() + LIFE_MS).toISOString(),
    sha256Hash: Buffer.from(createHash("sha256").update(bytes).digest("hex")).toString("base64"),
    uri: `https://generativelanguage.googleapis.com/v1beta/files/${id}`,
    state: "ACTIVE",
    source: "UPLOADED",
  };
}
