import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { readAuthorities } from "../../../src/adapters/config-file/authorities.ts";
import { readConfigFile } from "../../../src/adapters/config-file.ts";
import { Failure } from "../../../src/core/failure.ts";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { setEnvironment } from "../../helpers/process/set-environment.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

function write(t: TestContext, content: string | Buffer): string {
  const file = join(scratchDirectory(t), "ca.pem");
  writeFileSync(file, content);
  return file;
}

const pemOf = (t: TestContext) => makeCertificate(t, "DNS:a.invalid").cert.toString().trim();

test("reads every certificate of a bundle and ignores text between them", async (t) => {
  const [one, other] = [pemOf(t), pemOf(t)];
  setEnvironment(t, { NODE_EXTRA_CA_CERTS: undefined });
  const file = write(t, `# Corp root\n${one}\nsubject: x\n${other}`);
  assert.deepEqual(await readAuthorities(file), [one, other]);
});

test("adds the certificates of NODE_EXTRA_CA_CERTS, and ignores an unreadable file there as Node does", async (t) => {
  const [own, extra] = [pemOf(t), pemOf(t)];
  const file = write(t, own);
  setEnvironment(t, { NODE_EXTRA_CA_CERTS: write(t, extra) });
  assert.deepEqual(await readAuthorities(file), [own, extra]);
  setEnvironment(t, { NODE_EXTRA_CA_CERTS: "/no/such.pem" });
  assert.deepEqual(await readAuthorities(file), [own]);
});

test("refuses a certificate in binary form and names the command that converts it", async (t) => {
  const { file: pem } = makeCertificate(t, "DNS:a.invalid");
  const file = join(scratchDirectory(t), "Corp root.der");
  execFileSync("openssl", ["x509", "-in", pem, "-outform", "der", "-out", file]);
  const failure = await readAuthorities(file).catch((error: unknown) => error);
  assert.ok(failure instanceof Failure);
  assert.equal(failure.message, "it contains no PEM certificate");
  const [, command = ""] =
    /^if it is a certificate in binary form, convert it with: (.*); then name /.exec(failure.hint ?? "") ??
    [];
  execFileSync("sh", ["-c", command]);
  assert.equal((await readAuthorities(`${file}.pem`)).length, 1);
});

test("refuses a file that contains a private key and no certificate", async (t) => {
  const file = write(t, makeCertificate(t, "DNS:a.invalid").key);
  await assert.rejects(readAuthorities(file), /it contains no PEM certificate/);
});

test("names a damaged certificate by its number in the file", async (t) => {
  const [one, other] = [pemOf(t), pemOf(t)];
  const file = write(t, `${one}\n${other.replace(/\n.{20}/, "\nAAAAAAAAAAAAAAAAAAAA")}`);
  await assert.rejects(readAuthorities(file), { message: "certificate 2 in it cannot be parsed" });
});

test("refuses a certificate file that every user can write", async (t) => {
  const file = write(t, pemOf(t));
  chmodSync(file, 0o666);
  await assert.rejects(readAuthorities(file), {
    message: "other users can change it",
    hint: `chmod go-w ${file}`,
  });
});

test("reports an unreadable caFile as a problem of the configuration with its line, together with other problems", async (t) => {
  const path = join(scratchDirectory(t), "config.jsonc");
  writeFileSync(
    path,
    '{\n"outbound": {\n"httpsProxy": "http://ada@proxy:1",\n"caFile": "/no/such.pem"\n} }',
    { mode: 0o644 },
  );
  const reading = await readConfigFile(path);
  assert.deepEqual(reading.ok ? [] : reading.problems, [
    {
      path: "outbound.httpsProxy",
      line: 3,
      message: "it contains a password, and others can read this file",
      hint: `chmod 600 ${path}`,
    },
    {
      path: "outbound.caFile",
      line: 4,
      message: "/no/such.pem cannot be used: it does not exist",
      hint: "there is no directory /no either; to see what is there, type: ls -a /",
    },
  ]);
});
