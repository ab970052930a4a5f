/** Something of tollkeeper's on this machine that can be removed. */
export interface Removal {
  /** The kind of thing, e.g. `key`. */
  label: string;
  /** Which one, in one line. */
  what: string;
  /** What removing it does besides, said in advance. */
  effect?: string;
  /** What has happened to it afterwards, if it was not removed itself. */
  done?: string;
  /** What a person types, or does, when removing it fails. */
  byHand: string;
  /** @throws Failure */
  remove(): Promise<void> | void;
}
