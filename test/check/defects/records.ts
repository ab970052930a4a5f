import { replacing } from "../tampering-relay.ts";
import type { DefectCase } from "../defective-path.ts";

/** Defects of the ledger. */
export const RECORD_DEFECTS: readonly DefectCase[] = [
  {
    title: "loses a record",
    records: (records) => records.filter(({ route }) => route !== "/messages/count_tokens"),
    violates: "records",
    fault: /^5 requests left 4 records$/,
  },
  {
    title: "writes a record twice",
    records: (records) => records.flatMap((record) => [record, record]),
    violates: "records",
    fault: /^5 requests left 10 records$/,
  },
  {
    title: "counts cached input twice",
    back: {
      down: replacing(
        '"cache_read_input_tokens":7,"cache_creation_input_tokens":5,"output_tokens":11',
        '"cache_read_input_tokens":9,"cache_creation_input_tokens":5,"output_tokens":11',
      ),
    },
    violates: "records",
    fault: /^\/messages: expected 30,7,5,11,53 tokens, found 30,9,5,11,55$/,
  },
];
