import assert from "node:assert/strict";
import { test } from "node:test";
import { Failure } from "../../../src/core/failure.ts";
import { parseSince } from "../../../src/core/ledger/since.ts";

const NOW = Date.UTC(2026, 10, 21, 12, 30);

for (const [text, start] of Object.entries({
  today: "2026-11-21T00:00:00.000Z",
  "24h": "2026-11-20T12:30:00.000Z",
  "1h": "2026-11-21T11:30:00.000Z",
  "0h": "2026-11-21T12:30:00.000Z",
  "7d": "2026-11-14T00:00:00.000Z",
  "2026-11-01": "2026-11-01T00:00:00.000Z",
  "2024-02-29": "2024-02-29T00:00:00.000Z",
})) {
  test(`parses --since ${text} as ${start}`, () => assert.equal(parseSince(text, NOW), start));
}

for (const [text, reason] of Object.entries({
  "": /neither a span nor a day/,
  yesterday: /neither a span nor a day/,
  "-7d": /neither a span nor a day/,
  "7 d": /neither a span nor a day/,
  "2026-11-1": /neither a span nor a day/,
  "2026-02-30": /there is no such day/,
  "2026-13-01": /there is no such day/,
  "40000d": /100 years/,
  "\u001b[2J": /^cannot read --since "\\u001b\[2J"/,
})) {
  test(`refuses --since ${JSON.stringify(text)}, and says what is wrong and what to write`, () => {
    assert.throws(
      () => parseSince(text, NOW),
      (error) => {
        assert.ok(error instanceof Failure);
        assert.match(error.message, reason);
        assert.match(error.hint ?? "", /today, 24h, 7d or a day like/);
        return true;
      },
    );
  });
}
