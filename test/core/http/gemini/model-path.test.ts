import assert from "node:assert/strict";
import { test } from "node:test";
import { readModelPath, replaceModel } from "../../../../src/core/http/gemini/model-path.ts";

/** Returns the model, the publisher and the action that a path names. */
function read(path: string): [model: string, publisher: string | null, action: string | null] | null {
  const found = readModelPath(path);
  return found === null ? null : [found.model, found.publisher, found.action];
}

test("reads the model and the action from every form of path that Google's clients send", () => {
  const paths: [string, ReturnType<typeof read>][] = [
    ["/v1beta/models/gemini-2.5-flash:generateContent", ["gemini-2.5-flash", null, "generateContent"]],
    ["/v1/models/gemini-2.5-pro:streamGenerateContent", ["gemini-2.5-pro", null, "streamGenerateContent"]],
    ["/v1alpha/models/gemini-3.5-flash:countTokens", ["gemini-3.5-flash", null, "countTokens"]],
    ["/v1beta/models/gemini-2.5-flash%3AgenerateContent", ["gemini-2.5-flash", null, "generateContent"]],
    ["/v1beta/models/gemini-2.5-flash%3ageneratecontent", null],
    [
      "/v1beta/models/gemini-2.5-flash%3astreamGenerateContent",
      ["gemini-2.5-flash", null, "streamGenerateContent"],
    ],
    ["/v1beta/v1beta/models/gemini-2.5-flash:generateContent", ["gemini-2.5-flash", null, "generateContent"]],
    ["/v1beta/tunedModels/my-model-x1:generateContent", ["tunedModels/my-model-x1", null, "generateContent"]],
    ["/v1beta/models/gemini-2.5-flash", ["gemini-2.5-flash", null, null]],
    [
      "/v1beta1/publishers/google/models/gemini-2.5-flash:generateContent",
      ["gemini-2.5-flash", "google", "generateContent"],
    ],
    [
      "/v1beta1/projects/p-1/locations/us-central1/publishers/google/models/gemini-3-flash-preview:streamGenerateContent",
      ["gemini-3-flash-preview", "google", "streamGenerateContent"],
    ],
    [
      "/v1/projects/example.com:p/locations/global/publishers/anthropic/models/claude-sonnet-4-5@20250929:rawPredict",
      ["claude-sonnet-4-5@20250929", "anthropic", "rawPredict"],
    ],
    [
      "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict",
      ["claude-sonnet-4-5@20250929", "anthropic", "streamRawPredict"],
    ],
    [
      "/v1/projects/p/locations/eu/endpoints/4711:generateContent",
      ["endpoints/4711", null, "generateContent"],
    ],
    [
      "/v1beta/models/gemini-embedding-2:batchEmbedContents",
      ["gemini-embedding-2", null, "batchEmbedContents"],
    ],
  ];
  for (const [path, expected] of paths) assert.deepEqual(read(path), expected, path);
});

test("reads no model from a path in which a server could see another one, or something else", () => {
  const refused = [
    // Two actions, in every spelling.
    "/v1beta/models/cheap:countTokens:generateContent",
    "/v1beta/models/cheap%3AcountTokens:generateContent",
    "/v1beta/models/cheap:countTokens%3AgenerateContent",
    "/v1beta/models/cheap%3AcountTokens%3AgenerateContent",
    "/v1beta/models/cheap%253AgenerateContent",
    // Two models.
    "/v1beta/models/cheap/models/dear:generateContent",
    "/v1beta/models/cheap%2Fmodels%2Fdear:generateContent",
    "/v1beta/models/cheap/../dear:generateContent",
    "/v1beta/models/cheap%2F..%2Fdear:generateContent",
    "/v1beta/models/cheap%5C..%5Cdear:generateContent",
    "/v1beta/models/..:generateContent",
    "/v1beta/models/%2e%2e/dear:generateContent",
    "/v1beta/models/gemini-2%2e5-pro:generateContent",
    "/v1beta/models/cheap;dear:generateContent",
    "/v1beta/models/cheap%3Bdear:generateContent",
    "/v1beta/models/cheap%00dear:generateContent",
    "/v1beta/models/cheap%20:generateContent",
    "/v1beta/models/cheap%C0%AFdear:generateContent",
    "/v1beta/models/cheap%c3%a9:generateContent",
    "/v1beta/models/cheap%zz:generateContent",
    "/v1beta/models/cheap%:generateContent",
    // No name, or an action that is none.
    "/v1beta/models/:generateContent",
    "/v1beta/models/%3AgenerateContent",
    "/v1beta/models/",
    "/v1beta/models",
    "/v1beta/models/cheap:",
    "/v1beta/models/cheap:GenerateContent",
    "/v1beta/models/cheap:generate%43ontent",
    "/v1beta/models/cheap:generateContent/",
    "/v1beta/models/cheap:generateContent/x",
    "/v1beta/models/cheap:generateContent%20",
    "/v1beta/models/cheap:deleteEverything",
    // A place that the API does not have.
    "/v1beta//models/cheap:generateContent",
    "//v1beta/models/cheap:generateContent",
    "/v1beta/Models/cheap:generateContent",
    "/v1beta/%6dodels/cheap:generateContent",
    "/v2/models/cheap:generateContent",
    "/v1beta/v1/models/cheap:generateContent",
    "/models/cheap:generateContent",
    "/x/v1beta/models/cheap:generateContent",
    "/v1/projects/p/locations/eu/models/cheap:generateContent",
    "/v1/projects/p/locations/eu/tunedModels/cheap:generateContent",
    "/v1/projects/p/locations/../publishers/google/models/cheap:generateContent",
    "/v1/projects/p%2Fq/locations/eu/publishers/google/models/cheap:generateContent",
    "/v1/projects/../locations/eu/endpoints/1:generateContent",
    "/v1/publishers/google/tunedModels/cheap:generateContent",
    "/v1/publishers/google/publishers/x/models/cheap:generateContent",
    "/v1/publishers/google%2Fx/models/cheap:generateContent",
    "/v1/endpoints/4711:generateContent",
    "/v1beta/models/cheap\n:generateContent",
    "/v1beta/models/cheap:generateContent\n",
    `/v1beta/models/${"x".repeat(300)}:generateContent`,
  ];
  for (const path of refused) assert.equal(readModelPath(path), null, JSON.stringify(path));
});

const replace = (path: string, model: string) => {
  const found = readModelPath(path);
  assert.ok(found, path);
  return replaceModel(path, found, model);
};

test("puts another model in the place of the one in a path, and nothing that would be more than a name", () => {
  const path = "/v1beta/models/fast%3AstreamGenerateContent";
  assert.equal(replace(path, "gemini-2.5-flash"), "/v1beta/models/gemini-2.5-flash%3AstreamGenerateContent");
  assert.equal(replace(path, "tunedModels/mine"), "/v1beta/tunedModels/mine%3AstreamGenerateContent");
  const vertex = "/v1/projects/p/locations/eu/publishers/google/models/fast:generateContent";
  assert.equal(
    replace(vertex, "claude-sonnet-4-5@20250929"),
    "/v1/projects/p/locations/eu/publishers/google/models/claude-sonnet-4-5@20250929:generateContent",
  );
  for (const model of ["a/b", "a:countTokens", "a%3Ab", "..", "", "a b", "tunedModels/a/b", "é", "a;b"])
    assert.equal(replace(path, model), null, model);
  assert.equal(replace(vertex, "tunedModels/mine"), null);
});
