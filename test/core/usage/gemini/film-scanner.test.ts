import assert from "node:assert/strict";
import { test } from "node:test";
import { chargeFilms, FilmScanner } from "../../../../src/core/usage/gemini/film-scanner.ts";
import { createReading } from "../../../../src/core/usage/usage-format.ts";

function secondsOf(body: object | string, pieceBytes = Infinity): number | null {
  const scanner = new FilmScanner("veo-3.1-generate-001");
  const bytes = Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const step = Math.min(pieceBytes, bytes.length);
  for (let at = 0; at < bytes.length; at += step) scanner.feed(bytes.subarray(at, at + step));
  return scanner.videoSeconds;
}

const film = (parameters: object, instances: object[] = [{ prompt: "x" }]) => ({ instances, parameters });

test("reads how long the films are that a request asks for, in any chunking", () => {
  for (const [body, seconds] of [
    [film({ durationSeconds: 8 }), 8],
    [film({ durationSeconds: "6", sampleCount: 2 }), 12],
    [film({ sampleCount: 4, durationSeconds: 5, aspectRatio: "16:9" }), 20],
    [
      film({ durationSeconds: 8 }, [{ prompt: "a" }, { prompt: "b", image: { bytesBase64Encoded: "AAAA" } }]),
      16,
    ],
    [{ parameters: { durationSeconds: 8 } }, 8],
  ] as const)
    for (const pieceBytes of [Infinity, 7, 1]) assert.equal(secondsOf(body, pieceBytes), seconds);
});

test("does not guess the length of a film", () => {
  for (const body of [
    film({}),
    film({ sampleCount: 2 }),
    film({ durationSeconds: 0 }),
    film({ durationSeconds: 7.5 }),
    film({ durationSeconds: "long" }),
    film({ durationSeconds: 8, sampleCount: "many" }),
    film({ durationSeconds: -8 }),
    film({ durationSeconds: 1e9 }),
    { instances: [], parameters: [{ durationSeconds: 8 }] },
    "no JSON",
    JSON.stringify(film({ durationSeconds: 8 })).slice(0, -1),
  ])
    assert.equal(secondsOf(body), null, JSON.stringify(body));
});

test("films are charged for once the response has named their operation", () => {
  const named = { ...createReading("completed", "absent"), response_id: "op-1" };
  chargeFilms(named, 12);
  assert.deepEqual([named.usage, named.spend, named.server_tools], ["none", "count", { video_second: 12 }]);
  for (const [reading, asked] of [
    [{ ...createReading("completed", "absent"), response_id: "op-1" }, null],
    [createReading("completed", "absent"), 12],
    [{ ...createReading("error", "absent"), response_id: "op-1" }, 12],
    [{ ...createReading("cut", "absent"), response_id: "op-1" }, 12],
  ] as const) {
    chargeFilms(reading, asked);
    assert.deepEqual([reading.usage, reading.spend, reading.server_tools], ["absent", "never", {}]);
  }
});
