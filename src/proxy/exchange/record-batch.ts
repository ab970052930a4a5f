import type { UsageRecord } from "../../core/ledger/record.ts";
import type { Ledger } from "../../ports.ts";

/**
 * The records of the exchanges that end in one turn of the event loop. The ledger gets them together at the end of the turn: under
 * load, writing each on its own costs as much as a third of proxying it (docs/performance.md). The client sees the last byte of its
 * response only after that.
 */
export class RecordBatch {
  readonly #ledger: Pick<Ledger, "append">;
  #records: UsageRecord[] = [];
  #callbacks: (() => void)[] = [];

  constructor(ledger: Pick<Ledger, "append">) {
    this.#ledger = ledger;
  }

  /** Has the record written at the end of this turn. Calls back once it is. */
  add(record: UsageRecord, onWritten: () => void): void {
    if (this.#records.length === 0) setImmediate(() => this.flush());
    this.#records.push(record);
    this.#callbacks.push(onWritten);
  }

  /** Writes what waits now. */
  flush(): void {
    if (this.#records.length === 0) return;
    const [records, callbacks] = [this.#records, this.#callbacks];
    this.#records = [];
    this.#callbacks = [];
    this.#ledger.append(records);
    for (const onWritten of callbacks) onWritten();
  }
}
