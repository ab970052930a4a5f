import { test } from "node:test";
import { assertQuiet } from "../../helpers/digest/quiet-ledgers.ts";

test(
  "ledgers in which nothing is out of line have fewer than one finding a week",
  { timeout: 300_000 },
  () => {
    assertQuiet(1);
  },
);
