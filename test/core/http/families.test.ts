import assert from "node:assert/strict";
import { test } from "node:test";
import { FAMILIES, servesApi, type Family } from "../../../src/core/http/api.ts";
import { listRoutes } from "../../../src/core/http/built-in-routes.ts";
import { upstreamAt } from "../../helpers/gate/gate.ts";

const BASE_URL = "https://api.example.com/v1";

for (const [apis, served] of [
  [null, "messages responses chat audio files"],
  [[], ""],
  [["messages"], "messages files"],
  [["responses"], "responses audio files"],
  [["chat"], "chat audio files"],
  [["messages", "responses", "chat"], "messages responses chat audio files"],
  // What names more than APIs is complete.
  [["responses", "images"], "responses images"],
  [["responses", "audio"], "responses audio"],
  [["images"], "images"],
  [["messages", "audio"], "messages audio"],
  [["messages", "files"], "messages files"],
] as [Family[] | null, string][])
  test(`"apis": ${JSON.stringify(apis)} serves ${served || "nothing"}`, () => {
    assert.equal(FAMILIES.filter((family) => servesApi({ apis }, family)).join(" "), served);
    const paths = new Set(listRoutes(upstreamAt(BASE_URL, { apis })).map(({ path }) => path.split("/")[1]));
    for (const family of ["images", "audio", "files"])
      assert.equal(paths.has(family), served.split(" ").includes(family), family);
  });

const authOf = (changes: Parameters<typeof upstreamAt>[1], path: string) =>
  listRoutes(upstreamAt(BASE_URL, changes)).find((route) => route.path === path)?.auth;

test("the key goes where the upstream's API has it, and what the configuration says of a route counts", () => {
  assert.equal(authOf({ apis: ["images"] }, "/images/edits"), "bearer");
  assert.equal(
    authOf(
      {
        apis: ["chat"],
        auth: {
          messages: undefined,
          responses: undefined,
          chat: "api-key",
          gemini: undefined,
          bedrock: undefined,
        },
      },
      "/audio/speech",
    ),
    "api-key",
  );
  assert.equal(authOf({ apis: ["chat"], auth: "none" }, "/audio/speech"), "none");
  const routes = [
    {
      method: "POST",
      path: "/audio/speech",
      auth: "x-api-key",
      dialect: "none",
      spend: "count",
      accepts: ["json"],
    },
  ] as const;
  assert.equal(
    authOf({ routes: routes.map((route) => ({ ...route, accepts: [...route.accepts] })) }, "/audio/speech"),
    "x-api-key",
  );
});
