import assert from "node:assert/strict";
import { test } from "node:test";
import { holdsAccessKeys } from "../../../src/core/secrets/aws-keys.ts";

/** Those of AWS's documentation. */
const ID = "AKIAIOSFODNN7EXAMPLE";
const SECRET = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY";
const TOKEN = `IQoJb3JpZ2luX2VjEK${"aB3/".repeat(40)}==`;

test("finds access keys of AWS as its console, its files, shells and JSON write them", () => {
  for (const text of [
    ID,
    SECRET,
    TOKEN,
    `${ID} ${SECRET}`,
    `${ID},${SECRET}`,
    `AWS_ACCESS_KEY_ID=${ID}`,
    `export AWS_SECRET_ACCESS_KEY="${SECRET}"`,
    `set -x AWS_SESSION_TOKEN ${TOKEN}`,
    `$Env:AWS_SECRET_ACCESS_KEY="${SECRET}"`,
    `aws_secret_access_key = ${SECRET.slice(0, 30)}`,
    `{"Version":1,"AccessKeyId":"0123456789abcdef"}`,
    `/bin/echo ${SECRET}`,
    `aws configure set aws_secret_access_key ${SECRET}`,
    `env AWS_ACCESS_KEY_ID=${ID} ./print-keys`,
  ])
    assert.ok(holdsAccessKeys(text), text);
});

test("finds none in commands that print them, and in an API key of Bedrock", () => {
  for (const text of [
    "",
    "y",
    "aws configure export-credentials --format process",
    "aws configure export-credentials --profile AdministratorAccess-123456789012 --format process",
    "aws sts assume-role --role-arn arn:aws:iam::123456789012:role/TollkeeperReadsBedrockModels2026 --query Credentials",
    "/home/Alice/Projects2026/bin/print-access-keys",
    "vault read -field=secret_access_key aws/creds/bedrock",
    "jq .SecretAccessKey /run/keys/aws.json",
    "git show 0123456789abcdef0123456789abcdef01234567",
    `ABSKQmVkcm9ja0FQSUtleS0${"aB3/".repeat(25)}=`,
  ])
    assert.ok(!holdsAccessKeys(text), text);
});
