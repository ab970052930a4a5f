import type { JsonObject } from "../core/json.ts";
import type { ApiRequest, ApiResponse, RouteState } from "./api.ts";
import { ApiError, missingParameter } from "./errors.ts";
import type { StoredFile } from "./files/storage.ts";
import { isFormFile } from "./http/request-body.ts";
import { makeId } from "./ids.ts";
import { stringOrNull } from "./json.ts";

/** `POST /files`: stores the file of a form. */
export function createFile(call: ApiRequest, { storage }: RouteState): ApiResponse {
  const { body, key } = call;
  const file = body["file"];
  if (!isFormFile(file)) throw missingParameter("file");
  const id = makeId("file", call.vendor === "anthropic" ? "_" : "-");
  const purpose = stringOrNull(body["purpose"]) ?? "user_data";
  const stored = { filename: file.filename, purpose, bytes: file.bytes, at: new Date() };
  storage.files.keep(id, key.name, stored);
  return { body: describe(call, id, stored) };
}

/** `GET /files`: lists the key's files, the newest first. */
export function listFiles(call: ApiRequest, { storage }: RouteState): ApiResponse {
  const data = storage.files.list(call.key.name).map(([id, file]) => describe(call, id, file));
  return { body: listOf(data) };
}

/** `GET /files/{id}`. */
export function fetchFile(call: ApiRequest, state: RouteState): ApiResponse {
  const { id, file } = findFile(call, state);
  return { body: describe(call, id, file) };
}

/** `GET /files/{id}/content`: returns the bytes as they were stored. */
export function fetchContent(call: ApiRequest, state: RouteState): ApiResponse {
  return { bytes: findFile(call, state).file.bytes, type: "application/octet-stream" };
}

/** `DELETE /files/{id}`. */
export function deleteFile(call: ApiRequest, state: RouteState): ApiResponse {
  const { id } = findFile(call, state);
  state.storage.files.remove(id);
  return {
    body: call.vendor === "anthropic" ? { id, type: "file_deleted" } : { id, object: "file", deleted: true },
  };
}

/** `POST /uploads`: announces a file that comes in parts. */
export function createUpload({ body, key }: ApiRequest, { storage }: RouteState): ApiResponse {
  const [filename, purpose] = [stringOrNull(body["filename"]), stringOrNull(body["purpose"])];
  if (filename === null) throw missingParameter("filename");
  if (purpose === null) throw missingParameter("purpose");
  const id = makeId("upload");
  const object = {
    id,
    object: "upload",
    bytes: body["bytes"],
    created_at: seconds(new Date()),
    filename,
    purpose,
    status: "pending",
  };
  storage.uploads.keep(id, key.name, { object, parts: new Map() });
  return { body: object };
}

/** `POST /uploads/{id}/parts`. */
export function addPart(call: ApiRequest, state: RouteState): ApiResponse {
  const upload = findUpload(call, state);
  const data = call.body["data"];
  if (!isFormFile(data)) throw missingParameter("data");
  const id = makeId("part");
  upload.parts.set(id, data.bytes);
  return {
    body: { id, object: "upload.part", created_at: seconds(new Date()), upload_id: upload.object["id"] },
  };
}

/** `POST /uploads/{id}/complete`: makes a file of the parts, in the order in which the request names them. */
export function completeUpload(call: ApiRequest, state: RouteState): ApiResponse {
  const upload = findUpload(call, state);
  const ids = Array.isArray(call.body["part_ids"]) ? call.body["part_ids"] : [];
  const parts = ids.map((id) => upload.parts.get(String(id)));
  const bytes = Buffer.concat(parts.filter((part) => part !== undefined));
  if (bytes.length !== upload.object["bytes"])
    throw new ApiError(400, "The parts do not have as many bytes as the upload.");
  const id = makeId("file", "-");
  const [filename, purpose] = [String(upload.object["filename"]), String(upload.object["purpose"])];
  const file = { filename, purpose, bytes, at: new Date() };
  state.storage.files.keep(id, call.key.name, file);
  state.storage.uploads.remove(String(upload.object["id"]));
  return { body: { ...upload.object, status: "completed", file: describe(call, id, file) } };
}

/** `POST /uploads/{id}/cancel`. */
export function cancelUpload(call: ApiRequest, state: RouteState): ApiResponse {
  const { object } = findUpload(call, state);
  state.storage.uploads.remove(String(object["id"]));
  return { body: { ...object, status: "cancelled" } };
}

/** Returns a list as both vendors write it: Anthropic without `object`. */
export function listOf(data: readonly JsonObject[]): JsonObject {
  const ends = { first_id: data[0]?.["id"] ?? null, last_id: data.at(-1)?.["id"] ?? null };
  return { object: "list", data, ...ends, has_more: false };
}

/** Returns the id in a path of a collection such as `/files`. */
export function idIn({ path, profile }: ApiRequest, collection: string): string {
  const [id = ""] = path.slice(`${profile.basePath}${collection}/`.length).split("/");
  return id;
}

export function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function findFile(call: ApiRequest, { storage }: RouteState): { id: string; file: StoredFile } {
  const id = idIn(call, "/files");
  const file = storage.files.find(id, call.key.name);
  if (file === undefined) throw new ApiError(404, `No such File object: ${id}`);
  return { id, file };
}

function findUpload(call: ApiRequest, { storage }: RouteState) {
  const id = idIn(call, "/uploads");
  const upload = storage.uploads.find(id, call.key.name);
  if (upload === undefined) throw new ApiError(404, `No such Upload object: ${id}`);
  return upload;
}

function describe(
  { vendor }: ApiRequest,
  id: string,
  { filename, purpose, bytes, at }: StoredFile,
): JsonObject {
  if (vendor === "anthropic")
    return {
      id,
      type: "file",
      filename,
      mime_type: "application/octet-stream",
      size_bytes: bytes.length,
      created_at: at.toISOString(),
      downloadable: true,
    };
  return {
    id,
    object: "file",
    bytes: bytes.length,
    created_at: seconds(at),
    filename,
    purpose,
    status: "processed",
  };
}
