// Rows that are shown as one, such as the sessions of a year that are not listed.
import * as fc from "fast-check";
import assert from "node:assert/strict";
import { test } from "node:test";
import { UTC_CALENDAR } from "../../../src/core/ledger/calendar.ts";
import type { Grouping } from "../../../src/core/ledger/grouping.ts";
import type { RecordFilter } from "../../../src/core/ledger/record-filter.ts";
import { summarise } from "../../../src/core/ledger/report.ts";
import { sumOfRows } from "../../../src/core/ledger/report/summed-row.ts";
import { records, shown, toRecords } from "../../helpers/ledger/asked-ledger.ts";
import { PRICES } from "../../helpers/ledger/priced-record.ts";

test("the sum of a tool's rows is the total of a report on that tool", () => {
  fc.assert(
    fc.property(records, fc.constantFrom<Grouping>("session", "miss", "hour"), (drawn, second) => {
      const reportOn = (filter: RecordFilter) =>
        summarise(toRecords(drawn), { by: ["tool", second], calendar: UTC_CALENDAR, prices: PRICES, filter });
      const { rows } = reportOn({});
      for (const tool of new Set(rows.flatMap(({ names }) => names[0] ?? []))) {
        const report = reportOn({ tool });
        const total = sumOfRows(
          [],
          rows.filter(({ names }) => names[0] === tool),
        );
        assert.deepEqual(shown({ ...report, total }), shown(report));
      }
    }),
  );
});
