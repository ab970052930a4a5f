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

  /** Has the record written: at the end of this turn if others may join it, and else at once. Calls back once it is. */
  add(record: UsageRecord, mayOthersJoin: boolean, onWritten: () => void): void {
    const isFirst = this.#records.push(record) === 1;
    this.#callbacks.push(onWritten);
    if (!mayOthersJoin) this.flush();
    else if (isFirst) setImmediate(() => this.flush());
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
