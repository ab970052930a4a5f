import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { CaptureFile, removeCaptureFiles } from "../../../src/adapters/capture/capture-file.ts";
import { scratchDirectory } from "../../helpers/process/scratch-directory.ts";

const SIZES = [0, 1, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 700_000];

test("entries of any size come back as they were, from a file without a name", async (t) => {
  const directory = join(scratchDirectory(t), "state");
  const file = await CaptureFile.create(directory);
  t.after(() => file.close());
  assert.deepEqual(readdirSync(directory), []);
  const entries = SIZES.map((size) => randomBytes(size));
  let bytes = 0;
  const places = [];
  for (const entry of entries) {
    bytes += CaptureFile.sizeOf(entry.length);
    places.push(await file.append(entry));
    assert.equal(file.bytes, bytes);
  }
  for (const [at, place] of places.entries()) assert.ok((await file.read(place)).equals(entries[at]!));
  // Another length, or another place, is noticed.
  await assert.rejects(file.read({ ...places[5]!, length: 600_000 }));
  await assert.rejects(file.read({ ...places[4]!, at: places[5]!.at, chunk: places[5]!.chunk }));
});

test("a closed file gives nothing, and may be closed again", async (t) => {
  const file = await CaptureFile.create(scratchDirectory(t));
  const place = await file.append(Buffer.from("prompt"));
  assert.equal((await file.read(place)).toString(), "prompt");
  await file.close();
  await file.close();
  await assert.rejects(file.read(place));
  await assert.rejects(file.append(Buffer.from("more")));
});

test("leftover names are removed, and nothing else", (t) => {
  const directory = scratchDirectory(t);
  for (const name of ["capture-0123456789abcdef.part", "capture-x.part", "limits.json"])
    writeFileSync(join(directory, name), "");
  removeCaptureFiles(directory);
  assert.deepEqual(readdirSync(directory).toSorted(), ["capture-x.part", "limits.json"]);
  removeCaptureFiles(join(directory, "none"));
  mkdirSync(join(directory, "capture-0123456789abcdee.part"));
  assert.throws(() => removeCaptureFiles(directory));
});
