import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { googleBasePath, readGooglePath } from "../../../../src/core/http/gemini/google-path.ts";

const ROUTES: [path: string, route: string, id: string | null, sent?: string][] = [
  ["/v1beta/models", "/v1beta/models", null],
  ["/v1/files", "/v1beta/files", null],
  ["/v1alpha/files/abc-1", "/v1beta/files/{id}", "abc-1"],
  ["/v1beta/files/abc-1%3adownload", "/v1beta/files/{id}:download", "abc-1"],
  ["/download/v1beta/files/abc-1:download", "/download/v1beta/files/{id}:download", "abc-1"],
  ["/upload/v1/files", "/upload/v1beta/files", null],
  ["/v1beta/upload/v1beta/files", "/upload/v1beta/files", null, "/upload/v1beta/files"],
  ["/v1beta/v1beta/batches/b-1:cancel", "/v1beta/batches/{id}:cancel", "b-1", "/v1beta/batches/b-1:cancel"],
  ["/v1beta/interactions/v1_Ab=/cancel", "/v1beta/interactions/{id}/cancel", "v1_Ab="],
  ["/v1beta/models/veo-3/operations/x1", "/v1beta/operations/{id}", "x1"],
  ["/v1/projects/p/locations/l/cachedContents/9", "/v1beta/cachedContents/{id}", "9"],
  [
    "/v1/projects/p/locations/l/publishers/google/models/veo-3/operations/x1",
    "/v1beta/operations/{id}",
    "x1",
  ],
  ["/v1beta/fileSearchStores", "/v1beta/fileSearchStores", null],
  ["/v1beta/fileSearchStores/s-1", "/v1beta/fileSearchStores/{id}", "s-1"],
  ["/v1beta/fileSearchStores/s-1:importFile", "/v1beta/fileSearchStores/{id}:importFile", "s-1"],
  [
    "/upload/v1beta/fileSearchStores/s-1%3AuploadToFileSearchStore",
    "/upload/v1beta/fileSearchStores/{id}:uploadToFileSearchStore",
    "s-1",
  ],
  ["/v1beta/fileSearchStores/s-1/documents", "/v1beta/fileSearchStores/{id}/documents", "s-1"],
  ["/v1beta/fileSearchStores/s-1/documents/d-1", "/v1beta/fileSearchStores/{id}/documents/{id}", "s-1"],
  ["/v1beta/fileSearchStores/s-1/operations/o-1", "/v1beta/fileSearchStores/{id}/operations/{id}", "s-1"],
  [
    "/v1beta/fileSearchStores/s-1/upload/operations/o-1",
    "/v1beta/fileSearchStores/{id}/upload/operations/{id}",
    "s-1",
  ],
  ["/v1beta1/publishers/google/models", "/v1beta/publishers/{id}/models", "google"],
  ["/v1/publishers/anthropic/models/claude@1:rawPredict", "/v1beta/models/{id}:rawPredict", null],
  ["/v1/publishers/anthropic/models/count-tokens:rawPredict", "/v1beta/models/count-tokens:rawPredict", null],
];

for (const [path, route, id, sent = path] of ROUTES)
  test(`${path} is ${route}`, () => {
    const read = readGooglePath(path);
    assert.deepEqual([read?.route, read?.id, read?.path], [route, id, sent]);
  });

test("a path in a store of files that a server could read in two ways is none", () => {
  for (const path of [
    "/v1beta/fileSearchStores/../documents",
    "/v1beta/fileSearchStores/a%2Fb/documents/c",
    "/v1beta/fileSearchStores/a/documents/..",
    "/v1beta/fileSearchStores/a/documents/b:importFile",
    "/v1beta/fileSearchStores/a/files/b",
    "/v1beta/fileSearchStores/a:delete",
    "/v1beta/projects/p/locations/l/fileSearchStores/a",
    "/upload/v1beta/fileSearchStores/a/documents",
    "/v1beta/fileSearchStores/a:uploadToFileSearchStore",
  ])
    assert.equal(readGooglePath(path), null, path);
});

test("a base path loses the version at its end, which Google's paths have themselves", () => {
  for (const version of ["v1", "v1beta", "v1beta1", "v1alpha"])
    assert.equal(googleBasePath(`/google/${version}`), "/google");
  assert.equal(googleBasePath("/v1/google"), "/v1/google");
});

/** What paths of Google's API are made of, and what a server could take for it. */
const PIECES =
  "/ / / / /v1beta /v1 /models /files /batches /interactions /operations /cachedContents /upload /download /cancel :download :cancel :generateContent :rawPredict /publishers/anthropic /publishers/google /projects/p/locations/l /count-tokens /a /b a : %3A %3a %2F %2f %5C %2e . .. /.. /. ; %3B %40 @ %25 %253A %00 %20 + = ~ ? # //".split(
    " ",
  );

/** A path of the table above with up to two pieces put in somewhere. */
const path = fc
  .tuple(
    fc.constantFrom(...ROUTES.map(([known]) => known)),
    fc.array(fc.tuple(fc.nat(80), fc.constantFrom(...PIECES)), { maxLength: 2 }),
  )
  .map(([known, inserted]) =>
    inserted.reduce((text, [at, piece]) => text.slice(0, at) + piece + text.slice(at), known),
  );

/** Says what a server reads that decodes a path, once or twice, before it looks for segments; null where it reads another path. */
function readDecoded(raw: string): ReturnType<typeof readGooglePath> {
  const decoded = decodeURIComponent(raw);
  return new URL(`http://upstream${decoded}`).pathname === decoded ? readGooglePath(decoded) : null;
}

test("whatever path is read, a server that decodes it, once or twice, and normalises it reads the same", () => {
  let known = 0;
  fc.assert(
    fc.property(path, (raw) => {
      const read = readGooglePath(raw);
      if (read === null) return;
      known += 1;
      const { route, id, named } = read;
      for (const other of [
        readGooglePath(read.path),
        readDecoded(read.path),
        readDecoded(decodeURIComponent(read.path)),
      ])
        assert.deepEqual(
          [other?.route, other?.id, other?.named?.model, other?.named?.publisher],
          [route, id, named?.model, named?.publisher],
          raw,
        );
    }),
    { numRuns: 30_000 },
  );
  assert.ok(known > 100, String(known));
});
