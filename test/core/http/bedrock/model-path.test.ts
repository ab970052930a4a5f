import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import {
  BEDROCK_ACTIONS,
  bedrockBasePath,
  readBedrockPath,
  replaceBedrockModel,
} from "../../../../src/core/http/bedrock/model-path.ts";

const PROFILE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const ARN = `arn:aws:bedrock:us-east-1:123456789012:inference-profile/${PROFILE}`;

test("a path names one model, with its colon in any spelling", () => {
  for (const raw of [PROFILE, PROFILE.replace(":", "%3A"), PROFILE.replace(":", "%3a")]) {
    const path = `/model/${raw}/converse-stream`;
    const named = readBedrockPath(path);
    assert.deepEqual([named?.model, named?.action], [PROFILE, "converse-stream"]);
    assert.equal(path.slice(named?.start, named?.end), raw);
  }
});

test("an ARN names what takes a model's place, with its slash escaped", () => {
  for (const arn of [
    ARN,
    "arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-3-sonnet-20240229-v1:0",
    "arn:aws-us-gov:bedrock:us-gov-west-1:123456789012:application-inference-profile/abc123def456",
    "arn:aws:bedrock:us-east-1:123456789012:custom-model/amazon.titan-text-express-v1:0:8k/abcdefghijkl",
    "arn:aws:sagemaker:us-east-1:123456789012:endpoint/mine",
  ])
    assert.equal(readBedrockPath(`/model/${encodeURIComponent(arn)}/invoke`)?.model, arn, arn);
});

test("no other path names a model", () => {
  for (const path of [
    `/model/${ARN}/converse`,
    "/model/a%2Fb/converse",
    "/model/a%252Fb/converse",
    "/model/a%2E%2E/converse",
    "/model/%61/converse",
    "/model/../converse",
    "/model/.a/converse",
    "/model/a;b/converse",
    "/model/a/converse/",
    "/model/a/Converse",
    "/model/a/async-invoke",
    "/model/a/invoke-with-bidirectional-stream",
    "/model//converse",
    "/Model/a/converse",
    "/v1/model/a/converse",
    `/model/${"a".repeat(513)}/converse`,
    `/model/${encodeURIComponent("arn:aws:bedrock:us-east-1:123456789012:inference-profile/../a")}/converse`,
    `/model/${encodeURIComponent("arn:aws:s3:us-east-1:123456789012:bucket/a")}/converse`,
    "/guardrail/a/version/1/apply",
  ])
    assert.equal(readBedrockPath(path), null, path);
});

test("a model that takes another's place is read from the path again, and any other name takes none", () => {
  const path = `/model/${PROFILE}/invoke`;
  const named = readBedrockPath(path);
  assert.notEqual(named, null);
  if (named === null) return;
  assert.equal(replaceBedrockModel(path, named, "a.b-v1:0"), "/model/a.b-v1%3A0/invoke");
  assert.equal(replaceBedrockModel(path, named, ARN), `/model/${encodeURIComponent(ARN)}/invoke`);
  for (const name of ["", "a/b", "a b", "..", "\ud800", "a%2Fb"])
    assert.equal(replaceBedrockModel(path, named, name), null, name);
});

test("what is read in a path is what any decoder reads in its second segment", () => {
  const piece = fc.constantFrom(
    "a",
    "Z",
    "9",
    ".",
    "-",
    "_",
    ":",
    "%3A",
    "%2F",
    "%2f",
    "arn:aws:bedrock:r::m%2F",
    "%25",
    "/",
    "%00",
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.constantFrom(...BEDROCK_ACTIONS, "other"),
      (pieces, action) => {
        const path = `/model/${pieces.join("")}/${action}`;
        const read = readBedrockPath(path);
        if (read === null) return;
        const segments = path.split("/");
        assert.equal(segments.length, 4);
        assert.equal(decodeURIComponent(segments[2] ?? ""), read.model);
        assert.equal(read.model.split("/").includes(".."), false);
      },
    ),
  );
});

test("a base URL may end with the word that the paths begin with, or with the path of another API there", () => {
  for (const path of ["/model", "/v1", "/openai/v1"]) assert.equal(bedrockBasePath(path), "");
  assert.equal(bedrockBasePath("/gateway/bedrock"), "/gateway/bedrock");
  assert.equal(bedrockBasePath("/gateway/model"), "/gateway");
});
